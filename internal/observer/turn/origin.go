package turn

import (
	"context"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// maxInputAge is how old a turn's newest input may be for the repository to be asked: what is tracked today says little of what was
// tracked when an old history was made.
const maxInputAge = time.Hour

// origin is whose words a turn read, and in which of its inputs others' were.
type origin struct {
	class         events.Origin
	foreignInputs []events.Position
}

// originOf tells by structure alone whose words the turn of p read. A file that an agent of the project edited itself is the
// project's, tracked or not: edited are those of this turn.
func (t *Pipeline) originOf(ctx context.Context, p observer.Prompt, edited []string) origin {
	out := origin{class: events.OriginOwn}
	printed := map[events.Position]evidence.Printed{}
	for _, in := range p.Inputs {
		call := in.Call()
		switch {
		case in.Event == nil:
			out.class = events.OriginUnknown
			continue
		case call == nil:
			continue
		}
		if call.Fetches() || slices.Contains(p.Fetched, in.Position) {
			out.foreignInputs = append(out.foreignInputs, in.Position)
		} else if p := call.Printed(); len(p.Files)+len(p.Revisions) > 0 {
			printed[in.Position] = p
		}
	}
	foreign, known := t.foreign(ctx, p, printed, edited)
	if !known {
		out.class = events.OriginUnknown
	}
	out.foreignInputs = append(out.foreignInputs, foreign...)
	for _, o := range p.Observed {
		if out.class == events.OriginOwn {
			out.class = o.Origin
		}
		if o.Origin == events.OriginOutside {
			out.class = o.Origin
		}
	}
	if len(out.foreignInputs) > 0 {
		out.class = events.OriginOutside
		slices.Sort(out.foreignInputs)
	}
	return out
}

// foreign returns which of the inputs that printed something printed what is not the project's; known is false where that cannot be
// told of all.
func (t *Pipeline) foreign(ctx context.Context, p observer.Prompt, printed map[events.Position]evidence.Printed, edited []string) (at []events.Position, known bool) {
	if len(printed) == 0 {
		return nil, true
	}
	if t.cfg.Checker == nil || t.cfg.Now().Sub(newest(p.Inputs)) > maxInputAge {
		return nil, false
	}
	var files []string
	var revisions []evidence.Revisions
	for _, in := range p.Inputs {
		files, revisions = append(files, printed[in.Position].Files...), append(revisions, printed[in.Position].Revisions...)
	}
	found := t.cfg.Checker.Origins(ctx, p.Cwd, distinct(files))
	outside := slices.DeleteFunc(found.Outside, func(f string) bool { return slices.Contains(edited, f) })
	outside, known = t.notWritten(ctx, p.Root, outside)
	others, asked := t.cfg.Checker.Foreign(ctx, p.Cwd, revisions)
	for _, in := range p.Inputs {
		of := printed[in.Position]
		is := slices.ContainsFunc(of.Files, func(f string) bool { return slices.Contains(outside, f) })
		if !is && others && len(of.Revisions) > 0 {
			theirs, asked := t.cfg.Checker.Foreign(ctx, p.Cwd, of.Revisions)
			is = theirs || !asked
		}
		if is {
			at = append(at, in.Position)
		}
	}
	return at, known && found.Known && asked
}

// notWritten returns those of some files that no agent of the project made; known is false where that cannot be told.
func (t *Pipeline) notWritten(ctx context.Context, root string, files []string) (others []string, known bool) {
	if t.cfg.Written == nil || len(files) == 0 {
		return files, true
	}
	own, err := t.cfg.Written(ctx, root, files)
	if err != nil {
		t.cfg.Logger.Warn("who wrote the files that a turn read is not known: they are taken for the project's", "err", err)
		return nil, false
	}
	return slices.DeleteFunc(files, func(f string) bool { return slices.Contains(own, f) }), true
}
