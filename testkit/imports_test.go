package testkit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/cmemd/cmemd"

// table says what of ours each package may import: the drawing in ARCHITECTURE.md as data. A package below one of
// these follows its row, and may import the packages of that row. What has no row may not exist.
func table() map[string][]string {
	below := []string{"projections", "projections/engine", "projections/vectors", "internal/observer", "internal/observer/evidence", "actors/provider", "actors/session", "eventlog", "actors/policy", "events", "internal/durable", "internal/fence", "internal/jsonscan", "internal/number", "internal/order", "internal/sentence", "internal/sleep", "internal/toolinput", "internal/transient"}
	faces := append([]string{"actors", "internal/observer/turn", "internal/memory/erasure", "internal/replay", "internal/memory/recall", "internal/agents", "internal/agents/relay", "internal/agents/spool", "internal/capture/privacy", "internal/capture", "internal/clip", "internal/refusal", "internal/memory/curation", "internal/panics", "internal/agents/importer", "internal/redact", "internal/redact/full", "projections/vectors/embed"}, below...)
	return map[string][]string{
		"internal/setting":          {"events", "actors/policy", "actors/session", "actors/provider", "internal/observer"},
		"projections/vectors":       {"projections", "projections/engine", "actors/policy", "events", "eventlog", "internal/clip", "internal/durable", "internal/sleep", "internal/transient"},
		"projections/vectors/embed": {"projections/vectors", "internal/observer", "events"},

		"internal/durable":                   {},
		"internal/filelock":                  {},
		"internal/owned":                     {},
		"internal/peer":                      {},
		"internal/privatetext":               {"internal/jsonscan"},
		"internal/seal":                      {"internal/durable", "internal/owned"},
		"internal/jsonscan":                  {},
		"internal/fence":                     {"internal/harness"},
		"internal/harness":                   {},
		"internal/sentence":                  {},
		"internal/sleep":                     {},
		"internal/preference":                {"internal/sentence"},
		"internal/transient":                 {},
		"internal/panics":                    {},
		"internal/clip":                      {},
		"internal/number":                    {},
		"internal/order":                     {},
		"internal/refusal":                   {"actors", "eventlog", "events", "internal/agents", "internal/transient"},
		"internal/toolinput":                 {},
		"internal/process":                   {},
		"internal/release":                   {},
		"internal/tomledit":                  {},
		"internal/sqlite":                    {},
		"internal/boltcheck":                 {},
		"events":                             {},
		"actors/policy":                      {"events"},
		"actors/provider":                    {"events", "actors/policy", "actors/session"},
		"actors/session":                     {"events", "actors/policy"},
		"eventlog":                           {"events", "internal/boltcheck", "internal/durable", "internal/filelock", "internal/transient"},
		"eventlog/salvage":                   {"eventlog", "events", "internal/boltcheck", "internal/durable"},
		"eventlog/share":                     {"eventlog", "eventlog/share/segment", "eventlog/share/space", "eventlog/share/store", "eventlog/union", "events", "internal/durable", "internal/transient"},
		"eventlog/share/segment":             {"events"},
		"eventlog/share/space":               {"eventlog/share/store", "events", "internal/durable", "internal/owned", "internal/transient"},
		"eventlog/share/store":               {"internal/durable", "internal/filelock", "internal/sleep", "internal/transient"},
		"eventlog/union":                     {"eventlog", "events", "internal/durable", "internal/transient"},
		"internal/observer/evidence":         {"events", "internal/process", "internal/jsonscan", "internal/sentence", "internal/toolinput"},
		"internal/observer":                  {"events", "internal/process", "internal/tomledit", "actors/policy", "internal/observer/evidence", "internal/clip", "internal/durable", "internal/harness", "internal/jsonscan", "internal/number", "internal/sentence", "internal/sleep", "internal/toolinput"},
		"projections":                        {"projections/engine", "actors/session", "internal/boltcheck", "events", "eventlog", "internal/clip", "internal/durable", "internal/jsonscan", "internal/order", "internal/toolinput", "internal/transient"},
		"projections/engine":                 {"internal/boltcheck", "events", "eventlog", "internal/durable", "internal/filelock", "internal/transient"},
		"internal/agents":                    {"events", "actors/session", "internal/observer/evidence", "internal/agents/known", "internal/agents/relay", "internal/clip", "internal/harness", "internal/jsonscan", "internal/privatetext", "internal/toolinput"},
		"internal/agents/known":              {},
		"internal/agents/relay":              {"internal/agents/known", "internal/agents/spool", "internal/durable", "internal/filelock", "internal/ignore", "internal/jsonscan", "internal/owned", "internal/toolinput"},
		"internal/agents/spool":              {"internal/agents/known", "internal/durable", "internal/ignore", "internal/jsonscan", "internal/privatetext", "internal/seal", "internal/toolinput"},
		"internal/capture":                   {"actors", "actors/session", "events", "eventlog", "internal/agents", "internal/agents/importer", "internal/agents/spool", "internal/agents/watch", "internal/capture/privacy", "projections", "projections/engine", "internal/durable", "internal/observer/evidence", "internal/panics", "internal/preference", "internal/refusal", "internal/transient"},
		"internal/capture/privacy":           {"internal/redact", "internal/clip", "internal/durable", "internal/ignore", "internal/jsonscan", "internal/privatetext", "internal/toolinput"},
		"internal/ignore":                    {},
		"internal/agents/importer":           {"events", "actors/session", "internal/observer/evidence", "internal/agents"},
		"internal/agents/importer/claudemem": {"internal/agents/importer", "internal/agents/known", "internal/sqlite"},
		"internal/agents/install":            {"internal/tomledit", "internal/agents", "internal/agents/known", "internal/durable", "internal/jsonscan"},
		"internal/agents/watch":              {"eventlog", "internal/durable"},
		"internal/redact":                    {},
		"internal/redact/full":               {"internal/redact"},
		"internal/memory/recall":             append([]string{"internal/clip"}, below...),
		"internal/memory/erasure":            below,
		"internal/memory/curation":           append([]string{"actors", "internal/agents/spool", "internal/api", "internal/clip", "internal/memory/erasure", "internal/privatetext", "internal/refusal", "internal/replay"}, below...),
		"internal/replay":                    append([]string{"internal/setting"}, below...),
		"actors":                             append([]string{"internal/clip", "internal/observer/turn"}, below...),
		"internal/observer/turn":             {"events", "actors/session", "eventlog", "internal/clip", "internal/observer", "internal/observer/evidence", "internal/order", "internal/sentence"},
		"internal/api":                       append([]string{"eventlog/share", "actors", "internal/capture", "internal/replay", "internal/memory/erasure", "internal/memory/recall", "internal/agents/importer"}, below...),
		"internal/api/signin":                {"internal/api", "internal/durable"},
		"internal/api/idempotency":           {},
		"internal/api/stream":                {"internal/api"},
		"internal/api/client":                {"internal/api", "internal/agents/relay", "events"},
		"internal/api/server":                append([]string{"internal/api", "internal/api/idempotency", "internal/api/signin", "internal/api/stream", "internal/peer"}, faces...),
		"internal/api/viewer":                {"internal/replay"},
		"internal/api/mcp":                   {"internal/api", "internal/agents", "internal/fence", "internal/number", "internal/panics", "events"},
		"cmd/cmemd":                          append([]string{"internal/setting", "internal/sqlite", "internal/tomledit", "internal/filelock", "internal/owned", "internal/process", "internal/release", "internal/peer", "internal/api", "internal/api/client", "internal/api/server", "internal/api/signin", "internal/api/viewer", "internal/api/mcp", "eventlog/salvage", "eventlog/share", "eventlog/share/segment", "eventlog/share/space", "eventlog/share/store", "eventlog/union", "internal/agents/importer/claudemem", "internal/agents/install", "internal/agents/known", "internal/agents/watch"}, faces...),
		"cmd/cmemd-hook":                     {"internal/agents/relay", "internal/release"},
		"cmd/cmemd-hub":                      {"eventlog", "eventlog/share/store", "internal/durable", "internal/filelock", "internal/owned", "internal/release"},
		"cmd/cmemd-sqlite":                   {},
		"release":                            {},
		"testkit":                            append([]string{"eventlog/union"}, faces...),
		"testkit/browser":                    {},
		"testkit/sqlite":                     {"internal/sqlite"},
		"testkit/storetest":                  {"eventlog/share/store", "internal/transient"},
		"testkit/person":                     {"internal/agents/known"},
		"testkit/programs":                   {"testkit/person"},
		"testkit/daemon":                     {"internal/api", "internal/api/client"},
		"testkit/memory":                     {"events", "internal/observer", "internal/api", "internal/api/client", "internal/sleep", "testkit/daemon"},
		"testkit/retrieval":                  append([]string{"internal/api", "internal/api/client", "internal/api/server", "testkit", "testkit/daemon"}, faces...),
	}
}

