package words

import (
	"go/ast"
	"go/types"
)

// targets are the functions of the module that a call may reach: *types.Func or *ast.FuncLit. own reports that it can
// reach no other.
func (w *walker) targets(fun ast.Expr) (all []any, own bool) {
	stands := w.stands(fun)
	for _, target := range stands {
		if !w.isForeignFunc(target) {
			all = append(all, target)
		}
	}
	return all, len(all) > 0 && len(all) == len(stands)
}

func (w *walker) isForeignFunc(target any) bool {
	f, ok := target.(*types.Func)
	return ok && (f.Pkg() == nil || w.prog.byPath[f.Pkg().Path()] == nil)
}

// stands are the functions that an expression may stand for, or lead to: *types.Func, also of other modules, or
// *ast.FuncLit.
func (w *walker) stands(e ast.Expr) (all []any) {
	switch e := e.(type) {
	case *ast.FuncLit:
		return []any{e}
	case *ast.Ident:
		return w.standsFor(w.info.ObjectOf(e))
	case *ast.SelectorExpr:
		return w.standsFor(w.info.ObjectOf(e.Sel))
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			all = append(all, w.functionValues(x)...)
		}
	case *ast.CallExpr:
		return w.returnedBy(e)
	}
	if inner := inner(e); inner != nil {
		return w.stands(inner)
	}
	return all
}

// inner is what an expression takes something out of.
func inner(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return e.X
	case *ast.IndexExpr:
		return e.X
	case *ast.IndexListExpr:
		return e.X
	case *ast.SliceExpr:
		return e.X
	case *ast.StarExpr:
		return e.X
	case *ast.UnaryExpr:
		return e.X
	case *ast.TypeAssertExpr:
		return e.X
	}
	return nil
}

func (w *walker) standsFor(obj types.Object) (all []any) {
	switch obj := obj.(type) {
	case *types.Func:
		f := obj.Origin()
		if r := f.Signature().Recv(); r != nil && types.IsInterface(r.Type()) && !w.isForeignFunc(f) {
			return w.implementations(f)
		}
		return []any{f}
	case *types.Var:
		for target := range w.bound[origin(obj)] {
			all = append(all, target)
		}
	}
	return all
}

// returnedBy are the functions that a call may return; one of another module, those that it is given.
func (w *walker) returnedBy(call *ast.CallExpr) (all []any) {
	targets, own := w.targets(call.Fun)
	for _, target := range targets {
		var results []*types.Var
		if lit := w.literals[literalOf(target)]; lit != nil {
			results = lit.named
		} else if f := w.function(target); f != nil {
			results = f.named
		}
		for _, v := range results {
			all = append(all, w.standsFor(v)...)
		}
	}
	if !own {
		for _, a := range call.Args {
			all = append(all, w.functionValues(a)...)
		}
	}
	return all
}

// implementations are the methods of the module's types that a call of an interface's method may reach.
func (fl *flow) implementations(method *types.Func) (all []any) {
	if known, ok := fl.reached[method]; ok {
		return known
	}
	defer func() { fl.reached[method] = all }()
	iface, ok := method.Signature().Recv().Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	for _, n := range fl.implementing(iface) {
		obj, _, _ := types.LookupFieldOrMethod(n, true, method.Pkg(), method.Name())
		if f, ok := obj.(*types.Func); ok {
			all = append(all, f.Origin())
		}
	}
	return all
}

// functionValues are the functions that an expression may stand for when it is not called, or that its elements may.
func (w *walker) functionValues(e ast.Expr) []any {
	if !leadsToFunction(w.info.TypeOf(e)) {
		return nil
	}
	return w.stands(e)
}

func leadsToFunction(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Slice:
		return leadsToFunction(u.Elem())
	case *types.Array:
		return leadsToFunction(u.Elem())
	case *types.Map:
		return leadsToFunction(u.Elem())
	case *types.Chan:
		return leadsToFunction(u.Elem())
	}
	return false
}

func literalOf(target any) *ast.FuncLit {
	l, _ := target.(*ast.FuncLit)
	return l
}

func (w *walker) function(target any) *function {
	f, _ := target.(*types.Func)
	return w.declared[f]
}

// given is what a call hands to each parameter of f, the receiver first.
func (w *walker) given(f *function, target any, call *ast.CallExpr) []labels {
	out := make([]labels, len(f.params))
	first := 0
	if fn, ok := target.(*types.Func); ok && fn.Signature().Recv() != nil {
		sel, _ := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		switch s := w.info.Selections[sel]; {
		case s == nil || s.Kind() == types.FieldVal:
			first = 1 // a method that was taken as a value: its receiver was left behind there
		case s.Kind() == types.MethodVal:
			out[0], first = w.eval(sel.X), 1
		}
	}
	w.spread(call, func(i int, l labels) {
		if n := min(first+i, len(out)-1); n >= 0 {
			out[n] |= l // what is more than there are parameters goes to the last one
		}
	})
	return out
}

