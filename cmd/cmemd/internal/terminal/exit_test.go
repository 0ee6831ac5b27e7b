package terminal

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/api"
)

func TestDescribeWithoutPackages(t *testing.T) {
	t.Parallel()
	inner := errors.New("eventlog: it is closed")
	problem := &api.Problem{Status: 400, Errors: []api.FieldError{{Pointer: "session", Detail: "is no id"}}}
	for want, err := range map[string]error{
		"it is closed":                         fmt.Errorf("api: %w", inner),
		"append to s: eventlog: it is closed":  fmt.Errorf("actors: append to s: %w", inner),
		"header: it is short":                  errors.New("eventlog: header: it is short"),
		"open /x: there is none":               errors.New("open /x: there is none"),
		"config.toml:3: slots = 0 is too few":  errors.New("config.toml:3: slots = 0 is too few"),
		"claude-cli: it ended":                 errors.New("claude-cli: it ended"),
		"the file is held":                     Advise(errors.New("relay: the file is held"), "wait"),
		"x is damaged: eventlog: it is closed": fmt.Errorf("x is damaged: %w", inner),
		"demo: hook: it is closed":             fmt.Errorf("demo: %w", fmt.Errorf("hook: %w", errors.New("it is closed"))),
		`exec: "git": not found`:               &exec.Error{Name: "git", Err: errors.New("not found")},
		"session: is no id (400)":              problem,
		"session: is no id (400)\nand more":    errors.Join(problem, errors.New("and more")),
		"session: is no id (400) of x":         fmt.Errorf("api: %w of x", problem),
	} {
		if got := Describe(err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

// TestPackageNames has packageNames hold each name of a folder that a text in it begins with, before a colon, and no other.
func TestPackageNames(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..", "..")
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, err = filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" || path == "cmd" || path == "testkit" || path != "." && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			return namesIn(root, path, names)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := slices.Sorted(maps.Keys(names)); !slices.Equal(packageNames, want) {
		t.Errorf("packageNames is to be %q, is %q", want, packageNames)
	}
}

// namesIn adds to names the folders of a file that its texts begin with.
func namesIn(root, path string, names map[string]bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, 0)
	if err != nil {
		return err
	}
	folders := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	ast.Inspect(file, func(n ast.Node) bool {
		text, ok := n.(*ast.BasicLit)
		if !ok || text.Kind != token.STRING {
			return true
		}
		value, _ := strconv.Unquote(text.Value)
		if name, _, found := strings.Cut(value, ": "); found && slices.Contains(folders, name) {
			names[name] = true
		}
		return true
	})
	return nil
}