// standardOnly are the packages that agents start at every tool call: each dependency costs them at every start.
func standardOnly() []string {
	return []string{"internal/agents/known", "internal/agents/relay", "internal/agents/spool", "internal/ignore", "cmd/cmemd-hook", "internal/durable", "internal/filelock", "internal/owned", "internal/privatetext", "internal/seal", "internal/jsonscan", "internal/toolinput", "internal/transient", "internal/release"}
}

// listed is a package as the go command lists it; tests' own imports are not among Imports.
type listed struct {
	ImportPath string
	Imports    []string
}

// violations returns what breaks the table, sorted.
func violations(table map[string][]string, pkgs []listed) (out []string) {
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		row, ok := rowOf(table, name)
		if !ok {
			out = append(out, fmt.Sprintf("%s has no row in the table", name))
			continue
		}
		for _, imported := range p.Imports {
			if why := refused(table, name, row, imported); why != "" {
				out = append(out, fmt.Sprintf("%s imports %s: %s", name, strings.TrimPrefix(imported, module+"/"), why))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// refused says why name, which follows row, may not import a package; "" if it may.
func refused(table map[string][]string, name, row, imported string) string {
	ours, isOurs := strings.CutPrefix(imported, module+"/")
	switch {
	case !isOurs && strings.Contains(strings.Split(imported, "/")[0], ".") && slices.Contains(standardOnly(), row):
		return "it may import the standard library only"
	case strings.HasPrefix(imported, "github.com/asynkron/protoactor-go/") && imported != "github.com/asynkron/protoactor-go/actor":
		return "of protoactor only the package actor is used"
	case !isOurs:
		return ""
	}
	target, ok := rowOf(table, ours)
	switch {
	case !ok:
		return "that has no row in the table"
	case target == "testkit" && !strings.HasPrefix(name, "testkit"):
		return "only tests import the testkit"
	case target == row && !slices.Contains(standardOnly(), row), slices.Contains(table[row], target):
		return ""
	}
	return "its row does not list it"
}

// rowOf is the longest key of the table that is name or a folder above it.
func rowOf(table map[string][]string, name string) (row string, ok bool) {
	for key := range table {
		if (name == key || strings.HasPrefix(name, key+"/")) && len(key) > len(row) {
			row, ok = key, true
		}
	}
	return row, ok
}

func TestImportsPointDown(t *testing.T) {
	root := moduleRoot(t)
	touch(t, root)
	for _, goos := range []string{"linux", "darwin", "windows"} {
		pkgs := list(t, root, goos)
		if !slices.ContainsFunc(pkgs, func(p listed) bool { return p.ImportPath == module+"/events" }) {
			t.Fatalf("%s: events is not among the %d packages found", goos, len(pkgs))
		}
		for _, v := range violations(table(), pkgs) {
			t.Errorf("%s: %s", goos, v)
		}
	}
	for _, dir := range ownModules() {
		pkgs := parsed(t, root, dir)
		if len(pkgs) == 0 {
			t.Errorf("%s has no file", dir)
		}
		for _, v := range violations(table(), pkgs) {
			t.Error(v)
		}
	}
}

// ownModules are the folders that are modules of their own, for what they link. The go command does not list them with the others.
func ownModules() []string { return []string{"cmd/cmemd-hub", "cmd/cmemd-sqlite", "release"} }

// parsed lists the packages below a folder by their files, on whichever system these are for.
func parsed(t *testing.T, root, dir string) (out []listed) {
	t.Helper()
	eachSource(t, filepath.Join(root, filepath.FromSlash(dir)), func(path string, file *ast.File) {
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		p := listed{ImportPath: module + "/" + filepath.ToSlash(rel)}
		for _, spec := range file.Imports {
			p.Imports = append(p.Imports, strings.Trim(spec.Path.Value, `"`))
		}
		out = append(out, p)
	})
	return out
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Skipf("the module is not around this test: %v", err)
	}
	return root
}

// touch looks at every Go file, so that the go command, which caches results of tests by the files that they open
// themselves, runs this one again when any of them changes.
func touch(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			_, err := os.Stat(path)
			return err
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file may go while we look
		t.Fatal(err)
	}
}

func list(t *testing.T, root, goos string) (out []listed) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not installed")
	}
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", "./...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	for dec := json.NewDecoder(bytes.NewReader(b)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
}

