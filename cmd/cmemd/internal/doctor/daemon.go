package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/projections/health"
)

// checkDaemon looks whether one runs, answers and does its job.
func checkDaemon(_ context.Context, x *examination) []finding {
	if s := x.status; s != nil {
		if s.Ready {
			return []finding{healthy("pid %d, since %s", s.PID, terminal.Moment(s.Started))}
		}
		if strings.HasPrefix(s.Phase, server.StoppedPhase) {
			return []finding{faulty("it goes on by itself once what is said of the views is mended; `cmemd projections rebuild` has it try at once",
				"pid %d, but %s", s.PID, terminal.VisibleLine(s.Phase))}
		}
		return []finding{note("wait a moment", "pid %d is starting: %s", s.PID, s.Phase)}
	}
	if !errors.Is(x.daemon, api.ErrNotRunning) {
		return []finding{faulty("`cmemd stop --kill`, then `cmemd start`: what it accepted is in the log", "%s", terminal.Describe(x.daemon))}
	}
	d, err := homedir.ReadDaemonFile(x.paths.Daemon)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{faulty("`cmemd start`; hooks do it too", "none runs")}
	case err != nil:
		return []finding{faulty("`cmemd start`", "none runs, and %v", err)}
	case d.Lives():
		return []finding{faulty("`cmemd stop --kill`, then `cmemd start`", "pid %d runs, and does not listen at %s", d.PID, d.Socket)}
	}
	return []finding{faulty("`cmemd start`, then `cmemd logs` for why it ended", "none runs: the last one, pid %d, ended without a word", d.PID)}
}

// checkSocket looks whether hooks reach the daemon, and nobody else does.
func checkSocket(_ context.Context, x *examination) []finding {
	info, err := os.Lstat(x.paths.Socket)
	switch {
	case errors.Is(err, fs.ErrNotExist) && x.status == nil:
		return []finding{unknown("%s is there while a daemon runs", x.paths.Socket)}
	case err != nil:
		return []finding{faulty("`cmemd restart`", "%v", err)}
	case info.Mode().Type() != os.ModeSocket:
		return []finding{faulty("move it away", "%s is in the way: it is no socket", x.paths.Socket)}
	case openToOthers(info):
		return []finding{faulty("`cmemd restart`", "others may use %s (%s)", x.paths.Socket, info.Mode().Perm())}
	case x.status == nil:
		return []finding{note("`cmemd start` makes a new one", "%s is left over", x.paths.Socket)}
	}
	return []finding{healthy("%s", x.paths.Socket)}
}

// checkAddress looks whether the daemon has the loopback address that its settings name.
func checkAddress(_ context.Context, x *examination) []finding {
	listen := x.status.Settings["listen"]
	switch u := x.status.Unserved; {
	case u != nil:
		return []finding{faulty(terminal.UnservedStep(*u), "%s", terminal.UnservedLine(*u))}
	case listen == "":
		return []finding{healthy("none is set: hooks and commands use the socket")}
	}
	return []finding{healthy("%s", listen)}
}

// checkVersion looks whether command and daemon are of one version.
func checkVersion(_ context.Context, x *examination) []finding {
	mine := x.app.Version
	if x.status == nil {
		return []finding{healthy("%s", mine)}
	}
	theirs := terminal.VisibleLine(x.status.Version)
	d, err := homedir.ReadDaemonFile(x.paths.Daemon)
	switch order, ok := terminal.CompareVersions(mine, x.status.Version); {
	case err == nil && d.OlderThan(mine), ok && order > 0:
		return []finding{faulty("`cmemd start` replaces the daemon", "%s, and the daemon is the older %s", mine, theirs)}
	case ok && order < 0:
		return []finding{note("use the cmemd that the daemon is of; `cmemd upgrade` says how this one came here", "%s, and the daemon is the newer %s", mine, theirs)}
	case x.status.Version == mine:
		return []finding{healthy("%s, as the daemon", mine)}
	}
	return []finding{note("use one of them", "%s, and the daemon is %s", mine, theirs)}
}

// maxLag is how many records behind a view may be without anybody noticing: a busy moment's worth.
const maxLag = 1000

// checkViews looks whether what is searched and injected is up to date.
func checkViews(_ context.Context, x *examination) []finding {
	var out []finding
	for _, v := range x.status.Views {
		switch {
		case v.Stopped != "":
			out = append(out, faulty("see to that; `cmemd projections rebuild` has it try at once", "%s", terminal.VisibleLine(stoppedLine(v))))
		case v.Rebuilding:
			out = append(out, note("wait a moment", "%s was damaged, and is being rebuilt: %s behind", v.Name, number.Plural(v.Lag, "record")))
		case v.Lag > maxLag:
			out = append(out, faulty("wait while it catches up; `cmemd logs` says whether it stopped, `cmemd projections rebuild` makes it anew",
				"%s is %s behind", v.Name, number.Plural(v.Lag, "record")))
		}
	}
	if len(out) == 0 {
		return []finding{healthy("%s", viewsLine(x.status.Views))}
	}
	return out
}

// checkInputs looks whether each input is accounted for.
func checkInputs(_ context.Context, x *examination) []finding {
	b := x.status.Inputs
	if b.Captured != b.Observed+b.Skipped+b.Dropped+b.Pending+b.Forgotten {
		return []finding{faulty("`cmemd log verify`, then `cmemd projections rebuild`", "the balance does not add up: %s", terminal.BalanceLine(b))}
	}
	if b.Dropped > 0 {
		return []finding{note("`cmemd outcomes --outcome dropped` lists them, `cmemd reobserve --dropped` does them again", "%s", terminal.BalanceLine(b))}
	}
	return []finding{healthy("%s", terminal.BalanceLine(b))}
}

// checkObserver tells whether the observer does its job, as far as numbers tell.
func checkObserver(_ context.Context, x *examination) []finding {
	out := found(x.status.Findings, func(f health.Finding) bool { return f.What != health.FindHeld && f.What != server.FindBudget })
	if len(out) > 0 {
		return out
	}
	says := "24 h: " + countLine(x.status.Windows.Day.Total)
	if at := x.status.Health.LastKeptAt; !at.IsZero() {
		says += fmt.Sprintf("; last kept %s ago", x.now.Sub(at).Round(time.Second))
	}
	return []finding{healthy("%s", says)}
}

// found is what is said of those findings that are wanted: wrong where the observer counts as degraded.
func found(all []health.Finding, wanted func(health.Finding) bool) []finding {
	var out []finding
	for _, f := range all {
		switch {
		case !wanted(f):
		case f.Degraded:
			out = append(out, faulty(relay.Notice(f.Do), "%s", relay.Notice(f.Says)))
		default:
			out = append(out, note(relay.Notice(f.Do), "%s", relay.Notice(f.Says)))
		}
	}
	return out
}
