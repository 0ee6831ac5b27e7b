package testkit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// accessor is the one method of events.Output that hands out the words.
const accessor = "RawText"

// mayRead are the files that take the words of an output, each with its reason.
func mayRead() map[string]string {
	const shown = "a person is shown them"
	const suite = "a suite for providers compares what it has scripted itself"
	return map[string]string{
		"internal/observer/structured.go":             "the grammar, which looks for structure alone",
		"actors/policy/phrases.go":                    "the phrases of policies that only replay knows, to show what such a rule costs",
		"internal/memory/erasure/match.go":            "a person names words to be erased, and whatever holds them goes",
		"internal/observer/model/guard.go":            "the user's own key is taken out of an answer before anybody has it",
		"cmd/cmemd/internal/scenarios/script.go":      "recorded outputs become a script, which is played",
		"cmd/cmemd/internal/scenarios/poison.go":      "recorded outputs become a script, which is played",
		"actors/dropped.go":                           "at debug level the log file shows a person what was dropped",
		"cmd/cmemd/internal/cli/operate/outcomes.go":  shown,
		"cmd/cmemd/internal/providers/try.go":         shown,
		"cmd/cmemd/internal/scenarios/replay_json.go": shown,
		"internal/replay/report/page.go":              shown,
		"testkit/providertest/suite.go":               suite,
		"testkit/providertest/service.go":             suite,
		"testkit/wiretest/suite.go":                   suite,
		"testkit/wiretest/forms.go":                   suite,
		"testkit/wiretest/faults.go":                  suite,
	}
}

// mayMarshal are the packages that write a value as JSON or CBOR that may hold an output, so that its words stand there, each
// with its reason. A variable of type any, other than a parameter, may hold one in each package that events can reach. What is
// handed on by a method of an interface is not followed.
func mayMarshal() map[string]string {
	return map[string]string{
		"internal/api":                   "records as they are shown, paged and streamed",
		"internal/api/server":            "whatever a route answers",
		"internal/replay":                "the proof compares whole recorded events with whole derived ones, and shows what differs",
		"cmd/cmemd/internal/cli/operate": "--json of records, of views and of what a text means as an output",
		"cmd/cmemd/internal/cli/memory":  "--json of why: the turn that a row came from",
		"cmd/cmemd/internal/doctor":      "a bundle's files, which hold no outputs: settings, status and findings",
		"cmd/cmemd/internal/providers":   "--json of what a provider answered when it was tried",
		"cmd/cmemd/internal/scenarios":   "--json of what replay shows of outputs",
		"internal/observer/model":        "questions, each in its service's form",
		"internal/observer/playback":     "steps of scripts, which hold outputs that people wrote",
		"testkit/load":                   "its own figures",
	}
}

// checked is the module as go/types sees it, without its tests.
type checked struct {
	fset   *token.FileSet
	root   string
	own    map[string]*types.Package
	others types.Importer
	output types.Type // events.Output
	event  types.Type // events.Event

	passing map[types.Object]bool // functions of the module that marshal what they are given as any
}

// Import returns a package of the module, or one that it imports.
func (c *checked) Import(path string) (*types.Package, error) {
	if p := c.own[path]; p != nil {
		return p, nil
	}
	return c.others.Import(path)
}

// found is who does with outputs what only some may.
type found struct{ read, marshal map[string]bool }

// look types the files of one package and notes in f what they do with outputs.
func (c *checked) look(path string, files []*ast.File, f found) error {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Instances: map[*ast.Ident]types.Instance{},
	}
	p, err := (&types.Config{Importer: c}).Check(path, c.fset, files, info)
	if err != nil {
		return err
	}
	c.own[path] = p
	if path == module+"/events" {
		c.output, c.event = p.Scope().Lookup("Output").Type(), p.Scope().Lookup("Event").Type()
		return nil // the type's own home, and the codec's
	}
	for n := -1; n < len(c.passing); { // until no more functions are found that pass on what they are given
		n = len(c.passing)
		for _, file := range files {
			for _, decl := range file.Decls {
				c.lookInto(decl, path, info, f)
			}
		}
	}
	return nil
}

