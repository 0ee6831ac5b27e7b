package importer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func entry(kind Kind, name string, change func(*Entry)) *Entry {
	e := &Entry{Kind: kind, Name: name, At: noon, Agent: "claude-code", AgentSession: "s-1", Project: "shop", Folder: "/src/shop"}
	if change != nil {
		change(e)
	}
	return e
}

// one converts e and returns what is recorded of it.
func one(t *testing.T, c *Converter, e *Entry, captured bool) session.Capture {
	t.Helper()
	got, err := c.Convert(e, captured)
	if err != nil || got.LeftOut != "" || len(got.Captures) != 1 {
		t.Fatalf("%s %s: got %+v, %v; want one", e.Kind, e.Name, got, err)
	}
	return got.Captures[0]
}

func TestConvert(t *testing.T) {
	t.Parallel()
	secret := func(s string, _ bool) (string, map[string]int) {
		if !strings.Contains(s, "hunter2") {
			return s, nil
		}
		return strings.ReplaceAll(s, "hunter2", "[gone]"), map[string]int{"password": 1}
	}
	c := NewConverter("other", secret)
	opened := one(t, c, entry(Session, "session", func(e *Entry) { e.Ended = noon.Add(time.Hour) }), false)
	want := session.Origin{Agent: "claude-code", AgentSession: "s-1", Project: "shop", Cwd: "/src/shop"}
	if d := cmp.Diff(want, opened.Origin); d != "" || opened.At != noon || opened.Event != (events.Event)(events.SessionOpened{Source: "import"}) {
		t.Errorf("opened as %+v at %s (-want +got):\n%s", opened.Event, opened.At, d)
	}
	one(t, c, entry(Prompt, "1", func(e *Entry) { e.Text, e.Number = "log in", 4 }), false)
	prompt := one(t, c, entry(Prompt, "2", func(e *Entry) { e.Text, e.Number = "the password is hunter2 <private>x</private>", 7 }), false)
	if p := prompt.Event.(events.PromptSubmitted); strings.TrimSpace(p.Text) != "the password is [gone]" || p.Redactions["password"] != 1 {
		t.Errorf("prompt: %+v", p)
	}
	tool := one(t, c, entry(ToolUse, "toolu_1", func(e *Entry) { e.Tool, e.Input, e.Output = "Bash", `{"command":"ls"}`, "hunter2" }), false)
	if u := tool.Event.(events.ToolUsed); u.Unobserved != events.UnobservedImported || u.Output != "[gone]" || u.Input != `{"command":"ls"}` {
		t.Errorf("tool use: %+v", u)
	}
	if tool.Key != agents.ToolKey(tool.Origin, "toolu_1") {
		t.Error("a tool use has another key than its hook")
	}
	o := one(t, c, entry(Observation, "1", func(e *Entry) {
		e.Title, e.Narrative, e.Number = "Done", "fixed in commit 4f2c9d1", 7
		e.Facts, e.Files = []string{"a", " ", "b"}, []string{"x.go", "x.go"}
	}), false).Event.(events.ObservationParsed)
	if o.Source != "other" || o.Prompt != 2 || o.Type != events.TypeUnknown || o.Turn != (events.ID{}) || o.Observation == (events.ID{}) ||
		len(o.Facts) != 2 || len(o.FilesUnverified) != 1 || len(o.FilesModified) != 0 ||
		len(o.Claims) != 1 || o.Claims[0].Verdict != events.Unknown {
		t.Errorf("observation: %+v", o)
	}
	s := one(t, c, entry(Summary, "1", func(e *Entry) { e.Request, e.Number = "log in", 5 }), false).Event.(events.SummaryParsed)
	if s.Source != "other" || s.Prompt != 0 || s.Summary == o.Observation {
		t.Errorf("summary: %+v", s)
	}
	end, ok := c.End(entry(Session, "session", func(e *Entry) { e.Ended = noon.Add(time.Hour) }))
	if !ok || end.At != noon.Add(time.Hour) || end.Key == opened.Key {
		t.Errorf("end: %t %+v", ok, end)
	}
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		entry    *Entry
		captured bool
		want     string
	}{
		{"the life of a captured session", entry(Session, "s", nil), true, ReasonCaptured},
		{"a prompt of one", entry(Prompt, "1", func(e *Entry) { e.Text = "x" }), true, ReasonCaptured},
		{"a blank prompt", entry(Prompt, "1", nil), false, ReasonEmpty},
		{"a prompt that was injected", entry(Prompt, "1", func(e *Entry) { e.Text = "<system-reminder>x</system-reminder>" }), false, ReasonMachine},
		{"an observation of nothing", entry(Observation, "1", func(e *Entry) { e.Subtitle, e.Files = "x", []string{"y"} }), false, ReasonEmpty},
		{"a summary of notes alone", entry(Summary, "1", func(e *Entry) { e.Notes = "x" }), false, ReasonEmpty},
		{"a kind that is none", entry("thought", "1", nil), false, ReasonDamaged},
	} {
		if got, err := NewConverter("other", nil).Convert(c.entry, c.captured); got.Captures != nil || got.LeftOut != c.want || err != nil {
			t.Errorf("%s: got %+v, %v; want %q", c.name, got, err, c.want)
		}
	}
	for _, bad := range []*Entry{
		entry(Prompt, "", nil), entry(Prompt, "1", func(e *Entry) { e.Agent = "" }), entry(Prompt, "1", func(e *Entry) { e.AgentSession = "" }),
		entry(Prompt, "1", func(e *Entry) { e.At = time.Time{} }), entry(Prompt, "1", func(e *Entry) { e.At = noon.AddDate(300, 0, 0) }),
	} {
		if _, err := NewConverter("other", nil).Convert(bad, false); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// What is longer than is kept is said to be, and what is not is recorded whole.
func TestShortened(t *testing.T) {
	t.Parallel()
	many := func(n, size int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("%d %s", i, strings.Repeat("x", size)))
		}
		return list
	}
	long := func(n int) string { return strings.Repeat("word ", n/5) }
	for _, c := range []struct {
		name  string
		entry *Entry
		want  bool
	}{
		{"a long prompt", entry(Prompt, "1", func(e *Entry) { e.Text = long(agents.MaxPrompt) }), false},
		{"a longer one", entry(Prompt, "1", func(e *Entry) { e.Text = long(agents.MaxPrompt + 10) }), true},
		{"one that was long", entry(Prompt, "1", func(e *Entry) { e.Text = "a <private>" + long(agents.MaxPrompt) + "</private> b" }), false},
		{"200 facts", entry(Observation, "1", func(e *Entry) { e.Facts = many(202, 100) }), false},
		{"a fact of 10 KB", entry(Observation, "1", func(e *Entry) { e.Facts = many(1, 10_000) }), false},
		{"too many facts", entry(Observation, "1", func(e *Entry) { e.Facts = many(maxList+1, 1) }), true},
		{"facts of 100 KB", entry(Observation, "1", func(e *Entry) { e.Facts = many(10, 10_000) }), true},
		{"too many files", entry(Observation, "1", func(e *Entry) { e.Title, e.Files = "t", many(maxList+1, 1) }), true},
		{"one file often", entry(Observation, "1", func(e *Entry) { e.Title, e.Files = "t", slices.Repeat([]string{"/a"}, maxList+1) }), false},
		{"a long narrative", entry(Observation, "1", func(e *Entry) { e.Narrative = long(300_000) }), true},
		{"a long summary", entry(Summary, "1", func(e *Entry) { e.Request, e.Notes = "r", long(300_000) }), true},
		{"a long output", entry(ToolUse, "1", func(e *Entry) { e.Tool, e.Output = "Bash", long(300_000) }), true},
		{"a long input", entry(ToolUse, "1", func(e *Entry) { e.Tool, e.Input = "Bash", `{"command":"`+long(300_000)+`"}` }), true},
		{"one that fits", entry(ToolUse, "1", func(e *Entry) { e.Tool, e.Output = "Bash", long(agents.MaxText) }), false},
	} {
		got, err := NewConverter("other", nil).Convert(c.entry, false)
		if err != nil || len(got.Captures) != 1 || got.Shortened != c.want {
			t.Errorf("%s: %d captures, shortened is %t, %v; want %t", c.name, len(got.Captures), got.Shortened, err, c.want)
			continue
		}
		if o, ok := got.Captures[0].Event.(events.ObservationParsed); ok && !c.want && len(o.Facts) != len(c.entry.Facts) {
			t.Errorf("%s: %d facts are recorded", c.name, len(o.Facts))
		}
	}
}

