package agents

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/testkit/growth"
)

// blob is n bytes of base64, as an encoder writes them.
func blob(n int) string {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(i*7 + i/251)
	}
	return base64.StdEncoding.EncodeToString(raw)[:n]
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, want string
		private        bool
	}{
		{"empty", "", "", false},
		{"plain", "a b\tc\nd", "a b\tc\nd", false},
		{"other languages", "日本語 é 🎉", "日本語 é 🎉", false},
		{"bare angle brackets", "a < b && c > d", "a < b && c > d", false},
		{"another element", "<b>x</b>", "<b>x</b>", false},
		{"private", "a<private>b</private>c", "ac", true},
		{"private, other case", "a<PRIVATE>b</Private>c", "ac", true},
		{"private, nested", "a<private>b<private>c</private>d</private>e", "ae", true},
		{"private, unclosed", "a<private>b", "a", true},
		{"private, over lines", "a\n<private>\nb\n</private>\nc", "a\n\nc", true},
		{"private behind a control", "a<pri\x00vate>b</private>c", "ac", true},
		{"reminder", "a<system-reminder>b</system-reminder>c", "ac", false},
		{"reminders", "<system-reminder>a</system-reminder>b<system-reminder>c</system-reminder>", "b", false},
		{"reminder with attributes", `a<system-reminder kind="x">b</system-reminder>c`, "ac", false},
		{"reminder, nested", "a<system-reminder>b<system-reminder>c</system-reminder>d</system-reminder>e", "ae", false},
		{"reminder, opened twice", "a<system-reminder>b<system-reminder>c</system-reminder>d", "ad", false},
		{"reminder, unclosed", "a<system-reminder>b", "a<system-reminder>b", false},
		{"reminder, only closed", "a</system-reminder>b", "a</system-reminder>b", false},
		{"reminder, empty element", "a<system-reminder/>b", "ab", false},
		{"unclosed, then own context", "<system-reminder>a" + ContextOpen + "b" + ContextClose + "c", "<system-reminder>ac", false},
		{"own context", "a" + ContextOpen + "\nb\n" + ContextClose + "c", "ac", false},
		{"own context with attributes", `a<cmemd-context project="x" position="7">b</cmemd-context>c`, "ac", false},
		{"own context, cut", "a\n" + ContextOpen + "\nb\n[300 characters left out]", "a\n", false},
		{"own context with attributes, cut", "a <cmemd-context project=\"x\">\r\nb", "a ", false},
		{"own context, cut, in quoted JSON", `{"context":"` + ContextOpen + `\nb\nc`, `{"context":"`, false},
		{"own context, cut behind its tag", "a" + ContextOpen, "a" + ContextOpen, false},
		{"own context, whole, then cut", ContextOpen + "\na\n" + ContextClose + "b" + ContextOpen + "\nc", "b", false},
		{"another unclosed, then own context, cut", "<system-reminder>a" + ContextOpen + "\nb", "<system-reminder>a", false},
		{"talk of own context", "why `" + ContextOpen + "` and " + ContextOpen + "?\nTell me.", "why `" + ContextOpen + "` and " + ContextOpen + "?\nTell me.", false},
		{"talk of own context, then cut", "why `" + ContextOpen + "`?\n" + ContextOpen + "\nb", "why `" + ContextOpen + "`?\n", false},
		{"another memory's context", "a<claude-mem-context>b</claude-mem-context>c", "ac", false},
		{"a notice", "SessionStart says: " + relay.Notice("all is lost") + "\nAnd then?", "SessionStart says: \nAnd then?", false},
		{"a notice alone", relay.Notice("all is lost"), "", false},
		{"two notices", relay.Notice("a") + "b" + relay.Notice("c"), "b", false},
		{"a notice, wrapped and coloured", "\x1b[33m[cmemd-notice: all\r\n  │ is lost]\x1b[0m!", "!", false},
		{"a notice in quoted JSON", `{"systemMessage":"[cmemd-notice: use \"x\"]","a":1}`, `{"systemMessage":"","a":1}`, false},
		{"a notice, cut", "a [cmemd-notice: all is\nb", "a \nb", false},
		{"a notice, cut, in quoted JSON", `a [cmemd-notice: all is\nb`, `a \nb`, false},
		{"a notice, cut at the end", "a [cmemd-notice:", "a ", false},
		{"own context in JSON in JSON", `{"a":"x\u003ccmemd-context\u003e\nb\u003c/cmemd-context\u003ey"}`, `{"a":"xy"}`, false},
		{"own context, quoted again", `"x\\\\u003Ccmemd-context a=1\\\\u003E b \\\\u003C/cmemd-context\\\\u003Ey"`, `"xy"`, false},
		{"own context in JSON in JSON, cut", `"x\u003ccmemd-context\u003e\nb`, `"x`, false},
		{"two of them", `\u003ccmemd-context\u003ea\u003c/cmemd-context\u003eb\u003ccmemd-context\u003ec\u003c/cmemd-context\u003e`, `b`, false},
		{"no notice", "[cmemd: 5 bytes left out]", "[cmemd: 5 bytes left out]", false},
		{"longer name", "<system-reminders>b</system-reminders>", "<system-reminders>b</system-reminders>", false},
		{"space in the closing tag", "a<system-reminder>b</system-reminder >c", "ac", false},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb", false},
		{"half a rune", "a\xe6\x97", "a\uFFFD", false},
		{"NUL", "a\x00b", "ab", false},
		{"bell and backspace", "a\a\bb", "ab", false},
		{"delete", "a\x7fb", "ab", false},
		{"C1", "a\u0085b\u009bc", "abc", false},
		{"no-break space is none", "a\u00a0b", "a\u00a0b", false},
		{"CRLF", "a\r\nb\rc", "a\nb\nc", false},
		{"colours", "\x1b[1;31mred\x1b[0m", "red", false},
		{"cursor", "a\x1b[2K\x1b[1Gb", "ab", false},
		{"title, bell", "\x1b]0;title\ab", "b", false},
		{"title, ST", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", false},
		{"title, unclosed", "\x1b]0;title", "0;title", false},
		{"charset", "\x1b(Ba", "a", false},
		{"charset, in a word", "gh\x1b(Bp_\x1b[mx", "ghp_x", false},
		{"charset at the end", "a\x1b(", "a", false},
		{"escape at the end", "a\x1b", "a", false},
		{"sequence at the end", "a\x1b[12", "a", false},
		{"escape, then newline", "a\x1b\nb", "a\nb", false},
		{"blob", "x " + blob(4000) + " y", "x [cmemd: 4000 bytes of base64 left out] y", false},
		{"data URL", "data:image/png;base64," + blob(2000) + ")", "data:image/png;base64,[cmemd: 2000 bytes of base64 left out])", false},
		{"short blob", blob(1000), blob(1000), false},
		{"ruler", strings.Repeat("=", 5000), strings.Repeat("=", 5000), false},
		{"long word", strings.Repeat("ab", 5000), strings.Repeat("ab", 5000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, private := clean(c.in)
			if got != c.want || private != c.private {
				t.Errorf("got %.300q, private %t; want %.300q, %t", got, private, c.want, c.private)
			}
		})
	}
}

