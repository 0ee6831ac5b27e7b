package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// writerOf, where it is set, is the folder to which this test's program writes until it is killed; its argument names the writer.
const writerOf = "FOLDER_WRITER_OF"

func TestMain(m *testing.M) {
	dir := os.Getenv(writerOf)
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := Open(dir, Config{})
	if err == nil {
		err = storetest.Writer(context.Background(), s, os.Args[1], os.Stdout)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func mustOpen(t testing.TB, dir string) *Folder {
	t.Helper()
	f, err := Open(dir, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func placeIn(dir string, change func(*Folder)) storetest.Place {
	return storetest.Place{
		Open: func(t testing.TB) store.Store {
			f := mustOpen(t, dir)
			change(f)
			return f
		},
		Restart: func(testing.TB) {},
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	place := func(t testing.TB) storetest.Place { return placeIn(t.TempDir(), func(*Folder) {}) }
	storetest.Run(t, place)
	storetest.RunDurable(t, place)
}

// TestFolderWithoutLinks has a file system that knows no hard links.
func TestFolderWithoutLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no lock, no races decided")
	}
	storetest.Run(t, func(t testing.TB) storetest.Place {
		return placeIn(t.TempDir(), func(f *Folder) {
			f.link = func(_ *os.Root, from, to string) error {
				return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM}
			}
		})
	})
}

func TestKilled(t *testing.T) {
	t.Parallel()
	race.SkipProcesses(t)
	dir := t.TempDir()
	storetest.RunKilled(t, placeIn(dir, func(*Folder) {}), func(name string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], name)
		cmd.Env = append(os.Environ(), writerOf+"="+dir)
		return cmd
	})
}

