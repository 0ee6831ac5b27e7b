//go:build unix

package faults

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// A hand is what a person does to a home that a daemon has.
type hand struct {
	name string
	do   func(h *home) error
}

// hands are what is done, by the names of docs/faults.md.
func hands() []hand {
	at := func(h *home, name string) string { return filepath.Join(h.path, name) }
	return []hand{
		{"log exchanged", func(h *home) error {
			copied := filepath.Join(h.dir, "copy.db")
			if r := h.cmemd("log", "backup", copied); r.code != 0 {
				return errors.New(r.String())
			}
			h.use("s0", "behind the copy")
			return os.Rename(copied, at(h, "log.db"))
		}},
		{"log removed", func(h *home) error { return os.Remove(at(h, "log.db")) }},
		{"views exchanged", func(h *home) error {
			if err := copyFile(at(h, "views/views.db"), at(h, "views/other.db")); err != nil {
				return err
			}
			return os.Rename(at(h, "views/other.db"), at(h, "views/views.db"))
		}},
		{"index removed", func(h *home) error { return os.RemoveAll(at(h, "views/index")) }},
		{"home moved", func(h *home) error {
			moved := filepath.Join(h.dir, "moved")
			if err := os.Rename(h.path, moved); err != nil {
				return err
			}
			h.path = moved
			return nil
		}},
	}
}

// TestHands does to a home under its daemon what a daemon cannot keep from being done. Whatever hooks report from then on, and what
// was there before, is in the log that is there at the end, in a file that is named, or in the spool; and what a command says
// is forgotten is nowhere.
func TestHands(t *testing.T) {
	bin := suite(t)
	from := filled(t, bin)
	atOnce(t, len(hands()), func() bool { return true }, 0, func(t *testing.T, i int) {
		from.copyOf(t).handled(hands()[i])
	}, func(i int) string { return hands()[i].name })
}

func (h *home) handled(what hand) {
	h.t.Helper()
	s, said := h.living()
	if err := h.ready(); err != nil {
		h.t.Fatalf("not ready: %v", err)
	}
	if err := what.do(h); err != nil {
		h.t.Fatal(err)
	}
	for i := range 4 {
		h.use("s1", fmt.Sprint("then_", i))
	}
	status := h.cmemd("status")
	if r := h.forget(); r.code == 0 {
		h.nowhere(what.name)
	}
	_ = h.cmemd("stop")
	if err := s.ended(); errors.Is(err, errHangs) {
		h.t.Errorf("the daemon does not end: %v", err)
	}
	h.age()
	_, why := h.servable()
	if why == "" {
		if err := h.settled(); err != nil {
			h.t.Errorf("the next daemon does not come to rest: %v", err)
		}
		h.cmemd("stop")
	}
	h.inSomeLog(why != "" || status.code != 0)
	if h.t.Failed() {
		h.t.Logf("status: %s\nsaid: %s\nthe next daemon: %s\n%s", status, said.String(), why, h.said())
	}
}

// inSomeLog holds that what was reported is in the log, in the spool, or in a file that was kept beside it; told is whether a command
// has said that something is not well.
func (h *home) inSomeLog(told bool) {
	h.t.Helper()
	uses := map[string]int{}
	kept, err := filepath.Glob(filepath.Join(h.path, "log.db*"))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, path := range kept {
		if more, _, err := recordedIn(path); err == nil {
			maps.Copy(uses, more)
		}
	}
	waiting := len(h.filesOf(below("spool/new/")))
	var missing []string
	for _, id := range h.sent {
		if uses[id] == 0 {
			missing = append(missing, id)
		}
	}
	if len(missing) > waiting {
		h.t.Errorf("%q are in none of %q, and %d wait; told: %v", missing, kept, waiting, told)
	}
	if len(kept) > 1 && !told {
		h.t.Errorf("%q were kept, and nobody is told", kept)
	}
}
