package turn

import (
	"context"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// maxAge is how old a turn's newest input may be for the repository to be asked: what is tracked today says little of what was
// tracked when an old history was made.
const maxAge = time.Hour

// origin is whose words a turn read, and in which of its inputs others' were.
type origin struct {
	class   events.Origin
	outside []events.Position
}

// originOf tells by structure alone whose words the turn of p read. A file that an agent of the project edited itself is the
// project's, tracked or not: edited are those of this turn.
func (t *Pipeline) originOf(ctx context.Context, p observer.Prompt, edited []string) origin {
	out := origin{class: events.OriginOwn}
	printed := map[events.Position][]string{}
	for _, in := range p.Inputs {
		call := in.Call()
		switch {
		case in.Event == nil:
			out.class = events.OriginUnknown
			continue
		case call == nil:
			continue
		}
		if call.Fetches() {
			out.outside = append(out.outside, in.Position)
		} else if files := call.Printed(); len(files) > 0 {
			printed[in.Position] = files
		}
	}
	foreign, known := t.foreign(ctx, p, printed, edited)
	if !known {
		out.class = events.OriginUnknown
	}
	out.outside = append(out.outside, foreign...)
	for _, o := range p.Observed {
		if out.class == events.OriginOwn {
			out.class = o.Origin
		}
		if o.Origin == events.OriginOutside {
			out.class = o.Origin
		}
	}
	if len(out.outside) > 0 {
		out.class = events.OriginOutside
		slices.Sort(out.outside)
	}
	return out
}

// foreign returns which of the inputs that printed files printed one that is not the project's; known is false where that cannot be
// told of all.
func (t *Pipeline) foreign(ctx context.Context, p observer.Prompt, printed map[events.Position][]string, edited []string) (at []events.Position, known bool) {
	if len(printed) == 0 {
		return nil, true
	}
	if t.cfg.Checker == nil || t.cfg.Now().Sub(newest(p.Inputs)) > maxAge {
		return nil, false
	}
	var all []string
	for _, in := range p.Inputs {
		all = append(all, printed[in.Position]...)
	}
	found := t.cfg.Checker.Origins(ctx, p.Cwd, distinct(all))
	outside := slices.DeleteFunc(found.Outside, func(f string) bool { return slices.Contains(edited, f) })
	outside, known = t.notWritten(ctx, p.Root, outside)
	for _, in := range p.Inputs {
		if slices.ContainsFunc(printed[in.Position], func(f string) bool { return slices.Contains(outside, f) }) {
			at = append(at, in.Position)
		}
	}
	return at, known && found.Known
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
