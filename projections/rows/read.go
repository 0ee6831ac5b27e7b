package rows

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Reader answers from the views of rows. Its methods are safe for concurrent use.
type Reader struct {
	*engine.Views
	Log eventlog.Log // that the views follow
}

// Row returns the row of that id, whatever its kind: one that is folded away, superseded or forgotten too, which its
// fields say. The error is engine.ErrNotFound.
func (v Reader) Row(ctx context.Context, id events.ID) (Row, error) {
	rows, err := v.Rows(ctx, id)
	if err != nil {
		return Row{}, err
	}
	if rows[0].Kind == "" && !rows[0].Forgotten {
		return Row{}, fmt.Errorf("%w: row %s", engine.ErrNotFound, id)
	}
	return rows[0], nil
}

// Rows returns one row for every id, in the order of ids. That of an unknown id has no Kind and is not Forgotten.
func (v Reader) Rows(ctx context.Context, ids ...events.ID) ([]Row, error) {
	rows := make([]Row, len(ids))
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		books, err := v.books(btx)
		if err != nil {
			return err
		}
		for n, id := range ids {
			if rows[n], err = find(books, id); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

// book is one of the views of rows within a transaction.
type book struct {
	kind Kind
	x    *engine.Tx
}

// books are the views of rows of the given kinds, or of all.
func (v Reader) books(btx *bolt.Tx, kinds ...Kind) ([]book, error) {
	var books []book
	for _, rows := range Views() {
		if len(kinds) > 0 && !slices.Contains(kinds, rows.kind) {
			continue
		}
		x, err := v.LiveTx(btx, rows.names)
		if err != nil {
			return nil, err
		}
		books = append(books, book{kind: rows.kind, x: x})
	}
	return books, nil
}

func find(books []book, id events.ID) (Row, error) {
	for _, b := range books {
		row, ok, err := rowTable().Get(b.x, engine.IDKey(id))
		if err != nil || ok {
			return row, err
		}
	}
	for _, b := range books {
		if b.kind != Memory {
			continue
		}
		g, ok, err := forgottenTable().Get(b.x, engine.IDKey(id))
		if err != nil || ok {
			return Row{ID: id, Forgotten: ok, Position: g.Position, At: g.At}, err
		}
	}
	return Row{ID: id}, nil
}

// Resolve returns the ids of rows that begin with prefix, hex digits with or without hyphens, in order, at most limit of them (0
// means 10). No match is no error, and neither is text that no id can begin with.
func (v Reader) Resolve(ctx context.Context, prefix string, limit int) ([]events.ID, error) {
	if limit <= 0 {
		limit = 10
	}
	start, ok := engine.ParseIDPrefix(prefix)
	if !ok {
		return nil, nil
	}
	var ids []events.ID
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		ids = nil
		books, err := v.books(btx)
		if err != nil {
			return err
		}
		for _, b := range books {
			tables := []string{rowTable().Name}
			if b.kind == Memory {
				tables = append(tables, forgottenTable().Name)
			}
			for _, t := range tables {
				ids = append(ids, start.Find(b.x, t, limit)...)
			}
		}
		return nil
	})
	slices.SortFunc(ids, func(a, b events.ID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	return ids[:min(len(ids), limit)], err
}

// RowsOf returns the listed rows of a session, of the given kinds or of all, oldest first.
func (v Reader) RowsOf(ctx context.Context, session events.SessionID, kinds ...Kind) ([]Row, error) {
	rows, err := v.sessionRows(ctx, session, kinds...)
	return slices.DeleteFunc(rows, func(r Row) bool { return !r.Listed() }), err
}

// Prompts returns the prompts of a session, oldest first, private ones without their text among them.
func (v Reader) Prompts(ctx context.Context, session events.SessionID) ([]Row, error) {
	return v.sessionRows(ctx, session, Prompt)
}

func (v Reader) sessionRows(ctx context.Context, session events.SessionID, kinds ...Kind) ([]Row, error) {
	var rows []Row
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		rows = nil
		books, err := v.books(btx, kinds...)
		if err != nil {
			return err
		}
		for _, b := range books {
			if rows, err = b.ofSession(rows, session); err != nil {
				return err
			}
		}
		return nil
	})
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Position, b.Position) })
	return rows, err
}

