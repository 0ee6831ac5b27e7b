package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/privatetext"
)

// spoolLimit is how much may wait in the spool: some 100,000 ordinary tool calls, and no threat to a home folder.
const spoolLimit = 256 << 20

// spoolSample is how many files are measured to estimate the spool's size; up to that many it is exact.
const spoolSample = 1024

// ErrFull is returned by Put when the spool holds as much as it may.
var ErrFull = errors.New("spool: the spool is full")

// ErrUnsynced is returned by Put, beside a name, for an entry that is there but may not survive a failure of the power:
// the disk did not confirm its name.
var ErrUnsynced = errors.New("spool: the spool file is there, but its name may not be on disk")

// A Spool keeps payloads that no daemon took, as a maildir under home/spool: a file is written to tmp, and is in new
// only when it is whole and on disk. What a hook that ended too early left whole in tmp, Rescue brings there. Payloads are
// sealed to a key of the daemon's (Keys). Several processes may use it at once.
type Spool struct {
	// They may be set before the first call of a method.
	Written func()                 // called when an entry is whole in tmp, though not on disk yet; nil calls nothing
	Sync    func(dir string) error // returns when the names in a folder are on disk

	dir    string // home/spool
	sealer sealer
	limit  int64
}

// New returns the spool of a home. It touches nothing: the first Put makes the folders.
func New(home string) *Spool {
	return &Spool{dir: filepath.Join(home, "spool"), sealer: sealer{Keys(home)}, limit: spoolLimit, Sync: durable.SyncDir}
}

// folders are the folders of the spool in the order in which a file passes through them. The last is new again, where Retry puts dead
// letters: whoever reads them in this order finds each file, even if it is moved once meanwhile.
func (s *Spool) folders() []string {
	return []string{s.in("tmp"), s.tmp(), s.in("new"), s.in("bad"), s.in("new")}
}

func (s *Spool) in(folder string) string { return filepath.Join(s.dir, folder) }

// tmp is where entries are written. It is a folder in tmp: releases that know no sealed files remove what they do not know
// from tmp itself.
func (s *Spool) tmp() string { return filepath.Join(s.dir, "tmp", "sealed") }

// Put stores an entry without its private text, and returns its name. The
// entry is on disk when Put returns without an error, and is there with ErrUnsynced; otherwise there is none, and the name
// is empty. Name and Redactions are ignored. It returns ErrFull if there is no room. Where there is no key to seal to, the
// entry is kept without its contents: see Withheld.
func (s *Spool) Put(e Entry) (string, error) {
	if !isUUID(e.Delivery) || !known.IsName(e.Agent) {
		return "", fmt.Errorf("spool: %w: delivery %q of %q", ErrBadEntry, e.Delivery, e.Agent)
	}
	body, cut := privatetext.CutJSON(e.Body)
	e.Body, e.Cut, e.Redactions = body, e.Cut || cut, nil
	f, err := s.store(e, "new")
	if errors.Is(err, ErrFull) {
		return "", ErrFull
	}
	if err != nil {
		return "", fmt.Errorf("spool: %w", err) // the caller knows which
	}
	if err := s.Sync(s.in("new")); err != nil {
		return f.name, fmt.Errorf("%w: %w", ErrUnsynced, err)
	}
	return f.name, nil
}

// maxSeals is how often an entry is sealed anew where the key is replaced meanwhile, which happens once a day, or its file is
// taken away.
const maxSeals = 3

// store brings an entry into a folder of the spool, sealed to the key that is the present one when it has its name there. Without one it
// goes into new withheld, and nowhere else: errUnsealed. Its name in tmp is its own: the hook and the daemon may store one delivery at once.
func (s *Spool) store(e Entry, folder string) (file, error) {
	for range maxSeals {
		f, err := s.sealer.pack(e)
		if folder == "new" { // a dead letter leaves it: whoever asks for one bounds those
			err = s.checkRoom(f.size())
		}
		if err != nil {
			return file{}, err
		}
		tmp := filepath.Join(s.tmp(), e.Delivery+"-"+strconv.FormatUint(rand.Uint64(), 36))
		if err := s.write(tmp, f.parts); err != nil {
			return file{}, err
		}
		if !s.sealer.isPresent(f) {
			if err := durable.Remove(tmp); err != nil {
				return file{}, err
			}
			continue
		}
		err = s.moveFromTmp(tmp, folder, f.name)
		if err == nil {
			return f, nil
		}
		if _, gone := os.Lstat(tmp); errors.Is(gone, fs.ErrNotExist) {
			continue // this process stood still for so long that the file was rescued or, half as it was, removed
		}
		return file{}, errors.Join(err, os.Remove(tmp))
	}
	return file{}, errUnsettled
}

// errUnsettled is a key that was another one each time it was looked at, or a file that was taken away each time.
var errUnsettled = errors.New("spool: the spool's key or files change all the time")

// write writes a file in tmp, and makes the folders first if they are not there.
func (s *Spool) write(tmp string, parts [][]byte) error {
	return s.withFolders(func() error { return writeSynced(tmp, s.Written, parts...) })
}

// withFolders calls put, and again once it has made the folders if they are not there.
func (s *Spool) withFolders(put func() error) error {
	if err := put(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.makeFolders(); err != nil {
		return err
	}
	return put()
}

// moveFromTmp moves a file from tmp into a folder. If that is not there, as in a spool whose maker was killed, it makes it first.
func (s *Spool) moveFromTmp(tmp, folder, name string) error {
	return s.withFolders(func() error { return os.Rename(tmp, filepath.Join(s.in(folder), name)) })
}

// makeFolders makes the maildir. It makes tmp last, when the others are on disk: a process that can write to tmp takes it
// that they are. Where folders cannot be synced that is an error once, and no reason to store nothing from then on. What is in
// tmp may be lost with its name.
func (s *Spool) makeFolders() error {
	for _, sub := range []string{"new", "bad"} {
		if err := os.MkdirAll(filepath.Join(s.dir, sub), 0o700); err != nil {
			return err
		}
	}
	unsynced := errors.Join(durable.SyncDir(s.dir), durable.SyncDir(filepath.Dir(s.dir)))
	return errors.Join(unsynced, os.MkdirAll(s.tmp(), 0o700))
}

func (s *Spool) checkRoom(size int64) error {
	_, used, err := s.Usage()
	if err != nil {
		return err
	}
	if used+size > s.limit {
		return ErrFull
	}
	return nil
}

// Usage returns how many entries wait and how many bytes they have. Above a thousand entries the bytes are estimated
// from a sample, so that a full spool does not make each hook measure it whole. A spool never written to is empty.
func (s *Spool) Usage() (entries int, size int64, err error) {
	names, err := s.list()
	if err != nil {
		return 0, 0, err
	}
	step := len(names)/spoolSample + 1
	measured := 0
	for i := 0; i < len(names); i += step {
		info, err := os.Lstat(s.path(names[i]))
		if err == nil {
			size += info.Size()
		}
		measured++
	}
	if measured == 0 {
		return 0, 0, nil
	}
	return len(names), size * int64(len(names)) / int64(measured), nil
}

// list returns the names in new, in no order.
func (s *Spool) list() ([]string, error) {
	d, err := os.Open(filepath.Join(s.dir, "new"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return names, nil
}

func (s *Spool) path(name string) string {
	return filepath.Join(s.dir, "new", name)
}
