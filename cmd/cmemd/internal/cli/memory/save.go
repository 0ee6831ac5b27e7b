package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/setting"
)

// maxSaved bounds what is read from standard input as one memory; the daemon takes no more than this of any request.
const maxSaved = 1 << 20

func newSave(a *terminal.App) *cobra.Command {
	var m api.Memory
	c := &cobra.Command{
		Use: "save TEXT|-", Short: "Remember something by hand", Args: terminal.TakesWords(1, -1, "a text, or - for standard input"),
		Example: "  cmemd save \"Releases are cut on Tuesdays\" --type decision\n  git log -1 --format=%B | cmemd save - --title \"why we pinned the driver\"",
	}
	c.Flags().StringVar(&m.Title, "title", "", "in one line; else the beginning of the text")
	terminal.ProjectFlag(c, &m.Project, "its name, or any folder of it; that of this folder, if not given")
	c.Flags().StringVar(&m.Type, "type", "", "bugfix, feature, decision, discovery, ...")
	c.Flags().StringVar(&m.Session, "session", "", "the session that it is of")
	c.Flags().StringSliceVar(&m.Concepts, "concept", nil, "a concept beside it; may be given again")
	c.Flags().StringSliceVar(&m.Files, "file", nil, "a file that it is about; may be given again")
	c.Flags().StringVar(&m.Supersedes, "supersedes", "", "the memory whose place it takes, as cmemd correct does")
	terminal.WhenFlag(a, c, &m.At, "at", "when it was true")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if m.Text, err = textOf(a, args); err != nil {
			return err
		}
		if m.Supersedes == "" || m.Project != "" { // else it is of the project of what it corrects
			if err := setProject(&m); err != nil {
				return err
			}
		}
		return save(c.Context(), a, m)
	}
	return c
}

// textOf is what the arguments say, or what standard input does if they are "-".
func textOf(a *terminal.App, args []string) (string, error) {
	text := strings.Join(args, " ")
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(a.In, maxSaved+1))
		if err != nil {
			return "", fmt.Errorf("read standard input: %w", err)
		}
		if len(b) > maxSaved {
			return "", fmt.Errorf("standard input is longer than %s", setting.FormatBytes(maxSaved))
		}
		text = string(b)
	}
	if strings.TrimSpace(text) == "" {
		return "", errors.New("there is nothing to save: the text is empty")
	}
	return text, nil
}

// setProject fills in the project that m belongs to: that of the folder which --project names, else that of this folder; a
// mere name stands as it is.
func setProject(m *api.Memory) error {
	folder := m.Project
	switch {
	case m.Project == "":
		here, err := os.Getwd()
		if err != nil {
			return terminal.Advise(err, "name the project with --project")
		}
		folder = here
	case !filepath.IsAbs(m.Project):
		return nil
	}
	p := evidence.ProjectOf(folder)
	m.Project, m.ProjectRoot = p.Name, p.Root
	return nil
}

// save has a memory saved and says where it went.
func save(ctx context.Context, a *terminal.App, m api.Memory) error {
	return terminal.Answer(ctx, a, api.SaveRoute, m, func(a *terminal.App, saved api.Saved) error {
		a.Printf("%s\n", a.ShownRow(saved.ID, saved.Handle))
		return nil
	})
}