func (b book) ofSession(rows []Row, session events.SessionID) ([]Row, error) {
	for row, err := range b.session(session) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// session yields the rows of a session, oldest first. An error is the last.
func (b book) session(id events.SessionID) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for ref, err := range bySessionTable().From(b.x, id[:], id[:]) {
			var row Row
			if err == nil {
				row, err = b.row(ref.Value)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// row is the row that an index entry names.
func (b book) row(id engine.Ref) (Row, error) {
	row, ok, err := rowTable().Get(b.x, id[:])
	if err == nil && !ok {
		err = engine.Damaged("%s %s is in an index alone", b.kind, events.ID(id))
	}
	return row, err
}

// titleLength is how much of a prompt serves as its session's title, in runes.
const titleLength = 120

// Title returns the first words of a session, within btx: the beginning of its first prompt that has text, else nothing.
func Title(v *engine.Views, btx *bolt.Tx, id events.SessionID) (string, error) {
	books, err := Reader{Views: v}.books(btx, Prompt)
	if err != nil || len(books) == 0 {
		return "", err
	}
	for row, err := range books[0].session(id) {
		if title := cut(row.Text); err != nil || title != "" {
			return title, err
		}
	}
	return "", nil
}

// cut is the beginning of text, on one line.
func cut(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 8*titleLength)], "")
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > titleLength {
		line = append(line[:titleLength-1], '…')
	}
	return string(line)
}

// Prefixes returns, for each of ids, how many of its 16 bytes distinguish it from all other rows, forgotten memories among them:
// the first of lengths, which ascend, that does; else 16.
func (v Reader) Prefixes(ctx context.Context, ids []events.ID, lengths ...int) ([]int, error) {
	out := make([]int, len(ids))
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		books, err := v.books(btx)
		if err != nil {
			return err
		}
		var cursors []*bolt.Cursor
		for _, b := range books {
			for _, name := range []string{rowTable().Name, forgottenTable().Name} {
				if t := b.x.Table(name); t != nil {
					cursors = append(cursors, t.Cursor())
				}
			}
		}
		for n, id := range ids {
			out[n] = len(id)
			for _, length := range lengths {
				if !shared(cursors, id, length) {
					out[n] = length
					break
				}
			}
		}
		return nil
	})
	return out, err
}

// shared reports whether another row's id has the first bytes of id.
func shared(cursors []*bolt.Cursor, id events.ID, length int) bool {
	for _, c := range cursors {
		k, _ := c.Seek(id[:length])
		if bytes.Equal(k, id[:]) {
			k, _ = c.Next()
		}
		if bytes.HasPrefix(k, id[:length]) {
			return true
		}
	}
	return false
}

// Replacements returns the rows that the one of that id took the place of, and those that took its own, because their
// turns were asked about the same inputs again: each oldest first, by position. Rows of a turn that was replaced only in
// part still stand, and are in neither. The error is engine.ErrNotFound for an unknown row.
func (v Reader) Replacements(ctx context.Context, id events.ID) (older, newer []Row, err error) {
	err = v.Read(ctx, func(btx *bolt.Tx) error {
		books, err := v.books(btx)
		if err != nil {
			return err
		}
		row, err := find(books, id)
		if err != nil {
			return err
		}
		if row.Kind == "" && !row.Forgotten {
			return fmt.Errorf("%w: row %s", engine.ErrNotFound, id)
		}
		older, newer, err = replacements(books, row)
		return err
	})
	return older, newer, err
}

func replacements(books []book, row Row) (older, newer []Row, err error) {
	if row.Turn == (events.ID{}) {
		return nil, nil, nil
	}
	for _, b := range books {
		if b.kind != Observation && b.kind != Summary {
			continue
		}
		before, after, err := b.around(row.Turn)
		if err != nil {
			return nil, nil, err
		}
		if older, err = b.ofTurns(older, before, true); err != nil {
			return nil, nil, err
		}
		if !row.Superseded {
			continue
		}
		if newer, err = b.ofTurns(newer, after, false); err != nil {
			return nil, nil, err
		}
	}
	byPosition := func(a, b Row) int { return cmp.Compare(a.Position, b.Position) }
	slices.SortFunc(older, byPosition)
	slices.SortFunc(newer, byPosition)
	return older, newer, nil
}

