package share

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// counting is a log that counts the records that are read by stream.
type counting struct {
	*eventlog.Bolt
	calls, records *int
}

func (c counting) Stream(ctx context.Context, stream events.StreamID, from events.Version) iter.Seq2[events.Record, error] {
	*c.calls++
	return func(yield func(events.Record, error) bool) {
		for r, err := range c.Bolt.Stream(ctx, stream, from) {
			*c.records++
			if !yield(r, err) {
				return
			}
		}
	}
}

func newCounting(t *testing.T) counting {
	return counting{logtest.Open(t, eventlog.Config{}), new(int), new(int)}
}

// put appends one event.
func put(t *testing.T, log eventlog.Log, stream events.StreamID, e events.Event) events.Record {
	t.Helper()
	d := events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: logtest.Draft("").OccurredAt, Event: e}
	records, err := eventlog.AppendEnd(t.Context(), log, stream, d)
	if err != nil {
		t.Fatal(err)
	}
	return records[0]
}

func span(at events.Position) events.Span { return events.Span{From: at, To: at} }

// TestUnreadUnlessInDoubt: damage alone took what a LogSalvaged lists, unless something behind it may have had it forgotten.
func TestUnreadUnlessInDoubt(t *testing.T) {
	t.Parallel()
	const own, other = events.StreamID("session/own"), events.StreamID("session/other")
	const lost, unread, sibling, elsewhere = 1, 2, 3, 4 // in no stream that is known, in the own one, there too, and in the other one
	forgotten := func(at ...events.Position) events.Event {
		return events.MemoryForgotten{Positions: at, Cause: "person"}
	}
	type entry struct {
		stream events.StreamID
		event  events.Event
		erased bool
	}
	in := func(stream events.StreamID, e events.Event) entry { return entry{stream: stream, event: e} }
	emptied := func(stream events.StreamID, e events.Event) entry { return entry{stream, e, true} }
	salvaged := func(unread ...events.Span) entry {
		return in(events.Daemon, events.LogSalvaged{Unread: 3, UnreadAt: unread})
	}
	listed := salvaged(span(unread))
	for name, c := range map[string]struct {
		behind []entry
		want   bool
	}{
		"nothing salvaged":              {nil, false},
		"listed":                        {[]entry{listed}, true},
		"listed by the second":          {[]entry{salvaged(span(9)), listed}, true},
		"in a span of several":          {[]entry{salvaged(events.Span{From: 1, To: 3}, span(7))}, true},
		"between spans":                 {[]entry{salvaged(span(1), span(3), span(5))}, false},
		"behind the last of a cut list": {[]entry{salvaged(span(1))}, false},
		"the list is unread itself":     {[]entry{emptied(events.Daemon, listed.event)}, false},

		"of its stream, since":               {[]entry{listed, in(own, forgotten(sibling))}, false},
		"of its stream, before the salvage":  {[]entry{in(own, forgotten(sibling)), listed}, false},
		"of its stream, nobody says what":    {[]entry{emptied(own, forgotten(sibling)), listed}, false},
		"of another stream":                  {[]entry{listed, in(other, forgotten(elsewhere))}, true},
		"by the daemon, itself":              {[]entry{listed, in(events.Daemon, forgotten(unread))}, false},
		"by the daemon, of its stream":       {[]entry{listed, in(events.Daemon, forgotten(sibling))}, false},
		"by the daemon, before the salvage":  {[]entry{in(events.Daemon, forgotten(sibling)), listed}, false},
		"by the daemon, of another stream":   {[]entry{listed, in(events.Daemon, forgotten(elsewhere, 99))}, true},
		"by the daemon, of no known stream":  {[]entry{listed, in(events.Daemon, forgotten(lost))}, false},
		"by the daemon, nobody says of what": {[]entry{emptied(events.Daemon, forgotten(elsewhere)), listed}, false},

		"lost in its stream":       {[]entry{in(own, events.RecordLost{}), listed}, false},
		"lost in the daemon's":     {[]entry{in(events.Daemon, events.RecordLost{}), listed}, false},
		"lost in no known stream":  {[]entry{in(events.Lost, events.RecordLost{}), listed}, false},
		"lost in another's stream": {[]entry{in(other, events.RecordLost{}), listed}, true},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			log := newCounting(t)
			put(t, log, events.Lost, events.RecordLost{}) // before it, which puts nothing in doubt
			put(t, log, own, events.PromptSubmitted{Text: "a"})
			put(t, log, own, events.PromptSubmitted{Text: "b"})
			put(t, log, other, events.PromptSubmitted{Text: "c"})
			if err := log.Erase(t.Context(), unread); err != nil {
				t.Fatal(err)
			}
			u := newUnread(log)
			for i, e := range c.behind {
				r := put(t, log, e.stream, e.event)
				if !e.erased {
					continue
				}
				if err := log.Erase(t.Context(), r.Position); err != nil {
					t.Fatal(i, err)
				}
			}
			r, err := log.Get(t.Context(), unread)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := u.has(t.Context(), r); got != c.want || err != nil {
				t.Errorf("%t, %v; want %t", got, err, c.want)
			}
		})
	}
}