// TestViolationsAreFound plants what the table forbids.
func TestViolationsAreFound(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pkg, imported string
		want          string
	}{
		{"events", "actors/session", "events imports actors/session: its row does not list it"},
		{"actors/policy", "events", ""},
		{"actors/policy", "actors/session", "actors/policy imports actors/session: its row does not list it"},
		{"actors/session", "eventlog", "actors/session imports eventlog: its row does not list it"},
		{"projections", "actors", "projections imports actors: its row does not list it"},
		{"projections/index", "projections", ""},
		{"projections/rows", "projections/engine", ""},
		{"projections/engine", "projections/rows", "projections/engine imports projections/rows: its row does not list it"},
		{"projections/vectors", "internal/observer/model", "projections/vectors imports internal/observer/model: its row does not list it"},
		{"projections/vectors/embed", "internal/observer/model", ""},
		{"projections/index", "eventlog", ""},
		{"projections/index", "internal/observer", "projections/index imports internal/observer: its row does not list it"},
		{"internal/observer", "internal/observer/extractive", ""},
		{"internal/observer/extractive", "internal/observer", ""},
		{"internal/observer/extractive", "internal/observer/evidence", ""},
		{"internal/observer/extractive", "actors/session", "internal/observer/extractive imports actors/session: its row does not list it"},
		{"internal/memory/recall", "actors", "internal/memory/recall imports actors: its row does not list it"},
		{"internal/replay", "internal/memory/recall", "internal/replay imports internal/memory/recall: its row does not list it"},
		{"actors", "internal/agents/relay", "actors imports internal/agents/relay: its row does not list it"},
		{"internal/agents", "internal/agents/relay", ""},
		{"internal/agents/relay", "internal/agents", "internal/agents/relay imports internal/agents: its row does not list it"},
		{"internal/agents/relay", "internal/capture/privacy", "internal/agents/relay imports internal/capture/privacy: its row does not list it"},
		{"internal/capture/privacy", "internal/redact", ""},
		{"internal/agents/relay", "internal/redact/full", "internal/agents/relay imports internal/redact/full: its row does not list it"},
		{"internal/redact", "internal/agents/relay", "internal/redact imports internal/agents/relay: its row does not list it"},
		{"internal/redact/full", "internal/redact", ""},
		{"internal/agents/relay", "events", "internal/agents/relay imports events: its row does not list it"},
		{"internal/agents/relay/spool", "internal/agents/relay", "internal/agents/relay/spool imports internal/agents/relay: its row does not list it"},
		{"internal/api", "internal/api/server", "internal/api imports internal/api/server: its row does not list it"},
		{"internal/api/server", "internal/api/mcp", "internal/api/server imports internal/api/mcp: its row does not list it"},
		{"internal/api/mcp", "internal/api/server", "internal/api/mcp imports internal/api/server: its row does not list it"},
		{"internal/api/mcp", "internal/api/client", "internal/api/mcp imports internal/api/client: its row does not list it"},
		{"internal/api/mcp", "actors", "internal/api/mcp imports actors: its row does not list it"},
		{"cmd/cmemd", "internal/api/mcp", ""},
		{"cmd/cmemd-hook", "internal/api", "cmd/cmemd-hook imports internal/api: its row does not list it"},
		{"cmd/cmemd-hub", "eventlog/share/store/jet", ""},
		{"cmd/cmemd-hub", "actors", "cmd/cmemd-hub imports actors: its row does not list it"},
		{"cmd/cmemd-sqlite", "internal/sqlite", "cmd/cmemd-sqlite imports internal/sqlite: its row does not list it"},
		{"actors/session", "testkit/crash", "actors/session imports testkit/crash: only tests import the testkit"},
		{"cmd/cmemd", "testkit", "cmd/cmemd imports testkit: only tests import the testkit"},
		{"testkit/logtest", "eventlog", ""},
		{"testkit/logtest", "testkit/crash", ""},
		{"testkit/retrieval", "testkit/embeddings", ""},
		{"testkit", "cmd/cmemd", "testkit imports cmd/cmemd: its row does not list it"},
		{"util", "events", "util has no row in the table"},
		{"events", "eventsourcing", "events imports eventsourcing: that has no row in the table"},
	} {
		var want []string
		if tc.want != "" {
			want = []string{tc.want}
		}
		got := violations(table(), []listed{{ImportPath: module + "/" + tc.pkg, Imports: []string{"fmt", module + "/" + tc.imported}}})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s imports %s (-want +got):\n%s", tc.pkg, tc.imported, diff)
		}
	}
}

