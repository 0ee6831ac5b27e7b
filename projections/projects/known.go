package projects

import (
	"cmp"
	"slices"

	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
)

// Known are folders that work was done in, by path.
type Known map[string]Root

// Holders are the folders beside one that are the project of a key, the one used last first; where none is, those that claim to be.
func (k Known) Holders(key, beside string) (found []Root) {
	if key == "" {
		return nil
	}
	found = k.with(func(r Root) bool { return r.Path != beside && r.Key == key })
	if len(found) == 0 {
		found = k.with(func(r Root) bool { return r.Path != beside && r.Claim == key })
	}
	return found
}

// Shared are the other folders of the project of r.
func (k Known) Shared(r Root) []Root {
	return k.with(func(other Root) bool { return other.Path != r.Path && other.Key == r.Key })
}

// Lookalike are the folders of the project that r claims to be and is not. None: it is what it claims, or nobody else is.
func (k Known) Lookalike(r Root) []Root {
	if r.Claim == r.Key {
		return nil
	}
	return slices.DeleteFunc(k.Holders(r.Claim, r.Path), func(other Root) bool { return other.Key == r.Key })
}

// Named are the folders of the projects that text means: a key, or a shown name.
func (k Known) Named(text string) []Root {
	if text == "" {
		return nil
	}
	return k.with(func(r Root) bool { return r.Key == text || r.Name == text })
}

// with lists those that keep wants, this machine's before others', of each the one used last first.
func (k Known) with(keep func(Root) bool) (found []Root) {
	for _, r := range k {
		if keep(r) {
			found = append(found, r)
		}
	}
	order.By(found, func(a, b Root) int {
		return cmp.Or(order.Bools(elsewhere(a), elsewhere(b)), cmp.Compare(b.Last, a.Last), cmp.Compare(a.Path, b.Path))
	})
	return found
}

// elsewhere reports whether a root is another machine's folder.
func elsewhere(r Root) bool {
	_, _, ok := engine.MachineRoot(r.Path)
	return ok
}

// Keys are the projects of some folders, in the order of these.
func Keys(roots []Root) (keys []string) {
	for _, r := range roots {
		if !slices.Contains(keys, r.Key) {
			keys = append(keys, r.Key)
		}
	}
	return keys
}

// Paths are the paths of some folders, in the order of these.
func Paths(roots []Root) (paths []string) {
	for _, r := range roots {
		paths = append(paths, r.Path)
	}
	return paths
}
