package projections

import (
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/cmemd/cmemd/events"
)

// healthView counts turns by the hour in which they ended, by provider and by model, and keeps what is not well now.
type healthView struct{}

func (healthView) name() string       { return "health" }
func (healthView) version() int       { return 1 }
func (healthView) skipsUnknown() bool { return true }

func hourTable() table[hourCount]        { return table[hourCount]{name: "hours", ordered: true} }
func healthTurnTable() table[healthTurn] { return table[healthTurn]{name: "turns", ordered: true} }
func quarantineTable() table[Quarantine] { return table[Quarantine]{name: "quarantines"} }
func pauseTable() table[Pause]           { return table[Pause]{name: "pauses"} }
func wellTable() table[wellbeing]        { return table[wellbeing]{name: "state"} }

func (healthView) tables() []tableSpec {
	return []tableSpec{
		hourTable().spec(showHour), healthTurnTable().spec(showID), quarantineTable().spec(showID),
		pauseTable().spec(showText), wellTable().spec(showText),
	}
}

// hourKey names an hour, a provider and a model.
type hourKey struct {
	hour            int64 // Unix hours
	provider, model string
}

type hourCount struct {
	Provider string      `cbor:"1,keyasint,omitempty" json:"provider"`
	Model    string      `cbor:"2,keyasint,omitempty" json:"model"`
	Count    HealthCount `cbor:"3,keyasint" json:"count"`
}

func (k hourKey) bytes() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 9+len(k.provider)+len(k.model)), uint64(k.hour))
	b = append(b, k.provider...)
	return append(append(b, 0), k.model...)
}

func hourOfKey(b []byte) time.Time {
	if len(b) < 8 {
		return time.Time{}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(b))*3600, 0).UTC()
}

func showHour(b []byte) string {
	if len(b) < 9 {
		return showHex(b)
	}
	return hourOfKey(b).Format("2006-01-02T15") + " " + string(b[8:])
}

// healthTurn is what one turn has added to an hour, so that it can be taken back.
type healthTurn struct {
	Provider string       `cbor:"1,keyasint,omitempty" json:"provider"`
	Model    string       `cbor:"2,keyasint,omitempty" json:"model,omitempty"`
	Hour     int64        `cbor:"3,keyasint,omitempty" json:"hour,omitempty"`
	Result   Result       `cbor:"4,keyasint,omitempty" json:"result,omitempty"`
	Why      string       `cbor:"5,keyasint,omitempty" json:"why,omitempty"` // the key it is counted under
	Idle     bool         `cbor:"6,keyasint,omitempty" json:"idle,omitempty"`
	Usage    events.Usage `cbor:"7,keyasint,omitzero" json:"usage"`
	Slot     int          `cbor:"8,keyasint,omitempty" json:"slot,omitempty"` // of its latency, from 1; 0: unknown
	Ended    bool         `cbor:"9,keyasint,omitempty" json:"ended,omitempty"`
}

func (t healthTurn) key() hourKey { return hourKey{t.Hour, t.Provider, t.Model} }

// add counts the turn by times: 1 enters what it says, -1 takes it back.
func (t healthTurn) add(c *HealthCount, by int64) {
	if t.Ended {
		c.Turns += by
	}
	switch t.Result {
	case TurnKept:
		c.Kept += by
	case TurnSkipped:
		addTo(&c.Skipped, t.Why, by)
	case TurnDropped:
		addTo(&c.Dropped, t.Why, by)
	case TurnFailed:
		addTo(&c.Failures, t.Why, by)
	}
	if t.Idle {
		c.Idle += by
	}
	c.Usage.Input += by * t.Usage.Input
	c.Usage.Cached += by * t.Usage.Cached
	c.Usage.Output += by * t.Usage.Output
	if t.Slot > 0 {
		c.Latencies[t.Slot-1] += by
	}
}

func addTo(m *map[string]int64, key string, by int64) {
	if *m == nil {
		*m = map[string]int64{}
	}
	if (*m)[key] += by; (*m)[key] == 0 {
		delete(*m, key)
	}
	if len(*m) == 0 {
		*m = nil
	}
}

// slotOf is the place, from 1, of a latency among HealthCount.Latencies.
func slotOf(ms int64) int {
	return min(bits.Len64(uint64(max(ms, 0)))+1, LatencySlots)
}

// wellbeing is what is true now.
type wellbeing struct {
	LastKeptAt time.Time       `cbor:"1,keyasint,omitzero" json:"last_kept_at,omitzero"`
	LastKept   events.Position `cbor:"2,keyasint,omitempty" json:"last_kept,omitempty"`
	Degraded   string          `cbor:"3,keyasint,omitempty" json:"degraded,omitempty"`
}

func wellKey(struct{}) []byte { return []byte("now") }

type healthFold struct {
	x     *tx
	hours *cache[hourKey, hourCount]
	turns *cache[events.ID, healthTurn]
	now   *cache[struct{}, wellbeing]
}

func (healthView) fold(x *tx) fold {
	return &healthFold{
		x:     x,
		hours: newCache(x, hourTable(), hourKey.bytes),
		turns: newCache(x, healthTurnTable(), idKey),
		now:   newCache(x, wellTable(), wellKey),
	}
}

func (f *healthFold) flush() error {
	if err := f.hours.flush(); err != nil {
		return err
	}
	if err := f.turns.flush(); err != nil {
		return err
	}
	return f.now.flush()
}

