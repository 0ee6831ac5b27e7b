package recall

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// saved is a log with one memory.
func saved(t *testing.T, text string) (*eventlog.Bolt, []events.Record) {
	t.Helper()
	log := logtest.Open(t, eventlog.Config{})
	records, err := eventlog.AppendEnd(t.Context(), log, events.Daemon, events.Draft{
		ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: events.MemorySaved{Memory: newID(), Project: "shop", Title: text, Text: text},
	})
	if err != nil {
		t.Fatal(err)
	}
	return log, records
}

// TestOthersForgets: until it is known what other machines forgot, a hook is given this machine's memory alone, at once, and who asks waits;
// then all are given all.
func TestOthersForgets(t *testing.T) {
	t.Parallel()
	own, _ := saved(t, "The quokka is ours")
	_, theirs := saved(t, "The numbat is theirs")
	u, err := union.Open(own, union.Config{Dir: filepath.Join(t.TempDir(), "copies"), Copies: eventlog.Config{NoSync: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if err := u.Add(t.Context(), union.Run{Log: events.LogIDOf(theirs[0]), Records: theirs}); err != nil {
		t.Fatal(err)
	}
	views, err := projections.Open(t.TempDir(), u, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer views.Close()
	ix, err := index.Open(t.Context(), t.TempDir(), u, index.Config{Flush: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- views.Run(ctx) }()
	go func() { ended <- ix.Run(ctx) }()
	defer func() {
		stop()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}()
	settled := make(chan struct{})
	r := New(Config{Views: views, Index: ix, Log: u, Fence: fenceName, Settled: settled})
	if err := r.Wait(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	given := func() string {
		t.Helper()
		c, err := r.Context(t.Context(), Ask{Project: "shop", Source: "startup"})
		if err != nil {
			t.Fatal(err)
		}
		return c.Text
	}
	if text := given(); !strings.Contains(text, "quokka") || strings.Contains(text, "numbat") {
		t.Errorf("a hook is given\n%s", text)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Search(short, Query{Text: "numbat", Limit: 5}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a search did not wait: %v", err)
	}
	close(settled)
	if text := given(); !strings.Contains(text, "quokka") || !strings.Contains(text, "numbat") {
		t.Errorf("then a hook is given\n%s", text)
	}
	if a, err := r.Search(t.Context(), Query{Text: "numbat", Limit: 5}); err != nil || len(a.Results) != 1 {
		t.Errorf("then a search finds %+v, %v", a.Results, err)
	}
}
