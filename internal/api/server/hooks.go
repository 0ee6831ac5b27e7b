package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
)

// delivery is one payload on its way into the log, posted or from the spool.
type delivery struct {
	agent string
	id    events.ID
	at    time.Time
	body  []byte
	cut   bool           // private text was cut from the body on the way
	taken map[string]int // secrets that were taken out of the body on the way, by kind
}

// taken is what became of a delivery that is on disk, or that there was nothing to record of.
type taken struct {
	agent     agents.Agent
	report    agents.Report
	duplicate bool
}

// errBodyCut is a body that ended, or stopped coming, before it was whole.
var errBodyCut = errors.New("api: the body was cut")

// postHook takes one payload of an agent and answers with what the agent is to be told. One of an agent that nobody knows is
// neither read nor kept, and the name, which may be anything, is not logged.
func (s *Server) postHook(w http.ResponseWriter, r *http.Request) error {
	began := s.cfg.Now()
	if _, err := agents.ByName(r.PathValue("agent")); err != nil {
		return err
	}
	body, done, err := s.readPayload(w, r)
	if err != nil {
		return err
	}
	defer done()
	d := delivery{agent: r.PathValue("agent"), id: s.cfg.NewID(), at: began, body: body}
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.HookTimeout)
	defer cancel()
	var t taken
	if err = d.name(r.Header); err == nil {
		t, err = s.take(ctx, d)
	}
	if err != nil {
		s.deadLetter(d, err)
		return err
	}
	reply := s.reply(ctx, t, d, began)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(reply)))
	_, _ = w.Write(reply) // the event is on disk, whoever hears of it
	return nil
}

// name takes over what the request says of the delivery. No hook is called in the future: a clock that says so is
// wrong, and the time of arrival stands.
func (d *delivery) name(h http.Header) error {
	id, err := parseDelivery(h.Get(api.DeliveryHeader))
	if err != nil {
		return err
	}
	at, err := parseOccurred(h.Get(api.OccurredHeader))
	if err != nil {
		return err
	}
	if id != (events.ID{}) {
		d.id = id
	}
	if !at.IsZero() && at.Before(d.at) {
		d.at = at
	}
	return nil
}

// parseDelivery reads a delivery id; empty is none.
func parseDelivery(s string) (events.ID, error) {
	if s == "" {
		return events.ID{}, nil
	}
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 || id == (events.ID{}) {
		return events.ID{}, invalid(api.DeliveryHeader, "is no UUID in its usual form of 36 characters")
	}
	return id, nil
}

// firstOccurred is the earliest time that is taken: before it there were no agents, and near 1678 no nanoseconds.
const firstOccurred = 2000

// parseOccurred reads when a hook was called; empty is the zero time.
func parseOccurred(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, invalid(api.OccurredHeader, "is no time in the form of RFC 3339")
	}
	if at = at.UTC(); at.Year() < firstOccurred || at.Year() > 2200 {
		return time.Time{}, invalid(api.OccurredHeader, "the year %d is out of range", at.Year())
	}
	return at, nil
}

// pooledBody is the largest buffer that is kept for another payload.
const pooledBody = 256 << 10

// readPayload reads a hook's body while there is memory for it. The body lives until done is called.
func (s *Server) readPayload(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	size := r.ContentLength
	if size > agents.MaxPayload {
		return nil, nil, tooLarge(agents.MaxPayload)
	}
	if size < 0 {
		size = agents.MaxPayload
	}
	if held := s.bodies.Add(size); held > s.cfg.MaxBodies && held > size {
		s.bodies.Add(-size)
		return nil, nil, notNow(api.ProblemBusy, "Too many large payloads at once", time.Second, "try again")
	}
	buf, _ := s.buffers.Get().(*bytes.Buffer)
	if buf == nil {
		buf = new(bytes.Buffer)
	}
	buf.Reset()
	done = func() {
		s.bodies.Add(-size)
		if buf.Cap() <= pooledBody {
			s.buffers.Put(buf)
		}
	}
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, agents.MaxPayload)); err != nil {
		done()
		return nil, nil, bodyError(err)
	}
	return buf.Bytes(), done, nil
}

// bodyError tells a body that is too large from one whose sender is gone.
func bodyError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errBodyCut
	}
	return fmt.Errorf("%w: %w", errBodyCut, err)
}

// take decodes a delivery and puts what it reports to its session. It returns when that is on disk. A panic on the way
// is an error.
func (s *Server) take(ctx context.Context, d delivery) (t taken, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.caught("hook of "+d.agent, p)
		}
	}()
	if t, err = s.decode(ctx, d); err != nil || len(t.report.Captures) == 0 {
		return t, err
	}
	receipt, err := s.cfg.System.Do(ctx, t.report.Origin.Session(), commands(t.report.Captures)...)
	if err != nil {
		return t, fmt.Errorf("api: capture: %w", err)
	}
	t.duplicate = receipt.Duplicate
	s.metrics.captured(t.duplicate)
	return t, nil
}

// decode says what a delivery reports, with the facts of its project and without secrets.
func (s *Server) decode(ctx context.Context, d delivery) (t taken, err error) {
	if t.agent, err = agents.ByName(d.agent); err != nil {
		return t, err
	}
	if t.report, err = t.agent.Decode(d.body, agents.Meta{Delivery: d.id, OccurredAt: d.at, Cut: d.cut, Redact: s.cfg.Secrets}); err != nil {
		return t, err
	}
	s.reported(d.agent, d.at)
	if t.report = s.withoutPrivate(t.report); len(t.report.Captures) == 0 {
		s.metrics.ignored.Inc()
		return t, nil
	}
	age := factsAge
	if startsSession(t.report.Wants) {
		age = factsFresh
	}
	t.report.SetOrigin(s.origin(ctx, t.report.Origin, age, false))
	t.report.Captures[0].Event = withTaken(t.report.Captures[0].Event, d.taken)
	for i := range t.report.Captures {
		c := &t.report.Captures[i]
		c.Event = s.cfg.Redact(c.Event)
	}
	t.report.Captures = s.withoutEchoes(ctx, t.report.Origin.Session(), t.report.Captures)
	if len(t.report.Captures) == 0 {
		s.metrics.ignored.Inc()
	}
	return t, nil
}

// startsSession reports whether memory is wanted because a session starts, which records where.
func startsSession(w agents.Want) bool {
	return w != agents.WantNone && w != agents.WantPrompt && w != agents.WantFile
}

func commands(captures []session.Capture) []session.Command {
	cmds := make([]session.Command, len(captures))
	for i, c := range captures {
		cmds[i] = c
	}
	return cmds
}
