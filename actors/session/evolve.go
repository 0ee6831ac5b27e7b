package session

import (
	"errors"
	"iter"
	"sort"

	"github.com/cmemd/cmemd/events"
)

// Reads reports whether Evolve looks into events of kind k. Of all others the header is enough, and a fold need not
// decode them.
func Reads(k events.Kind) bool {
	t, _ := k.Traits()
	return t.Evolves
}

// Evolve applies the event with header h to s. e may be nil where Reads says so, or where the payload was erased. A
// header that was not appended yet has no position; see Place. It never fails: what it cannot use it counts and
// passes over.
func Evolve(s *State, h events.Header, e events.Event) {
	s.version = h.Version
	if !h.Key.IsZero() {
		if s.keys == nil {
			s.keys = map[events.Key]struct{}{}
		}
		s.keys[h.Key] = struct{}{}
	}
	switch h.Kind {
	case events.KindSessionOpened, events.KindPromptSubmitted, events.KindToolUsed, events.KindAgentStopped,
		events.KindContextCompacted, events.KindAgentSaid, events.KindSessionClosed, events.KindContextInjected:
		s.evolveCaptured(h, e)
	case events.KindTurnStarted, events.KindTurnReceived, events.KindTurnFailed, events.KindOutputDropped,
		events.KindOutputSkipped, events.KindObservationParsed, events.KindSummaryParsed:
		s.evolveTurn(h, e)
	case events.KindWorkUndone:
		if e, ok := e.(events.WorkUndone); ok {
			s.recordUndone(e)
		}
	default:
		s.evolveRuling(h, e)
	}
}

func (s *State) evolveCaptured(h events.Header, e events.Event) {
	s.opened = true
	s.closed = h.Kind == events.KindSessionClosed ||
		s.closed && (h.Kind == events.KindContextInjected || h.Kind == events.KindAgentSaid)
	s.recordActivity(h)
	if h.Kind != events.KindAgentStopped && h.Kind != events.KindSessionClosed && h.OccurredAt.After(s.heard) {
		s.heard = h.OccurredAt
	}
	switch h.Kind {
	case events.KindSessionOpened:
		if o, ok := e.(events.SessionOpened); ok {
			s.origin = OriginOf(o)
		}
	case events.KindPromptSubmitted:
		s.prompts = append(s.prompts, keptPrompt{reference: reference{h.Position, h.Version}, at: h.OccurredAt.UnixNano(), private: h.Unobserved})
		s.private = h.Unobserved
	case events.KindAgentSaid:
		s.recordSaid(h)
	case events.KindSessionClosed:
		s.flush = h.Version
	}
	if h.IsInput() {
		s.addInput(h)
	}
	if h.Kind == events.KindAgentStopped {
		s.epoch++
		s.work, s.words, s.flush, s.stopped = 0, false, h.Version, h.OccurredAt
	}
	if h.Kind == events.KindContextCompacted {
		s.flush = h.Version
	}
}

// Place gives the events of records, which were evolved before they were appended, their positions, sizes and times.
func (s *State) Place(records []events.Record) {
	for _, r := range records {
		if r.IsInput() {
			i := sort.Search(len(s.inputs), func(i int) bool { return s.inputs[i].version >= r.Version })
			in := &s.inputs[i]
			in.position, in.size, in.since = r.Position, int(r.Size), r.RecordedAt
		}
		switch r.Kind {
		case events.KindPromptSubmitted:
			place(s.prompts, r)
		case events.KindAgentSaid:
			place(s.said, r)
		case events.KindObservationParsed:
			place(s.seen, r)
		case events.KindSummaryParsed:
			place(s.summaries, r)
		case events.KindTurnFailed:
			place(s.blames, r)
		}
		s.recordActivity(r.Header)
	}
}

// place gives the position of r to what was evolved from it, if that is among the kept.
func place[T any, P interface {
	*T
	ref() *reference
}](kept []T, r events.Record) {
	for i := len(kept) - 1; i >= 0; i-- {
		if at := P(&kept[i]).ref(); at.version == r.Version {
			at.position = r.Position
			return
		}
	}
}

// recordActivity notes a sign of life of the agent. Stops and closes are none: they may be inferred from silence.
func (s *State) recordActivity(h events.Header) {
	switch h.Kind {
	case events.KindSessionOpened, events.KindPromptSubmitted, events.KindToolUsed, events.KindContextCompacted:
		if h.RecordedAt.After(s.active) {
			s.active = h.RecordedAt
		}
	}
}

// OriginOf is where the session comes from that o opened.
func OriginOf(o events.SessionOpened) Origin {
	o.Source = ""
	return Origin(o)
}

// Fold evolves the records of one stream, in order, into a State. It decodes only what Evolve reads. An erased payload
// is passed over; an error of the sequence, or a payload that cannot be decoded, ends it.
func Fold(records iter.Seq2[events.Record, error]) (*State, error) {
	s := new(State)
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		if err := s.EvolveRecord(r); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// EvolveRecord is Evolve of a record, decoded only where it must be. On an error s is unchanged.
func (s *State) EvolveRecord(r events.Record) error {
	var e events.Event
	if Reads(r.Kind) {
		var err error
		if e, err = r.Event(); err != nil && !errors.Is(err, events.ErrErased) {
			return err
		}
	}
	Evolve(s, r.Header, e)
	return nil
}

// Apply evolves drafts that Decide returned and that are about to be appended at the end of the stream. Place must
// follow with their records before Next is asked.
func Apply(s *State, drafts []events.Draft) {
	for _, d := range drafts {
		Evolve(s, events.Header{
			Version: s.version + 1, ID: d.ID, Kind: events.KindOf(d.Event), Unobserved: d.Unobserved, Key: d.Key,
			OccurredAt: d.OccurredAt, Correlation: d.Correlation,
		}, d.Event)
	}
}
