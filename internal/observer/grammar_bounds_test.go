package observer

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

func TestParseInvalidUTF8(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, output, title, why string }{
		{"in a field", "<observation><title>a\xff\xfeb</title></observation>", "a\uFFFDb", "a run of bad bytes is one U+FFFD"},
		{"cut character", "<observation><title>\xe4\xb8</title></observation>", "\uFFFD", "a character cut in two says something, if not what"},
		{"in front", "\xc3<observation><title>A</title></observation>", "A", "bad bytes around a root are prose"},
		{"in a name", "<obser\xffvation><title>A</title></observation>", "", "a name with bad bytes is another name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var title string
			if got := Parse(c.output, events.TurnObservation, nil); len(got.Observations) > 0 {
				title = got.Observations[0].Title
			}
			if title != c.title {
				t.Errorf("%s: title: got %q, want %q", c.why, title, c.title)
			}
		})
	}
}

func TestParseKeepsFirstObservations(t *testing.T) {
	t.Parallel()
	const ghost = "<observation><type>x</type></observation>"
	for _, n := range []int{MaxObservations - 1, MaxObservations, MaxObservations + 1, MaxObservations + 1000} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "%s<observation><title>%d</title></observation>", ghost, i)
		}
		got := Parse(text.String(), events.TurnObservation, nil)
		kept := min(n, MaxObservations)
		if len(got.Observations) != kept || got.Excess != n-kept {
			t.Fatalf("of %d observations: got %d and %d in excess, want %d and %d", n, len(got.Observations), got.Excess, kept, n-kept)
		}
		for i, o := range got.Observations {
			if o.Title != fmt.Sprint(i) {
				t.Fatalf("observation %d of %d: got title %q", i, n, o.Title)
			}
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	const family = "👨‍👩‍👧‍👦" // one grapheme of 25 bytes
	long := "e" + strings.Repeat("\u0301", 40)
	for _, c := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"short", "abc", 3, "abc"},
		{"letters", "abcdef", 3, "abc"},
		{"character of three bytes", "a記b", 3, "a"},
		{"whole character", "a記b", 4, "a記"},
		{"joined emoji", family + family, 49, family},
		{"joined emoji whole", family + family + "x", 50, family + family},
		{"flags come in pairs", "🇩🇪🇫🇷", 12, "🇩🇪"},
		{"accent stays with its letter", "ae\u0301x", 2, "a"},
		{"border right at the limit", "abce\u0301", 3, "abc"},
		{"accent just behind the limit", "abe\u0301", 3, "ab"},
		{"line break of two", "a\r\nb", 2, "a"},
		{"one grapheme longer than the limit", long, 10, long[:9]},
		{"blanks at the cut", "ab    cd", 4, "ab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := clip(c.in, c.limit); got != c.want {
				t.Errorf("clip(%q, %d): got %q, want %q", c.in, c.limit, got, c.want)
			}
		})
	}
}

func TestParseBoundsFields(t *testing.T) {
	t.Parallel()
	o := Observation{
		Type: UnknownType, TypeGiven: strings.Repeat("t", maxTypeGiven+1),
		Title: strings.Repeat("題", maxTitle), Subtitle: strings.Repeat("s", maxTitle+1), Narrative: strings.Repeat("n", maxNarrative+1),
	}
	for i := range 300 {
		o.Facts = append(o.Facts, fmt.Sprint("f", i))
		o.Concepts = append(o.Concepts, fmt.Sprint("c", i))
		o.FilesRead = append(o.FilesRead, fmt.Sprint("r", i))
	}
	o.Facts[0] = strings.Repeat("f", maxFact+1)
	o.Concepts[0] = strings.Repeat("c", maxConcept+1)
	o.FilesModified = []string{"a.go", strings.Repeat("p", maxPath+1), strings.Repeat("q", maxPath)}
	got := Parse(string(o.AppendXML(nil)), events.TurnObservation, codeTypes())
	if len(got.Observations) != 1 {
		t.Fatalf("observations: got %d, want 1", len(got.Observations))
	}
	sizes := func(o Observation) []int {
		return []int{
			len(o.TypeGiven), len(o.Title), len(o.Subtitle), len(o.Narrative), len(o.Facts), len(o.Concepts),
			len(o.FilesRead), len(o.FilesModified), len(o.Facts[0]), len(o.Concepts[0]), len(o.FilesModified[1]),
		}
	}
	want := []int{
		maxTypeGiven, maxTitle - 1, maxTitle, maxNarrative, maxFacts, maxConcepts, // 1,024 is no multiple of 3
		maxFiles, 2, maxFact, maxConcept, maxPath,
	}
	if diff := cmp.Diff(want, sizes(got.Observations[0])); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	clipped := 4 + (300 - maxFacts + 1) + (300 - maxConcepts) + (300 - maxFiles) + 1
	if got.Clipped != clipped {
		t.Errorf("clipped: got %d, want %d", got.Clipped, clipped)
	}
	if !utf8.ValidString(got.Observations[0].Title) {
		t.Errorf("title is not valid UTF-8: %q", got.Observations[0].Title)
	}
}

// TestSkipForm parses the one form that prompts show.
func TestSkipForm(t *testing.T) {
	t.Parallel()
	for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
		got := Parse(SkipForm, kind, nil)
		want := Parsed{
			Disposition: DispositionSkip, Reason: ReasonSkipSummary, Class: ClassXML,
			Observations: []Observation{}, SkipReason: events.NewOutput("..."),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s turn: %s (-want +got):\n%s", kind, SkipForm, diff)
		}
	}
}
