package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyEvolvingFilesChangeState: what decides and what is read of a State assign to none of the fields of the types that
// state.go declares, take nothing out of their maps, and call nothing that an evolve file declares.
func TestOnlyEvolvingFilesChangeState(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, files := token.NewFileSet(), map[string]*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if files[path], err = parser.ParseFile(fset, path, nil, parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
	}
	fields, evolving := map[string]bool{}, map[string]bool{}
	ast.Inspect(files["state.go"], func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					fields[name.Name] = !name.IsExported()
				}
			}
		}
		return true
	})
	for path, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(path, "evolve") {
				evolving[f.Name.Name] = true
			}
		}
	}
	if len(fields) < 20 || !evolving["Evolve"] || !evolving["owe"] {
		t.Fatalf("%d fields of State, evolving %v: the files are not where they were", len(fields), evolving)
	}
	changes := func(file *ast.File) (found []string) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					if name := fieldOf(to); fields[name] {
						found = append(found, "assigns to "+name+" at "+fset.Position(n.Pos()).String())
					}
				}
			case *ast.IncDecStmt:
				if name := fieldOf(n.X); fields[name] {
					found = append(found, "changes "+name+" at "+fset.Position(n.Pos()).String())
				}
			case *ast.CallExpr:
				if name := calledBy(n); evolving[name] || name == "delete" {
					found = append(found, "calls "+name+" at "+fset.Position(n.Pos()).String())
				}
			}
			return true
		})
		return found
	}
	for path, file := range files {
		if found := changes(file); !strings.HasPrefix(path, "evolve") && len(found) > 0 {
			t.Errorf("%s decides, and %s", path, strings.Join(found, ", "))
		}
	}
	planted, err := parser.ParseFile(fset, "planted.go", "package session\nfunc f(s *State) { s.owed[0].most--; s.turn = nil; delete(s.requested, 0); s.unowe(nil) }", 0)
	if err != nil {
		t.Fatal(err)
	}
	if found := changes(planted); len(found) != 4 {
		t.Errorf("of four planted changes %v are found", found)
	}
}

// fieldOf is the field that an expression names, or of which it names an element; empty: none.
func fieldOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return fieldOf(e.X)
	}
	return ""
}

// calledBy is the name of a function or method that is called.
func calledBy(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
