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

// entriesOf reads the rows of the entries that rows are part of, as they stood at a moment: those that are listed, the prompt first.
// Rows of one entry share a list, which is not to be changed.
func (r *Recall) entriesOf(ctx context.Context, of []rows.Row, then moment) ([][]rows.Row, error) {
	var entries []rows.Entry // each once
	place := map[rows.Entry]int{}
	for _, row := range of {
		e := row.Entry()
		if _, known := place[e]; !known {
			place[e] = len(entries)
			entries = append(entries, e)
		}
	}
	ids, err := r.cfg.Views.RowsOfEntries(ctx, entries...)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	var all []events.ID
	for i := range ids {
		if entries[i].Prompt > 0 {
			all = append(all, ids[i]...)
		}
	}
	var found []rows.Row
	if len(all) > 0 {
		if found, err = r.rowsAsOf(ctx, then, all...); err != nil {
			return nil, fmt.Errorf("recall: %w", err)
		}
	}
	standing := make([][]rows.Row, len(entries))
	for i := range ids {
		if entries[i].Prompt == 0 {
			continue
		}
		for _, row := range found[:len(ids[i])] {
			if row.Listed() && (then.position == 0 || row.Position <= then.position) {
				standing[i] = append(standing[i], row)
			}
		}
		found = found[len(ids[i]):]
	}
	out := make([][]rows.Row, len(of))
	for i, row := range of {
		if e := row.Entry(); e.Prompt > 0 {
			out[i] = standing[place[e]]
		} else {
			out[i] = []rows.Row{row}
		}
	}
	return out, nil
}

// parts are the rows of an entry beside one, in short. What a session did in another project, where it moved within its work, is told there.
func parts(entry []rows.Row, beside rows.Row) (list []EntryPart) {
	room := maxPartTexts
	for _, row := range entry {
		if len(list) == maxParts {
			break
		}
		if p := projectOf(row); row.ID == beside.ID || p != "" && p != projectOf(beside) {
			continue
		}
		p := EntryPart{ID: row.ID, Handle: row.Handle(), Kind: row.Kind, Type: row.Type, Title: titleOf(row), Flagged: row.Flagged, Undone: row.IsUndone()}
		p.Text = firstSentences(textOf(row), p.Title, min(maxPartText, room))
		room -= size(p.Text)
		list = append(list, p)
	}
	return list
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
	return joined(kept)
}

// withParts are items of rows, each with the other rows of its entry.
func (r *Recall) withParts(ctx context.Context, list []rows.Row, then moment) ([]Item, error) {
	entries, err := r.entriesOf(ctx, list, then)
	if err != nil {
		return nil, err
	}
	items := make([]Item, len(list))
	for i, row := range list {
		items[i] = itemOf(row)
		items[i].Parts = parts(entries[i], row)
	}
	return items, nil
}

// Parts returns, for each row that has any, the other rows of its entry, by its id. Errors are ctx's and those of the views.
func (r *Recall) Parts(ctx context.Context, of ...rows.Row) (map[events.ID][]EntryPart, error) {
	entries, err := r.entriesOf(ctx, of, moment{})
	list := map[events.ID][]EntryPart{}
	for i, entry := range entries {
		if p := parts(entry, of[i]); len(p) > 0 {
			list[of[i].ID] = p
		}
	}
	return list, err
}
