package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/daemon"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

const configSetHelp = `Set writes settings into config.toml in CMEMD_HOME, and leaves all else that stands there as it is, comments too. A value
that is not allowed, and settings that would not go together, are refused, and nothing is written; several keys are set at
once or not at all. A list is written with commas: openai,extractive. A key of a service is never written down: NAME_key_env,
NAME_key_file and NAME_key_command say where it is. The daemon reads its settings when it starts.`

func newConfigSet(a *terminal.App) *cobra.Command {
	c := &cobra.Command{
		Use: "set KEY VALUE [KEY VALUE]...", Short: "Write settings into config.toml", Long: configSetHelp,
		Example: "  cmemd config set provider claude-cli\n  cmemd config set openai_model gpt-5-mini fallbacks openai,extractive",
		Args: func(c *cobra.Command, args []string) error {
			args, flags := withoutFlags(c, args)
			if err := c.ParseFlags(flags); err != nil {
				return c.FlagErrorFunc()(c, err)
			}
			if !wantsHelp(c) && (len(args) == 0 || len(args)%2 != 0) {
				return terminal.Misused(c, "%s needs a key and a value, or several of both", c.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completeSetting,
		RunE: func(c *cobra.Command, args []string) error {
			if wantsHelp(c) {
				return c.Help()
			}
			args, _ = withoutFlags(c, args)
			var changes []config.Change
			for pair := range slices.Chunk(args, 2) {
				changes = append(changes, config.Change{Key: pair[0], Value: &pair[1]})
			}
			return changeConfig(c.Context(), a, changes)
		},
	}
	c.Flags().SetInterspersed(false) // -5 is a value
	return c
}

// withoutFlags parts the flags of c, with values of their own, from keys and values that they stand among. A number below zero is a
// value.
func withoutFlags(c *cobra.Command, args []string) (rest, flags []string) {
	valued := false
	for _, arg := range args {
		if valued {
			flags, valued = append(flags, arg), false
			continue
		}
		number := len(arg) > 1 && strings.ContainsRune("0123456789.", rune(arg[1]))
		if strings.HasPrefix(arg, "-") && len(arg) > 1 && !number {
			f := c.Flag(strings.TrimLeft(arg, "-"))
			flags, valued = append(flags, arg), f != nil && f.NoOptDefVal == ""
			continue
		}
		rest = append(rest, arg)
	}
	return rest, flags
}

// wantsHelp reports whether c was asked for its help, behind its arguments too.
func wantsHelp(c *cobra.Command) bool {
	help, err := c.Flags().GetBool("help")
	return err == nil && help
}

func newConfigUnset(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "unset KEY...", Short: "Take settings out of config.toml, so that their defaults hold", Args: terminal.Takes(1, -1, "a key"),
		Long:              "Unset takes the lines of settings out of config.toml in CMEMD_HOME, and leaves all else that stands there as it is.",
		ValidArgsFunction: completeKey,
		RunE: func(c *cobra.Command, args []string) error {
			var changes []config.Change
			for _, key := range args {
				changes = append(changes, config.Change{Key: key})
			}
			return changeConfig(c.Context(), a, changes)
		},
	}
}

func completeKey(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var keys []string
	for _, s := range new(config.Config).Settings() {
		keys = append(keys, cobra.CompletionWithDesc(s.Key, s.Doc))
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// completeSetting completes a key, or the words that the value of the key before it may be.
func completeSetting(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args)%2 == 0 {
		return completeKey(c, args, begun)
	}
	s, err := config.SettingNamed(args[len(args)-1])
	if err != nil || s.Words == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return s.Words, cobra.ShellCompDirectiveNoFileComp
}

// A changedSetting is what `config set` and `config unset` did with a key.
type changedSetting struct {
	Key string      `json:"key"`
	Old sourcedText `json:"old"`
	New sourcedText `json:"new"`
	// Restart reports that a daemon runs with another value: it has to be stopped and started. null: none runs.
	Restart *bool `json:"restart"`
}

type sourcedText struct {
	Value  string `json:"value"`
	Source string `json:"source"`
}

// changeConfig makes changes in the settings of this home, and says what came of them.
func changeConfig(ctx context.Context, a *terminal.App, changes []config.Change) error {
	p, err := config.Write(ctx, a, changes)
	if err != nil {
		return err
	}
	all := changedSettings(ctx, a, p.Old, p.New, changes)
	p.New.TellUnheeded(a)
	if err := a.Show(all, func() { showChanges(a, all) }); err != nil || !needsRestart(all) || a.JSON || !terminal.IsTerminal(a.In) {
		return err
	}
	if agreed, err := a.AskYesNo(ctx, "Restart the daemon now?", false); err != nil || !agreed {
		return err
	}
	return daemon.Restart(ctx, a)
}

// needsRestart reports whether a daemon runs with another value than one that was set.
func needsRestart(all []changedSetting) bool {
	return slices.ContainsFunc(all, func(ch changedSetting) bool { return ch.Restart != nil && *ch.Restart })
}

// changedSettings says of each change what it did.
func changedSettings(ctx context.Context, a *terminal.App, old, now *config.Loaded, changes []config.Change) []changedSetting {
	running, _ := a.Status(ctx) // zero: none runs, or none that could tell
	var out []changedSetting
	was, is := old.Values(), now.Values()
	for _, ch := range changes {
		one := changedSetting{Key: ch.Key, Old: sourcedText{was[ch.Key], old.From[ch.Key]}, New: sourcedText{is[ch.Key], now.From[ch.Key]}}
		if value, known := running.Settings[ch.Key]; known {
			restart := value != one.New.Value
			one.Restart = &restart
		}
		out = append(out, one)
	}
	return out
}

func showChanges(a *terminal.App, all []changedSetting) {
	runs := false
	for _, ch := range all {
		a.Printf("%s: %s -> %s\n", ch.Key, ch.Old.text(), ch.New.text())
		runs = runs || ch.Restart != nil
		if config.NeedsInstall(ch.Key) && ch.Old.Value != ch.New.Value {
			a.Infof("%s stands in the settings of agents too: `cmemd install` brings it there", ch.Key)
		}
	}
	switch {
	case needsRestart(all):
		a.Infof("the daemon runs with what was set before: `cmemd restart` for it to take effect")
	case runs:
		a.Infof("the daemon runs with it already")
	default:
		a.Infof("it holds from the daemon's next start on")
	}
}

func (t sourcedText) text() string {
	return terminal.VisibleLine(fmt.Sprintf("%s (%s)", cmp.Or(t.Value, `""`), t.Source))
}