func TestFoldBase64Wrapped(t *testing.T) {
	t.Parallel()
	var lines []string
	for b := blob(7600); b != ""; b = b[76:] {
		lines = append(lines, b[:76])
	}
	wrapped := strings.Join(lines, "\n")
	if got, want := foldBase64("a\n"+wrapped+"\nend."), "[cmemd: 7699 bytes of base64 left out]"; !strings.Contains(got, want) || len(got) > 60 {
		t.Errorf("wrapped: got %.200q, want %q in it", got, want)
	}
	prose := strings.Repeat("word\n", 2000)
	if got := foldBase64(prose); got != prose {
		t.Errorf("a list of words: got %.100q", got)
	}
}

func TestCaps(t *testing.T) {
	t.Parallel()
	s := strings.Repeat("日本", 1000)
	got := capText(s, 500)
	head, tail, ok := strings.Cut(got, "\n[cmemd: ")
	if !ok || len(got) > 500 || !utf8.ValidString(got) || !strings.HasPrefix(s, head) {
		t.Errorf("got %q", got)
	}
	n, tail, _ := strings.Cut(tail, " bytes left out]\n")
	if !strings.HasSuffix(s, tail) || fmt.Sprint(len(s)-len(head)-len(tail)) != n {
		t.Errorf("got %q cut between %d and %d bytes of %d", n, len(head), len(tail), len(s))
	}
	if got := capText("short", 500); got != "short" {
		t.Errorf("short: got %q", got)
	}
	if got := clip.Head("aé", 2); got != "a" {
		t.Errorf("head: got %q, want a", got)
	}
	if got := capTail("éa", 2); got != "a" {
		t.Errorf("tail: got %q, want a", got)
	}
}

func TestCleanJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, input, want string }{
		"as it is":        {`{"a":[1,2.5e3,true,null],"b":"x"}`, ``, `{"a":[1,2.5e3,true,null],"b":"x"}`},
		"white space":     {" { \"a\" : [ 1 , 2 ] , \"b\" : { } } ", ``, `{"a":[1,2],"b":{}}`},
		"order":           {`{"b":1,"a":2}`, ``, `{"b":1,"a":2}`},
		"private":         {`{"a":"x<private>y</private>z","b":"<private>"}`, ``, `{"a":"xz","b":""}`},
		"private escaped": {`{"a":"x\u003cprivate\u003ey"}`, ``, `{"a":"x"}`},
		"private key":     {`{"a<private>b":1}`, ``, `{"a":1}`},
		"reminder":        {`["a<system-reminder>b</system-reminder>c"]`, ``, `["ac"]`},
		"a notice":        {`{"a":"x [cmemd-notice: use 1] y","b":"\u005bcmemd-notice: z]"}`, ``, `{"a":"x  y","b":""}`},
		"escapes":         {`{"a":"\u0041\/\b\u0000\"\\\n\r\t"}`, ``, `{"a":"A/\"\\\n\n\t"}`},
		"surrogates":      {`["\ud83c\udf89","\ud83c"]`, ``, `["🎉","` + "\uFFFD" + `"]`},
		"invalid UTF-8":   {"[\"a\xffb\"]", ``, `["a` + "\uFFFD" + `b"]`},
		"colours":         {`["\u001b[31mred"]`, ``, `["red"]`},
		"blob by key":     {`{"source":{"type":"base64","data":"` + blob(300) + `"}}`, ``, `{"source":{"type":"base64","data":"[cmemd: 300 bytes of base64 left out]"}}`},
		"no blob by key":  {`{"data":"` + strings.Repeat("a b ", 100) + `"}`, ``, `{"data":"` + strings.Repeat("a b ", 100) + `"}`},
		"blob":            {`{"x":"` + blob(2000) + `"}`, ``, `{"x":"[cmemd: 2000 bytes of base64 left out]"}`},
		"patch": {`{"filePath":"f","oldString":"a","newString":"b","originalFile":"all","structuredPatch":[{"originalFile":1}],"content":"c"}`,
			`{"old_string":"a","content":"c"}`, `{"filePath":"f","newString":"b","structuredPatch":[{"originalFile":1}]}`},
		"patch, first":  {`{"originalFile":{"a":[1]},"structuredPatch":[]}`, ``, `{"structuredPatch":[]}`},
		"patch, last":   {`{"structuredPatch":[],"originalFile":null}`, ``, `{"structuredPatch":[]}`},
		"no patch":      {`{"originalFile":"all","content":"c"}`, `{"content":"c"}`, `{"originalFile":"all","content":"c"}`},
		"one string":    {`"<private>"`, ``, `""`},
		"number":        {`12`, ``, `12`},
		"empty strings": {`{"":""}`, ``, `{"":""}`},
	} {
		if got := cleanJSON([]byte(c.in), []byte(c.input)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestCapJSON(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`a\"\n日`, 40_000)
	for name, in := range map[string]string{
		"one":       `{"stdout":"` + long + `","stderr":"x"}`,
		"two":       `{"a":"` + long + `","b":"` + long + `","c":"short"}`,
		"uneven":    `{"a":"` + long + `","b":"` + strings.Repeat("y", 40_000) + `","c":["` + strings.Repeat("z", 3000) + `"]}`,
		"many":      `["` + strings.Repeat(strings.Repeat("w", 600)+`","`, 500) + `"]`,
		"backslash": `["` + strings.Repeat(`\\`, 100_000) + `"]`,
	} {
		got := capJSON(in, MaxText)
		if len(got) > MaxText || len(got) < MaxText*8/10 {
			t.Errorf("%s: got %d bytes, want nearly %d", name, len(got), MaxText)
		}
		if !json.Valid([]byte(got)) || !utf8.ValidString(got) {
			t.Errorf("%s: no JSON: %.200q", name, got)
		}
		if !strings.Contains(got, "bytes left out]") {
			t.Errorf("%s: no marker", name)
		}
	}
	numbers := "[" + strings.Repeat("1234567,", 20_000) + "1]"
	if got := capJSON(numbers, MaxText); len(got) > MaxText || !strings.Contains(got, "bytes left out]") {
		t.Errorf("numbers: got %d bytes, want a cut text of at most %d", len(got), MaxText)
	}
	if got := capJSON(`{"a":1}`, MaxText); got != `{"a":1}` {
		t.Errorf("short: got %s", got)
	}
}

// TestCapJSONFits: of any strings the result is JSON of at most the size asked for, as long as it can be.
func TestCapJSONFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 3000), 1, 20).Draw(t, "lengths")
		var values []string
		for _, n := range lengths {
			values = append(values, strings.Repeat("é\n", n))
		}
		raw, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		max := rapid.IntRange(8192, 65536).Draw(t, "max")
		got := capJSON(string(raw), max)
		if len(got) > max || !json.Valid([]byte(got)) {
			t.Fatalf("got %d bytes, want JSON of at most %d", len(got), max)
		}
		var back []string
		if err := json.Unmarshal([]byte(got), &back); err != nil || len(back) != len(values) {
			t.Fatalf("got %d values, error %v; want %d", len(back), err, len(values))
		}
	})
}

