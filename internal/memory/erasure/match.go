package erasure

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/projections/rows"
)

// words looks for a text literally: what was said holds all of it, in this order, letter case and kinds of white space
// aside. Text that is kept as JSON is looked at as it reads, too.
type words struct{ text string }

func newWords(text string) words { return words{rows.Normalise(text)} }

// in reports whether an event holds the text in any of its own words.
func (w words) in(e events.Event) bool {
	return slices.ContainsFunc(slices.Concat(saidIn(e), claimedIn(e)), w.inText)
}

// Holds reports whether text holds a query as a Request's Query is looked for.
func Holds(text, query string) bool { return newWords(query).inText(text) }

func (w words) inText(s string) bool {
	if strings.Contains(rows.Normalise(s), w.text) {
		return true
	}
	return strings.Contains(s, `\`) && strings.Contains(rows.Normalise(unescaped(s)), w.text)
}

// unescaped is text as it reads: JSON with its strings without their escapes; of what is no JSON, all of it, as JSON that was cut off and
// as a text in which a backslash before most letters is one.
func unescaped(s string) string {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err == nil {
		var out strings.Builder
		flatten(&out, v)
		return out.String()
	}
	asText := strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, `"`, `\/`, "/", `\\`, `\`)
	return jsonscan.UnquoteCut(s) + "\n" + asText.Replace(s)
}

func flatten(out *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		out.WriteString(v)
	case []any:
		for _, one := range v {
			flatten(out, one)
			out.WriteByte(' ')
		}
	case map[string]any:
		for key, one := range v {
			out.WriteString(key)
			out.WriteByte(' ')
			flatten(out, one)
			out.WriteByte(' ')
		}
	}
}

// saidIn lists the words of an event that somebody said, wrote or printed.
func saidIn(e events.Event) []string {
	switch e := e.(type) {
	case events.PromptSubmitted:
		return []string{e.Text}
	case events.ToolUsed:
		return []string{e.Tool, e.Input, e.Output}
	case events.AgentStopped:
		return []string{e.LastMessage}
	case events.AgentSaid:
		return []string{e.Text}
	case events.PreferenceStated:
		return []string{e.Sentence}
	case events.ContextCompacted:
		return []string{e.Summary}
	case events.TurnReceived:
		return []string{e.Output.RawText()}
	case events.TurnFailed:
		return []string{e.Message, e.Output.RawText()}
	case events.OutputDropped:
		return []string{e.Preview.RawText()}
	case events.OutputSkipped:
		return []string{e.Stated.RawText()}
	case events.ObservationParsed:
		return slices.Concat(
			e.Texts(), []string{e.TypeGiven}, e.Concepts, e.FilesRead, e.FilesModified, e.FilesUnverified,
		)
	case events.SummaryParsed:
		return e.Texts()
	case events.ClaimChecked:
		return claimed(e.Claim)
	case events.MemorySaved:
		return slices.Concat([]string{e.Title, e.Text, e.Project, e.Session, e.Type}, e.Concepts, e.Files)
	}
	return nil
}

// claimedIn lists what the claims beside an event's own words name.
func claimedIn(e events.Event) []string {
	switch e := e.(type) {
	case events.ObservationParsed:
		return claimed(e.Claims...)
	case events.SummaryParsed:
		return claimed(e.Claims...)
	}
	return nil
}

// claimed is what claims name, and what was found to bear them out.
func claimed(claims ...events.Claim) (said []string) {
	for _, c := range claims {
		said = append(said, c.Value, c.Evidence)
	}
	return said
}
