package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// writer appends events to a log and remembers the versions of its streams.
type writer struct {
	tb       testing.TB
	log      *eventlog.Bolt
	versions map[events.StreamID]events.Version
	at       time.Time
}

func newWriter(tb testing.TB) *writer {
	tb.Helper()
	log := logtest.Open(tb, eventlog.Config{})
	tb.Cleanup(func() { log.Close() })
	return &writer{tb: tb, log: log, versions: map[events.StreamID]events.Version{}, at: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
}

func (w *writer) put(stream events.StreamID, list ...events.Event) []events.Record {
	w.tb.Helper()
	var drafts []events.Draft
	for _, e := range list {
		w.at = w.at.Add(time.Minute)
		drafts = append(drafts, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: w.at, Event: e})
	}
	recs, err := w.log.Append(context.Background(), stream, w.versions[stream], drafts...)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.versions[stream] += events.Version(len(recs))
	return recs
}

// open starts a session of a project.
func (w *writer) open(agent, native, project string) events.SessionID {
	id := events.SessionIDOf(agent, native)
	w.put(id.Stream(), events.SessionOpened{Agent: agent, AgentSession: native, Project: project, ProjectRoot: "/src/" + project, Source: "startup"})
	return id
}

// observe adds an observation and returns its id.
func (w *writer) observe(s events.SessionID, title, narrative string) events.ID {
	id := uuid.Must(uuid.NewV7())
	w.put(s.Stream(), events.ObservationParsed{Observation: id, Type: "discovery", Title: title, Narrative: narrative})
	return id
}

// mustOpen opens an index over the log and catches up.
func (w *writer) mustOpen(dir string) *Index {
	w.tb.Helper()
	x, err := Open(context.Background(), dir, w.log, Config{Flush: time.Millisecond})
	if err != nil {
		w.tb.Fatal(err)
	}
	w.tb.Cleanup(func() { x.Close() })
	if err := x.CatchUp(context.Background()); err != nil {
		w.tb.Fatal(err)
	}
	return x
}

func mustSearch(tb testing.TB, x *Index, q Query) Result {
	tb.Helper()
	res, err := x.Search(context.Background(), q)
	if err != nil {
		tb.Fatalf("search %+v: %v", q, err)
	}
	return res
}

func idsOf(res Result) []events.ID {
	ids := make([]events.ID, len(res.Hits))
	for i, h := range res.Hits {
		ids[i] = h.ID
	}
	return ids
}

// corpus makes text whose words are as unevenly common as those of real text.
type corpus struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newCorpus(seed uint64) *corpus {
	rng := rand.New(rand.NewPCG(seed, 1))
	c := &corpus{rng: rng, zipf: rand.NewZipf(rng, 1.1, 8, 49_999)}
	syllables := strings.Fields("ba co di fu ge hi jo ka lu me ni po qua re si to vu wa xe yo zi tra ble cran sto pli")
	for i := range 50_000 {
		var b strings.Builder
		for n := i; ; n /= len(syllables) {
			b.WriteString(syllables[n%len(syllables)])
			if n < len(syllables) {
				break
			}
		}
		c.words = append(c.words, b.String())
	}
	return c
}

func (c *corpus) word() string { return c.words[c.zipf.Uint64()] }

func (c *corpus) text(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(c.word())
		b.WriteByte(' ')
	}
	return b.String()
}

// middle returns words of middle rank, as people search by.
func (c *corpus) middle(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = c.words[100+c.rng.IntN(2000)]
	}
	return strings.Join(out, " ")
}

// fill appends n observations of about 600 bytes in sessions of 50 each.
func (w *writer) fill(c *corpus, n int) {
	for i := 0; i < n; {
		s := w.open("claude-code", fmt.Sprintf("s%d", i), fmt.Sprintf("p%d", i/5000))
		var list []events.Event
		for range min(50, n-i) {
			list = append(list, events.ObservationParsed{
				Observation: uuid.Must(uuid.NewV7()), Type: "change", Title: c.text(50), Narrative: c.text(350),
				Facts: []string{c.text(80), c.text(80)}, Concepts: []string{"how-it-works"},
				FilesModified: []string{fmt.Sprintf("internal/%s/%s.go", c.word(), c.word())},
			})
			i++
		}
		w.put(s.Stream(), list...)
	}
}
