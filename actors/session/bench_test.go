package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// BenchmarkFold folds stored records of many sessions, interleaved as a log has them: each session's life is twenty
// tool uses, a stop, and the turns that settle them. It reads headers, and decodes only what Evolve looks into.
func BenchmarkFold(b *testing.B) {
	const sessions = 2000
	codec := events.NewCodec()
	stored := storedLives(b, codec, sessions)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		states := make(map[events.StreamID]*State, sessions)
		for _, raw := range stored {
			r, err := codec.Record(raw)
			if err != nil {
				b.Fatal(err)
			}
			s := states[r.Stream]
			if s == nil {
				s = new(State)
				states[r.Stream] = s
			}
			if err := s.EvolveRecord(r); err != nil {
				b.Fatal(err)
			}
		}
		n += len(stored)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(len(stored)), "events")
}

// storedLives returns the stored form of the events of n sessions, in an order that mixes them.
func storedLives(b *testing.B, codec *events.Codec, n int) [][]byte {
	b.Helper()
	var lives [][]events.Record
	for i := range n {
		m := newSim(b, policy.ModelLimits())
		m.codec, m.plain = codec, true
		life(m)
		stream := events.SessionIDOf("bench", fmt.Sprint(i)).Stream()
		for j := range m.records {
			m.records[j].Stream = stream
		}
		lives = append(lives, m.records)
	}
	var stored [][]byte
	for j := range lives[0] {
		for i := range lives {
			raw, err := lives[i][j].AppendBinary(nil)
			if err != nil {
				b.Fatal(err)
			}
			stored = append(stored, raw)
		}
	}
	return stored
}

func life(m *sim) {
	m.must(m.capture(events.PromptSubmitted{Text: "make the retry budget a setting"}))
	for range 20 {
		c := m.capture(events.ToolUsed{Tool: "Edit", Input: `{"file_path":"/p/retry.go"}`, Output: string(make([]byte, 200))})
		c.Key = events.KeyOf(c.ID.String())
		m.must(c)
	}
	m.stop()
	m.must(m.keep(m.start()))
	m.must(m.keep(m.start()))
	m.now = m.now.Add(time.Minute)
}
