package replay

import (
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// recordedDays writes a log of at least n records as weeks of work leave one: in fifty sessions, tool uses of 300 bytes
// to 1 kB, ten to a stop, each answer with an observation and a summary; one output in eleven is prose, one turn in
// forty crashes, one in a hundred meets a limit.
func recordedDays(b *testing.B, n int) *eventlog.Bolt {
	b.Helper()
	s := newScript(b)
	s.begin(map[string]string{"slots": "2"})
	text := strings.Repeat("func (s *State) settle(i int, o Outcome) { in := &s.inputs[i] }\n", 16)
	turns := 0
	for i := 0; ; i++ {
		if last, _ := s.log.Last(b.Context()); int(last) >= n {
			break
		}
		name := string(rune('A' + i%50))
		for k := range 10 {
			s.later(3 * time.Second)
			s.capture(name, events.ToolUsed{
				ToolUseID: "toolu_01", Tool: "Read", Input: `{"file_path":"/home/dev/project/pkg/parser.go"}`, Output: text[:100+(i*7+k*83)%750],
			})
		}
		s.stop(name)
		for s.start(name) {
			s.endTurn(name, turns)
			turns++
		}
		if i%50 == 49 {
			s.later(time.Minute)
		}
	}
	return s.onDisk(b)
}

func (s *script) endTurn(name string, n int) {
	s.later(800 * time.Millisecond)
	switch {
	case n%40 == 7:
		s.fail(name, events.FailCrash, 0)
		s.later(time.Minute)
	case n%100 == 33:
		s.fail(name, events.FailLimit, time.Minute)
		s.later(time.Hour)
	case n%11 == 3:
		s.answer(name, prose)
	case s.turns[name].TurnKind == events.TurnSummary:
		s.answer(name, strings.Replace(summarized, "Done", strings.Repeat("Done and tested. ", 12), 1))
	default:
		s.answer(name, strings.Replace(observed, "</observation>",
			"<narrative>"+strings.Repeat("The parser reads closed blocks only. ", 10)+"</narrative><facts><fact>one</fact></facts></observation>", 1))
	}
}

// onDisk copies the log into a file.
func (s *script) onDisk(b *testing.B) *eventlog.Bolt {
	b.Helper()
	to, err := eventlog.Open(filepath.Join(b.TempDir(), "log"), eventlog.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { to.Close() })
	var batch []events.Record
	for r, err := range s.log.All(b.Context(), 1) {
		if err != nil {
			b.Fatal(err)
		}
		if batch = append(batch, r); len(batch) == 4096 {
			if err := to.Restore(b.Context(), batch...); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	if err := to.Restore(b.Context(), batch...); err != nil {
		b.Fatal(err)
	}
	return to
}

// BenchmarkLog reads a log of 200,000 records from its file, for each of the things that can be done with one.
func BenchmarkLog(b *testing.B) {
	log := recordedDays(b, 200_000)
	record := func(b *testing.B, records iter.Seq2[events.Record, error]) *Scenario {
		rec, err := Record(records, Wanted{})
		if err != nil || len(rec.Scenario.Events) == 0 {
			b.Fatal(err)
		}
		return rec.Scenario
	}
	play := func(names ...policy.Name) func(*testing.B, iter.Seq2[events.Record, error]) {
		return func(b *testing.B, records iter.Seq2[events.Record, error]) {
			if _, err := Compare(record(b, records), names, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		do   func(*testing.B, iter.Seq2[events.Record, error])
	}{
		{"headers", func(b *testing.B, records iter.Seq2[events.Record, error]) {
			for _, err := range records {
				if err != nil {
					b.Fatal(err)
				}
			}
		}},
		{"record", func(b *testing.B, records iter.Seq2[events.Record, error]) { record(b, records) }},
		{"record+otp-hold", play(policy.OTPHold)},
		{"record+all", play(policy.Names()...)},
		{"prove", func(b *testing.B, records iter.Seq2[events.Record, error]) {
			if p, err := Prove(records, Selection{}, nil); err != nil || !p.Holds() {
				b.Fatal(err, shown(p))
			}
		}},
		{"examine+all", func(b *testing.B, records iter.Seq2[events.Record, error]) { // what the command does
			proof, rec, err := Examine(records, Wanted{}, nil)
			if err != nil || !proof.Holds() {
				b.Fatal(err, shown(proof))
			}
			if _, err := Compare(rec.Scenario, policy.Names(), Options{Bare: true}); err != nil {
				b.Fatal(err)
			}
		}},
		{"audit", func(b *testing.B, records iter.Seq2[events.Record, error]) {
			if a, err := Audit(b.Context(), records); err != nil || len(a.Discrepancies) > 0 {
				b.Fatal(err, shown(a))
			}
		}},
		{"reparse", func(b *testing.B, records iter.Seq2[events.Record, error]) {
			if r, err := Reparse(records, Selection{}, nil); err != nil || r.Same != r.Outputs {
				b.Fatal(err, shown(r))
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			last, err := log.Last(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			best, began, passes := 0.0, time.Now(), 0
			for b.Loop() {
				start := time.Now()
				c.do(b, log.All(b.Context(), 1))
				best = max(best, float64(last)/time.Since(start).Seconds())
				passes++
			}
			b.ReportMetric(float64(last)*float64(passes)/time.Since(began).Seconds(), "events/s")
			b.ReportMetric(best, "best-events/s")
		})
	}
}
