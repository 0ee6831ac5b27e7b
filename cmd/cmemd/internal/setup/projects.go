package setup

import (
	"context"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// openProjects writes down which projects agents may reach by their tools: those that a flag names, or that the person names when asked.
// They are asked once, where an agent is put in that does not say in which project it works.
func (x *installation) openProjects(ctx context.Context, shown []*shownInstall) error {
	names := x.withoutProject(shown)
	switch {
	case x.flags.remove || x.flags.noMCP:
		return nil
	case x.flags.projectsGiven:
		return x.setProjects(ctx, strings.Join(x.flags.projects, ","))
	case len(names) == 0 || x.knowsProjects():
		return nil
	case x.app.JSON || x.flags.yes || !terminal.IsTerminal(x.app.In):
		x.app.Infof("%s will reach no memory before `cmemd config set %s FOLDER,NAME,...` says of which projects: it does not tell where it works",
			strings.Join(names, " and "), config.KeyMCPProjects)
		return nil
	}
	answer, err := x.app.Question(ctx, "Which projects may "+strings.Join(names, " and ")+" read and write memory of? Folders or names with commas, * for all, nothing for none:")
	if err != nil || answer == "" {
		return err
	}
	return x.setProjects(ctx, answer)
}

// withoutProject are the agents that were put in and that hooks tell nothing of: nobody knows in which project one works.
func (x *installation) withoutProject(shown []*shownInstall) (titles []string) {
	for _, s := range shown {
		if s.State == installDone && !s.agent.Captures() {
			titles = append(titles, s.Title)
		}
	}
	return titles
}

// knowsProjects reports whether the person has said which projects.
func (x *installation) knowsProjects() bool {
	l, err := config.ForHome(x.app)
	return err == nil && l.From[config.KeyMCPProjects] != config.FromDefault
}

func (x *installation) setProjects(ctx context.Context, value string) error {
	p, err := config.Write(ctx, x.app, []config.Change{{Key: config.KeyMCPProjects, Value: &value}})
	if err == nil {
		x.app.Infof("%s = %s; a daemon that runs takes it when it starts anew", config.KeyMCPProjects, p.New.Values()[config.KeyMCPProjects])
	}
	return err
}
