package events_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// TestFailureClassesListsThemAll reads the constants of the type from the source, so that a new one cannot be left out.
func TestFailureClassesListsThemAll(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "kinds.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var want []events.FailureClass
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "FailureClass" {
			return true
		}
		for _, v := range spec.Values {
			s, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, events.FailureClass(s))
		}
		return true
	})
	if len(want) < 14 {
		t.Fatalf("constants found: %v", want)
	}
	want = slices.DeleteFunc(want, func(c events.FailureClass) bool { return c == events.FailNoYield }) // no turn fails by it
	if diff := cmp.Diff(want, events.FailureClasses()); diff != "" {
		t.Errorf("-source +list:\n%s", diff)
	}
}

func TestEveryFailureClassBlamesExactlyOne(t *testing.T) {
	t.Parallel()
	for _, c := range events.FailureClasses() {
		n := 0
		for _, blamed := range []bool{c.BlamesProvider(), c.BlamesTurn(), c.BlamesObserver()} {
			if blamed {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s blames %d, want one", c, n)
		}
	}
}
