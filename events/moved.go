package events

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
)

// LogID tells logs apart. The zero LogID is none.
type LogID [16]byte

// LogIDOf is the id of the log that begins with first, which it keeps for ever, erased or not.
func LogIDOf(first Record) LogID {
	sum := sha256.Sum256(slices.Concat(first.ID[:], first.Chain[:]))
	return LogID(sum[:len(LogID{})])
}

// IsZero reports whether id is of no log.
func (id LogID) IsZero() bool { return id == LogID{} }

// String is 32 hex digits, or "" for the zero id.
func (id LogID) String() string { return Key(id).String() }

// MarshalText writes what String returns.
func (id LogID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *LogID) UnmarshalText(b []byte) error {
	if err := (*Key)(id).UnmarshalText(b); err != nil {
		return fmt.Errorf("events: log id: want 32 hex digits, got %.40q", b)
	}
	return nil
}

// Place names a record for ever: the log that holds it, and its position there.
type Place struct {
	Log      LogID    `json:"log,omitzero"` // zero: the reader's own log
	Position Position `json:"position"`
}

// moved is what a record remembers that a reader of several logs has at another place than its own log has it.
type moved struct {
	place Place
	move  func(Position) Position
}

// Moved returns r as a reader of several logs sees it: at another position, behind another one of its stream, and with every position in
// its event moved as move says, which gives 0 for one that the reader does not have. log is whose record it is, zero for the reader's own.
// What is stored does not change: Chain and Check are those of r, and there is no stored form of what Moved returns. move is called by
// Event, by several goroutines at once.
func (r Record) Moved(log LogID, at, previous Position, move func(Position) Position) Record {
	r.moved = &moved{place: Place{Log: log, Position: r.Position}, move: move}
	r.Position, r.Previous = at, previous
	return r
}

// IsMoved reports whether Moved returned r.
func (r Record) IsMoved() bool { return r.moved != nil }

// Place is where r's own log has it: what r says of itself, unless it was moved. Foreign records have a log in it.
func (r Record) Place() Place {
	if r.moved == nil {
		return Place{Position: r.Position}
	}
	return r.moved.place
}

// event is e with its positions moved. e was just decoded: nobody else has its lists.
func (m *moved) event(e Event) Event {
	if m == nil {
		return e
	}
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	m.apply(v)
	return v.Interface().(Event)
}

// apply moves every Position in v, a field of an event that can be set.
func (m *moved) apply(v reflect.Value) {
	switch v.Kind() {
	case reflect.Uint64:
		if (v.Type() == reflect.TypeFor[Position]() || v.Type() == reflect.TypeFor[Moment]()) && v.Uint() != 0 {
			v.SetUint(uint64(m.move(Position(v.Uint()))))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			m.apply(v.Field(i))
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k != reflect.Uint64 && k != reflect.Struct {
			return
		}
		for i := range v.Len() {
			m.apply(v.Index(i))
		}
	}
}

// Reposition is a copy of v, an event, a command or positions, in which record gave another for each Position but 0, and moment
// for each Moment.
func Reposition[T any](v T, record, moment func(Position) Position) T {
	out := v
	reposition(reflect.ValueOf(&out).Elem(), map[reflect.Type]func(Position) Position{
		reflect.TypeFor[Position](): record, reflect.TypeFor[Moment](): moment,
	})
	return out
}

// reposition changes v, and copies what it refers to before it changes that.
func reposition(v reflect.Value, by map[reflect.Type]func(Position) Position) {
	switch v.Kind() {
	case reflect.Uint64:
		if to := by[v.Type()]; to != nil && v.Uint() != 0 {
			v.SetUint(uint64(to(Position(v.Uint()))))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				reposition(f, by)
			}
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Uint64, reflect.Struct, reflect.Interface, reflect.Pointer, reflect.Slice:
			all := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(all, v)
			for i := range all.Len() {
				reposition(all.Index(i), by)
			}
			if !v.IsNil() {
				v.Set(all)
			}
		}
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		one := reflect.New(v.Elem().Type())
		one.Elem().Set(v.Elem())
		reposition(one.Elem(), by)
		if v.Kind() == reflect.Pointer {
			v.Set(one)
		} else {
			v.Set(one.Elem())
		}
	}
}
