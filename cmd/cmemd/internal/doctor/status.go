package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/cli/machines"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/internal/setting"
)

func newStatus(a *terminal.App) *cobra.Command {
	cluster := false
	c := &cobra.Command{
		Use:   "status",
		Short: "Say how the daemon is doing; exit code 3 if it does not run, 1 if the log is damaged, the disk is full, a view stopped or memory is not shared", Args: terminal.Takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if cluster {
				return machines.Status(c.Context(), a)
			}
			s, err := a.Status(c.Context())
			if err == nil {
				aside, ingest, next, unheard := homedir.AsideFiles(a), unfinishedIngest(s.Home), nextObserver(s.Home), unheardAgents(s.Home, a.Now())
				full := fullDisk(s)
				shown := a.Show(runningStatus{Running: true, Status: s, Full: full, Aside: aside, Ingest: ingest, Next: next, Unheard: unheard}, func() {
					showStatus(a, s)
					if full != nil {
						a.Field("disk", "nothing is captured: "+full.String())
					}
					for _, name := range unheard {
						a.Field("agent", name+": "+unheardMeans)
					}
					showIngest(a, ingest)
					showNextObserver(a, next)
					showAside(a, aside)
				})
				return errors.Join(shown, a.MarkReported(errors.Join(damageError(s.Damage), full.Check(), stoppedError(s), sharingError(s.Sharing))))
			}
			if !errors.Is(err, api.ErrNotRunning) {
				return err
			}
			if failed := showStopped(a); failed != nil {
				return errors.Join(err, failed)
			}
			return a.MarkReported(err)
		},
	}
	c.Flags().BoolVar(&cluster, "cluster", false, "how the machines do that share memory with this one")
	return c
}

// runningStatus is a status that says of itself that there is one.
type runningStatus struct {
	Running bool `json:"running"`
	api.Status
	Full   *homedir.Room         `json:"full_disk,omitempty"`     // nothing is captured for want of room
	Aside  []homedir.AsideFile   `json:"aside,omitempty"`         // files of the home that were put out of use and kept
	Ingest *homedir.Ingest       `json:"ingest,omitempty"`        // of old sessions, that is not done
	Next   *homedir.NextObserver `json:"next_observer,omitempty"` // once nothing waits for who observes now

	Unheard []string `json:"unheard_agents,omitempty"` // that reported lately, and do not report what they say between tool calls
}

// fullDisk is the room of the home of a daemon that captures nothing for want of it, by the settings that it runs with; nil: there is
// enough, or that is not known.
func fullDisk(s api.Status) *homedir.Room {
	kept, ok := setting.ParseBytes(s.Settings["min_free_bytes"])
	if room, err := homedir.RoomOf(s.Home, kept); ok && err == nil && room.Full() {
		return &room
	}
	return nil
}

// unheardMeans is what is said of an agent that neither by hooks nor in a transcript reports all that it says.
const unheardMeans = "it does not report what it says between tool calls"

// unheardAgents are the agents of which that is so, and that reported lately.
func unheardAgents(home string, now time.Time) (titles []string) {
	for _, a := range known.All() {
		if last, err := capture.LastReported(home, a.Name); a.NoRemarks && err == nil && now.Sub(last) < oldReport {
			titles = append(titles, a.Title)
		}
	}
	return titles
}

// unfinishedIngest is how far old sessions are taken in by a process of its own; nil where none is, or all are.
func unfinishedIngest(home string) *homedir.Ingest {
	i, err := homedir.ReadIngest(homedir.PathsOf(home).Ingest)
	if err != nil || i.PID == 0 || !i.Ended.IsZero() {
		return nil
	}
	return &i
}

func showIngest(a *terminal.App, i *homedir.Ingest) {
	if i == nil {
		return
	}
	line := fmt.Sprintf("%d of %s taken in, %s of %s, the newest first", i.Done, number.Plural(i.Files, "transcript"), terminal.Size(i.DoneBytes), terminal.Size(i.Bytes))
	if i.Interrupted() {
		line += "; that was interrupted: `cmemd ingest --all --background` goes on"
	}
	a.Field("history", line)
}

