package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// recordedChat returns the recorded chat of Gemini CLI as it is, and as older versions write it: one object, printed.
func recordedChat(t *testing.T) (lines, printed []byte) {
	t.Helper()
	lines, err := os.ReadFile("testdata/gemini-cli/transcripts/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var meta []byte
	var records [][]byte
	for line := range bytes.Lines(lines) {
		line = bytes.TrimSpace(line)
		set := rawMember(line, "$set")
		jsonscan.Elements(rawMember(set, "messages"), func(record []byte) bool {
			records = append(records, record)
			return true
		})
		switch {
		case meta == nil:
			meta = bytes.TrimSuffix(line, []byte("}"))
		case set == nil:
			records = append(records, line)
		}
	}
	var b bytes.Buffer
	whole := fmt.Appendf(nil, `%s,"messages":[%s],"summary":"done"}`, meta, bytes.Join(records, []byte(",")))
	if err := json.Indent(&b, whole, "", "  "); err != nil {
		t.Fatal(err)
	}
	return lines, b.Bytes()
}

// TestPrintedChat: a chat that is one object, however it is printed, gives what the lines of the same chat give.
func TestPrintedChat(t *testing.T) {
	t.Parallel()
	lines, printed := recordedChat(t)
	want, _, _ := readAllOf(t, "gemini-cli", "/t/s1.json", bytes.NewReader(lines))
	var compact bytes.Buffer
	if err := json.Compact(&compact, printed); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"printed": printed, "with a line end": append(bytes.Clone(printed), '\n'), "behind a blank line": append([]byte("\n"), printed...),
		"with other line ends": bytes.ReplaceAll(printed, []byte("\n"), []byte("\r\n")), "on one line": compact.Bytes(),
	} {
		got, bad, p := readAllOf(t, "gemini-cli", "/t/s1.json", bytes.NewReader(text))
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 5 {
			t.Errorf("%s: %d captures (-lines +printed):\n%s", name, len(got), diff)
		}
		if len(bad) > 0 || p.Offset != int64(len(text)) || p.Partial != 0 {
			t.Errorf("%s: got %v and %+v, want all %d bytes read", name, bad, p, len(text))
		}
	}
}

// TestPrintedChatCut: what is no object, or not whole yet, is read line by line, to its end.
func TestPrintedChatCut(t *testing.T) {
	t.Parallel()
	lines, printed := recordedChat(t)
	for name, c := range map[string]struct {
		text     string
		captures bool
	}{
		"cut":                       {string(printed[:len(printed)/2]), false},
		"lines behind a broken one": {"{\"broken\"\n" + string(lines), true},
		"two of them":               {string(printed) + "\n" + string(printed), false},
	} {
		got, bad, p := readAllOf(t, "gemini-cli", "/t/s1.json", strings.NewReader(c.text))
		if (len(got) > 0) != c.captures || len(bad) == 0 || p.Offset+p.Partial != int64(len(c.text)) {
			t.Errorf("%s: got %d captures, %d bad lines, %+v of %d bytes", name, len(got), len(bad), p, len(c.text))
		}
	}
}

// TestBrokenFirstLineOfAGrowingChat: what comes later is read although the first line was looked at with all that was there.
func TestBrokenFirstLineOfAGrowingChat(t *testing.T) {
	t.Parallel()
	lines, _ := recordedChat(t)
	src := &struct{ io.Reader }{strings.NewReader("{\"broken\"\n")}
	tr := Gemini{}.Transcript(src, "/t/s1.jsonl")
	n := 0
	for _, text := range []string{"", string(lines)} {
		if text != "" {
			src.Reader = strings.NewReader(text)
		}
		for _, err := range tr.More() {
			if err == nil {
				n++
			}
		}
	}
	if n == 0 {
		t.Error("nothing was captured of what came later")
	}
}

func TestAgentOfText(t *testing.T) {
	t.Parallel()
	_, printed := recordedChat(t)
	for text, want := range map[string]string{
		string(printed):       "gemini-cli",
		string(printed[:150]): "gemini-cli",
		`{"sessionId":"s","projectHash":"7","messages":[]}`:                "gemini-cli",
		"{\n  \"sessionId\": \"s\",\n  \"other\": {\"projectHash\": 1}\n}": "",
		"{\n  \"sessionId\": \"projectHash\"\n}":                           "",
		"{\n  \"sessionId\": \"s\",\n  \"proj":                             "",
		"[\n{\"projectHash\": 1}]":                                         "",
		"Dear diary,":                                                      "",
		"":                                                                 "",
	} {
		if got, ok := AgentOfText([]byte(text)); got != want || ok != (want != "") {
			t.Errorf("%.60q: got %q, %v; want %q", text, got, ok, want)
		}
	}
}
