package observer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/growth"
)

// breaksOff reports whether output could be the beginning of a JSON object: some end makes it one. It is an oracle of its
// own, and slow.
func breaksOff(output string) bool {
	text := visible(validUTF8(output))
	if !strings.HasPrefix(text, "{") {
		return false
	}
	var closers []byte
	inString, escaped := false, false
	for i := range len(text) {
		switch c := text[i]; {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '{', c == '[':
			closers = append([]byte{c + 2}, closers...)
		case (c == '}' || c == ']') && len(closers) > 0:
			closers = closers[1:]
		}
	}
	for _, middle := range []string{
		"", `"`, `\"`, `n"`, `0"`, `00"`, `000"`, `0000"`, "0", "e", "ue", "rue", "se", "lse", "alse", "l", "ll", "ull", `"":0`, ":0", `":0`,
		`\":0`, `n":0`, `0":0`, `00":0`, `000":0`, `0000":0`,
	} {
		if json.Valid([]byte(text + middle + string(closers))) {
			return true
		}
	}
	return false
}

// document is a structured output of random content.
func document(t *rapid.T) ([]Observation, string) {
	var doc struct {
		Observations []Observation `json:"observations"`
		Summary      *Summary      `json:"summary,omitempty"`
		Skip         bool          `json:"skip"`
		SkipReason   string        `json:"skip_reason"`
	}
	for range rapid.IntRange(0, 4).Draw(t, "observations") {
		o := observations(t)
		if o.Type == UnknownType {
			o.Type = o.TypeGiven
		}
		o.Title += rapid.SampledFrom([]string{"", `"`, `\`, `{"a":[`, "}]}", "é\u2028", "\n"}).Draw(t, "trouble")
		doc.Observations = append(doc.Observations, o)
	}
	if rapid.Bool().Draw(t, "with summary") {
		s := summaries(t)
		doc.Summary = &s
	}
	doc.Skip = rapid.Bool().Draw(t, "skip")
	text, err := json.Marshal(doc)
	if err == nil && rapid.Bool().Draw(t, "indented") {
		text, err = json.MarshalIndent(doc, "", "  ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc.Observations, string(text)
}

// TestOfACutWhatIsClosedIsKept cuts a random output around each of its observations' ends and anywhere: the observations that are whole are kept, as they would
// be of the whole, and no other; more of the text never means less of them.
func TestOfACutWhatIsClosedIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given, text := document(t)
		whole := ParseForm(events.FormStructured, events.NewOutput(text), events.TurnObservation, codeTypes())
		closed := closings(text, len(given))
		cuts := rapid.SliceOfN(rapid.IntRange(1, len(text)-1), 10, 20).Draw(t, "cuts")
		for _, end := range closed {
			cuts = append(cuts, end-1, end, end+1)
		}
		for _, n := range cuts {
			p := ParseForm(events.FormStructured, events.NewOutput(text[:n]), events.TurnObservation, codeTypes())
			want := 0
			for want < len(closed) && closed[want] <= n {
				want++
			}
			kept := carrying(given[:want])
			if len(p.Observations) != kept || kept > 0 && !cmp.Equal(whole.Observations[:kept], p.Observations, cmpopts.EquateEmpty()) {
				t.Fatalf("%d of %d bytes, %s: kept %+v, want the first %d of %+v", n, len(text), text[:n], p.Observations, kept, whole.Observations)
			}
			if stored := p.Disposition != DispositionDropped; stored != (kept > 0 || p.Summary != nil) || p.Disposition == DispositionSkip {
				t.Fatalf("%d bytes, %s: %+v", n, text[:n], p)
			}
			if p.Summary != nil && !cmp.Equal(p.Summary, whole.Summary) {
				t.Fatalf("%d bytes: summary %+v, want %+v", n, p.Summary, whole.Summary)
			}
		}
	})
}

// closings is where each of the n elements of the list observations ends in text.
func closings(text string, n int) (ends []int) {
	d := json.NewDecoder(strings.NewReader(text))
	for range 3 { // the brace, the name, the bracket
		_, _ = d.Token()
	}
	for range n {
		var element json.RawMessage
		if d.Decode(&element) != nil {
			return ends
		}
		ends = append(ends, int(d.InputOffset()))
	}
	return ends
}

func carrying(list []Observation) (n int) {
	for _, o := range list {
		o.TypeGiven = o.Type
		parts := o.parts()
		trimParts(parts[:])
		o.normalize(codeTypes())
		if o.hasContent() {
			n++
		}
	}
	return n
}

func TestACutTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes time")
	}
	for name, text := range map[string]func(n int) string{
		"many":   func(n int) string { return `{"observations":[` + strings.Repeat(`{"title":"t"},`, n/14) },
		"lists":  func(n int) string { return `{"observations":[` + strings.Repeat(`[],`, n/3) },
		"one":    func(n int) string { return `{"observations":[{"title":"t"},{"title":"` + strings.Repeat(`\"`, n/2) },
		"deep":   func(n int) string { return `{"observations":` + strings.Repeat("[", n) },
		"spaces": func(n int) string { return `{"observations":[{"title":"t"}` + strings.Repeat(" ", n) },
	} {
		growth.Linear(t, name, 1<<15, func(n int) {
			ParseForm(events.FormStructured, events.NewOutput(text(n)), events.TurnObservation, nil)
		})
	}
}

func ExampleParseForm() {
	cut := `{"observations":[{"type":"bugfix","title":"Round totals once"},{"type":"change","title":"Add a te`
	p := ParseForm(events.FormStructured, events.NewOutput(cut), events.TurnObservation, CodeMode().TypeIDs())
	fmt.Println(p.Disposition, len(p.Observations), p.Observations[0].Title)
	// Output: observations 1 Round totals once
}
