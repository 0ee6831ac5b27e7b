package words

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// enterForeign is a call of a function that is not the module's: functions among its arguments may be called with the
// others, and what takes words keeps them.
func (w *walker) enterForeign(fun ast.Expr, call *ast.CallExpr) {
	all := w.arguments(call) | w.receiver(fun)
	if all == 0 || w.tellsErrors(fun) {
		return
	}
	for _, a := range call.Args {
		for _, target := range w.functionValues(a) {
			w.callBack(target, all, call)
		}
		if w.keeps(a) {
			w.assign(a, all)
		}
		if f := w.writeMethod(w.info.TypeOf(a)); f != nil {
			w.callBack(f, all, call)
		}
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || !w.isMethod(sel) {
		return
	}
	if v := w.embedded(sel); v != nil {
		w.assignTo(v, all, sel.Pos())
	} else if t := w.info.TypeOf(sel.X); isKeeper(t) {
		w.assign(sel.X, all)
	}
}

// keeps reports whether a foreign function may put words into what e leads to: an address, or what can be written to.
func (w *walker) keeps(e ast.Expr) bool {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return true
	}
	return isWriter(w.info.TypeOf(e))
}

// writeMethod is the Write of a type of the module; nil: none.
func (w *walker) writeMethod(t types.Type) *types.Func {
	if t == nil || types.IsInterface(t) {
		return nil
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, "Write")
	f, ok := obj.(*types.Func)
	if !ok || w.isForeignFunc(f) {
		return nil
	}
	return f.Origin()
}

func isWriter(t types.Type) bool {
	if t == nil {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, "Write")
	_, is := obj.(*types.Func)
	return is
}

// link notes that what is written to v is written to what e takes it from: an address, or the arguments of a foreign call.
func (w *walker) link(v *types.Var, e ast.Expr) {
	if v == nil || isPlace(v) {
		return
	}
	for _, to := range w.beneath(e) {
		if w.linked[v] == nil {
			w.linked[v] = map[ast.Expr]bool{}
		}
		if !w.linked[v][to] {
			w.linked[v][to] = true
			w.changed = true
		}
	}
}

// beneath are the places that a value writes to: that of an address, and those that a foreign call was given to write to.
func (w *walker) beneath(e ast.Expr) (all []ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			all = append(all, e.X)
		}
	case *ast.CallExpr:
		if _, own := w.targets(e.Fun); own || w.info.Types[e.Fun].IsBuiltin() {
			return nil
		}
		for _, a := range e.Args {
			if w.keeps(a) {
				all = append(all, a)
			}
		}
	}
	return all
}

// madeOf reports whether an error that a foreign function returns may hold the words it is given: one that returns nothing
// else, writes to nothing and is nobody's method.
func (w *walker) madeOf(call *ast.CallExpr) bool {
	if _, one := w.info.TypeOf(call).(*types.Named); !one {
		return false
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && w.isMethod(sel) {
		return false
	}
	return !slices.ContainsFunc(call.Args, w.keeps)
}

// tellsErrors reports whether fun finds an error by its type. It is one of the module, whose fields are followed, or one of
// others, which was made without the module's words.
func (w *walker) tellsErrors(fun ast.Expr) bool {
	return slices.ContainsFunc(w.stands(fun), func(target any) bool {
		f, ok := target.(*types.Func)
		return ok && f.Pkg() != nil && f.Pkg().Path() == "errors" && strings.HasPrefix(f.Name(), "As")
	})
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// callBack hands words to every parameter of a function that can hold some.
func (w *walker) callBack(target any, l labels, call *ast.CallExpr) {
	if lit := w.literals[literalOf(target)]; lit != nil {
		for i := range lit.params {
			w.enterLiteral(lit, i, l)
		}
		return
	}
	if f, ok := target.(*types.Func); ok && w.isForeignFunc(f) {
		if w.f.holds(l) && w.compares(f) {
			w.report(call, call)
		}
		return
	}
	f := w.function(target)
	if f == nil || !w.f.holds(l) {
		return
	}
	for i, v := range f.params {
		if w.wordy(v.Type()) {
			w.hand(f, i, call.Pos())
		}
	}
}
