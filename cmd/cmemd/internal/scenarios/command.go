package scenarios

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// NewDemo returns `cmemd demo`.
func NewDemo(a *terminal.App) *cobra.Command {
	var poison, page, cluster, keep bool
	c := &cobra.Command{
		Use: "demo", Short: "Play a recorded session through a real daemon, in a temporary home",
		Long: `demo plays a bundled session of a coding agent through the hook command into a real daemon in a temporary home. In the
middle the daemon is killed; nothing is lost. Then a second session starts and is given what the first one did, a search
finds it, and why leads from a memory back to its events. It takes a few seconds and leaves nothing behind.

With --ui a browser shows the page of that daemon meanwhile, and until you end the demo with Ctrl-C.

With --poison it plays three recorded loops in which observers were respawned again and again while memory was lost: each
through replay under every policy, and each through a real daemon at high speed, under the default policy, where nothing is
lost and nothing loops.

With --cluster three machines, with homes of their own, share their memory through three stores on loopback. The store that leads
is killed with SIGKILL, and so is a machine's daemon; then each machine has what the others recorded, nothing is missing and nothing is
there twice. It takes less than half a minute and the program cmemd-hub. With --keep its files stay, to go on with.`,
		Example: "  cmemd demo\n  cmemd demo --ui\n  cmemd demo --poison\n  cmemd demo --cluster",
		Args:    terminal.Takes(0, 0, ""),
	}
	c.Flags().BoolVar(&poison, "poison", false, "play recorded loops of observers, under every policy and through a real daemon")
	c.Flags().BoolVar(&page, "ui", false, "open the page of the demo's daemon in a browser")
	c.Flags().BoolVar(&cluster, "cluster", false, "play three machines that share memory, kill a store and a machine, and count")
	c.Flags().BoolVar(&keep, "keep", false, "with --cluster: leave its files, and say how to go on with them")
	terminal.NotTogether(c, "poison", "ui", "cluster")
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case keep && !cluster:
			return terminal.Misused(c, "--keep is for --cluster: the other demos have nothing to go on with")
		case cluster:
			return perform(c.Context(), a, func(ctx context.Context) error { return playCluster(ctx, a, keep) })
		case poison:
			return perform(c.Context(), a, func(ctx context.Context) error { return playPoison(ctx, a) })
		}
		return perform(c.Context(), a, func(ctx context.Context) error { return playDemo(ctx, a, page) })
	}
	return c
}

// NewReplay returns `cmemd replay`.
func NewReplay(a *terminal.App) *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use: "replay", Short: "Run recorded turns again under other policies, and compare",
		Long: replayHelp, Example: replayExample, Args: terminal.Takes(0, 0, ""),
	}
	f.define(a, c)
	complete(c, a)
	c.RunE = func(c *cobra.Command, _ []string) error {
		plan, err := planReplay(a, c, f)
		if err != nil {
			return err
		}
		if plan.scenario != "" {
			return replayScenario(a, plan)
		}
		return offline.WithLog(c.Context(), a, func(log offline.Source) error { return replayLog(c.Context(), a, log, plan) })
	}
	return c
}
