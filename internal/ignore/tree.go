package ignore

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// File is the name of the files in which paths are listed.
const File = ".cmemdignore"

const (
	// maxFile bounds such a file; nobody writes one of that size by hand.
	maxFile = 1 << 20

	// maxFolders is how many folders are remembered, and maxAge how long what was read of one stands.
	maxFolders = 4096
	maxAge     = 2 * time.Second
)

// A Tree tells of paths whether they are ignored, by the files in the folders above them, read when they are needed. It is
// safe for concurrent use.
type Tree struct {
	root Patterns
	own  string // a file whose patterns count for all paths too; empty: there is none
	now  func() time.Time

	base  *Tree               // what it ignores is ignored too; nil: nothing
	given map[string]Patterns // the files by their folders; nil: they are read from the disk

	refused map[string]bool // files that count for nothing, by their paths

	folders memo[[]Patterns] // the files of a folder and of those above it, the uppermost first; none if all of them are empty
	real    memo[string]     // where the links in a folder's path lead
}

// A memo remembers for a moment what was found of paths. Its zero value is ready.
type memo[T any] struct {
	mu    sync.Mutex // guards known
	known map[string]found[T]
}

type found[T any] struct {
	is    T
	until time.Time
}

func (m *memo[T]) recall(path string, now time.Time) (is T, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.known[path]
	return f.is, ok && now.Before(f.until)
}

func (m *memo[T]) remember(path string, is T, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxFolders {
		m.known = map[string]found[T]{}
	}
	m.known[path] = found[T]{is: is, until: now.Add(maxAge)}
}

// NewTree returns a Tree in which the file at path own, and root, count for all paths, as if they stood in the uppermost
// folder; what files below say goes before them, and what own says before root. Own may be empty, or missing.
func NewTree(root Patterns, own string) *Tree {
	return &Tree{root: root, own: own, now: time.Now, refused: map[string]bool{}}
}

// Refuse has the files at these paths count for nothing. It must be called before anything else is.
func (t *Tree) Refuse(files ...string) {
	for _, f := range files {
		t.refused[filepath.Clean(f)] = true
	}
}

// A Source is an ignore file as it was read at some time.
type Source struct {
	Folder string // in which it stood: an absolute path
	Text   string
}

// With returns a Tree that ignores what t does, which may be nil, and what these files would, whatever stands in their folders
// now. Without files it is t.
func (t *Tree) With(files []Source) *Tree {
	if len(files) == 0 {
		return t
	}
	with := &Tree{now: time.Now, base: t, refused: t.refusals(), given: make(map[string]Patterns, len(files))}
	for _, f := range files {
		with.given[filepath.Clean(f.Folder)] = Parse(f.Text)
	}
	return with
}

func (t *Tree) refusals() map[string]bool {
	if t == nil {
		return nil
	}
	return t.refused
}

// Listed is Ignored without a look into the path, should it be a folder: it asks the files above it only.
func (t *Tree) Listed(path string) bool {
	if t.ignored(path, true) {
		return true
	}
	real := t.Real(path)
	return real != path && t.ignored(real, true)
}

// maxPath is the longest path in bytes whose links are followed; Linux takes no longer ones.
const maxPath = 4096

// Real is where a path leads once its links are followed: its own, if it is one, and those of the deepest folder in it that
// exists. It is the path itself where that cannot be found out. What it found of folders it remembers for a moment.
func (t *Tree) Real(path string) string {
	if t == nil || !filepath.IsAbs(path) || len(path) > maxPath {
		return path
	}
	path = filepath.Clean(path)
	if isLink(path) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		if to, err := os.Readlink(path); err == nil { // to what is not there
			return join(t.realFolder(filepath.Dir(path)), to)
		}
	}
	folder := filepath.Dir(path)
	if folder == path {
		return path
	}
	real := t.realFolder(folder)
	if real == folder {
		return path
	}
	return filepath.Join(real, filepath.Base(path))
}

