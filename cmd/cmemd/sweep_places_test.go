package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/agents/watch"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/ignore"
)

// Words without the shape of a secret, which stand in a place of which nothing is recorded; and one that stands beside them.
const (
	wordOfDotenv      = "marmaladequill"
	wordOfIgnored     = "thistlelantern"
	wordOfPrivate     = "saffronharbour"
	wordOfEnvironment = "juniperkettle"
	wordSaid          = "pewtersparrow"
)

func unsaidWords() []string {
	return []string{wordOfDotenv, wordOfIgnored, wordOfPrivate, wordOfEnvironment}
}

// A use is a tool call in such a place.
type use struct {
	tool          string
	input, output any
}

// unsaidUses are the calls that bring each word, in the forms that agents report.
func unsaidUses(cwd string) []use {
	file := func(path, text string) use {
		path = filepath.Join(cwd, path)
		return use{"Read", map[string]any{"file_path": path}, map[string]any{"type": "text", "file": map[string]any{"filePath": path, "content": text}}}
	}
	shell := func(command, out string) use {
		return use{"Bash", map[string]any{"command": command}, map[string]any{"stdout": out, "stderr": ""}}
	}
	lines := []string{" # " + wordSaid, "+<private>", "+" + wordOfPrivate, "+</private>", " # end"}
	patch := map[string]any{"structuredPatch": []any{map[string]any{"oldStart": 1, "lines": lines}}}
	escaped := strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(clitest.JSON(patch))
	return []use{
		file(".env", "GREETING="+wordOfDotenv+"\n"), shell("cat .env", "GREETING="+wordOfDotenv+"\n"),
		file("vault/notes.txt", wordOfIgnored+"\n"), shell("cat vault/notes.txt", wordOfIgnored+"\n"),
		shell("env", "GREETING="+wordOfEnvironment+"\nHOME=/root\n"), shell("printenv", "GREETING="+wordOfEnvironment+"\n"),
		{"Edit", map[string]any{"file_path": filepath.Join(cwd, "a.txt"), "old_string": "x", "new_string": "# " + wordSaid + "\n<private>\n" + wordOfPrivate + "\n</private>\n"}, patch},
		{"mcp__x__y", map[string]any{"q": "x"}, []any{map[string]any{"type": "text", "text": escaped}}},
	}
}

// ignoringFolder is a folder that says of a part of it that nothing is to be recorded.
func (w *sweeper) ignoringFolder() string {
	w.t.Helper()
	cwd := w.t.TempDir()
	if err := os.Mkdir(filepath.Join(cwd, "vault"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(cwd, ignore.File), []string{"vault/"})
	return cwd
}

// unsaid brings the words by hooks that are processes of their own: to the spool while the daemon is away.
func (w *sweeper) unsaid(session, cwd string) {
	w.t.Helper()
	said := map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": wordSaid + " <private>" + wordOfPrivate + "</private>", "prompt_id": "p"}
	all := []map[string]any{said}
	for i, u := range unsaidUses(cwd) {
		all = append(all, map[string]any{
			"hook_event_name": "PostToolUse", "tool_use_id": fmt.Sprint(session, i), "tool_name": u.tool, "tool_input": u.input, "tool_response": u.output,
		})
	}
	all = append(all, map[string]any{"hook_event_name": "Stop", "last_assistant_message": "I set <private>" + wordOfPrivate + "</private>"})
	for i, p := range all {
		p["session_id"], p["cwd"] = session, cwd
		w.runHook([]byte(clitest.JSON(p)), i)
	}
}

// unsaidTranscript is what a transcript says of the same.
func unsaidTranscript(session, cwd string) string {
	var out strings.Builder
	line := func(kind string, n int, more map[string]any) {
		more["type"], more["sessionId"], more["cwd"], more["uuid"] = kind, session, cwd, fmt.Sprint(session, "-", out.Len())
		more["timestamp"] = time.Now().UTC().Add(time.Duration(n) * time.Second).Format(time.RFC3339)
		out.WriteString(clitest.JSON(more) + "\n")
	}
	line("user", 0, map[string]any{"message": map[string]any{"content": wordSaid + " <private>" + wordOfPrivate + "</private>"}})
	for i, u := range unsaidUses(cwd) {
		id := fmt.Sprint("t", i)
		line("assistant", i, map[string]any{"message": map[string]any{"content": []any{
			map[string]any{"type": "tool_use", "id": id, "name": u.tool, "input": u.input},
		}}})
		line("user", i, map[string]any{"toolUseResult": u.output, "message": map[string]any{"content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": id, "content": clitest.JSON(u.output)},
		}}})
	}
	return out.String()
}

// follow writes transcripts into the folder that the daemon follows, and waits until all of them are read.
func (w *sweeper) follow(folder, cwd string) {
	w.t.Helper()
	texts := []string{unsaidTranscript("watched", cwd)}
	for i, s := range w.all {
		texts = append(texts, toldBy(fmt.Sprint("watched", i), s.Text))
	}
	size := int64(0)
	for i, text := range texts {
		w.write(filepath.Join(folder, fmt.Sprint(i, ".jsonl")), []string{strings.TrimSuffix(text, "\n")})
		size += int64(len(text))
	}
	w.await("what is followed to be read", func(api.Status) bool {
		state, err := watch.Load(homedir.PathsOf(w.home).Watch)
		read := int64(0)
		for _, f := range state.Files {
			read += f.Offset
		}
		return err == nil && read == size
	})
}

// takenAway looks through what leaves the home in files, each as it is read: what is packed is unpacked first.
func (w *sweeper) takenAway() {
	w.t.Helper()
	away := w.t.TempDir()
	in := func(name string) string { return filepath.Join(away, name) }
	for _, args := range [][]string{
		{"export", "--format", "md", "--out", in("memory.md")}, {"export", "--format", "jsonl", "--out", in("memory.jsonl")},
		{"log", "export", in("log.jsonl")}, {"log", "backup", in("log.db")}, {"doctor", "--bundle", in("bundle.tar.gz")},
	} {
		out, err := w.command(w.ctx, args...).CombinedOutput()
		w.check("cmemd "+strings.Join(args, " "), out)
		if err != nil && args[0] != "doctor" { // which may find something
			w.t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	w.searchIn("what was taken away", away, "[redacted:")
	w.exported(in("log.jsonl"))
	w.recordsOf(in("log.db"))
	w.unpacked(in("bundle.tar.gz"))
}

func (w *sweeper) exported(path string) {
	w.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	w.decoded("the export", eventlog.ReadExport(w.ctx, f))
}

func (w *sweeper) unpacked(path string) {
	w.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		w.t.Fatal(err)
	}
	files := 0
	for r := tar.NewReader(packed); ; files++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			w.t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || len(text) == 0 {
			w.t.Errorf("%s of the bundle: %d bytes, %v", h.Name, len(text), err)
		}
		w.check("the bundle's "+h.Name, text)
	}
	if files < 4 {
		w.t.Errorf("the bundle has %d files", files)
	}
}

// TestSweepFindsWords: what stands in the places of which nothing is recorded would be found in a record, a file's text and
// its packed forms.
func TestSweepFindsWords(t *testing.T) {
	t.Parallel()
	for _, word := range unsaidWords() {
		if found := foundIn([]byte("x "+word+" y"), nil); len(found) != 1 {
			t.Errorf("%s: found %v", word, found)
		}
	}
	if found := foundIn([]byte(wordSaid), nil); len(found) != 0 {
		t.Errorf("what may be said is found: %v", found)
	}
}
