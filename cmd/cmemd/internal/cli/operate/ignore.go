package operate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture/privacy"
)

const ignoreHelp = `A file named .cmemdignore keeps paths below its folder off the record, from the first moment and whoever wrote it: also one that
came with a clone. How much it hides is counted by session. Refuse sets one file aside, by the setting ignore_refused; allow has
it count again. The daemon reads its settings when it starts: ` + "`cmemd restart`" + `.`

func newIgnore(a *terminal.App) *cobra.Command {
	return terminal.Group(&cobra.Command{Use: "ignore", Short: "Say what ignore files hide, and refuse one", Long: ignoreHelp},
		newIgnoreList(a),
		newIgnoreChange(a, "refuse", "Have an ignore file count for nothing", func(all []string, file string) []string {
			if slices.Contains(all, file) {
				return all
			}
			return append(all, file)
		}),
		newIgnoreChange(a, "allow", "Have a refused ignore file count again", func(all []string, file string) []string {
			return slices.DeleteFunc(all, func(f string) bool { return f == file })
		}))
}

// ignoreList is what `cmemd ignore list` tells.
type ignoreList struct {
	Refused []string            `json:"refused"` // ignore files
	Hidden  []api.HiddenSession `json:"hidden"`  // null: no daemon could be asked
}

func newIgnoreList(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the sessions that ignore files hid in the last week, and the refused files", Args: terminal.Takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			refused, err := refusedFiles(a)
			if err != nil {
				return err
			}
			s, err := a.Status(c.Context())
			if err != nil {
				return err
			}
			found := ignoreList{Refused: refused, Hidden: s.Hidden}
			return a.Report(found, func(a *terminal.App) error { return showIgnored(a, found) })
		},
	}
}

func showIgnored(a *terminal.App, found ignoreList) error {
	l := terminal.List{Head: []string{"SESSION", "AGENT", "REPORTS", "LAST", "HIDDEN BY"}}
	for _, h := range found.Hidden {
		l.Add(a.ShownSession(h.Session), h.Agent, strconv.Itoa(h.Reports), terminal.Moment(h.At), h.File)
	}
	if len(found.Hidden) > 0 {
		a.Print(l)
	}
	for _, f := range found.Refused {
		a.Printf("refused: %s\n", terminal.VisibleLine(f))
	}
	if len(found.Hidden)+len(found.Refused) == 0 {
		a.Printf("no ignore file hid a session in the last week, and none is refused\n")
	}
	return nil
}

// refusedFiles lists the files that the setting names.
func refusedFiles(a *terminal.App) ([]string, error) {
	home, err := a.Home()
	if err != nil {
		return nil, err
	}
	l, err := config.Load(home, a.Environ)
	if err != nil {
		return nil, err
	}
	return l.Switches.Refused, nil
}

var errComma = errors.New("a path with a comma cannot stand in the list: write it into config.toml by hand")

func newIgnoreChange(a *terminal.App, use, short string, edit func(all []string, file string) []string) *cobra.Command {
	return &cobra.Command{
		Use: use + " PATH", Short: short, Long: ignoreHelp, Args: terminal.Takes(1, 1, "the path of an ignore file, or of its folder"),
		Example: "  cmemd ignore " + use + " ~/src/clone/.cmemdignore",
		RunE: func(c *cobra.Command, args []string) error {
			file, err := ignoreFile(args[0])
			if err != nil {
				return err
			}
			all, err := refusedFiles(a)
			if err != nil {
				return err
			}
			change := config.Change{Key: privacy.KeyRefused}
			if list := strings.Join(edit(slices.Clone(all), file), ","); list != "" {
				change.Value = &list
			}
			return changeConfig(c.Context(), a, []config.Change{change})
		},
	}
}

// ignoreFile is the absolute path of the ignore file that a person named, by itself or by its folder.
func ignoreFile(path string) (string, error) {
	file, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if filepath.Base(file) != privacy.IgnoreFile {
		file = filepath.Join(file, privacy.IgnoreFile)
	}
	if strings.Contains(file, ",") {
		return "", fmt.Errorf("%s: %w", file, errComma)
	}
	return file, nil
}