func TestForeignViolationsAreFound(t *testing.T) {
	t.Parallel()
	imports := []string{"net/http", "github.com/google/uuid", "golang.org/x/sys/unix"}
	relay := listed{ImportPath: module + "/internal/agents/relay", Imports: imports}
	hook := listed{ImportPath: module + "/cmd/cmemd-hook", Imports: imports[:2]}
	api := listed{ImportPath: module + "/internal/api", Imports: imports}
	actors := listed{ImportPath: module + "/actors", Imports: []string{
		"github.com/asynkron/protoactor-go/actor", "github.com/asynkron/protoactor-go/router",
	}}
	want := []string{
		"actors imports github.com/asynkron/protoactor-go/router: of protoactor only the package actor is used",
		"cmd/cmemd-hook imports github.com/google/uuid: it may import the standard library only",
		"internal/agents/relay imports github.com/google/uuid: it may import the standard library only",
		"internal/agents/relay imports golang.org/x/sys/unix: it may import the standard library only",
	}
	if diff := cmp.Diff(want, violations(table(), []listed{relay, hook, api, actors})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestTableIsADrawing: no row leads back to itself, all rows name rows, and the command reaches them all.
func TestTableIsADrawing(t *testing.T) {
	t.Parallel()
	rows := table()
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		for _, target := range rows[name] {
			if _, ok := rows[target]; !ok {
				t.Errorf("%s lists %s, which has no row", name, target)
			}
		}
		if leadsTo(rows, rows[name], name) {
			t.Errorf("%s leads back to itself", name)
		}
		if name != "cmd/cmemd" && name != "cmd/cmemd-hook" && !slices.Contains(ownModules(), name) && !strings.HasPrefix(name, "testkit") && !leadsTo(rows, rows["cmd/cmemd"], name) {
			t.Errorf("cmd/cmemd does not reach %s", name)
		}
	}
	if !leadsTo(map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"a"}}, []string{"b"}, "a") {
		t.Error("a circle is not found")
	}
}

func leadsTo(rows map[string][]string, from []string, to string) bool {
	seen := map[string]bool{}
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			return true
		}
		if !seen[queue[0]] {
			seen[queue[0]] = true
			queue = append(queue, rows[queue[0]]...)
		}
	}
	return false
}
