package recall

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/projections/rows"
)

// TestALineStandsAlone: what a told sentence needs to be understood is told with it, or it is not told.
func TestALineStandsAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, title, said, want string
		asked                   bool
	}{
		"the items of a list stand under what announces it": {
			text: "The shelf is in order.\n\nEach box has a width now:\n- `Box.Width` is read from the label\n- `Shelf.Sort` compares by it",
			want: "The shelf is in order. Each box has a width now: `Box.Width` is read from the label; `Shelf.Sort` compares by it",
		},
		"and under a heading": {
			text: "## Boxes of odd width\n\n- `Box.Width` is read from the label\n\n**Shelves with a door:**\n- `Shelf.Sort` compares by it",
			want: "Boxes of odd width: `Box.Width` is read from the label; Shelves with a door: `Shelf.Sort` compares by it",
		},
		"but not under one in bold that another label in bold ends": {
			text: "**Shelves with a door:**\n\n`Shelf.Sort` compares by width.\n\n**Boxes:** `Box.Width` is read from the label.\n\nThe door of `Shelf.Open` stays shut.",
			want: "Shelves with a door: `Shelf.Sort` compares by width. Boxes: `Box.Width` is read from the label. The door of `Shelf.Open` stays shut.",
		},
		"though under one that is a heading": {
			text: "## Shelves with a door\n\n**Boxes:** `Box.Width` is read from the label.",
			want: "Shelves with a door: Boxes: `Box.Width` is read from the label.",
		},
		"one that speaks of the sentence before it takes that along": {
			text: "The label is read twice by `ReadAll`. This costs 300 ms in `Shelf.Open`.",
			want: "The label is read twice by `ReadAll`. This costs 300 ms in `Shelf.Open`.",
		},
		"or is not told where that is not there": {
			text: "```\nReadAll()\n```\nThis costs 300 ms in `Shelf.Open`.\n\nThe label is read once by `ReadAll`.",
			want: "The label is read once by `ReadAll`.",
		},
		"and where it was told elsewhere": {
			text: "The label is read twice by `ReadAll`. This costs 300 ms in `Shelf.Open`.", said: "The label is read twice by ReadAll.",
			want: "",
		},
		"unless it is the title": {
			text: "This costs 300 ms in `Shelf.Open`.", title: "This costs 300 ms in Shelf.Open.",
			want: "This costs 300 ms in `Shelf.Open`.",
		},
		"one whose head speaks of it too": {
			text: "The label is read by `ReadAll`.\n\nThis is used in both places:\n- `Shelf.Open` of the shelf",
			want: "The label is read by `ReadAll`. This is used in both places: `Shelf.Open` of the shelf",
		},
		"which is left out where that was told elsewhere": {
			text: "The label is read by `ReadAll`.\n\nThis is used in both places:\n- `Shelf.Open` of the shelf", title: "Shelves", said: "The label is read by ReadAll.",
			want: "",
		},
		"short code is told with what announces it, and what speaks of it behind that": {
			text: "The width is a name now:\n```\nconst Width = 12\n```\nThis stands in `box.go` alone.",
			want: "The width is a name now: `const Width = 12`; This stands in `box.go` alone.",
		},
		"what stands under a guess is left out": {
			text: "The shelf is slow.\n\nLikely reasons for it:\n1. `Box.Width` is read from the label\n2. `Shelf.Sort` compares twice",
			want: "The shelf is slow.",
		},
		"code that is long is left out": {
			text: "The width is a name now:\n```\n" + strings.Repeat("const Width = 12\n", 12) + "```\nIt stands in `box.go` alone, and `shelf.go` reads it.\n\nThe door is closed by `Shelf.Close`.",
			want: "The door is closed by `Shelf.Close`.",
		},
		"one that speaks of what was asked is told below that": {
			text: "They are read by `ReadAll`, and both are closed.", asked: true,
			want: "They are read by `ReadAll`, and both are closed.",
		},
		"what was only offered is not told": {
			text: "The label is read once by `ReadAll`.\n\nThere are two options:\n1. Keep the label in `Box.Label`\n2. Read it in `Shelf.Open`",
			want: "The label is read once by `ReadAll`.",
		},
	} {
		said := saidTexts{}
		if c.said != "" {
			said.add(c.said)
		}
		if got := said.weightiest(readingOf(&rows.Row{Title: c.title, Narrative: c.text}), 400, c.asked); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestWhatIsCutStandsAlone: a text that is cut keeps a list's items below their head, which counts.
func TestWhatIsCutStandsAlone(t *testing.T) {
	t.Parallel()
	const text = "Both shelves open now:\n- `Box.Width` is read from the label\n- `Shelf.Sort` compares by it"
	for limit, want := range map[int]string{
		100: "Both shelves open now: `Box.Width` is read from the label; `Shelf.Sort` compares by it",
		65:  "Both shelves open now: `Box.Width` is read from the label",
	} {
		if got := (&saidTexts{}).unsaid(text, limit); got != want {
			t.Errorf("in %d characters: %q, want %q", limit, got, want)
		}
	}
}

// TestWorkWhoseTitleIsSaidElsewhere is told with its files.
func TestWorkWhoseTitleIsSaidElsewhere(t *testing.T) {
	t.Parallel()
	row := rows.Row{
		Kind: rows.Observation, Type: "change", Title: "The shelf is in order by width", FilesModified: []string{"/p/shelf.go", "/p/box.go", "/p/a.go"},
		Narrative: "The shelf is in order by width.\n\nThe label is read once by `ReadAll` now.",
	}
	said := &saidTexts{}
	said.add(row.Title)
	c := &chooser{recall: &Recall{}}
	if got, want := c.longLine(readingOf(&row), said, false, maxWorkText), "change in shelf.go, box.go, 1 more: The label is read once by `ReadAll` now."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := c.longLine(readingOf(&row), &saidTexts{}, false, maxWorkText), "change in shelf.go, box.go, 1 more: The shelf is in order by width. The label is read once by `ReadAll` now."; got != want {
		t.Errorf("with its title: got %q, want %q", got, want)
	}
}

// TestWhatHeldBeforeAChangeSaysSo: that a title and its text hold before a change is said of each sentence of the text, and another label of
// the one behind it alone.
func TestWhatHeldBeforeAChangeSaysSo(t *testing.T) {
	t.Parallel()
	row := rows.Row{
		Kind: rows.Observation, Type: "discovery", Title: "Before shelf.go was changed: The shelf is sorted by `Box.Width`.",
		Narrative: "Before shelf.go was changed: There are three shelves.\n\nThe shelf is sorted by `Box.Width`. The label is read twice because `ReadAll` keeps none of it.",
	}
	c := &chooser{recall: &Recall{}}
	const want = "discovery: Before shelf.go was changed: The label is read twice because `ReadAll` keeps none of it."
	said := &saidTexts{}
	said.add("The shelf is sorted by `Box.Width`.")
	if got := c.longLine(readingOf(&row), said, false, 80); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	said = &saidTexts{}
	said.add("Not the cause: The shelf is sorted by `Box.Width`.")
	row.Title, row.Narrative = "Not the cause: The shelf is sorted by `Box.Width`.", "Not the cause: The shelf is sorted by `Box.Width`. The label is read twice because `ReadAll` keeps none of it."
	if got, want := c.longLine(readingOf(&row), said, false, 80), "discovery: The label is read twice because `ReadAll` keeps none of it."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
