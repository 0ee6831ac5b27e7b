package claudecli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// paidLine is what an outcome says it cost.
func paidLine(r observer.Reply, err error) string {
	if f, ok := errors.AsType[*observer.Failure](err); ok {
		r = observer.Reply{Bill: f.Bill}
	}
	s := fmt.Sprintf("%d asked", r.Calls)
	if r.Usage != (events.Usage{}) {
		s += fmt.Sprintf(", %d (%d cached) in, %d out by %s", r.Usage.Input, r.Usage.Cached, r.Usage.Output, r.Model)
	}
	if r.Cost > 0 {
		s += fmt.Sprintf(", $%.6f", r.Cost)
	}
	return s
}

// paidFor is what the recordings of TestRecorded cost, those that differ from release to release under both names.
func paidFor(release, name string) string {
	answered, cut := "1 asked, 157 (30 cached) in, 25 out by claude-haiku-4-5", "1 asked, 157 (30 cached) in, 1 out by claude-haiku-4-5"
	paid := map[string]string{
		"answered": answered + ", $0.000257", "warned": answered + ", $0.000257", "cut-after-stop": answered + ", $0.000257",
		"longest": answered, "window": answered, "safety": answered, // ended before they tell the money
		"cut-before-stop": cut, "cut-in-block": cut, "error-in-stream": cut, "cut-at-start": cut,
		"2.1.329/cut-at-start": cut + ", $0.000137",
		"2.1.329/cut-in-block": "2 asked, 314 (60 cached) in, 2 out by claude-haiku-4-5, $0.000353", // its result tells of one
		"429":                  "3 asked", "408": "3 asked", "500": "3 asked", "502": "3 asked", "504": "3 asked", "503": "3 asked", "529": "3 asked", "refused-by-peer": "3 asked",
		"logged-out": "0 asked", "page": "0 asked",
	}
	for _, key := range []string{release + "/" + name, name} {
		if s, ok := paid[key]; ok {
			return s
		}
	}
	return "1 asked" // refused at once
}

// TestPaid: what was used is told of every end, whole, cut, refused and given up.
func TestPaid(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, file := range files {
		said, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := paidFor(filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		for _, chunk := range []int{len(said), 7} {
			if got := paidLine(read(said, ending{code: 1}, chunk)); got != want {
				t.Errorf("%s in pieces of %d: got %s, want %s", file, chunk, got, want)
			}
		}
	}
}

const (
	startPaid  = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m","model":"haiku","usage":{"input_tokens":10,"cache_read_input_tokens":4,"cache_creation_input_tokens":2,"output_tokens":1}}}}` + "\n"
	stopPaid   = `{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}}` + "\n"
	retrySaid  = `{"type":"system","subtype":"api_retry","retry_delay_ms":500,"error_status":500,"error":"server_error"}` + "\n"
	failedSaid = `{"type":"result","is_error":true,"api_error_status":500,"total_cost_usd":0.25,"usage":{"input_tokens":70,"output_tokens":9}}` + "\n"
)

func TestPaidCases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said string
		end  ending
		want string
	}{
		"a failure with money":         {initSaid + retrySaid + failedSaid, ending{code: 1}, "2 asked, 70 (0 cached) in, 9 out by , $0.250000"},
		"an answer after a retry":      {initSaid + startPaid + retrySaid + startPaid + deltaSaid + stopPaid + resultSaid, ending{}, "2 asked, 32 (8 cached) in, 6 out by haiku"},
		"a crash in the middle":        {initSaid + startPaid + deltaSaid, ending{code: 3}, "1 asked, 16 (4 cached) in, 1 out by haiku"},
		"a crash before it was told":   {initSaid, ending{code: 3}, "1 asked"},
		"nothing":                      {"", ending{code: 3}, "0 asked"},
		"a retry that is waited for":   {initSaid + retrySaid, ending{code: 3}, "2 asked"},
		"a retry that is not":          {initSaid + strings.Replace(retrySaid, "500,", "60000,", 1), ending{code: 1}, "1 asked"},
		"tools":                        {`{"type":"system","subtype":"init","tools":["Bash"],"mcp_servers":[]}` + "\n", ending{}, "0 asked"},
		"figures that cannot be meant": {initSaid + strings.Replace(startPaid, `"input_tokens":10`, `"input_tokens":-9223372036854775808`, 1) + strings.Repeat(strings.Replace(startPaid, `"output_tokens":1`, `"output_tokens":9223372036854775807`, 1), 2), ending{code: 3}, fmt.Sprintf("1 asked, %d (12 cached) in, 1 out by haiku", 6+16+16)},
	} {
		if got := paidLine(read([]byte(c.said), c.end, 1<<20)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestAStopTellsWhatWasPaid: a turn whose time is up was asked, and so far as the stream told it is known what it took.
func TestAStopTellsWhatWasPaid(t *testing.T) {
	t.Parallel()
	f := newFake(t, initSaid+startPaid+deltaSaid+"!mark\n!hang\n")
	ctx, cancel := context.WithCancel(t.Context())
	var r observer.Reply
	var err error
	var asking sync.WaitGroup
	asking.Go(func() { r, err = f.client(t).Ask(ctx, question()) })
	f.marked(t)
	cancel()
	asking.Wait()
	if got, want := paidLine(r, err), "1 asked, 16 (4 cached) in, 1 out by haiku"; !errors.Is(err, context.Canceled) || got != want || !r.Text.IsZero() {
		t.Errorf("got %q, %s, %v, want %s", r.Text, got, err, want)
	}
}
