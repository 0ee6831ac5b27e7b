package words

import (
	"go/ast"
	"go/token"
	"go/types"
)

// walker goes over one function.
type walker struct {
	*flow
	f    *function
	lit  *literal // the innermost one around the present node; nil: none
	info *types.Info

	steps int // through links
}

// eval says what the value of e may hold.
func (w *walker) eval(e ast.Expr) labels {
	if e == nil {
		return 0
	}
	if t := w.info.TypeOf(e); !w.wordy(t) {
		return w.inside(t)
	}
	switch e := e.(type) {
	case *ast.Ident:
		return w.object(w.info.ObjectOf(e))
	case *ast.ParenExpr:
		return w.eval(e.X)
	case *ast.SelectorExpr:
		return w.selected(e)
	case *ast.IndexExpr:
		return w.eval(e.X)
	case *ast.SliceExpr:
		return w.eval(e.X)
	case *ast.StarExpr:
		return w.eval(e.X)
	case *ast.TypeAssertExpr:
		return w.eval(e.X)
	case *ast.UnaryExpr:
		return w.eval(e.X)
	case *ast.BinaryExpr:
		return w.eval(e.X) | w.eval(e.Y)
	case *ast.CompositeLit:
		return w.elements(e)
	case *ast.CallExpr:
		return w.result(e, 0)
	}
	return 0
}

// inside says what a value of type t holds in its fields.
func (w *walker) inside(t types.Type) labels {
	if w.holding(t) {
		return fromSource
	}
	return 0
}

// whole says what may be read of all that e leads to.
func (w *walker) whole(e ast.Expr) labels { return w.eval(e) | w.inside(w.info.TypeOf(e)) }

// selected says what a field may hold; one of a foreign struct, whatever the struct does.
func (w *walker) selected(e *ast.SelectorExpr) labels {
	v, ok := w.info.ObjectOf(e.Sel).(*types.Var)
	if ok && v.IsField() && !w.isOwn(v) {
		return w.eval(e.X)
	}
	return w.object(w.info.ObjectOf(e.Sel))
}

// object says what a variable may hold.
func (w *walker) object(obj types.Object) labels {
	v, ok := obj.(*types.Var)
	if !ok {
		return 0
	}
	v = origin(v)
	if !isPlace(v) {
		return w.locals[v]
	}
	return w.place(v)
}

// elements says what the elements of a slice, an array or a map may hold. Fields of a struct are places of their own.
func (w *walker) elements(e *ast.CompositeLit) (l labels) {
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			l |= w.eval(kv.Key)
			x = kv.Value
		}
		l |= w.eval(x)
	}
	return l
}

// values are the labels of n values that come from a list of expressions: each from its own, or all from one call.
func (w *walker) values(list []ast.Expr, n int) []labels {
	out := make([]labels, n)
	for i := range out {
		switch {
		case len(list) == n:
			out[i] = w.eval(list[i])
		case len(list) != 1:
		default:
			out[i] = w.valueOf(ast.Unparen(list[0]), i)
		}
	}
	return out
}

// valueOf is the labels of value i of an expression that has several.
func (w *walker) valueOf(e ast.Expr, i int) labels {
	call, ok := e.(*ast.CallExpr)
	switch {
	case ok:
		return w.result(call, i)
	case i > 0: // the ok of an index, an assertion or a receive
		return 0
	}
	switch e := e.(type) {
	case *ast.IndexExpr:
		return w.eval(e.X)
	case *ast.TypeAssertExpr:
		return w.eval(e.X)
	case *ast.UnaryExpr:
		return w.eval(e.X)
	}
	return 0
}

// result says what result i of a call may hold.
func (w *walker) result(call *ast.CallExpr, i int) (l labels) {
	t := w.info.TypeOf(call)
	if tuple, ok := t.(*types.Tuple); ok {
		if i >= tuple.Len() {
			return 0
		}
		t = tuple.At(i).Type()
	}
	if !w.wordy(t) {
		return 0
	}
	fun := ast.Unparen(call.Fun)
	if tv := w.info.Types[fun]; tv.IsType() || tv.IsBuiltin() {
		return w.arguments(call)
	}
	targets, own := w.targets(fun)
	for _, target := range targets {
		l |= w.resultOf(target, call, i)
	}
	if !own && !w.tellsErrors(fun) && (!isError(t) || w.madeOf(call)) {
		l |= w.receiver(fun) | w.arguments(call)
	}
	return l
}

