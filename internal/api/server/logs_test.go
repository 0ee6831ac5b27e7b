package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// errEnough ends an endless stream.
var errEnough = errors.New("enough")

// watchEvents collects the first n records that q gives.
func (w *world) watchEvents(tb testing.TB, q api.EventsQuery, n int) (got []api.LogRecord) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	err := w.client.Events(ctx, q, func(r api.LogRecord) error {
		if got = append(got, r); len(got) == n {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		tb.Fatalf("got %d records and %v, want %d", len(got), err, n)
	}
	return got
}

func positions(records []api.LogRecord) (ps []events.Position) {
	for _, r := range records {
		ps = append(ps, r.Position)
	}
	return ps
}

func TestEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 5 {
		w.post(t, toolUse("s", fmt.Sprint(i), "ls", "x"))
	}
	if diff := cmp.Diff([]events.Position{1, 2, 3, 4, 5, 6}, positions(w.watchEvents(t, api.EventsQuery{}, 6))); diff != "" {
		t.Errorf("from the first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]events.Position{5, 6}, positions(w.watchEvents(t, api.EventsQuery{After: 4}, 2))); diff != "" {
		t.Errorf("after 4 (-want +got):\n%s", diff)
	}
	with := w.watchEvents(t, api.EventsQuery{After: 4, Payload: true}, 1)[0]
	if !strings.Contains(string(with.Event), `"tool":"Bash"`) || with.Kind != events.KindToolUsed || with.Chain.IsZero() {
		t.Errorf("got %+v, want what happened", with)
	}
	if without := w.watchEvents(t, api.EventsQuery{After: 4}, 1)[0]; without.Event != nil {
		t.Errorf("got %s, want headers alone", without.Event)
	}
	opened := w.watchEvents(t, api.EventsQuery{Kinds: string(events.KindSessionOpened)}, 1)
	if opened[0].Position != 1 {
		t.Errorf("by kind: got %+v", opened)
	}
	stream := events.SessionIDOf("claude-code", "s").Stream()
	if got := w.watchEvents(t, api.EventsQuery{Stream: stream}, 6); got[5].Stream != stream {
		t.Errorf("by stream: got %+v", got)
	}
}

func TestEventsTail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.post(t, toolUse("s", "old", "ls", "x"))
	got := make(chan events.Position, 10)
	go w.client.Events(t.Context(), api.EventsQuery{Tail: true}, func(r api.LogRecord) error { got <- r.Position; return nil })
	eventually(t, "the stream is open", func() bool { return w.server.life.streams.Load() == 1 })
	for at := events.Position(3); ; at++ { // the first may come before the server has read the log's end
		w.post(t, toolUse("s", fmt.Sprint("new", at), "ls", "x"))
		select {
		case first := <-got:
			if first < 3 {
				t.Errorf("got position %d, which was there before", first)
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestEventsResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 5 {
		w.post(t, toolUse("s", fmt.Sprint(i), "ls", "x"))
	}
	h := http.Header{"Last-Event-Id": {"4"}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err := w.client.Do(ctx, "GET", "/v1/events", map[string][]string{"tail": {"1"}, "after": {"1"}}, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var ids []string
	for in := bufio.NewScanner(res.Body); len(ids) < 4 && in.Scan(); {
		if name, value, _ := strings.Cut(in.Text(), ": "); name == "id" || name == "event" {
			ids = append(ids, value)
		}
	}
	if diff := cmp.Diff([]string{"5", "tool_used", "6", "tool_used"}, ids); diff != "" {
		t.Errorf("the last id outranks all else (-want +got):\n%s", diff)
	}
	_, err = w.client.Do(ctx, "GET", "/v1/events", url.Values{"tail": {"x"}}, http.Header{"Last-Event-Id": {"x"}}, nil)
	if p := problem(t, err); p.Status != 400 || len(p.Errors) != 2 || p.Errors[0].Pointer != "Last-Event-ID" || p.Errors[1].Pointer != "tail" {
		t.Errorf("got %+v, want 400 for both", p)
	}
}

// A client that does not read is let go, and holds nothing up meanwhile.
func TestEventsOfASlowClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for the time limit of ten seconds")
	}
	w := newWorld(t, nil)
	big := strings.Repeat("x", 60<<10)
	for i := range 200 {
		w.post(t, toolUse("s", fmt.Sprint(i), "ls", big+fmt.Sprint(i)))
	}
	conn := w.dial(t)
	fmt.Fprint(conn, "GET /v1/events?payload=1 HTTP/1.1\r\nHost: x\r\n\r\n")
	eventually(t, "the stream is open", func() bool { return w.server.life.streams.Load() == 1 })
	w.post(t, toolUse("s", "while it hangs", "ls", ""))
	eventually(t, "it is let go", func() bool { return w.server.life.streams.Load() == 0 })
}

func TestRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 5 {
		w.post(t, toolUse(fmt.Sprint("s", i%2), fmt.Sprint(i), "ls", "x"))
	}
	var all []api.LogRecord
	for from := events.Position(0); ; {
		page, err := api.RecordsRoute.Call(t.Context(), w.client, api.RecordsQuery{From: from, Limit: 3, Payload: true})
		if err != nil || page.Last != 7 || len(page.Records) > 3 {
			t.Fatalf("from %d: got %+v, %v", from, page, err)
		}
		all = append(all, page.Records...)
		if from = page.Next; from == 0 {
			break
		}
	}
	if got := positions(all); !slices.Equal(got, []events.Position{1, 2, 3, 4, 5, 6, 7}) || all[0].Event == nil {
		t.Errorf("got %v, want the whole log", got)
	}
	stream := events.SessionIDOf("claude-code", "s1").Stream()
	page, err := api.RecordsRoute.Call(t.Context(), w.client, api.RecordsQuery{Stream: stream, From: 4})
	if err != nil || len(page.Records) != 2 || page.Records[0].Stream != stream || page.Records[0].Event != nil {
		t.Errorf("of a stream: got %+v, %v", page, err)
	}
	if err := w.log.Erase(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	page, err = api.RecordsRoute.Call(t.Context(), w.client, api.RecordsQuery{From: 2, Limit: 1, Payload: true})
	if err != nil || !page.Records[0].Erased || page.Records[0].Problem != "erased" || page.Records[0].Event != nil {
		t.Errorf("erased: got %+v, %v", page, err)
	}
	if err := w.log.(*eventlog.Bolt).Withhold(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	page, err = api.RecordsRoute.Call(t.Context(), w.client, api.RecordsQuery{From: 3, Limit: 1, Payload: true})
	if err != nil || !page.Records[0].Withheld || page.Records[0].Problem != "withheld" || page.Records[0].Event != nil {
		t.Errorf("withheld: got %+v, %v", page, err)
	}
	if page, err = api.RecordsRoute.Call(t.Context(), w.client, api.RecordsQuery{From: 100}); err != nil || page.Records == nil || page.Next != 0 {
		t.Errorf("behind the end: got %+v, %v", page, err)
	}
}

func TestVerifyExportBackup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log, err := eventlog.Open(path, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := startWorld(t, log, nil)
	w.work(t, "s", "make the cart faster", "/src/shop/cart.go")
	w.settled(t)
	want := positions(w.watchEvents(t, api.EventsQuery{}, len(w.records(t))))
	told := 0
	v, err := api.VerifyRoute.Call(t.Context(), w.client, api.NoQuery{}, func(p api.Progress) { told++ })
	if err != nil || !v.OK || int(v.Records) < len(want) || told == 0 {
		t.Errorf("verify: got %+v, %v after %d words of progress", v, err, told)
	}
	var export bytes.Buffer
	if err := w.client.Export(t.Context(), &export, 0); err != nil {
		t.Fatal(err)
	}
	copied := logtest.Open(t, eventlog.Config{})
	if n, err := eventlog.Import(t.Context(), copied, &export); err != nil || int(n) < len(want) {
		t.Errorf("the export gives back %d records, %v, want %d", n, err, len(want))
	}
	var file bytes.Buffer
	if err := w.client.Backup(t.Context(), &file); err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(t.TempDir(), "backup")
	capturetest.WriteFile(t, second, file.Bytes())
	backup, err := eventlog.OpenReadOnly(second, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Close()
	if err := eventlog.Verify(t.Context(), backup, nil); err != nil {
		t.Errorf("the backup: %v", err)
	}
	if last, err := backup.Last(t.Context()); err != nil || int(last) < len(want) {
		t.Errorf("the backup ends at %d, %v, want %d", last, err, len(want))
	}
	if st, err := api.LogStatsRoute.Call(t.Context(), w.client, api.NoQuery{}); err != nil || st.Streams != 1 || st.FileBytes == 0 {
		t.Errorf("stats: got %+v, %v", st, err)
	}
}

// damaged is a log whose third record is not what its chain says.
type damaged struct{ eventlog.Log }

func (d damaged) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range d.Log.All(ctx, from) {
			if r.Position == 3 {
				r.Unobserved = !r.Unobserved
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func TestVerifyOfDamage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 3 {
		w.post(t, toolUse("s", fmt.Sprint(i), "ls", "x"))
	}
	w.server.sources.Own = damaged{w.log}
	v, err := api.VerifyRoute.Call(t.Context(), w.client, api.NoQuery{}, nil)
	if err != nil || v.OK || v.Position != 3 || v.Reason == "" || v.Stream == "" {
		t.Errorf("got %+v, %v, want the third record named", v, err)
	}
}

func TestNoFileToBackUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.server.sources.Own = struct{ eventlog.Log }{w.log}
	var b bytes.Buffer
	if p := problem(t, w.client.Backup(t.Context(), &b)); p.Status != 404 || b.Len() > 0 {
		t.Errorf("got %+v, want 404", p)
	}
}

func TestProjections(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "s", "make the cart faster", "/src/shop/cart.go")
	w.settled(t)
	views, err := api.ProjectionsRoute.Call(t.Context(), w.client, api.NoQuery{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, v := range views {
		names[v.Name] = v.Rows > 0
	}
	if !names["sessions"] || !names["observations"] || !names["index"] {
		t.Errorf("got %+v, want views with rows, and the index", views)
	}
	for _, name := range []string{"sessions", "index"} {
		in, err := api.ProjectionRoute.Call(t.Context(), w.client, api.InspectQuery{Name: name, Limit: 5})
		if err != nil || in.Name != name || in.Checkpoint == 0 || (name == "sessions") != (len(in.Entries) == 1) {
			t.Errorf("%s: got %+v, %v", name, in, err)
		}
	}
	if _, err := api.ProjectionRoute.Call(t.Context(), w.client, api.InspectQuery{Name: "nonsense"}); problem(t, err).Status != 404 {
		t.Errorf("got %v, want 404", err)
	}
	var last api.Progress
	done, err := api.RebuildRoute.Call(t.Context(), w.client, api.RebuildRequest{}, func(p api.Progress) { last = p })
	if err != nil || len(done.Views) != len(views) || done.Position == 0 {
		t.Errorf("rebuild: got %+v, %v", done, err)
	}
	if last.Done != last.Total || last.Total == 0 {
		t.Errorf("progress ended at %+v", last)
	}
	if done, err = api.RebuildRoute.Call(t.Context(), w.client, api.RebuildRequest{Names: []string{"sessions"}}, nil); err != nil || !slices.Equal(done.Views, []string{"sessions"}) {
		t.Errorf("rebuild of one: got %+v, %v", done, err)
	}
	if _, err = api.RebuildRoute.Call(t.Context(), w.client, api.RebuildRequest{Names: []string{"sessions", "nonsense"}}, nil); problem(t, err).Status != 404 {
		t.Errorf("got %v, want 404", err)
	}
	if found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "cart"}); err != nil || len(found.Results) == 0 {
		t.Errorf("after the rebuild: got %+v, %v", found, err)
	}
}