// What was imported is told from what was captured, and the same entry is always the same record.
func TestImportedRecordsAreKnown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := entry(rapid.SampledFrom([]Kind{Session, Prompt, ToolUse, Observation, Summary}).Draw(t, "kind"), rapid.StringN(1, 20, 100).Draw(t, "name"), nil)
		e.At = time.UnixMilli(rapid.Int64Range(1_000_000_000_000, 4_000_000_000_000).Draw(t, "at"))
		e.Text, e.Title, e.Request = "x", "y", "z"
		first, err := NewConverter("other", nil).Convert(e, false)
		if err != nil || len(first.Captures) != 1 {
			t.Fatalf("%v, %d captures", err, len(first.Captures))
		}
		again, _ := NewConverter("other", nil).Convert(e, false)
		c, other := first.Captures[0], again.Captures[0]
		if c.ID != other.ID || c.Key != other.Key || c.ID.Version() != 7 {
			t.Errorf("%s and %s are not the same", c.ID, other.ID)
		}
		h := events.Header{ID: c.ID, Key: c.Key, OccurredAt: c.At, Kind: events.KindOf(c.Event)}
		if Captured(h) {
			t.Errorf("%s counts as captured", h.Kind)
		}
		h.ID[15]++
		if agent := e.Kind == Session || e.Kind == Prompt || e.Kind == ToolUse; Captured(h) != agent {
			t.Errorf("%s of somebody else: captured is %t, want %t", h.Kind, !agent, agent)
		}
	})
}
