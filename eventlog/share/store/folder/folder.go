package folder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// Config is how a folder is used; the zero value is good.
type Config struct {
	// PollEvery is how often a watch looks through the folder whether or not it was notified of a change; 0 means 10 s. Network mounts tell
	// of no changes of others.
	PollEvery time.Duration

	// Existing says that the folder held a store before: where the file .cmemd is not in it, which the first Create makes, it is ErrAway.
	Existing bool
}

// ErrAway is returned by all methods for a folder that is there and held a store before, and has no trace of one: what was mounted there is
// not. It may pass.
var ErrAway = transient.Mark(errors.New("the folder has no file " + markerName +
	", which cmemd put there: it is not mounted, or was emptied; if it was emptied on purpose, make that file"))

// markerName is the file that tells a store from a folder where one is to be mounted. What it says is for people.
const (
	markerName = ".cmemd"
	markerText = "Memory that machines share by cmemd, encrypted. Without this file cmemd takes the folder for one that is not mounted.\n"
)

// maxCalls is how many calls may be under way: a mount that hangs holds each one for as long as it hangs.
const maxCalls = 32

// defaultPollEvery is Config.PollEvery where nothing is said.
const defaultPollEvery = 10 * time.Second

// Folder is a store.Store in a folder. It holds no file open between calls, so the folder may be unmounted and mounted again.
type Folder struct {
	dir       string
	pollEvery time.Duration
	link      func(root *os.Root, from, to string) error // os.Root.Link, but in tests
	done      chan struct{}                              // closed by Close
	busy      chan struct{}                              // has a token for each call under way

	existing bool // Config.Existing

	mu        sync.Mutex      // guards the fields below
	synced    map[string]bool // folders whose own name is on disk
	hasMarker bool            // the mark is there
	closed    bool
}

// Open opens the store in the folder dir, which must be there, and removes what killed processes left half written an hour ago or
// earlier. It writes nothing else.
func Open(dir string, config Config) (*Folder, error) {
	if config.PollEvery <= 0 {
		config.PollEvery = defaultPollEvery
	}
	f := &Folder{
		dir: dir, pollEvery: config.PollEvery, link: (*os.Root).Link, done: make(chan struct{}), busy: make(chan struct{}, maxCalls),
		existing: config.Existing, synced: map[string]bool{},
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("folder: %w; choose a folder that is there", err)
	}
	defer root.Close()
	if err := sweep(root, time.Now()); err != nil {
		return nil, wrap("open", dir, err)
	}
	return f, nil
}

// suffix ends the names of files: no part of a key has it, so a key may continue another.
const suffix = "_"

func fileName(key store.Key) string { return string(key) + suffix }

// do does one call in the folder, unless ctx is over, the store is closed, or check is an error. A file system that hangs knows of no ctx:
// the call goes on in a goroutine of its own then, until it answers, and do returns when ctx is over.
func do[T any](ctx context.Context, f *Folder, name, key string, check error, call func(*os.Root) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	a := answer{err: cmp.Or(f.isClosed(), check, ctx.Err())}
	if a.err == nil {
		answers := make(chan answer, 1)
		select {
		case f.busy <- struct{}{}:
			go func() {
				defer func() { <-f.busy }()
				value, err := inRoot(f, call)
				answers <- answer{value, err}
			}()
		case <-ctx.Done():
		}
		select {
		case a = <-answers:
		case <-ctx.Done():
			a.err = ctx.Err()
		}
	}
	if a.err != nil {
		a.value = *new(T)
	}
	return a.value, wrap(name, key, a.err)
}

func (f *Folder) isClosed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return store.ErrClosed
	}
	return nil
}

// inRoot opens the folder for one call. That no such object is there is said only of one that could be opened.
func inRoot[T any](f *Folder, call func(*os.Root) (T, error)) (none T, err error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return none, err
	}
	defer root.Close()
	if f.existing {
		if _, err := root.Lstat(markerName); errors.Is(err, fs.ErrNotExist) {
			return none, fmt.Errorf("%s: %w", f.dir, ErrAway)
		} else if err != nil {
			return none, err
		}
	}
	return call(root)
}

// Create implements store.Store.
func (f *Folder) Create(ctx context.Context, key store.Key, body []byte) (store.Rev, error) {
	body = bytes.Clone(body) // the caller's, who may have it back before the call ends
	return do(ctx, f, "create", string(key), store.CheckBody(key, body), func(root *os.Root) (store.Rev, error) {
		if err := f.writeMarker(root); err != nil {
			return "", err
		}
		rev, file := fileOf(body)
		temp, err := write(root, file)
		if err != nil {
			return "", err
		}
		err = f.makeParents(root, path.Dir(fileName(key)))
		if err == nil {
			err = f.publish(ctx, root, temp, fileName(key))
		}
		if rmErr := root.Remove(temp); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
			err = errors.Join(err, rmErr)
		}
		if err != nil {
			return "", err
		}
		return rev, syncDir(root, path.Dir(fileName(key)))
	})
}

