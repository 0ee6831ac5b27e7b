package memory

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

func TestTranscripts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, age time.Duration, text ...string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(cmp.Or(append(text, "{}")...)), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	young, old := write("a/young.jsonl", time.Minute), write("z/deep/old.jsonl", time.Hour)
	named := write("a/named.txt", 2*time.Hour)
	write("a/other.json", time.Hour)
	write("a/claude.json", time.Hour, `{"sessionId":"s"}`)
	chat := write("a/chat.json", 3*time.Hour, "{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"7\"\n}")
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := transcripts([]string{dir, young, named, filepath.Join(dir, "a", "..", "a", "young.jsonl")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.path)
		if f.size != 2 && f.path != chat {
			t.Errorf("%s has %d bytes", f.path, f.size)
		}
		if itself := f.path == young || f.path == named; f.named != itself {
			t.Errorf("%s is named itself: got %v, want %v", f.path, f.named, itself)
		}
	}
	if diff := gocmp.Diff([]string{chat, named, old, young}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := transcripts([]string{filepath.Join(dir, "none")}); !os.IsNotExist(err) {
		t.Errorf("a path that is not there: %v", err)
	}
}

// What cannot be looked at below a named folder is one transcript that is not read, and keeps no other back; where it is
// named itself there is nothing to go on with.
func TestTranscriptsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, dangling := filepath.Join(dir, "b", "good.jsonl"), filepath.Join(dir, "a.jsonl")
	if err := os.MkdirAll(filepath.Dir(good), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(good, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "gone"), dangling); err != nil {
		t.Skip(err)
	}
	files, err := transcripts([]string{dir, dir})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, f := range files {
		got[f.path] = f.err == nil
	}
	if diff := gocmp.Diff(map[string]bool{dangling: false, good: true}, got); diff != "" || len(files) != 2 {
		t.Errorf("%d files, read or not (-want +got):\n%s", len(files), diff)
	}
	if _, err := transcripts([]string{good, dangling}); !os.IsNotExist(err) {
		t.Errorf("a link that is named and leads nowhere: got %v", err)
	}
}

// TestSettleOfAnOlderDaemon: a daemon that cannot end sessions leaves them open, and what replaces it is said.
func TestSettleOfAnOlderDaemon(t *testing.T) {
	t.Parallel()
	older := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", api.ProblemType)
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"type":"urn:cmemd:not-found","status":404,"detail":"there is no such path; what there is begins with /v1"}`)
	}))
	defer older.Close()
	c := client.DialTCP(strings.TrimPrefix(older.URL, "http://"), "token")
	defer c.Close()
	files := []ingestedFile{{Ingested: api.Ingested{Sessions: []events.SessionID{{1}}, Last: time.Unix(1, 0)}}}
	ended, err := settle(t.Context(), c, files)
	if next := terminal.NextStep(err); err == nil || ended != 0 || !strings.Contains(next, "`cmemd start`") {
		t.Errorf("got %d ended, %v, next %q", ended, err, next)
	}
}
