package install

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
)

// An editor keeps cmemd's entries in one kind of file. Its methods are pure. A nil text is a file that is not there.
type editor interface {
	// put returns text with all of cmemd's entries, as they are to be. It returns text itself if they are there.
	put(text []byte) ([]byte, error)

	// take returns text without cmemd's entries. What holds nothing any more goes with them, unless base, what was there
	// before cmemd came, has it; nil: nobody knows.
	take(text, base []byte) ([]byte, error)
}

// ErrForeign is returned for a name that cmemd would use and that somebody gave to something else.
var ErrForeign = errors.New("install: the name cmemd is taken")

// An entry is a hook at one event of an agent.
type entry struct {
	event string
	value jsonedit.Object
}

// hookEditor keeps hooks below the member "hooks", in a list an event.
type hookEditor struct {
	entries []entry
	flat    bool     // an entry is a handler; else a group with a list of them
	version bool     // a member "version" says 1
	posts   []string // where hooks of cmemd's may post to: host and port
}

func (h hookEditor) put(text []byte) ([]byte, error) {
	d, err := jsonedit.Parse(text)
	if err != nil {
		return nil, err
	}
	switch same, err := h.same(d); {
	case err != nil:
		return nil, err
	case same:
		return text, nil
	}
	if err := h.remove(d, nil); err != nil {
		return nil, err
	}
	if h.version {
		if _, there, err := d.Get("version"); err != nil {
			return nil, err
		} else if !there {
			if err := d.Set(1, "version"); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range h.entries {
		if err := d.Append(e.value, "hooks", e.event); err != nil {
			return nil, err
		}
	}
	return d.Bytes(), nil
}

func (h hookEditor) take(text, base []byte) ([]byte, error) {
	d, err := jsonedit.Parse(text)
	if err != nil {
		return nil, err
	}
	old, err := parseBase(base)
	if err != nil {
		return nil, err
	}
	if err := h.remove(d, old); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// parseBase reads what was there before; nil where nobody knows.
func parseBase(base []byte) (*jsonedit.Document, error) {
	if base == nil {
		return nil, nil
	}
	return jsonedit.Parse(base)
}

// same reports whether d holds exactly the entries of h.
func (h hookEditor) same(d *jsonedit.Document) (bool, error) {
	found, err := h.placements(d)
	if err != nil || len(found) != len(h.entries) {
		return false, err
	}
	if _, there, err := d.Get("version"); err != nil || h.version && !there {
		return false, err
	}
	want := map[string]any{}
	for _, e := range h.entries {
		want[e.event] = plain(e.value)
	}
	for _, f := range found {
		value, _, err := d.Get("hooks", f.event, f.at)
		if err != nil || !reflect.DeepEqual(want[f.event], value) {
			return false, err
		}
		delete(want, f.event)
	}
	return len(want) == 0, nil
}

// A placement is where an entry of cmemd's stands.
type placement struct {
	event   string
	at      int   // in the event's list
	inner   []int // in that group's own list, of cmemd's handlers; none in a flat one
	handles int   // how many handlers the group has
}

// placements lists where cmemd's entries stand in d, from the last of each event to the first.
func (h hookEditor) placements(d *jsonedit.Document) (all []placement, err error) {
	events, err := d.Keys("hooks")
	if err != nil {
		return nil, err
	}
	for _, event := range events {
		n, err := d.Len("hooks", event)
		if err != nil {
			return nil, err
		}
		for i := n - 1; i >= 0; i-- {
			value, there, err := d.Get("hooks", event, i)
			if err != nil {
				return nil, err
			}
			if p := h.place(value); there && p != nil {
				p.event, p.at = event, i
				all = append(all, *p)
			}
		}
	}
	return all, nil
}

// place says what of a value in an event's list is cmemd's; nil: nothing.
func (h hookEditor) place(value any) *placement {
	if h.flat {
		if isCmemdHandler(value, h.posts) {
			return &placement{}
		}
		return nil
	}
	group, _ := value.(map[string]any)
	handlers, _ := group["hooks"].([]any)
	p := &placement{handles: len(handlers)}
	for i := len(handlers) - 1; i >= 0; i-- {
		if isCmemdHandler(handlers[i], h.posts) {
			p.inner = append(p.inner, i)
		}
	}
	if len(p.inner) == 0 {
		return nil
	}
	return p
}

// remove takes cmemd's entries out of d, and what is empty then and was not in old.
func (h hookEditor) remove(d, old *jsonedit.Document) error {
	found, err := h.placements(d)
	if err != nil {
		return err
	}
	for _, p := range found {
		if len(p.inner) == p.handles {
			if err := d.Remove("hooks", p.event, p.at); err != nil {
				return err
			}
		} else {
			for _, i := range p.inner {
				if err := d.Remove("hooks", p.event, p.at, "hooks", i); err != nil {
					return err
				}
			}
		}
		if err := prune(d, old, "hooks", p.event); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		return nil
	}
	if err := prune(d, old, "hooks"); err != nil {
		return err
	}
	if h.version {
		if err := pruneVersion(d, old); err != nil {
			return err
		}
	}
	return likeWhole(d, old)
}

// likeWhole gives an empty document the white space that it has in old.
func likeWhole(d, old *jsonedit.Document) error {
	if old == nil {
		return nil
	}
	return d.Like(old)
}

// pruneVersion takes out the version where no hooks are left, unless old has it. Where nobody knows what was there before,
// it goes if it is all that is left.
func pruneVersion(d, old *jsonedit.Document) error {
	keys, err := d.Keys()
	if err != nil || slices.Contains(keys, "hooks") && (old == nil || holdsHooks(d)) || old == nil && len(keys) != 1 {
		return err
	}
	if old != nil {
		if _, there, err := old.Get("version"); there || err != nil {
			return err
		}
	}
	return d.Remove("version")
}

// holdsHooks reports whether any event of d has a hook.
func holdsHooks(d *jsonedit.Document) bool {
	events, _ := d.Keys("hooks")
	return slices.ContainsFunc(events, func(event string) bool {
		n, _ := d.Len("hooks", event)
		return n > 0
	})
}

// prune takes out of d what stands at path if it is empty and is not in old; where it is, it gets the white space of there.
func prune(d, old *jsonedit.Document, path ...any) error {
	if n, err := d.Len(path...); n > 0 || err != nil {
		return err
	}
	if old != nil {
		if _, there, err := old.Get(path...); there || err != nil {
			return errors.Join(err, d.Like(old, path...))
		}
	}
	return d.Remove(path...)
}

// plain is v as it is decoded from JSON.
func plain(v jsonedit.Object) any {
	text, err := v.MarshalJSON()
	if err != nil {
		panic(err) // objects are written by hand, of what can be
	}
	d, err := jsonedit.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("install: %s: %v", text, err))
	}
	out, _, _ := d.Get()
	return out
}
