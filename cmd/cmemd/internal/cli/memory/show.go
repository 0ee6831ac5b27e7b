package memory

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/projections/rows"
)

func newShow(a *terminal.App) *cobra.Command {
	inputs := false
	c := &cobra.Command{
		Use: "show ID...", Short: "Show memory whole, by handles, ids or the beginnings of them", Args: terminal.Takes(1, -1, "an id"),
		Example: "  cmemd show m41\n  cmemd show m41 --inputs",
	}
	c.Flags().BoolVar(&inputs, "inputs", false, "what it was made of instead: what the tools were given, and what they printed")
	c.RunE = func(c *cobra.Command, ids []string) error {
		if inputs && len(ids) > 1 {
			return terminal.Misused(c, "--inputs takes one id, got %d", len(ids))
		}
		if inputs {
			return a.Stream(c.Context(), func(client *client.Client) error { return showInputs(c.Context(), a, client, ids[0]) })
		}
		return terminal.Answer(c.Context(), a, api.RowsRoute, api.RowsRequest{IDs: ids}, showRows)
	}
	return c
}

func showRows(a *terminal.App, found api.Rows) error {
	for i, r := range found.Rows {
		if i > 0 {
			a.Printf("\n")
		}
		showRow(a, r)
		if newer, ok := found.Newer[r.ID]; ok {
			a.Field("newer", fmt.Sprintf("later work on the same code, %s: %s", a.ShownRow(newer.ID, newer.Handle), flagged(newer.Title, newer.Flagged, newer.Undone)))
		}
		a.Field("afterwards", partsText(a, found.Later[r.ID]))
		a.Field("same prompt", partsText(a, found.Parts[r.ID]))
	}
	if len(found.Missing) > 0 {
		return fmt.Errorf("%w for %s", terminal.ErrNothing, strings.Join(found.Unfound(), ", "))
	}
	return nil
}

// partsText lists the other rows of an entry.
func partsText(a *terminal.App, parts []api.EntryPart) string {
	var lines []string
	for _, p := range parts {
		lines = append(lines, fmt.Sprintf("- %s %s: %s", a.ShownRow(p.ID, p.Handle), p.What(), flagged(p.Title, p.Flagged, p.Undone)))
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// showRow prints every field that a row has.
func showRow(a *terminal.App, r api.Row) {
	a.Heading("%s", terminal.VisibleLine(flagged(titleOf(r), r.Flagged, r.IsUndone())))
	a.Field("id", r.ID.String())
	a.Field("handle", r.Handle().String())
	a.Field("kind", kindOf(r))
	a.Field("when", terminal.Moment(r.At))
	a.Field("project", r.Project)
	a.Field("session", sessionOf(r))
	a.Field("machine", r.Machine)
	a.Field("imported", orNothing("from ", r.Source))
	a.Field("said by", string(r.Writer))
	a.Field("origin", string(r.Origin))
	a.Field("position", fmt.Sprint(r.Position))
	showState(a, r)
	for _, f := range textsOf(r) {
		a.Field(f[0], f[1])
	}
	for _, v := range r.Verdicts() {
		a.Field("claim", terminal.VerdictText(v))
	}
	for _, c := range r.Checks {
		a.Field("checked", terminal.Moment(c.At)+" "+claimText(c.Claim))
	}
}

func kindOf(r api.Row) string {
	kind := string(r.Kind)
	if r.Type != "" {
		kind += ", " + r.Type
	}
	if r.TypeGiven != "" {
		kind += fmt.Sprintf(" (%q)", r.TypeGiven)
	}
	return kind
}

func sessionOf(r api.Row) string {
	if r.Session.IsZero() {
		return r.AgentSession
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s", r.Session, r.Agent))
}

// showState says what has become of a row since it was recorded.
func showState(a *terminal.App, r api.Row) {
	switch {
	case r.Forgotten:
		a.Field("state", "forgotten")
	case r.Superseded && r.SupersededBy == r.ID:
		a.Field("state", "taken back: `cmemd undo` lets it stand again")
	case r.Superseded && r.SupersededBy != (events.ID{}):
		a.Field("state", "superseded by "+r.SupersededBy.String())
	case r.Superseded:
		a.Field("state", "superseded")
	case r.FoldedInto != (events.ID{}):
		a.Field("state", "said in "+r.FoldedInto.String())
	case r.Private:
		a.Field("state", "private: its text was not kept")
	case r.Count > 1:
		a.Field("said", number.Plural(r.Count, "time"))
	}
	if len(r.ForgetRequests) > 0 {
		a.Field("hidden", "an agent asked to forget it: `cmemd forget --requests` says more")
	}
	if r.Unseen {
		a.Field("unverified", "it names files, none of which the session touched, or lists one that nobody did")
	}
	if r.Unsupported {
		a.Field("unsupported", "nothing that was said or done bears out what it decides or says is next")
	}
	if u := r.Undone; u.Position > 0 {
		a.Field("undone", fmt.Sprintf("little or nothing is left of what it says: it was %s later in the session, `cmemd why` says by what", u.How))
	}
	switch {
	case r.Confirmed > 0:
		a.Field("confirmed", "a person vouches for it")
	case r.External():
		a.Field("outside", fmt.Sprintf("others' words were read for it, %s: `cmemd why` shows them, `cmemd confirm` vouches for it", number.Plural(len(r.Outside), "input")))
	}
}

// textsOf lists the named texts of a row in the order in which they are read.
func textsOf(r api.Row) [][2]string {
	var texts [][2]string
	for _, t := range r.Texts() {
		texts = append(texts, [2]string{strings.ReplaceAll(t.Field, "_", " "), t.Text})
	}
	return append(texts, [][2]string{
		{"facts", bullets(r.Facts)},
		{"concepts", strings.Join(r.Concepts, ", ")},
		{"read", strings.Join(r.FilesRead, "\n")},
		{"modified", strings.Join(r.FilesModified, "\n")},
		{"claimed only", strings.Join(r.FilesUnverified, "\n")},
	}...)
}

func bullets(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "- " + strings.Join(items, "\n- ") + "\n"
}

func claimText(c events.Claim) string {
	text := fmt.Sprintf("%s %s: %s", c.Kind, c.Value, c.Verdict)
	if c.Evidence != "" {
		text += " (" + c.Evidence + ")"
	}
	return text
}

// titleOf is a row's title, or what stands for one.
func titleOf(r api.Row) string {
	for _, t := range r.Titles() {
		if t = strings.TrimSpace(t); t != "" {
			line, _, _ := strings.Cut(t, "\n")
			return line
		}
	}
	if r.Kind == rows.Prompt {
		return fmt.Sprintf("prompt %d", r.Prompt)
	}
	return cmp.Or(string(r.Kind), "forgotten")
}

// orNothing is s behind before, or nothing where s is nothing.
func orNothing(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

// flagged marks a title whose row claims something that is not so, or not any more.
func flagged(title string, marked, undone bool) string {
	switch {
	case undone:
		return "[undone] " + title
	case marked:
		return "[unverified] " + title
	}
	return title
}