func (c *checked) lookInto(decl ast.Decl, path string, info *types.Info, f found) {
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if n.Name == accessor || n.Name == "Equal" && c.isOutputs(info.Uses[n]) { // the accessor also in an interface of somebody's own
				name, _ := filepath.Rel(c.root, c.fset.Position(n.Pos()).Filename)
				f.read[filepath.ToSlash(name)] = true
			}
		case *ast.CallExpr:
			for _, v := range c.marshaled(info, n) {
				_, generic := types.Unalias(v.t).(*types.TypeParam)
				switch fn, ok := decl.(*ast.FuncDecl); {
				case c.output == nil:
				case c.holds(v.t, nil):
					f.marshal[strings.TrimPrefix(path, module+"/")] = true
				case ok && (generic || isAny(v.t) && isParam(info, fn, v.arg)):
					c.passing[info.Defs[fn.Name]] = true
				case isAny(v.t) && c.reaches(c.own[path], map[*types.Package]bool{}):
					f.marshal[strings.TrimPrefix(path, module+"/")] = true
				}
			}
		}
		return true
	})
}

// isOutputs reports whether a function is a method of events.Output.
func (c *checked) isOutputs(obj types.Object) bool {
	fn, ok := obj.(*types.Func)
	return ok && c.output != nil && fn.Signature().Recv() != nil && types.Identical(fn.Signature().Recv().Type(), c.output)
}

// reaches reports whether a package is events, or imports it by others.
func (c *checked) reaches(p *types.Package, seen map[*types.Package]bool) bool {
	if p == nil || seen[p] {
		return false
	}
	seen[p] = true
	return p.Path() == module+"/events" || slices.ContainsFunc(p.Imports(), func(p *types.Package) bool { return c.reaches(c.own[p.Path()], seen) })
}

// isAny reports whether t is an interface that everything has.
func isAny(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 0
}

// isParam reports whether an expression is a parameter of fn.
func isParam(info *types.Info, fn *ast.FuncDecl, arg ast.Expr) bool {
	id, ok := ast.Unparen(arg).(*ast.Ident)
	if !ok {
		return false
	}
	for v := range info.Defs[fn.Name].(*types.Func).Signature().Params().Variables() {
		if info.Uses[id] == v {
			return true
		}
	}
	return false
}

// written is what a call writes as bytes; arg is nil where it is no argument, but what a type parameter stands for.
type written struct {
	arg ast.Expr
	t   types.Type
}

// marshaled returns what a call writes as bytes, whatever it is.
func (c *checked) marshaled(info *types.Info, call *ast.CallExpr) (all []written) {
	fun := ast.Unparen(call.Fun)
	switch index := fun.(type) {
	case *ast.IndexExpr:
		fun = index.X
	case *ast.IndexListExpr:
		fun = index.X
	}
	name, _ := fun.(*ast.Ident)
	args := call.Args
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		name = sel.Sel
		if name.Name == "MarshalJSON" || name.Name == "MarshalCBOR" {
			args = []ast.Expr{sel.X}
		}
	}
	if name == nil {
		return nil
	}
	fn, _ := info.Uses[name].(*types.Func)
	if !slices.Contains(writers(), name.Name) && (fn == nil || !c.passing[fn.Origin()]) {
		return nil
	}
	for _, arg := range args {
		all = append(all, written{arg, info.TypeOf(arg)})
	}
	for t := range info.Instances[name].TypeArgs.Types() {
		all = append(all, written{nil, t})
	}
	return all
}

// writers are functions that write what they are given as bytes.
func writers() []string {
	return []string{"Marshal", "MarshalIndent", "MarshalWrite", "MarshalJSON", "MarshalCBOR", "Encode", "EncodeElement"}
}

// holds reports whether a value of type t may hold an output: also where t is the interface of all events.
func (c *checked) holds(t types.Type, seen []types.Type) bool {
	if t == nil || slices.Contains(seen, t) {
		return false
	}
	if types.Identical(t, c.output) || types.Identical(t, c.event) {
		return true
	}
	seen = append(seen, t)
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for v := range u.Fields() {
			if c.holds(v.Type(), seen) {
				return true
			}
		}
	case *types.Map:
		return c.holds(u.Key(), seen) || c.holds(u.Elem(), seen)
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		return c.holds(u.Elem(), seen)
	}
	return false
}

