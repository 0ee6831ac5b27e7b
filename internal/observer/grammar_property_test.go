package observer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

// pieces are what hostile and ordinary texts are made of.
func pieces() []string {
	return []string{
		"word", " ", "\n", "a & b", "&amp;", "&lt;", "&#60;", "<", ">", "</", "/>", "\"", "'", "=", "é", "記録", "👨‍👩‍👧", "\x00",
		"<b>", "x < y", "<title>", "</title>", "<fact>", "</fact>", "</facts>", "<observation>", "</observation>", "<summary",
		"</summary>", "<skip_summary/>", "<![CDATA[", "]]>", "<!--", "-->", "<think>", "</think>", "```", "\ufeff", ";", "&",
	}
}

// texts generates field texts in the form in which Parse gives them back.
func texts(t *rapid.T, label string) string {
	return trim(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces()), 0, 12).Draw(t, label), ""))
}

func textLists(t *rapid.T, label string) []string {
	list := []string{}
	for range rapid.IntRange(0, 3).Draw(t, label) {
		if s := texts(t, label); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// observations generates observations as Parse makes them.
func observations(t *rapid.T) Observation {
	o := Observation{
		Type: rapid.SampledFrom(append(codeTypes(), UnknownType)).Draw(t, "type"), Title: "T" + texts(t, "title"),
		Subtitle: texts(t, "subtitle"), Narrative: texts(t, "narrative"), Facts: textLists(t, "facts"),
		FilesRead: textLists(t, "read"), FilesModified: textLists(t, "modified"),
	}
	if o.Type == UnknownType {
		o.TypeGiven = rapid.SampledFrom([]string{"", "incident", "<type>", "x & y"}).Draw(t, "given")
	}
	o.Concepts = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"gotcha", "a & b", "<concept>", "記録", "trade-off"}), 0, 4,
		rapid.ID[string]).Draw(t, "concepts")
	o.Concepts = append([]string{}, o.Concepts...)
	return o
}

func summaries(t *rapid.T) Summary {
	return Summary{
		Request: "R" + texts(t, "request"), Investigated: texts(t, "investigated"), Learned: texts(t, "learned"),
		Completed: texts(t, "completed"), NextSteps: texts(t, "next steps"), Notes: texts(t, "notes"),
	}
}

// noise generates what may stand around roots without a meaning of its own.
func noise(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"", "\n\n", "Here you are:\n```xml\n", "\n```\n", "<observations>", "</observations>", "<?xml version=\"1.0\"?>", "<![CDATA[",
		"</summary>", "</observation>", "<title>x</title>", "a < b && c > d", "<!-- <observation> -->", "I cannot continue this session. ",
		"<narrative>", "</fact>", "&lt;summary&gt;", "<skip_summary>",
	}).Draw(t, "noise")
}

// TestParseFindsContentInNoise writes content with noise between and gets the content back.
func TestParseFindsContentInNoise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := Parsed{Disposition: DispositionObservations, Reason: ReasonOK, Class: ClassXML, Observations: []Observation{}}
		text := []byte(noise(t))
		for range rapid.IntRange(1, 3).Draw(t, "observations") {
			o := observations(t)
			want.Observations = append(want.Observations, o)
			text = append(o.AppendXML(text), noise(t)...)
		}
		kind := events.TurnObservation
		if rapid.Bool().Draw(t, "with summary") {
			s := summaries(t)
			text = append(s.AppendXML(text), noise(t)...)
			want.Summary = &s
			if kind = rapid.SampledFrom([]events.TurnKind{kind, events.TurnSummary}).Draw(t, "kind"); kind == events.TurnSummary {
				want.Disposition = DispositionSummary
			}
		}
		if diff := cmp.Diff(want, Parse(string(text), kind, codeTypes())); diff != "" {
			t.Fatalf("output %q\n(-want +got):\n%s", text, diff)
		}
	})
}

// TestParseKeepsQuotedTexts writes texts as they are, in CDATA, instead of escaping them.
func TestParseKeepsQuotedTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		title := "T" + texts(t, "title")
		quoted := cdataOpen + strings.ReplaceAll(title, cdataClose, "]]]]>"+cdataOpen+">") + cdataClose
		got := Parse("<observation><title>"+quoted+"</title></observation>", events.TurnObservation, nil)
		if len(got.Observations) != 1 || got.Observations[0].Title != title {
			t.Fatalf("title %q quoted as %q: got %+v", title, quoted, got)
		}
	})
}

// TestParseReadsNoWords changes every letter of outputs that did not parse, outside the names of tags. Whatever they
// say, the verdict is the same.
func TestParseReadsNoWords(t *testing.T) {
	t.Parallel()
	prose := []string{
		"You've hit your weekly limit", "Prompt is too long", "session exhausted", "No observations to record.", "401 Unauthorized",
		"I cannot continue", "ready to observe", "context window", "API Error: 429", "skip", "empty", "キーワード", "\n", ", ", "{}", "…",
	}
	tags := []string{"", "<observation>", "<summary>", "</observation>", "<observation/>", "<title>", "<skip_summary>", "<b>", "<![CDATA["}
	rapid.Check(t, func(t *rapid.T) {
		var said, other strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "parts") {
			words := rapid.SampledFrom(prose).Draw(t, "prose")
			tag := rapid.SampledFrom(tags).Draw(t, "tag")
			fmt.Fprint(&said, words, tag)
			fmt.Fprint(&other, strings.Map(scramble, words), tag)
		}
		for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
			got, want := Parse(said.String(), kind, nil), Parse(other.String(), kind, nil)
			if !cmp.Equal(got, want) {
				t.Fatalf("%q: got %+v\n%q: got %+v", said.String(), got, other.String(), want)
			}
		}
	})
}

// scramble replaces letters and digits, and leaves blanks and marks.
func scramble(r rune) rune {
	if isBlank(r) || strings.ContainsRune("<>&/=\"'![]-", r) {
		return r
	}
	return 'x'
}

// TestAppendXML shows the form: appended, escaped, without fields that say nothing.
func TestAppendXML(t *testing.T) {
	t.Parallel()
	got := string(Observation{Type: "bugfix", Title: "a < b", Facts: []string{"f & g"}}.AppendXML([]byte("> ")))
	want := "> <observation>\n<type>bugfix</type>\n<title>a &lt; b</title>\n<facts>\n<fact>f &amp; g</fact>\n</facts>\n</observation>\n"
	if got != want {
		t.Errorf("observation: got %q, want %q", got, want)
	}
	got = string(Summary{Request: "R", NextSteps: "N"}.AppendXML(nil))
	if want = "<summary>\n<request>R</request>\n<next_steps>N</next_steps>\n</summary>\n"; got != want {
		t.Errorf("summary: got %q, want %q", got, want)
	}
}
