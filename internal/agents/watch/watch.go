package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/durable"
)

const (
	// settleTime is how long a file rests before it is read, and settleMost the longest that it waits for that: agents write a
	// few lines at once.
	settleTime = 300 * time.Millisecond
	settleMost = 2 * time.Second

	// restAfter is how long nothing came before an agent that has said something counts as having stopped.
	restAfter = 30 * time.Second

	// checkEvery is how often files are asked whether they are due, and saveEvery the least time between two writes of the state.
	checkEvery = 250 * time.Millisecond
	saveEvery  = time.Second

	// maxReadings is how many readings are kept open: each may keep some megabytes.
	maxReadings = 32
)

// Run follows transcripts until ctx is done, and returns nil then. What was read is on disk when it returns, and how far.
func (w *Watcher) Run(ctx context.Context) error {
	w.restore(ctx)
	if n, err := w.cfg.notify(); err != nil {
		w.cfg.Logger.Warn("the system gives no notice of files; folders are looked at every now and then", "every", w.cfg.Poll, "err", err)
	} else {
		w.notices = n
		defer n.close()
	}
	w.scan()
	w.reportOld()
	w.dirty = true // what is followed now is seen at once
	w.save(ctx)
	defer w.end(context.WithoutCancel(ctx))
	ticks, polls, saves := time.NewTicker(checkEvery), time.NewTicker(w.cfg.Poll), time.NewTicker(saveEvery)
	defer ticks.Stop()
	defer polls.Stop()
	defer saves.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case change := <-w.notices.changes:
			w.notice(change)
		case <-w.notices.lost:
			w.scan()
		case <-polls.C:
			w.scan()
		case <-saves.C:
			w.save(ctx)
		case <-ticks.C:
			w.work(ctx)
		}
	}
}

// reportOld says how many files are left alone for their age.
func (w *Watcher) reportOld() {
	n := 0
	for _, f := range w.files {
		if f.old {
			n++
		}
	}
	if n > 0 {
		w.cfg.Logger.Info("transcripts that are older are left alone until they grow", "files", n, "backlog", w.cfg.Backlog)
	}
}

// end lets all files go, and keeps how far they were read, and until when files were looked for.
func (w *Watcher) end(ctx context.Context) {
	w.dirty = true
	for _, f := range w.files {
		w.drop(f)
	}
	w.save(ctx)
}

// restore takes up what the last watcher kept.
func (w *Watcher) restore(ctx context.Context) {
	s, err := Load(w.cfg.State)
	if err != nil {
		w.cfg.Logger.Warn("how far transcripts were read is not known; they are read again, and what is known is passed over", "err", err)
		return
	}
	w.mark, w.marked = s.Log, s.At
	since, lacking := w.lackingSince(ctx, s)
	for _, rule := range s.Rules {
		w.scanned[rule] = since.Add(-2 * w.cfg.Poll) // what came right before may not have been seen
	}
	for _, f := range s.Files {
		known := &file{File: f, decided: true}
		if !f.Rested || lacking {
			known.Size = -1 // so that it is read, and known to rest
		}
		w.files[f.Path] = known
	}
}

// lackingSince says since when files may have changed that are not in the log though s does not name them, and whether the log may lack
// what was read of those that it names.
func (w *Watcher) lackingSince(ctx context.Context, s State) (since time.Time, lacking bool) {
	if w.cfg.Log == nil {
		return s.At, false
	}
	since, err := s.Log.LackingSince(ctx, w.cfg.Log)
	switch {
	case err == nil && since.IsZero():
		return s.At, false
	case err != nil:
		since = s.At
	}
	w.cfg.Logger.Warn("the log may lack what was read of transcripts; they are read again, and what is known is passed over", "since", since, "err", err)
	if since.After(s.At) {
		since = s.At
	}
	return since.Add(-w.cfg.Backlog), true // s names what was read longer after it changed
}

// maxReadTime is how long files are read before notices are looked at again.
const maxReadTime = time.Second

// work reads what is due, what has waited longest first.
func (w *Watcher) work(ctx context.Context) {
	began := w.cfg.Now()
	var due []*file
	for _, f := range w.files {
		if f.due(began) || f.resting(began) {
			due = append(due, f)
		}
	}
	slices.SortFunc(due, func(a, b *file) int { return cmp.Or(a.since.Compare(b.since), strings.Compare(a.Path, b.Path)) })
	for _, f := range due {
		if ctx.Err() != nil || w.cfg.Now().Sub(began) > maxReadTime {
			return
		}
		w.take(ctx, f, f.changed.IsZero())
	}
}

// aboutState is a warning that the state cannot be written: one until it can be again.
const aboutState = "state"

// save writes the state, if it changed. One that ctx keeps it from is written by end.
func (w *Watcher) save(ctx context.Context) {
	if !w.dirty || ctx.Err() != nil {
		return
	}
	s := State{Version: stateVersion, At: w.cfg.Now().UTC(), Notices: w.notices.add != nil, Files: []File{}}
	for _, r := range w.cfg.Rules {
		s.Rules = append(s.Rules, r.String())
	}
	w.markLog(ctx, s.At)
	s.Log = w.mark
	for _, path := range slices.SortedFunc(maps.Keys(w.files), strings.Compare) {
		if f := w.files[path]; f.decided && f.kept(s.At, w.cfg.Backlog) {
			known := f.File
			known.Rested = f.Rested && !f.ReadAt.After(w.marked)
			s.Files = append(s.Files, known)
		}
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err == nil {
		err = durable.Replace(w.cfg.State, append(text, '\n'), 0o600)
	}
	if err != nil { // nothing is lost: what was read is read again, and known
		w.once(aboutState, "how far transcripts were read is not on disk; it is written as soon as that can be done", "err", err)
		return
	}
	delete(w.warned, aboutState)
	w.dirty = false
}

// markLog names what the log holds now. What was read until now is in it.
func (w *Watcher) markLog(ctx context.Context, now time.Time) {
	if w.cfg.Log == nil {
		w.marked = now
		return
	}
	mark, err := eventlog.MarkOf(ctx, w.cfg.Log)
	if err != nil {
		w.once("mark", "what the log holds is not known; transcripts that are read now are read again at the next start", "err", err)
		return
	}
	w.mark, w.marked = mark, now
}
