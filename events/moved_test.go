package events_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// shift is how far moveAll moves.
const shift = 1000

func moveAll(p events.Position) events.Position { return p + shift }

// recordOf places e as the third record of its log.
func recordOf(t *testing.T, codec *events.Codec, e events.Event) events.Record {
	t.Helper()
	sealed, err := codec.Seal(events.Draft{ID: sampleID(1), OccurredAt: sampleTime(1), Event: e}, events.Salt{1})
	if err != nil {
		t.Fatal(err)
	}
	return codec.Place(sealed, 3, events.Daemon, 2, 1, events.Hash{7}, sampleTime(2))
}

// TestMoved: of an event of each kind, with every field set, each position is moved, and nothing else.
func TestMoved(t *testing.T) {
	t.Parallel()
	codec, found := events.NewCodec(), 0
	for _, e := range samples() {
		name := reflect.TypeOf(e).Name()
		r := recordOf(t, codec, e)
		m := r.Moved(events.LogID{9}, 30, 10, moveAll)
		got, err := m.Event()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := reflect.New(reflect.TypeOf(e)).Elem()
		want.Set(reflect.ValueOf(logtest.Event(t, r)))
		found += addShift(want)
		if diff := cmp.Diff(want.Interface(), got, cmp.AllowUnexported(events.Output{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(e, logtest.Event(t, r), cmp.AllowUnexported(events.Output{})); diff != "" {
			t.Errorf("%s: the record that was moved is another one (-want +got):\n%s", name, diff)
		}
		if err := m.Check(); err != nil {
			t.Errorf("%s: Check: %v", name, err)
		}
	}
	if found < 16 { // as many as the kinds of today have fields
		t.Errorf("samples hold %d positions: one is not set", found)
	}
}

// addShift adds shift to every position in v, whatever it is in, and returns how many there are.
func addShift(v reflect.Value) (found int) {
	if v.Type() == reflect.TypeFor[events.Position]() || v.Type() == reflect.TypeFor[events.Moment]() {
		v.SetUint(v.Uint() + shift)
		return 1
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			found += addShift(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			found += addShift(v.Index(i))
		}
	}
	return found
}

// TestPositionsCanBeMoved: each field of an event that holds a position is one that Moved finds.
func TestPositionsCanBeMoved(t *testing.T) {
	t.Parallel()
	for _, e := range samples() {
		checkPositions(t, reflect.TypeOf(e).Name(), reflect.TypeOf(e), true)
	}
}

// checkPositions looks into a type. reached is false below a field that Moved does not look into.
func checkPositions(t *testing.T, path string, typ reflect.Type, reached bool) {
	t.Helper()
	switch {
	case typ == reflect.TypeFor[events.Position](), typ == reflect.TypeFor[events.Moment]():
		if !reached {
			t.Errorf("%s is a position that is not moved", path)
		}
	case typ == reflect.TypeFor[time.Time]():
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			f := typ.Field(i)
			checkPositions(t, path+"."+f.Name, f.Type, reached && f.IsExported())
		}
	case typ.Kind() == reflect.Slice:
		checkPositions(t, path+"[]", typ.Elem(), reached)
	case typ.Kind() == reflect.Map:
		checkPositions(t, path+" keys", typ.Key(), false)
		checkPositions(t, path+" values", typ.Elem(), false)
	case typ.Kind() == reflect.Array || typ.Kind() == reflect.Pointer:
		checkPositions(t, path+" elements", typ.Elem(), false)
	}
}

// TestMovedHeader: a moved record has another place, says whose it is, and has no stored form.
func TestMovedHeader(t *testing.T) {
	t.Parallel()
	r := recordOf(t, events.NewCodec(), events.TurnStarted{Settles: []events.Position{0, 2}})
	m := r.Moved(events.LogID{9}, 30, 10, func(events.Position) events.Position { return 0 })
	want := r.Header
	want.Position, want.Previous = 30, 10
	if diff := cmp.Diff(want, m.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if got := m.Place(); got != (events.Place{Log: events.LogID{9}, Position: 3}) || !m.IsMoved() {
		t.Errorf("a moved record: got %+v, %v", got, m.IsMoved())
	}
	if got := r.Place(); got != (events.Place{Position: 3}) || r.IsMoved() {
		t.Errorf("a record in its place: got %+v, %v", got, r.IsMoved())
	}
	if _, err := m.AppendBinary(nil); !errors.Is(err, events.ErrMoved) {
		t.Errorf("AppendBinary: got %v, want ErrMoved", err)
	}
	if got := logtest.Event(t, m).(events.TurnStarted).Settles; !cmp.Equal(got, []events.Position{0, 0}) {
		t.Errorf("positions that the reader does not have: got %v", got)
	}
	if e, err := m.Erase().Event(); !errors.Is(err, events.ErrErased) {
		t.Errorf("erased: got %v, %v", e, err)
	}
}

// TestWithheld: a record whose payload its owner keeps is stored and read as that, looks erased, and says more when it is asked.
func TestWithheld(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	whole := recordOf(t, codec, events.PromptSubmitted{Text: "words"})
	stored := func(r events.Record) events.Record {
		b, err := r.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if r, err = codec.Record(b); err != nil {
			t.Fatal(err)
		}
		return r
	}
	withheld := stored(whole.Withhold())
	if _, err := withheld.Event(); !withheld.Withheld || !withheld.Erased || !errors.Is(err, events.ErrWithheld) || !errors.Is(err, events.ErrErased) {
		t.Errorf("withheld: got %+v, %v", withheld, err)
	}
	if withheld.Header != whole.Header || withheld.Chain != whole.Chain || withheld.Check() != nil || withheld.PayloadSize() != 0 {
		t.Errorf("withheld: header, chain or check differs: %+v", withheld)
	}
	if r := stored(withheld.Erase()); r.Withheld || !r.Erased {
		t.Errorf("withheld, then erased: %+v", r)
	}
	if r := stored(whole.Erase().Withhold()); r.Withheld || !r.Erased {
		t.Errorf("erased, then withheld: %+v", r)
	}
	if _, err := stored(whole.Erase()).Event(); errors.Is(err, events.ErrWithheld) {
		t.Errorf("erased: got %v", err)
	}
	b, err := whole.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	b[1] |= 4 // withheld, and yet it has a payload
	if _, err := codec.Record(b); !errors.Is(err, events.ErrCorrupt) {
		t.Errorf("withheld with a payload: got %v, want ErrCorrupt", err)
	}
}

func TestLogIDText(t *testing.T) {
	t.Parallel()
	first := recordOf(t, events.NewCodec(), events.SessionClosed{})
	id := events.LogIDOf(first)
	if id != events.LogIDOf(first.Erase()) || id.IsZero() || len(id.String()) != 32 {
		t.Errorf("LogIDOf: got %q, %q for the same record erased", id, events.LogIDOf(first.Erase()))
	}
	first.Chain[0]++
	if id == events.LogIDOf(first) {
		t.Error("another first record, the same id")
	}
	for _, want := range []events.LogID{id, {}} {
		b, err := json.Marshal(want)
		var got events.LogID
		if err == nil {
			err = json.Unmarshal(b, &got)
		}
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v", b, got, err)
		}
	}
	if err := id.UnmarshalText([]byte("zz")); err == nil {
		t.Error("a short text is no id, yet there is no error")
	}
}

// TestForeignStreams: streams of two logs that have one name are told apart, but for a session's.
func TestForeignStreams(t *testing.T) {
	t.Parallel()
	log := events.LogID{9}
	session := events.SessionIDOf("a", "b").Stream()
	if got := session.In(log); got != session {
		t.Errorf("a session's: got %s", got)
	}
	for _, s := range []events.StreamID{events.Daemon, events.ProviderStream("a/b"), "", events.Daemon.In(log)} {
		name := s.In(log)
		if gotLog, got, ok := name.Foreign(); !ok || got != s || gotLog != log || name == s {
			t.Errorf("%s of a log is called %s, which is read as %s of %s, %v", s, name, got, gotLog, ok)
		}
	}
	bad := []events.StreamID{
		"", "log/", "daemon", session, "log/09/daemon", "log/" + events.StreamID(log.String()),
		"log/" + events.StreamID(log.String()) + "/" + session, "log/0900000000000000000000000000000Z/daemon", "log//daemon",
		"log/0A000000000000000000000000000000/daemon",
	}
	for _, s := range bad {
		if log, got, ok := s.Foreign(); ok {
			t.Errorf("%s is read as %s of %s", s, got, log)
		}
	}
}

// BenchmarkMovedEvent: what a reader of several logs pays for the events of others.
func BenchmarkMovedEvent(b *testing.B) {
	codec := events.NewCodec()
	for _, e := range []events.Event{
		events.ToolUsed{ToolUseID: "toolu_01", Tool: "Edit", Input: "a", Output: "b"},
		events.TurnStarted{Provider: "p", Model: "m", Settles: make([]events.Position, 20)},
	} {
		sealed, err := codec.Seal(events.Draft{ID: sampleID(1), OccurredAt: sampleTime(1), Event: e}, events.Salt{1})
		if err != nil {
			b.Fatal(err)
		}
		r := codec.Place(sealed, 3, events.Daemon, 2, 1, events.Hash{7}, sampleTime(2))
		for name, r := range map[string]events.Record{"stored": r, "moved": r.Moved(events.LogID{9}, 30, 10, moveAll)} {
			b.Run(reflect.TypeOf(e).Name()+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if _, err := r.Event(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestReposition: what Moved did is undone by it, in a copy, whatever the event.
func TestReposition(t *testing.T) {
	t.Parallel()
	for _, e := range samples() {
		r := recordOf(t, events.NewCodec(), e)
		moved := logtest.Event(t, r.Moved(events.LogID{1}, 1, 0, moveAll))
		was := logtest.Event(t, r.Moved(events.LogID{1}, 1, 0, moveAll))
		back := events.Reposition(moved, func(p events.Position) events.Position { return p - shift }, func(p events.Position) events.Position { return p - shift })
		if diff := cmp.Diff(e, back); diff != "" {
			t.Errorf("%T (-want +got):\n%s", e, diff)
		}
		if diff := cmp.Diff(was, moved); diff != "" {
			t.Errorf("%T was changed itself (-want +got):\n%s", e, diff)
		}
	}
}
