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

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
)

// Reader answers from the views of rows. Its methods are safe for concurrent use.
type Reader struct {
	Views *engine.Views
	Log   eventlog.Reader // that the views follow
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
	names := make([]Name, len(ids))
	for i, id := range ids {
		names[i].ID = id
	}
	return v.RowsNamed(ctx, names...)
}

// Name is the id of a row and, where it is known, its kind, among whose rows it is looked for first.
type Name struct {
	ID   events.ID
	Kind Kind
}

// RowsNamed is Rows for names.
func (v Reader) RowsNamed(ctx context.Context, names ...Name) ([]Row, error) {
	rows := make([]Row, len(names))
	err := v.Views.Read(ctx, func(r *engine.ReadTx) {
		books, missing := findNamed(r, names, func(b viewTx, i int) bool { return b.read(names[i].ID[:], &rows[i]) })
		for _, i := range missing {
			readForgotten(books, names[i].ID, &rows[i])
		}
	})
	return rows, err
}

// findNamed calls read with the views in which each name's row may be, that of its kind first, until it returns true: that the row is there.
// It returns all views and the names that are in none of them. Views of kinds that no name has are opened only where they are needed.
func findNamed(r *engine.ReadTx, names []Name, read func(b viewTx, i int) bool) (all []viewTx, missing []int) {
	var kinds []Kind
	for i := range names {
		if kind := names[i].Kind; kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	var own []viewTx
	if len(kinds) > 0 {
		own = viewTxsIn(r, kinds...)
	}
	for i := range names {
		if !slices.ContainsFunc(own, func(b viewTx) bool { return b.kind == names[i].Kind && read(b, i) }) {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	all = viewTxsIn(r)
	return all, slices.DeleteFunc(missing, func(i int) bool {
		return slices.ContainsFunc(all, func(b viewTx) bool { return b.kind != names[i].Kind && read(b, i) })
	})
}

// viewTx is one of the views of rows within a transaction.
type viewTx struct {
	kind Kind
	x    *engine.Tx
}

// viewTxsIn are the views of rows of the given kinds, or of all.
func viewTxsIn(r *engine.ReadTx, kinds ...Kind) []viewTx {
	var books []viewTx
	for _, rows := range Views() {
		if len(kinds) == 0 || slices.Contains(kinds, rows.kind) {
			books = append(books, viewTx{kind: rows.kind, x: r.View(rows.names)})
		}
	}
	return books
}

func find(books []viewTx, id events.ID) (row Row) {
	if !slices.ContainsFunc(books, func(b viewTx) bool { return b.read(id[:], &row) }) {
		readForgotten(books, id, &row)
	}
	return row
}

// readForgotten reads what is left of a row that no view has into an empty one: its id alone where it was never there.
func readForgotten(books []viewTx, id events.ID, row *Row) {
	row.ID = id
	for _, b := range books {
		if g, ok := forgottenTable().Get(b.x, id[:]); ok {
			row.Forgotten, row.Position, row.At = true, g.Position, g.At
			return
		}
	}
}

// Resolve returns the ids of rows that begin with prefix, hex digits with or without hyphens, in order, at most limit of
// them. No match is no error, and neither is text that no id can begin with.
func (v Reader) Resolve(ctx context.Context, prefix string, limit int) ([]events.ID, error) {
	start, ok := engine.ParseIDPrefix(prefix)
	if !ok {
		return nil, nil
	}
	var ids []events.ID
	err := v.Views.Read(ctx, func(r *engine.ReadTx) {
		for _, b := range viewTxsIn(r) {
			ids = append(ids, start.Find(b.x, rowTable().Name, limit)...)
			ids = append(ids, start.Find(b.x, forgottenTable().Name, limit)...)
		}
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
	err := v.Views.Read(ctx, func(r *engine.ReadTx) {
		for _, b := range viewTxsIn(r, kinds...) {
			rows = slices.AppendSeq(rows, b.session(session))
		}
	})
	return inOrder(rows), err
}

// inOrder puts rows of a session in the order of the log, those of several machines in that of engine.Merge. It changes rows.
func inOrder(rows []Row) []Row {
	if slices.ContainsFunc(rows, func(r Row) bool { return r.Place.Log != rows[0].Place.Log }) {
		return engine.Merge(rows, Row.said)
	}
	order.By(rows, byPosition)
	return rows
}

// session yields the rows of a session, oldest first.
func (b viewTx) session(id events.SessionID) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for _, ref := range bySessionTable().From(b.x, id[:], id[:]) {
			if !yield(b.row(ref)) {
				return
			}
		}
	}
}

// row is the row that an index entry names.
func (b viewTx) row(id engine.Ref) Row {
	row, ok := b.get(id[:])
	if !ok {
		b.x.Fail(engine.Damaged("%s %s is in an index alone", b.kind, events.ID(id)))
	}
	return row
}

// titleLength is how much of a prompt serves as its session's title, in runes.
const titleLength = 120

// Title returns the first words of a session, within r: the beginning of its first prompt that has text, else nothing.
func Title(r *engine.ReadTx, id events.SessionID) string {
	prompts := viewTxsIn(r, Prompt)[0].session(id)
	if r.View(Views()[0].names).Joined {
		prompts = slices.Values(inOrder(slices.Collect(prompts)))
	}
	for row := range prompts {
		if len(row.ForgetRequests) > 0 {
			continue
		}
		if title := cut(row.Text); title != "" {
			return title
		}
	}
	return ""
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

// Replacements returns the rows that the one of that id took the place of, and those that took its own, because their turns were
// asked about the same inputs again, or because they sum up the same session: each oldest first, by position. Rows of a turn that
// was replaced only in part still stand, and are in neither. The error is engine.ErrNotFound for an unknown row.
func (v Reader) Replacements(ctx context.Context, id events.ID) (older, newer []Row, err error) {
	err = v.Views.Read(ctx, func(r *engine.ReadTx) {
		books := viewTxsIn(r)
		row := find(books, id)
		if row.Kind == "" && !row.Forgotten {
			books[0].x.Fail(fmt.Errorf("%w: row %s", engine.ErrNotFound, id))
			return
		}
		older, newer = replacements(books, row)
	})
	return older, newer, err
}

func replacements(books []viewTx, row Row) (older, newer []Row) {
	if row.Turn == (events.ID{}) {
		return nil, nil
	}
	for _, b := range books {
		before, after := b.around(row.Turn)
		older = b.appendTurnRows(older, before, true)
		switch {
		case row.Outdated:
		case row.Superseded:
			newer = b.appendTurnRows(newer, after, false)
		case row.succeeds() && b.kind == Summary:
			older = append(older, b.outdated(row.Session)...)
		}
	}
	if row.Outdated && !row.ByHand {
		newer = append(newer, find(books, row.SupersededBy))
	}
	order.By(older, byPosition)
	order.By(newer, byPosition)
	return older, newer
}

func byPosition(a, b Row) int { return cmp.Compare(a.Position, b.Position) }

// around returns the other turns that kept some of a turn's inputs, before it and after it.
func (b viewTx) around(id events.ID) (before, after []events.ID) {
	turn, _ := turnTable().Get(b.x, engine.IDKey(id))
	for _, p := range turn.Settles {
		in, _ := inputTable().Get(b.x, engine.PositionKey(p))
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
	return before, after
}

// appendTurnRows adds the rows of turns; with replaced only those of turns that were.
func (b viewTx) appendTurnRows(rows []Row, turns []events.ID, onlyReplaced bool) []Row {
	for _, id := range turns {
		turn, _ := turnTable().Get(b.x, engine.IDKey(id))
		if onlyReplaced && !turn.Replaced {
			continue
		}
		for _, id := range turn.Rows {
			if row, ok := b.get(engine.IDKey(id)); ok {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// RowsAsOf is Rows as they stood at the record of a position, which was recorded at a time. Of rows that say the same, those
// count that had been recorded, and the one that led them leads; one that was superseded since stands by itself. What is
// forgotten stays so. Rows recorded later are returned too, as Row.AsOf has them.
func (v Reader) RowsAsOf(ctx context.Context, p events.Position, at time.Time, ids ...events.ID) ([]Row, error) {
	rows := make([]Row, len(ids))
	err := v.Views.Read(ctx, func(r *engine.ReadTx) {
		books := viewTxsIn(r)
		for n, id := range ids {
			rows[n] = groupedAsOf(books, find(books, id), p, at)
		}
	})
	return rows, err
}

// groupedAsOf is Row.AsOf, in the group of those that said the same by then.
func groupedAsOf(books []viewTx, row Row, p events.Position, at time.Time) Row {
	then := row.AsOf(p, at)
	n := slices.IndexFunc(books, func(b viewTx) bool { return b.kind == row.Kind })
	if n >= 0 && row.Position <= p && then.succeeds() {
		return books[n].succeededAsOf(then, p, at)
	}
	if n < 0 || row.Position > p || row.Count < 2 && row.FoldedInto == (events.ID{}) {
		return then
	}
	g, ok := groupTable().Get(books[n].x, groupKey(row))
	if !ok {
		return then
	}
	var lead events.ID
	var turns []events.ID
	said, standing := 0, false
	for _, id := range g.Rows {
		one, _ := rowTable().Get(books[n].x, engine.IDKey(id))
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
	return then
}

// Same returns the ids of the rows that are one with a row because they say the same, without its own, in the order in which they came.
func (v Reader) Same(ctx context.Context, row Row) (same []events.ID, err error) {
	if row.FoldedInto == (events.ID{}) && row.Count < 2 {
		return nil, nil
	}
	err = v.Views.Read(ctx, func(r *engine.ReadTx) {
		if g, ok := groupTable().Get(viewTxsIn(r, row.Kind)[0].x, groupKey(row)); ok {
			same = without(g.Rows, row.ID)
		}
	})
	return same, err
}

func (b viewTx) get(key []byte) (row Row, ok bool) {
	ok = b.read(key, &row)
	return row, ok
}

// read reads a row, as readers know it, into an empty one: one that is outdated is superseded by the newest of its session.
func (b viewTx) read(key []byte, row *Row) bool {
	if !rowTable().Read(b.x, key, row) {
		return false
	}
	row.Machine = b.x.Machine(row.Place.Log)
	if row.Outdated && !row.Superseded {
		id, _ := newestTable().Get(b.x, engine.SessionKey(row.Session))
		row.Superseded, row.SupersededBy = true, events.ID(id)
	}
	return true
}

// succeededAsOf is then, a row as of the record of a position, with the summary of its session that stood at that record.
func (b viewTx) succeededAsOf(then Row, p events.Position, at time.Time) Row {
	var rows []Row
	for row := range b.session(then.Session) {
		if row.Position <= p {
			rows = append(rows, row.AsOf(p, at))
		}
	}
	then.Outdated = false
	if i := newest(rows); i >= 0 && rows[i].ID != then.ID {
		then.Outdated = true
		if !then.Superseded {
			then.Superseded, then.SupersededBy = true, rows[i].ID
		}
	}
	return then
}

// outdated are the summaries of a session whose place the newest took, the last maxOutdated.
func (b viewTx) outdated(session events.SessionID) (rows []Row) {
	for row := range b.session(session) {
		if row.Outdated {
			rows = append(rows, row)
		}
	}
	return rows[max(0, len(rows)-maxOutdated):]
}

// maxOutdated is how many summaries of a session are named whose place the newest took.
const maxOutdated = 20
