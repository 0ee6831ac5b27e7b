package operate

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/number"
)

func newMan(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write manual pages of all commands into a folder", Args: terminal.Takes(1, 1, "a folder"),
		Long:    "Man writes a page of section 1 for each command into a folder, which it makes: cmemd.1, cmemd-search.1 and so on.",
		Example: "  cmemd man ~/.local/share/man/man1",
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			root.InitDefaultCompletionCmd()
			pages := manPages(root, a.Version)
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			var written []string
			for _, p := range pages {
				path := filepath.Join(args[0], p.name+".1")
				if err := durable.Swap(path, []byte(p.text), 0o644); err != nil {
					return err
				}
				written = append(written, path)
			}
			return a.ShowLine(written, "%s in %s\n", number.Plural(len(written), "page"), terminal.VisibleLine(args[0]))
		},
	}
}

// A manPage is the manual page of one command.
type manPage struct{ name, text string }

// manPages are the pages of c and of all commands below it.
func manPages(c *cobra.Command, version string) (pages []manPage) {
	c.InitDefaultHelpFlag()
	pages = append(pages, manPage{manName(c), manText(c, version)})
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			pages = append(pages, manPages(sub, version)...)
		}
	}
	return pages
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manText is one page in the language of man(7).
func manText(c *cobra.Command, version string) string {
	var out strings.Builder
	fmt.Fprintf(&out, ".TH %s 1 \"\" %s \"cmemd\"\n", manQuoted(strings.ToUpper(manName(c))), manQuoted("cmemd "+version))
	manSection(&out, "NAME", manName(c)+` \- `+manEscaped(c.Short))
	if c.Runnable() || c.HasSubCommands() {
		manSection(&out, "SYNOPSIS", `\fB`+manEscaped(c.UseLine())+`\fR`)
	}
	help := cmp.Or(c.Long, c.Short+".")
	manSection(&out, "DESCRIPTION", manProse(help))
	manFlags(&out, c)
	if c.Example != "" {
		manSection(&out, "EXAMPLES", ".nf\n"+manEscaped(c.Example)+"\n.fi")
	}
	if !c.HasParent() {
		manSection(&out, "EXIT CODES", manProse(terminal.ExitHelp()))
	}
	var others []string
	if c.HasParent() {
		others = append(others, manName(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			others = append(others, manName(sub))
		}
	}
	for i, name := range others {
		others[i] = `\fB` + manEscaped(name) + `\fR(1)`
	}
	if len(others) > 0 {
		manSection(&out, "SEE ALSO", strings.Join(others, ",\n"))
	}
	return out.String()
}

func manSection(out *strings.Builder, title, text string) {
	fmt.Fprintf(out, ".SH %s\n%s\n", title, text)
}

// manFlags lists a command's options.
func manFlags(out *strings.Builder, c *cobra.Command) {
	usages := strings.TrimRight(c.LocalFlags().FlagUsages()+c.InheritedFlags().FlagUsages(), "\n")
	if usages == "" {
		return
	}
	manSection(out, "OPTIONS", ".nf\n"+manEscaped(usages)+"\n.fi")
}

// manProse is a text with paragraphs; lines that are indented stay as they are.
func manProse(text string) string {
	var out []string
	verbatim := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, "  ")
		switch {
		case indented && !verbatim:
			out = append(out, ".nf")
		case verbatim && !indented:
			out = append(out, ".fi")
		}
		verbatim = indented
		if line == "" {
			out = append(out, ".PP")
			continue
		}
		out = append(out, manEscaped(line))
	}
	if verbatim {
		out = append(out, ".fi")
	}
	return strings.Join(out, "\n")
}

// manEscaped is text of which nothing is taken for a request or an escape.
func manEscaped(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, `\`, `\e`), "\n")
	for i, line := range lines {
		line = strings.ReplaceAll(line, "-", `\-`)
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

func manQuoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, "''") + `"` }
