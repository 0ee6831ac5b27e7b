package projections

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// RowReader answers from the views of rows. Its methods are safe for concurrent use.
type RowReader struct {
	*engine.Views
	Log eventlog.Log // that the views follow
}

// Row returns the row of that id, whatever its kind: one that is folded away, superseded or forgotten too, which its
// fields say. The error is engine.ErrNotFound.
func (v RowReader) Row(ctx context.Context, id events.ID) (Row, error) {
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
func (v RowReader) Rows(ctx context.Context, ids ...events.ID) ([]Row, error) {
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
func (v RowReader) books(btx *bolt.Tx, kinds ...Kind) ([]book, error) {
	var books []book
	for _, rows := range rowViews() {
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
		g, ok, err := graveTable().Get(b.x, engine.IDKey(id))
		if err != nil || ok {
			return Row{ID: id, Forgotten: ok, Position: g.Position, At: g.At}, err
		}
	}
	return Row{ID: id}, nil
}

// Resolve returns the ids of rows that begin with prefix, hex digits with or without hyphens, in order, at most limit of them (0
// means 10). No match is no error, and neither is text that no id can begin with.
func (v RowReader) Resolve(ctx context.Context, prefix string, limit int) ([]events.ID, error) {
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
				tables = append(tables, graveTable().Name)
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
func (v RowReader) RowsOf(ctx context.Context, session events.SessionID, kinds ...Kind) ([]Row, error) {
	rows, err := v.sessionRows(ctx, session, kinds...)
	return slices.DeleteFunc(rows, func(r Row) bool { return !r.Listed() }), err
}

// Prompts returns the prompts of a session, oldest first, private ones without their text among them.
func (v RowReader) Prompts(ctx context.Context, session events.SessionID) ([]Row, error) {
	return v.sessionRows(ctx, session, Prompt)
}

func (v RowReader) sessionRows(ctx context.Context, session events.SessionID, kinds ...Kind) ([]Row, error) {
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
	index, err := bySessionTable().In(b.x)
	if err != nil {
		return nil, err
	}
	c := index.Cursor()
	for k, raw := c.Seek(session[:]); bytes.HasPrefix(k, session[:]); k, raw = c.Next() {
		row, err := b.row(raw)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// row is the row that an index entry names.
func (b book) row(raw []byte) (Row, error) {
	var id engine.Ref
	if err := id.UnmarshalBinary(raw); err != nil {
		return Row{}, engine.Damaged("index of %s: %v", b.kind, err)
	}
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
	books, err := RowReader{Views: v}.books(btx, Prompt)
	if err != nil || len(books) == 0 {
		return "", err
	}
	index, err := bySessionTable().In(books[0].x)
	if err != nil {
		return "", err
	}
	c := index.Cursor()
	for k, raw := c.Seek(id[:]); bytes.HasPrefix(k, id[:]); k, raw = c.Next() {
		row, err := books[0].row(raw)
		if err != nil {
			return "", err
		}
		if title := cut(row.Text); title != "" {
			return title, nil
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
