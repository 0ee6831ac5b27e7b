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

// sinks are the functions of the standard library that hold words against others and answer with words, by package.
func sinks() map[string][]string {
	text := []string{
		"Cut", "CutPrefix", "CutSuffix", "Replace", "ReplaceAll", "Split", "SplitAfter", "SplitAfterN", "SplitAfterSeq",
		"SplitN", "SplitSeq", "Trim", "TrimLeft", "TrimPrefix", "TrimRight", "TrimSuffix",
	}
	return map[string][]string{
		"strings": append([]string{"WriteString"}, text...), // that of a Replacer: a Builder's reads nothing
		"bytes":   text,
	}
}

// readers are what the names of functions begin with that read something out of words, in any package.
func readers() []string {
	return []string{"Atoi", "Decode", "Parse", "Sscan", "Fscan", "Unmarshal", "Unquote"}
}

// compares reports whether f, which is not the module's, holds words against others or reads something out of them: by
// its name, or because it is given two things that can hold words and answers with yes or no, or with a bare number. So does a checksum that is a number.
func (w *walker) compares(f *types.Func) bool {
	if f.Pkg() == nil || f.Pkg().Path() == "errors" { // errors are told apart by their identity
		return false
	}
	sig := f.Signature()
	switch path := f.Pkg().Path(); {
	case path == "regexp" && sig.Recv() != nil:
		return true
	case slices.Contains(sinks()[path], f.Name()) && (sig.Recv() == nil || named(sig.Recv().Type()).Obj().Name() == "Replacer"):
		return true
	case isReader(f):
		return true
	}
	return answers(sig.Results()) && (w.holders(sig) > 1 || isSum(f))
}

// isReader reports whether f reads something out of words: more than the next character.
func isReader(f *types.Func) bool {
	return f.Pkg() != nil && f.Pkg().Path() != "unicode/utf8" &&
		slices.ContainsFunc(readers(), func(name string) bool { return strings.HasPrefix(f.Name(), name) })
}

// isTarget reports whether a is where a call puts what it reads, into a value whose fields are followed.
func (w *walker) isTarget(call *ast.CallExpr, a ast.Expr) bool {
	if _, isPointer := w.info.TypeOf(a).Underlying().(*types.Pointer); !isPointer || w.wordy(w.info.TypeOf(a)) {
		return false
	}
	return slices.ContainsFunc(w.stands(ast.Unparen(call.Fun)), func(target any) bool {
		f, ok := target.(*types.Func)
		return ok && w.isForeignFunc(f) && (isReader(f) || f.Pkg() != nil && f.Pkg().Path() == "errors")
	})
}

// isSum reports whether f is of a package of checksums.
func isSum(f *types.Func) bool {
	return strings.HasPrefix(f.Pkg().Path(), "hash/") || f.Pkg().Path() == "hash"
}

// holders is how many of what a function is given can hold words.
func (w *walker) holders(sig *types.Signature) (n int) {
	if r := sig.Recv(); r != nil && w.wordy(r.Type()) {
		n++
	}
	for v := range sig.Params().Variables() {
		if w.wordy(v.Type()) {
			n++
		}
	}
	return n
}

// answers reports whether results are a yes or no, or a number that comes without an error.
func answers(results *types.Tuple) bool {
	for v := range results.Variables() {
		if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
			return true
		} else if ok && b.Info()&types.IsNumeric != 0 && results.Len() == 1 {
			return true
		}
	}
	return false
}

// checkCall looks at calls of such functions.
func (w *walker) checkCall(call *ast.CallExpr) {
	fun := ast.Unparen(call.Fun)
	if id, ok := fun.(*ast.Ident); ok && id.Name == "delete" && w.info.Types[fun].IsBuiltin() {
		w.checkOperand(call, call.Args[1])
		return
	}
	for _, target := range w.stands(fun) {
		if f, ok := target.(*types.Func); ok && w.isForeignFunc(f) && w.compares(f) {
			w.checkArguments(f, fun, call)
		}
	}
}

func (w *walker) checkArguments(f *types.Func, fun ast.Expr, call *ast.CallExpr) {
	method := f.Signature().Recv() != nil
	for i, a := range call.Args {
		if w.isTarget(call, a) {
			continue
		}
		if method || !w.onlyWordless(call.Args, i) {
			w.checkOperand(call, a)
		}
	}
	if method && w.f.holds(w.receiver(fun)) {
		w.report(call, fun)
	}
}

// onlyWordless reports whether argument i is compared with constants alone that hold no word.
func (w *walker) onlyWordless(args []ast.Expr, i int) bool {
	n := 0
	for j, a := range args {
		if j != i && w.wordy(w.info.TypeOf(a)) {
			if !w.wordless(a) {
				return false
			}
			n++
		}
	}
	return n > 0
}

// wordless reports whether e is a constant without a letter and without a digit, an empty value, or nil.
func (w *walker) wordless(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		if w.info.Types[e.Fun].IsType() && w.info.Types[e].Value == nil {
			return w.wordless(e.Args[0])
		}
	}
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
	if !w.isText(w.info.TypeOf(n.X)) && !w.isText(w.info.TypeOf(n.Y)) {
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
func (w *walker) isText(t types.Type) bool {
	if _, open := types.Unalias(t).(*types.TypeParam); open {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Interface:
		return u.Empty()
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

func (w *walker) checkSwitch(n *ast.SwitchStmt) {
	if n.Tag == nil || !w.isText(w.info.TypeOf(n.Tag)) {
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
