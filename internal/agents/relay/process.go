package relay

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Main is a whole hook process: it carries one payload of agent from standard input to the daemon and the reply to
// standard output. What no daemon takes goes to the spool. It says nothing else and has no error to return: its caller exits 0. Inside cmemd's own observer,
// and where the person has set CMEMD_DISABLE, it does nothing. An interrupt, which a terminal sends to an agent's hooks
// too, sends the payload to the spool; one within listenAfter of the start changes nothing.
func Main(agent, version string) {
	cfg, ok := FromEnv(agent, version, os.Getenv)
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
	run(ctx, cfg, func(Result) { os.Exit(0) })
}

// listenAfter is when a hook begins to listen to signals. Listening takes a thread, which costs a tenth of what most hooks cost in
// all, and those have ended by then.
const listenAfter = 10 * time.Millisecond

// interrupts ignores the signals by which a hook is told to end, so that none ends it before its payload is safe. From
// listenAfter on, or from when listen is called, they end ctx. A closed standard output is an error of the write and not the end.
func interrupts() (ctx context.Context, listen func()) {
	signal.Ignore(syscall.SIGPIPE, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, interrupt := context.WithCancel(context.Background())
	listen = sync.OnceFunc(func() {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		told, _ := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		context.AfterFunc(told, interrupt)
	})
	time.AfterFunc(listenAfter, listen)
	return ctx, listen
}

// FromEnv returns what a hook works with in an environment, without its Stdin and Stdout. It returns false where the
// hook is to do nothing: inside cmemd's own observer (CMEMD_OBSERVER), if switched off (CMEMD_DISABLE), and without a
// home. CMEMD_NO_START keeps it from starting a daemon. A switch is on unless it is empty or "0".
func FromEnv(agent, version string, getenv func(string) string) (Config, bool) {
	on := func(name string) bool { v := getenv(name); return v != "" && v != "0" }
	if on("CMEMD_OBSERVER") || on("CMEMD_DISABLE") {
		return Config{}, false
	}
	home, err := Home(getenv)
	if err != nil {
		return Config{}, false
	}
	cfg := Config{Agent: agent, Home: home, Version: version, Start: StartDaemon}
	if on("CMEMD_NO_START") {
		cfg.Start = nil
	}
	return cfg, true
}
