package salvage_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/salvage"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

const pageSize = 4096

// original is a log before it is damaged.
type original struct {
	file    []byte
	records []events.Record
	stored  [][]byte // of each, behind its key
	compact bool     // no page holds what was erased
}

// forgetter is the index of the record that names a position as forgotten; false: there is none.
func (o original) forgetter(at events.Position) (int, bool) {
	i := slices.IndexFunc(o.records, func(r events.Record) bool {
		if r.Kind != events.KindMemoryForgotten {
			return false
		}
		e, err := r.Event()
		return err == nil && slices.Contains(e.(events.MemoryForgotten).Positions, at)
	})
	return i, i >= 0
}

// newOriginal makes a log as a daemon does: sessions in turn, small and large payloads, some of them forgotten and erased. With compact
// nothing of what was erased is left in its pages.
func newOriginal(tb testing.TB, random *rand.Rand, rounds int, compact bool) original {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "log.db")
	log, err := eventlog.Open(path, eventlog.Config{NoSync: true})
	if err != nil {
		tb.Fatal(err)
	}
	add := func(stream events.StreamID, drafts ...events.Draft) []events.Record {
		records, err := eventlog.AppendEnd(tb.Context(), log, stream, drafts...)
		if err != nil {
			tb.Fatal(err)
		}
		return records
	}
	for i := range rounds {
		stream := logtest.Session(fmt.Sprint(random.IntN(5 + rounds/20)))
		var drafts []events.Draft
		for range 1 + random.IntN(6) {
			drafts = append(drafts, logtest.Draft(fmt.Sprintf("words of round %d %s", i, payload(random))))
		}
		records := add(stream, drafts...)
		if random.IntN(15) == 0 {
			gone := records[random.IntN(len(records))].Position
			add(stream, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: records[0].OccurredAt, Event: events.MemoryForgotten{
				Positions: []events.Position{gone}, Cause: "person",
			}})
			if err := log.Erase(tb.Context(), gone); err != nil {
				tb.Fatal(err)
			}
		}
		if random.IntN(10) == 0 {
			add(events.Daemon, logtest.Draft("the daemon's"))
		}
	}
	if compact {
		if err := log.Compact(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
	return originalOf(tb, log, path, compact)
}

// originalOf closes the log at path and returns it.
func originalOf(tb testing.TB, log *eventlog.Bolt, path string, compact bool) original {
	tb.Helper()
	o := original{records: logtest.Records(tb, log), compact: compact}
	if err := log.Close(); err != nil {
		tb.Fatal(err)
	}
	for _, r := range o.records {
		b, err := r.AppendBinary(binary.BigEndian.AppendUint64(nil, uint64(r.Position)))
		if err != nil {
			tb.Fatal(err)
		}
		o.stored = append(o.stored, b)
	}
	var err error
	if o.file, err = os.ReadFile(path); err != nil {
		tb.Fatal(err)
	}
	return o.cutUnused()
}

// cutUnused leaves out the part behind the last page, which is zeros.
func (o original) cutUnused() original {
	n := len(bytes.TrimRight(o.file, "\x00"))
	o.file = o.file[:min(len(o.file), (n/pageSize+1)*pageSize)]
	return o
}

func payload(random *rand.Rand) string {
	b := make([]byte, random.IntN(200))
	switch random.IntN(40) {
	case 0: // over pages, and not to be compressed
		b = make([]byte, 5_000+random.IntN(12_000))
	case 1, 2:
		return strings.Repeat("what repeats itself ", 100+random.IntN(2_000))
	}
	for i := range b {
		b[i] = ' ' + byte(random.IntN(90))
	}
	return string(b)
}

// read salvages a file.
func read(tb testing.TB, file []byte, forgotten ...events.Position) *salvage.Salvage {
	tb.Helper()
	s, err := salvage.Read(tb.Context(), bytes.NewReader(file), int64(len(file)), salvage.Config{Forgotten: forgotten})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// written is the log that s makes, read and checked.
func written(tb testing.TB, s *salvage.Salvage) []events.Record {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "out.db")
	defer os.Remove(path) // of a thousand trials, one is enough on the disk
	if err := s.Write(tb.Context(), path, "log.db", nil); err != nil {
		tb.Fatal(err)
	}
	log, err := eventlog.OpenReadOnly(path, eventlog.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close()
	if err := eventlog.Verify(tb.Context(), log, nil); err != nil {
		tb.Fatal(err)
	}
	all := logtest.Records(tb, log)
	if !s.Whole() {
		last := all[len(all)-1]
		if last.Kind != events.KindLogSalvaged || last.Stream != events.Daemon {
			tb.Fatalf("the last record is a %s of %s", last.Kind, last.Stream)
		}
		all = all[:len(all)-1]
	}
	return all
}
