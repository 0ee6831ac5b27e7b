package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/number"
)

// checkHome looks whether the home is a folder of this user's alone that can be written to.
func checkHome(_ context.Context, x *examination) []finding {
	info, err := os.Stat(x.paths.Home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{note("`cmemd start` makes it", "%s is not there yet", x.paths.Home)}
	case err != nil:
		return []finding{faulty("let CMEMD_HOME name a folder that this user may write to", "%v", err)}
	case !info.IsDir():
		return []finding{faulty("let CMEMD_HOME name a folder", "%s is no folder", x.paths.Home)}
	case openToOthers(info):
		return []finding{faulty("chmod 700 "+x.paths.Home, "%s can be read by others (%s)", x.paths.Home, info.Mode().Perm())}
	}
	if err := homedir.CheckParents(x.paths.Home); err != nil {
		return []finding{faulty("take that right away, or let CMEMD_HOME name another folder", "%v", err)}
	}
	f, err := os.CreateTemp(x.paths.Home, probePrefix+"*")
	if err != nil {
		return []finding{faulty("let CMEMD_HOME name a folder that this user may write to", "%v", err)}
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return []finding{faulty("look at the disk", "%v", err)}
	}
	return []finding{healthy("%s", x.paths.Home)}
}

// probePrefix begins the name of the file by which checkHome sees whether the home can be written to.
const probePrefix = ".doctor-"

// openToOthers reports whether others may do something with a file. Windows keeps that elsewhere.
func openToOthers(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// checkSettings looks whether the settings can be used.
func checkSettings(_ context.Context, x *examination) []finding {
	if x.settings == nil {
		return nil
	}
	var out []finding
	for line := range strings.Lines(x.settings.Error()) {
		out = append(out, faulty("correct it; `cmemd config show --all` lists what there is", "%s", strings.TrimSpace(line)))
	}
	return out
}

// roomyFactor is how many times the room that is kept free there should be, so that there is a warning before it runs out.
const roomyFactor = 8

// checkDisk looks whether there is room to go on.
func checkDisk(_ context.Context, x *examination) []finding {
	room, err := homedir.RoomOf(x.paths.Home, x.config.MinFreeBytes)
	switch {
	case err != nil:
		return []finding{unknown("how much room there is: %v", err)}
	case room.Full():
		return []finding{faulty("make room: nothing is captured meanwhile, hooks keep what they report in the spool", "%s", room)}
	case room.Free < roomyFactor*room.Kept:
		return []finding{note("make room before nothing is captured any more", "%s", room)}
	}
	return []finding{healthy("%s", room)}
}

const (
	minYear   = 2024        // no clock of a machine that runs this shows an earlier year
	clockSlip = time.Minute // by which clocks are set back and forth all the time
)

// checkClock looks whether the clock goes on from what the log has seen.
func checkClock(_ context.Context, x *examination) []finding {
	const mend = "set the clock: pauses, windows and dates go by it"
	if x.now.Year() < minYear {
		return []finding{faulty(mend, "it shows %s", x.now.Format(time.DateTime))}
	}
	newest, err := x.newestRecord()
	switch {
	case err != nil || newest.IsZero():
		return []finding{healthy("it shows %s; there is no record to set it beside", x.now.Format(time.DateTime))}
	case newest.Sub(x.now) > clockSlip:
		return []finding{faulty(mend, "it shows %s, and the log has a record of %s", x.now.Format(time.DateTime), newest.Local().Format(time.DateTime))}
	}
	return []finding{healthy("it shows %s, behind it the log's newest record of %s", x.now.Format(time.DateTime), newest.Local().Format(time.DateTime))}
}

// gitWait is how long git may take to say its version.
const gitWait = 5 * time.Second

// checkGit looks whether commits can be checked.
func checkGit(ctx context.Context, x *examination) []finding {
	const mend = "install git: without it no claim of a commit can be checked, and memory is kept all the same"
	path, err := x.program("git", x.config.Programs.Git)
	if err != nil {
		return []finding{note(mend, "it is not on the PATH of the daemon")}
	}
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return []finding{faulty(mend, "%s: %v", path, err)}
	}
	return []finding{healthy("%s: %s", path, strings.TrimSpace(string(out)))}
}