func (w *walker) resultOf(target any, call *ast.CallExpr, i int) (l labels) {
	if lit := w.literals[literalOf(target)]; lit != nil {
		if lit.owner != w.f {
			return lit.owner.abroad(lit.results[i])
		}
		return lit.results[i]
	}
	f := w.function(target)
	if f == nil || i >= len(f.results) {
		return 0
	}
	summary := f.results[i]
	for k, given := range w.given(f, target, call) {
		if k < maxParams && summary&(1<<k) != 0 {
			l |= given
		}
	}
	return l | summary&fromSource
}

// arguments is the labels of all arguments together.
func (w *walker) arguments(call *ast.CallExpr) (l labels) {
	for _, a := range call.Args {
		if !w.isTarget(call, a) {
			l |= w.whole(a)
		}
	}
	return l
}

// receiver is the labels of what a foreign method is called on.
func (w *walker) receiver(fun ast.Expr) labels {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || !w.isMethod(sel) {
		return 0
	}
	if v := w.embedded(sel); v != nil {
		return w.object(v)
	}
	return w.eval(sel.X)
}

// isMethod reports whether sel is the method of a value; not a function in a field.
func (w *walker) isMethod(sel *ast.SelectorExpr) bool {
	s := w.info.Selections[sel]
	return s != nil && s.Kind() == types.MethodVal
}

// embedded is the field through which a method of an embedded value is called; nil: it is not.
func (w *walker) embedded(sel *ast.SelectorExpr) (v *types.Var) {
	s := w.info.Selections[sel]
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		v = t.Underlying().(*types.Struct).Field(i)
		t = v.Type()
	}
	return v
}

// assign notes that a place holds what l says.
func (w *walker) assign(to ast.Expr, l labels) {
	if id, blank := to.(*ast.Ident); l == 0 || blank && id.Name == "_" || !w.wordy(w.info.TypeOf(to)) {
		return
	}
	switch to := to.(type) {
	case *ast.Ident:
		w.assignTo(w.info.ObjectOf(to), l, to.Pos())
		w.assignLinked(w.info.ObjectOf(to), l)
	case *ast.CallExpr:
		for _, e := range w.beneath(to) {
			w.assign(e, l)
		}
	case *ast.SelectorExpr:
		if v, ok := w.info.ObjectOf(to.Sel).(*types.Var); ok && v.IsField() && !w.isOwn(v) {
			w.assign(to.X, l) // a field of a foreign struct
			return
		}
		w.assignTo(w.info.ObjectOf(to.Sel), l, to.Pos())
	case *ast.ParenExpr:
		w.assign(to.X, l)
	case *ast.IndexExpr:
		w.assign(to.X, l)
	case *ast.SliceExpr:
		w.assign(to.X, l)
	case *ast.StarExpr:
		w.assign(to.X, l)
	case *ast.UnaryExpr:
		w.assign(to.X, l)
	}
}

// assignLinked hands on what is written to a variable, through a few steps: w = bufio.NewWriter(w) leads back to itself.
func (w *walker) assignLinked(obj types.Object, l labels) {
	const steps = 4
	if w.steps == steps {
		return
	}
	w.steps++
	for e := range w.linked[obj] {
		w.assign(e, l)
	}
	w.steps--
}

func (w *walker) assignTo(obj types.Object, l labels, pos token.Pos) {
	v, ok := obj.(*types.Var)
	switch {
	case !ok || v.Name() == "_" || !w.wordy(v.Type()):
	case !isPlace(v):
		have := w.locals[v]
		w.add(&have, l)
		w.locals[v] = have
	case w.f.holds(l):
		w.put(origin(v), pos)
	}
}
