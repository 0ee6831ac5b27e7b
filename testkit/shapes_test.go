package testkit_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// maxMethods is how many methods an interface declares: whoever implements or fakes it can keep them in mind. What reads and what
// writes are interfaces of their own, and a third one embeds both.
const maxMethods = 4

// TestShapes: interfaces are narrow, but for the reading half of the log, which is what all else is built on; and no struct keeps a
// context, but for those of suites, which keep their test's.
func TestShapes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads the types of every package")
	}
	for _, p := range load(t) {
		name := strings.TrimPrefix(p.PkgPath, module+"/")
		suite := p.Imports["testing"] != nil
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				at := filepath.Base(p.Fset.Position(file.Pos()).Filename)
				switch n := n.(type) {
				case *ast.TypeSpec:
					return name != "eventlog" || n.Name.Name != "Reader"
				case *ast.InterfaceType:
					if i, ok := p.TypesInfo.TypeOf(n).(*types.Interface); ok && i.NumExplicitMethods() > maxMethods {
						t.Errorf("%s/%s: an interface declares %d methods, where %d may be", name, at, i.NumExplicitMethods(), maxMethods)
					}
				case *ast.StructType:
					for _, f := range n.Fields.List {
						if keepsContext(p.TypesInfo.TypeOf(f.Type)) && !suite {
							t.Errorf("%s/%s: a struct keeps a context", name, at)
						}
					}
				}
				return true
			})
		}
	}
}

// keepsContext reports whether a value of type t is a context, or holds several of them.
func keepsContext(t types.Type) bool {
	t = types.Unalias(t)
	if m, ok := t.(interface{ Elem() types.Type }); ok { // pointers, slices, arrays, maps, channels
		return keepsContext(m.Elem())
	}
	return types.TypeString(t, nil) == "context.Context"
}

// TestKeptContextsAreFound plants contexts that do not look like one.
func TestKeptContextsAreFound(t *testing.T) {
	t.Parallel()
	pkg := types.NewPackage("context", "context")
	ctx := types.NewNamed(types.NewTypeName(token.NoPos, pkg, "Context", nil), types.NewInterfaceType(nil, nil), nil)
	for name, c := range map[string]struct {
		kept types.Type
		want bool
	}{
		"itself":      {ctx, true},
		"an alias":    {types.NewAlias(types.NewTypeName(token.NoPos, pkg, "alias", nil), ctx), true},
		"a list":      {types.NewSlice(ctx), true},
		"a table":     {types.NewMap(types.Typ[types.String], types.NewPointer(ctx)), true},
		"a function":  {types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(types.NewParam(token.NoPos, pkg, "", ctx)), false), false},
		"other words": {types.NewSlice(types.Typ[types.String]), false},
	} {
		if got := keepsContext(c.kept); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
