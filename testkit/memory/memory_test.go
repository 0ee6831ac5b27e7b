package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/testkit/daemon"
	"github.com/cmemd/cmemd/testkit/race"
)

// manifestSum freezes the manifest, which freezes the rest. Whoever changes it begins a new measurement.
const manifestSum = "ce1af00e934e5159fe804e8870b02d64ec32648f4420671e5a6587203273dd48"

func TestTheSetIsFrozen(t *testing.T) {
	t.Parallel()
	manifest, err := os.ReadFile("testdata/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(manifest); hex.EncodeToString(sum[:]) != manifestSum {
		t.Errorf("the manifest is another one: %x", sum)
	}
	all, err := readSessions("testdata")
	if err != nil {
		t.Fatal(err)
	}
	held, languages := len(choose(all, true, "")), map[string]bool{}
	for _, s := range all {
		languages[s.Language] = true
	}
	if len(all) < 12 || held != len(all)/2 || len(languages) < 3 {
		t.Errorf("%d sessions, %d of them held, in %d languages", len(all), held, len(languages))
	}
	files, err := filepath.Glob("testdata/sessions/*.jsonl")
	if err != nil || len(files) != 2*len(all) {
		t.Errorf("%d files of %d sessions, %v", len(files), len(all), err)
	}
}

// What a memory should hold stands in the transcript that it is made of.
func TestFactsStandInTheirTranscripts(t *testing.T) {
	t.Parallel()
	all, err := readSessions("testdata")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{"cause": true, "fix": true, "decision": true, "gotcha": true, "finding": true, "outcome": true, "open": true, "preference": true}
	for _, s := range all {
		var texts []string
		for line := range bytes.Lines(s.transcript) {
			var tree any
			if err := json.Unmarshal(line, &tree); err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			texts = leaves(tree, texts)
		}
		text := strings.Join(texts, "\n")
		for _, f := range s.facts {
			if !holds(text, f.Must) {
				t.Errorf("%s asks for %q, which its transcript does not say", f.ID, f.Must)
			}
			if !kinds[f.Kind] || f.Worth < 1 || f.Worth > 3 || f.Fact == "" || f.Question == "" || len(f.Must) == 0 {
				t.Errorf("%s is not whole: %+v", f.ID, f)
			}
		}
	}
}

func TestChangedFilesAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"yoyaku-jikan.jsonl", "yoyaku-jikan.facts.jsonl"} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(dir, "sessions", name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("\n"); err != nil || f.Close() != nil {
			t.Fatal(err)
		}
		if _, err := readSessions(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a changed %s: %v", name, err)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o, err := optionsOf([]string{"-set", "recency=0", "-observer", goodObserver}, io.Discard)
	if err != nil || !cmp.Equal(o.settings, []string{"CMEMD_RECENCY=0"}) || o.held || o.dir != testdata {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"-observer", "none"}, {"-set", "recency"}, {"-nosuch"}} {
		if _, err := optionsOf(args, io.Discard); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	must := [][]string{{"Retry"}, {"10 s", "ten seconds"}}
	for text, want := range map[string]bool{
		"retried after TEN SECONDS: a retry": true, "retry after 10 s": true, "retry after 9 s": false, "10 seconds": false, "": false,
		"retry after 410 s": false, "retry after 410 s, then 10 s": true,
	} {
		if holds(text, must) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

func TestRepeated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text             string
		sentences, twice int
	}{
		{"", 0, 0},
		{"<memory>\nMemory of the parser and of all else that is known\n# one two three four five", 0, 0},
		{"- The parser limits lines to 4096 bytes. Short one.", 1, 0},
		{"- The parser limits lines to 4096 bytes.\n- It is so: the parser limits lines to 4096 bytes", 2, 1},
		{"- The parser limits lines to 4096 bytes. The parser limits lines to 4096 bytes.", 2, 0}, // one line
		{"- 予約時刻は店舗の時刻で保存する。\n- 予約時刻は店舗の時刻で保存する。", 2, 1},
	} {
		if sentences, twice := repeated(c.text); sentences != c.sentences || twice != c.twice {
			t.Errorf("%q: %d sentences, %d said already; want %d and %d", c.text, sentences, twice, c.sentences, c.twice)
		}
	}
}

func TestWordsOf(t *testing.T) {
	t.Parallel()
	got := wordsOf(map[string]any{"id": "x", "project_root": "/p", "title": "a", "facts": []string{"b"}, "count": 2, "turns": []string{"y"}, "parts": []map[string]any{{"id": "z", "at": "2026"}}})
	if got != "a\nb" && got != "b\na" {
		t.Errorf("got %q", got)
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	r := newResult(extractor, false)
	r.add(session{Name: "one", Language: "en"}, measured{
		facts: []judged{
			{fact{Kind: "cause", Worth: 3}, true, true, false},
			{fact{Kind: "open", Worth: 1}, false, false, true},
			{fact{Kind: "open", Worth: 2, Stale: true}, true, false, true},
		},
		rows: 4, rowTokens: 100, contextTokens: 40, sentences: 9, twice: 1,
	})
	want := &result{
		Observer: extractor, All: sums{2, 4, 3, 3, 1}, Sessions: map[string]*sums{"one": {2, 4, 3, 3, 1}},
		Kinds:     map[string]*sums{"cause": {1, 3, 3, 3, 0}, "open": {1, 1, 0, 0, 1}},
		Languages: map[string]*sums{"en": {2, 4, 3, 3, 1}}, Stale: 1, StaleKept: 1,
		Rows: 4, RowTokens: 100, ContextTokens: 40, ContextSentences: 9, ContextTwice: 1,
		Missed: []fact{{Kind: "open", Worth: 1}},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if text := r.text(true); !strings.Contains(text, "kept  75.0 %  told  75.0 %  found  25.0 %") || !strings.Contains(text, "stale: 1 of 1 kept, 0 told") {
		t.Errorf("got %s", text)
	}
}

// What the built-in extractor must reach at least on the half that rules may be tuned on, in percent by worth: some points below
// what was measured (93, 93 and 90), so that a fall is seen and no step is held up by one fact.
const (
	floorKept  = 87
	floorTold  = 85
	floorFound = 82
)

// A model that writes what there is to write is kept to the last fact, one that is careless leaves nothing pending, and the
// built-in extractor stands on its own.
func TestMeasure(t *testing.T) {
	race.SkipProcesses(t)
	if testing.Short() {
		t.Skip("builds the program and runs it")
	}
	binary := filepath.Join(t.TempDir(), "cmemd")
	if err := daemon.Build(t.Context(), binary); err != nil {
		t.Fatal(err)
	}
	measured := func(args ...string) (r result) {
		var out bytes.Buffer
		if err := run(t.Context(), append(args, "-testdata", "testdata", "-cmemd", binary, "-json"), &out, io.Discard); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := measured().All
	if all.Kept*100 < floorKept*all.Worth || all.Told*100 < floorTold*all.Worth || all.Found*100 < floorFound*all.Worth {
		t.Errorf("the extractor: %s; want %d, %d, %d at least", &all, floorKept, floorTold, floorFound)
	}
	worth := map[string]sums{}
	for _, who := range observers() {
		r := measured("-observer", who, "-only", "terraform-drift")
		if r.Pending != 0 || r.Rows == 0 || r.All.Facts != 7 {
			t.Errorf("%s: %+v", who, r)
		}
		worth[who] = r.All
	}
	if all := worth[goodObserver]; all.Kept != all.Worth {
		t.Errorf("of what a good model wrote %d of %d is kept", all.Kept, all.Worth)
	}
	if worth[sloppyObserver].Kept >= worth[goodObserver].Kept || worth[sloppyObserver].Kept == 0 || worth[extractor].Kept == 0 {
		t.Errorf("kept of %d: %d by a sloppy model, %d by the extractor", worth[goodObserver].Worth, worth[sloppyObserver].Kept, worth[extractor].Kept)
	}
}
