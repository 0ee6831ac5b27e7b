package setup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
	"github.com/cmemd/cmemd/internal/durable"
)

// Check compares an agent's settings with what its installation left there, of which r is the record. It returns the first difference,
// with what mends it if that is known. Listens says whether the settings of cmemd name an address.
func Check(app *terminal.App, a install.Agent, r *install.Record, listens bool) error {
	f := installCommand{dryRun: true, settings: r.Method == install.MethodSettings, http: r.HTTP, noMCP: r.NoMCP}
	again := f.line(a)
	if f.http && !listens {
		return terminal.Advise(errors.New("its hooks post to the daemon, which listens at no address"),
			"`cmemd config set listen 127.0.0.1:37911`, or `%s without --http", again)
	}
	in, err := newInstallation(app, f)
	if err != nil {
		return fmt.Errorf("whether cmemd is in it as it is to be: %s", err) // without its own advice
	}
	in.options.Settings = f.settings
	if gone := a.Gone(in.machine, in.options); gone != "" {
		return terminal.Advise(fmt.Errorf("it is to run %s, which is gone", gone), "`%s`", again)
	}
	p, err := a.Install(in.machine, in.options, in.store)
	if err != nil {
		return terminal.Advise(errors.New(terminal.Describe(err)), "`%s`", again)
	}
	if err := differs(p, app.Version, r.Version, again); err != nil {
		return err
	}
	if path := firstNotRunnable(in.options.Program); path != "" {
		return terminal.Advise(fmt.Errorf("its hooks run %s, which is no program", path), "chmod 755 %s", path)
	}
	return in.checkOff(a)
}

// line is the command that installs in the same way again.
func (f installCommand) line(a install.Agent) string {
	line := "cmemd install " + a.Name
	if a.Hooks.Plugin && f.settings {
		line += " --settings"
	}
	if f.http {
		line += " --http"
	}
	if f.noMCP {
		line += " --no-mcp"
	}
	return line
}

// differs is what a plan by the cmemd of one version would change of what that of another put there, and how; nil: nothing.
func differs(p install.Plan, mine, theirs, again string) error {
	what := unlike(p)
	if what == "" {
		return nil
	}
	if order, known := terminal.CompareVersions(mine, theirs); known && order < 0 {
		return terminal.Advise(fmt.Errorf("%s: the newer cmemd %s wrote it", what, terminal.VisibleLine(theirs)),
			"`cmemd upgrade`, or run that one; `%s` goes back to what this one puts there", again)
	}
	return terminal.Advise(fmt.Errorf("%s (`%s --dry-run` shows how)", what, again), "`%s`", again)
}

// unlike says what a plan would change; empty: nothing.
func unlike(p install.Plan) string {
	switch {
	case p.Nothing():
		return ""
	case len(p.Changes) > 0:
		return p.Changes[0].Path + " does not hold what `cmemd install` puts there"
	case p.TreeDir != "":
		return p.TreeDir + " is not the plugin that `cmemd install` puts there"
	}
	return "the plugin is not installed there, or is switched off"
}

// firstNotRunnable is the first program that agents are to run and cannot; empty: they can run all.
func firstNotRunnable(p install.Program) string {
	for _, path := range []string{p.Hook[0], p.Cmemd} {
		if _, err := exec.LookPath(path); err != nil {
			return path
		}
	}
	return ""
}

// checkOff returns that an agent's settings switch hooks off; nil where they do not.
func (in *installation) checkOff(a install.Agent) error {
	if len(a.Hooks.OffSwitches) == 0 {
		return nil
	}
	path := a.HookFile(in.machine)
	text, err := durable.ReadLinked(path, install.MaxFile)
	if os.IsNotExist(err) {
		err = nil
	}
	if err = cmp.Or(err, jsonedit.Parse(text).Err()); err != nil {
		return fmt.Errorf("whether its hooks are switched on: %w", err)
	}
	for _, s := range a.Hooks.OffSwitches {
		d := jsonedit.Parse(text) // anew: a document keeps its first error, and one switch may be broken
		value, _ := d.Get(s.Path...)
		off := !s.InList && value == s.OffValue
		if list, ok := value.([]any); ok && s.InList {
			off = slices.Contains(list, s.OffValue)
		}
		if d.Err() == nil && off {
			return terminal.Advise(fmt.Errorf("%s switches its hooks off", path), "%s", s.Remedy)
		}
	}
	return nil
}