// nextObserver is who is to observe once nothing waits any more; nil: nobody else.
func nextObserver(home string) *homedir.NextObserver {
	n, err := homedir.ReadNextObserver(homedir.PathsOf(home).NextObserver)
	if err != nil || n.Provider == "" {
		return nil
	}
	return &n
}

func showNextObserver(a *terminal.App, n *homedir.NextObserver) {
	if n == nil {
		return
	}
	line := n.Provider + ", once nothing waits for who observes now"
	if !n.Lives() {
		line += "; that was interrupted: `cmemd setup` goes on"
	}
	a.Field("next", line)
}

// disabledLine tells of sessions of which nothing was recorded because a variable said so.
func disabledLine(d api.DisabledStatus) string {
	return fmt.Sprintf("nothing was recorded of %s in 30 days, the last %s: CMEMD_DISABLE was set", number.Plural(d.Sessions, "session"), terminal.Moment(d.Last))
}

// leftOutLine tells which variables do not reach the daemon and whom it asks.
func leftOutLine(left []api.LeftOut) string {
	var all []config.Unheeded
	for _, one := range left {
		all = append(all, config.Unheeded{Name: one.Variable, Key: one.Setting})
	}
	return config.NameUnheeded(all) + ": settings come from " + config.FileName + " alone"
}

// A stoppedStatus is what can be told of a home without a daemon.
type stoppedStatus struct {
	Running  bool                `json:"running"`
	Home     string              `json:"home"`
	Spool    api.SpoolStatus     `json:"spool"`
	Disabled *api.DisabledStatus `json:"disabled,omitempty"`
	Aside    []homedir.AsideFile `json:"aside,omitempty"`
	Damage   *api.LogDamage      `json:"damage,omitempty"`
}

func showStopped(a *terminal.App) error {
	home, err := a.Home()
	if err != nil {
		return err
	}
	p := homedir.PathsOf(home)
	s := stoppedStatus{Home: home, Aside: p.Aside(), Damage: homedir.ReadLogDamage(p).Known()}
	if s.Spool, err = server.SpoolStatus(spool.New(home), home); err != nil {
		return err
	}
	if d, err := relay.ReadDisabled(home, a.Now()); err == nil && d.Sessions > 0 {
		s.Disabled = &api.DisabledStatus{Sessions: d.Sessions, Last: d.Last}
	}
	return a.Show(s, func() {
		a.Field("home", s.Home)
		a.Field("spool", spoolLine(s.Spool))
		if s.Disabled != nil {
			a.Field("disabled", disabledLine(*s.Disabled))
		}
		showDamage(a, s.Damage)
		if lost := p.CheckLog(); lost != nil {
			a.Field("log", terminal.Describe(lost))
			a.Field("  next", terminal.NextStep(lost))
		}
		showAside(a, s.Aside)
	})
}

func spoolLine(s api.SpoolStatus) string {
	line := fmt.Sprintf("%s waiting (%s)", number.Plural(s.Waiting, "payload"), terminal.Size(s.Bytes))
	if s.Bad > 0 {
		line += fmt.Sprintf(", %d set aside", s.Bad)
	}
	if s.Unanswered > 0 {
		line += ", " + number.Plural(s.Unanswered, "hook") + " in a row without an answer"
	}
	if s.Lost > 0 {
		line += fmt.Sprintf(", %d lost: %s", s.Lost, s.LostReason)
	}
	return line
}

