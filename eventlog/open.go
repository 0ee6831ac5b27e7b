package eventlog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/boltcheck"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/filelock"
)

// A file has a format number: that of its layout when it is made, and a higher one from the first record on that is withheld, or of a
// kind that older programs do not know; see events.Traits. A program refuses a file with a number that it does not know.
const (
	firstFormat    = 1
	withheldFormat = 7
	lastFormat     = withheldFormat
)

// Format is the newest format of a file that this program knows.
const Format = lastFormat

// maxStored bounds what is read as one record: a payload, its header, and room for what later layouts add.
const maxStored = events.MaxPayload + 64<<10

var (
	logBucket  = []byte("log")
	headBucket = []byte("head")

	// formatKey sits among the heads; no stream may begin with NUL.
	formatKey = []byte("\x00format")
)

// options are bbolt's, as measured for a file that grows at its end: the free list is tiny, so writing it makes opening
// take microseconds instead of a scan; a large mapping spares the writer from waiting for readers to remap.
func options(cfg Config, readOnly bool) *bbolt.Options {
	o := &bbolt.Options{
		Timeout: cfg.Timeout, ReadOnly: readOnly, NoSync: cfg.NoSync, FreelistType: bbolt.FreelistMapType,
	}
	if runtime.GOOS != "windows" && ^uint(0)>>32 != 0 { // there the file would be stretched, or the space is scarce
		o.InitialMmapSize = 1 << 30
	}
	return o
}

// openFile opens the file at path, checks that it is a log, and makes an empty one into a log.
func openFile(path string, cfg Config, readOnly bool) (db *bbolt.DB, file *os.File, err error) {
	fresh := isFresh(path)
	if err := checkFile(path, readOnly); err != nil {
		return nil, nil, err
	}
	for {
		db, file, err = openDB(path, cfg, readOnly)
		if err != nil {
			return nil, nil, explain(path, err)
		}
		if isAt(file, path) {
			break
		}
		_ = db.Close() // it was replaced while we waited for the lock: what we hold has no name any more
	}
	err = prepare(db, file, path, readOnly)
	if err == nil && fresh && !readOnly {
		err = durable.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, file, nil
}

// openDB opens the file at path, with the large mapping or, where the system has no room for it, with one that the file just needs.
func openDB(path string, cfg Config, readOnly bool) (db *bbolt.DB, file *os.File, err error) {
	o := options(cfg, readOnly)
	db, file, err = openWith(path, o)
	if o.InitialMmapSize > 0 && errors.Is(err, syscall.ENOMEM) {
		o.InitialMmapSize = 0
		return openWith(path, o)
	}
	return db, file, err
}

func openWith(path string, o *bbolt.Options) (db *bbolt.DB, file *os.File, err error) {
	o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		var err error
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	err = withFaults(func() (err error) {
		db, err = bbolt.Open(path, 0o600, o)
		return err
	})
	if err != nil && file != nil {
		_ = filelock.Release(file) // bbolt has closed it, unless it panicked
	}
	return db, file, err
}

// checkFile refuses what is no file, which the system would wait for, and to read a file that holds nothing. What is not there, or
// cannot be looked at, is for whoever opens it.
func checkFile(path string, readOnly bool) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is no regular file (%s)", ErrNotLog, path, info.Mode().Type())
	case readOnly && info.Size() == 0:
		return fmt.Errorf("%w: %s is empty", ErrNotLog, path)
	}
	return nil
}

func isFresh(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Size() == 0
}

// explain gives bbolt's reasons for not opening a file our names.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		pid, command := holderOf(path)
		return &LockedError{Path: path, PID: pid, Command: command}
	case errors.Is(err, events.ErrCorrupt), errors.Is(err, bolterrors.ErrChecksum):
		return fmt.Errorf("eventlog: open %s: %w", path, asCorrupt(cmp.Or(cutAt(path), err)))
	case durable.IsOfSystem(err): // which says nothing about what is in the file
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch), isTooSmall(path):
		return fmt.Errorf("%w: %s (%w)", ErrNotLog, path, err)
	}
	return fmt.Errorf("eventlog: open %s: %w", path, err)
}

// isTooSmall reports a file that holds something, yet not even bbolt's two meta pages.
func isTooSmall(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Size() < int64(2*os.Getpagesize())
}

// cutAt is the error of a file that ends before a page that it needs; nil where that is not found.
func cutAt(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	return asCut(boltcheck.Check(f, info.Size(), boltcheck.Config{Depth: bucketDepth}), path)
}

// asCut names the file that ends too soon; nil where err says something else.
func asCut(err error, path string) error {
	cut, ok := errors.AsType[*boltcheck.CutError](err)
	if !ok {
		return nil
	}
	return corruptf(0, "", "%s ends before page %d", filepath.Base(path), cut.Page)
}

func asCorrupt(err error) error {
	if errors.Is(err, events.ErrCorrupt) {
		return err
	}
	return corruptf(0, "", "%s", err)
}

// bucketDepth is how deep buckets nest: those in the root hold values.
const bucketDepth = 1

