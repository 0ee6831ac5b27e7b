package cost

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// many is the events of a long session.
const many = 1000

const root = "../.."

// pace is how an agent works, and how often it may be asked about.
type pace struct {
	name      string
	every     time.Duration
	stopEvery int
	calls     int // at most, for many events
}

func paces() []pace {
	return []pace{
		{"burst", 0, 0, 60},
		{"every 10 s, a stop every 20", 10 * time.Second, 20, 130},
	}
}

func (p pace) load(tools []events.ToolUsed, form events.Form) Load {
	return Load{Tools: tools, Every: p.every, StopEvery: p.stopEvery, Form: form}
}

func forms() []events.Form { return []events.Form{events.FormXML, events.FormStructured} }

// mostBytes is what an event may cost.
const mostBytes = 4000

// mostLater is how many times what the hundredth event of a session cost the thousandth may.
const mostLater = 1.10

// mostGrowth is how many times what an event of the first tenth cost one of the last may.
const mostGrowth = 1.25

// TestThousandEvents: a thousand events in one session cost less than 4 kB and few calls each, and the last of them what the
// first did.
func TestThousandEvents(t *testing.T) {
	t.Parallel()
	tools := Times(Payloads(t, root), many)
	for _, p := range paces() {
		for _, form := range forms() {
			t.Run(p.name+" "+string(form), func(t *testing.T) {
				t.Parallel()
				bill := Run(t, p.load(tools, form))
				t.Log(bill)
				check(t, bill, p.calls)
				hundredth, thousandth := bill.Stretch(81, 120), bill.Stretch(many-39, many)
				if growth := thousandth.Bytes / hundredth.Bytes; growth > mostLater {
					t.Errorf("the thousandth event costs %.2f times the bytes of the hundredth, want at most %.2f", growth, mostLater)
				}
				if bytes, calls := bill.Growth(); bytes > mostGrowth || calls > mostGrowth {
					t.Errorf("the last tenth costs %.2f times the bytes and %.2f times the calls of the first, want at most %.2f", bytes, calls, mostGrowth)
				}
			})
		}
	}
}

func check(t *testing.T, bill Bill, calls int) {
	t.Helper()
	if bill.Events != many || len(bill.Calls) > calls || bill.BytesAnEvent() > mostBytes {
		t.Errorf("%d events cost %.0f bytes each in %d calls, want %d, at most %d bytes in %d", bill.Events, bill.BytesAnEvent(), len(bill.Calls), many, mostBytes, calls)
	}
}

// TestRealSessions does it with what agents did in public sessions: most of it is longer than what the payloads hold.
func TestRealSessions(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(root, "..", "shared", "fixtures", "transcripts", "public", "claude-code")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("the public transcripts are not here: %v", err)
	}
	tools := Transcripts(t, filepath.Join(folder, "*.jsonl"))
	captured := 0
	for _, u := range tools {
		captured += len(u.Input) + len(u.Output)
	}
	t.Logf("%d tool uses of %d bytes each", len(tools), captured/len(tools))
	for _, p := range paces() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			bill := Run(t, p.load(Times(tools, many), events.FormXML))
			t.Log(bill)
			check(t, bill, p.calls)
		})
	}
}

// conversation sends all that was sent before with each question: what this package is there to find.
type conversation struct {
	model.Asker
	said *string
}

func (c conversation) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	*c.said += q.User // one session has one turn at a time
	q.User = *c.said
	return c.Asker.Ask(ctx, q)
}

// TestAConversationIsFound: an observer that is told everything again each time breaks both bounds.
func TestAConversationIsFound(t *testing.T) {
	t.Parallel()
	load := paces()[0].load(Times(Payloads(t, root), many/2), events.FormXML) // what is sent grows with its square
	load.Through = func(a model.Asker) model.Asker { return conversation{a, new(string)} }
	bill := Run(t, load)
	t.Log(bill)
	if bytes, _ := bill.Growth(); bytes < 4 || bill.BytesAnEvent() < 5*mostBytes {
		t.Errorf("%.0f bytes an event, growing by %.2f, want far more", bill.BytesAnEvent(), bytes)
	}
}

func TestBill(t *testing.T) {
	t.Parallel()
	b := Bill{Events: 20, Calls: []Call{
		{Kind: events.TurnObservation, Bytes: 100, From: 0, To: 5},
		{Kind: events.TurnObservation, Bytes: 300, From: 5, To: 20},
		{Kind: events.TurnSummary, Bytes: 40, From: 0, To: 20},
	}}
	if got := b.Bytes(); got != 440 {
		t.Errorf("%d bytes, want 440", got)
	}
	want := Stretch{From: 1, To: 10, Bytes: (100 + 100 + 20) / 10., Calls: (1 + 1/3. + .5) / 10}
	if diff := cmp.Diff(want, b.Stretch(1, 10), cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := len(b.Curve()); got != 1 {
		t.Errorf("a curve of %d stretches, want the one that there are events for", got)
	}
	if bytes, calls := b.Growth(); bytes != 22./22 || calls <= 0.4 || calls >= 0.5 {
		t.Errorf("grows by %v and %v", bytes, calls)
	}
}

// BenchmarkThousandEvents counts what a thousand events in one session cost, and prints the curve.
func BenchmarkThousandEvents(b *testing.B) {
	tools := Times(Payloads(b, root), many)
	for _, p := range paces() {
		for _, form := range forms() {
			b.Run(p.name+" "+string(form), func(b *testing.B) {
				var bill Bill
				for b.Loop() {
					bill = Run(b, p.load(tools, form))
				}
				b.ReportMetric(bill.BytesAnEvent(), "B/event")
				b.ReportMetric(float64(len(bill.Calls)), "calls")
				last := bill.Stretch(many*9/10+1, many)
				b.ReportMetric(last.Bytes, "B/last")
				b.Log("\n" + bill.String())
			})
		}
	}
}
