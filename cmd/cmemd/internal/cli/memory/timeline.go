package memory

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

func newTimeline(a *terminal.App) *cobra.Command {
	return terminal.Asking(a, &cobra.Command{
		Use: "timeline [ID|TIME]", Short: "Show what happened around a memory or a time",
		Example: "  cmemd timeline m41\n  cmemd timeline --query \"flaky checkout test\" --before 10",
		Args:    terminal.Takes(0, 1, "an id or a time"),
	}, api.TimelineRoute, func(c *cobra.Command, q *api.TimelineQuery, args []string) error {
		if (len(args) == 1) == (q.Query != "") {
			return terminal.Misused(c, "%s needs either an id, a time, or --query", c.CommandPath())
		}
		if len(args) == 1 {
			q.Anchor = timelineStart(a, args[0])
		}
		return nil
	}, showTimeline)
}

// timelineStart is text as the daemon reads it: an id stands as it is, a time becomes RFC 3339.
func timelineStart(a *terminal.App, text string) string {
	if at, ok := terminal.ParseWhen(text, a.Now()); ok {
		return at.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
	}
	return text
}

func showTimeline(a *terminal.App, t api.Timeline) error {
	l := terminal.List{Head: []string{"ID", "WHAT", "WHEN", "", "TOKENS", "TITLE"}}
	add := func(mark string, rows ...api.Result) {
		for _, r := range rows {
			l.Add(a.ShownRow(r.ID, r.Handle), kindAndSource(a, r), terminal.Moment(r.At), mark, strconv.Itoa(r.Tokens), flagged(r.Title, r.Flagged, r.Undone))
			addParts(a, &l, r, 6)
		}
	}
	add("", t.Before...)
	if t.Anchor != nil {
		add(">", *t.Anchor)
	} else {
		l.Add("", "", terminal.Moment(t.At), ">", "", "(this moment)")
	}
	add("", t.After...)
	a.Print(l)
	return nil
}
