package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/api"
)

func newContext(a *app) *cobra.Command {
	var q api.ContextQuery
	c := &cobra.Command{
		Use: "context", Short: "Show the memory that an agent would be given here now",
		Long: "Context shows what a session that starts in this folder would be given. Nothing is recorded of it.",
		Args: takes(0, 0, ""),
	}
	c.Flags().StringVar(&q.Project, "project", "", "its name or root; that of this folder, if not given")
	c.Flags().StringVar(&q.Session, "session", "", "as if for this session")
	c.Flags().StringVar(&q.Source, "source", "", "how the session starts: startup, clear, compact, resume")
	c.Flags().BoolVar(&q.Explain, "explain", false, "say of each row why it is in or out")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf(c, "source", q.Source, "startup", "clear", "compact", "resume"); err != nil {
			return err
		}
		if q.Project == "" {
			here, err := os.Getwd()
			if err != nil {
				return advise(err, "name the project with --project")
			}
			q.Cwd = here
		}
		return a.query(c.Context(), func(ctx context.Context, client *api.Client) error {
			answer, err := client.Context(ctx, q)
			if err != nil {
				return err
			}
			return a.showContext(answer)
		})
	}
	return c
}

func (a *app) showContext(answer api.ContextAnswer) error {
	if a.json {
		if err := a.printJSON(answer); err != nil {
			return err
		}
	}
	if !a.json && answer.Text != "" {
		a.printf("%s\n", visible(answer.Text))
		a.say("%s, %s of %s", plural(answer.Characters, "character"), plural(len(answer.IDs), "row"), visibleLine(answer.Project))
	}
	if !a.json {
		for _, line := range answer.Explain {
			a.printf("%s\n", visibleLine(line))
		}
	}
	if answer.Text == "" {
		return a.told(fmt.Errorf("%w: there is no memory of %s yet", errNothing, projectName(answer.Project)))
	}
	return nil
}

func projectName(name string) string {
	if name == "" {
		return "this project"
	}
	return name
}