// program is where a daemon finds a program: as it was written down, else on the PATH that it is given.
func (x *examination) program(name, recorded string) (string, error) {
	if path := config.Program(recorded); path != "" {
		return path, nil
	}
	for _, dir := range filepath.SplitList(x.config.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// checkEnvironment tells what of the environment the daemon was not given, and which programs were written down for it.
func checkEnvironment(_ context.Context, x *examination) []finding {
	var out []finding
	left := x.config.Unheeded()
	where := "this environment"
	if x.status != nil {
		where, left = "the environment that it was started in", nil
		for _, one := range x.status.LeftOut {
			left = append(left, config.Unheeded{Name: one.Variable, Key: one.Setting})
		}
	}
	if len(left) > 0 {
		out = append(out, note("`cmemd config set KEY VALUE` where it is wanted, then `cmemd restart`",
			"of %s the daemon heeds none of these, which settings stand for: %s", where, config.NameUnheeded(left)))
	}
	p := x.config.Programs
	if p.UserHome != "" {
		if info, err := os.Stat(p.UserHome); err != nil || !info.IsDir() {
			out = append(out, note("`cmemd install` looks again", "your own folder was %s, and is not there", p.UserHome))
		}
	}
	switch {
	case p.Path == "":
		out = append(out, note("`cmemd install` writes it down", "nobody has written down where git and claude are: they are looked for where systems have them"))
	case p.Git != "" && config.Program(p.Git) == "":
		out = append(out, note("`cmemd install` looks again", "git was at %s, and is not there", p.Git))
	case p.Claude != "" && config.Program(p.Claude) == "":
		out = append(out, note("`cmemd install` looks again", "claude was at %s, and is not there", p.Claude))
	}
	return out
}

// checkSpool looks at what hooks kept because no daemon took it.
func checkSpool(_ context.Context, x *examination) []finding {
	kept := spool.New(x.paths.Home)
	waiting, bytes, err := kept.Usage()
	if err != nil {
		return []finding{faulty("see to that folder's rights", "%v", err)}
	}
	var out []finding
	if waiting > 0 {
		say := note
		mend := "wait: the daemon takes it"
		room, err := homedir.RoomOf(x.paths.Home, x.config.MinFreeBytes)
		switch {
		case x.status == nil:
			say, mend = faulty, "`cmemd start`: the daemon takes it"
		case err == nil && room.Full():
			say, mend = faulty, "make room: the daemon takes it then"
		}
		out = append(out, say(mend, "%s waiting (%s)", number.Plural(waiting, "payload"), terminal.Size(bytes)))
	}
	if bad, _, err := kept.DeadLetterUsage(); err == nil && bad > 0 {
		out = append(out, faulty("`cmemd spool` says why, `cmemd spool retry` has it try again; else delete them in "+kept.BadDir(),
			"%s set aside: the daemon could not take it", number.Plural(bad, "payload")))
	}
	return out
}

// checkHooks looks at what hooks noted of daemons that did not answer.
func checkHooks(_ context.Context, x *examination) []finding {
	u, err := relay.ReadUnanswered(x.paths.Home)
	if err != nil {
		return []finding{unknown("%v", err)}
	}
	var out []finding
	if u.Count > 0 {
		mend := "`cmemd logs` says why the daemon was late"
		if x.status == nil {
			mend = "`cmemd start`"
		}
		out = append(out, faulty(mend, "%s in a row had no answer", number.Plural(u.Count, "hook")))
	}
	if u.Lost > 0 {
		out = append(out, note("see to the disk and the rights of "+x.paths.Home+" if that goes on", "%s lost ever, the last one because: %s", number.Plural(u.Lost, "payload"), u.LostReason))
	}
	return out
}
