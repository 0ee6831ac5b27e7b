package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/internal/transient"
)

const (
	// ingestBatch is how many captures of one session go into one append.
	ingestBatch = 256

	// maxBadLines is how many lines that were not understood are named.
	maxBadLines = 100

	// maxRefused is how many captures of a transcript may be refused one by one: after more, they are not to blame.
	maxRefused = 100

	// maxKnown is how many keys an ingest remembers, some 40 MB, and maxNamed how many sessions it names.
	maxKnown = 1 << 20
	maxNamed = 1000
)

// ErrSpoolWaits means that what hooks left in the spool is still being taken in. It passes.
var ErrSpoolWaits = transient.Mark(errors.New("capture: what hooks left in the spool is still being taken in"))

// drainWait is how long an ingest waits for the spool, below what clients wait for an answer.
const drainWait = 20 * time.Second

// Ingest records what a transcript reports and the log does not have yet. Path is the transcript's on the sender's machine.
// Where hooks and transcripts have no key in common it waits for what hooks left in the spool: the log has to know which
// sessions they report. Errors are agents.ErrUnknownAgent, agents.ErrNoTranscripts, agents.ErrUTF16, ErrSpoolWaits, ErrBodyCut, and the
// sink's.
func (p *Pipeline) Ingest(ctx context.Context, agent, path string, body io.Reader) (Ingested, error) {
	t, err := agents.ReadTranscript(agent, body, path)
	if err != nil {
		return Ingested{}, err
	}
	t.Redact = p.cfg.Secrets
	if !agents.SharesKeys(agent) {
		select {
		case <-p.drained:
		case <-time.After(drainWait):
			return Ingested{}, ErrSpoolWaits
		case <-ctx.Done():
			return Ingested{}, ctx.Err()
		}
	}
	in := newIngest(p, t.Progress)
	if err := in.run(ctx, t.Captures()); err != nil {
		return Ingested{}, err
	}
	return in.result(t.Progress()), nil
}

// ingest is one transcript on its way into the log.
type ingest struct {
	p        *Pipeline
	progress func() agents.Progress
	keys     map[events.SessionID]map[events.Key]bool // what sessions' streams hold, and what was sent to them
	hooked   map[events.SessionID]time.Time           // since when hooks report them
	held     int                                      // how many keys those are, about
	most     int                                      // how many there may be
	named    map[events.SessionID]bool                // those in order
	order    []events.SessionID                       // of first sight
	batch    []read                                   // of one session
	repeated int                                      // captures that were nothing but memory
	private  int                                      // captures of which nothing may be recorded
	took     func(c session.Capture, known bool)      // is called for each that was recorded, or known before
	out      Ingested
}

// read is a capture, and how many lines had been read when it was complete.
type read struct {
	session.Capture
	line int
}

func newIngest(p *Pipeline, progress func() agents.Progress) *ingest {
	return &ingest{
		p: p, progress: progress, most: maxKnown, took: func(session.Capture, bool) {},
		keys: map[events.SessionID]map[events.Key]bool{}, named: map[events.SessionID]bool{},
		hooked: map[events.SessionID]time.Time{},
	}
}

func (in *ingest) run(ctx context.Context, captures iter.Seq2[session.Capture, error]) error {
	for c, err := range captures {
		var bad *agents.LineError
		switch {
		case errors.As(err, &bad):
			in.reject(bad)
			continue
		case errors.Is(err, agents.ErrUTF16):
			return err
		case err != nil:
			return errors.Join(fmt.Errorf("%w: %w", ErrBodyCut, err), in.flush(ctx))
		}
		if err := in.add(ctx, c); err != nil {
			return err
		}
	}
	return in.flush(ctx)
}

// reject notes a line that was not understood, without quoting it.
func (in *ingest) reject(bad *agents.LineError) {
	detail := "is not understood"
	var syntax *agents.SyntaxError
	switch r := refusal.Of(bad.Err); {
	case errors.As(bad.Err, &syntax):
		detail = "is not JSON"
	case errors.Is(bad.Err, agents.ErrTooLong):
		detail = "is too long"
	case r != nil:
		detail = strings.TrimSpace(strings.TrimPrefix(r.Field, "/") + " " + r.Detail)
	}
	in.addBad(bad.Line, detail)
}

func (in *ingest) addBad(line int, detail string) {
	if len(in.out.Bad) < maxBadLines {
		in.out.Bad = append(in.out.Bad, BadLine{Line: line, Detail: detail})
	}
}

