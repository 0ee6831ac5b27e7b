package offline

import (
	"errors"
	"slices"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// opened is a log of five records of one stream and two of another.
func opened(t *testing.T) *Log {
	t.Helper()
	home := t.TempDir()
	if err := homedir.PathsOf(home).Make(); err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(homedir.PathsOf(home).Log, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range []struct {
		stream string
		drafts []events.Draft
	}{
		{"a", []events.Draft{logtest.Draft("1"), logtest.Draft("2"), logtest.Draft("3"), logtest.Draft("4"), logtest.Draft("5")}},
		{"b", []events.Draft{logtest.Draft("6"), logtest.Draft("7")}},
	} {
		if _, err := log.Append(t.Context(), logtest.Session(batch.stream), 0, batch.drafts...); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	o, err := Open(home, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

// TestRecordsByCursor reads a log page by page as a caller does that knows no positions.
func TestRecordsByCursor(t *testing.T) {
	t.Parallel()
	log := opened(t)
	for stream, want := range map[string][]events.Position{"": {1, 2, 3, 4, 5, 6, 7}, "a": {1, 2, 3, 4, 5}, "b": {6, 7}} {
		q := api.RecordsQuery{Limit: 2}
		if stream != "" {
			q.Stream = logtest.Session(stream)
		}
		var got []events.Position
		for range want {
			page, err := api.RecordsRoute.Call(t.Context(), log, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Records {
				got = append(got, r.Position)
			}
			if page.NextCursor.IsZero() != (page.Next == 0) {
				t.Errorf("next is %d, and the cursor %+v", page.Next, page.NextCursor)
			}
			if q.Cursor = page.NextCursor; q.Cursor.IsZero() {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("stream %q: got %v, want %v", stream, got, want)
		}
	}
}

// TestOtherRoutes: a log is verified for whoever follows no progress, and other routes are not answered, whatever their answers are.
func TestOtherRoutes(t *testing.T) {
	t.Parallel()
	log := opened(t)
	v, err := api.VerifyRoute.Call(t.Context(), log, api.NoQuery{}, nil)
	if err != nil || !v.OK {
		t.Errorf("got %+v, %v", v, err)
	}
	other := api.Endpoint{Method: "GET", Path: "/v1/other"}
	if err := log.Invoke(t.Context(), other, api.RecordsQuery{}, new(api.Records), nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
