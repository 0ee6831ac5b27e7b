package projections

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// allKinds reads the constants of type Kind from the source of package events, so that a new one cannot be missed.
func allKinds(t *testing.T) []events.Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../events/kinds.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []events.Kind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		named, ok := spec.Type.(*ast.Ident)
		if lit, isLit := spec.Values[0].(*ast.BasicLit); ok && isLit && named.Name == "Kind" {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, events.Kind(text))
		}
		return true
	})
	if len(kinds) < 29 {
		t.Fatalf("got %d kinds, want at least 29", len(kinds))
	}
	return kinds
}
