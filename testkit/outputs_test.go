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
		"testkit/wiretest/trouble.go":                 suite,
	}
}

// mayMarshal are the packages that write a value as JSON or CBOR that may hold an output, so that its words stand there, each
// with its reason. What is kept in a variable of an interface or of a type parameter in between is not followed.
func mayMarshal() map[string]string {
	return map[string]string{
		"internal/api":                   "records as they are shown, paged and streamed",
		"internal/replay":                "the proof compares whole recorded events with whole derived ones, and shows what differs",
		"cmd/cmemd/internal/cli/operate": "--json of records, of views and of what a text means as an output",
		"cmd/cmemd/internal/providers":   "--json of what a provider answered when it was tried",
		"cmd/cmemd/internal/scenarios":   "--json of what replay shows of outputs",
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
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
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
			if n.Name == accessor { // also in an interface of somebody's own
				name, _ := filepath.Rel(c.root, c.fset.Position(n.Pos()).Filename)
				f.read[filepath.ToSlash(name)] = true
			}
		case *ast.CallExpr:
			for _, arg := range c.marshaled(info, n) {
				fn, ok := decl.(*ast.FuncDecl)
				if c.output != nil && c.holds(info.TypeOf(arg), nil) {
					f.marshal[strings.TrimPrefix(path, module+"/")] = true
				} else if ok && types.IsInterface(info.TypeOf(arg)) {
					c.passing[info.Defs[fn.Name]] = true
				}
			}
		}
		return true
	})
}

// marshaled returns what a call writes as bytes, whatever it is.
func (c *checked) marshaled(info *types.Info, call *ast.CallExpr) []ast.Expr {
	fun := ast.Unparen(call.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	name, _ := fun.(*ast.Ident)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		switch name = sel.Sel; name.Name {
		case "MarshalJSON", "MarshalCBOR":
			return []ast.Expr{sel.X}
		case "Marshal", "MarshalIndent", "MarshalWrite", "Encode", "EncodeElement":
			return call.Args
		}
	}
	if name == nil {
		return nil
	}
	if fn, ok := info.Uses[name].(*types.Func); ok && c.passing[fn.Origin()] {
		return call.Args
	}
	return nil
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

// check looks at the whole module, and after it at one more file that is planted in a package of its own.
func check(t *testing.T, root, planted string) found {
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
	if planted != "" {
		file := parse(t, c.fset, filepath.Join(root, "planted", "planted.go"), planted)
		if err := c.look(module+"/planted", []*ast.File{file}, f); err != nil {
			t.Fatal(err)
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

// violation reads an output, and marshals one, as nobody else may.
const violation = `package planted

import (
	"encoding/json"

	"github.com/cmemd/cmemd/events"
)

func read(e events.OutputDropped) bool { return e.Preview.RawText() == "session exhausted" }

func marshal(all map[string][]*events.TurnReceived) ([]byte, error) { return json.Marshal(all) }
`

// TestWhoReadsOutputs: the words of an output are taken by the files above alone, and written by the packages above. The
// planted file must be found.
func TestWhoReadsOutputs(t *testing.T) {
	t.Parallel()
	got := check(t, moduleRoot(t), violation)
	read, marshal := slices.Sorted(maps.Keys(mayRead())), slices.Sorted(maps.Keys(mayMarshal()))
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(read, "planted/planted.go"))), slices.Sorted(maps.Keys(got.read))); diff != "" {
		t.Errorf("files that take the words of an output (-listed +found):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(marshal, "planted"))), slices.Sorted(maps.Keys(got.marshal))); diff != "" {
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
