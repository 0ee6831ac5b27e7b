package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/process"
	"github.com/cmemd/cmemd/testkit/socket"
)

// asking is every command that asks the daemon, with arguments that it takes.
func asking(dir string) map[string][]string {
	id := uuid.Must(uuid.NewV7()).String()
	transcript := filepath.Join(dir, "t.jsonl")
	return map[string][]string{
		"api": {}, "config set": {"log_level", "debug"}, "config unset": {"log_level"}, "confirm": {id}, "context": {}, "correct": {id, "text"}, "doctor": {},
		"export": {}, "forget": {id, "--yes"}, "gain": {}, "devices": {}, "devices revoke": {"laptop", "--yes"}, "flush": {}, "invite": {}, "join": {dir}, "leave": {"--yes"}, "ignore list": {}, "ingest": {"--agent", "claude-code", transcript},
		"log backup": {filepath.Join(dir, "b.db")}, "log cat": {}, "log export": {}, "log import": {transcript}, "log stats": {}, "log tail": {"-f"}, "log verify": {},
		"outcomes": {}, "project give": {"shop", dir}, "project join": {dir}, "project list": {}, "project part": {dir},
		"projections inspect": {"outcomes"}, "projections list": {}, "projections rebuild": {}, "provider list": {}, "provider resume": {"openai"},
		"recheck": {id}, "reobserve": {"--dropped"}, "save": {"text"}, "search": {"words"}, "sessions": {}, "sessions release": {id},
		"restart": {}, "show": {id}, "start": {}, "status": {}, "stop": {}, "timeline": {id}, "token rotate": {}, "ui": {"--print"}, "undo": {id}, "usage": {}, "watch": {}, "why": {id},
		"replay": {"--policy", "all"},
	}
}

// notAsking is every other command, with the reason why no daemon makes it wait.
func notAsking() map[string]string {
	return map[string]string{
		"completion bash": "prints", "completion fish": "prints", "completion powershell": "prints", "completion zsh": "prints",
		"config check": "reads a file", "config path": "reads a file", "config show": "reads a file", "demo": "runs a daemon of its own",
		"help": "prints", "hub": "runs a program of its own, then asks as start and join do", "hook": "has the budget of a hook", "ignore allow": "writes a file", "ignore refuse": "writes a file",
		"import claude-mem": "asks once it has read a database, and only a person may", "install": "writes agents' settings", "setup": "writes agents' settings, then asks as start and context do", "uninstall": "writes agents' settings",
		"logs": "reads a file", "log begin-anew": "holds the log, or says who does", "log salvage": "holds the log, or says who does", "man": "writes files", "mcp": "asks when an agent does: internal/api/mcp", "observer compare": "reads a file of sessions",
		"observer modes": "prints", "observer test": "asks a model", "parse": "reads standard input", "serve": "is the daemon",
		"spool": "reads files", "spool retry": "moves files", "service install": "asks the system", "service status": "asks the system", "service uninstall": "asks the system",
		"token show": "reads a file", "upgrade": "runs other programs, and the new cmemd asks the daemon", "version": "prints",
	}
}

// hangingHome is a home whose daemon is this process: it listens, and never answers.
func hangingHome(t *testing.T) string {
	t.Helper()
	home := socket.Dir(t)
	p := homedir.PathsOf(home)
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", p.Socket)
	if err != nil {
		t.Skip("no such socket here:", err)
	}
	t.Cleanup(func() { l.Close() }) // what the system accepted, nobody takes
	if err := (homedir.DaemonFile{Identity: process.Identity{PID: os.Getpid(), BootID: "another"}, Socket: p.Socket}).Write(p.Daemon); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestEveryCommandBesideADaemonThatHangs runs each command of the tree that asks a daemon beside one that takes connections and
// never answers: it ends, and says what to do.
func TestEveryCommandBesideADaemonThatHangs(t *testing.T) {
	t.Parallel()
	home := hangingHome(t)
	if err := os.WriteFile(filepath.Join(home, "t.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asking, others := asking(home), notAsking()
	var running sync.WaitGroup // all at once: each waits for five seconds
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "cmemd ")
		args, asks := asking[name]
		if _, known := others[name]; !asks && !known && !c.HasSubCommands() && c.Runnable() {
			t.Errorf("%s is in neither list: does it ask the daemon?", name)
		}
		if asks {
			running.Go(func() { checkEnds(t, home, append(strings.Fields(name), args...)) })
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	a, _, _ := clitest.App()
	walk(newRoot(a))
	running.Wait()
}

// checkEnds runs one command line in this process. A command goes by its own clock: the limit here is for one that never ends.
func checkEnds(t *testing.T, home string, args []string) {
	a, out, errOut := clitest.App()
	a.In, a.Now = strings.NewReader(""), time.Now
	root := newRoot(a)
	root.SetArgs(append([]string{"--home", home}, args...))
	root.SetOut(out)
	root.SetErr(errOut)
	ctx, cancel := context.WithTimeout(t.Context(), clitest.Timeout)
	defer cancel()
	err := root.ExecuteContext(ctx)
	a.Complain(err)
	if ctx.Err() != nil {
		t.Errorf("%q waited for %s", args, clitest.Timeout)
	}
	if said := out.String() + errOut.String(); !strings.Contains(said, "cmemd stop") && !mayGoOn(args) {
		t.Errorf("%q ended with %v and said\n%s", args, err, said)
	}
}

// mayGoOn reports whether a command does its work without a daemon's word.
func mayGoOn(args []string) bool { return args[0] == "config" || args[0] == "replay" }

// TestAdviceAboutADaemonThatHangs: the error names the process.
func TestAdviceAboutADaemonThatHangs(t *testing.T) {
	t.Parallel()
	a, _, _ := clitest.App()
	a.HomeDir = hangingHome(t)
	_, err := a.Status(t.Context())
	if !errors.Is(err, api.ErrNoAnswer) || terminal.Describe(err) != "the daemon has not answered for 5s" {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"cmemd stop --kill", "cmemd start", fmt.Sprint(os.Getpid())} {
		if next := terminal.NextStep(err); !strings.Contains(next, want) {
			t.Errorf("%q does not name %q", next, want)
		}
	}
}

// TestDescribeOverdue holds an error of a deadline to a person's words.
func TestDescribeOverdue(t *testing.T) {
	t.Parallel()
	err := errors.Join(context.DeadlineExceeded)
	if got := terminal.Describe(err); got != "no answer in time" {
		t.Errorf("got %q", got)
	}
}
