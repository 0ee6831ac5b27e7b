package upgrade

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/programs"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// Where releases are, for people and for the install script.
const (
	releases     = "https://github.com/cmemd/cmemd/releases"
	scriptSource = releases + "/latest/download/install.sh"
)

// originOf finds out how the program of m came here. What its own folder says goes before what its path says, that before what the
// package managers of the system say, and those before what Go recorded in it.
func originOf(ctx context.Context, m machine) origin {
	if o, ok := copyInHome(ctx, m); ok {
		return o.completed(m)
	}
	return originOfPlace(ctx, m).completed(m)
}

// originOfPlace is how a program came to a place that does not say it.
func originOfPlace(ctx context.Context, m machine) origin {
	ways := []func(context.Context, machine) (origin, bool){fromNode, fromHomebrew, fromDeb, fromRPM, fromImage, fromGo, fromClone}
	for _, of := range ways {
		if o, ok := of(ctx, m); ok {
			return o
		}
	}
	return fromArchive(m)
}

// completed is o with the program that it leaves, and without commands whose tool is not there: then they are for a person.
func (o origin) completed(m machine) origin {
	o.program = cmp.Or(o.program, m.self)
	for _, argv := range o.Commands {
		if _, err := m.lookPath(argv[0]); err != nil {
			o.Step, o.Commands = commandLine(o.Commands)+"; "+argv[0]+" is not on this PATH", nil
			break
		}
	}
	return o
}

// copyInHome is the origin of a program that is a copy in a home: a record beside it says where it came from.
func copyInHome(ctx context.Context, m machine) (origin, bool) {
	s, err := programs.ReadSource(filepath.Dir(m.self))
	switch {
	case err != nil:
		return origin{}, false
	case s.Way == programs.WayNPM:
		path := filepath.Join(s.Path, filepath.Base(m.self))
		o := npmOrigin(m, filepath.ToSlash(path))
		if o.program == "" && !o.restartsDaemon { // else another version lies in another folder
			o.program = path
		}
		return o, true
	case s.Way == programs.WayGo:
		return cloneOrigin(m), true
	case s.Way == "": // the copy follows when the one at that place is started
		m.self = filepath.Join(s.Path, filepath.Base(m.self))
		o := originOfPlace(ctx, m)
		o.program = cmp.Or(o.program, m.self)
		return o, true
	}
	return origin{
		Way: "archive", Title: "an archive that was unpacked at " + s.Path,
		Step: "unpack a newer one of " + releases + ", and run `cmemd setup` from there",
	}, true
}

func fromHomebrew(_ context.Context, m machine) (origin, bool) {
	links, formula, ok := programs.Homebrew(m.self)
	if !ok {
		return origin{}, false
	}
	return origin{
		Way: "homebrew", Title: "Homebrew", Commands: [][]string{{"brew", "update"}, {"brew", "upgrade", formula}}, program: links[0],
	}, true
}

func fromDeb(ctx context.Context, m machine) (origin, bool) {
	owner, ok := m.askManager(ctx, "dpkg-query", "--search", m.self)
	name, _, named := strings.Cut(owner, ":")
	return origin{
		Way: "deb", Title: "the Debian package " + name,
		Step: "as root: `apt-get install ./FILE.deb` with the file for this machine of " + releases + ", then `cmemd start`",
	}, ok && named
}

func fromRPM(ctx context.Context, m machine) (origin, bool) {
	owner, ok := m.askManager(ctx, "rpm", "--query", "--file", m.self)
	return origin{
		Way: "rpm", Title: "the RPM package " + owner,
		Step: "as root: `dnf install ./FILE.rpm` (or zypper) with the file for this machine of " + releases + ", then `cmemd start`",
	}, ok
}

// fromImage is a program of a container that nothing in the container brought.
func fromImage(_ context.Context, m machine) (origin, bool) {
	inside := m.exists(filepath.Join(m.root, ".dockerenv")) || m.exists(filepath.Join(m.root, "run", ".containerenv"))
	return origin{
		Way: "image", Title: "a container's image",
		Step: "pull the newer image, and start the container anew with the same volume: what is remembered is there",
	}, inside && filepath.Dir(m.self) == filepath.Join(m.root, "usr", "bin")
}

// fromGo is `go install MODULE@VERSION`: Go records the sum of a module that it fetched, and of no other.
func fromGo(_ context.Context, m machine) (origin, bool) {
	if m.build == nil || m.build.Main.Sum == "" {
		return origin{}, false
	}
	module, dir := m.build.Main.Path, filepath.Dir(m.self)
	commands := [][]string{{"go", "install", module + "/cmd/cmemd@latest", module + "/cmd/cmemd-hook@latest"}}
	if m.exists(filepath.Join(dir, "cmemd-sqlite"+programs.Ext(m.self))) { // a module of its own
		commands = append(commands, []string{"go", "install", module + "/cmd/cmemd-sqlite@latest"})
	}
	return origin{
		Way: "go", Title: "go install", Commands: commands, env: []string{"GOBIN=" + dir, "GOFLAGS="},
		newestCommand: []string{"go", "list", "-m", "-f", "{{.Version}}", module + "@latest"},
	}, true
}

// fromClone is what was built from a folder that is still there, or is of no release.
func fromClone(_ context.Context, m machine) (origin, bool) {
	if m.source != "" && !m.exists(filepath.Join(m.source, "go.mod")) {
		m.source = ""
	}
	return cloneOrigin(m), m.source != "" || !terminal.IsRelease(m.version)
}

func cloneOrigin(m machine) origin {
	o := origin{
		Way: "clone", Title: "a clone",
		Step: "in the clone: `git pull --ff-only`, `go install ./cmd/cmemd ./cmd/cmemd-hook`, then `cmemd start`",
	}
	if m.source != "" {
		o.Title = "a build of " + m.source
	}
	return o
}

// fromArchive is what nobody else brought: an archive, by the install script or by hand.
func fromArchive(m machine) origin {
	dir := filepath.Dir(m.self)
	o := origin{Way: "archive", Title: "an archive of a release, or a copy"}
	if programs.Ext(m.self) != "" {
		o.Step = "`cmemd stop`, unpack the .zip of " + releases + " over " + dir + ", then `cmemd start`"
		return o
	}
	if !m.writable(dir) {
		fetch, install := "`curl -fsSLO "+scriptSource+"`", "`sh install.sh --to "+quoted(dir)+"`"
		o.Step = "as a user who may write to " + dir + ": " + fetch + ", " + install + ", then `cmemd start`"
		return o
	}
	o.Commands = [][]string{{"curl", "-fsSL", "--proto", "=https", "-o", "install.sh", scriptSource}, {"sh", "install.sh", "--to", dir}}
	return o
}
