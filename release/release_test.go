package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

var made struct {
	once sync.Once
	release
	err error
}

// built makes the release for this machine, once for all tests, and returns what was made.
func built(t *testing.T) release {
	t.Helper()
	made.once.Do(func() {
		if made.out, made.err = os.MkdirTemp("", "cmemd-release-test"); made.err != nil {
			return
		}
		made.root, made.err = repository()
		made.err = errors.Join(made.err, made.identify(), run(made.out, true))
	})
	if made.err != nil {
		t.Fatal(made.err)
	}
	return made.release
}

func TestMain(m *testing.M) {
	code := m.Run()
	if made.out != "" {
		os.RemoveAll(made.out)
	}
	os.Exit(code)
}

var native = target{runtime.GOOS, runtime.GOARCH}

// bare is an environment with an empty home and the system's programs, and nothing else of this machine's.
func bare(t *testing.T, more ...string) []string {
	t.Helper()
	home := t.TempDir()
	return append([]string{"HOME=" + home, "TMPDIR=" + t.TempDir(), "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C"}, more...)
}

// runs returns what a command printed and how it ended. One that does not end is killed after two minutes.
func runs(t *testing.T, env []string, args ...string) (said string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, &out, &out, time.Second
	timer := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	err := cmd.Run()
	timer.Stop()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

func mustRun(t *testing.T, env []string, args ...string) string {
	t.Helper()
	said, code := runs(t, env, args...)
	if code != 0 {
		t.Fatalf("%v ended with %d: %s", args, code, said)
	}
	return said
}

// needs skips a test where a program that it needs is not there.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("no %s on PATH", p)
		}
	}
}

// asRoot is what a command begins with that only root may run: nothing for root, and for others what makes them root in a namespace of
// their own. It skips a test where they may not.
func asRoot(t *testing.T) []string {
	t.Helper()
	if os.Getuid() == 0 {
		return nil
	}
	as := []string{"unshare", "--map-root-user"}
	needs(t, as[0])
	if said, code := runs(t, os.Environ(), append(as, "true")...); code != 0 {
		t.Skipf("only root can do this, and a namespace in which this user is root is not to be had: %s", said)
	}
	return as
}

// works has an installed cmemd and the cmemd-hook beside it say their version, and plays the demo.
func works(t *testing.T, env []string, cmemd, hook string) {
	t.Helper()
	r := built(t)
	if said, want := mustRun(t, env, cmemd, "version"), "cmemd "+r.version+" ("; !strings.HasPrefix(said, want) {
		t.Errorf("cmemd version says %q, want %q...", said, want)
	}
	if said, want := mustRun(t, env, hook, "--version"), "cmemd-hook "+r.version+"\n"; said != want {
		t.Errorf("cmemd-hook --version says %q, want %q", said, want)
	}
	if said := mustRun(t, env, cmemd, "demo"); !strings.Contains(said, "every chain holds") {
		t.Errorf("cmemd demo does not come to its end: %s", said)
	}
}

// TestTwice: a second run gives the same bytes, and no path of this machine is in them.
func TestTwice(t *testing.T) {
	r, again := built(t), t.TempDir()
	if err := run(again, true); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		first, second := read(t, r.out, e.Name()), read(t, again, e.Name())
		if !bytes.Equal(first, second) {
			t.Errorf("%s has %d bytes, and others in a second run, %d", e.Name(), len(first), len(second))
		}
	}
	home, _ := os.UserHomeDir()
	host, _ := os.Hostname()
	for _, program := range append(programs(), "cmemd-hub") {
		folder := unpack(t, r)
		if program == "cmemd-hub" {
			folder = unpackProduct(t, r, program)
		}
		b := read(t, folder, program)
		for _, trace := range []string{r.root, filepath.Join(home, "go"), os.TempDir() + "/cmemd-release", host} {
			if len(trace) > 4 && bytes.Contains(b, []byte(trace)) {
				t.Errorf("%s holds %s, which is of this machine", program, trace)
			}
		}
	}
}

