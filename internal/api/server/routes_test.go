package server

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/api"
)

// TestEveryRouteIsDescribed: its value says in one line what it answers, and who may ask.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	for pattern, e := range newWorld(t, nil).server.endpoints {
		if e.Doc == "" || strings.ContainsAny(e.Doc, "\n") || len(e.Doc) > 100 {
			t.Errorf("%s is described as %q, want one line", pattern, e.Doc)
		}
		if e.Scope == 0 {
			t.Errorf("%s may be asked by anybody", pattern)
		}
	}
}

// TestEveryRouteIsBound: what package api declares is answered, and nothing else; no pattern is declared twice.
func TestEveryRouteIsBound(t *testing.T) {
	t.Parallel()
	endpoints := newWorld(t, nil).server.endpoints
	declared := declaredRoutes(t)
	if len(declared) < 30 {
		t.Fatalf("found only %d routes in package api", len(declared))
	}
	for i, pattern := range declared {
		if slices.Contains(declared[:i], pattern) {
			t.Errorf("%s is declared twice", pattern)
		}
		if _, bound := endpoints[pattern]; !bound {
			t.Errorf("%s is declared and bound to nothing", pattern)
		}
	}
	for pattern := range endpoints {
		if !slices.Contains(declared, pattern) {
			t.Errorf("%s is bound and not declared", pattern)
		}
	}
}

// declaredRoutes are the patterns of the variables in package api that are named as routes. A variable that is another route
// with other types, and not a value of its own, has none.
func declaredRoutes(t *testing.T) (patterns []string) {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && strings.HasSuffix(spec.Names[0].Name, "Route") {
				patterns = append(patterns, declaredPattern(t, spec)...)
			}
			return true
		})
	}
	return patterns
}

// declaredPattern is the pattern of a route's declaration; none where it converts another route.
func declaredPattern(t *testing.T, spec *ast.ValueSpec) []string {
	t.Helper()
	name := spec.Names[0].Name
	if call, ok := spec.Values[0].(*ast.CallExpr); ok && len(call.Args) == 1 {
		return nil
	}
	value, ok := spec.Values[0].(*ast.CompositeLit)
	if !ok || len(value.Elts) != 4 {
		t.Errorf("%s is no value with a method, a path, a scope and a line that says what it answers", name)
		return nil
	}
	method, _ := value.Elts[0].(*ast.Ident)
	path, _ := value.Elts[1].(*ast.BasicLit)
	methods := map[string]string{"get": http.MethodGet, "post": http.MethodPost, "del": http.MethodDelete}
	if method == nil || path == nil || methods[method.Name] == "" {
		t.Errorf("%s has a method or a path that is not written out", name)
		return nil
	}
	text, err := strconv.Unquote(path.Value)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return []string{methods[method.Name] + " " + text}
}

// TestARouteIsBoundOnce: of two objects that answer the same route none wins in silence.
func TestARouteIsBoundOnce(t *testing.T) {
	t.Parallel()
	s := newWorld(t, nil).server
	if _, err := endpointsOf(&s.dispatcher, &searches{&s.sources}, &exports{&s.sources}, &searches{&s.sources}); err == nil {
		t.Error("a route was bound twice")
	}
}

// TestParametersThatCannotBeDecoded: each route that reads parameters refuses them by name, and lists nothing.
func TestParametersThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for pattern, e := range w.server.endpoints {
		if e.Method != http.MethodGet || !strings.HasPrefix(e.Path, "/v1/") { // probes read none
			continue
		}
		path := regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(e.Path, "1")
		for query, name := range map[string]string{"q=%zz": "q", "limit=1&q=1;2": "q", "%zz=1": "%zz"} {
			res, err := w.overSocket().Get("http://cmemd" + path + "?" + query)
			if err != nil {
				t.Fatal(err)
			}
			var p api.Problem
			err = json.NewDecoder(res.Body).Decode(&p)
			_ = res.Body.Close()
			says := slices.ContainsFunc(p.Errors, func(f api.FieldError) bool {
				return f.Pointer == name && strings.HasPrefix(f.Detail, "cannot be decoded: ")
			})
			if err != nil || res.StatusCode != http.StatusBadRequest || !says {
				t.Errorf("%s?%s: got %d, %+v, %v", pattern, query, res.StatusCode, p, err)
			}
		}
	}
}