// prepare checks the file's structure and format, and lays out an empty file.
func prepare(db *bbolt.DB, file *os.File, path string, readOnly bool) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("eventlog: open %s: %w", path, err)
	}
	if err := boltcheck.Check(file, info.Size(), boltcheck.Config{PageSize: db.Info().PageSize, Depth: bucketDepth}); err != nil {
		if !durable.IsOfSystem(err) {
			err = cmp.Or(asCut(err, path), corruptf(0, "", "%s", err))
		}
		return fmt.Errorf("eventlog: open %s: %w", path, err)
	}
	return withFaults(func() error {
		empty, err := checkFormat(db, path)
		if err != nil || !empty {
			return err
		}
		if readOnly {
			return fmt.Errorf("%w: %s is empty", ErrNotLog, path)
		}
		return layOut(db)
	})
}

// neverWritten is the number of bbolt's last transaction in a file in which nothing was committed since it was made.
const neverWritten = 1

// checkFormat refuses a file that is another program's, or a newer one's. It reports a file without any bucket. One whose buckets are
// gone is damaged: one flipped bit in its root does that, and to begin it anew would write over all that it holds. So is one that has
// lost some of its buckets.
func checkFormat(db *bbolt.DB, path string) (empty bool, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		if k, _ := tx.Cursor().First(); k == nil {
			if tx.ID() > neverWritten {
				return fmt.Errorf("eventlog: open %s: %w", path, corruptf(0, "", "it says that it is empty, yet transaction %d was committed", tx.ID()))
			}
			empty = true
			return nil
		}
		v := formatIn(tx)
		if len(v) == 4 { // a newer format's parts are its own
			if n := binary.BigEndian.Uint32(v); n < firstFormat || n > lastFormat {
				return &NewerFormatError{Path: path, Found: n, Known: lastFormat}
			}
		}
		switch lost := tx.Bucket(logBucket) == nil || len(v) != 4; {
		case lost && (len(v) == 4 || holdsRecords(tx)):
			return fmt.Errorf("eventlog: open %s: %w", path, corruptf(0, "", "a part of it that every log has is lost"))
		case lost:
			return fmt.Errorf("%w: %s is the database of another program", ErrNotLog, path)
		}
		return nil
	})
	return empty, err
}

// formatIn is the format number as it is stored; nil: there is none.
func formatIn(tx *bbolt.Tx) []byte {
	if heads := tx.Bucket(headBucket); heads != nil {
		return heads.Get(formatKey)
	}
	return nil
}

// holdsRecords reports whether a file begins with a record of ours, or with what a salvage noted of one.
func holdsRecords(tx *bbolt.Tx) bool {
	if records := tx.Bucket(logBucket); records != nil {
		k, v := records.Cursor().First()
		return positionOf(k) > 0 && events.StoredAt(v) == positionOf(k)
	}
	if before := tx.Bucket(beforeBucket); before != nil {
		k, v := before.Cursor().First()
		return positionOf(k) > 0 && len(v) == headSize
	}
	return false
}

func layOut(db *bbolt.DB) error {
	return db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(logBucket)
		if err != nil {
			return err
		}
		heads, err := tx.CreateBucket(headBucket)
		if err != nil {
			return err
		}
		return heads.Put(formatKey, binary.BigEndian.AppendUint32(nil, firstFormat))
	})
}

// readEnd finds the last record. The bucket's sequence holds its position too, so that a lost leaf is noticed.
func readEnd(db *bbolt.DB, codec *events.Codec) (last events.Position, recorded time.Time, err error) {
	find := func(tx *bbolt.Tx) error {
		records := tx.Bucket(logBucket)
		k, v := records.Cursor().Last()
		if at := positionOf(k); uint64(at) != records.Sequence() {
			return corruptf(at, "", "is the last record, yet position %d was written", records.Sequence())
		}
		if k == nil {
			return nil
		}
		r, err := parseRecord(codec, positionOf(k), bytes.Clone(v))
		last, recorded = r.Position, r.RecordedAt
		return err
	}
	err = withFaults(func() error { return db.View(find) })
	return last, recorded, err
}

// withFaults runs f, which reads the mapped file, and turns what a damaged file does to it into a *CorruptError: page
// faults behind a file's end and bbolt's own panics. f must not run code of others.
func withFaults(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = corruptf(0, "", "the file is damaged: %v", p)
		}
	}()
	return f()
}

func keyOf(at events.Position) []byte { return binary.BigEndian.AppendUint64(nil, uint64(at)) }

// positionOf reads a key of the log bucket; 0 for what is none.
func positionOf(k []byte) events.Position {
	if len(k) != 8 {
		return 0
	}
	return events.Position(binary.BigEndian.Uint64(k))
}

// parseRecord reads the record stored at a position.
func parseRecord(codec *events.Codec, at events.Position, stored []byte) (events.Record, error) {
	r, err := codec.Record(stored)
	switch {
	case errors.Is(err, events.ErrCorrupt):
		return r, corruptf(at, "", "the stored record is damaged: %s", err)
	case err != nil:
		return r, fmt.Errorf("eventlog: position %d: %w", at, err)
	case r.Position != at:
		return r, corruptf(at, r.Stream, "the record says position %d", r.Position)
	}
	return r, nil
}