// add queues a capture, unless the log has it.
func (in *ingest) add(ctx context.Context, c session.Capture) error {
	c, why := in.p.filterPrivate(c)
	if why != "" {
		in.private++
		return nil
	}
	c.Origin = in.p.origin(ctx, c.Origin, factsAge, true)
	c.Event = in.p.Redact(c.Event)
	id := c.Origin.Session()
	if len(in.batch) > 0 && (in.batch[0].Origin.Session() != id || len(in.batch) >= ingestBatch) {
		if err := in.flush(ctx); err != nil {
			return err
		}
	}
	known, err := in.known(ctx, id)
	if err != nil {
		return err
	}
	if known[c.Key] && !c.Key.IsZero() || in.hooksReport(c) {
		in.out.Duplicates++
		in.took(c, true)
		return nil
	}
	known[c.Key] = true
	in.held++
	if c.Event = in.p.withoutEcho(ctx, id, c.Event); c.Event == nil {
		in.repeated++
		return nil
	}
	in.batch = append(in.batch, read{in.p.withPreferences(ctx, c), in.progress().Lines})
	return nil
}

// known returns the keys that a session's stream holds. Reading the headers of a stream costs a fraction of deciding
// its facts again, and a second reading of the same transcript costs nothing else. Where there are too many, those of
// other sessions are read again when these come back; nothing of them is queued here.
func (in *ingest) known(ctx context.Context, id events.SessionID) (map[events.Key]bool, error) {
	if keys, ok := in.keys[id]; ok {
		return keys, nil
	}
	if in.held >= in.most {
		clear(in.keys)
		in.held = 0
	}
	keys := map[events.Key]bool{}
	var since time.Time
	for r, err := range in.p.cfg.Log.Stream(ctx, id.Stream(), 1) {
		if err != nil {
			return nil, err
		}
		keys[r.Key] = true
		if since.IsZero() && openedByHook(r) {
			since = r.OccurredAt
		}
	}
	in.keys[id], in.hooked[id] = keys, since
	in.held += 1 + len(keys)
	if len(in.order) < maxNamed && !in.named[id] {
		in.named[id] = true
		in.order = append(in.order, id)
	}
	return keys, nil
}

// openedByHook reports whether a record opens its session because a hook reported it.
func openedByHook(r events.Record) bool {
	if r.Kind != events.KindSessionOpened {
		return false
	}
	e, err := r.Event() // an erased one says nothing
	opened, ok := e.(events.SessionOpened)
	return err == nil && ok && opened.Source != "transcript" && opened.Source != "import"
}

// hooksReport says whether hooks reported c under another key: how its session was opened, after which it may have ended; and where the
// agent's hooks and transcripts have no key in common, all that happened since.
func (in *ingest) hooksReport(c session.Capture) bool {
	since := in.hooked[c.Origin.Session()]
	if since.IsZero() {
		return false
	}
	_, opening := c.Event.(events.SessionOpened)
	return opening || !agents.SharesKeys(c.Origin.Agent) && !c.At.Before(since)
}

// again forgets what was known of sessions that hooks may have begun to report since.
func (in *ingest) again(agent string) {
	if !agents.SharesKeys(agent) {
		clear(in.keys)
		in.held = 0
	}
}

// flush appends what is queued, as one, and one by one if that is refused: a single bad capture must not end the
// transcript. A parked session ends it, for it takes nothing.
func (in *ingest) flush(ctx context.Context) error {
	batch := in.batch
	in.batch = nil
	if len(batch) == 0 {
		return nil
	}
	err := in.send(ctx, batch)
	if err == nil || !blamesCapture(err) {
		return err
	}
	for _, c := range batch {
		own := err
		if len(batch) > 1 {
			own = in.send(ctx, []read{c})
		}
		if own == nil {
			continue
		}
		if in.out.Refused++; !blamesCapture(own) || in.out.Refused > maxRefused {
			return own
		}
		in.addBad(c.line, "could not be recorded: "+refusal.Reason(own))
	}
	return nil
}

func blamesCapture(err error) bool { return !transient.Is(err) && !errors.Is(err, actors.ErrParked) }

// send appends captures of one session. It waits while hooks fill the queue.
func (in *ingest) send(ctx context.Context, batch []read) error {
	cmds := make([]session.Command, len(batch))
	for i, c := range batch {
		cmds[i] = c.Capture
	}
	receipt, err := actors.DoWhenRoom(ctx, in.p.cfg.Sink, batch[0].Origin.Session(), cmds...)
	if err != nil {
		return err
	}
	in.out.Captured += len(batch)
	for _, c := range batch {
		in.took(c.Capture, false)
	}
	in.out.Position = max(in.out.Position, receipt.Position)
	return nil
}

func (in *ingest) result(p agents.Progress) Ingested {
	out := in.out
	out.Sessions = append([]events.SessionID{}, in.order...)
	out.Lines, out.Skipped, out.Malformed, out.Offset, out.Partial, out.Last = p.Lines, p.Skipped, p.Malformed, p.Offset, p.Partial, p.Last
	if in.repeated+in.private > 0 {
		out.Skipped = maps.Clone(p.Skipped)
	}
	if in.repeated > 0 {
		out.Skipped["repeated memory"] = in.repeated
	}
	if in.private > 0 {
		out.Skipped["private"] = in.private
	}
	return out
}
