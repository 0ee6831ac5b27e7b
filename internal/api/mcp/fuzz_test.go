package mcp

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/fence"
)

func FuzzTimeOf(f *testing.F) {
	for _, s := range []string{"", "7d", "36h", "0w", "9999999999w", "-1d", "2026-11-21", "2026-11-21T12:00Z", "2026-11-21 12:00", "d", "é", "2026-11-21T12:00:00.5+02:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := timeOf("since", s, now)
		switch {
		case err != nil && (failure(err) == "" || !utf8.ValidString(failure(err))):
			t.Errorf("%q: %v", s, err)
		case err == nil && s != "" && strings.ContainsAny(s[len(s)-1:], "hdw") && !at.Before(now):
			t.Errorf("%q is not a while ago: %v", s, at)
		}
		if err == nil && !at.IsZero() && at.Year() > 0 && at.Year() < 10_000 {
			if again, err := timeOf("since", moment(at), now); err != nil || !again.Equal(at.Truncate(time.Minute)) {
				t.Errorf("%q: shown as %s, which is read as %v, %v", s, moment(at), again, err)
			}
		}
	})
}

// Text in the fence is one piece of text: nothing in it ends the fence or is invisible, and cleaning it again changes nothing.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", agents.ContextClose, "<\u200b/cmemd-context>", "<\n/ CMEMD-CONTEXT", "<<system-reminder>", "\x1b[0m\u202e", "\xff", "a\u2028b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, clean := range map[string]func(string) string{"line": func(s string) string { return oneLine(s, 1<<20) }, "block": block} {
			got := clean(s)
			low := strings.ToLower(got)
			for _, tag := range []string{"<cmemd-context", "</cmemd-context", "<system-reminder", "</system-reminder"} {
				if strings.Contains(low, tag) {
					t.Errorf("%s: %q became %q", name, s, got)
				}
			}
			if !utf8.ValidString(got) || strings.ContainsFunc(strings.Map(dropBreaks, got), fence.Invisible) || clean(got) != got {
				t.Errorf("%s: %q became %q, and that %q", name, s, got, clean(got))
			}
		}
	})
}

func dropBreaks(r rune) rune {
	if r == '\n' || r == '\t' {
		return -1
	}
	return r
}

func FuzzPlaces(f *testing.F) {
	for _, s := range []string{"file:///src/shop", "file://host/x", "cmemd://session/s%2F1", "cmemd://context", "cmemd://%zz/%zz", "::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if dir, ok := pathOf(s); ok && (dir == "" || dir[0] != '/' && dir[1:2] != ":") {
			t.Errorf("%q is the folder %q", s, dir)
		}
		if name, ok := nameOf(s); ok && (len(name) > len(s) || !strings.HasPrefix(s, "cmemd://")) {
			t.Errorf("%q names %q", s, name)
		}
	})
}

// No word confirms but the one that was made.
func FuzzTickets(f *testing.F) {
	s := New(Config{Memory: &memory{}})
	in := forgetArgs{Query: "hunter2"}
	made := s.ticket(in, 3, 100)
	for _, w := range []string{made, "", "-", "erase-3-records-up-to-100-", strings.ToUpper(made), made + "0", strings.Replace(made, "3", "4", 1)} {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, word string) {
		at, ok := s.validTicket(in, word)
		if ok != (word == made) || ok && at != 100 {
			t.Errorf("%q: got %d, %v", word, at, ok)
		}
	})
}
