package health

import (
	"encoding/binary"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// View counts turns by when they ended, by provider and by model, and keeps what is not well now. Hours are kept for
// Kept; for the last of them there are slots of five minutes beside, so that the last hour is no more than that.
type View struct{}

func (View) Name() string        { return "health" }
func (View) Reads() engine.Reads { return engine.Reads{SkipsUnknown: true} }

func hourTable() engine.Table[spanCount] {
	return engine.Table[spanCount]{Name: "hours", Ordered: true}
}
func slotTable() engine.Table[spanCount] {
	return engine.Table[spanCount]{Name: "slots", Ordered: true}
}
func healthTurnTable() engine.Table[turnCount] {
	return engine.Table[turnCount]{Name: "turns", Ordered: true}
}
func streakTable() engine.Table[Streak]         { return engine.Table[Streak]{Name: "models"} }
func quarantineTable() engine.Table[Quarantine] { return engine.Table[Quarantine]{Name: "quarantines"} }
func pauseTable() engine.Table[Pause]           { return engine.Table[Pause]{Name: "pauses"} }
func wellTable() engine.Table[status]           { return engine.Table[status]{Name: "state"} }

func (View) Layout() engine.Layout {
	return engine.Layout{Version: 6, Tables: []engine.TableSpec{
		hourTable().Spec(showHour), slotTable().Spec(showSlot), healthTurnTable().Spec(engine.ShowID), streakTable().Spec(engine.ShowText),
		quarantineTable().Spec(engine.ShowID), pauseTable().Spec(engine.ShowText), wellTable().Spec(engine.ShowText),
	}}
}

const (
	// slotSeconds is how exactly the last hours are known, and slotsAnHour how many of those an hour has.
	slotSeconds = 5 * 60
	slotsAnHour = 3600 / slotSeconds

	// keptSlots is how many slots back from the newest count are kept: a day, and an hour because days begin at any minute.
	keptSlots = 25 * slotsAnHour

	// keptHours is how many hours back from the newest count are kept.
	keptHours = int64(Kept / time.Hour)
)

// Kept is how far back a Report knows spans, from the newest turn: a year, and a month to set beside the same one of
// the year before. What was counted in all is kept for ever.
const Kept = 400 * 24 * time.Hour

// slotAt is the slot in which t lies: five minutes of Unix time.
func slotAt(t time.Time) int64 { return t.Unix() / slotSeconds }

// answerer names who answers.
type answerer struct{ provider, model string }

func (a answerer) bytes() []byte { return []byte(a.provider + "\x00" + a.model) }

// spanKey names an hour or a slot, counted from the Unix epoch, and who answered in it.
type spanKey struct {
	span int64
	by   answerer
}

func (k spanKey) bytes() []byte { return append(spanPrefix(k.span), k.by.bytes()...) }

// spanPrefix begins the keys of a span.
func spanPrefix(span int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(span)) }

func spanOfKey(b []byte) int64 {
	if len(b) < 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

func showHour(b []byte) string { return showSpan(b, 3600, "2006-01-02T15") }

func showSlot(b []byte) string { return showSpan(b, slotSeconds, "2006-01-02T15:04") }

func showSpan(b []byte, seconds int64, layout string) string {
	if len(b) < 9 {
		return engine.ShowHex(b)
	}
	return time.Unix(spanOfKey(b)*seconds, 0).UTC().Format(layout) + " " + engine.ShowText(b[8:])
}

// spanCount is what one model did in one span.
type spanCount struct {
	Provider string `cbor:"1,keyasint,omitempty" json:"provider"`
	Model    string `cbor:"2,keyasint,omitempty" json:"model"`
	Count    Count  `cbor:"3,keyasint" json:"count"`
}

// status is what is true now of all providers.
type status struct {
	LastKeptAt time.Time       `cbor:"1,keyasint,omitzero" json:"last_kept_at,omitzero"`
	LastKept   events.Position `cbor:"2,keyasint,omitempty" json:"last_kept,omitempty"`
	Degraded   string          `cbor:"3,keyasint,omitempty" json:"degraded,omitempty"`
	DegradedAt time.Time       `cbor:"4,keyasint,omitzero" json:"degraded_at,omitzero"`
	Newest     int64           `cbor:"5,keyasint,omitempty" json:"newest,omitempty"`  // slot of the newest count
	Respawn    *Respawn        `cbor:"6,keyasint,omitempty" json:"respawn,omitempty"` // the last one
}

// horizon is the newest slot that is not kept any more.
func (w status) horizon() int64 { return w.Newest - keptSlots }

// hourHorizon is the newest hour that is not kept any more.
func (w status) hourHorizon() int64 { return hourOf(w.Newest) - keptHours }

func statusKey(struct{}) []byte { return []byte("now") }
