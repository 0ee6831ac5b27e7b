package words

import (
	"go/ast"
	"go/types"
)

// targets are the functions of the module that a call may reach: *types.Func or *ast.FuncLit. own reports that it can
// reach no other.
func (w *walker) targets(fun ast.Expr) (all []any, own bool) {
	switch e := fun.(type) {
	case *ast.FuncLit:
		return []any{e}, true
	case *ast.IndexExpr:
		return w.targets(ast.Unparen(e.X))
	case *ast.IndexListExpr:
		return w.targets(ast.Unparen(e.X))
	case *ast.Ident:
		return w.targetsOf(w.info.ObjectOf(e))
	case *ast.SelectorExpr:
		return w.targetsOf(w.info.ObjectOf(e.Sel))
	}
	return nil, false
}

func (w *walker) targetsOf(obj types.Object) (all []any, own bool) {
	switch obj := obj.(type) {
	case *types.Func:
		f := obj.Origin()
		if f.Pkg() == nil || w.prog.byPath[f.Pkg().Path()] == nil {
			return nil, false
		}
		if r := f.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
			return w.implementations(f), true
		}
		return []any{f}, true
	case *types.Var:
		for target := range w.bound[origin(obj)] {
			all = append(all, target)
		}
		return all, len(all) > 0
	}
	return nil, false
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
	for _, n := range fl.named {
		if n.TypeParams().Len() > 0 || !types.Implements(n, iface) && !types.Implements(types.NewPointer(n), iface) {
			continue
		}
		obj, _, _ := types.LookupFieldOrMethod(n, true, method.Pkg(), method.Name())
		if f, ok := obj.(*types.Func); ok {
			all = append(all, f.Origin())
		}
	}
	return all
}

// functionValues are the functions that an expression may stand for when it is not called.
func (w *walker) functionValues(e ast.Expr) []any {
	if _, ok := w.info.TypeOf(e).Underlying().(*types.Signature); !ok {
		return nil
	}
	all, _ := w.targets(ast.Unparen(e))
	return all
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
	for i, l := range w.given(f, target, call) {
		if w.f.holds(l) && wordy(f.params[i].Type()) {
			w.hand(f, i, call.Pos())
		}
	}
	params := f.params
	if fn := target.(*types.Func); fn.Signature().Recv() != nil {
		params = params[1:]
	}
	w.bindArguments(params, call)
}

func (w *walker) enterLiteral(lit *literal, i int, l labels) {
	if lit.owner != w.f {
		l = w.f.abroad(l)
	}
	if len(lit.params) == 0 {
		return
	}
	v := lit.params[min(i, len(lit.params)-1)]
	if l != 0 && wordy(v.Type()) {
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

// enterForeign is a call of a function that is not the module's: functions among its arguments may be called with the
// others, and what takes words keeps them.
func (w *walker) enterForeign(fun ast.Expr, call *ast.CallExpr) {
	all := w.arguments(call) | w.receiver(fun)
	if all == 0 {
		return
	}
	for _, a := range call.Args {
		for _, target := range w.functionValues(a) {
			w.callBack(target, all, call)
		}
		if t := w.info.TypeOf(a); t != nil && isCarrier(t) {
			w.assign(a, all)
		}
	}
	if sel, ok := fun.(*ast.SelectorExpr); ok && w.info.Selections[sel] != nil && isCarrier(w.info.TypeOf(sel.X)) {
		w.assign(sel.X, all)
	}
}

// callBack hands words to every parameter of a function that can hold some.
func (w *walker) callBack(target any, l labels, call *ast.CallExpr) {
	if lit := w.literals[literalOf(target)]; lit != nil {
		for i := range lit.params {
			w.enterLiteral(lit, i, l)
		}
		return
	}
	f := w.function(target)
	if f == nil || !w.f.holds(l) {
		return
	}
	for i, v := range f.params {
		if wordy(v.Type()) {
			w.hand(f, i, call.Pos())
		}
	}
}
