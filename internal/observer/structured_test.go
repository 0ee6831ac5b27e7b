package observer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

// TestStructuredCases holds the structured form to its cases, for both kinds of turn.
func TestStructuredCases(t *testing.T) {
	t.Parallel()
	const o, s = events.TurnObservation, events.TurnSummary
	for _, tc := range []struct {
		output string
		kind   events.TurnKind
		want   verdict
	}{
		{"", o, verdict{o, DispositionSkip, ReasonEmpty, ClassIdle}},
		{" \n\ufeff", s, verdict{s, DispositionDropped, ReasonMissingSummary, ClassIdle}},
		{"{}", o, verdict{o, DispositionSkip, ReasonEmpty, ClassIdle}},
		{"{}", s, verdict{s, DispositionDropped, ReasonMissingSummary, ClassIdle}},
		{`{"observations":[],"skip":false,"skip_reason":"n/a"}`, o, verdict{o, DispositionSkip, ReasonEmpty, ClassIdle}},
		{`{"observations":[],"skip":true,"skip_reason":"a listing"}`, o, verdict{o, DispositionSkip, ReasonSkipSummary, ClassXML}},
		{`{"observations":[{}]}`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"title":"&nbsp;","facts":["\u200b"]}]}`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"title":7}]}`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"title":7},{"title":"kept"}]}`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`{"observations":[{"title":null,"facts":null,"narrative":"n"}]}`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`{"observations":[{"title":"t"}],"skip":true}`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`{"observations":[{"title":"t"}],"confidence":0.5}`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`{"observations":[{"title":"t"}]}`, s, verdict{s, DispositionDropped, ReasonMissingSummary, ClassXML}},
		{`{"observations":[{"title":"t"}],"summary":{}}`, s, verdict{s, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"summary":{"request":" "}}`, s, verdict{s, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"summary":"all done"}`, s, verdict{s, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"summary":"all done"}`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"summary":null,"observations":[]}`, s, verdict{s, DispositionDropped, ReasonMissingSummary, ClassIdle}},
		{`{"summary":{"notes":"only"},"skip":true}`, s, verdict{s, DispositionSkip, ReasonSkipSummary, ClassXML}},
		{`{"summary":{"learned":"l"},"skip":true}`, s, verdict{s, DispositionSummary, ReasonOK, ClassXML}},
		{`{"summary":{"learned":"l"}}`, o, verdict{o, DispositionSummary, ReasonOK, ClassXML}},
		{`<think>{"observations":[{"title":"no"}]}</think>{"observations":[{"title":"t"}]}`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`<think>for ever`, o, verdict{o, DispositionSkip, ReasonEmpty, ClassIdle}},
		{`{"observations":[{"title":"t"}]`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`{"observations":[{"title":"t"}`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`{"observations":[{"title":"t"},{"title":"u`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`{"observations":[{"title":"t"},{"title":"u\`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`{"observations":[{"title":"t","facts":["}]`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"facts":["a"]`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"title":7},{"ti`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"title":"t"}],"skip":fal`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`{"observations":[{"title":"t"}],"skip":true,`, s, verdict{s, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"title":"t"}],"summary":{"learned":"l`, s, verdict{s, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"title":"t"}],"observations":[{"ti`, o, verdict{o, DispositionObservations, ReasonOK, ClassXML}},
		{`{"observations":[],"skip":true,"skip_reason":"a li`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"summary":{"learned":"l"},"skip":false,"skip_re`, s, verdict{s, DispositionSummary, ReasonOK, ClassXML}},
		{`{"summary":{"learned":"l"`, s, verdict{s, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"title":"t"},}`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"title":"t"}},`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":{"a":[{"title":"t"}],`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"observations":[{"title":"t"}]} done`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{"```json\n{\"observations\":[]}\n```", o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`[{"title":"t"}]`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`null`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`"You've hit your limit"`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`I cannot continue.`, s, verdict{s, DispositionDropped, ReasonMalformed, ClassXML}},
		{`<observation><title>t</title></observation>`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
		{`{"skip":"yes"}`, o, verdict{o, DispositionDropped, ReasonMalformed, ClassXML}},
	} {
		p := ParseForm(events.FormStructured, events.NewOutput(tc.output), tc.kind, codeTypes())
		if got := (verdict{tc.kind, p.Disposition, p.Reason, p.Class}); got != tc.want {
			t.Errorf("%q: got %+v, want %+v", tc.output, got, tc.want)
		}
	}
}

// TestOtherFormsAreParse: what is not structured is the grammar's, also where a form is not known.
func TestOtherFormsAreParse(t *testing.T) {
	t.Parallel()
	for _, form := range []events.Form{events.FormXML, "", "later"} {
		for _, text := range []string{"", "prose", SkipForm, "<observation><title>t</title></observation>", `{"observations":[{"title":"t"}]}`} {
			got, want := ParseForm(form, events.NewOutput(text), events.TurnObservation, codeTypes()), Parse(text, events.TurnObservation, codeTypes())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("form %q, %q (-want +got):\n%s", form, text, diff)
			}
		}
	}
}

// TestFormsOfTheSameContentParseAlike writes random content in both forms.
func TestFormsOfTheSameContentParseAlike(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var xml []byte
		var doc struct {
			Observations []Observation `json:"observations"`
			Summary      *Summary      `json:"summary,omitempty"`
			Skip         bool          `json:"skip"`
			SkipReason   string        `json:"skip_reason"`
		}
		for range rapid.IntRange(0, 3).Draw(t, "observations") {
			o := observations(t)
			o.Narrative += strings.Repeat("long ", rapid.SampledFrom([]int{0, 0, 0, maxNarrative}).Draw(t, "length"))
			o.Facts = append(o.Facts, rapid.SampledFrom([][]string{nil, {" "}, {"f", "\ufeff", " g "}}).Draw(t, "more facts")...)
			xml = o.AppendXML(xml)
			if o.Type == UnknownType {
				o.Type = o.TypeGiven
			}
			doc.Observations = append(doc.Observations, o)
		}
		if rapid.Bool().Draw(t, "with summary") {
			s := summaries(t)
			doc.Summary, xml = &s, s.AppendXML(xml)
		}
		if rapid.Bool().Draw(t, "skip") {
			doc.Skip, doc.SkipReason = true, "..."
			xml = append(xml, SkipForm...)
		}
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
			want, got := Parse(string(xml), kind, codeTypes()), ParseForm(events.FormStructured, events.NewOutput(string(text)), kind, codeTypes())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s turn, as JSON %s\n(-XML +JSON):\n%s", kind, text, diff)
			}
		}
	})
}

// TestStructuredIsBounded: as the grammar, it keeps the first of too many and counts the rest.
func TestStructuredIsBounded(t *testing.T) {
	t.Parallel()
	many := `{"title":"t"},` + strings.Repeat(`{"title":"t","files_read":["`+strings.Repeat("p", maxPath+1)+`"]},`, MaxObservations)
	got := ParseForm(events.FormStructured, events.NewOutput(`{"observations":[`+strings.TrimSuffix(many, ",")+`]}`), events.TurnObservation, nil)
	if len(got.Observations) != MaxObservations || got.Excess != 1 || got.Clipped != MaxObservations-1 {
		t.Errorf("got %d observations, %d in excess, %d clipped", len(got.Observations), got.Excess, got.Clipped)
	}
}

// TestSchema shows what is asked for: names in the order of the fields, all of them required, the mode's words.
func TestSchema(t *testing.T) {
	t.Parallel()
	m := Mode{ID: "m", Types: []Term{{ID: "fix"}, {ID: "find"}}, Concepts: []Term{{ID: "trap"}}}
	text, list := `{"type":"string"}`, `{"type":"array","items":{"type":"string"}}`
	want := `{"type":"object","properties":{"observations":{"type":"array","items":{"type":"object","properties":{` +
		`"type":{"type":"string","enum":["fix","find"]},"title":` + text + `,"subtitle":` + text + `,"narrative":` + text +
		`,"facts":` + list + `,"concepts":{"type":"array","items":{"type":"string","enum":["trap"]}},"files_read":` + list +
		`,"files_modified":` + list + `},"required":["type","title","subtitle","narrative","facts","concepts","files_read",` +
		`"files_modified"],"additionalProperties":false}},"skip":{"type":"boolean"},"skip_reason":` + text +
		`},"required":["observations","skip","skip_reason"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(Schema(events.TurnObservation, m))); diff != "" {
		t.Errorf("observation turn (-want +got):\n%s", diff)
	}
	var summary struct {
		Properties struct {
			Summary struct{ Required []string }
		}
		Required []string
	}
	if err := json.Unmarshal(Schema(events.TurnSummary, m), &summary); err != nil {
		t.Fatal(err)
	}
	fields := []string{"request", "investigated", "learned", "completed", "next_steps", "notes"}
	if diff := cmp.Diff(fields, summary.Properties.Summary.Required); diff != "" {
		t.Errorf("summary turn (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"summary", "skip", "skip_reason"}, summary.Required); diff != "" {
		t.Errorf("summary turn (-want +got):\n%s", diff)
	}
}

// TestWhatTheSchemaAsksForIsRead answers each schema with a text in every place, and finds all of them again.
func TestWhatTheSchemaAsksForIsRead(t *testing.T) {
	t.Parallel()
	for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
		var schema any
		if err := json.Unmarshal(Schema(kind, Mode{}), &schema); err != nil {
			t.Fatal(err)
		}
		n := 0
		answer, err := json.Marshal(fill(schema, &n))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(ParseForm(events.FormStructured, events.NewOutput(string(answer)), kind, nil))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if word := fmt.Sprintf("%q", text(i+1)); !strings.Contains(string(got), word) {
				t.Errorf("%s turn: %s of %s is not in %s", kind, word, answer, got)
			}
		}
	}
}

func text(n int) string { return fmt.Sprintf("text%dx", n) }

// fill is an answer to a schema, with texts that are numbered up to n.
func fill(schema any, n *int) any {
	s := schema.(map[string]any)
	switch s["type"] {
	case "object":
		out := map[string]any{}
		for name, p := range s["properties"].(map[string]any) {
			out[name] = fill(p, n)
		}
		return out
	case "array":
		return []any{fill(s["items"], n)}
	case "boolean":
		return true
	}
	*n++
	return text(*n)
}

func TestUnstructured(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, " \n": false, "{}": false, ` {"a":1} `: false, "<think>x</think>{}": false, "[]": true, "null": true, "{": true,
		"prose": true, "```json\n{}\n```": true, "<observation/>": true,
	} {
		if got := Unstructured(events.NewOutput(text)); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}

// FuzzParseForm holds what is true of every output in the structured form.
func FuzzParseForm(f *testing.F) {
	for _, s := range []string{
		"", "{}", `{"observations":[{"type":"bugfix","title":"t","facts":["a"],"concepts":["a:b","a"]}],"skip":false}`,
		`{"summary":{"request":"r","notes":"\ud800"},"skip":true,"skip_reason":" why "}`, `{"observations":[1,null,"x",{}]}`,
		`{"Observations":[{"TITLE":"t"}],"observations":[{"title":"u"}]}`, `{"summary":{"request":"a"},"summary":{"learned":"b"}}`,
		"<think>x</think>{\"observations\":[]}", `{"observations":[{"title":"t"},{"title":"u\\`, `{"a":[[{}]],"summary":{"request":"a"},"skip":tr`, "{\"observations\":[{\"title\":\"\xff\"}]}", "prose",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, output string, summary bool) {
		kind := events.TurnObservation
		if summary {
			kind = events.TurnSummary
		}
		p := ParseForm(events.FormStructured, events.NewOutput(output), kind, codeTypes())
		checkVerdict(t, p, kind)
		checkContent(t, p)
		checkAgain(t, p, kind)
		if Unstructured(events.NewOutput(output)) && p.Disposition != DispositionDropped && !breaksOff(output) {
			t.Errorf("it is no JSON object and was not dropped: %+v", p)
		}
	})
}
