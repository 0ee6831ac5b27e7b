package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/projects"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/testkit/follow"
)

// quick is how copies are opened that need outlive no loss of power.
var quick = eventlog.Config{NoSync: true, Codec: events.NewCodec()}

// machine is one of several, with views over its own log and copies of the others'.
type machine struct {
	*world
	id     events.LogID
	union  *union.Union
	dir    string
	views  *Views
	saw    []map[*machine]events.Position // of each record: how far the others' logs were read when it was written
	sealed []events.Position              // where runs of this log end
	given  map[*machine]int               // how many of them the others have
	read   map[*machine]events.Position   // how far rows of the others' logs are heard
}

// newMachines makes n machines that know nothing of each other.
func newMachines(t *rapid.T, n int) (all []*machine) {
	for range n {
		all = addMachine(t, all, rapid.IntRange(1, 9).Draw(t, "slice"))
	}
	return all
}

// addMachine is all and one more machine, whose views read so many records at once.
func addMachine(t tb, all []*machine, slice int) []*machine {
	m := &machine{
		world: newWorld(t), dir: tempDir(t), given: map[*machine]int{}, read: map[*machine]events.Position{},
	}
	m.name = byte(len(all) + 1)
	first := m.say(events.Daemon, events.ID{}, events.DaemonStarted{Version: "1"})[0]
	m.id = events.LogIDOf(first)
	own, ok := m.log.(*eventlog.Bolt)
	if !ok {
		t.Fatal("the log of a world is none that a union reads")
	}
	var err error
	if m.union, err = union.Open(own, union.Config{
		Dir: filepath.Join(m.dir, "copies"), Copies: quick, Now: func() time.Time { return m.now },
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.union.Close() })
	m.views = m.open(t, filepath.Join(m.dir, "views"), slice)
	t.Cleanup(func() { _ = m.views.Close() })
	all = append(all, m)
	m.note(t, all)
	return all
}

func (m *machine) open(t tb, dir string, slice int) *Views {
	v, err := Open(dir, m.union, engine.Config{BootID: "b", Pace: engine.Pace{Records: slice}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// note notes what m had read when it wrote its last records.
func (m *machine) note(t tb, all []*machine) {
	last, err := m.log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for events.Position(len(m.saw)) < last {
		saw := map[*machine]events.Position{}
		for _, c := range m.union.Copies() {
			saw[all[slices.IndexFunc(all, func(o *machine) bool { return o.id == c.Log })]] = c.Shown
		}
		m.saw = append(m.saw, saw)
	}
}

// give hands some more of a log to another machine: at most so many runs, which are the same for all.
func (m *machine) give(t tb, to *machine, runs int) {
	if end := events.Position(len(m.saw)); len(m.sealed) == 0 || m.sealed[len(m.sealed)-1] < end {
		m.sealed = append(m.sealed, end)
	}
	for ; runs > 0 && m.given[to] < len(m.sealed); runs-- {
		from, end := events.Position(0), m.sealed[m.given[to]]
		if n := m.given[to]; n > 0 {
			from = m.sealed[n-1]
		}
		run := union.Run{Log: m.id}
		for r, err := range m.log.(*eventlog.Bolt).Between(t.Context(), from+1, end) {
			if err != nil {
				t.Fatal(err)
			}
			run.Records = append(run.Records, r)
		}
		for other, p := range m.saw[end-1] {
			if p > 0 {
				run.Needs = append(run.Needs, events.Place{Log: other.id, Position: p})
			}
		}
		if err := to.union.Add(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		m.given[to]++
	}
}

// hear learns which rows of other machines are here.
func (m *machine) hear(t tb, all []*machine) {
	for _, c := range m.union.Copies() {
		other := all[slices.IndexFunc(all, func(o *machine) bool { return o.id == c.Log })]
		for p := m.read[other] + 1; p <= c.Shown; p++ {
			r, err := other.log.Get(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if id, err := rows.MadeBy(r); err == nil && id != (events.ID{}) {
				m.heard = append(m.heard, id)
			}
		}
		m.read[other] = c.Shown
	}
}

// live lets machines work, hear of each other and follow, in any order, until all know all.
func live(t *rapid.T, all []*machine) {
	for range rapid.IntRange(1, 80).Draw(t, "steps") {
		m := all[rapid.IntRange(0, len(all)-1).Draw(t, "machine")]
		switch rapid.IntRange(0, 6).Draw(t, "then") {
		case 0, 1:
			for _, to := range others(all, m) {
				m.give(t, to, rapid.IntRange(0, 3).Draw(t, "runs"))
			}
		case 2:
			follow.MustCatchUp(t, m.views)
		default:
			m.hear(t, all)
			m.step(t)
			m.note(t, all)
		}
	}
	for left := true; left; {
		left = false
		for _, m := range all {
			for _, to := range others(all, m) {
				m.give(t, to, rapid.IntRange(1, 100).Draw(t, "rest"))
				left = left || m.given[to] < len(m.sealed)
			}
		}
	}
	for _, m := range all {
		if _, err := m.union.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range m.union.Copies() {
			if c.Shown != c.Last {
				t.Fatalf("%d of %d records of a log wait for ever", c.Last-c.Shown, c.Last)
			}
		}
		follow.MustCatchUp(t, m.views)
	}
}

func others(all []*machine, m *machine) []*machine {
	return slices.DeleteFunc(slices.Clone(all), func(o *machine) bool { return o == m })
}

// TestMachinesKnowTheSame is F4: machines that have the same records have the same views, by id, whatever came when; and what each did, owes and pays is
// what it would be if it were alone.
func TestMachinesKnowTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := newMachines(t, rapid.IntRange(2, 3).Draw(t, "machines"))
		live(t, all)
		places := rankPlaces(all)
		var want []string
		for i, m := range all {
			got := (&teller{t: t, m: m, places: places}).tell(all)
			if i == 0 {
				want = got
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("machine %d knows otherwise than the first (-first +it):\n%s", i, diff)
			}
		}
		for _, m := range all {
			alone, err := Open(filepath.Join(m.dir, "alone"), m.log, engine.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer alone.Close()
			follow.MustCatchUp(t, alone)
			want, got := ownOf(t, m, alone, func(p events.Position) events.Position { return p }), ownOf(t, m, m.views, m.own)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("what a machine did differs once it knows others (-alone +joined):\n%s", diff)
			}
		}
	})
}

// TestRebuiltEqualsLiveOfMachines: views that followed while others' records came hold, byte for byte, what views hold that see all of it once.
func TestRebuiltEqualsLiveOfMachines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := newMachines(t, 2)
		live(t, all)
		for _, m := range all {
			sameAsFresh(t, m, "")
		}
	})
}

