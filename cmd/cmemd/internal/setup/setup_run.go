package setup

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/cli/memory"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/daemon"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/providers"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/sleep"
)

// A setupReport is what `cmemd setup` says in JSON.
type setupReport struct {
	Done     bool               `json:"done"` // false: it is only shown, or an agent was not changed as asked
	Programs *placement         `json:"programs,omitempty"`
	Agents   []*shownInstall    `json:"agents"`
	Daemon   *daemon.Started    `json:"daemon,omitempty"`
	Sessions *takenSessions     `json:"sessions,omitempty"`
	Observer *observerAnswer    `json:"observer,omitempty"`
	Context  *api.ContextAnswer `json:"context,omitempty"`
	Next     []string           `json:"next"`
}

// A placement is the programs that are copied to where they stay.
type placement struct {
	Way      string   `json:"way"`
	From     string   `json:"from"`
	To       string   `json:"to"`
	Copy     []string `json:"copy"`               // those that are not there yet
	Replaces string   `json:"replaces,omitempty"` // the version that is there
	Newer    string   `json:"newer,omitempty"`    // the version that is there and stays, as it is newer
}

// A setupRun is one run of setup.
type setupRun struct {
	*installation
	agents []install.Agent
	shown  []*shownInstall
	report setupReport
	starts bool // a daemon is started, in the place of an older one or of none
}

// start has a daemon run that is not older than this cmemd, from where it stays. One that captures nothing, as the disk is full, is an error.
func (s *setupRun) start(ctx context.Context) error {
	d, err := daemon.Start(ctx, s.app, s.program())
	if err != nil {
		return err
	}
	s.report.Daemon = &d
	if !s.app.JSON {
		d.Print(s.app)
	}
	return d.Room.Check()
}

// program is the copy of this cmemd that stays; empty: this one does.
func (s *setupRun) program() string {
	if s.copyFrom == "" {
		return ""
	}
	return s.options.Program.Cmemd
}

// contextWait is how long memory may take to be made of what was taken in last, before a person is shown what is there.
const contextWait = 5 * time.Second

// awaitObserved returns when nothing waits for the observer any more, or contextWait is over.
func (s *setupRun) awaitObserved(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, contextWait)
	defer cancel()
	for {
		status, err := s.app.Status(ctx)
		if err != nil || isObserved(status) || sleep.For(ctx, 100*time.Millisecond) != nil {
			return
		}
	}
}

// isObserved reports whether nothing waits for the observer, and it is at work on nothing, a summary among that, by views that know all of
// the log.
func isObserved(s api.Status) bool {
	behind := func(v api.ViewLag) bool { return v.Lag > 0 }
	waiting := s.Inputs.Pending + s.Actors.Waiting + s.Actors.Turns + s.Actors.Queued
	return waiting == 0 && !slices.ContainsFunc(s.Views, behind)
}

// paths are those of the home.
func (s *setupRun) paths() homedir.Paths { return homedir.PathsOf(s.options.Home) }

// titles are the agents that are there, in their makers' words.
func titles(shown []*shownInstall) string {
	var all []string
	for _, one := range shown {
		all = append(all, one.Title)
	}
	return strings.Join(all, ", ")
}

// takenSessions is what became of the old sessions that lie on a machine.
type takenSessions struct {
	memory.OldSessions
	Taken *homedir.Ingest `json:"taken,omitempty"` // how far they are taken in; null: they are not
}

// An observerAnswer is who observes, and who else could.
type observerAnswer struct {
	Provider string                `json:"provider"`
	Answered bool                  `json:"answered"` // a person has said it, now or before
	Day      providers.DailyWork   `json:"day"`
	Models   []providers.Candidate `json:"models,omitempty"` // that could observe here
	// Next is who observes once the built-in observer is done with what is here; null: nobody else.
	Next *homedir.NextObserver `json:"next,omitempty"`
}
