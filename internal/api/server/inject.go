package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/panics"
)

// Briefs says when a little memory is given beside the start of a session. The zero value gives none.
type Briefs struct {
	Prompts bool          // at the user's prompts
	Score   int           // how much of a prompt a row must have; see recall.Ask. 0 means recall.DefaultPromptScore
	Files   bool          // before a file is read
	Timeout time.Duration // in which that is there, or nothing: the agent waits. 0 means 150 ms
}

// injector chooses the memory that an agent is given. A *recall.Recall is one.
type injector interface {
	Wait(ctx context.Context, at events.Position) error
	Context(ctx context.Context, ask recall.Ask) (recall.Context, error)
}

// injections gives agents memory, and puts on record that they were given it.
type injections struct {
	log      eventlog.Log
	injector injector
	capture  *capture.Pipeline
	system   System
	briefs   Briefs
	timeout  time.Duration // in which a starting session gets its memory
	notice   func(ctx context.Context) string
	place    func(ctx context.Context, root string) string // what is to be said once of a session's folder
	home     string                                        // hooks that were switched off have counted there
	environment
	life     *lifetime
	withheld func() // counts a session that starts without memory
}

// smallFileBytes is the size below which reading a file costs less than what could be said of it, in bytes.
const smallFileBytes = 1500

// reply is what goes back to the agent: memory where it takes some, and a line for the person where there is one.
func (s *injections) reply(ctx context.Context, got capture.Accepted, began time.Time) []byte {
	var a agents.Answer
	switch {
	case capture.StartsSession(got.Report.Wants):
		a.Context = s.injectStart(ctx, got, began)
		o := got.Report.Origin
		said := []string{relay.PlainNotice(s.notice(ctx)), ""}
		if said[0] == "" {
			said[0] = relay.DisabledNotice(s.home, o.Agent, got.Report.Event, o.Cwd)
		}
		if relay.SpeaksAt(o.Agent, got.Report.Event) { // it is said once: where nobody sees it, it waits
			said[1] = s.place(ctx, o.ProjectRoot)
		}
		a.Notice = relay.Notice(strings.TrimSpace(strings.Join(said, " ")))
	case got.HiddenStart:
		a.Notice = relay.Notice(HiddenNotice(got.HiddenBy))
	case got.Report.Wants != agents.WantNone:
		a.Context = s.injectBrief(ctx, got)
	}
	return got.Agent.Reply(got.Report, a)
}

// HiddenNotice tells a person that a file hides the session that starts.
func HiddenNotice(file string) string {
	return "Nothing of this session is remembered: " + file + " hides its folder. `cmemd ignore list` counts what is hidden, `cmemd ignore refuse FILE` sets a file aside."
}

// injectStart chooses memory for a starting session.
func (s *injections) injectStart(ctx context.Context, got capture.Accepted, began time.Time) string {
	text, err := s.inject(ctx, askOf(got), got, s.timeout-s.now().Sub(began))
	if err != nil {
		s.withheld()
		s.logger.Warn("a session starts without memory", "session", got.Report.Origin.Session(), "err", err)
	}
	return text
}

// injectBrief chooses memory at a prompt, or for a file that is about to be read, where that is set.
func (s *injections) injectBrief(ctx context.Context, got capture.Accepted) string {
	in, r := s.briefs, &got.Report
	ask := askOf(got)
	switch {
	case r.Wants == agents.WantPrompt && in.Prompts:
		ask.Prompt, ask.Score = r.Prompt, in.Score
	case r.Wants == agents.WantFile && in.Files:
		r.SetOrigin(s.capture.Origin(ctx, r.Origin))
		ask = askOf(got)
		if !askAboutFile(&ask, r.Origin, r.File) {
			return ""
		}
	default:
		return ""
	}
	text, err := s.inject(ctx, ask, got, in.Timeout)
	if err != nil {
		s.logger.Debug("no memory is given", "session", r.Origin.Session(), "hook", r.Wants, "err", err)
	}
	return text
}