// writeMarker says that a store is here. Two machines that do it at once write the same.
func (f *Folder) writeMarker(root *os.Root) error {
	f.mu.Lock()
	marked := f.hasMarker
	f.mu.Unlock()
	if marked || f.existing {
		return nil
	}
	file, err := root.OpenFile(markerName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = file.WriteString(markerText)
		err = errors.Join(err, file.Sync(), file.Close(), syncDir(root, "."))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hasMarker = true
	return nil
}

// publish gives the file temp the name to, which nobody may have.
func (f *Folder) publish(ctx context.Context, root *os.Root, temp, to string) error {
	err := f.link(root, temp, to)
	switch {
	case errors.Is(err, fs.ErrExist):
		return store.ErrExists
	case !hasNoLinks(err):
		return err
	}
	return locked(ctx, root, func() error {
		if _, err := root.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = store.ErrExists
			}
			return err
		}
		return root.Rename(temp, to)
	})
}

// hasNoLinks reports whether a file system refused a hard link because it knows none: Linux says EPERM (exFAT, FUSE) or ENOSYS.
func hasNoLinks(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM)
}

// locked calls do while this process alone holds the lock of the folder.
func locked(ctx context.Context, root *os.Root, do func() error) error {
	held, err := lock(ctx, root)
	if err != nil {
		return err
	}
	return errors.Join(do(), held.Close())
}

// makeParents makes the folder dir and those above it, and returns when their names are on disk.
func (f *Folder) makeParents(root *os.Root, dir string) error {
	at := "."
	for part := range strings.SplitSeq(dir, "/") {
		above := at
		at = path.Join(at, part)
		err := root.Mkdir(at, 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err != nil && f.isSynced(at) {
			continue
		}
		if err := syncDir(root, above); err != nil {
			return err
		}
		f.mu.Lock()
		f.synced[at] = true
		f.mu.Unlock()
	}
	return nil
}

func (f *Folder) isSynced(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.synced[dir]
}

// Replace implements store.Store.
func (f *Folder) Replace(ctx context.Context, key store.Key, at store.Rev, body []byte) (store.Rev, error) {
	body = bytes.Clone(body)
	return do(ctx, f, "replace", string(key), store.CheckBody(key, body), func(root *os.Root) (store.Rev, error) {
		if err := isAt(root, key, at); err != nil { // before anything is written
			return "", err
		}
		rev, file := fileOf(body)
		temp, err := write(root, file)
		if err != nil {
			return "", err
		}
		err = locked(ctx, root, func() error {
			if err := isAt(root, key, at); err != nil {
				return err
			}
			return root.Rename(temp, fileName(key))
		})
		if err != nil {
			return "", errors.Join(err, root.Remove(temp))
		}
		return rev, syncDir(root, path.Dir(fileName(key)))
	})
}

// isAt returns store.ErrMoved if the object is in another state than rev, and store.ErrNotFound if there is none.
func isAt(root *os.Root, key store.Key, rev store.Rev) error {
	return read(root, fileName(key), func(file io.Reader) error {
		h, err := readHeader(file)
		if err == nil && h.rev != rev {
			err = store.ErrMoved
		}
		return err
	})
}

// mostReads is how often a file is opened that was damaged and then another one.
const mostReads = 10

// read has do read an object's file, again where it turned out to be damaged and the name is another file's by now: Delete writes
// over what somebody may have open.
func read(root *os.Root, name string, do func(io.Reader) error) error {
	for reads := 1; ; reads++ {
		file, err := open(root, name)
		if err != nil {
			return err
		}
		err = do(file)
		if !errors.Is(err, store.ErrDamaged) || reads == mostReads || isNamed(root, name, file) {
			return errors.Join(err, file.Close())
		}
		_ = file.Close() // it was only read
	}
}

// open opens an object's file. The error is store.ErrNotFound, or store.ErrDamaged for what is no regular file or larger than one may
// be; a pipe would wait for its writer, and a link lead away.
func open(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, store.ErrNotFound
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: it is no regular file (%s)", store.ErrDamaged, info.Mode().Type())
	case info.Size() > int64(maxFile):
		return nil, fmt.Errorf("%w: its file has %d bytes, at most %d may be", store.ErrDamaged, info.Size(), maxFile)
	}
	file, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
		return nil, store.ErrNotFound
	}
	return file, err
}

// Get implements store.Store.
func (f *Folder) Get(ctx context.Context, key store.Key) ([]byte, store.Rev, error) {
	type object struct {
		rev  store.Rev
		body []byte
	}
	o, err := do(ctx, f, "get", string(key), key.Check(), func(root *os.Root) (o object, err error) {
		err = read(root, fileName(key), func(file io.Reader) (err error) {
			o.rev, o.body, err = readObject(file)
			return err
		})
		return o, err
	})
	return o.body, o.rev, err
}

// Delete implements store.Store.
func (f *Folder) Delete(ctx context.Context, key store.Key, at store.Rev) error {
	_, err := do(ctx, f, "delete", string(key), key.Check(), func(root *os.Root) (none struct{}, err error) {
		temp := newName()
		err = locked(ctx, root, func() error {
			if err := isAt(root, key, at); err != nil {
				return err
			}
			return root.Rename(fileName(key), temp)
		})
		if err == nil { // before the zeros: a loss of power must not leave them under the key
			err = syncDir(root, path.Dir(fileName(key)))
		}
		if err != nil {
			return none, err
		}
		return none, zero(root, temp)
	})
	return err
}

// Overwrites implements store.Store: a file system may keep the old bytes of a file, and Syncthing does.
func (f *Folder) Overwrites() bool { return false }

// Close implements store.Store.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		close(f.done)
	}
	return nil
}
