package recall

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// maxParts is how many other rows of its entry an item names, maxPartText how much of each, in characters, and maxPartTexts how
	// much of all of them: an item is to be cheap to read.
	maxParts     = 12
	maxPartText  = 280
	maxPartTexts = 420
)

// EntryPart is another row of an item's entry, in short: the prompt, or something else that came of it.
type EntryPart struct {
	ID      events.ID   `json:"id"`
	Handle  rows.Handle `json:"handle,omitzero"`
	Kind    rows.Kind   `json:"kind"`
	Type    string      `json:"type,omitempty"`
	Title   string      `json:"title"`
	Flagged bool        `json:"flagged,omitempty"` // as Item.Flagged
	Undone  bool        `json:"undone,omitempty"`  // as Item.Undone
	Text    string      `json:"text,omitempty"`    // its first sentences that the title does not say, whole ones
}

// What is what the row is called in a word, as Row.What is.
func (p EntryPart) What() string { return rows.What(p.Kind, p.Type) }

// entryScope says which rows of entries are read. The zero value is all of them.
type entryScope struct {
	ofProject bool // those alone of the project of the row that they are read for, and of none
	prompts   bool // prompts alone
	most      int  // of each entry; 0: all
}

// entriesOf reads the rows of the entries that rows are part of, as they stood at a moment: those that are listed, the prompt first.
// Rows of one entry share a list, which is not to be changed.
func (r *Recall) entriesOf(ctx context.Context, of []rows.Row, then moment) ([][]*rows.Row, error) {
	return r.entriesWithin(ctx, entryScope{}, of, then)
}

// entriesWithin is entriesOf for some of the rows.
func (r *Recall) entriesWithin(ctx context.Context, scope entryScope, of []rows.Row, then moment) ([][]*rows.Row, error) {
	type list struct {
		rows.Entry
		project string
	}
	var entries []rows.Entry // of each list once
	var projects []string
	place := map[list]int{}
	at := make([]int, len(of))
	for i := range of {
		l := list{Entry: of[i].Entry()}
		if scope.ofProject {
			l.project = projectOf(of[i])
		}
		n, known := place[l]
		if !known {
			n = len(entries)
			place[l] = n
			entries, projects = append(entries, l.Entry), append(projects, l.project)
		}
		at[i] = n
	}
	f := rows.EntryFilter{PromptOnly: scope.prompts, Limit: scope.most, AsOf: then.position, At: then.at}
	f.Match = func(n int, row *rows.Row) bool {
		p := projectOf(*row)
		return row.Listed() && (then.position == 0 || row.Position <= then.position) && (!scope.ofProject || p == "" || p == projects[n])
	}
	found, err := r.cfg.Views.RowsOfEntries(ctx, f, entries...)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	out := make([][]*rows.Row, len(of))
	for i := range of {
		if out[i] = found[at[i]]; entries[at[i]].Prompt == 0 {
			out[i] = []*rows.Row{&of[i]}
		}
	}
	return out, nil
}

// partsOf reads the rows that parts tells of.
func (r *Recall) partsOf(ctx context.Context, of []rows.Row, then moment) ([][]*rows.Row, error) {
	return r.entriesWithin(ctx, entryScope{ofProject: true, most: maxParts + 1}, of, then)
}

// parts are the rows of an entry beside one, in short. What a session did in another project, where it moved within its work, is told there.
func parts(entry []*rows.Row, beside *rows.Row) (list []EntryPart) {
	room := maxPartTexts
	for _, row := range entry {
		if len(list) == maxParts {
			break
		}
		if row.ID == beside.ID {
			continue
		}
		p := partOf(row)
		p.Text = firstSentences(textOf(*row), p.Title, min(maxPartText, room))
		room -= size(p.Text)
		list = append(list, p)
	}
	return list
}

// partOf is a row in short, without its text.
func partOf(row *rows.Row) EntryPart {
	return EntryPart{ID: row.ID, Handle: row.Handle(), Kind: row.Kind, Type: row.Type, Title: titleOf(*row), Flagged: row.Flagged, Undone: row.IsUndone()}
}

// firstSentences are the first sentences of a text without those that a title says, whole, at most so many characters of them.
func firstSentences(text, title string, room int) string {
	enough := room + room/8 // bytes: hardly anything behind them is shown, and all search results are read so
	list := sentencesOf(clip.Head(text, enough))
	if len(text) > enough && len(list) > 0 {
		list = list[:len(list)-1] // it may have been cut
	}
	t := &saidTexts{}
	t.add(title)
	var kept []string
	for _, s := range list {
		n := size(s) + 1
		if n > room {
			break
		}
		if t.has(s) {
			continue
		}
		room -= n
		kept = append(kept, s)
	}
	return joinSentences(kept)
}

// withParts are items of rows, each with the other rows of its entry.
func (r *Recall) withParts(ctx context.Context, list []rows.Row, then moment) ([]Item, error) {
	entries, err := r.partsOf(ctx, list, then)
	if err != nil {
		return nil, err
	}
	items := itemsOf(list)
	for i := range list {
		items[i].Parts = parts(entries[i], &list[i])
	}
	return items, nil
}

// Parts returns, for each row that has any, the other rows of its entry, by its id. Errors are ctx's and those of the views.
func (r *Recall) Parts(ctx context.Context, of ...rows.Row) (map[events.ID][]EntryPart, error) {
	entries, err := r.partsOf(ctx, of, moment{})
	list := map[events.ID][]EntryPart{}
	for i, entry := range entries {
		if p := parts(entry, &of[i]); len(p) > 0 {
			list[of[i].ID] = p
		}
	}
	return list, err
}
