package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// noise is text of n bytes that cannot be compressed to much less.
func noise(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.IntN(256))
	}
	return string(b)
}

// compact backs the log at src up to dst, which may be src.
func compact(ctx context.Context, src, dst string) error {
	b, err := eventlog.OpenReadOnly(src, eventlog.Config{})
	if err != nil {
		return err
	}
	return errors.Join(b.Backup(ctx, dst), b.Close())
}

// TestErasedBytes erases words and looks for them in the raw bytes of the file, before and after it is copied. A payload
// that is compressed is looked for in its compressed form: what the record said on disk.
func TestErasedBytes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	long := noise(3000) + strings.Repeat("the long secret ", 100)
	mustAppend(t, l, logtest.Session("a"), 0, "before", "the short secret", long, "after")
	mustAppend(t, l, logtest.Session("a"), 4, numbered("filler", 200)...)
	var traces [][]byte
	for _, p := range []events.Position{2, 3} {
		r, err := l.Get(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := r.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		header, err := r.Erase().AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, stored[len(header)+8:len(header)+24]) // eight bytes of the salt, and the payload's first
		traces = append(traces, stored[len(stored)-16:])
	}
	if len(traces[2]) == 0 || bytes.Contains(traces[3], []byte("secret")) {
		t.Fatal("the long payload is not compressed")
	}
	if err := l.Erase(t.Context(), 2, 3); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, l)
	want := contents(t, l)
	mustClose(t, l)
	if n := found(t, path, traces); n == 0 {
		t.Error("nothing was found before compaction: the search does not work")
	}
	if err := compact(t.Context(), path, path); err != nil {
		t.Fatalf("copy: %v", err)
	}
	if n := found(t, path, append(traces, []byte("the short secret"))); n != 0 {
		t.Errorf("%d traces are in the file after compaction", n)
	}
	again := openLog(t, path)
	mustVerify(t, again)
	if diff := cmp.Diff(want, contents(t, again)); diff != "" {
		t.Errorf("after compaction (-want +got):\n%s", diff)
	}
	mustAppend(t, again, logtest.Session("a"), 204, "goes on")
}

func found(t *testing.T, path string, traces [][]byte) (n int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range traces {
		if bytes.Contains(b, s) {
			n++
		}
	}
	return n
}

// TestBackup copies a log while 4 writers append to it.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, filepath.Join(dir, "log"))
	mustAppend(t, l, logtest.Session("x"), 0, numbered("x", 3000)...)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for v := events.Version(0); ctx.Err() == nil; v++ {
				_, err := l.Append(ctx, logtest.Session(fmt.Sprint(w)), v, logtest.Draft("x"))
				if err != nil && ctx.Err() == nil {
					t.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	copied := filepath.Join(dir, "backup")
	fileOf("what was there before")(t, copied)
	err := l.Backup(t.Context(), copied)
	var stream bytes.Buffer
	n, streamErr := l.CopyTo(t.Context(), &stream)
	stop()
	writers.Wait()
	if err != nil || streamErr != nil || n != int64(stream.Len()) {
		t.Fatalf("Backup: %v; CopyTo: %d of %d bytes, %v", err, n, stream.Len(), streamErr)
	}
	fileOf(stream.String())(t, filepath.Join(dir, "streamed"))
	all := contents(t, l)
	for _, name := range []string{"backup", "streamed"} {
		b := openLog(t, filepath.Join(dir, name))
		mustVerify(t, b)
		got := contents(t, b)
		if len(got) < 3000 || !cmp.Equal(got, all[:len(got)]) {
			t.Errorf("%s: %d records, and not the first of the log's %d", name, len(got), len(all))
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("the folder holds %v, %v; want the log and two copies", left, err)
	}
}

// TestBackupOfDamage leaves the older backup alone.
func TestBackupOfDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	mustAppend(t, l, logtest.Session("a"), 0, "1", "2", "3")
	mustClose(t, l)
	rawUpdate(t, path, func(tx *bbolt.Tx) error {
		log := tx.Bucket([]byte("log"))
		v := bytes.Clone(log.Get([]byte{0, 0, 0, 0, 0, 0, 0, 2}))
		v[len(v)-1] ^= 1
		return log.Put([]byte{0, 0, 0, 0, 0, 0, 0, 2}, v)
	})
	to := filepath.Join(t.TempDir(), "backup")
	fileOf("older")(t, to)
	err := compact(t.Context(), path, to)
	var corrupt *eventlog.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Position != 2 {
		t.Errorf("copy: got %v, want a CorruptError at 2", err)
	}
	if b, err := os.ReadFile(to); err != nil || string(b) != "older" {
		t.Errorf("the older backup: %.20q, %v", b, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := compact(ctx, path, to); !errors.Is(err, context.Canceled) {
		t.Errorf("copy after cancel: %v", err)
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	l := tempLog(t)
	mustAppend(t, l, logtest.Session("a"), 0, numbered("x", 100)...)
	mustAppend(t, l, events.Daemon, 0, "y")
	s, err := l.Stats(t.Context())
	if err != nil {
		t.Fatalf("Stats: %v", err)
	}
	info, err := os.Stat(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	if s.Bytes < 100*200 || s.CommitTime <= 0 || s.FreeBytes < pageSize || s.FreeBytes > 1<<20 {
		t.Errorf("unlikely figures: %+v", s)
	}
	free := s.FreeBytes
	s.Bytes, s.CommitTime, s.FreeBytes = 0, 0, 0
	want := eventlog.Stats{Last: 101, Streams: 2, FileBytes: info.Size(), Commits: 2, Appends: 2, Records: 101, Largest: 1}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
	mustClose(t, l)
	if _, err := l.Stats(t.Context()); !errors.Is(err, eventlog.ErrClosed) {
		t.Errorf("Stats after Close: %v", err)
	}
	reader, err := eventlog.OpenReadOnly(l.Path(), eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	read, err := reader.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if read.FreeBytes != free {
		t.Errorf("open for reading it has %d free bytes, open for writing it had %d", read.FreeBytes, free)
	}
}
