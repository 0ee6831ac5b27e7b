package observer

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// grammarFiles parses the files that judge outputs.
func grammarFiles(t *testing.T) []*ast.File {
	t.Helper()
	names, err := filepath.Glob("grammar*.go")
	if err != nil {
		t.Fatal(err)
	}
	names = append(names, "structured.go")
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if len(files) < 5 {
		t.Fatalf("files of the grammar: got %d, want at least 5", len(files))
	}
	return files
}

// TestGrammarKnowsNoPhrases lists every word that the grammar has: names of tags, of entities, and its own verdicts.
// A word that is none of these would be one that it looks for in what a model said.
func TestGrammarKnowsNoPhrases(t *testing.T) {
	t.Parallel()
	vocabulary := strings.Fields(`
		observation summary skip_summary reason think thinking CDATA
		type title subtitle narrative facts fact concepts concept files_read files_modified file
		request investigated learned completed next_steps notes
		lt gt amp quot apos
		observations skip dropped ok empty no_xml missing_summary malformed idle xml prose unknown
		null`)
	for _, f := range grammarFiles(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				return n.Tag == nil
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				for _, w := range literalWords(t, n) {
					if !slices.Contains(vocabulary, w) {
						t.Errorf("%s has the word %q in %s", f.Name, w, n.Value)
					}
				}
			}
			return true
		})
	}
}

// literalWords are the words of a string literal; other literals have none.
func literalWords(t *testing.T, lit *ast.BasicLit) []string {
	t.Helper()
	if lit.Kind != token.STRING {
		return nil
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
}

// TestGrammarImportsNoMatchers keeps what could read words, or the world, out of the grammar.
func TestGrammarImportsNoMatchers(t *testing.T) {
	t.Parallel()
	allowed := []string{
		"encoding/json", "html", "iter", "slices", "strconv", "strings", "unicode", "unicode/utf8",
		"github.com/rivo/uniseg", "github.com/cmemd/cmemd/events",
	}
	for _, f := range grammarFiles(t) {
		for _, imp := range f.Imports {
			if path, err := strconv.Unquote(imp.Path.Value); err != nil || !slices.Contains(allowed, path) {
				t.Errorf("the grammar imports %s, %v", imp.Path.Value, err)
			}
		}
	}
}
