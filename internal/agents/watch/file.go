package watch

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"time"
)

// file is one transcript that is followed.
type file struct {
	File
	rule    string    // by which it was found
	there   bool      // found by the latest scan
	seen    bool      // it was decided what is done about it
	old     bool      // it was done with before it was watched, and has not grown since: left alone
	changed time.Time // of its latest change that is not read yet, by our clock; zero: all is read
	since   time.Time // of the first of those
	read    time.Time // when something was read of it last
	reading Reading   // nil: it is read from its beginning when it grows
	handle  *os.File  // what the reading is of, whatever the path leads to by now
	used    uint64    // when its reading was used last
	again   time.Time // not before
	pause   time.Duration
}

// look finds out whether f has changed since it was read.
func (w *Watcher) look(f *file) {
	info, err := os.Lstat(f.Path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	now := w.cfg.Now()
	if !f.seen {
		f.seen, w.dirty = true, true
		if info.ModTime().Before(w.horizon(f.rule, now)) {
			f.old, f.Size, f.Changed = true, info.Size(), info.ModTime()
			return
		}
	}
	if info.Size() == f.Size && info.ModTime().Equal(f.Changed) && f.Error == "" {
		return
	}
	if f.changed.IsZero() {
		f.since = now
	}
	f.changed = now
}

// horizon is since when files of a rule are read that were never seen: for as long as the backlog is, and as long as nobody
// looked, for an agent works on while the daemon is away.
func (w *Watcher) horizon(rule string, now time.Time) time.Time {
	since := now.Add(-w.cfg.Backlog)
	if last, ok := w.looked[rule]; ok && last.Before(since) {
		return last
	}
	return since
}

// due reports whether what f has grown by is to be read now: it has rested for a moment, or grown for too long.
func (f *file) due(now time.Time) bool {
	if f.changed.IsZero() || now.Before(f.again) {
		return false
	}
	return now.Sub(f.changed) >= settle || now.Sub(f.since) >= settleMost
}

// resting reports whether f's reading is to be told that nothing comes for now.
func (f *file) resting(now time.Time) bool {
	return f.reading != nil && !f.Rested && f.changed.IsZero() && !now.Before(f.again) && now.Sub(f.read) >= restAfter
}

// take reads what f has grown by. Rest says that nothing comes for now.
func (w *Watcher) take(ctx context.Context, f *file, rest bool) {
	err := w.readOn(ctx, f, rest)
	now := w.cfg.Now()
	switch {
	case ctx.Err() != nil:
		w.drop(f)
	case errors.Is(err, fs.ErrNotExist):
		f.changed = time.Time{}
	case err != nil:
		w.drop(f)
		f.pause = min(max(2*f.pause, time.Second), time.Minute)
		f.again = now.Add(f.pause)
		if f.Error == "" {
			w.cfg.Logger.Warn("a transcript is not read; it is tried again", "file", f.Path, "agent", f.Agent, "err", err)
		}
		f.Error, w.dirty = err.Error(), true
	default:
		f.pause, f.Error, f.old = 0, "", false
	}
}

// readOn reads f on from where its reading stands, or from its beginning.
func (w *Watcher) readOn(ctx context.Context, f *file, rest bool) error {
	now, err := os.Stat(f.Path)
	if err != nil {
		return err
	}
	if f.reading != nil {
		if err := w.leave(ctx, f, now); err != nil {
			return err
		}
	}
	if f.reading == nil {
		if rest {
			return nil // it was replaced just now: that is told by itself
		}
		if err := w.begin(f); err != nil {
			return err
		}
	}
	return w.readFrom(ctx, f, rest)
}

// leave ends a reading whose file is another one now, or was cut or rewritten. What a file that was moved away had grown by
// before is read first.
func (w *Watcher) leave(ctx context.Context, f *file, now fs.FileInfo) error {
	was, err := f.handle.Stat()
	if err != nil {
		return err
	}
	moved := !os.SameFile(was, now)
	if !moved && f.same(was) {
		return nil
	}
	if moved && f.same(was) {
		if err := w.readFrom(ctx, f, true); err != nil {
			return err
		}
	}
	w.drop(f)
	return nil
}

// readFrom reads what f's file has from the offset on.
func (w *Watcher) readFrom(ctx context.Context, f *file, rest bool) error {
	info, err := f.handle.Stat()
	if err != nil {
		return err
	}
	w.uses++
	f.used = w.uses
	got, err := f.reading.Take(ctx, until{ctx, io.NewSectionReader(f.handle, f.Offset, info.Size()-f.Offset)}, rest)
	if err != nil {
		return err
	}
	f.Offset, f.Lines, f.Bad, f.Captured, f.Rested = got.Offset, got.Lines, got.Bad, got.Captured, rest
	f.Size, f.Changed = info.Size(), info.ModTime()
	f.Before, err = sumBefore(f.handle, f.Offset)
	if !rest {
		f.read = w.cfg.Now()
	}
	f.changed, w.dirty = time.Time{}, true
	return err
}

// until is a reader that ends with ctx: a long file does not keep the end waiting.
type until struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// begin opens a reading of f from its beginning. Where too many are open, the one that was used least lately is let go.
func (w *Watcher) begin(f *file) (err error) {
	open := 0
	var oldest *file
	for _, other := range w.files {
		if other.reading == nil {
			continue
		}
		open++
		if oldest == nil || other.used < oldest.used {
			oldest = other
		}
	}
	if open >= maxReadings {
		w.drop(oldest)
	}
	f.Offset, f.Lines, f.Captured, f.Bad, f.Before = 0, 0, 0, 0, 0
	if f.handle, err = os.Open(f.Path); err != nil {
		f.handle = nil
		return err
	}
	f.reading, err = w.cfg.Sink.Open(f.Agent, f.Path)
	return err
}

// drop lets f's reading go. How far it came stays.
func (w *Watcher) drop(f *file) {
	if f.handle != nil {
		_ = f.handle.Close() // it was only read
	}
	f.reading, f.handle = nil, nil
}

// same reports whether the file that is open still begins with what was read of it.
func (f *file) same(info fs.FileInfo) bool {
	if info.Size() < f.Offset {
		return false
	}
	sum, err := sumBefore(f.handle, f.Offset)
	return err == nil && sum == f.Before
}

// summed is how many bytes before an offset tell a file from another.
const summed = 1024

// sumBefore is a sum over the last bytes before an offset. It is short on purpose: nobody tries out words with it.
func sumBefore(in io.ReaderAt, offset int64) (uint32, error) {
	b := make([]byte, min(offset, summed))
	if _, err := in.ReadAt(b, offset-int64(len(b))); err != nil && !(errors.Is(err, io.EOF) && len(b) == 0) {
		return 0, err
	}
	return crc32.ChecksumIEEE(b), nil
}