// TestForgottenElsewhere: once records of other machines are erased here, views that take out what they said hold, byte for byte, what views hold that never
// saw them, and again once their own machine's record of it has come.
func TestForgottenElsewhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := newMachines(t, 2)
		live(t, all)
		here, owner := all[0], all[1]
		var gone []events.Position // of the owner's log
		for _, p := range owner.words {
			if rapid.Bool().Draw(t, "forget") {
				gone = append(gone, p)
			}
		}
		places, at := make([]events.Place, len(gone)), make([]events.Position, len(gone))
		for i, p := range gone {
			places[i] = events.Place{Log: owner.id, Position: p}
			at[i], _ = here.union.At(places[i])
		}
		if err := here.union.Erase(t.Context(), places...); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 2).Draw(t, "times") {
			if err := here.views.Forget(t.Context(), at...); err != nil {
				t.Fatal(err)
			}
		}
		sameAsFresh(t, here, "erased")
		owner.forget(rapid.Bool().Draw(t, "first"), gone)
		owner.note(t, all)
		for range rapid.IntRange(0, 9).Draw(t, "more") {
			owner.step(t)
			owner.note(t, all)
		}
		owner.give(t, here, 100)
		follow.MustCatchUp(t, here.views)
		sameAsFresh(t, here, "recorded")
	})
}

// sameAsFresh holds a machine's views to those that see all that there is now once.
func sameAsFresh(t *rapid.T, m *machine, name string) {
	fresh := m.open(t, filepath.Join(m.dir, "fresh "+name), 1000)
	defer fresh.Close()
	follow.MustCatchUp(t, fresh)
	if diff := cmp.Diff(byName(dump(t, fresh)), byName(dump(t, m.views))); diff != "" {
		t.Fatalf("live differs once it is %s (-once +live):\n%s", name, diff)
	}
}

// TestAloneIsAsItWas: views of a home that knows no other machine are byte for byte those over the log itself.
func TestAloneIsAsItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachines(t, 1)[0]
		live(t, []*machine{m})
		alone, err := Open(filepath.Join(m.dir, "alone"), m.log, engine.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer alone.Close()
		follow.MustCatchUp(t, alone)
		if diff := cmp.Diff(dump(t, alone), dump(t, m.views)); diff != "" {
			t.Fatalf("over the union (-log +union):\n%s", diff)
		}
	})
}

// own is where the own log has a record that the machine's views have at a position; 0 stays 0.
func (m *machine) own(p events.Position) events.Position {
	place, ok := m.union.Where(p)
	if !ok || !place.Log.IsZero() {
		return 0
	}
	return place.Position
}

