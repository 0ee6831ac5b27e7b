package words

import (
	"go/ast"
	"go/token"
	"go/types"
)

// labels say where the words of a value may come from: from a source, or from parameters of the function it is in.
type labels uint64

// fromSource is the label of a source; the others are 1<<n for parameter n, where the receiver comes first.
const fromSource labels = 1 << 63

// maxParams is how many parameters of a function are told apart.
const maxParams = 63

// function is a declared function, or the initializer of package variables.
type function struct {
	pkg     *pkg
	masks   bool         // it may compare words to take some out; what it returns is words as before
	node    ast.Node     // its body, or the specification of the variables
	params  []*types.Var // the receiver first
	named   []*types.Var // its results, where they have names
	results []labels     // what its results may hold, in its own labels
	given   labels       // the parameters that some call hands words to
	from    map[int]token.Pos
}

// literal is a function literal. It speaks in the labels of the function that it stands in.
type literal struct {
	owner   *function
	params  []*types.Var
	named   []*types.Var // its results
	results []labels
}

// flow is what is known of a program so far. It only grows; the analysis ends when it does not.
type flow struct {
	prog    *Program
	sources map[*types.Var]bool
	allowed map[string]string
	masks   map[string]string
	masked  map[string]bool // those of masks that are there

	functions []*function
	declared  map[*types.Func]*function
	literals  map[*ast.FuncLit]*literal
	locals    map[types.Object]labels       // in the labels of the function each belongs to
	places    map[types.Object]token.Pos    // fields and package variables that hold words, and where they were put there
	bound     map[types.Object]map[any]bool // what functions a variable or a result stands for
	named     []*types.Named                // types of the module, for calls through its interfaces
	reached   map[*types.Func][]any         // by such a call
	words     map[types.Type]bool           // what wordy answered
	behind    map[*types.Interface][]*types.Named
	linked    map[types.Object]map[ast.Expr]bool // what is written to a variable goes there too
	held      map[types.Type]bool                // what holding answered in this pass

	changed   bool
	reporting bool
	found     map[Finding]bool
}

func newFlow(p *Program) *flow {
	return &flow{
		prog: p, sources: map[*types.Var]bool{}, declared: map[*types.Func]*function{}, literals: map[*ast.FuncLit]*literal{},
		locals: map[types.Object]labels{}, places: map[types.Object]token.Pos{}, bound: map[types.Object]map[any]bool{},
		reached: map[*types.Func][]any{}, masked: map[string]bool{}, behind: map[*types.Interface][]*types.Named{},
		linked: map[types.Object]map[ast.Expr]bool{}, words: map[types.Type]bool{}, found: map[Finding]bool{},
	}
}

// run goes over all functions until nothing is new, and then reports.
func (fl *flow) run() {
	for _, p := range fl.prog.packages {
		for _, file := range p.files {
			if name, _ := fl.prog.shown(file.Pos()); fl.allowed[name] == "" {
				fl.declare(p, file)
			}
		}
		for _, name := range p.types.Scope().Names() {
			if n, ok := p.types.Scope().Lookup(name).Type().(*types.Named); ok && !types.IsInterface(n) {
				fl.named = append(fl.named, n)
			}
		}
	}
	for fl.changed = true; fl.changed; {
		fl.changed = false
		fl.pass()
	}
	fl.reporting = true
	fl.pass()
}

func (fl *flow) pass() {
	fl.held = map[types.Type]bool{}
	for _, f := range fl.functions {
		ast.Walk(&walker{flow: fl, f: f, info: f.pkg.info}, f.node)
		for i, v := range f.named {
			fl.add(&f.results[i], fl.locals[v])
		}
	}
	for _, l := range fl.literals {
		for i, v := range l.named {
			fl.add(&l.results[i], fl.locals[v])
		}
	}
}

// declare notes the functions and literals of a file.
func (fl *flow) declare(p *pkg, file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			obj, ok := p.info.Defs[d.Name].(*types.Func)
			if !ok || d.Body == nil {
				continue
			}
			f := &function{pkg: p, node: d.Body, from: map[int]token.Pos{}, masks: fl.masking(obj)}
			sig := obj.Signature()
			if r := sig.Recv(); r != nil {
				f.params = append(f.params, r)
			}
			f.params = append(f.params, vars(sig.Params())...)
			f.named, f.results = vars(sig.Results()), make([]labels, sig.Results().Len())
			for i, v := range f.params {
				if i < maxParams {
					fl.locals[v] = 1 << i
				}
			}
			fl.declared[obj] = f
			fl.note(f)
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				fl.note(&function{pkg: p, node: d, from: map[int]token.Pos{}})
			}
		}
	}
}

// masking reports whether the rules let f compare words.
func (fl *flow) masking(f *types.Func) bool {
	file, _ := fl.prog.shown(f.Pos())
	name := file + ":" + f.Name()
	_, is := fl.masks[name]
	fl.masked[name] = fl.masked[name] || is
	return is
}

func (fl *flow) note(f *function) {
	fl.functions = append(fl.functions, f)
	ast.Inspect(f.node, func(n ast.Node) bool {
		if l, ok := n.(*ast.FuncLit); ok {
			sig := f.pkg.info.TypeOf(l).(*types.Signature)
			fl.literals[l] = &literal{
				owner: f, params: vars(sig.Params()), named: vars(sig.Results()), results: make([]labels, sig.Results().Len()),
			}
		}
		return true
	})
}

func vars(t *types.Tuple) []*types.Var {
	var all []*types.Var
	for v := range t.Variables() {
		all = append(all, v)
	}
	return all
}

// add grows what is known.
func (fl *flow) add(to *labels, l labels) {
	if *to|l != *to {
		*to |= l
		fl.changed = true
	}
}

// holds reports whether a value with these labels may hold words of a source, in f.
func (f *function) holds(l labels) bool { return l&(fromSource|f.given) != 0 }

// abroad is what l of f means outside of f.
func (f *function) abroad(l labels) labels {
	if f.holds(l) {
		return fromSource
	}
	return 0
}

// hand notes that parameter i of f is handed words at pos.
func (fl *flow) hand(f *function, i int, pos token.Pos) {
	if i < maxParams && f.given&(1<<i) == 0 {
		f.given |= 1 << i
		f.from[i] = pos
		fl.changed = true
	}
}

// put notes that a field or a variable of a package holds words.
func (fl *flow) put(obj types.Object, pos token.Pos) {
	if _, known := fl.places[obj]; !known {
		fl.places[obj] = pos
		fl.changed = true
	}
}
