package memory

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/redact/full"
	"github.com/cmemd/cmemd/internal/refusal"
)

const exportHelp = `Writes observations, summaries and saved memories, in the order in which they were recorded: as Markdown for people, or as JSON
lines for programs. What was superseded or forgotten is not among them.

Secrets are looked for once more, by more rules than when they were captured, and replaced by a mark. The whole log, with what
agents did, is written by ` + "`cmemd log export`" + `.`

// exportCommand is what is asked of an export.
type exportCommand struct {
	api.ExportQuery
	format string
	file   string
	force  bool
}

func newExport(a *terminal.App) *cobra.Command {
	q := exportCommand{}
	c := &cobra.Command{
		Use: "export", Short: "Write what is remembered, as Markdown or JSON lines", Long: exportHelp, Args: terminal.Takes(0, 0, ""),
		Example: "  cmemd export > memory.md\n  cmemd export --format jsonl --project . --out memory.jsonl",
	}
	c.Flags().StringVar(&q.format, "format", "md", "md or jsonl")
	c.Flags().StringVar(&q.Project, "project", "", "only this one: a folder in it, or its name")
	c.Flags().StringSliceVar(&q.Kinds, "kind", nil, "only observation, summary or memory; may be given again")
	c.Flags().StringVar(&q.file, "out", "", "write to this file, which is there only when it is whole")
	c.Flags().BoolVar(&q.force, "force", false, "with --out: replace a file that is there")
	terminal.WhenFlag(a, c, &q.Since, "since", "only what happened since")
	terminal.WhenFlag(a, c, &q.Until, "until", "only what happened before")
	terminal.NotBlank(c, "project", "kind", "since", "until")
	formats, kinds := []string{"md", "jsonl"}, []string{"observation", "summary", "memory"}
	terminal.OneOf(c, "format", formats...)
	terminal.OneOf(c, "kind", kinds...)
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if q.force && q.file == "" {
			return terminal.Misused(c, "--force needs --out")
		}
		if isFolder(q.Project) {
			if q.Project, err = filepath.Abs(q.Project); err != nil {
				return err
			}
		}
		return export(c.Context(), a, q)
	}
	return c
}

// isFolder reports whether a project is named by a folder.
func isFolder(project string) bool {
	return project == "." || project == ".." || strings.ContainsRune(project, filepath.Separator)
}

func export(ctx context.Context, a *terminal.App, q exportCommand) error {
	rules := full.New()
	if err := rules.Load(); err != nil {
		return err
	}
	write := func(w io.Writer) error {
		out, rows := bufio.NewWriter(w), 0
		err := a.Stream(ctx, func(c *client.Client) error {
			return c.ExportRows(ctx, q.ExportQuery, func(r api.Row) error {
				rows++
				if err := redactRow(rules, &r); err != nil {
					return err
				}
				if q.format == "md" && !a.JSON {
					return writeMarkdown(out, r)
				}
				return json.NewEncoder(out).Encode(r)
			})
		})
		if err != nil {
			return err
		}
		if rows == 0 {
			return fmt.Errorf("%w: no such memory", terminal.ErrNothing)
		}
		return out.Flush()
	}
	var err error
	if q.file != "" {
		err = offline.CopyTo(a, q.file, q.force, write)
	} else {
		err = write(a.Out)
	}
	if err != nil {
		return err
	}
	return damagedLog(ctx, a)
}

// damagedLog is an error where the log is known to be damaged: what its damaged records made is not in what was written.
func damagedLog(ctx context.Context, a *terminal.App) error {
	s, err := a.Status(ctx)
	if err != nil || s.Damage == nil {
		return err
	}
	return terminal.Advise(fmt.Errorf("what could be read was written: %s", refusal.DamagedAt(s.Damage.Position)), "%s", terminal.SalvageStep)
}

// redactRow takes secrets out of all that a row says. With an error nothing of it may be written.
func redactRow(rules *full.Redactor, r *api.Row) (err error) {
	plain := func(s string) string {
		out, _, failed := rules.Text(s)
		if failed != nil {
			err = failed
		}
		return out
	}
	for _, s := range []*string{
		&r.Project, &r.ProjectRoot, &r.Type, &r.TypeGiven, &r.Title, &r.Subtitle, &r.Narrative, &r.Text, &r.Request, &r.Investigated,
		&r.Learned, &r.Completed, &r.NextSteps, &r.Notes,
	} {
		*s = plain(*s)
	}
	for _, list := range []*[]string{&r.Facts, &r.Concepts, &r.FilesRead, &r.FilesModified, &r.FilesUnverified} {
		for i, s := range *list {
			(*list)[i] = plain(s)
		}
	}
	claims := func(c *events.Claim) { c.Value, c.Evidence = plain(c.Value), plain(c.Evidence) }
	for i := range r.Claims {
		claims(&r.Claims[i])
	}
	for i := range r.Checks {
		claims(&r.Checks[i].Claim)
	}
	return err
}

// writeMarkdown writes a row as a section. It returns the first error that w has had, with this row or an earlier one.
func writeMarkdown(w *bufio.Writer, r api.Row) error {
	title := flagged(titleOf(r), r.Flagged, r.IsUndone())
	fmt.Fprintf(w, "## %s\n\n- when: %s\n- id: %s\n", inline(title), r.At.UTC().Format(time.RFC3339), r.ID)
	for _, f := range [][2]string{
		{"kind", kindOf(r)}, {"project", r.Project}, {"session", sessionOf(r)}, {"imported", orNothing("from ", r.Source)},
		{"said by", string(r.Writer)},
		{"concepts", strings.Join(r.Concepts, ", ")}, {"files read", strings.Join(r.FilesRead, ", ")},
		{"files modified", strings.Join(r.FilesModified, ", ")}, {"files claimed only", strings.Join(r.FilesUnverified, ", ")},
	} {
		if f[1] != "" {
			fmt.Fprintf(w, "- %s: %s\n", f[0], inline(f[1]))
		}
	}
	for _, v := range r.Verdicts() {
		fmt.Fprintf(w, "- claim: %s\n", inline(terminal.VerdictText(v)))
	}
	writeTexts(w, r)
	_, err := w.Write(nil) // w keeps its first error
	return err
}

func writeTexts(w io.Writer, r api.Row) {
	for _, t := range r.Texts() {
		if t.Text == "" {
			continue
		}
		head := ""
		if t.Label != "" {
			head = "**" + t.Label + ":** "
		}
		fmt.Fprintf(w, "\n%s%s\n", head, escapeLines(t.Text))
	}
	for i, fact := range r.Facts {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "- %s\n", inline(fact))
	}
	fmt.Fprintln(w)
}

// inline is text on one line that is nothing but text in Markdown.
func inline(s string) string {
	return markdownMarks().Replace(strings.Join(strings.Fields(terminal.Visible(s)), " "))
}

// escapeLines returns text of several lines, none of which begins a heading, a rule or a fence.
func escapeLines(s string) string {
	lines := strings.Split(strings.TrimSpace(terminal.Visible(s)), "\n")
	for i, l := range lines {
		l = markdownMarks().Replace(strings.TrimRight(l, " "))
		t := strings.TrimLeft(l, " ")
		if slices.ContainsFunc([]string{"#", "---", "===", "```", "~~~", "***"}, func(mark string) bool { return strings.HasPrefix(t, mark) }) {
			l = `\` + t
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}

// markdownMarks keeps captured text from being markup of a page: tags, links and pictures.
func markdownMarks() *strings.Replacer {
	return strings.NewReplacer("<", "&lt;", "![", `!\[`, "](", `]\(`)
}