// ownOf is what a machine's views say of its own doing, with positions as at has them.
func ownOf(t *rapid.T, m *machine, v *Views, at func(events.Position) events.Position) (lines []string) {
	ctx := context.Background()
	list, err := v.Outcomes(ctx, outcomes.Filter{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range list {
		lines = append(lines, lineOf(t, "outcome", in, at))
	}
	balance, err := v.Balance(ctx)
	if err != nil {
		t.Fatal(err)
	}
	owing, err := v.Owing(ctx)
	if err != nil {
		t.Fatal(err)
	}
	lines = append(lines, lineOf(t, "balance", balance, at), lineOf(t, "owing", owing, at))
	for _, name := range []string{"health", "usage"} {
		for _, table := range []string{""} {
			found, err := v.Inspect(ctx, name, table, 10_000)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range found.Entries {
				lines = append(lines, lineOf(t, name+" "+e.Key, e.Value, at))
			}
		}
	}
	return lines
}

// rankPlaces numbers all records of all machines in one order.
func rankPlaces(all []*machine) map[events.Place]events.Position {
	ranks := map[events.Place]events.Position{}
	for _, m := range all {
		for p := range m.saw {
			ranks[events.Place{Log: m.id, Position: events.Position(p + 1)}] = events.Position(len(ranks) + 1)
		}
	}
	return ranks
}

// teller tells what the views of a machine know, as any machine would tell it: positions are numbers of places, folders are called as other machines call
// them.
type teller struct {
	t      *rapid.T
	m      *machine
	places map[events.Place]events.Position
	lines  []string
}

func (l *teller) at(p events.Position) events.Position {
	place, ok := l.m.union.Where(p)
	if !ok {
		return 0
	}
	if place.Log.IsZero() {
		place.Log = l.m.id
	}
	return l.places[place]
}

func (l *teller) add(what string, v any) {
	l.lines = append(l.lines, lineOf(l.t, what, l.absolute(v), l.at))
}

func (l *teller) tell(all []*machine) []string {
	ctx, v := context.Background(), l.m.views
	check := func(err error) {
		l.t.Helper()
		if err != nil {
			l.t.Fatal(err)
		}
	}
	for _, m := range all {
		for _, id := range m.rows {
			found, err := v.Rows(ctx, id)
			check(err)
			l.add("row", found[0])
			same, err := v.Same(ctx, found[0])
			check(err)
			l.add("same as "+id.String(), same)
		}
		for _, turn := range m.turns {
			found, err := v.Turn(ctx, turn.id)
			check(err)
			l.add("turn", found)
		}
	}
	found, err := v.Sessions(ctx, sessions.Filter{})
	check(err)
	for _, s := range found {
		s.First, s.Last, s.Inputs, s.Pending = 0, 0, outcomes.Balance{}, 0 // in the order here; the machine's own
		for i := range s.Parts {
			s.Parts[i].Machine = ""
		}
		l.add("session", s)
		one, err := v.Session(ctx, s.ID)
		check(err)
		if one.Title != s.Title || !reflect.DeepEqual(one.LastAt, s.LastAt) {
			l.t.Fatalf("session %s by itself: %+v, in the list: %+v", s.ID, one, s)
		}
		of, err := v.RowsOf(ctx, s.ID)
		check(err)
		for _, row := range of {
			l.add("row of "+s.ID.String(), row.ID)
		}
		given, err := v.InjectionsBefore(ctx, s.ID, 0, 1000)
		check(err)
		for i := range given {
			l.add("injection", given[i])
		}
	}
	l.sets(ctx)
	return l.lines
}

// sets adds what comes in an order that is this machine's.
func (l *teller) sets(ctx context.Context) {
	from := len(l.lines)
	recent, err := l.m.views.Recent(ctx, rows.RecentFilter{Limit: 10_000})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, row := range recent {
		l.add("recent", row.ID)
	}
	list, err := l.m.views.Files(ctx, files.Filter{Limit: 10_000, Touches: 10_000})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, f := range list {
		l.add("file", f)
	}
	roots, given, _, err := l.m.views.Projects(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, r := range roots {
		path := r.Path
		r.Path = ""
		l.add("root", struct {
			Is   projects.Root
			Root string
		}{r, path})
		e, err := l.m.views.WholeExtent(ctx, path, "")
		if err != nil {
			l.t.Fatal(err)
		}
		slices.Sort(e.Roots)
		for i := range e.Roots {
			l.add(fmt.Sprint("extent of ", len(e.Roots)), struct{ Root, Key string }{e.Roots[i], r.Key})
		}
	}
	for _, g := range given {
		l.add("given", g)
	}
	slices.Sort(l.lines[from:])
}

// absolute is a copy of v in which folders of the machine are called as others call them, and no machine has a name.
func (l *teller) absolute(v any) any {
	from := engine.Origin{Joined: true, Own: events.LogID{1}} // nobody's
	return changed(v, func(name string, f reflect.Value) {
		switch name {
		case "ProjectRoot", "Root":
			f.SetString(from.Root(l.m.id, f.String()))
		case "Key", "Claim":
			f.SetString(from.Key(l.m.id, f.String()))
		case "Machine":
			f.SetString("")
		}
	})
}

// lineOf is v in a line, with its positions as at has them.
func lineOf(t tb, what string, v any, at func(events.Position) events.Position) string {
	raw, err := json.Marshal(changed(v, func(_ string, f reflect.Value) {
		if f.Type() == reflect.TypeFor[events.Position]() {
			f.SetUint(uint64(at(events.Position(f.Uint()))))
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	return what + " " + string(raw)
}

// changed is a deep copy of v in which change saw each string and number.
func changed(v any, change func(name string, f reflect.Value)) any {
	out := reflect.New(reflect.TypeOf(v)).Elem()
	out.Set(reflect.ValueOf(v))
	changeIn("", out, change)
	return out.Interface()
}

func changeIn(name string, v reflect.Value, change func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.String, reflect.Uint64:
		change(name, v)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[events.Place]() {
			return // it says the same everywhere
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				changeIn(f.Name, v.Field(i), change)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 || v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		all := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(all, v)
		for i := range all.Len() {
			changeIn(name, all.Index(i), change)
		}
		v.Set(all)
	case reflect.Pointer:
		if !v.IsNil() {
			one := reflect.New(v.Type().Elem())
			one.Elem().Set(v.Elem())
			changeIn(name, one.Elem(), change)
			v.Set(one)
		}
	}
}

// TestCorrectedAtOnce: where two machines put a memory of their own in the place of one at once, that stands on all machines whose record happened last, and of
// one moment the one with the higher id, in whatever order they came, and also where they came before the memory.
func TestCorrectedAtOnce(t *testing.T) {
	t.Parallel()
	for _, later := range []time.Duration{-time.Hour, 0, time.Hour} {
		for _, reversed := range []bool{false, true} {
			t.Run(fmt.Sprintf("the second is %s later, reversed %t", later, reversed), func(t *testing.T) {
				t.Parallel()
				correctedAtOnce(t, later, reversed)
			})
		}
	}
}

func correctedAtOnce(t *testing.T, later time.Duration, reversed bool) {
	all := addMachine(t, addMachine(t, addMachine(t, nil, 3), 3), 3)
	a, b, c := all[0], all[1], all[2]
	was := a.saves(t, all)
	a.give(t, b, 9)
	a.now = epoch.Add(5 * time.Hour)
	b.now = a.now.Add(later)
	byA, byB := a.correct(t, all, was), b.correct(t, all, was)
	want := byA
	if later >= 0 { // ids of one moment are in the machines' order
		want = byB
	}
	order := []*machine{a, b}
	if reversed {
		order = []*machine{b, a}
	}
	for i, from := range order {
		c.now = epoch.Add(24 * time.Hour * time.Duration(i+1))
		from.give(t, c, 9)
		c.now = c.now.Add(time.Hour) // what is waited for does not come
		if _, err := c.union.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		follow.MustCatchUp(t, c.views)
		if found := c.row(t, was); from == b && reversed && (found.Position != 0 || c.row(t, byB).Position == 0) {
			t.Fatalf("the correction did not come before what it corrects: %+v", found)
		}
	}
	a.give(t, b, 9)
	b.give(t, a, 9)
	for _, m := range all {
		follow.MustCatchUp(t, m.views)
		if got := m.row(t, was); !got.Superseded || got.SupersededBy != want || !got.ByHand || len(got.Stands) != 2 {
			t.Errorf("machine %d: %s stands, want %s: %+v", m.name, got.SupersededBy, want, got.Stands)
		}
	}
}

// saves has the machine save a memory.
func (m *machine) saves(t tb, all []*machine) events.ID {
	id := m.world.id()
	m.say(events.Daemon, events.ID{}, events.MemorySaved{Memory: id, At: m.now, Title: "note", Text: "said on " + fmt.Sprint(m.name)})
	m.note(t, all)
	return id
}

// correct has it save one in the place of another.
func (m *machine) correct(t tb, all []*machine, was events.ID) events.ID {
	by := m.saves(t, all)
	m.say(events.Daemon, events.ID{}, events.MemorySuperseded{Memory: was, By: by})
	m.note(t, all)
	return by
}

// row is a row as a machine has it; only its id is set where it has none.
func (m *machine) row(t tb, id events.ID) rows.Row {
	found, err := m.views.Rows(t.Context(), id)
	if err != nil || len(found) != 1 {
		t.Fatalf("rows: %v, %v", found, err)
	}
	return found[0]
}
