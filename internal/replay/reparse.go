package replay

import (
	"fmt"
	"iter"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// Reading is what an output was taken for.
type Reading struct {
	Disposition  observer.Disposition `json:"disposition"`
	Reason       observer.Reason      `json:"reason"`
	Class        observer.Class       `json:"class"`
	Observations []string             `json:"observations"` // their titles
	Summary      bool                 `json:"summary"`
}

// Reparsed is an output that today's grammar takes for something else than was recorded.
type Reparsed struct {
	Position events.Position  `json:"position"` // of the output
	Session  events.SessionID `json:"session"`
	Turn     events.ID        `json:"turn"`
	Kind     events.TurnKind  `json:"kind"`
	Recorded Reading          `json:"recorded"`
	Now      Reading          `json:"now"`
	Fields   []string         `json:"fields,omitempty"` // of what was kept, that differ: observations[2].facts, summary.learned
}

// Reparsing is what today's grammar makes of the outputs on record.
type Reparsing struct {
	Outputs int                          `json:"outputs"`
	Same    int                          `json:"same"`
	Unknown int                          `json:"unknown"` // erased, or of a turn that is: they cannot be compared
	Changes map[string]int               `json:"changes"` // outputs by what became what: "dropped -> observations"
	Then    map[observer.Disposition]int `json:"then"`
	Now     map[observer.Disposition]int `json:"now"`
	Differ  []Reparsed                   `json:"differ"` // at most MaxListed
	More    int                          `json:"more,omitempty"`
}

// Reparse puts the recorded outputs of a selection through today's grammar, and lists those that come out otherwise. It
// compares what was kept field by field. Types returns those that observations may have; nil means those of the code mode.
// Records must begin with the log's first one. The error is that of the sequence, or of a payload that cannot be read.
func Reparse(records iter.Seq2[events.Record, error], sel Selection, types TypesOf) (Reparsing, error) {
	p := reparser{types: lifeTypes{of: types}, out: Reparsing{
		Changes: map[string]int{}, Then: map[observer.Disposition]int{}, Now: map[observer.Disposition]int{}, Differ: []Reparsed{},
	}}
	turns := turnReader{sessions: map[events.StreamID]*turnsOf{}, sel: sel, onTurn: p.turn, onRuling: p.types.begin}
	if _, err := sel.read(records, &turns); err != nil {
		return Reparsing{}, err
	}
	return p.out, nil
}

type reparser struct {
	types lifeTypes
	out   Reparsing
}

func (p *reparser) turn(t endedTurn) error {
	if t.head.Kind != events.KindTurnReceived {
		return nil
	}
	p.out.Outputs++
	got, err := decode[events.TurnReceived](nil, t.head)
	if err != nil {
		return err
	}
	led, known, err := eventsOf(t.rest)
	if err != nil {
		return err
	}
	if got == nil || !t.known || !known {
		p.out.Unknown++
		return nil
	}
	p.compare(t, observer.ParseForm(got.Form, got.Output, t.started.TurnKind, p.types.types(t.started.Provider)), led)
	return nil
}

func (p *reparser) compare(t endedTurn, now observer.Parsed, led []events.Event) {
	r := Reparsed{
		Position: t.head.Position, Session: t.session, Turn: t.started.Turn, Kind: t.started.TurnKind,
		Recorded: recordedReading(t.started.TurnKind, led), Now: readingOf(now), Fields: fieldsThatDiffer(led, now),
	}
	p.out.Then[r.Recorded.Disposition]++
	p.out.Now[r.Now.Disposition]++
	if r.Recorded.equal(r.Now) && len(r.Fields) == 0 {
		p.out.Same++
		return
	}
	p.out.Changes[fmt.Sprintf("%s -> %s", r.Recorded.Disposition, r.Now.Disposition)]++
	list(&p.out.Differ, &p.out.More, r)
}

// eventsOf decodes records; known is false if the payload of one is erased.
func eventsOf(records []events.Record) (out []events.Event, known bool, err error) {
	for _, r := range records {
		e, err := eventOf(r)
		if e == nil || err != nil {
			return nil, false, err
		}
		out = append(out, e)
	}
	return out, true, nil
}

func (r Reading) equal(o Reading) bool {
	return r.Disposition == o.Disposition && r.Reason == o.Reason && r.Class == o.Class && r.Summary == o.Summary &&
		slices.Equal(r.Observations, o.Observations)
}

func readingOf(p observer.Parsed) Reading {
	r := Reading{Disposition: p.Disposition, Reason: p.Reason, Class: p.Class, Observations: []string{}, Summary: p.Summary != nil}
	for _, o := range p.Observations {
		r.Observations = append(r.Observations, o.Title)
	}
	return r
}

// recordedReading is what an output of a turn was taken for, by the events that it led to.
func recordedReading(kind events.TurnKind, led []events.Event) Reading {
	r := Reading{Class: observer.ClassXML, Reason: observer.ReasonOK, Observations: []string{}}
	for _, e := range led {
		switch e := e.(type) {
		case events.ObservationParsed:
			r.Observations = append(r.Observations, e.Title)
		case events.SummaryParsed:
			r.Summary = true
		case events.OutputDropped:
			r.Disposition, r.Reason, r.Class = observer.DispositionDropped, observer.Reason(e.Reason), observer.Class(e.Class)
		case events.OutputSkipped:
			r.Disposition, r.Reason = observer.DispositionSkip, observer.Reason(e.Reason)
			if r.Reason == observer.ReasonEmpty {
				r.Class = observer.ClassIdle
			}
		}
	}
	switch {
	case r.Disposition != "":
	case r.Summary && (kind == events.TurnSummary || len(r.Observations) == 0):
		r.Disposition = observer.DispositionSummary
	case len(r.Observations) > 0:
		r.Disposition = observer.DispositionObservations
	}
	return r
}

// fieldsThatDiffer names the fields of what was kept that today's grammar fills otherwise. What one side lacks as a
// whole is not named: the readings tell.
func fieldsThatDiffer(led []events.Event, now observer.Parsed) []string {
	var out []string
	n := 0
	for _, e := range led {
		switch e := e.(type) {
		case events.ObservationParsed:
			if n < len(now.Observations) {
				out = append(out, observationFields(n, e, now.Observations[n])...)
			}
			n++
		case events.SummaryParsed:
			if now.Summary != nil {
				out = append(out, summaryFields(e, *now.Summary)...)
			}
		}
	}
	return out
}

func observationFields(n int, then events.ObservationParsed, now observer.Observation) []string {
	var out []string
	add := func(name string, same bool) {
		if !same {
			out = append(out, fmt.Sprintf("observations[%d].%s", n, name))
		}
	}
	add("type", then.Type == now.Type && then.TypeGiven == now.TypeGiven)
	add("title", then.Title == now.Title)
	add("subtitle", then.Subtitle == now.Subtitle)
	add("narrative", then.Narrative == now.Narrative)
	add("facts", slices.Equal(then.Facts, now.Facts))
	add("concepts", slices.Equal(then.Concepts, now.Concepts))
	return out
}

func summaryFields(then events.SummaryParsed, now observer.Summary) []string {
	var out []string
	for _, f := range []struct{ name, then, now string }{
		{"request", then.Request, now.Request}, {"investigated", then.Investigated, now.Investigated},
		{"learned", then.Learned, now.Learned}, {"completed", then.Completed, now.Completed},
		{"next_steps", then.NextSteps, now.NextSteps}, {"notes", then.Notes, now.Notes},
	} {
		if f.then != f.now {
			out = append(out, "summary."+f.name)
		}
	}
	return out
}

// checkGrammar parses the output of d again, and compares what it is taken for with what was recorded.
func (p *prover) checkGrammar(s *provedSession, d *decision) {
	got, ok := d.events[0].(events.TurnReceived)
	if !ok || d.erased || s.inFlight == nil {
		p.account(ProvedGrammar, "the output, its turn, or what it led to is erased or not in view", d.differenceAt(0, "", "", ""))
		return
	}
	then := recordedReading(s.inFlight.TurnKind, d.events[1:])
	now := readingOf(observer.ParseForm(got.Form, got.Output, s.inFlight.TurnKind, p.types.types(s.inFlight.Provider)))
	if then.equal(now) {
		p.account(ProvedGrammar, "")
		return
	}
	why := "today's grammar takes the output for something else; " + p.life.why()
	p.account(ProvedGrammar, "", d.differenceAt(0, shown(then), shown(now), why))
}