func showStatus(a *terminal.App, s api.Status) {
	a.Heading("cmemd %s is %s", terminal.VisibleLine(s.Version), terminal.VisibleLine(phaseWord(s)))
	a.Field("pid", fmt.Sprintf("%d, since %s", s.PID, terminal.Moment(s.Started)))
	a.Field("home", s.Home)
	a.Field("log", fmt.Sprintf("position %d", s.Position))
	showDamage(a, s.Damage)
	a.Field("views", viewsLine(s.Views))
	if s.Vectors != nil {
		a.Field("vectors", vectorsLine(s.Vectors))
	}
	a.Field("inputs", terminal.BalanceLine(s.Inputs))
	for _, r := range s.Inputs.Reasons {
		a.Field("", fmt.Sprintf("%d %s %s", r.Count, r.Outcome, strings.Trim(r.Class+"/"+r.Reason, "/")))
	}
	if s.Inputs.Dropped > 0 {
		a.Field("", "what is dropped is kept: `cmemd reobserve --dropped --dry-run` says what asking again would take")
	}
	showProviders(a, s)
	showHealth(a, s, a.Now())
	a.Field("today", todayLine(s.Today))
	a.Field("actors", fmt.Sprintf("%d awake, %d of %d slots in use, %d queued, %d waiting for the disk",
		s.Actors.Awake, s.Actors.Turns, s.Actors.Slots, s.Actors.Queued, s.Actors.Waiting))
	a.Field("spool", spoolLine(s.Spool))
	if u := s.Unserved; u != nil {
		a.Field("address", terminal.VisibleLine(terminal.UnservedLine(*u)))
		a.Field("", terminal.VisibleLine(terminal.UnservedStep(*u)))
	}
	if line := projectsLine(s.Projects); line != "" {
		a.Field("projects", line)
	}
	for _, line := range s.Sharing {
		a.Field("machines", line)
	}
	if s.Disabled != nil {
		a.Field("disabled", disabledLine(*s.Disabled))
	}
	if len(s.LeftOut) > 0 {
		a.Field("left out", leftOutLine(s.LeftOut))
	}
	showErasure(a, s.Erasure)
	showHidden(a, s.Hidden)
	showFindings(a, s)
}

// projectsLine says what there is to decide of projects; nothing where all is as a person would expect.
func projectsLine(p api.ProjectCounts) string {
	var parts []string
	if p.Apart > 0 {
		parts = append(parts, number.Plural(p.Apart, "folder")+" kept apart from what it looks like")
	}
	if p.JoinedBefore > 0 {
		parts = append(parts, number.Plural(p.JoinedBefore, "folder")+" joined by an earlier release")
	}
	if p.Names > 0 {
		parts = append(parts, number.Plural(p.Names, "name")+" without a folder")
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": `cmemd project list`"
}

// showHidden counts what ignore files keep off the record.
func showHidden(a *terminal.App, all []api.HiddenSession) {
	if len(all) == 0 {
		return
	}
	reports := 0
	for _, h := range all {
		reports += h.Reports
	}
	a.Field("hidden", fmt.Sprintf("%s of %s, by ignore files in the last week: `cmemd ignore list`",
		number.Plural(reports, "report"), number.Plural(len(all), "session")))
}

func phaseWord(s api.Status) string {
	if s.Ready {
		return "running"
	}
	if strings.HasPrefix(s.Phase, server.StoppedPhase) {
		return "running, but " + s.Phase
	}
	return "starting (" + s.Phase + ")"
}

// stoppedLine says of a view that goes no further where it stands, and why.
func stoppedLine(v api.ViewLag) string {
	return fmt.Sprintf("%s stopped at %d, %s", v.Name, v.Position, v.Stopped)
}

// stoppedError is a daemon of which a view goes no further: it is shown, and ends with 1.
func stoppedError(s api.Status) error {
	for _, v := range s.Views {
		if v.Stopped != "" {
			return terminal.Advise(errors.New(stoppedLine(v)), "see to that; `cmemd projections rebuild` has it try at once, and what happens is captured all the same")
		}
	}
	return nil
}

// viewsLine says how far behind the views are, the furthest behind first.
func viewsLine(views []api.ViewLag) string {
	views = slices.Clone(views)
	order.By(views, func(a, b api.ViewLag) int { return int(min(b.Lag, 1<<31)) - int(min(a.Lag, 1<<31)) })
	var parts []string
	for _, v := range views {
		switch {
		case v.Stopped != "":
			parts = append(parts, terminal.VisibleLine(stoppedLine(v)))
		case v.Rebuilding:
			parts = append(parts, fmt.Sprintf("%s was damaged and is being rebuilt, %s behind", v.Name, number.Plural(v.Lag, "record")))
		case v.Lag > 0:
			parts = append(parts, fmt.Sprintf("%s is %s behind", v.Name, number.Plural(v.Lag, "record")))
		}
	}
	if len(parts) == 0 {
		return "up to date"
	}
	return strings.Join(parts, ", ")
}

// todayLine is what the day's turns cost.
func todayLine(t api.Today) string {
	return fmt.Sprintf("%s, %s, %s", number.Plural(t.Turns, "turn"), number.Plural(t.Tokens(), "token"), terminal.CostOf(t.Spent))
}
