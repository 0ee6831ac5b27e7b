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

	// strip returns text without cmemd's entries. What holds nothing any more goes with them, unless base, what was there
	// before cmemd came, has it; nil: nobody knows.
	strip(text, base []byte) ([]byte, error)
}

// ErrForeign is returned for a name that cmemd would use and that somebody gave to something else.
var ErrForeign = errors.New("has something else by the name cmemd, to be renamed or removed first")

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
	addrs   []string // where hooks of cmemd's may post to: host and port
}

func (h hookEditor) put(text []byte) ([]byte, error) {
	d := jsonedit.Parse(text)
	if h.matches(d) {
		return text, nil
	}
	h.remove(d, nil)
	if _, there := d.Get("version"); h.version && !there {
		d.Set(1, "version")
	}
	for _, e := range h.entries {
		d.Append(e.value, "hooks", e.event)
	}
	return d.Bytes()
}

func (h hookEditor) strip(text, base []byte) ([]byte, error) {
	d, old := jsonedit.Parse(text), parseBase(base)
	if h.remove(d, old) {
		d.RestoreSpace(old)
	}
	return edited(d, old)
}

// parseBase reads what was there before; nil where nobody knows.
func parseBase(base []byte) *jsonedit.Document {
	if base == nil {
		return nil
	}
	return jsonedit.Parse(base)
}

// edited is the text of d, of which old, what was there before, was read too.
func edited(d, old *jsonedit.Document) ([]byte, error) {
	if old != nil && old.Err() != nil {
		return nil, old.Err()
	}
	return d.Bytes()
}

// matches reports whether d holds exactly the entries of h.
func (h hookEditor) matches(d *jsonedit.Document) bool {
	found := h.placements(d)
	if _, there := d.Get("version"); h.version && !there || len(found) != len(h.entries) {
		return false
	}
	want := map[string]any{}
	for _, e := range h.entries {
		want[e.event] = decoded(e.value)
	}
	for _, f := range found {
		value, _ := d.Get("hooks", f.event, f.at)
		if !reflect.DeepEqual(want[f.event], value) {
			return false
		}
		delete(want, f.event)
	}
	return len(want) == 0 && d.Err() == nil
}

// A placement is where an entry of cmemd's stands.
type placement struct {
	event   string
	at      int   // in the event's list
	inner   []int // in that group's own list, of cmemd's handlers; none in a flat one
	handles int   // how many handlers the group has
}

// placements lists where cmemd's entries stand in d, from the last of each event to the first.
func (h hookEditor) placements(d *jsonedit.Document) (all []placement) {
	for _, event := range d.Keys("hooks") {
		for i := d.Len("hooks", event) - 1; i >= 0; i-- {
			value, _ := d.Get("hooks", event, i)
			if p := h.place(value); p != nil {
				p.event, p.at = event, i
				all = append(all, *p)
			}
		}
	}
	return all
}

// place says what of a value in an event's list is cmemd's; nil: nothing.
func (h hookEditor) place(value any) *placement {
	if h.flat {
		if isCmemdHandler(value, h.addrs) {
			return &placement{}
		}
		return nil
	}
	group, _ := value.(map[string]any)
	handlers, _ := group["hooks"].([]any)
	p := &placement{handles: len(handlers)}
	for i := len(handlers) - 1; i >= 0; i-- {
		if isCmemdHandler(handlers[i], h.addrs) {
			p.inner = append(p.inner, i)
		}
	}
	if len(p.inner) == 0 {
		return nil
	}
	return p
}

// remove takes cmemd's entries out of d, and what is empty then and was not in old. It reports whether there were any.
func (h hookEditor) remove(d, old *jsonedit.Document) bool {
	found := h.placements(d)
	for _, p := range found {
		if len(p.inner) == p.handles {
			d.Remove("hooks", p.event, p.at)
		} else {
			for _, i := range p.inner {
				d.Remove("hooks", p.event, p.at, "hooks", i)
			}
		}
		prune(d, old, "hooks", p.event)
	}
	if len(found) == 0 {
		return false
	}
	prune(d, old, "hooks")
	if h.version {
		pruneVersion(d, old)
	}
	return true
}

// pruneVersion takes out the version where no hooks are left, unless old has it. Where nobody knows what was there before,
// it goes if it is all that is left.
func pruneVersion(d, old *jsonedit.Document) {
	keys := d.Keys()
	if slices.Contains(keys, "hooks") && (old == nil || holdsHooks(d)) || old == nil && len(keys) != 1 {
		return
	}
	if !has(old, "version") {
		d.Remove("version")
	}
}

// holdsHooks reports whether any event of d has a hook.
func holdsHooks(d *jsonedit.Document) bool {
	return slices.ContainsFunc(d.Keys("hooks"), func(event string) bool { return d.Len("hooks", event) > 0 })
}

// prune takes out of d what stands at path if it is empty and is not in old; where it is, it gets the white space of there.
func prune(d, old *jsonedit.Document, path ...any) {
	switch {
	case d.Len(path...) > 0:
	case has(old, path...):
		d.RestoreSpace(old, path...)
	default:
		d.Remove(path...)
	}
}

// has reports whether anything is known to have stood at path in old.
func has(old *jsonedit.Document, path ...any) (there bool) {
	if old != nil {
		_, there = old.Get(path...)
	}
	return there
}

// decoded is v as it is decoded from JSON.
func decoded(v jsonedit.Object) any {
	text, _ := v.MarshalJSON() // never fails
	d := jsonedit.Parse(text)
	out, _ := d.Get()
	if err := d.Err(); err != nil {
		panic(fmt.Sprintf("install: %s: %v", text, err)) // objects are written by hand, of what can be
	}
	return out
}
