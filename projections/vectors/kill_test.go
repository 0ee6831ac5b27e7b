package vectors

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/race"
)

// childHome names the folder in which TestChild fills vectors until it is killed.
const childHome = "VECTORS_TEST_HOME"

// remote asks the endpoint of the test that started a child.
type remote struct{ url string }

func (r remote) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, &Failure{Says: "not reached", Retryable: true}
	}
	defer resp.Body.Close()
	var out [][]float32
	return out, json.NewDecoder(resp.Body).Decode(&out)
}

// over opens a log, its views, which are run, and vectors in a folder.
func over(ctx context.Context, t *testing.T, dir, url string) *Vectors {
	t.Helper()
	log, err := eventlog.Open(filepath.Join(dir, "log.db"), eventlog.Config{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	views, err := projections.Open(filepath.Join(dir, "views"), log, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	go func() { done <- views.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done; views.Close(); log.Close() })
	v, err := Open(ctx, filepath.Join(dir, "vectors"), log, Config{
		Embedder: remote{url}, Model: "m", Rows: views, Redact: strings.Clone, Batch: 3, Rest: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestChild is no test: it is what TestKilledWhileFilling kills.
func TestChild(t *testing.T) {
	dir, url, ok := strings.Cut(os.Getenv(childHome), "|")
	if !ok {
		t.Skip("only TestKilledWhileFilling starts it")
	}
	v := over(t.Context(), t, dir, url)
	go func() {
		for {
			fmt.Println("filled", v.Stats().Filled)
			time.Sleep(time.Millisecond)
		}
	}()
	t.Error(v.Run(t.Context()))
}

// TestKilledWhileFilling: what a process that is killed leaves is whole as far as it goes, is not paid for again, and is
// filled to its end.
func TestKilledWhileFilling(t *testing.T) {
	race.SkipProcesses(t)
	const rows, dims = 120, 24
	asked := make(chan int, 10_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var texts []string
		if err := json.NewDecoder(r.Body).Decode(&texts); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		out := make([][]float32, len(texts))
		for i, text := range texts {
			out[i] = hashed(text, dims)
		}
		asked <- len(texts)
		_ = json.NewEncoder(w).Encode(out) // whoever asked may be dead
	}))
	defer server.Close()
	dir := t.TempDir()
	texts := fillLog(t, filepath.Join(dir, "log.db"), rows)
	kills := 0
	for _, until := range []int{1, 25, 60} {
		killAt(t, dir+"|"+server.URL, until)
		kills++
	}
	v := over(t.Context(), t, dir, server.URL)
	before := v.Stats().Filled
	if before < 60 {
		t.Errorf("%d rows are kept of 60 at least", before)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	for end := time.Now().Add(time.Minute); v.Stats().Filled < rows; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not filled: %+v", v.Stats())
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	w := &world{tb: t, texts: texts, conf: Config{Redact: strings.Clone}}
	var ids []events.ID
	for id := range texts {
		ids = append(ids, id)
	}
	w.holds(v, ids)
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	sent := 0
	for range len(asked) {
		sent += <-asked
	}
	if sent < rows || sent > rows+kills*3 { // what was in flight is asked again
		t.Errorf("%d texts were sent for %d rows and %d kills", sent, rows, kills)
	}
}

// fillLog makes a log of saved memories.
func fillLog(t *testing.T, path string, rows int) map[events.ID]string {
	t.Helper()
	log, err := eventlog.Open(path, eventlog.Config{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	texts := map[events.ID]string{}
	var drafts []events.Draft
	for i := range rows {
		id := uuid.Must(uuid.NewV7())
		texts[id] = fmt.Sprintf("memory number%d of many%d", i, i%9)
		e := events.MemorySaved{Memory: id, Text: texts[id], At: time.Now()}
		drafts = append(drafts, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: e})
	}
	if _, err := eventlog.AppendEnd(t.Context(), log, events.Daemon, drafts...); err != nil {
		t.Fatal(err)
	}
	return texts
}

// killAt starts a child and kills it as soon as it has filled n rows.
func killAt(t *testing.T, home string, n int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childHome+"="+home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reached := false
	for lines := bufio.NewScanner(out); !reached && lines.Scan(); {
		var filled int
		_, _ = fmt.Sscanf(lines.Text(), "filled %d", &filled)
		reached = filled >= n
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if !reached {
		t.Fatalf("the child ended before it had filled %d rows", n)
	}
}
