package logtest

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// model is what a log should hold, in slices and maps.
type model struct {
	t       *testing.T
	log     Log
	all     []entry
	streams map[events.StreamID][]int // indexes into all
	n       int                       // texts given out
}

type entry struct {
	stream  events.StreamID
	version events.Version
	text    string
	erased  bool
	chain   events.Hash
}

// testModel does random things to a log and to the model, and compares. reopen, unless nil, is one of them.
func testModel(t *testing.T, open func(testing.TB) Log, reopen func(tb testing.TB, closed Log) Log) {
	names := []events.StreamID{Session("a"), Session("b"), events.Daemon, events.ProviderStream("p")}
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{t: t, log: open(t), streams: map[events.StreamID][]int{}}
		defer func() { m.log.Close() }()
		actions := map[string]func(*rapid.T){
			"append": func(rt *rapid.T) { m.append(rt, rapid.SampledFrom(names).Draw(rt, "stream")) },
			"wrong":  func(rt *rapid.T) { m.wrong(rt, rapid.SampledFrom(names).Draw(rt, "stream")) },
			"erase":  m.erase,
			"stream": func(rt *rapid.T) { m.stream(rt, rapid.SampledFrom(names).Draw(rt, "stream")) },
			"all":    m.compare,
		}
		if reopen != nil {
			actions["reopen"] = func(rt *rapid.T) {
				if err := m.log.Close(); err != nil {
					rt.Fatalf("Close: %v", err)
				}
				m.log = reopen(t, m.log)
			}
		}
		rt.Repeat(actions)
		m.compare(rt)
		if err := eventlog.Verify(t.Context(), m.log, nil); err != nil {
			rt.Fatalf("Verify: %v", err)
		}
	})
}

func (m *model) append(rt *rapid.T, stream events.StreamID) {
	version := events.Version(len(m.streams[stream]))
	drafts := make([]events.Draft, rapid.IntRange(0, 5).Draw(rt, "events"))
	for i := range drafts {
		m.n++
		drafts[i] = Draft(fmt.Sprintf("%0*d", rapid.IntRange(1, 3000).Draw(rt, "size"), m.n))
	}
	records, err := m.log.Append(m.t.Context(), stream, version, drafts...)
	if err != nil || len(records) != len(drafts) {
		rt.Fatalf("Append: got %d records, %v", len(records), err)
	}
	for i, r := range records {
		e := entry{stream: stream, version: version + events.Version(i) + 1, chain: r.Chain,
			text: drafts[i].Event.(events.PromptSubmitted).Text}
		m.streams[stream] = append(m.streams[stream], len(m.all))
		m.all = append(m.all, e)
		if r.ID != drafts[i].ID {
			rt.Fatalf("the id of draft %d changed", i)
		}
	}
}

func (m *model) wrong(rt *rapid.T, stream events.StreamID) {
	actual := events.Version(len(m.streams[stream]))
	v := events.Version(rapid.Uint64().Filter(func(v uint64) bool { return v != uint64(actual) }).Draw(rt, "version"))
	_, err := m.log.Append(m.t.Context(), stream, v, Draft("never"))
	var wrong *eventlog.WrongVersionError
	if !errors.As(err, &wrong) || wrong.Actual != actual {
		rt.Fatalf("Append at %d: got %v, want a WrongVersionError that says %d", v, err, actual)
	}
}

func (m *model) erase(rt *rapid.T) {
	if len(m.all) == 0 {
		rt.Skip("nothing to erase")
	}
	at := rapid.SliceOfN(rapid.IntRange(0, len(m.all)), 0, 4).Draw(rt, "erase") // one past the end is not there
	positions := make([]events.Position, len(at))
	for i, p := range at {
		positions[i] = events.Position(p + 1)
	}
	err := m.log.Erase(m.t.Context(), positions...)
	if slices.Contains(at, len(m.all)) {
		if !errors.Is(err, eventlog.ErrNotFound) {
			rt.Fatalf("Erase: got %v, want ErrNotFound", err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("Erase: %v", err)
	}
	for _, p := range at {
		m.all[p].erased = true
	}
}

func (m *model) stream(rt *rapid.T, stream events.StreamID) {
	want := m.streams[stream]
	from := rapid.IntRange(0, len(want)+1).Draw(rt, "from")
	want = want[min(max(from-1, 0), len(want)):]
	m.sameAll(rt, "Stream", m.log.Stream(m.t.Context(), stream, events.Version(from)), want)
	v, at, err := m.log.Head(m.t.Context(), stream)
	if all := m.streams[stream]; err != nil || int(v) != len(all) || len(all) > 0 && int(at) != all[len(all)-1]+1 {
		rt.Fatalf("Head: got %d, %d, %v", v, at, err)
	}
}

func (m *model) compare(rt *rapid.T) {
	all := make([]int, len(m.all))
	for i := range all {
		all[i] = i
	}
	m.sameAll(rt, "All", m.log.All(m.t.Context(), 1), all)
}

// sameAll compares a sequence with the entries that have these indexes.
func (m *model) sameAll(rt *rapid.T, what string, seq iter.Seq2[events.Record, error], want []int) {
	i := 0
	for r, err := range seq {
		if err != nil || i >= len(want) {
			rt.Fatalf("%s: record %d of %d: %v", what, i, len(want), err)
		}
		m.same(rt, r, want[i])
		i++
	}
	if i != len(want) {
		rt.Fatalf("%s: got %d records, want %d", what, i, len(want))
	}
}

func (m *model) same(rt *rapid.T, r events.Record, i int) {
	want := m.all[i]
	got := entry{stream: r.Stream, version: r.Version, erased: r.Erased, chain: r.Chain, text: want.text}
	if e, err := r.Event(); err == nil {
		got.text = e.(events.PromptSubmitted).Text
	} else if !errors.Is(err, events.ErrErased) {
		rt.Fatalf("event at %d: %v", r.Position, err)
	}
	if got != want || int(r.Position) != i+1 {
		rt.Fatalf("record %d at %d: got %+v, want %+v", i, r.Position, got, want)
	}
}