// spread calls each with every argument's place and labels. A call in the place of all arguments gives its results.
func (w *walker) spread(call *ast.CallExpr, each func(i int, l labels)) {
	if len(call.Args) == 1 {
		if tuple, ok := w.info.TypeOf(call.Args[0]).(*types.Tuple); ok {
			for i, l := range w.values(call.Args, tuple.Len()) {
				each(i, l)
			}
			return
		}
	}
	for i, a := range call.Args {
		each(i, w.eval(a))
	}
}

// enter hands a call's arguments to whatever it may reach.
func (w *walker) enter(call *ast.CallExpr) {
	fun := ast.Unparen(call.Fun)
	if tv := w.info.Types[fun]; tv.IsType() {
		w.convert(tv.Type, call.Args[0])
		return
	} else if tv.IsBuiltin() {
		if id, ok := fun.(*ast.Ident); ok && id.Name == "copy" {
			w.assign(call.Args[0], w.eval(call.Args[1]))
		}
		return
	}
	targets, own := w.targets(fun)
	for _, target := range targets {
		w.enterOne(target, call)
	}
	if !own {
		w.enterForeign(fun, call)
	}
}

// convert hands on what the fields of a struct hold to those of the type that it is converted to.
func (w *walker) convert(to types.Type, from ast.Expr) {
	a, isStruct := pointedTo(w.info.TypeOf(from)).Underlying().(*types.Struct)
	b, too := pointedTo(to).Underlying().(*types.Struct)
	if !isStruct || !too || a == b || a.NumFields() != b.NumFields() {
		return
	}
	for i := range a.NumFields() {
		if w.place(a.Field(i)) != 0 {
			w.put(origin(b.Field(i)), from.Pos())
		}
	}
}

func pointedTo(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func (w *walker) enterOne(target any, call *ast.CallExpr) {
	if lit := w.literals[literalOf(target)]; lit != nil {
		w.spread(call, func(i int, l labels) { w.enterLiteral(lit, i, l) })
		w.bindArguments(lit.params, call)
		return
	}
	f := w.function(target)
	if f == nil {
		return
	}
	given := w.given(f, target, call)
	for i, l := range given {
		if w.f.holds(l) && w.wordy(f.params[i].Type()) {
			w.hand(f, i, call.Pos())
		}
	}
	params := f.params
	if target.(*types.Func).Signature().Recv() != nil {
		params = params[1:]
	}
	w.bindArguments(params, call)
	w.writeBack(f, given, params, call)
}

// writeBack hands on what a function puts into what its arguments lead to.
func (w *walker) writeBack(f *function, given []labels, params []*types.Var, call *ast.CallExpr) {
	first := len(f.params) - len(params)
	for i, v := range params {
		if i >= len(call.Args) || i+first >= maxParams || !isReference(v.Type()) {
			continue
		}
		l := w.locals[v]
		out := l & fromSource
		for k, in := range given {
			if k < maxParams && k != i+first && l&(1<<k) != 0 {
				out |= in
			}
		}
		w.assign(call.Args[i], out)
	}
}

// isReference reports whether what is put into a value of type t is seen by whoever handed it over.
func isReference(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Interface:
		return true
	}
	return false
}

func (w *walker) enterLiteral(lit *literal, i int, l labels) {
	if lit.owner != w.f {
		l = w.f.abroad(l)
	}
	if len(lit.params) == 0 {
		return
	}
	v := lit.params[min(i, len(lit.params)-1)]
	if l != 0 && w.wordy(v.Type()) {
		have := w.locals[v]
		w.add(&have, l)
		w.locals[v] = have
	}
}

// bindArguments notes which functions are handed over as values.
func (w *walker) bindArguments(params []*types.Var, call *ast.CallExpr) {
	for i, a := range call.Args {
		if i < len(params) {
			w.bind(params[i], a)
		}
	}
}

// bind notes that a variable may stand for the functions that e may stand for.
func (w *walker) bind(v *types.Var, e ast.Expr) {
	if v == nil || w.info.TypeOf(e) == nil {
		return
	}
	for _, target := range w.functionValues(e) {
		if w.bound[origin(v)] == nil {
			w.bound[origin(v)] = map[any]bool{}
		}
		if !w.bound[origin(v)][target] {
			w.bound[origin(v)][target] = true
			w.changed = true
		}
	}
}
