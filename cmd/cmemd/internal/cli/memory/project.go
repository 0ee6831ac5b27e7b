package memory

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

const projectHelp = `A project is the folders that share one memory. A repository's worktrees and all folders below it are one folder, which stays
what it is wherever it is moved to on its disk, and whatever is cloned or restored where it stands. Another folder that says of
itself that it is the same, by the address of its remote or by a .cmemd-project in it, is kept apart until you join the two:
what a repository says of itself is its author's word, not yours.`

func newProject(a *terminal.App) *cobra.Command {
	return terminal.Group(&cobra.Command{Use: "project", Short: "Say which folders share one memory", Long: projectHelp},
		newProjectList(a), newProjectJoin(a), newProjectPart(a), newProjectGive(a))
}

func newProjectList(a *terminal.App) *cobra.Command {
	return terminal.Asking(a, &cobra.Command{
		Use: "list", Short: "List the projects with their folders, and the names of projects that have none",
	}, api.ProjectsRoute, nil, showProjects)
}

const joinHelp = `Join has the project of a folder, this one if none is given, share the memory of another: of the one that it looks like, or of
the one that --to names. Nothing is rewritten: what was recorded in either is found in both from now on, until ` + "`cmemd project part`" + `.`

func newProjectJoin(a *terminal.App) *cobra.Command {
	var q api.JoinRequest
	c := &cobra.Command{
		Use: "join [FOLDER]", Short: "Have a folder share the memory of a project", Long: joinHelp, Args: terminal.Takes(0, 1, "one folder"),
		Example:           "  cmemd project join\n  cmemd project join ~/src/shop-2 --to ~/src/shop",
		ValidArgsFunction: completeFolder,
	}
	to := ""
	c.Flags().StringVar(&to, "to", "", "the project: one of its folders, its name, or its key; of another machine, MACHINE:FOLDER as the list shows it")
	terminal.MustComplete(c, "to", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return namesOf(c.Context(), a, func(p api.Projects) (names []string) {
			for _, one := range p.Projects {
				names = append(names, one.Name)
			}
			return names
		}), cobra.ShellCompDirectiveDefault
	})
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if q.Folder, err = folderOf(args); err != nil {
			return err
		}
		if q.Project = to; strings.ContainsRune(filepath.ToSlash(to), '/') && !isKey(to) && !strings.Contains(to, ":/") || to == "." || to == ".." {
			if q.Project, err = filepath.Abs(to); err != nil {
				return err
			}
		}
		return terminal.Answer(c.Context(), a, api.JoinRoute, q, showDecided)
	}
	return c
}

// isKey reports whether text is the key of a project, as the list shows it: it may hold slashes, and is no path.
func isKey(text string) bool {
	kind, _, ok := strings.Cut(text, ":")
	return ok && kind != "" && !strings.ContainsAny(kind, `/\.`)
}

const partHelp = `Part makes a folder, this one if none is given, a project of its own again. Its own memory stays its own; that of the folders that
it was joined with is no longer found in it, nor its own in them.`

func newProjectPart(a *terminal.App) *cobra.Command {
	return terminal.Asking(a, &cobra.Command{
		Use: "part [FOLDER]", Short: "Make a folder a project of its own", Long: partHelp, Args: terminal.Takes(0, 1, "one folder"),
		Example: "  cmemd project part ~/src/shop-2", ValidArgsFunction: completeFolder,
	}, api.PartRoute, func(_ *cobra.Command, q *api.PartRequest, args []string) (err error) {
		q.Folder, err = folderOf(args)
		return err
	}, showDecided)
}

const giveHelp = `Give makes the memory that has only the name of a project, and no folder, that of a folder: it was saved or imported under the
mere name. Before that it is found by its name alone, and no agent is given it. With --back it is nobody's again.`

