package testkit_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// promptMaker is the file that makes the prompts of turns, and the only one. sampleMaker makes one of constants, for a
// person to try a provider with.
const (
	promptMaker = "internal/observer/turn/load.go"
	sampleMaker = "cmd/cmemd/internal/providers/sample.go"
)

// promptEvents are the events that it may look into: what agents and their users did, and what was kept of it. None says
// how the observer is doing.
func promptEvents() []string {
	return []string{"AgentSaid", "AgentStopped", "ContextCompacted", "ObservationParsed", "PromptSubmitted", "ToolUsed"}
}

// TestPromptsKnowNothingOfHealth: who asks the observer cannot reach a view, a notice or anything else that is made of how
// the observer is doing, and takes from the log only what agents and users did.
func TestPromptsKnowNothingOfHealth(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "../actors", "../internal/observer/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range bytes.Lines(out) {
		name := strings.TrimPrefix(strings.TrimSpace(string(line)), module+"/")
		for _, far := range []string{"projections", "internal/memory/recall", "internal/agents", "internal/api", "internal/replay", "internal/api/mcp"} {
			if name == far || strings.HasPrefix(name, far+"/") {
				t.Errorf("who asks the observer reaches %s", name)
			}
		}
	}
	makers := map[string]bool{}
	for _, dir := range []string{"actors", "internal/observer", "actors/session", "cmd", "internal/api", "internal/memory/recall", "internal/replay", "internal/agents"} {
		eachSource(t, filepath.Join("..", dir), func(path string, file *ast.File) {
			if makesPrompt(file) {
				makers[filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))] = true
			}
		})
	}
	if diff := cmp.Diff(map[string]bool{promptMaker: true, sampleMaker: true}, makers); diff != "" {
		t.Errorf("files that make prompts (-want +got):\n%s", diff)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", filepath.FromSlash(promptMaker)), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if bad := strangeEvents(file); len(bad) > 0 {
		t.Errorf("%s looks into %v", promptMaker, bad)
	}
}

// eachSource calls f for each file below dir that is no test.
func eachSource(t *testing.T, dir string, f func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			f(path, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// makesPrompt reports whether file has a prompt that is not empty.
func makesPrompt(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && len(lit.Elts) > 0 && isSelected(lit.Type, "observer", "Prompt") {
			found = true
		}
		return true
	})
	return found
}

func isSelected(n ast.Expr, pkg, name string) bool {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg && (name == "" || s.Sel.Name == name)
}

// strangeEvents names the events that file turns a payload into, and that are not among promptEvents.
func strangeEvents(file *ast.File) []string {
	var bad []string
	look := func(e ast.Expr) {
		if isSelected(e, "events", "") {
			if name := e.(*ast.SelectorExpr).Sel.Name; !slices.Contains(promptEvents(), name) {
				bad = append(bad, name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			look(n.Type)
		case *ast.CaseClause:
			for _, e := range n.List {
				look(e)
			}
		}
		return true
	})
	return bad
}

// TestPromptGuardsCanFail plants what they look for.
func TestPromptGuardsCanFail(t *testing.T) {
	t.Parallel()
	const planted = `package p
func f(e events.Event) observer.Prompt {
	switch e := e.(type) {
	case events.ToolUsed, %s:
		_ = e
	}
	d, _ := e.(%s)
	return observer.Prompt{%s}
}`
	for _, c := range []struct {
		in, asserted, fields string
		bad                  []string
		makes                bool
	}{
		{"events.AgentStopped", "events.ObservationParsed", "", nil, false},
		{"events.TurnFailed", "events.DaemonDegraded", "Message: d.Why", []string{"TurnFailed", "DaemonDegraded"}, true},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", fmt.Sprintf(planted, c.in, c.asserted, c.fields), 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.bad, strangeEvents(file)); diff != "" || makesPrompt(file) != c.makes {
			t.Errorf("%s: makes one: %t, events (-want +got):\n%s", c.in, makesPrompt(file), diff)
		}
	}
}
