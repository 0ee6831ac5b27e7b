package setup

import (
	"context"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/cli/memory"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer/extractive"
)

// sessionsWait is how long a person waits for old sessions; the rest goes on in the background. It is what some 300 MB take.
const sessionsWait = 15 * time.Second

// takeSessions offers the sessions that lie in the folders of agents, and has them taken in. Where all were once, they are not
// offered again.
func (s *setupRun) takeSessions(ctx context.Context) error {
	old, err := memory.FindOldSessions(s.app)
	if err != nil || old.Files == 0 {
		return err
	}
	s.report.Sessions = &takenSessions{OldSessions: old}
	was, err := homedir.ReadIngest(s.paths().Ingest)
	if err != nil {
		return err
	}
	if !was.Ended.IsZero() && was.Failed == 0 {
		s.report.Sessions.Taken = &was
		s.app.Infof("old sessions were taken in on %s; `cmemd ingest --all` takes what hooks missed since", terminal.Moment(was.Ended))
		return nil
	}
	if !was.Runs() {
		if ok, err := s.agreeSessions(ctx, old); !ok {
			return err
		}
	}
	now, err := memory.Background(ctx, s.app, s.options.Program.Cmemd, "", old.Folders)
	if err == nil {
		now, err = memory.FollowIngest(ctx, s.app, sessionsWait)
	}
	s.report.Sessions.Taken = &now
	if err == nil && !s.app.JSON {
		s.app.Printf("sessions  %s\n", terminal.VisibleLine(takenLine(now)))
	}
	return err
}

// agreeSessions asks whether old sessions are to be taken in. What may cost something is not done without a word.
func (s *setupRun) agreeSessions(ctx context.Context, old memory.OldSessions) (bool, error) {
	l, err := config.ForHome(s.app)
	if err != nil {
		return false, err
	}
	found := fmt.Sprintf("%s of old sessions (%s, %s to %s)", number.Plural(old.Files, "transcript"), terminal.Size(old.Bytes),
		old.Oldest.Local().Format(time.DateOnly), old.Newest.Local().Format(time.DateOnly))
	paid := ""
	if l.Provider != extractive.Name {
		paid = fmt.Sprintf(", where %s observes them, which may cost something", l.Provider)
	}
	switch {
	case s.flags.yes && paid == "":
		return true, nil
	case s.flags.yes:
		s.app.Infof("%s stay where they are%s: `cmemd ingest --all --background` takes them in", found, paid)
		return false, nil
	}
	agreed, err := s.app.AskYesNo(ctx, fmt.Sprintf("%s lie here. Take them into memory, on this machine%s?", found, paid), paid == "")
	if err == nil && !agreed {
		s.app.Infof("they stay where they are; `cmemd ingest --all --background` takes them in")
	}
	return agreed, err
}

// takenLine says how far old sessions are taken in.
func takenLine(i homedir.Ingest) string {
	line := fmt.Sprintf("%d of %s taken in, %s captured", i.Done-i.Failed, number.Plural(i.Files, "transcript"), number.Plural(i.Captured, "event"))
	switch {
	case i.Runs():
		line += "; the rest goes on in the background, `cmemd status` says how far"
	case i.Interrupted():
		line += "; that was interrupted, `cmemd setup` goes on"
	}
	if i.Failed > 0 {
		line += fmt.Sprintf("; %d could not be, for which logs/ingest.log has the reason: `cmemd setup` tries again", i.Failed)
	}
	return line
}
