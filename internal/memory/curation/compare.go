package curation

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/sleep"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
)

const (
	// compareTries is how often what differs is looked at before it is reported, each time with all made anew: words may be taken out
	// of the log while it is read.
	compareTries = 2

	// cutTries is how often a comparison that words were forgotten under is begun, and cutPause is before each but the first: an erasure
	// takes about a second.
	cutTries = 5
	cutPause = 500 * time.Millisecond

	// meetTries and meetPause are how long what is made anew runs after what moves on meanwhile.
	meetTries = 100
	meetPause = 20 * time.Millisecond

	// maxDifferences is how many differences are listed.
	maxDifferences = 20
)

// ErrWordsForgotten is a comparison that ended because words were forgotten while it ran: what it had made may have held them.
var ErrWordsForgotten = errors.New("curation: words were forgotten meanwhile, and what was compared may have held them")

// Scratch calls do with an empty folder for what a comparison makes of the log, and removes it then. Where words are forgotten meanwhile
// the context that do is given ends, and the error is ErrWordsForgotten.
type Scratch func(ctx context.Context, do func(ctx context.Context, dir string) error) error

// CompareViews makes all views and the index of a log anew in a folder, and sets those in use beside them, which may go
// on meanwhile. It also looks whether what was erased is in the file of own still, which is this machine's log: log itself, or
// one of those that it puts into one order. progress may be nil. Errors are those of reading the logs and of writing the folder,
// ErrWordsForgotten where words were forgotten each time, and ctx.Err().
func CompareViews(
	ctx context.Context, scratch Scratch, log, own eventlog.Log, views *projections.Views, ix *index.Index, progress func(done, total uint64),
) (out api.Compared, err error) {
	for differed, cut := 0, 0; differed < compareTries && cut < cutTries; {
		began := min(views.Position(), ix.Position())
		err = scratch(ctx, func(ctx context.Context, dir string) (err error) {
			out, err = compareOnce(ctx, dir, log, views, ix, progress)
			if err == nil && !out.Well() {
				err = forgottenBehind(ctx, log, began)
			}
			return err
		})
		if errors.Is(err, ErrWordsForgotten) {
			if cut++; sleep.For(ctx, cutPause) == nil {
				continue
			}
		}
		if err != nil || out.Well() {
			break
		}
		differed++
	}
	if err != nil {
		return out, err
	}
	out.Remains, err = remains(ctx, own)
	return out, err
}

// forgottenBehind is ErrWordsForgotten where words were forgotten behind a position: they may have been read by one of those that are
// compared, and erased before the other came to them.
func forgottenBehind(ctx context.Context, log eventlog.Log, at events.Position) error {
	for r, err := range log.All(ctx, at+1) {
		if err != nil {
			return err
		}
		if r.Kind == events.KindMemoryForgotten {
			return ErrWordsForgotten
		}
	}
	return nil
}

// remains are the positions of which words are in the log that ought to be gone: those that were forgotten and are not erased, and
// those that are erased and stand in the file all the same.
func remains(ctx context.Context, log eventlog.Log) (at []events.Position, err error) {
	forgotten, held := map[events.Position]bool{}, map[events.Position]bool{}
	for r, err := range log.All(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if !r.Erased {
			held[r.Position] = true
		}
		if r.Kind != events.KindMemoryForgotten {
			continue
		}
		e, err := r.Event()
		if err != nil {
			return nil, err
		}
		if e, ok := e.(events.MemoryForgotten); ok {
			for _, p := range e.Positions {
				forgotten[p] = true
			}
		}
	}
	for p := range forgotten {
		if held[p] {
			at = append(at, p)
		}
	}
	if file, ok := log.(interface {
		Remains(ctx context.Context) ([]events.Position, error)
	}); ok {
		more, err := file.Remains(ctx)
		if err != nil {
			return nil, err
		}
		at = append(at, more...)
	}
	slices.Sort(at)
	return at, nil
}

func compareOnce(
	ctx context.Context, dir string, log eventlog.Log, views *projections.Views, ix *index.Index, progress func(done, total uint64),
) (out api.Compared, err error) {
	seen := &prefix{Log: log, progress: progress}
	anew, err := projections.Open(filepath.Join(dir, "views"), seen, engine.Config{})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, anew.Close()) }()
	again, err := index.Open(ctx, filepath.Join(dir, "index"), seen, index.Config{Brief: true})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, again.Close()) }()
	return out, compareUntilStill(ctx, func() error { return compareAt(ctx, seen, views, anew, ix, again, &out) })
}

// compareAt compares at the positions at which views and index are now.
func compareAt(ctx context.Context, seen *prefix, views, anew *projections.Views, ix, again *index.Index, out *api.Compared) error {
	seen.last = views.Position()
	if err := anew.CatchUp(ctx); err != nil {
		return err
	}
	found, all, err := views.Compare(ctx, anew.Views, maxDifferences)
	if err != nil {
		return err
	}
	seen.last = ix.Position()
	if err := again.CatchUp(ctx); err != nil {
		return err
	}
	problems, err := ix.Compare(ctx, again)
	if err != nil {
		return err
	}
	*out = api.Compared{Position: views.Position(), Views: append(views.Names(), indexName), Differences: found, More: all - len(found)}
	for _, p := range problems {
		out.Differences = append(out.Differences, api.ViewDifference{View: indexName, Problem: p})
	}
	return nil
}

// indexName is what the index is called among the views.
const indexName = "index"

// compareUntilStill tries to compare until nothing moved meanwhile.
func compareUntilStill(ctx context.Context, compare func() error) (err error) {
	for range meetTries {
		if err = compare(); !errors.Is(err, engine.ErrPositionsDiffer) {
			return err
		}
		if err := sleep.For(ctx, meetPause); err != nil {
			return err
		}
	}
	return err
}

// prefix is a log up to and with a position.
type prefix struct {
	eventlog.Log
	last     events.Position
	progress func(done, total uint64) // may be nil
}

// Unwrap returns the whole log.
func (p *prefix) Unwrap() eventlog.Reader { return p.Log }

// Last implements eventlog.Log.
func (p *prefix) Last(context.Context) (events.Position, error) { return p.last, nil }

// All implements eventlog.Log.
func (p *prefix) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return until(p.Log.All(ctx, from), p.last, func(at events.Position) {
		if p.progress != nil {
			p.progress(uint64(min(at, p.last)), uint64(p.last))
		}
	})
}
