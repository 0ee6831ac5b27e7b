package rows

import (
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

type fold struct {
	View
	x      *engine.Tx
	facts  engine.FactsCache
	turnOf *engine.Cache[events.ID, turnState]
	inputs *engine.Cache[events.Position, inputState]
}

func (v View) Fold(x *engine.Tx) engine.Fold {
	return &fold{
		View: v, x: x,
		facts:  engine.NewFactsCache(x),
		turnOf: engine.NewCache(x, turnTable(), engine.IDKey),
		inputs: engine.NewCache(x, inputTable(), engine.PositionKey),
	}
}

func (f *fold) Flush() error { return engine.Flush(f.facts, f.turnOf, f.inputs) }

func (f *fold) Apply(r *engine.Record) error {
	if f.turns {
		if err := f.applyTurn(r); err != nil {
			return err
		}
	}
	switch r.Kind {
	case events.KindSessionOpened:
		return f.facts.Learn(r)
	case f.source:
		return f.add(r)
	case events.KindClaimChecked:
		return engine.Handle(r, f.check)
	case events.KindMemorySuperseded:
		return engine.Handle(r, f.replace)
	case events.KindMemoryForgotten:
		return engine.Handle(r, f.forget)
	}
	return nil
}

// add makes r's row. A row whose id is taken is not made: the first one stays.
func (f *fold) add(r *engine.Record) error {
	row, ok, err := f.make(r)
	if err != nil || !ok {
		return err
	}
	if _, taken, err := rowTable().Get(f.x, engine.IDKey(row.ID)); err != nil || taken {
		return err
	}
	if err := f.place(r, &row); err != nil {
		return err
	}
	if err := bySessionTable().Put(f.x, engine.PlaceKey(row.Session, row.Position), engine.Ref(row.ID)); err != nil {
		return err
	}
	if err := f.joinTurn(row); err != nil {
		return err
	}
	if err := f.joinGroup(&row); err != nil {
		return err
	}
	if err := f.list(row); err != nil {
		return err
	}
	return f.put(row)
}

// place fills in where and when the row happened.
func (f *fold) place(r *engine.Record, row *Row) error {
	row.Kind, row.Position, row.Session, row.Count = f.kind, r.Position, r.Session, 1
	if row.At.IsZero() {
		row.At = r.OccurredAt
	}
	row.Turns = ownTurn(*row)
	known, err := f.facts.Peek(r.Session)
	if err != nil || known == nil || r.Session.IsZero() {
		return err
	}
	row.Agent = known.Agent
	if row.AgentSession == "" {
		row.AgentSession = known.AgentSession
	}
	if row.Project == "" && row.ProjectRoot == "" {
		row.Project, row.ProjectRoot = known.Project, known.ProjectRoot
	}
	return nil
}

func (f *fold) get(id events.ID) (Row, bool, error) { return rowTable().Get(f.x, engine.IDKey(id)) }

func (f *fold) put(row Row) error { return rowTable().Put(f.x, engine.IDKey(row.ID), row) }

// list enters the row in the lists by time, if it belongs there.
func (f *fold) list(row Row) error {
	if !row.Listed() {
		return nil
	}
	for _, project := range listsOf(row) {
		if err := byTimeTable().Put(f.x, engine.TimeKey(project, row.At, row.Position), engine.Ref(row.ID)); err != nil {
			return err
		}
	}
	return nil
}

func (f *fold) unlist(row Row) error {
	for _, project := range listsOf(row) {
		if err := byTimeTable().Delete(f.x, engine.TimeKey(project, row.At, row.Position)); err != nil {
			return err
		}
	}
	return nil
}

// listsOf names the lists that a row is in: that of everything, and its project's.
func listsOf(row Row) []engine.ProjectID {
	if row.ProjectRoot == "" {
		return []engine.ProjectID{{}}
	}
	return []engine.ProjectID{{}, engine.ProjectIDOf(row.ProjectRoot)}
}

// replace carries out a MemorySuperseded.
func (f *fold) replace(r *engine.Record, e events.MemorySuperseded) error {
	return f.supersedeBy(r.Position, e)
}

// supersede takes a row out of the lists, and says in favour of what.
func (f *fold) supersede(id events.ID, s Stand) error {
	row, ok, err := f.get(id)
	if err != nil || !ok {
		return err
	}
	if err := f.withdraw(row); err != nil {
		return err
	}
	row.Stands = append(row.Stands, s)
	row.stand()
	row.FoldedInto, row.Count, row.Turns = events.ID{}, 1, ownTurn(row)
	return f.put(row)
}

// withdraw takes a row out of its lists and its group; one that was folded into it may take its place.
func (f *fold) withdraw(row Row) error {
	if err := f.unlist(row); err != nil {
		return err
	}
	return f.leaveGroup(row)
}

// check appends a later check of a claim to its row.
func (f *fold) check(r *engine.Record, e events.ClaimChecked) error {
	row, ok, err := f.get(e.Subject)
	if err != nil || !ok {
		return err
	}
	if err := checkTable().Put(f.x, engine.PositionKey(r.Position), engine.Ref(row.ID)); err != nil {
		return err
	}
	row.Checks = append(row.Checks, Check{At: r.OccurredAt, Claim: e.Claim, Position: r.Position})
	return f.flag(row)
}

// flag writes a row whose checks changed, and what follows for its group.
func (f *fold) flag(row Row) error {
	was := row.Flagged
	row.Flagged = flagged(row)
	if err := f.put(row); err != nil || row.Flagged == was {
		return err
	}
	return f.reflag(row)
}

// forget carries out a MemoryForgotten: the rows that it names, by id or by position, leave nothing behind but, in the
// view of memories, that their ids were forgotten.
func (f *fold) forget(r *engine.Record, e events.MemoryForgotten) error {
	err := engine.ForgottenRecords(f.x, r, func(h events.Header) error {
		if f.turns && h.Input() && h.Stream == r.Stream {
			return f.forgetInput(r.Position, h.Position)
		}
		if h.Kind == events.KindClaimChecked {
			return f.uncheck(h.Position)
		}
		if h.Kind != f.source {
			return nil
		}
		session, _ := h.Stream.Session()
		id, ok, err := bySessionTable().Get(f.x, engine.PlaceKey(session, h.Position))
		if err != nil || !ok {
			return err
		}
		return f.remove(events.ID(id))
	})
	if err != nil {
		return err
	}
	for _, id := range e.IDs {
		if err := f.forgetID(r, id); err != nil {
			return err
		}
	}
	return nil
}

// uncheck takes a later check of a claim back from its row, which may be gone.
func (f *fold) uncheck(at events.Position) error {
	id, ok, err := checkTable().Get(f.x, engine.PositionKey(at))
	if err != nil || !ok {
		return err
	}
	if err := checkTable().Delete(f.x, engine.PositionKey(at)); err != nil {
		return err
	}
	row, ok, err := f.get(events.ID(id))
	if err != nil || !ok {
		return err
	}
	row.Checks = slices.DeleteFunc(row.Checks, func(c Check) bool { return c.Position == at })
	return f.flag(row)
}

func (f *fold) forgetID(r *engine.Record, id events.ID) error {
	if f.kind == Memory {
		if err := forgottenTable().Put(f.x, engine.IDKey(id), forgotten{Position: r.Position, At: r.OccurredAt}); err != nil {
			return err
		}
	}
	return f.remove(id)
}

func (f *fold) remove(id events.ID) error {
	row, ok, err := f.get(id)
	if err != nil || !ok {
		return err
	}
	if err := f.withdraw(row); err != nil {
		return err
	}
	if err := f.leaveTurn(row); err != nil {
		return err
	}
	if err := bySessionTable().Delete(f.x, engine.PlaceKey(row.Session, row.Position)); err != nil {
		return err
	}
	for _, c := range row.Checks {
		if err := checkTable().Delete(f.x, engine.PositionKey(c.Position)); err != nil {
			return err
		}
	}
	return rowTable().Delete(f.x, engine.IDKey(id))
}
