package watch

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// inspect finds out whether f has changed since it was read.
func (w *Watcher) inspect(f *file) {
	info, err := os.Lstat(f.Path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	now := w.cfg.Now()
	if !f.decided {
		f.decided, w.dirty = true, true
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
	if last, ok := w.scanned[rule]; ok && last.Before(since) {
		return last
	}
	return since
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
		f.notBefore = now.Add(f.pause)
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
		if err := w.endIfReplaced(ctx, f, now); err != nil {
			return err
		}
	}
	if f.reading == nil {
		if rest {
			return nil // it was replaced just now: that is reported by itself
		}
		if err := w.begin(f); err != nil {
			return err
		}
	}
	return w.readFrom(ctx, f, rest)
}

// endIfReplaced ends a reading whose file is another one now, or was cut or rewritten. What a file that was moved away had grown by
// before is read first.
func (w *Watcher) endIfReplaced(ctx context.Context, f *file, now fs.FileInfo) error {
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
	got, err := f.reading.Take(ctx, until(ctx, io.NewSectionReader(f.handle, f.Offset, info.Size()-f.Offset)), rest)
	if err != nil {
		return err
	}
	f.Offset, f.Lines, f.Bad, f.Captured, f.Rested = got.Offset, got.Lines, got.Bad, got.Captured, rest
	f.Size, f.Changed, f.ReadAt = info.Size(), info.ModTime(), w.cfg.Now().UTC()
	f.Before, err = sumBefore(f.handle, f.Offset)
	f.changed, w.dirty = time.Time{}, true
	return err
}

// until is r as far as ctx lets it be read: a long file does not keep the end waiting.
func until(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

type readerFunc func(p []byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

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
