package turn

import (
	"cmp"
	"context"
	"slices"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/order"
)

// A summary turn reads at most so much of its session, in bytes, so that the thousandth event of a session costs what the hundredth
// did. Of what does not fit the newest observations are read, without a gap, and of those before them the weightiest.
const (
	maxWhole       = 8 << 10
	maxRequests    = maxWhole / 4 // of it: what the person asked for before
	maxRequest     = 1 << 10      // that one request counts for: observers are shown its beginning
	maxObservation = 2 << 10      // that one observation counts for: the same
)

// offer is something that a summary turn may read.
type offer[T any] struct {
	at   events.Position
	what T
	size int
}

// loadWhole reads what a summary turn is offered of its session and puts what fits into the prompt.
func (t *Pipeline) loadWhole(ctx context.Context, w session.Work, p *observer.Prompt) error {
	var requests []offer[string]
	var observed []offer[events.ObservationParsed]
	n := 0
	for rec, err := range eventlog.GetAll(ctx, t.cfg.Log, w.Offers...) {
		at := w.Offers[n]
		e, err := t.payload(at, rec, err)
		if err != nil {
			return err
		}
		switch e := e.(type) {
		case events.PromptSubmitted:
			if e.Text != "" && at != w.PromptAt {
				requests = append(requests, offer[string]{at, e.Text, min(len(e.Text), maxRequest)})
			}
		case events.ObservationParsed:
			p.Touched = append(p.Touched, touchedBy(e)...)
			observed = append(observed, offer[events.ObservationParsed]{at, e, min(sizeOf(e), maxObservation)})
		}
		n++
	}
	observed = t.standing(ctx, observed)
	room := maxWhole
	for _, r := range firstAndLast(requests, maxRequests) {
		p.Requests, p.Reads, room = append(p.Requests, r.what), append(p.Reads, r.at), room-r.size
	}
	var chosen []offer[events.ObservationParsed]
	chosen, p.Apart = newestAndWeightiest(observed, room)
	for _, o := range chosen {
		p.Observed, p.Reads = append(p.Observed, o.what), append(p.Reads, o.at)
	}
	slices.Sort(p.Reads)
	return nil
}

// standing leaves out of list what stands no more, as far as that is known: what a person corrected must not be told as true again;
// and decisions of turns that read others' words: a summary would tell them as the session's own.
func (t *Pipeline) standing(ctx context.Context, list []offer[events.ObservationParsed]) []offer[events.ObservationParsed] {
	list = slices.DeleteFunc(list, func(o offer[events.ObservationParsed]) bool {
		return o.what.Origin == events.OriginOutside && o.what.Type == observer.TypeDecision
	})
	if t.cfg.Replaced == nil || len(list) == 0 {
		return list
	}
	ids := make([]events.ID, len(list))
	for i, o := range list {
		ids[i] = o.what.Observation
	}
	gone, err := t.cfg.Replaced(ctx, ids)
	if err != nil {
		t.cfg.Logger.Warn("which observations stand is not known: a summary may read what was corrected", "err", err)
	}
	return slices.DeleteFunc(list, func(o offer[events.ObservationParsed]) bool { return gone[o.what.Observation] })
}

// firstAndLast returns the first of list, and of the others the last ones that fit into room with it.
func firstAndLast(list []offer[string], room int) []offer[string] {
	if len(list) == 0 {
		return nil
	}
	rest := list[1:]
	from := len(rest) - fittingCount(rest, room-list[0].size)
	return slices.Concat(list[:1], rest[from:])
}

// fittingCount returns how many of list, from its end, fit into room.
func fittingCount[T any](list []offer[T], room int) (n int) {
	for _, o := range slices.Backward(list) {
		if room -= o.size; room < 0 {
			break
		}
		n++
	}
	return n
}

// newestAndWeightiest returns what fits into room, oldest first: all of list, or else its end, for three quarters of the room, and
// what weighs most of what is before that. The first apart of them do not follow each other.
func newestAndWeightiest(list []offer[events.ObservationParsed], room int) (chosen []offer[events.ObservationParsed], apart int) {
	n := fittingCount(list, room)
	if n == len(list) {
		return list, 0
	}
	n = fittingCount(list, room*3/4)
	before, newest := slices.Clone(list[:len(list)-n]), list[len(list)-n:]
	for _, o := range newest {
		room -= o.size
	}
	order.By(before, func(a, b offer[events.ObservationParsed]) int {
		return cmp.Or(cmp.Compare(weight(b.what), weight(a.what)), cmp.Compare(b.at, a.at))
	})
	for _, o := range before {
		if o.size <= room {
			chosen, room = append(chosen, o), room-o.size
		}
	}
	order.By(chosen, func(a, b offer[events.ObservationParsed]) int { return cmp.Compare(a.at, b.at) })
	return append(chosen, newest...), len(chosen)
}

// weight is what an observation tells of a session that is long past it: more where something was decided, mended or made, and
// where a commit is claimed; nothing where its claims are not borne out.
func weight(o events.ObservationParsed) (w int) {
	if unfounded(o) {
		return 0
	}
	switch o.Type {
	case observer.TypeDecision:
		w = 3
	case "bugfix", "feature":
		w = 2
	default:
		w = 1
	}
	return w + min(len(o.Claims), 1)
}

// sizeOf is how many bytes of an observation an observer may be sent.
func sizeOf(o events.ObservationParsed) int {
	n := len(o.Title) + len(o.Subtitle) + len(o.Narrative)
	for _, texts := range [][]string{o.Facts, o.FilesModified} {
		for _, s := range texts {
			n += len(s)
		}
	}
	return n
}
