package daemon

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
)

const serveHelp = `Serve runs the daemon until it is stopped. On a terminal it logs there, else to logs/cmemd.log in CMEMD_HOME.
` + "`cmemd start`" + ` runs it in the background.

Run by hand, it takes CMEMD_ variables as settings, over those in config.toml: CMEMD_SLOTS is slots. A daemon that a hook,
` + "`cmemd start`" + ` or the system's service starts has --no-env, and takes none.`

func newServe(a *terminal.App) *cobra.Command {
	noEnv := false
	c := &cobra.Command{
		Use: "serve", Short: "Run the daemon in the foreground", Args: terminal.Takes(0, 0, ""), Long: serveHelp,
		RunE: func(c *cobra.Command, _ []string) error { return serve(c.Context(), a, noEnv) },
	}
	c.Flags().BoolVar(&noEnv, "no-env", false, "take settings from config.toml alone")
	return c
}

// gcPercent is how much the heap grows, in percent of what is alive, before it is collected. Some 15 MB are alive, and at Go's
// own 100 the collector takes a tenth of what the daemon does under load.
const gcPercent = 200

// serve runs the daemon of this home until a signal, `cmemd stop`, or a failure ends it. With noEnv no variable is a setting.
func serve(ctx context.Context, a *terminal.App, noEnv bool) error {
	l, err := config.ForDaemon(a, noEnv)
	if err != nil {
		return err
	}
	homedir.KeepPrivate()
	p, err := homedir.Made(a)
	if err != nil {
		return err
	}
	if err := relay.WriteVariables(p.Home, l.Variables()); err != nil { // for hooks, which start the next daemon
		return err
	}
	if noEnv {
		if err := homedir.RecordUserHome(p.Home); err != nil {
			return err
		}
	}
	logger, file := newLogger(a, l.Config, p)
	defer file.Close()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := untilSignal(ctx)
	defer stop(nil)
	d, err := openDaemon(ctx, l, p, logger, a.Version, stop)
	if err != nil {
		logger.Error("cannot start", "err", err)
		return err
	}
	me := homedir.ThisProcess()
	me.Version = a.Version
	logger.Info("starting", "version", a.Version, "pid", me.PID, "home", p.Home)
	return d.run(ctx, me)
}

// untilSignal returns a context that ends with an endRequest as its cause when a signal asks the process to end. Its stop ends it
// for another cause. A hangup after that does nothing any more: a terminal that is closed sends one, and so may its shell and whoever started
// the process. Another signal of the others ends the process at once.
func untilSignal(parent context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(parent))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			signal.Ignore(syscall.SIGHUP) // before the others are as they were
			stop(endRequest(fmt.Sprintf("signal: %s", s)))
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}