func newProjectGive(a *terminal.App) *cobra.Command {
	back := false
	c := &cobra.Command{
		Use: "give NAME [FOLDER]", Short: "Give memory that has a name and no folder to a folder", Long: giveHelp,
		Args:    terminal.Takes(1, 2, "a name that `cmemd project list` shows, and the folder"),
		Example: "  cmemd project give shop .\n  cmemd project give shop --back",
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return completeFolder(c, args[1:], typed)
			}
			return namesOf(c.Context(), a, func(p api.Projects) (names []string) {
				for _, one := range p.Names {
					names = append(names, one.Name)
				}
				return names
			}), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().BoolVar(&back, "back", false, "take it back from the folder that it was given to")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		q := api.GiveRequest{Name: args[0]}
		switch {
		case back && len(args) > 1:
			return terminal.Misused(c, "--back takes it from whichever folder has it: leave the folder out")
		case !back:
			if q.Folder, err = folderOf(args[1:]); err != nil {
				return err
			}
		}
		return terminal.Answer(c.Context(), a, api.GiveRoute, q, func(a *terminal.App, done api.ProjectDecided) error {
			if done.Root == "" {
				a.Printf("what has the name %s is nobody's\n", terminal.VisibleLine(q.Name))
				return nil
			}
			a.Printf("what has the name %s is of %s\n", terminal.VisibleLine(q.Name), terminal.VisibleLine(done.Root))
			return nil
		})
	}
	return c
}

// folderOf is the folder that the arguments name, else this one.
func folderOf(args []string) (string, error) {
	named := "."
	if len(args) > 0 {
		named = args[0]
	}
	folder, err := filepath.Abs(named)
	if err != nil {
		return "", terminal.Advise(err, "name the folder by its whole path")
	}
	return folder, nil
}

func completeFolder(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completionWait is how long a shell waits for the daemon before it completes nothing.
const completionWait = 500 * time.Millisecond

// namesOf asks the daemon for projects, and completes nothing where it does not answer at once.
func namesOf(ctx context.Context, a *terminal.App, names func(api.Projects) []string) []string {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionWait)
	defer cancel()
	found, _ := terminal.Ask(ctx, a, api.ProjectsRoute, api.NoQuery{}) // a completion has nobody to tell what is wrong
	return names(found)
}

func showProjects(a *terminal.App, found api.Projects) error {
	if len(found.Projects)+len(found.Names) == 0 {
		return fmt.Errorf("%w: no projects", terminal.ErrNothing)
	}
	l := terminal.List{Head: []string{"PROJECT", "FOLDER", "LAST", "NOTE"}}
	for _, p := range found.Projects {
		for i, f := range p.Folders {
			name := p.Name
			if i > 0 {
				name = ""
			}
			l.Add(name, cmp.Or(f.Shown, f.Root), terminal.Moment(f.At), noteOf(f))
		}
	}
	if len(l.Rows) > 0 {
		a.Print(l)
	}
	if len(found.Names) == 0 {
		return nil
	}
	if len(l.Rows) > 0 {
		a.Printf("\n")
	}
	l = terminal.List{Head: []string{"NAME WITHOUT A FOLDER", "ROWS", "NOTE"}}
	for _, n := range found.Names {
		note := "found by its name alone; `cmemd project give NAME FOLDER` makes it a folder's"
		switch {
		case n.Folder != "":
			note = "given to " + n.Folder
		case len(n.Folders) > 0:
			note = "the name of " + strings.Join(n.Folders, ", ")
		}
		l.Add(n.Name, fmt.Sprint(n.Rows), note)
	}
	a.Print(l)
	return nil
}

// noteOf is what there is to say of a folder of a project.
func noteOf(f api.ProjectFolder) string {
	var notes []string
	if f.Gone {
		notes = append(notes, "gone")
	}
	if f.Decided {
		notes = append(notes, "as you said")
	}
	if f.JoinedBefore {
		notes = append(notes, "joined by an earlier release")
	}
	if len(f.LooksLike) > 0 {
		notes = append(notes, "looks like "+f.LooksLike[0]+", and is kept apart")
	}
	return strings.Join(notes, "; ")
}

func showDecided(a *terminal.App, done api.ProjectDecided) error {
	if done.Project == nil || len(done.Project.Folders) < 2 {
		a.Printf("%s is a project of its own\n", terminal.VisibleLine(done.Root))
		return nil
	}
	a.Printf("%s shares its memory with\n", terminal.VisibleLine(done.Root))
	for _, f := range done.Project.Folders {
		if f.Root != done.Root {
			a.Printf("  %s\n", terminal.VisibleLine(cmp.Or(f.Shown, f.Root)))
		}
	}
	return nil
}
