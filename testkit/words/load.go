package words

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
	"os"
	"os/exec"
	"path/filepath"
)

// Program is the packages of a module, parsed and typed.
type Program struct {
	fset     *token.FileSet
	root     string
	packages []*pkg // what is imported comes before what imports it
	byPath   map[string]*types.Package
	others   types.Importer // of packages that are not the module's
}

// pkg is one package of the module, without its tests.
type pkg struct {
	types *types.Package
	info  *types.Info
	files []*ast.File
}

// listed is a package as the go command lists it.
type listed struct {
	ImportPath string
	Dir        string
	Export     string
	GoFiles    []string
	Module     *struct{ Main bool }
	Error      *struct{ Err string }
}

// Load reads the packages of the module at root that patterns name, as the go command takes them, and what they import of
// the module, without their tests, for this system. It runs the go command, which compiles what is not compiled yet.
func Load(root string, patterns ...string) (*Program, error) {
	all, err := list(root, patterns)
	if err != nil {
		return nil, err
	}
	p := &Program{fset: token.NewFileSet(), root: root, byPath: map[string]*types.Package{}}
	exports := map[string]string{}
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	p.others = importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("words: no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	for _, l := range all {
		if l.Module == nil || !l.Module.Main {
			continue
		}
		if l.Error != nil {
			return nil, fmt.Errorf("words: load %s: %s", l.ImportPath, l.Error.Err)
		}
		var files []string
		for _, name := range l.GoFiles {
			files = append(files, filepath.Join(l.Dir, name))
		}
		if err := p.Add(l.ImportPath, files...); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// list returns all packages that the module needs, dependencies first.
func list(root string, patterns []string) (all []listed, err error) {
	cmd := exec.Command("go", "list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module,Error")
	cmd.Args = append(cmd.Args, patterns...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = root, &stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // so that no file is made up by cgo
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("words: go list: %w\n%s", err, stderr.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("words: go list: %w", err)
		}
		all = append(all, l)
	}
}

// Add parses and types one more package, which may import those that are there and what they import.
func (p *Program) Add(path string, names ...string) error {
	one := &pkg{info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	for _, name := range names {
		file, err := parser.ParseFile(p.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("words: %w", err)
		}
		one.files = append(one.files, file)
	}
	var err error
	one.types, err = (&types.Config{Importer: p}).Check(path, p.fset, one.files, one.info)
	if err != nil {
		return fmt.Errorf("words: %w", err)
	}
	p.packages, p.byPath[path] = append(p.packages, one), one.types
	return nil
}

// Import returns a package that a package of the program imports.
func (p *Program) Import(path string) (*types.Package, error) {
	if own := p.byPath[path]; own != nil {
		return own, nil
	}
	return p.others.Import(path)
}

// shown is a position for people: the file's path within the module, and the line.
func (p *Program) shown(pos token.Pos) (file string, line int) {
	at := p.fset.Position(pos)
	if rel, err := filepath.Rel(p.root, at.Filename); err == nil {
		return filepath.ToSlash(rel), at.Line
	}
	return at.Filename, at.Line
}
