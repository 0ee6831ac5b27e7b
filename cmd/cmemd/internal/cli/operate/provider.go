package operate

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/setting"
)

func newProvider(a *terminal.App) *cobra.Command {
	return terminal.Group(&cobra.Command{Use: "provider", Short: "Say who may observe, and let a paused one be asked again"},
		newProviderList(a), newProviderResume(a))
}

func newProviderList(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the providers that are asked, in order, and what each does now", Args: terminal.Takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.Status(c.Context())
			if err != nil {
				return err
			}
			return a.Report(s.Providers, func(a *terminal.App) error { return showProviders(a, s.Providers) })
		},
	}
}

func showProviders(a *terminal.App, all []api.ProviderStatus) error {
	l := terminal.List{Head: []string{"PROVIDER", "MODEL", "STATE", "WHY", "UNTIL", "PROBES", "FIRST FOR"}}
	for _, p := range all {
		probes := ""
		if p.Probe > 0 {
			probes = strconv.Itoa(p.Probe)
		}
		l.Add(p.Name, p.Model, string(p.State), string(p.Class), terminal.Moment(p.Until), probes, strings.Join(p.Tiers, ", "))
	}
	a.Print(l)
	return nil
}

const resumeHelp = `Resume ends the pause of a provider before its time: somebody paid its bill, logged in again, or chose a model that knows
the form of an answer. It is asked at once; the next failure pauses it anew. What was dropped meanwhile stays dropped until
` + "`cmemd reobserve`" + ` asks for it.`

func newProviderResume(a *terminal.App) *cobra.Command {
	return terminal.Asking(a, &cobra.Command{
		Use: "resume NAME", Short: "Let a paused provider be asked again now", Long: resumeHelp,
		Args:    terminal.Takes(1, 1, "the name of a provider"),
		Example: "  cmemd provider resume anthropic",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return setting.ProviderNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}, api.ResumeRoute, nil, showResumed)
}

func showResumed(a *terminal.App, r api.Resumed) error {
	a.Printf("%s may be asked again\n", r.Provider)
	return nil
}
