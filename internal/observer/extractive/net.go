package extractive

import (
	"slices"
	"strings"
)

const (
	// maxStanding is how many replacements of one file are told apart: more are not netted.
	maxStanding = 32

	// maxReplaced is the longest text, in bytes, that is followed through later edits.
	maxReplaced = 16 << 10
)

// net is what edits of one file come to together. The zero value has seen none. A text that was replaced wherever it stood is not netted:
// how often that was no call tells.
type net struct {
	standing []replacement // what stands in the place of what, as far as edits told
	folded   bool          // an edit changed again what an earlier one had put there
	unknown  bool          // a call did not tell what it replaced
}

// add takes the replacements of the next call; none: it did not tell them.
func (n *net) add(list []replacement) {
	n.unknown = n.unknown || len(list) == 0
	for _, r := range list {
		if r.before == "" || r.every || len(r.before)+len(r.after) > maxReplaced || len(n.standing) == maxStanding {
			n.unknown = true
			return
		}
		n.replace(r)
	}
}

// replace takes one replacement. What it replaces may stand in what an earlier one put there, or hold that.
func (n *net) replace(r replacement) {
	for i, old := range slices.Backward(n.standing) {
		if strings.Contains(old.after, r.before) {
			n.folded = true
			n.standing = slices.Delete(n.standing, i, i+1)
			n.keep(replacement{before: old.before, after: strings.Replace(old.after, r.before, r.after, 1)})
			return
		}
	}
	for i, old := range slices.Backward(n.standing) {
		if old.after != "" && strings.Contains(r.before, old.after) {
			n.folded = true
			r.before = strings.Replace(r.before, old.after, old.before, 1)
			n.standing = slices.Delete(n.standing, i, i+1)
		}
	}
	n.keep(r)
}

// keep adds a replacement, if it replaces anything.
func (n *net) keep(r replacement) {
	if r.before != r.after {
		n.standing = append(n.standing, r)
	}
}

// isNothing reports whether the file is what it was.
func (n *net) isNothing() bool { return n.folded && !n.unknown && len(n.standing) == 0 }

// lines are how many lines stand there that did not, and how many that did are gone.
func (n *net) lines() (plus, minus int) {
	for _, r := range n.standing {
		more := map[string]int{}
		for l := range strings.Lines(r.after) {
			more[strings.TrimSuffix(l, "\n")]++
		}
		for l := range strings.Lines(r.before) {
			more[strings.TrimSuffix(l, "\n")]--
		}
		for _, n := range more {
			plus, minus = plus+max(0, n), minus+max(0, -n)
		}
	}
	return plus, minus
}

// settle leaves out of the changed files those that are again what they were, and counts of the others what stands.
func (w *work) settle() {
	w.files = slices.DeleteFunc(w.files, func(f *file) bool {
		if f.net.isNothing() {
			w.undone = append(w.undone, f.path)
			delete(w.byPath, f.path)
			return true
		}
		if f.net.folded && !f.net.unknown {
			f.plus, f.minus = f.net.lines()
		}
		return false
	})
}
