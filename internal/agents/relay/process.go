package relay

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Main is a whole hook process: it carries one payload of agent from standard input to the daemon and the reply to
// standard output. What no daemon takes goes to the spool. It says nothing else and has no error to return: its caller exits 0.
// Inside cmemd's own observer it does nothing, and where the person has set CMEMD_DISABLE it counts the session. An interrupt,
// which a terminal sends to an agent's hooks too, sends the payload to the spool; one within listenAfter of the start changes
// nothing.
func Main(call Call, version string) {
	cfg, ok := FromEnv(call, version, os.Getenv)
	if !ok {
		return
	}
	cfg.Stdin, cfg.Stdout = os.Stdin, os.Stdout
	ctx, listen := interrupts()
	if start := cfg.Start; start != nil {
		cfg.Start = func(home string) error {
			listen() // a daemon that is started from here would inherit a signal that is ignored
			return start(home)
		}
	}
	Run(ctx, cfg, func(Result) { os.Exit(0) })
}

// listenAfter is when a hook begins to listen to signals. Listening takes a thread, which costs a tenth of what most hooks cost in
// all, and those have ended by then.
const listenAfter = 10 * time.Millisecond

// interrupts ignores the signals by which a hook is asked to end, so that none ends it before its payload is safe. From
// listenAfter on, or from when listen is called, they end ctx. A closed standard output is an error of the write and not the end.
func interrupts() (ctx context.Context, listen func()) {
	signal.Ignore(syscall.SIGPIPE, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, interrupt := context.WithCancel(context.Background())
	listen = sync.OnceFunc(func() {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		asked, _ := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		context.AfterFunc(asked, interrupt)
	})
	time.AfterFunc(listenAfter, listen)
	return ctx, listen
}

// A Call is the command line of a hook.
type Call struct {
	Agent string
	Home  string // of all of cmemd's files; empty: see Home
}

// ReadCall reads the arguments of a hook: [--home DIR] AGENT. It returns false for any others.
func ReadCall(args []string) (c Call, ok bool) {
	if len(args) == 3 && args[0] == "--home" && args[1] != "" {
		c.Home, args = args[1], args[2:]
	}
	if len(args) != 1 || args[0] == "" || args[0][0] == '-' {
		return Call{}, false
	}
	c.Agent = args[0]
	return c, true
}

// FromEnv returns what a hook works with, without its Stdin and Stdout: the home that it was called with, which no variable
// moves. It returns false where the hook is to do nothing: inside cmemd's own observer, and without a home. CMEMD_OBSERVER, if it
// names no run of the observer, and CMEMD_DISABLE make it a hook that only counts the session. CMEMD_NO_START keeps one that
// was called without a home from starting a daemon. A switch is on unless it is empty or "0".
func FromEnv(call Call, version string, getenv func(string) string) (Config, bool) {
	on := func(name string) bool { v := getenv(name); return v != "" && v != "0" }
	home, err := homeOf(call, getenv)
	if err != nil {
		return Config{}, false
	}
	cfg := Config{Agent: call.Agent, Home: home, Version: version, Start: StartDaemon, Disabled: on("CMEMD_DISABLE")}
	if on("CMEMD_OBSERVER") {
		if isObserverRun(home, getenv("CMEMD_OBSERVER")) {
			return Config{}, false
		}
		cfg.Disabled = true
	}
	if on("CMEMD_NO_START") && call.Home == "" {
		cfg.Start = nil
	}
	return cfg, true
}

func homeOf(call Call, getenv func(string) string) (string, error) {
	if call.Home != "" {
		return filepath.Abs(call.Home)
	}
	return Home(getenv)
}

// ObserverRuns is the folder of a home in which each child of the observer has a file, called by the run that its environment names.
func ObserverRuns(home string) string { return filepath.Join(home, "run", "claude-cli") }

// isObserverRun reports whether id is a run of the observer of home.
func isObserverRun(home, id string) bool {
	if strings.ContainsFunc(id, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		return false // a path, say
	}
	_, err := os.Lstat(filepath.Join(ObserverRuns(home), id+".run"))
	return err == nil
}
