// Command vet type-checks and vets the module as it is built for other systems: vet GOOS...
//
// It reads the packages of others from source and passes over the bodies of their functions, so that nothing is compiled for a system
// on which nothing will run here: `GOOS=windows go vet ./...` compiles some 600 packages first.
// What it cannot see is what only a linker or a compiler's back end refuses.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/loopclosure"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
	"golang.org/x/tools/go/packages"
)

var analyzers = []*analysis.Analyzer{
	appends.Analyzer, assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer, composite.Analyzer, copylock.Analyzer,
	defers.Analyzer, directive.Analyzer, errorsas.Analyzer, httpresponse.Analyzer, ifaceassert.Analyzer, loopclosure.Analyzer,
	lostcancel.Analyzer, nilfunc.Analyzer, printf.Analyzer, shift.Analyzer, sigchanyzer.Analyzer, slog.Analyzer,
	stdmethods.Analyzer, stringintconv.Analyzer, structtag.Analyzer, testinggoroutine.Analyzer, tests.Analyzer,
	timeformat.Analyzer, unmarshal.Analyzer, unreachable.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer, waitgroup.Analyzer,
}

func main() {
	failed := false
	for _, goos := range os.Args[1:] {
		if err := vet(goos); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", goos, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// vet looks at the packages below the working directory as they are built for goos.
func vet(goos string) error {
	module, err := os.Getwd()
	if err != nil {
		return err
	}
	roots, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule,
		Env:   append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0"),
		Tests: true,
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			if strings.HasPrefix(name, module) {
				return parser.ParseFile(fset, name, src, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
			}
			file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
			if file != nil {
				dropBodies(file)
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return err
	}
	if n := printErrors(roots); n > 0 {
		return fmt.Errorf("%d errors", n)
	}
	// An import that only a dropped body used is an error in a package of others, and none that counts.
	packages.Visit(roots, nil, func(p *packages.Package) { p.IllTyped = false })
	graph, err := checker.Analyze(analyzers, ours(roots), nil)
	if err != nil {
		return err
	}
	return findings(graph)
}

func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}

// ours is roots without the mains that go test generates.
func ours(roots []*packages.Package) []*packages.Package {
	var kept []*packages.Package
	for _, p := range roots {
		if !strings.HasSuffix(p.PkgPath, ".test") {
			kept = append(kept, p)
		}
	}
	return kept
}

func printErrors(roots []*packages.Package) int {
	n := 0
	for _, p := range ours(roots) {
		for _, err := range p.Errors {
			fmt.Fprintln(os.Stderr, err)
			n++
		}
	}
	return n
}

func findings(graph *checker.Graph) error {
	n := 0
	for act := range graph.All() {
		if !act.IsRoot {
			continue
		}
		if act.Err != nil {
			return fmt.Errorf("%s: %w", act, act.Err)
		}
		for _, d := range act.Diagnostics {
			fmt.Fprintf(os.Stderr, "%s: %s\n", act.Package.Fset.Position(d.Pos), d.Message)
			n++
		}
	}
	if n > 0 {
		return fmt.Errorf("%d findings", n)
	}
	return nil
}
