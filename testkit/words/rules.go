package words

import (
	"cmp"
	"errors"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Rules say what is looked for.
type Rules struct {
	// Sources are the fields whose words nobody may read, as PACKAGE.Type.Field with the package's import path.
	Sources []string
	// Allowed are the files, by path within the module, in which they may be: each with its reason. What a function of
	// such a file returns is taken for harmless.
	Allowed map[string]string
	// Masks are functions, as FILE:Name, that may compare words in order to take some out or to mark them: each with its
	// reason. What such a function returns is as little to be read as what it was given.
	Masks map[string]string
}

// Finding is a place that compares words it must not read.
type Finding struct {
	File string // within the module
	Line int
	What string // the expression
	From string // where the words came into this function, if they did not begin there: FILE:LINE
}

func (f Finding) String() string {
	s := fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.What)
	if f.From != "" {
		s += ", whose words come from " + f.From
	}
	return s
}

// ErrRules is a rule about something that the program does not have.
var ErrRules = errors.New("words: bad rules")

// Check returns every place that breaks the rules, in the order of files and lines. The error is ErrRules: a source or an
// allowed file that is not there would hide that the rules are out of date.
func (p *Program) Check(r Rules) ([]Finding, error) {
	fl := newFlow(p)
	for _, name := range r.Sources {
		field := p.field(name)
		if field == nil {
			return nil, fmt.Errorf("%w: there is no field %s", ErrRules, name)
		}
		fl.sources[field] = true
	}
	for file, why := range r.Allowed {
		if why == "" || !p.has(file) {
			return nil, fmt.Errorf("%w: %s has no reason, or is not there", ErrRules, file)
		}
	}
	fl.allowed, fl.masks = r.Allowed, r.Masks
	fl.run()
	for mask, why := range r.Masks {
		if why == "" || !fl.masked[mask] {
			return nil, fmt.Errorf("%w: %s has no reason, or is not there", ErrRules, mask)
		}
	}
	found := slices.Collect(maps.Keys(fl.found))
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.What, b.What))
	})
	return found, nil
}

// field finds PACKAGE.Type.Field.
func (p *Program) field(name string) *types.Var {
	rest, field, _ := cutLast(name)
	path, typ, _ := cutLast(rest)
	own := p.byPath[path]
	if own == nil || own.Scope().Lookup(typ) == nil {
		return nil
	}
	obj, _, _ := types.LookupFieldOrMethod(own.Scope().Lookup(typ).Type(), true, own, field)
	v, _ := obj.(*types.Var)
	return v
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

func (p *Program) has(file string) bool {
	for _, own := range p.packages {
		for _, f := range own.files {
			if name, _ := p.shown(f.Pos()); name == file {
				return true
			}
		}
	}
	return false
}
