package server

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// touching lists what in this package, in capture and in curation touches the file system, and why no path from outside gets there unchecked. Whoever adds
// a call says here what keeps it from being told where to go.
func touching() map[string]string {
	return map[string]string{
		"inject.go inTree os.Lstat":                    "says only whether a file of a row is there; nothing of it is read or told",
		"inject.go askAboutFile os.Stat":               "says only whether a file that its agent is about to read is small; nothing of it is read or told",
		"inject.go askAboutFile filepath.EvalSymlinks": "the same",
		"names.go isFolder os.Stat":                    "says only which working tree a searched path would lie in; nothing in it is read",
		"recheck.go repositoryOf os.Stat":              "the folder that a session worked in, looked at only to run git in it as the person",
		"remarks.go read durable.OpenRegular":          "the transcript that a hook names: only texts in its agent's own form, of the hook's own session, are taken",
		"projects.go projectInfo os.Lstat":             "says only whether a folder is there that is a project's",
		"registry.go lookAtNamed os.Lstat":             "says only whether a folder is there that sessions worked in",
		"remarks.go read os.SameFile":                  "compares two looks at that file",
		"last_hook.go LastReported os.Stat":            "a file of the home by the name of an agent that is known",
		"last_hook.go noteReported os.MkdirAll":        "a folder of the home",
		"last_hook.go noteReported os.WriteFile":       "a file of the home by the name of an agent that is known",
		"last_hook.go noteReported os.Chtimes":         "the same",
	}
}

// TestPathsFromOutside finds each call by which this package, capture or curation touches the file system.
func TestPathsFromOutside(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	for _, below := range []string{"../../capture/*.go", "../../memory/curation/*.go"} {
		more, moreErr := filepath.Glob(below)
		if files, err = append(files, more...), errors.Join(err, moreErr); len(more) < 5 {
			t.Errorf("%s are %d files", below, len(more))
		}
	}
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	got := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if call := touches(n); call != "" {
					key := filepath.Base(name) + " " + f.Name.Name + " " + call
					got[key] = touching()[key]
				}
				return true
			})
		}
	}
	if diff := cmp.Diff(touching(), got); diff != "" {
		t.Errorf("what touches the file system (-listed +found):\n%s", diff)
	}
}

// touches is the call by which a node touches the file system, or "".
func touches(n ast.Node) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	switch call := pkg.Name + "." + sel.Sel.Name; {
	case pkg.Name == "exec", pkg.Name == "durable":
		return call
	case pkg.Name == "filepath":
		switch sel.Sel.Name {
		case "EvalSymlinks", "Glob", "Walk", "WalkDir":
			return call
		}
	case pkg.Name == "os":
		switch sel.Sel.Name {
		case "IsNotExist", "ErrNotExist", "FileMode", "FileInfo", "File", "PathError", "Getpid", "ErrDeadlineExceeded":
			return ""
		}
		return call
	}
	return ""
}
