package observer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cmemd/cmemd/events"
)

// FuzzParse holds what is true of every output.
func FuzzParse(f *testing.F) {
	for _, file := range []string{
		"c1-blank", "c2-roots", "c3-blocks", "c4-kept", "c5-skip", "c6-verdict", "c7-fields", "edges",
	} {
		for _, c := range readCases(f, "testdata/contract/"+file+".jsonl") {
			f.Add(c.Output, c.Turn == events.TurnSummary)
		}
	}
	f.Fuzz(func(t *testing.T, output string, summary bool) {
		kind := events.TurnObservation
		if summary {
			kind = events.TurnSummary
		}
		p := Parse(output, kind, codeTypes())
		checkVerdict(t, p, kind)
		checkContent(t, p)
		checkAgain(t, p, kind)
	})
}

// verdict is what goes together.
type verdict struct {
	kind        events.TurnKind
	disposition Disposition
	reason      Reason
	class       Class
}

// verdicts are all combinations there may be.
func verdicts() []verdict {
	const o, s = events.TurnObservation, events.TurnSummary
	return []verdict{
		{o, DispositionObservations, ReasonOK, ClassXML}, {s, DispositionObservations, ReasonOK, ClassXML},
		{o, DispositionSummary, ReasonOK, ClassXML}, {s, DispositionSummary, ReasonOK, ClassXML},
		{o, DispositionSkip, ReasonSkipSummary, ClassXML}, {s, DispositionSkip, ReasonSkipSummary, ClassXML},
		{o, DispositionSkip, ReasonEmpty, ClassIdle}, {s, DispositionDropped, ReasonMissingSummary, ClassIdle},
		{o, DispositionDropped, ReasonNoXML, ClassProse}, {s, DispositionDropped, ReasonNoXML, ClassProse},
		{o, DispositionDropped, ReasonMalformed, ClassXML}, {s, DispositionDropped, ReasonMalformed, ClassXML},
		{s, DispositionDropped, ReasonMissingSummary, ClassXML},
	}
}

func checkVerdict(t *testing.T, p Parsed, kind events.TurnKind) {
	t.Helper()
	if v := (verdict{kind, p.Disposition, p.Reason, p.Class}); !slices.Contains(verdicts(), v) {
		t.Errorf("verdict: got %+v, which is not one of the contract", v)
	}
	stored := p.Disposition == DispositionObservations || p.Disposition == DispositionSummary
	if !stored && (len(p.Observations) > 0 || p.Summary != nil || p.Excess > 0) {
		t.Errorf("content without a disposition that stores it: %+v", p)
	}
	if p.Disposition == DispositionObservations && len(p.Observations) == 0 {
		t.Errorf("disposition observations without any: %+v", p)
	}
	if p.Disposition == DispositionSummary && p.Summary == nil {
		t.Errorf("disposition summary without one: %+v", p)
	}
	if p.Excess > 0 && len(p.Observations) != MaxObservations {
		t.Errorf("%d in excess of %d observations", p.Excess, len(p.Observations))
	}
}

func checkContent(t *testing.T, p Parsed) {
	t.Helper()
	if p.Observations == nil || len(p.Observations) > MaxObservations {
		t.Errorf("observations: got %d (nil: %t), want 0 to %d", len(p.Observations), p.Observations == nil, MaxObservations)
	}
	checkText(t, maxSkipReason, p.SkipReason.RawText())
	for _, o := range p.Observations {
		if !o.hasContent() || o.Facts == nil || o.Concepts == nil || o.FilesRead == nil || o.FilesModified == nil {
			t.Errorf("observation is blank or has a nil list: %+v", o)
		}
		if o.Type != UnknownType && (o.TypeGiven != "" || !slices.Contains(codeTypes(), o.Type)) {
			t.Errorf("type %q, given %q", o.Type, o.TypeGiven)
		}
		checkText(t, maxTypeGiven, o.TypeGiven)
		checkText(t, maxTitle, o.Title, o.Subtitle)
		checkText(t, maxNarrative, o.Narrative)
		checkList(t, maxFacts, maxFact, o.Facts)
		checkList(t, maxConcepts, maxConcept, o.Concepts)
		checkList(t, maxFiles, maxPath, o.FilesRead)
		checkList(t, maxFiles, maxPath, o.FilesModified)
		for i, c := range o.Concepts {
			if c == o.Type || strings.Contains(c, ":") || slices.Contains(o.Concepts[:i], c) {
				t.Errorf("concepts: %q of type %q", o.Concepts, o.Type)
			}
		}
	}
	if s := p.Summary; s != nil {
		if !s.hasContent() {
			t.Errorf("summary is blank: %+v", s)
		}
		checkText(t, maxNarrative, s.Request, s.Investigated, s.Learned, s.Completed, s.NextSteps, s.Notes)
	}
}

func checkList(t *testing.T, most, limit int, list []string) {
	t.Helper()
	if len(list) > most || slices.Contains(list, "") {
		t.Errorf("list: got %d items, want at most %d, none blank: %q", len(list), most, list)
	}
	checkText(t, limit, list...)
}

func checkText(t *testing.T, limit int, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if len(s) > limit || !utf8.ValidString(s) || trim(s) != s {
			t.Errorf("text of %d bytes is over %d, invalid or not trimmed: %.100q", len(s), limit, s)
		}
	}
}

// checkAgain writes what was kept in the grammar and reads it again.
func checkAgain(t *testing.T, p Parsed, kind events.TurnKind) {
	t.Helper()
	again := Parse(render(p), kind, codeTypes())
	if p.Disposition == DispositionDropped {
		return
	}
	same := cmp.Options{cmpopts.IgnoreFields(Parsed{}, "Excess", "Clipped", "SkipReason")}
	if diff := cmp.Diff(p, again, same); diff != "" {
		t.Errorf("read again (-first +second):\n%s\nfrom %q", diff, render(p))
	}
}

// render writes p as an output that means p.
func render(p Parsed) string {
	var b []byte
	for _, o := range p.Observations {
		b = o.AppendXML(b)
	}
	if p.Summary != nil {
		b = p.Summary.AppendXML(b)
	} else if p.Class == ClassXML {
		b = append(b, SkipForm...)
	}
	return string(b)
}
