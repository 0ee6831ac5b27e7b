package extractive

import (
	"slices"
	"strings"
)

const (
	// maxReplacements is how many replacements of one file are told apart: more are not netted.
	maxReplacements = 32

	// maxReplaced is the longest text, in bytes, that is followed through later edits.
	maxReplaced = 16 << 10
)

// netChange is what edits of one file come to together. The zero value has seen none. A text that was replaced wherever it stood is not netted:
// how often that was no call tells.
type netChange struct {
	netReplacements []replacement // what stands in the place of what, as far as edits told
	folded          bool          // an edit changed again what an earlier one had put there
	incomplete      bool          // a call did not tell what it replaced
}

// add takes the replacements of the next call; none: it did not tell them.
func (n *netChange) add(list []replacement) {
	n.incomplete = n.incomplete || len(list) == 0
	for _, r := range list {
		if r.before == "" || r.every || len(r.before)+len(r.after) > maxReplaced || len(n.netReplacements) == maxReplacements {
			n.incomplete = true
			return
		}
		n.replace(r)
	}
}

// replace takes one replacement. What it replaces may stand in what an earlier one put there, or hold that.
func (n *netChange) replace(r replacement) {
	for i, old := range slices.Backward(n.netReplacements) {
		if strings.Contains(old.after, r.before) {
			n.folded = true
			n.netReplacements = slices.Delete(n.netReplacements, i, i+1)
			n.keep(replacement{before: old.before, after: strings.Replace(old.after, r.before, r.after, 1)})
			return
		}
	}
	for i, old := range slices.Backward(n.netReplacements) {
		if old.after != "" && strings.Contains(r.before, old.after) {
			n.folded = true
			r.before = strings.Replace(r.before, old.after, old.before, 1)
			n.netReplacements = slices.Delete(n.netReplacements, i, i+1)
		}
	}
	n.keep(r)
}

// keep adds a replacement, if it replaces anything.
func (n *netChange) keep(r replacement) {
	if r.before != r.after {
		n.netReplacements = append(n.netReplacements, r)
	}
}

// isNothing reports whether the file is what it was.
func (n *netChange) isNothing() bool { return n.folded && !n.incomplete && len(n.netReplacements) == 0 }

// lines are how many lines stand there that did not, and how many that did are gone.
func (n *netChange) lines() (plus, minus int) {
	for _, r := range n.netReplacements {
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
			w.restored = append(w.restored, f.path)
			delete(w.byPath, f.path)
			return true
		}
		if f.net.folded && !f.net.incomplete {
			f.plus, f.minus = f.net.lines()
		}
		return false
	})
}
