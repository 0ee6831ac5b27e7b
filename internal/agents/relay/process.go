package relay

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main is a whole hook process: it carries one payload of agent from standard input to the daemon and the reply to
// standard output. What no daemon takes goes to the spool. It says nothing else and has no error to return: its caller exits 0. Inside cmemd's own observer,
// and where the person has set CMEMD_DISABLE, it does nothing. An interrupt, which a terminal sends to an agent's hooks
// too, sends the payload to the spool.
func Main(agent, version string) {
	cfg, ok := FromEnv(agent, version, os.Getenv)
	if !ok {
		return
	}
	cfg.Stdin, cfg.Stdout = os.Stdin, os.Stdout
	// Taken over, not ignored: a daemon that is started from here would inherit an ignored signal. A closed standard
	// output is then an error of the write and not the end.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	Run(ctx, cfg)
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
