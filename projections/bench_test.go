package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/testkit/follow"
)

// realistic fills a log with about n events as agents make them: sixteen sessions at a time, 500 events each, tool
// calls of a kilobyte, a turn of one or two observations every 20 of them, a stop and a summary every 60.
func realistic(b *testing.B, n int) *world {
	w := newWorld(b)
	body := strings.Repeat("the quick brown fox jumps over the lazy dog 0123456789 ", 16)
	count := 0
	say := func(s events.SessionID, turn events.ID, evs ...events.Event) []events.Record {
		count += len(evs)
		return w.say(s.Stream(), turn, evs...)
	}
	for round := 0; count < n; round++ {
		var open []events.SessionID
		for i := range 16 {
			open = append(open, w.open(16*round+i))
		}
		for range 8 {
			for _, s := range open {
				say(s, events.ID{}, events.PromptSubmitted{Number: 1, Text: body[:200]})
				for range 3 {
					var settles []events.Position
					for k := range 20 {
						tool := events.ToolUsed{
							ToolUseID: fmt.Sprint("toolu_", count), Tool: "Edit", Output: body, Cwd: "/home/u/p0",
							Input: fmt.Sprintf(`{"file_path":"/home/u/p0/pkg%d/file%d.go","old_string":"a","new_string":"b"}`, round%10, count%200),
						}
						if k%2 == 0 {
							tool.Tool, tool.Input = "Bash", `{"command":"go test ./..."}`
						}
						settles = append(settles, say(s, events.ID{}, tool)[0].Position)
					}
					t := w.start(s, events.TurnObservation, settles...)
					o := w.observation(t, fmt.Sprint("found ", count))
					o.Narrative = body[:500]
					say(s, t.id, received(t), o)
				}
				stop := say(s, events.ID{}, events.AgentStopped{LastMessage: body[:300], Work: 60})[0].Position
				t := w.start(s, events.TurnSummary, stop)
				say(s, t.id, received(t), w.summary(t))
			}
		}
	}
	return w
}

// BenchmarkApply is how fast views take in a log that is already there.
func BenchmarkApply(b *testing.B) {
	w := realistic(b, 60_000)
	last, _ := w.log.Last(context.Background())
	b.ResetTimer()
	began := time.Now()
	for range b.N {
		v, err := Open(b.TempDir(), w.log, engine.Config{})
		if err != nil {
			b.Fatal(err)
		}
		follow.MustCatchUp(b, v)
		b.StopTimer()
		if infos, err := v.List(context.Background()); err == nil && b.N == 1 {
			for _, i := range infos {
				b.Logf("%-13s %6d rows %9d bytes", i.Name, i.Rows, i.Bytes)
			}
		}
		v.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)*float64(last)/time.Since(began).Seconds(), "events/s")
}

// BenchmarkView is what each view costs by itself.
func BenchmarkView(b *testing.B) {
	w := realistic(b, 60_000)
	last, _ := w.log.Last(context.Background())
	for _, one := range allViews() {
		b.Run(one.Name(), func(b *testing.B) {
			for range b.N {
				v, err := open(b.TempDir(), w.log, engine.Config{}, []engine.View{one})
				if err != nil {
					b.Fatal(err)
				}
				follow.MustCatchUp(b, v)
				v.Close()
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(last), "ns/event")
		})
	}
}

// many is views with n observations in ten projects.
func many(b *testing.B, n int) *Views {
	w := newWorld(b)
	for i := range 100 {
		s := w.open(i)
		t := w.start(s, events.TurnObservation)
		for range n / 100 / 50 {
			var evs []events.Event
			for range 50 {
				evs = append(evs, w.observation(t, fmt.Sprint("found ", w.ids)))
			}
			w.say(s.Stream(), t.id, evs...)
		}
	}
	v := mustOpen(b, b.TempDir(), w.log, engine.Config{})
	follow.MustCatchUp(b, v)
	return v
}

// BenchmarkRead is reads among 100,000 observations.
func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	v := many(b, 100_000)
	newest, err := v.Recent(ctx, rows.RecentFilter{Limit: 1})
	if err != nil || len(newest) != 1 {
		b.Fatal(newest, err)
	}
	session := newest[0].Session
	for _, c := range []struct {
		name string
		read func() error
	}{
		{"Recent20", func() error { _, err := v.Recent(ctx, rows.RecentFilter{ProjectRoot: "/home/u/p1"}); return err }},
		{"Recent300", func() error {
			_, err := v.Recent(ctx, rows.RecentFilter{ProjectRoot: "/home/u/p1", Limit: 300})
			return err
		}},
		{"Around10", func() error {
			_, _, err := v.Around(ctx, rows.Anchor{Position: newest[0].Position / 2}, 10, 10, "/home/u/p1")
			return err
		}},
		{"Row", func() error { _, err := v.Row(ctx, newest[0].ID); return err }},
		{"Session", func() error { _, err := v.Session(ctx, session); return err }},
		{"Sessions", func() error { _, err := v.Sessions(ctx, sessions.Filter{Limit: 20}); return err }},
		{"Files", func() error {
			_, err := v.Files(ctx, files.Filter{ProjectRoot: "/home/u/p1", Limit: 10})
			return err
		}},
		{"Balance", func() error { _, err := v.Balance(ctx); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReopen is opening views that were left clean, over a log of 60,000 events.
func BenchmarkReopen(b *testing.B) {
	w, dir := realistic(b, 60_000), b.TempDir()
	v := mustOpen(b, dir, w.log, engine.Config{})
	follow.MustCatchUp(b, v)
	for b.Loop() {
		b.StopTimer()
		if err := v.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		var err error
		if v, err = Open(dir, w.log, engine.Config{}); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	v.Close()
}

// BenchmarkRowCodec is one row of 900 bytes, there and back, as it is stored and as JSON.
func BenchmarkRowCodec(b *testing.B) {
	w := newWorld(b)
	row := rows.Row{
		ID: w.id(), Kind: rows.Observation, Position: 12345, At: epoch, Session: sessionOf(1), Agent: "claude-code", AgentSession: "s1",
		Project: "p1", ProjectRoot: "/home/u/p1", Prompt: 3, Type: "bugfix", Title: "a leak in the pool", Narrative: strings.Repeat("x", 500),
		Facts: []string{"one fact", "another"}, Concepts: []string{"gotcha"}, FilesRead: []string{"a.go"}, FilesModified: []string{"b.go"},
		Turn: w.id(), Turns: []events.ID{w.id()}, Count: 1,
	}
	c := engine.NewCodec()
	for _, form := range []struct {
		name   string
		encode func(any) ([]byte, error)
		decode func([]byte, any) error
	}{{"CBOR", c.Encode, c.Decode}, {"JSON", json.Marshal, json.Unmarshal}} {
		b.Run(form.name, func(b *testing.B) {
			for b.Loop() {
				raw, err := form.encode(row)
				if err != nil {
					b.Fatal(err)
				}
				var back rows.Row
				if err := form.decode(raw, &back); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