// TestLinearTime: inputs made to be slow take what their size takes.
func TestLinearTime(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func(n int) string{
		"open tags":    func(n int) string { return strings.Repeat("<system-reminder>", n/17) },
		"unended tags": func(n int) string { return strings.Repeat("<system-reminder ", n/17) },
		"opened, closed": func(n int) string {
			return strings.Repeat("<system-reminder>", n/34) + strings.Repeat("</system-reminder>", n/36)
		},
		"escaped fences": func(n int) string { return strings.Repeat(`\u003ccmemd-context`, n/19) },
		"escapes of one": func(n int) string { return strings.Repeat(`\`, n/2) + strings.Repeat(`u003ccmemd-context\`, n/40) },
		"notices":        func(n int) string { return strings.Repeat("[cmemd-notice: a", n/16) },
		"two kinds":      func(n int) string { return strings.Repeat("<system-reminder><cmemd-context>", n/32) },
		"private":        func(n int) string { return strings.Repeat("<private", n/8) },
		"titles":         func(n int) string { return strings.Repeat("\x1b]0;", n/4) },
		"sequences":      func(n int) string { return strings.Repeat("\x1b[1", n/3) },
		"closing":        func(n int) string { return strings.Repeat("</system-reminder ", n/18) },
		"backslashes":    func(n int) string { return strings.Repeat(`\`, n) },
		"lines":          func(n int) string { return strings.Repeat(strings.Repeat("A", 60)+"\n", n/61) },
	} {
		growth.Linear(t, name, 1<<15, func(n int) {
			body, err := json.Marshal(map[string]any{"a": in(n), "b": []string{in(n)}})
			if err != nil {
				t.Fatal(err)
			}
			clean(in(n))
			new(scrubber).promptSubmitted(in(n))
			if !json.Valid([]byte(cleanJSON(body, body))) {
				t.Errorf("%s: no JSON", name)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a<private>b", "\x1b]0;x\a\x1b[1m\x9b", "<system-reminder>a<system-reminder/>b</system-reminder>",
		"\xc2", "\r\r\n", ContextOpen + ContextClose, "a[cmemd-notice: b]c", `\u003ccmemd-context\u003ea\u003c/cmemd-context`, blob(1100), "<system-reminder\n><private></system-reminder>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _ := clean(s)
		if !utf8.ValidString(got) || dropControls(got) != got {
			t.Errorf("not clean: %q became %q", s, got)
		}
		if isClean(s) && got != s {
			t.Errorf("clean text was changed: %q became %q", s, got)
		}
		body, err := json.Marshal(map[string]string{"a": s, s: "b"})
		if err != nil {
			t.Fatal(err)
		}
		out := cleanJSON(body, nil)
		if !json.Valid([]byte(out)) || !utf8.ValidString(out) {
			t.Errorf("no JSON: %q became %q", body, out)
		}
		if again := cleanJSON([]byte(out), nil); len(out) < 1024 && !strings.Contains(s, "<") && !hasNoticeOrFence(s) && again != out {
			t.Errorf("not stable: %q, then %q", out, again)
		}
	})
}

// TestCleanJSONIsMadeOnce: what is kept of a text is written to one piece of memory, and is not copied from there.
func TestCleanJSONIsMadeOnce(t *testing.T) {
	raw := []byte(`{"stdout":"` + strings.Repeat("all as it was, ", 100) + `","interrupted":false}`)
	if n := testing.AllocsPerRun(20, func() { new(scrubber).json(cleanJSON(raw, nil)) }); n > 1 {
		t.Errorf("%.0f allocations, want 1", n)
	}
}

// TestCleanJSONHoldsWhatItKeeps: what is kept of a text of which much is left out holds no more memory than it needs.
func TestCleanJSONHoldsWhatItKeeps(t *testing.T) {
	image := make([]byte, 1<<20)
	for i := range image {
		image[i] = byte(i * i >> 3)
	}
	raw := []byte(`{"image":"` + base64.StdEncoding.EncodeToString(image) + `"}`)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := make([]string, 20)
	for i := range kept {
		kept[i] = cleanJSON(raw, nil)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > int64(len(raw)) {
		t.Errorf("%d texts of %d bytes hold %d bytes", len(kept), len(kept[0]), held)
	}
	runtime.KeepAlive(raw)
}

func FuzzCleanJSON(f *testing.F) {
	for _, s := range []string{`{}`, `[[],{"a":"\u003cprivate>"}]`, `{"structuredPatch":1,"originalFile":{},"content":"x"}`, `"\ud83c"`, `-0.5e-7`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		out := cleanJSON(raw, raw)
		if !json.Valid([]byte(out)) || !utf8.ValidString(out) {
			t.Errorf("%q became %q", raw, out)
		}
		if got := capJSON(out, 300); len(got) > 300 {
			t.Errorf("%q: got %d bytes, want at most 300", out, len(got))
		}
	})
}
