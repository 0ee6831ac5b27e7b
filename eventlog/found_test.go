package eventlog_test

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestFoundDamage damages one page of a log: whoever meets it, it is told; and that all is whole is told by whoever reads all.
func TestFoundDamage(t *testing.T) {
	t.Parallel()
	d := newDamaged(t)
	for name, read := range map[string]func(*eventlog.Bolt, events.Position) error{
		"verify": func(l *eventlog.Bolt, _ events.Position) error { return eventlog.Verify(t.Context(), l, nil) },
		"backup": func(l *eventlog.Bolt, _ events.Position) error {
			return l.Backup(t.Context(), filepath.Join(t.TempDir(), "copy"))
		},
		"compact": func(l *eventlog.Bolt, _ events.Position) error { return l.Compact(t.Context()) },
		"all": func(l *eventlog.Bolt, at events.Position) error {
			for _, err := range l.All(t.Context(), 1) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"stream": func(l *eventlog.Bolt, at events.Position) error {
			for _, err := range l.Stream(t.Context(), logtest.Session("a"), 1) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"get":   func(l *eventlog.Bolt, at events.Position) error { _, err := l.Get(t.Context(), at); return err },
		"erase": func(l *eventlog.Bolt, at events.Position) error { return l.Erase(t.Context(), at) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, damage := range []bool{false, true} {
				path := filepath.Join(t.TempDir(), "log")
				image := readImage(t, d.path)
				at := events.Position(1)
				if damage {
					at = spoilLeaf(t, image)
				}
				image.write(t, path)
				var met []*eventlog.CorruptError
				l, err := eventlog.Open(path, eventlog.Config{Found: func(e *eventlog.CorruptError) { met = append(met, e) }})
				if err != nil {
					t.Fatal(err)
				}
				err = read(l, at)
				if errors.Is(err, events.ErrCorrupt) != damage {
					t.Fatalf("damaged %v: got %v", damage, err)
				}
				mustAppend(t, l, logtest.Session("new"), 0, "goes on")
				mustClose(t, l)
				whole := name == "verify" || name == "backup" || name == "compact"
				switch {
				case damage && (len(met) == 0 || met[0] == nil):
					t.Errorf("damage was met and not told: %v", met)
				case damage && (met[0].Position < at || name != "stream" && met[0].Position > at): // a stream is read from its end
					t.Errorf("damage at %d was told as of %d", at, met[0].Position)
				case !damage && (len(met) == 1) != whole:
					t.Errorf("of a whole log was told %v", met)
				}
			}
		})
	}
}

// spoilLeaf spoils the number of each version of a page of records, not the first, which is looked at when a log is opened: bbolt takes it
// for damaged and reads none of it. It returns the position of its first record.
func spoilLeaf(t *testing.T, pages image) (at events.Position) {
	t.Helper()
	first := func(p []byte) events.Position { // that a page of records begins with; 0: it is another page
		pos, size := binary.NativeEndian.Uint32(p[20:]), binary.NativeEndian.Uint32(p[24:])
		if p[8] != 0x02 || binary.NativeEndian.Uint16(p[10:]) == 0 || size != 8 || int(16+pos+8) > len(p) {
			return 0
		}
		return events.Position(binary.BigEndian.Uint64(p[16+pos:]))
	}
	for _, p := range pages {
		if n := first(p); n > 1 && (at == 0 || n < at) {
			at = n
		}
	}
	if at == 0 {
		t.Fatal("the log has one page of records")
	}
	for _, p := range pages {
		if first(p) == at {
			p[5] ^= 0x10
		}
	}
	return at
}