// check looks at the whole module, and after it at more files, each planted in a package of the name that it has there.
func check(t *testing.T, root string, planted ...map[string]string) found {
	t.Helper()
	touch(t, root)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not installed")
	}
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0") // so that no file is made up by cgo
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	c := &checked{fset: token.NewFileSet(), root: root, own: map[string]*types.Package{}, passing: map[types.Object]bool{}}
	c.others = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	f := found{read: map[string]bool{}, marshal: map[string]bool{}}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			Module                  *struct{ Main bool }
		}
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if exports[l.ImportPath] = l.Export; l.Module == nil || !l.Module.Main {
			continue
		}
		var files []*ast.File
		for _, name := range l.GoFiles {
			files = append(files, parse(t, c.fset, filepath.Join(l.Dir, name), nil))
		}
		if err := c.look(l.ImportPath, files, f); err != nil {
			t.Fatal(err)
		}
	}
	for _, all := range planted {
		for name, src := range all {
			file := parse(t, c.fset, filepath.Join(root, name, "planted.go"), src)
			if err := c.look(module+"/"+name, []*ast.File{file}, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

func parse(t *testing.T, fset *token.FileSet, name string, src any) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// readings and marshalings are functions that do with an output what nobody else may.
func readings() []string {
	return []string{
		`func f(e events.OutputDropped) bool { return e.Preview.RawText() == "session exhausted" }`,
		`func f(e events.OutputDropped) bool { return e.Preview.Equal(events.NewOutput("session exhausted")) }`,
	}
}

func marshalings() []string {
	return []string{
		`func f(all map[string][]*events.TurnReceived) ([]byte, error) { return json.Marshal(all) }`,
		`func f(e events.TurnFailed) ([]byte, error) { var kept any = e; return json.Marshal(kept) }`,
		`func f(e events.TurnFailed) ([]byte, error) { return g(e) }; func g(v any) ([]byte, error) { return json.Marshal(v) }`,
		`func f() ([]byte, error) { return g[events.TurnFailed]() }; func g[T any]() ([]byte, error) { var v T; return json.Marshal(v) }`,
	}
}

// plant gives each function a package of its own, named kind1, kind2 and so on.
func plant(kind string, functions []string) map[string]string {
	planted := map[string]string{}
	for i, f := range functions {
		planted[fmt.Sprint(kind, i+1)] = "package p\n\nimport (\n\t\"encoding/json\"\n\n\t\"" + module + "/events\"\n)\n\nvar _ = json.Valid\n\n" + f + "\n"
	}
	return planted
}

// TestWhoReadsOutputs: the words of an output are taken by the files above alone, and written by the packages above. What is planted
// must be found.
func TestWhoReadsOutputs(t *testing.T) {
	t.Parallel()
	reads, writes := plant("reading", readings()), plant("marshaling", marshalings())
	got := check(t, moduleRoot(t), reads, writes)
	read, marshal := slices.Collect(maps.Keys(mayRead())), slices.Collect(maps.Keys(mayMarshal()))
	for name := range reads {
		read = append(read, name+"/planted.go")
	}
	marshal = slices.Sorted(slices.Values(slices.AppendSeq(marshal, maps.Keys(writes))))
	if diff := cmp.Diff(slices.Sorted(slices.Values(read)), slices.Sorted(maps.Keys(got.read))); diff != "" {
		t.Errorf("files that take the words of an output (-listed +found):\n%s", diff)
	}
	if diff := cmp.Diff(marshal, slices.Sorted(maps.Keys(got.marshal))); diff != "" {
		t.Errorf("packages that marshal an output (-listed +found):\n%s", diff)
	}
}

// phrases is the file of the legacy policies.
const phrases = "actors/policy/phrases.go"

// TestPhrasesStandInOneFile: no other file, tests aside, has one of the eleven phrases in a text of its own.
func TestPhrasesStandInOneFile(t *testing.T) {
	t.Parallel()
	var all []string
	literals(parse(t, token.NewFileSet(), filepath.Join("..", filepath.FromSlash(phrases)), nil), func(text string) {
		if strings.Contains(text, " ") {
			all = append(all, text)
		}
	})
	if len(all) != 11 {
		t.Fatalf("%s has %d phrases, want 11: %q", phrases, len(all), all)
	}
	holding := func(file *ast.File) (held []string) {
		literals(file, func(text string) {
			for _, p := range all {
				if strings.Contains(strings.ToLower(text), p) {
					held = append(held, p)
				}
			}
		})
		return held
	}
	eachSource(t, "..", func(path string, file *ast.File) {
		if held := holding(file); len(held) > 0 && filepath.ToSlash(path) != "../"+phrases {
			t.Errorf("%s holds %q", path, held)
		}
	})
	planted := fmt.Sprintf("package p\n\nconst said = %q\n", "The "+strings.ToUpper(all[0])+".")
	if held := holding(parse(t, token.NewFileSet(), "planted.go", planted)); len(held) != 1 {
		t.Errorf("in a planted file found %q, want %q", held, all[0])
	}
}

// literals calls f for each string literal of file.
func literals(file *ast.File, f func(string)) {
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				f(text)
			}
		}
		return true
	})
}
