package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

func TestBolt(t *testing.T) {
	t.Parallel()
	logtest.RunDurable(t, func(tb testing.TB, dir string) logtest.Log {
		l, err := eventlog.Open(filepath.Join(dir, "log"), eventlog.Config{})
		if err != nil {
			tb.Fatalf("Open: %v", err)
		}
		return l
	})
}

// TestGetAll: what is read at once is what is read one by one, and one that cannot be read keeps no other back.
func TestGetAll(t *testing.T) {
	t.Parallel()
	log := logtest.Open(t, eventlog.Config{})
	for i := range 5 {
		d := events.Draft{ID: events.ID{byte(i + 1)}, Event: events.PromptSubmitted{Text: fmt.Sprint("text ", i)}}
		if _, err := eventlog.AppendEnd(t.Context(), log, events.Daemon, d); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range [][]events.Position{nil, {5, 1, 1, 3}, {2, 9, 4}, {0}} {
		var got []events.Record
		for r, err := range eventlog.GetAll(t.Context(), log, at...) {
			want, wantErr := log.Get(t.Context(), at[len(got)])
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || r.ID != want.ID || r.Chain != want.Chain {
				t.Errorf("%v: got %v, %v, want %v, %v", at, r.ID, err, want.ID, wantErr)
			}
			got = append(got, r)
		}
		if len(got) != len(at) {
			t.Errorf("%v: got %d records", at, len(got))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range eventlog.GetAll(ctx, log, 1, 2) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: got %v", err)
		}
	}
}