// around returns the other turns that kept some of a turn's inputs, before it and after it.
func (b book) around(id events.ID) (before, after []events.ID, err error) {
	turn, ok, err := turnTable().Get(b.x, engine.IDKey(id))
	if err != nil || !ok {
		return nil, nil, err
	}
	for _, p := range turn.Settles {
		in, _, err := inputTable().Get(b.x, engine.PositionKey(p))
		if err != nil {
			return nil, nil, err
		}
		own := slices.Index(in.Turns, id)
		for n, other := range in.Turns {
			switch {
			case n < own && !slices.Contains(before, other):
				before = append(before, other)
			case n > own && own >= 0 && !slices.Contains(after, other):
				after = append(after, other)
			}
		}
	}
	return before, after, nil
}

// ofTurns adds the rows of turns; with replaced only those of turns that were.
func (b book) ofTurns(rows []Row, turns []events.ID, replaced bool) ([]Row, error) {
	for _, id := range turns {
		turn, ok, err := turnTable().Get(b.x, engine.IDKey(id))
		if err != nil {
			return nil, err
		}
		if !ok || replaced && !turn.Replaced {
			continue
		}
		for _, id := range turn.Rows {
			row, ok, err := rowTable().Get(b.x, engine.IDKey(id))
			if err != nil {
				return nil, err
			}
			if ok {
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

// RowsAsOf is Rows as they stood at the record of a position, which was recorded at a time. Of rows that say the same, those
// count that had been recorded, and the one that led them leads; one that was superseded since stands by itself. What is
// forgotten stays so. Rows recorded later are returned too, as Row.AsOf has them.
func (v Reader) RowsAsOf(ctx context.Context, p events.Position, at time.Time, ids ...events.ID) ([]Row, error) {
	rows := make([]Row, len(ids))
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		books, err := v.books(btx)
		if err != nil {
			return err
		}
		for n, id := range ids {
			row, err := find(books, id)
			if err != nil {
				return err
			}
			if rows[n], err = groupedAsOf(books, row, p, at); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

// groupedAsOf is Row.AsOf, in the group of those that said the same by then.
func groupedAsOf(books []book, row Row, p events.Position, at time.Time) (Row, error) {
	then := row.AsOf(p, at)
	n := slices.IndexFunc(books, func(b book) bool { return b.kind == row.Kind })
	if n < 0 || row.Position > p || row.Count < 2 && row.FoldedInto == (events.ID{}) {
		return then, nil
	}
	g, ok, err := groupTable().Get(books[n].x, groupKey(row))
	if err != nil || !ok {
		return then, err
	}
	var lead events.ID
	var turns []events.ID
	said, standing := 0, false
	for _, id := range g.Rows {
		one, _, err := rowTable().Get(books[n].x, engine.IDKey(id))
		if err != nil {
			return then, err
		}
		if one.Position > p {
			continue
		}
		if stands := !one.AsOf(p, at).Flagged; said == 0 || stands && !standing {
			lead, standing = id, stands
		}
		said, turns = said+1, withTurn(turns, one.Turn)
	}
	then.FoldedInto, then.Count, then.Turns = events.ID{}, said, turns
	if row.ID != lead {
		then.FoldedInto, then.Count, then.Turns = lead, 0, ownTurn(row)
	}
	return then, nil
}

// Same returns the ids of the rows that are one with a row because they say the same in its session, without its own.
func (v Reader) Same(ctx context.Context, row Row) ([]events.ID, error) {
	lead := row.FoldedInto
	if lead == (events.ID{}) {
		lead = row.ID
	}
	if row.Kind != Observation || lead == row.ID && row.Count < 2 {
		return nil, nil
	}
	rows, err := v.sessionRows(ctx, row.Session, Observation)
	var same []events.ID
	for _, other := range rows {
		if other.ID != row.ID && (other.ID == lead || other.FoldedInto == lead) {
			same = append(same, other.ID)
		}
	}
	return same, err
}