func read(t *testing.T, elements ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unpack unpacks the archive as a person would, and returns the folder in it.
func unpack(t *testing.T, r release) string {
	t.Helper()
	return unpackProduct(t, r, "cmemd")
}

func unpackProduct(t *testing.T, r release, name string) string {
	t.Helper()
	dir := t.TempDir()
	mustRun(t, os.Environ(), "tar", "-xzf", filepath.Join(r.out, r.packageName(name, native)+".tar.gz"), "-C", dir)
	return filepath.Join(dir, r.packageName(name, native))
}

func TestChecksums(t *testing.T) {
	r := built(t)
	listed := map[string]string{}
	for line := range strings.Lines(string(read(t, r.out, "checksums.txt"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = sum
	}
	err := filepath.WalkDir(r.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "checksums.txt" || d.Name() == madeHere {
			return err
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(read(t, path))); listed[d.Name()] != got {
			t.Errorf("%s: checksums.txt says %q, and it is %s", d.Name(), listed[d.Name()], got)
		}
		delete(listed, d.Name())
		return nil
	})
	if err != nil || len(listed) > 0 {
		t.Errorf("checksums.txt names files that are not there: %v %v", listed, err)
	}
}

func TestArchive(t *testing.T) {
	dir, env := unpack(t, built(t)), bare(t)
	works(t, env, filepath.Join(dir, "cmemd"), filepath.Join(dir, "cmemd-hook"))
	if said, code := runs(t, env, filepath.Join(dir, "cmemd-sqlite")); code != 2 || !strings.Contains(said, "started by `cmemd import`") {
		t.Errorf("cmemd-sqlite without an address ends with %d: %s", code, said)
	}
	documents := []string{"README.md", "CHANGELOG.md", "LICENSE", "man/man1/cmemd-search.1"}
	for _, name := range append(documents, "completions/_cmemd", "completions/cmemd.bash", "completions/cmemd.fish") {
		read(t, dir, filepath.FromSlash(name))
	}
	for _, module := range []string{"The Go standard library", "go.etcd.io/bbolt v", "modernc.org/sqlite v"} {
		if !bytes.Contains(read(t, dir, "THIRD-PARTY-LICENSES.txt"), []byte(module)) {
			t.Errorf("no licence of %s", module)
		}
	}
}

// TestSize: what hooks and people need takes at most 40 MB on disk. With templates, or another library that calls methods by names known
// only when it runs, the linker keeps all methods, and it is 44 MB: `go build -ldflags=-dumpdep ./cmd/cmemd 2>&1 | grep '<ReflectMethod>'`
// lists who does so.
func TestSize(t *testing.T) {
	dir, sum := unpack(t, built(t)), int64(0)
	for _, program := range []string{"cmemd", "cmemd-hook"} {
		info, err := os.Stat(filepath.Join(dir, program))
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	if sum > 40_000_000 {
		t.Errorf("cmemd and cmemd-hook take %d bytes", sum)
	}
}

// TestHub: cmemd-hub is downloaded by itself, and works where it is put beside cmemd.
func TestHub(t *testing.T) {
	r, env := built(t), bare(t)
	dir, hub := unpack(t, r), unpackProduct(t, r, "cmemd-hub")
	if said, want := mustRun(t, env, filepath.Join(hub, "cmemd-hub"), "--version"), "cmemd-hub "+r.version+"\n"; said != want {
		t.Errorf("cmemd-hub --version says %q, want %q", said, want)
	}
	for _, module := range []string{"The Go standard library", "github.com/nats-io/nats-server/v2 v"} {
		if !bytes.Contains(read(t, hub, "THIRD-PARTY-LICENSES.txt"), []byte(module)) {
			t.Errorf("no licence of %s", module)
		}
		if module != "The Go standard library" && bytes.Contains(read(t, dir, "THIRD-PARTY-LICENSES.txt"), []byte(module)) {
			t.Errorf("%s is linked into cmemd too", module)
		}
	}
	read(t, hub, "LICENSE")
	parts := read(t, r.out, r.packageName("cmemd-hub", native)+".sbom.cdx.json")
	for _, want := range []string{ours + "/cmd/cmemd-hub@v" + r.version, "github.com/nats-io/nats-server/v2@v"} {
		if !bytes.Contains(parts, []byte("pkg:golang/"+want)) {
			t.Errorf("the list of parts does not name %s: %s", want, parts)
		}
	}
	said, code := runs(t, env, filepath.Join(dir, "cmemd"), "demo", "--cluster")
	if code == 0 || !strings.Contains(said, "a package of its own") {
		t.Errorf("without it: %d, %s", code, said)
	}
	if err := os.Rename(filepath.Join(hub, "cmemd-hub"), filepath.Join(dir, "cmemd-hub")); err != nil {
		t.Fatal(err)
	}
	if said := mustRun(t, env, filepath.Join(dir, "cmemd"), "demo", "--cluster"); !strings.Contains(said, "0 missing, 0 twice") {
		t.Errorf("cmemd demo --cluster does not come to its end: %s", said)
	}
}

func TestPartsList(t *testing.T) {
	r := built(t)
	var bom cdx.BOM
	if err := json.Unmarshal(read(t, r.out, r.archiveName(native)+".sbom.cdx.json"), &bom); err != nil {
		t.Fatal(err)
	}
	refs, versions := map[string]bool{bom.Metadata.Component.BOMRef: true}, map[string]string{}
	for _, c := range *bom.Components {
		if refs[c.BOMRef] {
			t.Errorf("%s stands twice", c.BOMRef)
		}
		refs[c.BOMRef], versions[c.Name] = true, c.Version
	}
	for _, name := range []string{"std", "go.etcd.io/bbolt", "modernc.org/sqlite"} {
		if v := versions[name]; v == "" || !refs["pkg:golang/"+name+"@"+v] {
			t.Errorf("%s has the version %q among %d parts", name, v, len(versions))
		}
	}
}

// TestPrepare: no folder that holds other files is emptied.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := prepare(dir); err == nil || !strings.Contains(err.Error(), "name another folder") {
		t.Errorf("prepare took a folder with a file of others: %v", err)
	}
	read(t, precious)
	for range 2 { // a new one, and one of an earlier run
		out, err := prepare(filepath.Join(dir, "dist"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(out, "old"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
