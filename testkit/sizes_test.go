package testkit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The bounds of what is read at once. A line of code holds a token; comments and blank lines are free.
const (
	maxPackageFiles = 45
	maxPackageLines = 5_000
	maxFileLines    = 400
	maxFuncLines    = 60
	maxFuncMedian   = 10
	maxFuncNinety   = 24 // the 90th percentile
)

// sizes are the lines of code of one package.
type sizes struct {
	files, lines int
	largest      map[string]int // by file
	funcs        map[string]int // by name
}

// TestSizes: a package, a file and a function can be read at once.
func TestSizes(t *testing.T) {
	t.Parallel()
	all, total := measureAll(t), 0
	var funcs []int
	for name, s := range all {
		total += s.lines
		if s.files > maxPackageFiles || s.lines > maxPackageLines {
			t.Errorf("%s has %d files and %d lines of code, where %d and %d may be", name, s.files, s.lines, maxPackageFiles, maxPackageLines)
		}
		for file, n := range s.largest {
			if n > maxFileLines {
				t.Errorf("%s has %d lines of code, where %d may be", file, n, maxFileLines)
			}
		}
		for f, n := range s.funcs {
			funcs = append(funcs, n)
			if n > maxFuncLines {
				t.Errorf("%s.%s has %d lines, where %d may be", name, f, n, maxFuncLines)
			}
		}
	}
	slices.Sort(funcs)
	median, ninety := funcs[len(funcs)/2], funcs[len(funcs)*9/10]
	if median > maxFuncMedian || ninety > maxFuncNinety {
		t.Errorf("the median function has %d lines and the 90th of a hundred %d, where %d and %d may be", median, ninety, maxFuncMedian, maxFuncNinety)
	}
	t.Logf("%d lines of code in %d packages; functions: median %d, 90th percentile %d, longest %d", total, len(all), median, ninety, funcs[len(funcs)-1])
}

// measureAll measures every package of the module. Commands of the gate are no part of it.
func measureAll(t *testing.T) map[string]*sizes {
	t.Helper()
	root, all := moduleRoot(t), map[string]*sizes{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(filepath.Dir(rel))
		if all[name] == nil {
			all[name] = &sizes{largest: map[string]int{}, funcs: map[string]int{}}
		}
		return all[name].add(path, filepath.ToSlash(rel))
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// add counts a file.
func (s *sizes) add(path, rel string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	lines := codeLines(src)
	s.files, s.lines = s.files+1, s.lines+len(lines)
	s.largest[rel] = len(lines)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			s.funcs[receiver(f)+f.Name.Name] = between(lines, fset.Position(f.Pos()).Line, fset.Position(f.End()).Line)
		}
	}
	return nil
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	e := f.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	return fmt.Sprint(e) + "."
}

func between(lines map[int]bool, from, to int) (n int) {
	for l := from; l <= to; l++ {
		if lines[l] {
			n++
		}
	}
	return n
}

// codeLines are the lines on which a token stands, all of those of a text that goes over several.
func codeLines(src []byte) map[int]bool {
	fset, lines := token.NewFileSet(), map[int]bool{}
	file := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		first := file.Line(pos)
		for i := range strings.Count(lit, "\n") + 1 {
			lines[first+i] = true
		}
	}
}

func TestCodeLines(t *testing.T) {
	t.Parallel()
	const src = "// Package p.\npackage p\n\n/* a\nb */\nvar text = `one\n\nthree` // a comment\n\nfunc f() {\n\t// nothing\n}\n"
	if got := len(codeLines([]byte(src))); got != 6 {
		t.Errorf("got %d lines of code, want 6: the package clause, three of a text, two of a function", got)
	}
}