// TestWatchWithoutNotice: where the system tells of nothing a watch looks by itself.
func TestWatchWithoutNotice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := Open(dir, Config{PollEvery: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w := f.newWatch("s/")
	w.close()
	w.notify = nil
	if changed, err := w.scan(ctx); len(changed) != 0 || err != nil {
		t.Fatalf("in an empty folder: %v, %v", changed, err)
	}
	rev, err := f.Create(ctx, "s/a", nil)
	if err != nil || !w.wait(ctx) {
		t.Fatal(err)
	}
	if changed, err := w.scan(ctx); err != nil || len(changed) != 1 || changed[0] != (store.Entry{Key: "s/a", Rev: rev}) {
		t.Errorf("looked: %v, %v", changed, err)
	}
}

// TestNobodysFiles: what is not a store's is passed over and left alone.
func TestNobodysFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := mustOpen(t, dir)
	if _, err := f.Create(t.Context(), "s/log/head", []byte("words")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"notes.txt", "one_", ".stfolder/x", "s/.stignore", "s/log/head", "s/log/.head_", "s/log/Head_",
		"s/log/head.sync-conflict-20260102-030405-ABCDEFG_",
		"s/log/head (conflicted copy)_", "s/log/~syncthing~head_.tmp", "s/log/.syncthing.head_.tmp", "s/log/folder_/x_", "Space/x_", "s-t/x_",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, prefix := range []string{"", "s/"} {
		got, err := f.List(t.Context(), prefix, "", 0)
		if err != nil || len(got) != 1 || got[0].Key != "s/log/head" {
			t.Errorf("List %q = %v, %v", prefix, got, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "s", "log", "head")); string(text) != "s/log/head" || err != nil {
		t.Errorf("a file of nobody's is %q, %v", text, err)
	}
}

// TestDamage: what is not what a store wrote is an error that names the key and the reason, for that object alone.
func TestDamage(t *testing.T) {
	t.Parallel()
	_, whole := fileOf([]byte("some words"))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-1] ^= 1
	newer := bytes.Replace(whole, []byte(magic), []byte("cmemdob2"), 1)
	huge := append([]byte{}, whole[:headBytes]...)
	copy(huge[len(magic)+revBytes:], []byte{0xff, 0xff, 0xff, 0xff})
	for name, tc := range map[string]struct {
		make   func(path string) error
		reason string
		passes bool
		listed bool // with its revision
	}{
		"empty":       {writes(nil), "0 bytes", true, false},
		"header cut":  {writes(whole[:headBytes-1]), "not even its header", true, false},
		"body cut":    {writes(whole[:len(whole)-1]), "9 of 10 bytes", true, true},
		"flipped":     {writes(flipped), "another checksum", true, true},
		"longer":      {writes(append(bytes.Clone(whole), 0)), "longer than its body", false, true},
		"foreign":     {writes([]byte(strings.Repeat("text ", 20))), "not written by cmemd", false, false},
		"newer":       {writes(newer), "format '2', this version of cmemd knows '1'", false, false},
		"lies":        {writes(huge), "a body of 4294967295 bytes", false, false},
		"large":       {writesLarge(whole), "1099511627776 bytes", false, false},
		"link":        {func(path string) error { return os.Symlink("/etc/hostname", path) }, "no regular file", false, false},
		"link inside": {func(path string) error { return os.Symlink("good_", path) }, "no regular file", false, false},
		"folder":      {func(path string) error { return os.Mkdir(path, 0o700) }, "no regular file", false, false},
		"pipe":        {mkfifo, "no regular file", false, false},
	} {
		dir := t.TempDir()
		f := mustOpen(t, dir)
		good, err := f.Create(t.Context(), "s/good", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := tc.make(filepath.Join(dir, "s", "bad_")); err != nil {
			t.Logf("%s: not to be had here: %v", name, err)
			continue
		}
		_, _, err = f.Get(t.Context(), "s/bad")
		if !errors.Is(err, store.ErrDamaged) || transient.Is(err) != tc.passes ||
			!strings.Contains(err.Error(), "s/bad") || !strings.Contains(err.Error(), tc.reason) {
			t.Errorf("%s: Get: %v (may pass: %v)", name, err, transient.Is(err))
		}
		if !tc.listed {
			_, err = f.Replace(t.Context(), "s/bad", "1", nil)
			if delErr := f.Delete(t.Context(), "s/bad", "1"); !errors.Is(err, store.ErrDamaged) || !errors.Is(delErr, store.ErrDamaged) {
				t.Errorf("%s: Replace: %v; Delete: %v", name, err, delErr)
			}
		}
		if _, err := f.Create(t.Context(), "s/bad", nil); !errors.Is(err, store.ErrExists) {
			t.Errorf("%s: Create: %v", name, err)
		}
		got, err := f.List(t.Context(), "s/", "", 0)
		if name == "folder" {
			got = append([]store.Entry{{Key: "s/bad"}}, got...) // a folder's name is nobody's
		}
		if err != nil || len(got) != 2 || (got[0].Rev != "") != tc.listed || got[1] != (store.Entry{Key: "s/good", Rev: good}) {
			t.Errorf("%s: List: %v, %v", name, got, err)
		}
		changed, err := f.newWatch("s/").scan(t.Context())
		if want := 1 + map[bool]int{true: 1}[tc.listed]; err != nil || len(changed) != want {
			t.Errorf("%s: a watch looked: %v, %v", name, changed, err)
		}
	}
}

// writesLarge makes a file whose size is 1 TiB, of which the disk has the beginning.
func writesLarge(data []byte) func(string) error {
	return func(path string) error { return errors.Join(writes(data)(path), os.Truncate(path, 1<<40)) }
}

func writes(data []byte) func(string) error {
	return func(path string) error { return os.WriteFile(path, data, 0o600) }
}

// TestGone: a folder that went is not one without objects, and comes back.
func TestGone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mount")
	if _, err := Open(dir, Config{}); err == nil || !strings.Contains(err.Error(), "choose a folder that is there") {
		t.Errorf("Open of nothing: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, dir)
	rev, err := f.Create(t.Context(), "s/a", []byte("words"))
	if err == nil {
		err = os.Rename(dir, dir+"-away")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _, getErr := f.Get(t.Context(), "s/a")
	_, listErr := f.List(t.Context(), "s/", "", 0)
	_, createErr := f.Create(t.Context(), "s/b", nil)
	for name, err := range map[string]error{"Get": getErr, "List": listErr, "Create": createErr, "Delete": f.Delete(t.Context(), "s/a", rev)} {
		if errors.Is(err, store.ErrNotFound) || !transient.Is(err) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	if body, at, err := f.Get(t.Context(), "s/a"); string(body) != "words" || at != rev || err != nil {
		t.Errorf("back: %q at %q, %v", body, at, err)
	}
}

// TestErrors: what the system says may pass but for what it does not allow, and that there is no room is said as such.
func TestErrors(t *testing.T) {
	t.Parallel()
	for errno, passes := range map[syscall.Errno]bool{
		syscall.ENOSPC: true, syscall.EDQUOT: true, syscall.EIO: true, syscall.ESTALE: true,
		syscall.EACCES: false, syscall.EPERM: false, syscall.EROFS: false,
	} {
		err := wrap("create", "s/a", &os.PathError{Op: "write", Path: "x", Err: errno})
		isFull := errno == syscall.ENOSPC || errno == syscall.EDQUOT
		if transient.Is(err) != passes || !errors.Is(err, errno) || errors.Is(err, store.ErrFull) != isFull ||
			!strings.Contains(err.Error(), "s/a") {
			t.Errorf("%v (may pass: %v)", err, transient.Is(err))
		}
	}
	if err := wrap("create", "s/a", nil); err != nil {
		t.Errorf("of no error: %v", err)
	}
}

// TestOutside: no link that somebody put into the folder leads a call out of it.
func TestOutside(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(out, "log"), 0o700), os.Symlink(out, filepath.Join(dir, "s"))); err != nil {
		t.Skip(err)
	}
	f := mustOpen(t, dir)
	if _, err := f.Create(t.Context(), "s/log/head", nil); err == nil {
		t.Error("an object was made outside")
	}
	if got, err := f.List(t.Context(), "", "", 0); len(got) > 0 || err != nil {
		t.Errorf("listed %v, %v", got, err)
	}
	if left, err := os.ReadDir(filepath.Join(out, "log")); len(left) > 0 || err != nil {
		t.Errorf("outside are %v, %v", left, err)
	}
}

// TestScratch: nothing stays of what was done, and what a killed process left goes after an hour.
func TestScratch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := mustOpen(t, dir)
	rev, err := f.Create(t.Context(), "s/a", []byte("words"))
	if err == nil {
		rev, err = f.Replace(t.Context(), "s/a", rev, []byte("other words"))
	}
	if _, raceErr := f.Create(t.Context(), "s/a", nil); err != nil || !errors.Is(raceErr, store.ErrExists) {
		t.Fatal(err, raceErr)
	}
	if _, staleErr := f.Replace(t.Context(), "s/a", "stale", nil); !errors.Is(staleErr, store.ErrMoved) {
		t.Fatal(staleErr)
	}
	if err := f.Delete(t.Context(), "s/a", rev); err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(dir, newPrefix+"OLD"), filepath.Join(dir, newPrefix+"YOUNG")
	if err := errors.Join(writes(nil)(old), writes(nil)(young), os.Chtimes(old, time.Time{}, time.Now().Add(-2*leftAfter))); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir)
	left, err := os.ReadDir(filepath.Join(dir, scratch))
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{".syncthing.lock", ".syncthing.new-YOUNG"}, names); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestAway: an empty folder in the place of one that held a store is away, and nothing is written there.
func TestAway(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mount")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := Open(dir, Config{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	rev, createErr := f.Create(t.Context(), "s/a", []byte("words"))
	_, _, getErr := f.Get(t.Context(), "s/a")
	_, listErr := f.List(t.Context(), "s/", "", 0)
	for name, err := range map[string]error{"Create": createErr, "Get": getErr, "List": listErr} {
		if !errors.Is(err, ErrAway) || errors.Is(err, store.ErrNotFound) || !transient.Is(err) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, err := range f.Watch(t.Context(), "s/") {
		if !errors.Is(err, ErrAway) {
			t.Errorf("Watch: %v", err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil || rev != "" {
		t.Errorf("there are %v, %v", left, err)
	}
	if rev, err = mustOpen(t, dir).Create(t.Context(), "s/a", []byte("words")); err != nil {
		t.Fatal(err)
	}
	if body, at, err := f.Get(t.Context(), "s/a"); string(body) != "words" || at != rev || err != nil {
		t.Errorf("mounted: %q at %q, %v", body, at, err)
	}
}

// TestHangs: calls of a file system that hangs end with their contexts, however many there are, and once it answers all is as before.
func TestHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := mustOpen(t, dir)
	let, hung := make(chan struct{}), f.link
	f.link = func(root *os.Root, from, to string) error {
		<-let
		return hung(root, from, to)
	}
	for i := range maxCalls + 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if _, err := f.Create(ctx, store.Key(fmt.Sprint("s/a", i)), nil); !errors.Is(err, context.DeadlineExceeded) || !transient.Is(err) {
			t.Errorf("call %d: %v", i, err)
		}
		cancel()
	}
	close(let)
	if _, err := f.Create(t.Context(), "s/b", nil); err != nil {
		t.Error(err)
	}
	for range maxCalls { // all have ended
		f.busy <- struct{}{}
	}
}

// FuzzObject: no file is more than an error, and what is read is what is written.
func FuzzObject(f *testing.F) {
	_, whole := fileOf([]byte("some words"))
	f.Add(whole)
	f.Add(whole[:headBytes])
	f.Add([]byte("cmemdob2"))
	f.Fuzz(func(t *testing.T, file []byte) {
		rev, body, err := readObject(bytes.NewReader(file))
		if err != nil {
			if !errors.Is(err, store.ErrDamaged) || rev != "" || body != nil {
				t.Errorf("%q, %d bytes, %v", rev, len(body), err)
			}
			return
		}
		_, again := fileOf(body)
		copy(again[len(magic):], file[len(magic):len(magic)+revBytes])
		if !bytes.Equal(again, file) {
			t.Error("what was read is not what is written")
		}
	})
}
