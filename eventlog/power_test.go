package eventlog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/seeded"
)

const pageSize = 4096

// image is a file's content by page.
type image [][]byte

func readImage(t *testing.T, path string) image {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var im image
	for len(b) >= pageSize {
		im, b = append(im, b[:pageSize]), b[pageSize:]
	}
	return im
}

// write makes a file of im; pages of zeros stay holes.
func (im image) write(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(len(im) * pageSize)); err != nil {
		t.Fatal(err)
	}
	zero := make([]byte, pageSize)
	for i, p := range im {
		if bytes.Equal(p, zero) {
			continue
		}
		if _, err := f.WriteAt(p, int64(i*pageSize)); err != nil {
			t.Fatal(err)
		}
	}
}

// cut is a commit as the disk saw it: the pages it changed, the meta page last, because a sync stands before it.
type cut struct {
	before, after image
	pages         []int
}

func newCut(before, after image) cut {
	c := cut{before: before, after: after}
	for len(c.before) < len(after) { // the file was stretched first, and that synced
		c.before = append(c.before, make([]byte, pageSize))
	}
	var meta []int
	for i := range after {
		switch {
		case bytes.Equal(c.before[i], after[i]):
		case i < 2:
			meta = append(meta, i)
		default:
			c.pages = append(c.pages, i)
		}
	}
	c.pages = append(c.pages, meta...)
	return c
}

// state is the file with the given pages of the commit written, and page torn, unless it is less than 0, in its
// first bytes only.
func (c cut) state(written []int, torn, bytesOfTorn int) image {
	im := append(image(nil), c.before...)
	for _, p := range written {
		im[p] = c.after[p]
	}
	if torn >= 0 {
		half := bytes.Clone(c.before[torn])
		copy(half[:bytesOfTorn], c.after[torn])
		im[torn] = half
	}
	return im
}

// TestPowerCut stops the disk at every moment of a commit: after each page in order, in the middle of each page, at
// every eighth byte of the meta page, and with any of the data pages missing. Reopened, the log must hold all of the
// commit or nothing of it; all of it only once the meta page is written.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for name, commit := range map[string]func(*testing.T, *eventlog.Bolt){
		"append": func(t *testing.T, l *eventlog.Bolt) {
			mustAppend(t, l, logtest.Session("a"), 300, numbered("new", 60)...)
		},
		"append one": func(t *testing.T, l *eventlog.Bolt) { mustAppend(t, l, logtest.Session("b"), 0, "new") },
		"erase": func(t *testing.T, l *eventlog.Bolt) {
			if err := l.Erase(t.Context(), 3, 150, 299); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testPowerCut(t, commit)
		})
	}
}

func testPowerCut(t *testing.T, commit func(*testing.T, *eventlog.Bolt)) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	l := openLog(t, path)
	for i := range events.Version(10) {
		mustAppend(t, l, logtest.Session("a"), i*30, numbered(fmt.Sprint("old", i), 30)...)
	}
	old := contents(t, l)
	mustClose(t, l)
	before := readImage(t, path)
	l = openLog(t, path)
	commit(t, l)
	both := contents(t, l)
	mustClose(t, l)
	c := newCut(before, readImage(t, path))
	t.Logf("the commit writes %d pages", len(c.pages))

	data, meta := c.pages[:len(c.pages)-1], c.pages[len(c.pages)-1]
	check := func(what string, im image, want ...[]string) {
		t.Helper()
		path := filepath.Join(dir, "cut")
		im.write(t, path)
		checkCut(t, what, path, want...)
	}
	for k := range c.pages {
		check(fmt.Sprint("after page ", k), c.state(c.pages[:k], -1, 0), old)
		if k < len(data) {
			check(fmt.Sprint("in page ", k), c.state(c.pages[:k], c.pages[k], pageSize/2), old)
		}
	}
	for n := 8; n <= 80; n += 8 {
		check(fmt.Sprint("in the meta page after ", n), c.state(data, meta, n), old, both)
	}
	random := seeded.New(t)
	for i := range 10 {
		some := append([]int(nil), data...)
		random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		check(fmt.Sprint("random pages ", i), c.state(some[:random.IntN(len(some)+1)], -1, 0), old)
	}
	check("whole", c.state(c.pages, -1, 0), both)
}

// checkCut opens a file and checks that it holds one of the given contents, and takes more.
func checkCut(t *testing.T, what, path string, want ...[]string) {
	t.Helper()
	l, err := eventlog.Open(path, eventlog.Config{})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer mustClose(t, l)
	if err := eventlog.Verify(t.Context(), l, nil); err != nil {
		t.Errorf("%s: Verify: %v", what, err)
		return
	}
	got := contents(t, l)
	for _, w := range want {
		if cmp.Equal(got, w) {
			mustAppend(t, l, logtest.Session("after"), 0, "after")
			mustVerify(t, l)
			return
		}
	}
	t.Errorf("%s: the log holds %d records, and not what it should", what, len(got))
}

func numbered(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s %d %0200d", prefix, i, i)
	}
	return all
}
