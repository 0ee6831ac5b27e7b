package erasure

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cmemd/cmemd/events"
)

// Records of other machines are theirs to erase: their words are in logs that this one does not write. What is chosen of them is
// asked for, and what is chosen of the own log is recorded and erased as ever.

// places is a log that has records of others among its own. A union.Log is one.
type places interface {
	Where(events.Position) (events.Place, bool)
}

// homeOf is where a record's own log has it, which is zero for the own one.
func (e *Eraser) homeOf(at events.Position) events.Place {
	if u, ok := e.whole.(places); ok {
		if home, ok := u.Where(at); ok {
			return home
		}
	}
	return events.Place{Position: at}
}

// byLog is what goes of a stream, a share for each log that has some of it. Without anybody to ask, only the own log's.
func (e *Eraser) byLog(whole Share, g *graph) (all []Share) {
	of := map[events.LogID]set{}
	for _, p := range whole.Positions {
		log := e.homeOf(p).Log
		if of[log] == nil {
			of[log] = set{}
		}
		of[log].add(p)
	}
	if len(of) == 1 && of[events.LogID{}] != nil {
		return []Share{whole}
	}
	logs := slices.SortedFunc(maps.Keys(of), func(a, b events.LogID) int { return bytes.Compare(a[:], b[:]) })
	for _, log := range logs {
		if !log.IsZero() && e.cfg.Others == nil {
			continue
		}
		sh := g.share(of[log])
		sh.Log = log
		all = append(all, sh)
	}
	return all
}

// askOthers asks for what goes of other logs, and returns what goes of the own one.
func (e *Eraser) askOthers(ctx context.Context, shares []Share) (own []Share, asked int, err error) {
	var at []events.Place
	for _, sh := range shares {
		if sh.Log.IsZero() {
			own = append(own, sh)
			continue
		}
		for _, p := range sh.Positions {
			at = append(at, e.homeOf(p))
		}
	}
	if len(at) == 0 {
		return own, 0, nil
	}
	if err := e.cfg.Others(ctx, at); err != nil {
		return nil, 0, fmt.Errorf("erasure: ask other machines: %w", err)
	}
	return own, len(at), nil
}

// ForgetOthers takes what records of other machines said, at these positions of Config.Log, out of all that holds words beside
// it, and returns when no file has them any more. The payloads are erased already, and nothing in the log says so: what their own
// machine recorded of it comes later. Doing it twice is no error. Errors: ctx.Err(), that the views do not follow, those of the
// files; what is left undone then is done by the next call.
func (e *Eraser) ForgetOthers(ctx context.Context, at ...events.Position) error {
	if len(at) == 0 {
		return nil
	}
	if err := e.busy.Acquire(ctx, 1); err != nil {
		return err
	}
	defer e.busy.Release(1)
	upTo := slices.Max(at)
	if err := e.awaitViews(ctx, upTo); err != nil {
		return err
	}
	var files []Files
	for _, f := range e.cfg.Files {
		if f.Forget == nil {
			continue
		}
		if err := f.Forget(ctx, at...); err != nil {
			return fmt.Errorf("erasure: forget in the %s: %w", f.Name, err)
		}
		files = append(files, f)
	}
	return e.purgeFiles(ctx, files, upTo, func(int) {})
}

// oweNotice notes on disk that others are to be notified of positions.
func (e *Eraser) oweNotice(at []events.Position) error {
	if e.cfg.Announce == nil || len(at) == 0 {
		return nil
	}
	err := e.state.change(func(s *state) {
		s.Unsent = append(slices.Clip(s.Unsent), at...)
		slices.Sort(s.Unsent)
		s.Unsent = slices.Compact(s.Unsent)
	})
	if err != nil {
		return fmt.Errorf("erasure: note whom to tell: %w", err)
	}
	return nil
}

// sendOwed notifies others of what is owed to them. What keeps it from that keeps nothing here: the words are gone already.
func (e *Eraser) sendOwed(ctx context.Context) error {
	at := e.state.get().Unsent
	if e.cfg.Announce == nil || len(at) == 0 {
		return nil
	}
	if err := e.cfg.Announce(ctx, at); err != nil {
		return fmt.Errorf("erasure: tell who else has it: %w", err)
	}
	return e.state.change(func(s *state) { s.Unsent = nil })
}

// onlyOwn are those of some positions that the own log has.
func (e *Eraser) onlyOwn(at []events.Position) []events.Position {
	return slices.DeleteFunc(at, func(p events.Position) bool { return !e.homeOf(p).Log.IsZero() })
}