func (f *healthFold) apply(r *record) error {
	switch r.Kind {
	case events.KindTurnStarted:
		return f.start(r)
	case events.KindTurnReceived, events.KindTurnFailed, events.KindOutputDropped, events.KindOutputSkipped:
		return f.tell(r)
	case events.KindObservationParsed, events.KindSummaryParsed:
		return f.keep(r)
	case events.KindSessionQuarantined, events.KindSessionReleased:
		return f.quarantine(r)
	case events.KindProviderPaused, events.KindProviderResumed:
		return f.pause(r)
	case events.KindDaemonDegraded:
		return f.degrade(r)
	case events.KindMemoryForgotten:
		e, ok, err := payloadOf[events.MemoryForgotten](r)
		if err != nil || !ok {
			return err
		}
		return forgottenRecords(f.x, e, f.forget)
	}
	return nil
}

func (f *healthFold) start(r *record) error {
	e, ok, err := payloadOf[events.TurnStarted](r)
	if err != nil || !ok {
		return err
	}
	t, err := f.turns.edit(turnOf(r, e.Turn))
	if err != nil {
		return err
	}
	*t = healthTurn{Provider: e.Provider, Model: e.Model}
	return nil
}

// change alters a turn, and what it adds to its hour with it. Turns that were never started are passed over.
func (f *healthFold) change(id events.ID, alter func(*healthTurn)) error {
	known, err := f.turns.peek(id)
	if err != nil || known == nil {
		return err
	}
	was := *known
	t, err := f.turns.edit(id)
	if err != nil {
		return err
	}
	alter(t)
	if t.Hour == 0 {
		return nil
	}
	h, err := f.hours.edit(t.key())
	if err != nil {
		return err
	}
	h.Provider, h.Model = t.Provider, t.Model
	was.add(&h.Count, -1)
	t.add(&h.Count, +1)
	return nil
}

func (f *healthFold) tell(r *record) error {
	e, _, err := payloadOf[events.Event](r)
	if err != nil {
		return err
	}
	return f.change(turnOf(r, turnSaid(e)), func(t *healthTurn) { tellHealth(t, r, e) })
}

// tellHealth takes over what r says of its turn; e is nil if it was erased.
func tellHealth(t *healthTurn, r *record, e events.Event) {
	if r.Kind == events.KindTurnReceived || r.Kind == events.KindTurnFailed {
		t.Ended, t.Hour = true, r.RecordedAt.Unix()/3600
	}
	switch r.Kind {
	case events.KindTurnReceived:
		if e, ok := e.(events.TurnReceived); ok {
			t.Usage, t.Slot = e.Usage, slotOf(e.LatencyMS)
		}
	case events.KindTurnFailed:
		e, _ := e.(events.TurnFailed)
		t.Result, t.Why = TurnFailed, string(e.Class)
	case events.KindOutputDropped:
		e, ok := e.(events.OutputDropped)
		t.Result, t.Idle = TurnDropped, ok && e.Class == "idle"
		if ok {
			t.Why = e.Class + "/" + e.Reason
		}
	case events.KindOutputSkipped:
		e, ok := e.(events.OutputSkipped)
		t.Result, t.Why, t.Idle = TurnSkipped, e.Reason, ok && e.Reason == "empty"
	}
}

func (f *healthFold) keep(r *record) error {
	id := r.Correlation
	if id == (events.ID{}) {
		e, _, err := payloadOf[events.Event](r)
		if err != nil {
			return err
		}
		id = turnSaid(e)
	}
	known, err := f.turns.peek(id)
	if err != nil || known == nil || known.Result == TurnKept {
		return err
	}
	now, err := f.now.edit(struct{}{})
	if err != nil {
		return err
	}
	now.LastKept, now.LastKeptAt = r.Position, r.RecordedAt
	return f.change(id, func(t *healthTurn) { t.Result = TurnKept })
}

// forget takes back what the payload of a record had said.
func (f *healthFold) forget(h events.Header) error {
	return f.change(h.Correlation, func(t *healthTurn) {
		switch h.Kind {
		case events.KindTurnReceived:
			t.Usage, t.Slot = events.Usage{}, 0
		case events.KindTurnFailed, events.KindOutputDropped, events.KindOutputSkipped:
			t.Why, t.Idle = "", false
		}
	})
}

func (f *healthFold) quarantine(r *record) error {
	if r.Kind == events.KindSessionReleased {
		return quarantineTable().delete(f.x, sessionKey(r.session))
	}
	e, _, err := payloadOf[events.SessionQuarantined](r)
	if err != nil {
		return err
	}
	var was *Quarantine
	if q, ok, err := quarantineTable().get(f.x, sessionKey(r.session)); err != nil {
		return err
	} else if ok {
		was = &q
	}
	return quarantineTable().put(f.x, sessionKey(r.session), *quarantineOf(r, e, was))
}

func (f *healthFold) pause(r *record) error {
	provider, ok := r.Stream.Provider()
	if !ok || provider == "" {
		return nil
	}
	if r.Kind == events.KindProviderResumed {
		return pauseTable().delete(f.x, []byte(provider))
	}
	e, _, err := payloadOf[events.ProviderPaused](r)
	if err != nil {
		return err
	}
	p := Pause{Provider: provider, Class: e.Class, Since: r.OccurredAt, Until: e.Until, Probe: e.Probe}
	was, ok, err := pauseTable().get(f.x, []byte(provider))
	if err != nil {
		return err
	}
	if ok {
		p.Since = was.Since
	}
	return pauseTable().put(f.x, []byte(provider), p)
}

func (f *healthFold) degrade(r *record) error {
	e, ok, err := payloadOf[events.DaemonDegraded](r)
	if err != nil || !ok {
		return err
	}
	now, err := f.now.edit(struct{}{})
	if err != nil {
		return err
	}
	now.Degraded = e.Why
	if e.Cleared {
		now.Degraded = ""
	}
	return nil
}
