package words

import (
	"go/types"
	"strings"
)

// origin is the variable that a possibly instantiated one stands for.
func origin(v *types.Var) *types.Var { return v.Origin() }

// isPlace reports whether v lives longer than a call.
func isPlace(v *types.Var) bool {
	return v.IsField() || v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// wordy reports whether a value of type t can hold words that are followed from value to value. Those in structs of the
// module are followed by their fields.
func (fl *flow) wordy(t types.Type) bool {
	if t == nil {
		return false
	}
	is, known := fl.words[t]
	if !known {
		is = fl.wordyWithin(t, 4)
		fl.words[t] = is
	}
	return is
}

func (fl *flow) wordyWithin(t types.Type, depth int) bool {
	if depth == 0 {
		return false
	}
	if fl.isForeign(t) {
		return !isPlain(t)
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Interface:
		return fl.wordyInterface(t, u, depth)
	case *types.Slice:
		return isCharacter(u.Elem()) || fl.wordyWithin(u.Elem(), depth-1)
	case *types.Array:
		return isCharacter(u.Elem()) || fl.wordyWithin(u.Elem(), depth-1)
	case *types.Pointer:
		return fl.wordyWithin(u.Elem(), depth-1)
	case *types.Chan:
		return fl.wordyWithin(u.Elem(), depth-1)
	case *types.Map:
		return fl.wordyWithin(u.Key(), depth-1) || fl.wordyWithin(u.Elem(), depth-1)
	case *types.Signature: // an iterator
		return u.Params().Len() == 1 && fl.yields(u.Params().At(0).Type(), depth-1)
	}
	return false
}

// wordyInterface is wordy for interfaces. What stands behind one of the module's is known by the types that implement it.
func (fl *flow) wordyInterface(t types.Type, i *types.Interface, depth int) bool {
	n := named(t)
	switch {
	case n == nil || n.Obj().Pkg() == nil:
		return true
	case fl.prog.byPath[n.Obj().Pkg().Path()] == nil:
		return !isPlain(t)
	case i.Empty() || !i.IsMethodSet():
		return true
	}
	for _, one := range fl.implementing(i) {
		if fl.wordyWithin(one, depth-1) {
			return true
		}
	}
	return false
}

// implementing are the types of the module that implement i.
func (fl *flow) implementing(i *types.Interface) (all []*types.Named) {
	if known, ok := fl.behind[i]; ok {
		return known
	}
	for _, n := range fl.named {
		if n.TypeParams().Len() == 0 && (types.Implements(n, i) || types.Implements(types.NewPointer(n), i)) {
			all = append(all, n)
		}
	}
	fl.behind[i] = all
	return all
}

func (fl *flow) yields(t types.Type, depth int) bool {
	sig, ok := t.Underlying().(*types.Signature)
	if !ok || depth == 0 {
		return false
	}
	for v := range sig.Params().Variables() {
		if fl.wordyWithin(v.Type(), depth) {
			return true
		}
	}
	return false
}

func isCharacter(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Byte || b.Kind() == types.Rune)
}

// named is the named type that t is, or points to; nil: none.
func named(t types.Type) *types.Named {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// isForeign reports whether t is, or points to, a struct that is not the module's: what takes words there may give them
// back anywhere.
func (fl *flow) isForeign(t types.Type) bool {
	n := named(t)
	if n == nil || n.Obj().Pkg() == nil || fl.prog.byPath[n.Obj().Pkg().Path()] != nil {
		return false
	}
	_, is := n.Underlying().(*types.Struct)
	return is
}

// isPlain reports whether t is, or points to, a foreign type that is as good as a number, or that carries words away.
func isPlain(t types.Type) bool {
	n := named(t)
	path := n.Obj().Pkg().Path()
	switch path + "." + n.Obj().Name() {
	case "time.Time", "time.Location", "context.Context", "sync.Mutex", "sync.RWMutex", "sync.WaitGroup",
		"sync/atomic.Bool", "sync/atomic.Int32", "sync/atomic.Int64":
		return true
	}
	return path == "log/slog" || path == "net/http" || path == "testing" || strings.HasSuffix(path, "/protoactor-go/actor")
}

// isKeeper reports whether t is, or points to, a type of the standard library that gives back what it takes.
func isKeeper(t types.Type) bool {
	n := named(t)
	if n == nil || n.Obj().Pkg() == nil {
		return false
	}
	switch n.Obj().Pkg().Path() {
	case "strings", "bytes", "bufio", "sync", "sync/atomic", "container/list", "container/ring", "text/scanner", "text/template", "encoding/json":
		return true
	}
	return isWriter(t)
}

// holding reports whether a value of type t leads to a field that holds words: so does all that is made of it as a whole.
func (fl *flow) holding(t types.Type) bool {
	if t == nil {
		return false
	}
	is, known := fl.held[t]
	if !known {
		is = fl.leads(t, map[types.Type]bool{})
		fl.held[t] = is
	}
	return is
}

func (fl *flow) leads(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if fl.isForeign(t) {
		return fl.anyLeads(named(t).TypeArgs(), seen)
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return fl.leads(u.Elem(), seen)
	case *types.Array:
		return fl.leads(u.Elem(), seen)
	case *types.Pointer:
		return fl.leads(u.Elem(), seen)
	case *types.Chan:
		return fl.leads(u.Elem(), seen)
	case *types.Map:
		return fl.leads(u.Key(), seen) || fl.leads(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if fl.place(f) != 0 || fl.leads(f.Type(), seen) {
				return true
			}
		}
	case *types.Interface:
		if n := named(t); n != nil && n.Obj().Pkg() != nil && fl.prog.byPath[n.Obj().Pkg().Path()] != nil && !u.Empty() && u.IsMethodSet() {
			for _, one := range fl.implementing(u) {
				if fl.leads(one, seen) {
					return true
				}
			}
		}
	}
	return false
}

func (fl *flow) anyLeads(list *types.TypeList, seen map[types.Type]bool) bool {
	for t := range list.Types() {
		if fl.leads(t, seen) {
			return true
		}
	}
	return false
}

// place says what a field or a variable of a package holds.
func (fl *flow) place(v *types.Var) labels {
	v = origin(v)
	if _, holds := fl.places[v]; holds || fl.sources[v] {
		return fromSource
	}
	return 0
}

// isOwn reports whether the module declares v.
func (fl *flow) isOwn(v *types.Var) bool {
	return v.Pkg() != nil && fl.prog.byPath[v.Pkg().Path()] != nil
}
