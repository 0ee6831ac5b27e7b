package testkit_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pure are the packages whose functions give equal results for equal arguments.
func pure() []string { return []string{"events", "actors/policy", "actors/provider", "actors/session"} }

// impureImports are packages, with all below them, of clocks, randomness, environment, I/O and concurrency.
func impureImports() []string {
	return []string{
		"os", "io/fs", "io/ioutil", "embed", "net", "syscall", "unsafe", "plugin", "context", "sync", "runtime", "math/rand", "crypto/rand",
		"log", "flag", "testing", "expvar", "path/filepath", "database", "golang.org/x/sys", "golang.org/x/term", "go.etcd.io/bbolt",
	}
}

// impureSelectors are what the other packages offer of the same, by import path.
func impureSelectors() map[string][]string {
	return map[string][]string{
		"time": {
			"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker", "Timer", "Ticker", "Local", "LoadLocation",
		},
		"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		"github.com/google/uuid": {
			"New", "NewString", "NewRandom", "NewRandomFromReader", "NewUUID", "NewV6", "NewV7", "NewV7FromReader", "SetRand", "SetNodeID",
			"SetNodeInterface", "EnableRandPool", "DisableRandPool", "ClockSequence", "GetTime",
		},
		"log/slog": {
			"Default", "SetDefault", "SetLogLoggerLevel", "New", "NewLogLogger", "NewTextHandler", "NewJSONHandler", "NewMultiHandler",
			"With", "Debug", "DebugContext", "Info", "InfoContext", "Warn", "WarnContext", "Error", "ErrorContext", "Log", "LogAttrs",
			"Logger", "Handler", "LevelVar",
		},
		"hash/maphash": {"MakeSeed", "Comparable", "String", "Bytes", "Hash"},
	}
}

func isImpure(path string) bool {
	if path == "log/slog" { // for what a value is logged as; who logs is found by its selectors
		return false
	}
	return slices.ContainsFunc(impureImports(), func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// impurities returns what in file is not pure, as "line: what".
func impurities(fset *token.FileSet, file *ast.File) (out []string) {
	say := func(n ast.Node, format string, args ...any) {
		out = append(out, fmt.Sprintf("%d: %s", fset.Position(n.Pos()).Line, fmt.Sprintf(format, args...)))
	}
	names := map[string]string{} // of imports in this file
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		name := importName(spec, path)
		names[name] = path
		if isImpure(path) || name == "." {
			say(spec, "imports %s", path)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			say(n, "starts a goroutine")
		case *ast.SelectStmt:
			say(n, "selects")
		case *ast.ChanType:
			say(n, "has a channel")
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				say(n, "has an init")
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				say(n, "calls %s", f.Name)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(impureSelectors()[names[x.Name]], n.Sel.Name) {
				say(n, "uses %s.%s", names[x.Name], n.Sel.Name)
			}
		}
		return true
	})
	return out
}

func importName(spec *ast.ImportSpec, path string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// TestPureCore: events and actors/{policy,provider,session} have no clock, randomness, environment, I/O, context or goroutine.
func TestPureCore(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	for _, pkg := range pure() {
		entries, err := os.ReadDir(filepath.Join(root, pkg))
		if errors.Is(err, fs.ErrNotExist) {
			t.Logf("%s does not exist", pkg)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if name := filepath.Join(root, pkg, e.Name()); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				checkPure(t, pkg+"/"+e.Name(), name)
			}
		}
	}
}

func checkPure(t *testing.T, shown, name string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("%s: %v", shown, err)
		return
	}
	for _, i := range impurities(fset, file) {
		t.Errorf("%s:%s", shown, i)
	}
}

// TestImpuritiesAreFound plants one of each.
func TestImpuritiesAreFound(t *testing.T) {
	t.Parallel()
	const source = `package p
import (
	"context"
	clock "time"
	"fmt"
	. "strings"
	"math/rand/v2"
	"github.com/google/uuid"
	"sync/atomic"
)
func init() {}
func f(c chan int) {
	go f(c)
	select {}
	_ = clock.Now()
	_ = clock.Since(clock.Time{}) + clock.Second
	wait := clock.Sleep
	fmt.Println(fmt.Sprint(1))
	println(1)
	_ = uuid.Must(uuid.NewV7())
	_ = uuid.NewSHA1(uuid.Nil, nil)
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"3: imports context", "6: imports strings", "7: imports math/rand/v2", "9: imports sync/atomic", "11: has an init",
		"12: has a channel", "13: starts a goroutine", "14: selects", "15: uses time.Now", "16: uses time.Since", "17: uses time.Sleep",
		"18: uses fmt.Println", "19: calls println", "20: uses github.com/google/uuid.NewV7",
	}
	if diff := cmp.Diff(want, impurities(fset, file)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	const clean = "package p\nimport \"time\"\nfunc f(t time.Time) time.Duration { return t.Sub(time.Unix(0, 0)) }\n"
	file, err = parser.ParseFile(fset, "clean.go", clean, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := impurities(fset, file); len(got) != 0 {
		t.Errorf("a pure file is not: %q", got)
	}
}
