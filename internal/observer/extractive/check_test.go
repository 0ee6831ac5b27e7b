package extractive

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// ask completes p twice and holds what is true of any answer against it.
func ask(tb testing.TB, p observer.Prompt) observer.Parsed {
	tb.Helper()
	x := New()
	r, err := x.Complete(tb.Context(), p)
	if err != nil {
		tb.Fatalf("Complete: %v", err)
	}
	again, err := x.Complete(tb.Context(), p)
	if err != nil || !cmp.Equal(again, r) {
		tb.Fatalf("a second time the same prompt got another answer, or %v", err)
	}
	if r.Text.Len() > providertest.MaxOutput || !utf8.ValidString(r.Text.RawText()) || r.Form != events.FormXML {
		tb.Fatalf("output of %d bytes, valid %v, form %q", r.Text.Len(), utf8.ValidString(r.Text.RawText()), r.Form)
	}
	if !r.CostStated || r.Cost != 0 || r.Usage != (events.Usage{}) {
		tb.Fatalf("it costs nothing, and should say so: told %v, $%v, %+v", r.CostStated, r.Cost, r.Usage)
	}
	parsed := observer.Parse(r.Text.RawText(), p.Kind, observer.CodeMode().TypeIDs())
	if parsed.Disposition == observer.DispositionDropped || parsed.Clipped > 0 || parsed.Excess > 0 {
		tb.Fatalf("disposition %s (%s), %d clipped, %d in excess:\n%s",
			parsed.Disposition, parsed.Reason, parsed.Clipped, parsed.Excess, r.Text)
	}
	if (parsed.Summary != nil) != (parsed.Disposition == observer.DispositionSummary) || parsed.Summary != nil && p.Kind != events.TurnSummary {
		tb.Fatalf("disposition %s on a %s turn with summary %v", parsed.Disposition, p.Kind, parsed.Summary)
	}
	for _, o := range parsed.Observations {
		checkObservation(tb, o)
	}
	return parsed
}

// checkLeaks holds that nothing of a harness, a terminal or a template came through into p.
func checkLeaks(tb testing.TB, p observer.Parsed) {
	tb.Helper()
	for _, o := range p.Observations {
		checkWords(tb, append(slices.Clone(o.Facts), o.Title, o.Subtitle, o.Narrative)...)
	}
	if s := p.Summary; s != nil {
		checkWords(tb, s.Request, s.Investigated, s.Learned, s.Completed, s.NextSteps, s.Notes)
	}
}

func checkObservation(tb testing.TB, o observer.Observation) {
	tb.Helper()
	switch {
	case o.Type == observer.UnknownType:
		tb.Errorf("type %q is not the mode's", o.TypeGiven)
	case strings.TrimSpace(o.Title) == "", strings.ContainsAny(o.Title, "\n\t"), uniseg.GraphemeClusterCount(o.Title) > maxTitle:
		tb.Errorf("title %q is blank, too long or not one line", o.Title)
	case !strings.Contains(o.Title, " ") && strings.ContainsAny(o.Title, `/\`):
		tb.Errorf("title %q is a path", o.Title)
	case utf8.RuneCountInString(o.Narrative) > maxCompaction:
		tb.Errorf("%q has a narrative of %d runes", o.Title, utf8.RuneCountInString(o.Narrative))
	case len(o.Facts) > 14:
		tb.Errorf("%q has %d facts", o.Title, len(o.Facts))
	}
	for _, c := range o.Concepts {
		if !slices.Contains(observer.CodeMode().ConceptIDs(), c) {
			tb.Errorf("concept %q is not the mode's", c)
		}
	}
}

// checkWords looks for what must never come through: wrappers of a harness, escapes, controls, placeholders.
func checkWords(tb testing.TB, texts ...string) {
	tb.Helper()
	for _, s := range texts {
		for _, bad := range []string{
			"<system-reminder", "</system-reminder", "<command-name", "<command-message", "<local-command-", "<task-notification",
			"<ide_opened_file", "<tool_use_error", "<private>", "<cmemd-context", "\x1b", "\x00", "\u202e", "\u200b",
			"%!", "<nil>", "[]string",
		} {
			if strings.Contains(s, bad) {
				tb.Errorf("%q came through: %.200q", bad, s)
			}
		}
	}
}
