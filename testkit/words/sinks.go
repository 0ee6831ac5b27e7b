package words

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func itoa(n int) string { return strconv.Itoa(n) }

// sinks are the functions of the standard library that compare words or read something out of them, by package.
func sinks() map[string][]string {
	text := []string{
		"Compare", "Contains", "ContainsAny", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "HasPrefix", "HasSuffix",
		"Index", "IndexAny", "LastIndex", "LastIndexAny", "Replace", "ReplaceAll", "Split", "SplitAfter", "SplitAfterN", "SplitAfterSeq",
		"SplitN", "SplitSeq", "Trim", "TrimLeft", "TrimPrefix", "TrimRight", "TrimSuffix",
	}
	return map[string][]string{
		"strings":       text,
		"bytes":         append([]string{"Equal"}, text...),
		"slices":        {"BinarySearch", "Compare", "Contains", "Equal", "Index"},
		"cmp":           {"Compare", "Less"},
		"path":          {"Match"},
		"path/filepath": {"Match"},
		"regexp":        {"Match", "MatchString", "MatchReader"},
		"strconv":       {"Atoi", "ParseBool", "ParseFloat", "ParseInt", "ParseUint", "Unquote"},
		"time":          {"Parse", "ParseDuration", "ParseInLocation"},
		"fmt":           {"Sscan", "Sscanf", "Sscanln", "Fscan", "Fscanf", "Fscanln"},
		"encoding/json": {"Unmarshal"},
	}
}

// checkCall looks at calls of such functions, and of all methods of a regular expression.
func (w *walker) checkCall(call *ast.CallExpr) {
	fun := ast.Unparen(call.Fun)
	if id, ok := fun.(*ast.Ident); ok && id.Name == "delete" && w.info.Types[fun].IsBuiltin() {
		w.checkOperand(call, call.Args[1])
		return
	}
	f := w.foreign(fun)
	if f == nil || f.Pkg() == nil {
		return
	}
	path := f.Pkg().Path()
	method := f.Signature().Recv() != nil
	if method && path != "regexp" || !method && !slices.Contains(sinks()[path], f.Name()) {
		return
	}
	for i, a := range call.Args {
		if !w.onlyWordless(call.Args, i) || method {
			w.checkOperand(call, a)
		}
	}
}

// foreign is the function that is called, where it is one that is not the module's.
func (w *walker) foreign(fun ast.Expr) *types.Func {
	switch e := fun.(type) {
	case *ast.IndexExpr:
		return w.foreign(ast.Unparen(e.X))
	case *ast.IndexListExpr:
		return w.foreign(ast.Unparen(e.X))
	case *ast.Ident:
		f, _ := w.info.ObjectOf(e).(*types.Func)
		return f
	case *ast.SelectorExpr:
		f, _ := w.info.ObjectOf(e.Sel).(*types.Func)
		return f
	}
	return nil
}

// onlyWordless reports whether argument i is compared with constants alone that hold no word.
func (w *walker) onlyWordless(args []ast.Expr, i int) bool {
	n := 0
	for j, a := range args {
		if j != i && wordy(w.info.TypeOf(a)) {
			if !w.wordless(a) {
				return false
			}
			n++
		}
	}
	return n > 0
}

// wordless reports whether e is a constant without a letter and without a digit, or nil.
func (w *walker) wordless(e ast.Expr) bool {
	tv := w.info.Types[e]
	switch {
	case tv.IsNil():
		return true
	case tv.Value == nil || tv.Value.Kind() != constant.String:
		return false
	}
	return strings.IndexFunc(constant.StringVal(tv.Value), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0
}

func (w *walker) checkOperand(at, operand ast.Expr) {
	if w.f.holds(w.eval(operand)) {
		w.report(at, operand)
	}
}

// checkComparison looks at == and its kin.
func (w *walker) checkComparison(n *ast.BinaryExpr) {
	switch n.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
	default:
		return
	}
	if !isText(w.info.TypeOf(n.X)) && !isText(w.info.TypeOf(n.Y)) {
		return
	}
	if !w.wordless(n.Y) {
		w.checkOperand(n, n.X)
	}
	if !w.wordless(n.X) {
		w.checkOperand(n, n.Y)
	}
}

// isText reports whether values of type t are compared by their words.
func isText(t types.Type) bool {
	if _, open := types.Unalias(t).(*types.TypeParam); open {
		return true
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func (w *walker) checkSwitch(n *ast.SwitchStmt) {
	if n.Tag == nil {
		return
	}
	for _, clause := range n.Body.List {
		for _, x := range clause.(*ast.CaseClause).List {
			if !w.wordless(x) {
				w.checkOperand(n.Tag, n.Tag)
			}
		}
	}
}

// checkKey looks at keys of maps.
func (w *walker) checkKey(n *ast.IndexExpr) {
	t := w.info.TypeOf(n.X)
	if t == nil {
		return
	}
	if _, ok := t.Underlying().(*types.Map); ok {
		w.checkOperand(n, n.Index)
	}
}
