package eventlog_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// spoiled is a log of newDamaged, in whose file spoil changed something.
func spoiled(t *testing.T, spoil func(d damaged, file []byte)) (damaged, *eventlog.Bolt) {
	t.Helper()
	d := newDamaged(t)
	file := slices.Concat(readImage(t, d.path)...)
	spoil(d, file)
	path := filepath.Join(t.TempDir(), "spoiled")
	image{file}.write(t, path)
	return d, openLog(t, path)
}

// storedAt is where the bytes of a record lie in the page that the log has it in: the last one.
func storedAt(t *testing.T, r events.Record, file []byte) (at, size int) {
	t.Helper()
	b, err := r.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.LastIndex(file, b), len(b)
}

// TestExportPastDamage: a record, a payload and a whole page are damaged. All else is exported, what is missing is named, and the import
// of it is a log with placeholders.
func TestExportPastDamage(t *testing.T) {
	t.Parallel()
	each := func(file []byte, b []byte, do func(at int)) { // all copies, so that no old page helps
		for at := 0; ; at++ {
			n := bytes.Index(file[at:], b)
			if n < 0 {
				return
			}
			at += n
			do(at)
		}
	}
	for name, test := range map[string]struct {
		spoil        func(d damaged, file []byte)
		lost, unread int // at least
	}{
		"a payload": {func(d damaged, file []byte) {
			at, size := storedAt(t, d.records[30], file)
			file[at+size-1] ^= 1
		}, 0, 1},
		"a header": {func(d damaged, file []byte) {
			at, _ := storedAt(t, d.records[30], file)
			file[at+4+40] ^= 1
		}, 1, 0},
		"a page": {func(d damaged, file []byte) {
			b, _ := d.records[30].AppendBinary(nil)
			each(file, b, func(at int) { clear(file[at/pageSize*pageSize:][:16]) })
		}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, log := spoiled(t, test.spoil)
			var out bytes.Buffer
			n, err := eventlog.Export(t.Context(), log, &out, 1)
			var gaps *eventlog.IncompleteError
			if !errors.As(err, &gaps) || int(gaps.Lacking) < test.lost || int(gaps.Unread) < test.unread || n+gaps.Lacking != uint64(len(d.records)) {
				t.Fatalf("Export: %d records, %v", n, err)
			}
			if at := slices.Concat(gaps.LostAt, gaps.UnreadAt)[0]; at.From > 31 || at.To < 31 || !strings.Contains(err.Error(), at.String()) {
				t.Errorf("the error does not name position 31: %v", err)
			}
			to := tempLog(t)
			got, err := eventlog.Import(t.Context(), to, bytes.NewReader(out.Bytes()))
			var imported *eventlog.IncompleteError
			if !errors.As(err, &imported) || got != uint64(len(d.records))+1 || imported.Lacking != gaps.Lacking || imported.Unread != gaps.Unread {
				t.Fatalf("Import: %d records, %v", got, err)
			}
			mustVerify(t, to)
			lost := 0
			for i, r := range allOf(t, to)[:len(d.records)] {
				if r.Kind == events.KindRecordLost {
					lost++
				} else if r.ID != d.records[i].ID || !r.Erased && r.PayloadHash != d.records[i].PayloadHash {
					t.Errorf("position %d is another record", i+1)
				}
			}
			if lost != int(gaps.Lacking) {
				t.Errorf("%d placeholders, %d lacking", lost, gaps.Lacking)
			}
			read := 0
			for _, err := range eventlog.ReadExport(t.Context(), bytes.NewReader(out.Bytes())) {
				if err != nil {
					t.Fatal(err)
				}
				read++
			}
			if read != len(d.records) {
				t.Errorf("ReadExport gave %d of %d", read, len(d.records))
			}
			out.Reset()
			if _, err := eventlog.Export(t.Context(), to, &out, 1); err != nil {
				t.Errorf("the import's own export: %v", err)
			}
		})
	}
}

// TestImportDamagedPayload: an export of an older program holds a payload that is not the one its header names.
func TestImportDamagedPayload(t *testing.T) {
	t.Parallel()
	from := tempLog(t)
	mustAppend(t, from, events.Daemon, 0, "one", "two", "three")
	var out bytes.Buffer
	if _, err := eventlog.Export(t.Context(), from, &out, 1); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(out.String(), base64Of(t, from, 2, 0), base64Of(t, from, 2, 1), 1)
	if text == out.String() {
		t.Fatal("nothing was changed")
	}
	to := tempLog(t)
	n, err := eventlog.Import(t.Context(), to, strings.NewReader(text))
	var gaps *eventlog.IncompleteError
	if !errors.As(err, &gaps) || n != 4 || gaps.Unread != 1 || gaps.Lacking != 0 {
		t.Fatalf("got %d, %v", n, err)
	}
	mustVerify(t, to)
	if r, err := to.Get(t.Context(), 2); err != nil || !r.Erased {
		t.Errorf("erased %t, %v", r.Erased, err)
	}
}

// TestCutFileSaysSo: a file that was cut is told as one, not as whatever the library ran into.
func TestCutFileSaysSo(t *testing.T) {
	t.Parallel()
	d := newDamaged(t)
	used := readImage(t, d.path)[:d.used/pageSize]
	for size := int64(2 * pageSize); size < d.used-pageSize; size += d.used / 20 {
		path := filepath.Join(t.TempDir(), "log.db")
		used.write(t, path)
		truncate(t, path, size)
		l, err := eventlog.OpenReadOnly(path, eventlog.Config{})
		if err == nil {
			mustClose(t, l)
			continue // what is missing is behind what opening looks at
		}
		if !errors.Is(err, events.ErrCorrupt) || !strings.Contains(err.Error(), "log.db ends before page ") {
			t.Errorf("cut to %d of %d: %v", size, d.used, err)
		}
	}
}

// base64Of is a record as an export has it, with its last byte changed by x.
func base64Of(t *testing.T, log eventlog.Log, at events.Position, x byte) string {
	t.Helper()
	r, err := log.Get(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= x
	return base64.StdEncoding.EncodeToString(b)
}
