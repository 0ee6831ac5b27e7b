package relay

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// spoolLimit is how much may wait in the spool: some 100,000 ordinary tool calls, and no threat to a home folder.
const spoolLimit = 256 << 20

// spoolSample is how many files are measured to estimate the spool's size; up to that many it is exact.
const spoolSample = 1024

// ErrSpoolFull is returned by Put when the spool holds as much as it may.
var ErrSpoolFull = errors.New("relay: the spool is full")

// ErrUnsynced is returned by Put, beside a name, for an entry that is there but may not survive a failure of the power:
// the disk did not confirm its name.
var ErrUnsynced = errors.New("relay: the spool file is there, but its name may not be on disk")

// A Spool keeps payloads that no daemon took, as a maildir under home/spool: a file is written to tmp, and is in new
// only when it is whole and on disk. What a hook that ended too early left whole in tmp, Rescue brings there. Several
// processes may use it at once.
type Spool struct {
	home    string
	dir     string // home/spool
	limit   int64
	written func()                 // called when an entry is whole in tmp, though not on disk yet; nil calls nothing
	sync    func(dir string) error // returns when the names in a folder are on disk
	keep    Keep                   // of what may be kept; nil lets nothing be
}

// A Keep says what of a report of an agent may be kept in a home: the report without what may not. cut reports that private
// text was removed, left counts by kind what else was; where ok is false nothing of it may be kept.
type Keep func(home, agent string, body []byte) (kept []byte, cut bool, left map[string]int, ok bool)

// ErrPrivate is returned by Put for a payload of which nothing may be kept.
var ErrPrivate = errors.New("relay: nothing of it may be recorded")

// NewSpool returns the spool of a home, which asks keep what it may store; nil is for a spool that is only read. It touches
// nothing: the first Put makes the folders.
func NewSpool(home string, keep Keep) *Spool {
	return &Spool{home: home, dir: filepath.Join(home, "spool"), limit: spoolLimit, sync: durable.SyncDir, keep: keep}
}

// An Entry is one payload as its hook kept it.
type Entry struct {
	Name       string         // of its file in new; names sort by OccurredAt
	Agent      string         // whose hook it was
	Delivery   string         // a UUID; a post of the same payload carried it too
	OccurredAt time.Time      // when the hook started
	Cut        bool           // private text was removed; Put sets it
	Redactions map[string]int // secrets that were taken out, by kind; Put sets it
	Body       []byte         // the payload, not checked: agents may send anything
}

// Put stores what may be kept of an entry, and returns its name. The
// entry is on disk when Put returns without an error, and is there with ErrUnsynced; otherwise there is none, and the name
// is empty. Name, Cut and Redactions are ignored. It returns ErrSpoolFull if there is no room, and ErrPrivate if
// nothing of it may be kept.
func (s *Spool) Put(e Entry) (string, error) {
	if !isUUID(e.Delivery) || !validAgent(e.Agent) {
		return "", fmt.Errorf("relay: spool: %w: delivery %q of %q", ErrBadEntry, e.Delivery, e.Agent)
	}
	if s.keep == nil {
		return "", ErrPrivate
	}
	body, cut, left, ok := s.keep(s.home, e.Agent, e.Body)
	if !ok {
		return "", ErrPrivate
	}
	e.Body, e.Cut, e.Redactions = body, cut, left
	head := appendHeader(nil, e)
	if err := s.room(int64(len(head) + len(body))); err != nil {
		return "", err
	}
	name := entryName(e)
	if err := s.store(name, e.Delivery, head, body); err != nil {
		return "", fmt.Errorf("relay: spool %s: %w", name, err)
	}
	if err := s.sync(filepath.Join(s.dir, "new")); err != nil {
		return name, fmt.Errorf("%w: %w", ErrUnsynced, err)
	}
	return name, nil
}

// store brings an entry into new. Its name in tmp is its own: the hook and the daemon may store one delivery at once.
func (s *Spool) store(name, id string, parts ...[]byte) error {
	tmp := filepath.Join(s.dir, "tmp", id+"-"+strconv.FormatUint(rand.Uint64(), 36))
	err := writeSynced(tmp, s.written, parts...)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.makeFolders(); err == nil {
			err = writeSynced(tmp, s.written, parts...)
		}
	}
	if err != nil {
		return err
	}
	if err = s.bring(tmp, name); err == nil {
		return nil
	}
	if _, gone := os.Lstat(tmp); errors.Is(gone, fs.ErrNotExist) {
		return nil // this process stood still for so long that it was rescued
	}
	return errors.Join(err, os.Remove(tmp))
}

// bring moves a file from tmp into new. If that is not there, as in a spool whose maker was killed, it makes it first.
func (s *Spool) bring(tmp, name string) error {
	err := os.Rename(tmp, s.path(name))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.makeFolders(); err != nil {
		return err
	}
	return os.Rename(tmp, s.path(name))
}

// makeFolders makes the maildir. It makes tmp last, when the others are on disk: a process that can write to tmp takes it
// that they are. Where folders cannot be synced that is an error once, and no reason to store nothing from then on. What is in tmp may be lost with its name.
func (s *Spool) makeFolders() error {
	for _, sub := range []string{"new", "bad"} {
		if err := os.MkdirAll(filepath.Join(s.dir, sub), 0o700); err != nil {
			return err
		}
	}
	unsynced := errors.Join(durable.SyncDir(s.dir), durable.SyncDir(filepath.Dir(s.dir)))
	return errors.Join(unsynced, os.MkdirAll(filepath.Join(s.dir, "tmp"), 0o700))
}

func (s *Spool) room(size int64) error {
	_, used, err := s.Usage()
	if err != nil {
		return err
	}
	if used+size > s.limit {
		return ErrSpoolFull
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
		return nil, fmt.Errorf("relay: spool: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("relay: spool: %w", err)
	}
	return names, nil
}

func (s *Spool) path(name string) string {
	return filepath.Join(s.dir, "new", name)
}

// entryName makes a name whose order is that of time.
func entryName(e Entry) string {
	const width = 20
	nanos := strconv.FormatInt(max(e.OccurredAt.UnixNano(), 0), 10)
	padded := make([]byte, 0, width+1+len(e.Delivery))
	for range width - len(nanos) {
		padded = append(padded, '0')
	}
	padded = append(padded, nanos...)
	return string(append(append(padded, '-'), e.Delivery...))
}

// appendHeader appends the line of JSON that stands before an entry's body.
func appendHeader(b []byte, e Entry) []byte {
	b = append(b, `{"v":1,"agent":`...)
	b = jsonscan.AppendQuoted(b, e.Agent)
	b = append(b, `,"delivery":`...)
	b = jsonscan.AppendQuoted(b, e.Delivery)
	b = append(b, `,"occurred_at":"`...)
	b = e.OccurredAt.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","cut":`...)
	b = strconv.AppendBool(b, e.Cut)
	if len(e.Redactions) > 0 {
		b = append(b, `,"redacted":"`...)
		b = append(appendCounts(b, e.Redactions), '"')
	}
	b = append(b, `,"bytes":`...)
	b = strconv.AppendInt(b, int64(len(e.Body)), 10)
	return append(b, "}\n"...)
}
