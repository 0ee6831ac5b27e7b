package testkit_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// maxAgainst is how many of a hundred references from file to file may go against the order in which doc.go lists the files.
const maxAgainst = 10

// TestFilesRunOneWay: a package of several files lists them in doc.go in the order in which data passes, under the line
// "The files, each referring to those below it:", and what a file refers to stands in itself or further down.
func TestFilesRunOneWay(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads the types of every package")
	}
	for _, p := range load(t) {
		name := strings.TrimPrefix(p.PkgPath, module+"/")
		files := filesOf(p)
		if len(files) < 3 {
			continue
		}
		order := listedFiles(p.Dir)
		if diff := missing(files, order); len(diff) > 0 {
			t.Errorf("%s/doc.go does not list exactly the files of the package: %s", name, strings.Join(diff, ", "))
			continue
		}
		against, all, worst := references(p, order)
		if all > 0 && 100*len(against) > maxAgainst*all {
			t.Errorf("%s: %d of %d references go against the order of the files (%s)\n  %s", name, len(against), all, worst, strings.Join(against, "\n  "))
		}
	}
}

// loaded are all packages with their types, read once for all tests.
var loaded = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
		Dir:  "..",
	}, "./...")
})

func load(t *testing.T) []*packages.Package {
	t.Helper()
	pkgs, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, err := range p.Errors {
			t.Fatal(err)
		}
	}
	return pkgs
}

// filesOf are the files of a package beside doc.go, those for other systems too.
func filesOf(p *packages.Package) []string {
	var files []string
	for _, path := range slices.Concat(p.GoFiles, p.IgnoredFiles) {
		if name := filepath.Base(path); name != "doc.go" && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			files = append(files, name)
		}
	}
	return files
}

// listedFiles are the files that doc.go lists, in its order.
func listedFiles(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, "doc.go"))
	if err != nil {
		return nil
	}
	_, list, ok := strings.Cut(string(text), "The files, each referring to those below it:\n//\n")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, "\n//\n")
	list, _, _ = strings.Cut(list, "\npackage ")
	return regexp.MustCompile(`[a-z0-9_]+\.go\b`).FindAllString(list, -1)
}

// missing says which files only one of the lists has.
func missing(files, order []string) (diff []string) {
	for _, f := range files {
		if !slices.Contains(order, f) {
			diff = append(diff, f+" is not listed")
		}
	}
	for _, f := range order {
		if !slices.Contains(files, f) {
			diff = append(diff, f+" is not there")
		}
	}
	return diff
}

// references counts what files use of other files of their package, each thing once a file, and names the uses of what an earlier
// file declares.
func references(p *packages.Package, order []string) (against []string, all int, worst string) {
	seen, byFile := map[string]bool{}, map[string]int{}
	for id, obj := range p.TypesInfo.Uses {
		if obj.Pkg() != p.Types || !obj.Pos().IsValid() || isLocal(obj) {
			continue
		}
		from, to := fileAt(p, id), filepath.Base(p.Fset.Position(obj.Pos()).Filename)
		key := fmt.Sprintf("%s uses %s of %s", from, obj.Name(), to)
		if from == to || seen[key] {
			continue
		}
		seen[key] = true
		all++
		if slices.Index(order, to) < slices.Index(order, from) {
			against = append(against, key)
			byFile[to]++
		}
	}
	slices.Sort(against)
	for file, n := range byFile {
		if n > byFile[worst] || n == byFile[worst] && cmp.Less(file, worst) {
			worst = file
		}
	}
	return against, all, worst
}

func fileAt(p *packages.Package, id *ast.Ident) string {
	return filepath.Base(p.Fset.Position(id.Pos()).Filename)
}

// isLocal reports whether obj lives in a function. Fields and methods do not.
func isLocal(obj types.Object) bool {
	if v, ok := obj.(*types.Var); ok && v.IsField() {
		return false
	}
	if f, ok := obj.(*types.Func); ok && f.Signature().Recv() != nil {
		return false
	}
	return obj.Parent() != obj.Pkg().Scope()
}
