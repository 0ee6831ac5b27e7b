package projections

import (
	"crypto/sha256"
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/events"
)

// group is the rows of one session that say the same, oldest first. The first is listed, with the count and the turns
// of all; the others are folded into it.
type group struct {
	Rows []events.ID `cbor:"1,keyasint,omitempty" json:"rows"`
}

// groupKey is nil for a row that is never folded: one without title and narrative.
func groupKey(row Row) []byte {
	title, narrative := normalise(row.Title), normalise(row.Narrative)
	if title == "" && narrative == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(title + "\x00" + narrative))
	return append(slices.Clone(row.Session[:]), sum[:16]...)
}

// normalise makes texts equal that differ only in case and white space.
func normalise(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), unicode.IsSpace), " ")
}

// join enters a new row in its group, and folds it if it is not the first.
func (f *rowFold) join(row *Row) error {
	key := groupKey(*row)
	if !f.folds || key == nil {
		return nil
	}
	g, _, err := groupTable().get(f.x, key)
	if err != nil {
		return err
	}
	g.Rows = append(g.Rows, row.ID)
	if err := groupTable().put(f.x, key, g); err != nil || len(g.Rows) == 1 {
		return err
	}
	lead, ok, err := f.get(g.Rows[0])
	if err != nil || !ok {
		return err
	}
	lead.Count++
	lead.Turns = withTurn(lead.Turns, row.Turn)
	row.FoldedInto, row.Count = lead.ID, 0
	return f.put(lead)
}

func withTurn(turns []events.ID, turn events.ID) []events.ID {
	if turn == (events.ID{}) || slices.Contains(turns, turn) {
		return turns
	}
	return append(turns, turn)
}

// leave takes a row out of its group and makes the group whole again. The row itself is not written.
func (f *rowFold) leave(row Row) error {
	key := groupKey(row)
	if !f.folds || key == nil || row.Superseded {
		return nil
	}
	g, ok, err := groupTable().get(f.x, key)
	if err != nil || !ok {
		return err
	}
	g.Rows = without(g.Rows, row.ID)
	if len(g.Rows) == 0 {
		return groupTable().delete(f.x, key)
	}
	if err := groupTable().put(f.x, key, g); err != nil {
		return err
	}
	return f.regroup(g)
}

// regroup writes the rows of a group as they are after one has left.
func (f *rowFold) regroup(g group) error {
	var turns []events.ID
	for i := len(g.Rows) - 1; i >= 0; i-- {
		row, ok, err := f.get(g.Rows[i])
		if err != nil || !ok {
			return err
		}
		turns = append([]events.ID{row.Turn}, turns...)
		row.FoldedInto, row.Count, row.Turns = g.Rows[0], 0, ownTurn(row)
		if i == 0 {
			row.FoldedInto, row.Count, row.Turns = events.ID{}, len(g.Rows), distinct(turns)
			if err := f.list(row); err != nil {
				return err
			}
		}
		if err := f.put(row); err != nil {
			return err
		}
	}
	return nil
}

func ownTurn(row Row) []events.ID { return withTurn(nil, row.Turn) }

func distinct(turns []events.ID) []events.ID {
	var out []events.ID
	for _, t := range turns {
		out = withTurn(out, t)
	}
	return out
}
