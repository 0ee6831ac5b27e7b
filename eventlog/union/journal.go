package union

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

// The journal is a file of entries of one size, each
//
//	byte 0       what it says
//	bytes 1..3   the number of a log
//	bytes 4..7   a count
//	bytes 8..23  two numbers, or an id
//	bytes 24..27 CRC-32C of the entry's index and of the bytes before
//
// All numbers are big-endian. The order of the records is folded from it, so it only ever grows.
const entrySize = 28

// journalFormat is in the first entry.
const journalFormat = 1

// maxLogs is how many logs may have a number.
const maxLogs = 1<<24 - 1

// maxJournal bounds what is read of a file: 38 million entries, more than a machine's life has runs.
const maxJournal = 1 << 30

// What an entry says. They are on disk: they never change.
const (
	kindOwn     = 1 + iota // id: of the own log; n: the format. The first entry
	kindOrder              // id: of the order. The second
	kindLog                // id: of the log that has this number from now on
	kindRun                // the next n records of the log stand behind the own record a, known since b
	kindNeed               // the run of the next kindWaits needs the log's record a
	kindWaits              // the next n records of the log wait; here since b. Where a is not 0 they are those of the log with number a-1
	kindErased             // the log's record a must have no payload
	kindClean              // no file of the copy has a trace of what was erased in it before
	kindTrimmed            // payloads up to the log's record a are withheld, where they are raw
	kindDamaged            // the copy is damaged
	kindSame               // the next n records of the log are those that the log with number a has at the same positions
)

type entry struct {
	kind byte
	log  uint32
	n    uint32
	a, b uint64
}

// idEntry is an entry with an id.
func idEntry(says byte, log, n uint32, id events.LogID) entry {
	return entry{kind: says, log: log, n: n, a: binary.BigEndian.Uint64(id[:]), b: binary.BigEndian.Uint64(id[8:])}
}

// id is what idEntry was given.
func (e entry) id() (id events.LogID) {
	binary.BigEndian.PutUint64(id[:], e.a)
	binary.BigEndian.PutUint64(id[8:], e.b)
	return id
}

// addIDs adds what a journal begins with: which logs have numbers, the own one first, and which order it is.
func addIDs(add func(...entry), logs []events.LogID, order events.LogID) {
	add(idEntry(kindOwn, ownNumber, journalFormat, logs[ownNumber]), idEntry(kindOrder, ownNumber, 0, order))
	for n, id := range logs[1:] {
		add(idEntry(kindLog, uint32(n+1), 0, id))
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sumOf(index int64, b []byte) uint32 {
	sum := crc32.Checksum(binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(index)), castagnoli)
	return crc32.Update(sum, castagnoli, b)
}

// appendTo appends the stored form of e, the entry with an index.
func (e entry) appendTo(b []byte, index int64) []byte {
	start := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(e.kind)<<24|e.log)
	b = binary.BigEndian.AppendUint32(b, e.n)
	b = binary.BigEndian.AppendUint64(b, e.a)
	b = binary.BigEndian.AppendUint64(b, e.b)
	return binary.BigEndian.AppendUint32(b, sumOf(index, b[start:]))
}

// parseEntry reads what appendTo wrote; it is false for anything else.
func parseEntry(b []byte, index int64) (entry, bool) {
	be := binary.BigEndian
	head := be.Uint32(b)
	e := entry{kind: byte(head >> 24), log: head & (1<<24 - 1), n: be.Uint32(b[4:]), a: be.Uint64(b[8:]), b: be.Uint64(b[16:])}
	return e, e.kind >= kindOwn && be.Uint32(b[24:]) == sumOf(index, b[:24])
}

// errDamaged is a journal that is not what was written.
var errDamaged = errors.New("union: the order of the records is damaged")

// parseJournal reads entries: each that is whole, and how many there are from the first one without a bad one between.
// What a crash left of the last write is passed over. The error is errDamaged where a bad entry stands before a whole
// one.
func parseJournal(b []byte) (all []entry, whole int64, err error) {
	for at := 0; at+entrySize <= len(b); at += entrySize {
		e, ok := parseEntry(b[at:at+entrySize], int64(at/entrySize))
		if !ok {
			continue
		}
		if all = append(all, e); len(all) != at/entrySize+1 {
			err = errDamaged
		}
	}
	if err == nil {
		whole = int64(len(all))
	}
	return all, whole, err
}

// journal appends to the file. One goroutine at a time may.
type journal struct {
	file  *os.File
	sync  func() error
	count int64 // entries in it
	dirty bool  // something may be behind them
}

// openJournal reads the file at path. There is no journal, and no error, where there is no file. A file that is damaged is returned
// as far as it is whole, with errDamaged and no journal. Other errors are those of the file, and *eventlog.NewerFormatError.
func openJournal(path string, noSync bool) (*journal, []entry, error) {
	b, err := durable.ReadBounded(path, maxJournal)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("union: %w", err)
	}
	all, n, err := parseJournal(b)
	if err == nil && (len(all) < 2 || all[0].kind != kindOwn || all[1].kind != kindOrder) {
		err = errDamaged
	}
	if len(all) > 0 && all[0].kind == kindOwn && all[0].n > journalFormat {
		return nil, nil, &eventlog.NewerFormatError{Path: path, Found: all[0].n, Known: journalFormat}
	}
	if err != nil {
		return nil, all, err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("union: %w", err)
	}
	j := &journal{file: file, sync: file.Sync, count: n}
	if noSync {
		j.sync = func() error { return nil }
	}
	if err := j.truncate(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("union: %w", err), file.Close())
	}
	return j, all, nil
}

// createJournal writes the file at path anew, whole or not at all, with what write adds, and opens it.
func createJournal(path string, noSync bool, write func(add func(...entry)) error) (*journal, []entry, error) {
	if err := writeJournal(path, write); err != nil {
		return nil, nil, fmt.Errorf("union: %w", err)
	}
	return openJournal(path, noSync)
}

func writeJournal(path string, write func(add func(...entry)) error) error {
	_, err := durable.ReplaceWith(path, 0o600, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 64<<10) // its first error stays with it, and Flush says it
		var stored []byte
		index := int64(0)
		err := write(func(all ...entry) {
			for _, e := range all {
				stored = e.appendTo(stored[:0], index)
				index++
				_, _ = out.Write(stored)
			}
		})
		return cmp.Or(err, out.Flush())
	})
	return err
}

// add writes entries behind the others. They are on disk when it returns: all or none. The error is ErrCopy, with the file system's.
func (j *journal) add(all ...entry) error {
	if len(all) == 0 {
		return nil
	}
	b := make([]byte, 0, len(all)*entrySize)
	for i, e := range all {
		b = e.appendTo(b, j.count+int64(i))
	}
	if err := j.write(b); err != nil {
		j.dirty = j.truncate() != nil // else a part of it may be read by the next Open
		return fmt.Errorf("%w: the order of the records: %w", ErrCopy, err)
	}
	j.count += int64(len(all))
	return nil
}

func (j *journal) write(b []byte) error {
	if j.dirty {
		if err := j.truncate(); err != nil {
			return err
		}
		j.dirty = false
	}
	if _, err := j.file.WriteAt(b, j.count*entrySize); err != nil {
		return err
	}
	return j.sync()
}

// truncate leaves nothing in the file behind its last entry.
func (j *journal) truncate() error {
	return errors.Join(j.file.Truncate(j.count*entrySize), j.sync())
}

func (j *journal) close() error { return j.file.Close() }
