package words

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Visit follows the values of one node, and looks at what it compares.
func (w *walker) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.FuncLit:
		return &walker{flow: w.flow, f: w.f, lit: w.literals[n], info: w.info}
	case *ast.AssignStmt:
		w.assignAll(n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		var names []ast.Expr
		for _, id := range n.Names {
			names = append(names, id)
		}
		w.assignAll(names, n.Values)
	case *ast.RangeStmt:
		w.ranged(n)
	case *ast.ReturnStmt:
		w.returned(n)
	case *ast.SendStmt:
		w.assign(n.Chan, w.eval(n.Value))
		w.bind(w.variable(n.Chan), n.Value)
	case *ast.TypeSwitchStmt:
		w.typeSwitch(n)
	case *ast.CompositeLit:
		w.fields(n)
	case *ast.CallExpr:
		w.enter(n)
		w.checkCall(n)
	case *ast.BinaryExpr:
		w.checkComparison(n)
	case *ast.SwitchStmt:
		w.checkSwitch(n)
	case *ast.IndexExpr:
		w.checkKey(n)
	}
	return w
}

func (w *walker) assignAll(to, from []ast.Expr) {
	if len(from) == 0 {
		return
	}
	for i, l := range w.values(from, len(to)) {
		w.assign(to[i], l)
		if len(from) == len(to) {
			w.bind(w.variable(to[i]), from[i])
			w.link(w.variable(to[i]), from[i])
		}
	}
}

// variable is the variable or field that an expression names; nil: none.
func (w *walker) variable(e ast.Expr) *types.Var {
	var obj types.Object
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		obj = w.info.ObjectOf(e)
	case *ast.SelectorExpr:
		obj = w.info.ObjectOf(e.Sel)
	case *ast.IndexExpr:
		return w.variable(e.X)
	}
	v, _ := obj.(*types.Var)
	return v
}

// ranged hands on what is gone through. The keys of slices are numbers, and those of texts too.
func (w *walker) ranged(n *ast.RangeStmt) {
	l := w.eval(n.X)
	for _, to := range []ast.Expr{n.Key, n.Value} {
		if to != nil && w.wordy(w.info.TypeOf(to)) {
			w.assign(to, l)
		}
	}
	if n.Value != nil {
		w.bind(w.variable(n.Value), n.X)
	}
}

func (w *walker) returned(n *ast.ReturnStmt) {
	results := w.f.results
	if w.lit != nil {
		results = w.lit.results
	}
	if len(n.Results) == 0 {
		return
	}
	named := w.f.named
	if w.lit != nil {
		named = w.lit.named
	}
	for i, l := range w.values(n.Results, len(results)) {
		w.add(&results[i], l)
		if len(n.Results) == len(results) {
			w.bind(named[i], n.Results[i])
		}
	}
}

func (w *walker) typeSwitch(n *ast.TypeSwitchStmt) {
	assigned, ok := n.Assign.(*ast.AssignStmt)
	if !ok {
		return
	}
	l := w.eval(assigned.Rhs[0].(*ast.TypeAssertExpr).X)
	for _, clause := range n.Body.List {
		if v := w.info.Implicits[clause]; v != nil {
			w.assignTo(v, l, clause.Pos())
		}
	}
}

// fields notes what is put into the fields of a struct.
func (w *walker) fields(n *ast.CompositeLit) {
	t := w.info.TypeOf(n).Underlying()
	if p, ok := t.(*types.Pointer); ok { // an element of a slice of pointers
		t = p.Elem().Underlying()
	}
	s, ok := t.(*types.Struct)
	if !ok {
		return
	}
	for i, x := range n.Elts {
		field := (*types.Var)(nil)
		if kv, keyed := x.(*ast.KeyValueExpr); keyed {
			field, x = w.variable(kv.Key), kv.Value
		} else if i < s.NumFields() {
			field = s.Field(i)
		}
		if field != nil && w.isOwn(field) {
			w.assignTo(field, w.eval(x), x.Pos())
			w.bind(field, x)
		}
	}
}

// report notes that an expression compares words, once all flows are known.
func (w *walker) report(at ast.Expr, operand ast.Expr) {
	if !w.reporting || w.f.masks {
		return
	}
	f := Finding{What: types.ExprString(at)}
	if len(f.What) > 120 {
		f.What = f.What[:120] + "..."
	}
	f.File, f.Line = w.prog.shown(at.Pos())
	if pos := w.cameFrom(operand); pos.IsValid() {
		file, line := w.prog.shown(pos)
		f.From = file + ":" + itoa(line)
	}
	w.found[f] = true
}

// cameFrom is where the words of an expression came into the function, or into the field that it reads.
func (w *walker) cameFrom(e ast.Expr) token.Pos {
	for i := range w.f.params {
		if i < maxParams && w.eval(e)&w.f.given&(1<<i) != 0 {
			return w.f.from[i]
		}
	}
	pos := token.NoPos
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && !pos.IsValid() {
			if v := w.variable(x); v != nil {
				pos = w.places[origin(v)]
			}
		}
		return true
	})
	return pos
}