func join(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// realFolder is where the path of a folder leads, as far as it exists.
func (t *Tree) realFolder(folder string) string {
	if t.base != nil {
		return t.base.realFolder(folder)
	}
	now := t.now()
	if known, ok := t.real.recall(folder, now); ok {
		return known
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		real = folder
		if above := filepath.Dir(folder); above != folder {
			real = filepath.Join(t.realFolder(above), filepath.Base(folder))
		}
	}
	t.real.remember(folder, real, now)
	return real
}

// Quiet reports whether no pattern at all counts in a folder, whose path must be absolute: nothing right in it is listed.
func (t *Tree) Quiet(folder string) bool {
	return t == nil || t.base.Quiet(folder) && len(t.always().lines) == 0 && len(t.of(filepath.Clean(folder))) == 0
}

// probe is a name that no pattern names, for what a pattern says of all that is in a folder.
const probe = "\x01"

// Ignored reports whether a path, which must be absolute, or a folder above it is ignored, be it a file or a folder; and
// so is a folder of which all that is in it is ignored. It is asked of the path as it is written, and of where its links
// lead.
func (t *Tree) Ignored(path string) bool {
	if t.within(path) {
		return true
	}
	real := t.Real(path)
	return real != path && t.within(real)
}

// Folder says where the links in a folder's path lead, as Real does, and whether it is Ignored. Unlike those it remembers
// what it found of the path itself for a moment: agents work in the same folder again and again.
func (t *Tree) Folder(path string) (real string, ignored bool) {
	if t == nil || !filepath.IsAbs(path) || len(path) > maxPath {
		return path, t.within(path)
	}
	path = filepath.Clean(path)
	real = t.realFolder(path)
	return real, t.within(path) || real != path && t.within(real)
}

// By returns the path of the ignore file for which Ignored holds of a path; empty: a setting does, or it is not ignored.
func (t *Tree) By(path string) string {
	if t == nil || !filepath.IsAbs(path) {
		return ""
	}
	for _, p := range []string{filepath.Clean(path), t.Real(path)} {
		for _, folder := range []bool{true, false} {
			at := p
			if !folder {
				at = filepath.Join(p, probe)
			}
			if depth, ignored := t.deciding(at, folder); ignored {
				return t.fileAt(at, depth)
			}
		}
	}
	return t.base.By(path)
}

// fileAt is the path of the file that stands so deep above a path; that of the person's own for none.
func (t *Tree) fileAt(path string, depth int) string {
	if depth < 0 {
		return t.own
	}
	folder := filepath.Dir(path)
	for depthOf(folder) > depth {
		folder = filepath.Dir(folder)
	}
	return filepath.Join(folder, File)
}

// within reports whether a path as it is written is ignored, or all that could be in it: what ignores the path ignores that too.
func (t *Tree) within(path string) bool { return t.ignored(filepath.Join(path, probe), false) }

// ignored goes down the path: what is ignored once stays so.
func (t *Tree) ignored(path string, folder bool) bool {
	if t == nil || !filepath.IsAbs(path) {
		return false
	}
	if t.base.ignored(path, folder) {
		return true
	}
	_, ignored := t.deciding(path, folder)
	return ignored
}

// deciding reports whether the files of t alone ignore a path, and how deep the one stands that says so; -1: it is root.
func (t *Tree) deciding(path string, folder bool) (depth int, ignored bool) {
	path = filepath.Clean(path)
	files, root := t.of(filepath.Dir(path)), t.always()
	if files == nil && len(root.lines) == 0 {
		return -1, false
	}
	top := filepath.VolumeName(path) + string(filepath.Separator)
	var room [32]string // on the stack: each word of a command is asked of
	names := room[:0]
	for name := range strings.SplitSeq(path[len(top)-1:], string(filepath.Separator)) {
		if name != "" {
			names = append(names, name)
		}
	}
	for i := range names {
		if depth, ignored = decide(root, files[:min(i+1, len(files))], names[:i+1], folder || i < len(names)-1); ignored {
			return depth, true
		}
	}
	return -1, false
}

// decide asks the files above a path, the nearest first, and then root; at is the index of the one that decided, -1: root.
func decide(root Patterns, files []Patterns, names []string, folder bool) (at int, ignored bool) {
	for i := len(files) - 1; i >= 0; i-- {
		if len(files[i].lines) == 0 {
			continue
		}
		if ignored, decided := files[i].match(names[i:], folder); decided {
			return i, ignored
		}
	}
	ignored, _ = root.match(names, folder)
	return -1, ignored
}

// always is what counts for all paths.
func (t *Tree) always() Patterns {
	if t.own == "" {
		return t.root
	}
	files, ok := t.folders.recall(t.own, t.now())
	if !ok {
		own := readFile(t.own)
		files = []Patterns{{lines: slices.Concat(t.root.lines, own.lines)}}
		t.folders.remember(t.own, files, t.now())
	}
	return files[0]
}

// of returns the files of a folder and of those above it, as they were read a moment ago or are now.
func (t *Tree) of(folder string) []Patterns {
	if files, ok := t.folders.recall(folder, t.now()); ok {
		return files
	}
	var own Patterns
	switch file := filepath.Join(folder, File); {
	case t.refused[file]:
	case t.given == nil:
		own = readFile(file)
	default:
		own = t.given[folder]
	}
	var files []Patterns
	if above := filepath.Dir(folder); above != folder {
		files = t.of(above)
	}
	if len(own.lines) > 0 {
		depth := depthOf(folder)
		files = append(slices.Clone(files), make([]Patterns, depth+1-len(files))...)
		files[depth] = own
	}
	t.folders.remember(folder, files, t.now())
	return files
}

// depthOf is how many folders are above a folder.
func depthOf(folder string) int {
	const separator = string(filepath.Separator)
	return strings.Count(strings.TrimRight(folder[len(filepath.VolumeName(folder)):], separator), separator)
}

// readFile reads one file. One that is there and cannot be read may list anything: then all below it is ignored.
func readFile(path string) Patterns {
	text, err := readBounded(path)
	switch {
	case err == nil:
		return Parse(text)
	case missing(err):
		return Patterns{}
	}
	return Parse("*")
}

// missing reports whether err says that a folder has no such file; so does that it is no folder, or one that may not be
// looked into: then nobody who runs as this user could have read the file either.
func missing(err error) bool {
	var at *fs.PathError
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &at) && at.Op == "stat"
}

var errNoFile = errors.New("ignore: no regular file of a bearable size")

func readBounded(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return "", errNoFile
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errNoFile
	}
	return string(data), err
}
