package server

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/cmemd/cmemd/internal/api"
)

// keyed posts body to a path under a key, as a person's program does.
func (w *world) keyed(tb testing.TB, key, path, body string) (status int, answer string) {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, "http://cmemd"+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set(api.IdempotencyHeader, key)
	}
	res, err := w.overSocket().Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return res.StatusCode, string(said)
}

// overSocket asks w's socket, by a connection for each question.
func (w *world) overSocket() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", w.socket)
	}}}
}

// TestIdempotency: what was done under a key is answered once more, and not done once more; a key is of one request alone; what was
// refused may be tried again under its key; without a key each request counts.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first, said := w.keyed(t, "k1", "/v1/memories", `{"project": "shop", "text": "once"}`)
	if again, same := w.keyed(t, "k1", "/v1/memories", `{"project": "shop", "text": "once"}`); first != 200 || again != 200 || said != same {
		t.Errorf("answered %d %s, then %d %s", first, said, again, same)
	}
	var saved api.Saved
	if err := json.Unmarshal([]byte(said), &saved); err != nil {
		t.Fatal(err)
	}
	undo := "/v1/memories/" + saved.ID.String() + "/undo"
	w.keyed(t, "u", undo, "")
	w.keyed(t, "u", undo, "") // without the key it would stand again
	for _, c := range []struct {
		key, path, body string
		status          int
	}{
		{"k1", "/v1/memories", `{"project": "shop", "text": "something else"}`, 400},
		{"k2", "/v1/memories", `{"project": "shop", "text": ""}`, 400},
		{"k2", "/v1/memories", `{"project": "shop", "text": "now it is right"}`, 200},
		{"k1", undo, "", 200}, // of another route
		{"k1", undo, "", 200}, // and answered as that was
		{"with a space", "/v1/memories", `{"text": "x"}`, 400},
		{strings.Repeat("k", 129), "/v1/memories", `{"text": "x"}`, 400},
		{"", "/v1/memories", `{"project": "shop", "text": "each"}`, 200},
		{"", "/v1/memories", `{"project": "shop", "text": "each"}`, 200},
	} {
		if got, said := w.keyed(t, c.key, c.path, c.body); got != c.status {
			t.Errorf("%q %s %s: %d %s, want %d", c.key, c.path, c.body, got, said, c.status)
		}
	}
	if saved, undone := w.count(t, "memory_saved"), w.count(t, "memory_superseded"); saved != 4 || undone != 2 {
		t.Errorf("%d memories were saved, %d times was one taken back", saved, undone)
	}
}

// TestIdempotencyAtOnce: of requests that come at once with one key one is carried out; the others are answered alike, or told to wait.
func TestIdempotencyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if status, said := w.keyed(t, "k", "/v1/memories", `{"project": "shop", "text": "once"}`); status != 200 && status != 409 {
				t.Errorf("answered %d %s", status, said)
			}
		})
	}
	all.Wait()
	if saved := w.count(t, "memory_saved"); saved != 1 {
		t.Errorf("%d memories are saved", saved)
	}
}

// TestNextIsLinked: a list that has more names the next page in a header, and following it gives the whole list once.
func TestNextIsLinked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, text := range []string{"one", "two", "three", "four", "five"} {
		if status, said := w.keyed(t, "", "/v1/memories", `{"project": "shop", "text": "`+text+`"}`); status != 200 {
			t.Fatal(said)
		}
	}
	w.settled(t)
	var seen []string
	for path := "/v1/rows?kind=memory&limit=2"; path != ""; {
		res, err := w.overSocket().Get("http://cmemd" + path)
		if err != nil {
			t.Fatal(err)
		}
		var page api.Listing
		err = json.NewDecoder(res.Body).Decode(&page)
		if res.Body.Close(); err != nil || res.StatusCode != 200 {
			t.Fatalf("%s: %d %v", path, res.StatusCode, err)
		}
		for _, r := range page.Rows {
			seen = append(seen, r.Title)
		}
		link, is := strings.CutSuffix(res.Header.Get("Link"), `>; rel="next"`)
		if path = strings.TrimPrefix(link, "<"); is == page.NextCursor.IsZero() {
			t.Fatalf("%s: Link is %q, the cursor %v", path, res.Header.Get("Link"), page.NextCursor)
		}
	}
	if got := strings.Join(seen, " "); got != "five four three two one" {
		t.Errorf("the pages list %s", got)
	}
}
