package testkit_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/known"
)

// TestNobodyAsksForAnAgent: what is known of one agent stands in package known and in its decoder. A comparison with the name of
// one, anywhere else, would be a thing that nobody thinks of when an agent is added.
func TestNobodyAsksForAnAgent(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	eachSource(t, root, func(path string, file *ast.File) {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		if dir := filepath.ToSlash(filepath.Dir(rel)); dir == "internal/agents" || dir == "internal/agents/known" {
			return
		}
		for _, name := range agentsAskedFor(file) {
			t.Errorf("%s asks for the agent %q: what is known of it belongs into internal/agents/known", rel, name)
		}
	})
	const planted = "package p\n\nfunc f(a string) bool { switch a { case \"codex\": return true }; return a == \"zed\" || map[string]bool{\"opencode\": true}[a] }\n"
	if got := agentsAskedFor(parse(t, token.NewFileSet(), "planted.go", planted)); len(got) != 3 {
		t.Errorf("in a planted file found %q, want three", got)
	}
}

// agentsAskedFor are the names of agents that a file compares with: in cases, comparisons and the keys of tables.
func agentsAskedFor(file *ast.File) (names []string) {
	ask := func(all ...ast.Expr) {
		for _, e := range all {
			lit, _ := e.(*ast.BasicLit)
			if lit == nil || lit.Kind != token.STRING {
				continue
			}
			name := strings.Trim(lit.Value, "\"`")
			_, known := known.ByName(name)
			if known && name != "cursor" && name != "raw" { // which are words for other things too
				names = append(names, name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			ask(n.List...)
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				ask(n.X, n.Y)
			}
		case *ast.KeyValueExpr:
			ask(n.Key)
		}
		return true
	})
	return names
}

// TestAgentsAreKnown: who has a decoder is known, and who is known to have hooks or transcripts has one.
func TestAgentsAreKnown(t *testing.T) {
	t.Parallel()
	for _, name := range agents.Names() {
		if _, ok := known.ByName(name); !ok {
			t.Errorf("%s has a decoder, and package known does not know it", name)
		}
	}
	for _, a := range known.All() {
		decoder, err := agents.ByName(a.Name)
		if err != nil && (a.Hooks.File != "" || len(a.OpenEvents) > 0) {
			t.Errorf("%s reports, and has no decoder: %v", a.Name, err)
		}
		if _, ok := decoder.(agents.Historian); !ok && len(a.Transcripts) > 0 {
			t.Errorf("%s has transcripts that nobody reads", a.Name)
		}
		if got := agents.Script(a.Name); (got != nil) != a.Hooks.Script {
			t.Errorf("%s: its decoder's script is %q", a.Name, got)
		}
	}
}