// TestUnreadIsReadOnce: what is asked of many records reads each record of a stream once, and finds what was appended since.
func TestUnreadIsReadOnce(t *testing.T) {
	t.Parallel()
	const n = 50
	log, stream := newCounting(t), logtest.Session("a")
	var all []events.Record
	for range n {
		all = append(all, put(t, log, stream, events.PromptSubmitted{Text: "a"}))
	}
	for range n {
		put(t, log, events.Daemon, events.DaemonStopped{})
	}
	put(t, log, events.Daemon, events.LogSalvaged{UnreadAt: []events.Span{{From: 1, To: n}}})
	u := newUnread(log)
	for _, r := range all {
		if ok, err := u.has(t.Context(), r); !ok || err != nil {
			t.Fatal(r.Position, ok, err)
		}
	}
	if want := n + n + 1; *log.records != want {
		t.Errorf("%d records were read, want %d", *log.records, want)
	}
	put(t, log, events.Daemon, events.MemoryForgotten{Positions: []events.Position{1}})
	if ok, err := u.has(t.Context(), all[n-1]); ok || err != nil {
		t.Errorf("after something of its stream was forgotten: %t, %v", ok, err)
	}
}

// unreadableAt is a log in which one record cannot be read by its position.
type unreadableAt struct {
	*eventlog.Bolt
	at  events.Position
	err error
}

func (u unreadableAt) Get(ctx context.Context, at events.Position) (events.Record, error) {
	if at == u.at {
		return events.Record{}, u.err
	}
	return u.Bolt.Get(ctx, at)
}

// TestUnreadNamedIsInDoubt: where a record that the daemon's stream says is forgotten cannot be read, nobody knows of which stream it was.
func TestUnreadNamedIsInDoubt(t *testing.T) {
	t.Parallel()
	log := logtest.Open(t, eventlog.Config{})
	r := put(t, log, logtest.Session("a"), events.PromptSubmitted{Text: "a"})
	named := put(t, log, logtest.Session("b"), events.PromptSubmitted{Text: "b"})
	put(t, log, events.Daemon, events.LogSalvaged{UnreadAt: []events.Span{span(r.Position)}})
	put(t, log, events.Daemon, events.MemoryForgotten{Positions: []events.Position{named.Position}})
	disk := errors.New("input/output error")
	for name, c := range map[string]struct {
		failed, want error
		has          bool
	}{
		"of another stream": {nil, nil, true},
		"damaged":           {events.ErrCorrupt, nil, false},
		"no disk now":       {disk, disk, false},
	} {
		at := named.Position
		if c.failed == nil {
			at = 0
		}
		if has, err := newUnread(unreadableAt{log, at, c.failed}).has(t.Context(), r); has != c.has || !errors.Is(err, c.want) {
			t.Errorf("%s: %t, %v", name, has, err)
		}
	}
}

// TestAlikeReadsNoStream: a segment that has no payload which the own log lacks is taken without a look at what a salvage said.
func TestAlikeReadsNoStream(t *testing.T) {
	t.Parallel()
	log := newCounting(t)
	for range 3 {
		put(t, log, events.Daemon, events.PromptSubmitted{Text: "a"})
	}
	if err := log.Erase(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	*log.calls = 0
	sh := &shipper{Share: &Share{cfg: Config{Own: log}}, unread: newUnread(log)}
	if err := sh.matchErasures(t.Context(), place{}, segment.Sealed{Header: segment.Header{First: 1}}, logtest.Records(t, log)); err != nil {
		t.Fatal(err)
	}
	if *log.calls != 0 {
		t.Errorf("streams were read %d times", *log.calls)
	}
}