// inject chooses memory and records that it was given: what is not on record is not given. It gives nothing, and says
// why, rather than something late.
func (s *injections) inject(ctx context.Context, ask recall.Ask, got capture.Accepted, left time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	mem, err := s.contextWithin(ctx, ask)
	if err != nil || mem.Text == "" {
		return "", err
	}
	s.capture.Given(ctx, ask.Session, mem.Text) // before the agent can repeat it
	if err := s.recordInjection(ctx, got, mem); err != nil {
		return "", err
	}
	return mem.Text, nil
}

// askOf is what every injection asks for.
func askOf(got capture.Accepted) recall.Ask {
	r := got.Report
	return recall.Ask{
		ProjectRoot: r.Origin.ProjectRoot, Project: r.Origin.Project, ProjectKey: r.Origin.ProjectKey,
		Session: r.Origin.Session(), Source: string(r.Wants), Now: got.At, Exists: inTree(treeOf(r.Origin), r.Origin.ProjectRoot),
	}
}

// treeOf is the working tree of a session.
func treeOf(o session.Origin) string {
	for _, dir := range []string{o.GitRoot, o.ProjectRoot, o.Cwd} {
		if filepath.IsAbs(dir) {
			return dir
		}
	}
	return ""
}

// inTree tells which files are in a working tree; those of the project's own folder are looked for there too.
func inTree(tree, root string) func(file string) bool {
	if tree == "" {
		return nil
	}
	return func(file string) bool {
		if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); ok && root != "" {
			file = rest
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(tree, file)
		}
		_, err := os.Lstat(file)
		return err == nil
	}
}

// askAboutFile fills in what is known of a file that is about to be read. It reports false for one that is none, or so
// small that it is best read.
func askAboutFile(ask *recall.Ask, o session.Origin, file string) bool {
	if !filepath.IsAbs(file) {
		file = filepath.Join(o.Cwd, file)
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() < smallFileBytes {
		return false
	}
	ask.File, ask.Changed = file, info.ModTime()
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(treeOf(o), "/")+"/"); ok {
		ask.File = rest
	}
	return true
}

// errEnding means that nothing is begun any more.
var errEnding = errors.New("api: the server ends")

// contextWithin asks recall for a context, and waits for it no longer than ctx.
func (s *injections) contextWithin(ctx context.Context, ask recall.Ask) (recall.Context, error) {
	type answer struct {
		mem recall.Context
		err error
	}
	got := make(chan answer, 1)
	helped := s.life.help(func() {
		a := answer{err: errors.New("api: no memory was chosen")}
		defer func() { got <- a }()
		defer panics.Catch(&a.err, s.logger, "choice of memory")
		a.mem, a.err = s.choose(ctx, ask)
	})
	if !helped {
		return recall.Context{}, errEnding
	}
	select {
	case a := <-got:
		return a.mem, a.err
	case <-ctx.Done():
		return recall.Context{}, ctx.Err()
	}
}

// choose asks for memory that knows all that the log holds now: what was superseded, forgotten or flagged until this
// moment is not given. It does not run after what is appended meanwhile, so that a busy log starves nobody.
func (s *injections) choose(ctx context.Context, ask recall.Ask) (recall.Context, error) {
	last, err := s.log.Last(ctx)
	if err != nil {
		return recall.Context{}, fmt.Errorf("api: memory: %w", err)
	}
	if err := s.injector.Wait(ctx, last); err != nil {
		return recall.Context{}, fmt.Errorf("api: the views do not know position %d yet: %w", last, err)
	}
	return s.injector.Context(ctx, ask)
}

// recordInjection appends what is about to be given. The same delivery is on record once.
func (s *injections) recordInjection(ctx context.Context, got capture.Accepted, mem recall.Context) error {
	r := got.Report
	_, err := s.system.Do(ctx, r.Origin.Session(), session.Capture{
		ID: s.newID(), Key: events.KeyOf("injection", got.Delivery.String()), At: s.now(), Origin: r.Origin,
		Event: events.ContextInjected{
			Hook: string(r.Wants), IDs: mem.IDs, Characters: mem.Characters, Position: events.Moment(mem.Position),
		},
	})
	return err
}
