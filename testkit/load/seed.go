package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// perSession is how many observations one seeded session has.
const perSession = 50

// seeded is what was written.
type seeded struct {
	Observations int             `json:"observations"`
	Sessions     int             `json:"sessions"`
	Position     events.Position `json:"position"`
	Seconds      float64         `json:"seconds"`
}

// seed writes sessions of perSession observations each, over a year and twenty projects, until there are n.
func seed(ctx context.Context, home string, n int) (seeded, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return seeded{}, err
	}
	log, err := eventlog.Open(filepath.Join(home, "log.db"), eventlog.Config{})
	if err != nil {
		return seeded{}, err
	}
	defer log.Close()
	began := time.Now()
	out := seeded{}
	for ; out.Observations < n; out.Sessions++ {
		records, err := log.Append(ctx, stream(out.Sessions), 0, life(out.Sessions, n)...)
		if err != nil {
			return seeded{}, err
		}
		out.Position = records[len(records)-1].Position
		out.Observations += perSession
	}
	out.Seconds = time.Since(began).Seconds()
	return out, nil
}

func stream(i int) events.StreamID { return events.SessionIDOf("seed", fmt.Sprint(i)).Stream() }

// life is all the events of session i.
func life(i, n int) []events.Draft {
	age := time.Duration(i) * 365 * 24 * time.Hour / time.Duration(max(1, n/perSession))
	at := time.Now().Add(age - 365*24*time.Hour)
	root := fmt.Sprintf("/src/project%d", i%20)
	var drafts []events.Draft
	add := func(e events.Event) {
		drafts = append(drafts, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: at, Event: e})
		at = at.Add(time.Minute)
	}
	add(events.SessionOpened{Agent: "seed", AgentSession: fmt.Sprint(i), Project: filepath.Base(root), ProjectRoot: root, Cwd: root, Source: "startup"})
	add(events.PromptSubmitted{Number: 1, Text: words(i, 20)})
	turn := uuid.Must(uuid.NewV7())
	for k := range perSession {
		add(events.ObservationParsed{
			Observation: uuid.Must(uuid.NewV7()), Turn: turn, Type: "change", Title: words(i*perSession+k, 7),
			Narrative: words(i*perSession+k+13, 60), Facts: []string{words(k, 9), words(i+k, 9)}, Concepts: []string{"what-changed"},
			FilesModified: []string{fmt.Sprintf("%s/pkg%d/file%d.go", root, k%7, (i+k)%40)}, Prompt: 1,
		})
	}
	add(events.SummaryParsed{Summary: uuid.Must(uuid.NewV7()), Turn: turn, Request: words(i, 9), Completed: words(i+1, 20), Prompt: 1})
	add(events.SessionClosed{Cause: "other"})
	return drafts
}

// words makes n words from a vocabulary of 50,000 in which, as in language, few are frequent.
func words(seed, n int) string {
	var b []byte
	x := uint64(seed)*0x9e3779b97f4a7c15 + 1
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		u := float64(x>>11) / (1 << 53)
		b = fmt.Appendf(b, "%s ", word(int(u*u*u*50_000)))
	}
	return string(b[:len(b)-1])
}

func word(i int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b []byte
	for i += 70; i > 0; i /= 70 {
		b = append(b, consonants[i%14], vowels[i/14%5])
	}
	return string(b)
}
