package rows

import (
	"cmp"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

func (v View) Fold(x *engine.Tx) func(*engine.Record) {
	f := &fold{
		View: v, x: x,
		facts:  engine.NewFactsCache(x),
		turnOf: engine.NewCache(x, turnTable(), engine.IDKey),
		inputs: engine.NewCache(x, inputTable(), engine.PositionKey),
	}
	return f.apply
}

func (f *fold) apply(r *engine.Record) {
	if f.turns {
		f.applyTurn(r)
	}
	switch r.Kind {
	case events.KindSessionOpened:
		f.facts.Learn(r)
	case f.source, f.stated:
		f.add(r)
	case events.KindClaimChecked:
		engine.Handle(r, f.check)
	case events.KindWorkUndone:
		engine.Handle(r, f.undo)
	case events.KindMemoryConfirmed:
		engine.Handle(r, f.confirm)
	case events.KindMemorySuperseded:
		engine.Handle(r, f.supersedeBy)
	case events.KindMemoryForgotten:
		engine.Handle(r, f.forget)
	case events.KindForgetRequested:
		engine.Handle(r, f.hide)
	case events.KindForgetSettled:
		engine.Handle(r, f.unhide)
	}
}

// add makes r's row. A row whose id is taken is not made: the first one stays.
func (f *fold) add(r *engine.Record) {
	row, ok := f.make(r)
	if !ok {
		return
	}
	if _, taken := f.get(row.ID); taken {
		return
	}
	f.place(r, &row)
	bySessionTable().Put(f.x, engine.PlaceKey(row.Session, row.Position), engine.Ref(row.ID))
	if e := row.Entry(); e.Prompt > 0 {
		byPromptTable().Put(f.x, e.rowKey(row.Position), engine.Ref(row.ID))
	}
	f.joinTurn(row)
	f.hideMade(&row)
	if f.x.Joined {
		f.settleRow(&row)
	}
	f.joinGroup(&row)
	f.succeed(&row)
	f.list(row)
	f.put(row)
}

// place fills in where and when the row happened.
func (f *fold) place(r *engine.Record, row *Row) {
	row.Kind, row.Position, row.Place, row.Session, row.Count = f.kind, r.Position, r.Home, r.Session, 1
	row.ProjectRoot = r.Root(row.ProjectRoot)
	if row.At.IsZero() {
		row.At = r.OccurredAt
	}
	row.Turns = ownTurn(*row)
	known := f.facts.Peek(r.Part)
	if known == nil || r.Session.IsZero() {
		return
	}
	row.Agent = known.Agent
	row.AgentSession = cmp.Or(row.AgentSession, known.AgentSession)
	if row.Project == "" && row.ProjectRoot == "" {
		row.Project, row.ProjectRoot = known.Project, known.ListedRoot()
	}
}

// check appends a later check of a claim to its row.
func (f *fold) check(r *engine.Record, e events.ClaimChecked) {
	row, ok := f.get(e.Subject)
	if !ok {
		return
	}
	checkTable().Put(f.x, engine.PositionKey(r.Position), engine.Ref(row.ID))
	row.Checks = append(row.Checks, Check{At: r.OccurredAt, Claim: e.Claim, Position: r.Position})
	f.updateFlag(row)
}

// confirm enters that a person vouches for a row, or not any more.
func (f *fold) confirm(r *engine.Record, e events.MemoryConfirmed) {
	if f.x.Joined {
		f.decideOn(r, e.Memory, decision{Vouch: true, Withdrawn: e.Withdrawn})
		return
	}
	row, ok := f.get(e.Memory)
	if !ok {
		return
	}
	if row.Confirmed = r.Position; e.Withdrawn {
		row.Confirmed = 0
	}
	f.updateFlag(row)
}

// undo enters which rows tell of work that was undone. What is said of one first stays: it is not undone twice.
func (f *fold) undo(r *engine.Record, e events.WorkUndone) {
	for _, u := range e.Rows {
		if row, ok := f.get(u.Observation); ok && row.Undone.Position == 0 {
			row.Undone = Undone{Position: r.Position, By: u.By, How: u.How}
			f.updateFlag(row)
		}
	}
}

// updateFlag writes a row of which something changed that it may be flagged for, and what follows for its group.
func (f *fold) updateFlag(row Row) {
	was := row.Flagged
	row.Flagged = flagged(row)
	f.put(row)
	if row.Flagged != was {
		f.regroupRow(row)
		f.refreshNewest(row.Session)
	}
}

// forget carries out a MemoryForgotten: the rows that it names, by id or by position, leave nothing behind but, in the
// view of memories, that their ids were forgotten.
func (f *fold) forget(r *engine.Record, e events.MemoryForgotten) {
	for h := range engine.ForgottenRecords(f.x, r) {
		switch {
		case f.turns && h.IsInput() && h.Stream == r.Stream:
			f.forgetInput(r, h.Position)
		case h.Kind == events.KindClaimChecked:
			f.uncheck(h.Position)
		case h.Kind == f.source, h.Kind == f.stated:
			session, _ := h.Stream.Session()
			if id, ok := bySessionTable().Get(f.x, engine.PlaceKey(session, h.Position)); ok {
				f.remove(events.ID(id))
			}
		}
	}
	for _, id := range e.IDs {
		if f.kind == Memory {
			forgottenTable().Put(f.x, engine.IDKey(id), forgotten{Position: r.Position, At: r.OccurredAt})
		}
		f.remove(id)
	}
}

// uncheck takes a later check of a claim back from its row, which may be gone.
func (f *fold) uncheck(at events.Position) {
	id, ok := checkTable().Get(f.x, engine.PositionKey(at))
	if !ok {
		return
	}
	checkTable().Delete(f.x, engine.PositionKey(at))
	if row, ok := f.get(events.ID(id)); ok {
		row.Checks = slices.DeleteFunc(row.Checks, func(c Check) bool { return c.Position == at })
		f.updateFlag(row)
	}
}

// withdraw takes a row out of its lists and its group; one that was folded into it may take its place.
func (f *fold) withdraw(row Row) {
	f.unlist(row)
	f.leaveGroup(row)
}

func (f *fold) remove(id events.ID) {
	row, ok := f.get(id)
	if !ok {
		return
	}
	f.withdraw(row)
	f.leaveTurn(row)
	f.leaveRequests(row)
	bySessionTable().Delete(f.x, engine.PlaceKey(row.Session, row.Position))
	if e := row.Entry(); e.Prompt > 0 {
		byPromptTable().Delete(f.x, e.rowKey(row.Position))
	}
	for _, c := range row.Checks {
		checkTable().Delete(f.x, engine.PositionKey(c.Position))
	}
	f.review(row, Row{})
	rowTable().Delete(f.x, engine.IDKey(id))
	if row.succeeds() && !row.Outdated { // else the newest stays: a session's are forgotten at once, and looking for it reads them all
		f.refreshNewest(row.Session)
	}
}
