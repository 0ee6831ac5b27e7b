package memory

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/rows"
)

// A searched is what the flags of search ask for.
type searched struct {
	query   api.SearchQuery
	kinds   []string
	asOf    string
	after   uint64
	recency int
}

func newSearch(a *terminal.App) *cobra.Command {
	var s searched
	c := &cobra.Command{
		Use: "search WORDS...", Short: "Find memory by any of its words",
		Long: "Search finds observations, summaries, saved memories and prompts that hold any of the words, the best first.\n" +
			"Without words it lists the newest.",
		Example: "  cmemd search flaky checkout test\n  cmemd search --project shop --type bugfix --since 2w\n" +
			"  cmemd search --file internal/cart.go --sort oldest\n  cmemd search --facets lock",
	}
	s.flags(a, c)
	c.RunE = func(c *cobra.Command, args []string) error {
		s.query.Text, s.query.Kind, s.query.After = strings.Join(args, " "), strings.Join(s.kinds, ","), events.Position(s.after)
		return terminal.Answer(c.Context(), a, api.SearchRoute, s.query, func(a *terminal.App, found api.SearchResults) error {
			return showResults(a, found, s.query)
		})
	}
	return c
}

func (s *searched) flags(a *terminal.App, c *cobra.Command) {
	f, q := c.Flags(), &s.query
	terminal.ProjectFlag(c, &q.Project, "", "")
	f.StringSliceVar(&s.kinds, "kind", nil, "observation, summary, memory, prompt; several with commas, or given again")
	f.StringVar(&q.Type, "type", "", "of observations: bugfix, feature, decision, ...")
	f.StringVar(&q.Concept, "concept", "", "one that stands beside it")
	f.StringVar(&q.File, "file", "", "the end of a path that it is about, or of a folder's; or an absolute path")
	f.StringVar(&q.Session, "session", "", "its id, ours or the agent's")
	f.StringVar(&q.Agent, "agent", "", "whose memory")
	f.StringVar(&q.Sort, "sort", "", "relevance, newest, oldest")
	f.IntVar(&s.recency, "recency", 0, "per cent that the newest is worth above the very old; 0: age does not count (default: search_recency)")
	f.BoolVar(&q.Facets, "facets", false, "count what matches, by words or by meaning, by project, type, concept, file and month")
	f.BoolVar(&q.Explain, "explain", false, "say of each result why it stands where it stands")
	f.IntVarP(&q.Limit, "limit", "n", 20, "how many, at most 100")
	f.IntVar(&q.Offset, "offset", 0, "how many of the best to leave out")
	f.StringVar(&s.asOf, "as-of", "", "what was known at this position of the log, or then: 2h, 3d, 2w ago, 2026-01-31, or RFC 3339")
	f.Uint64Var(&s.after, "after", 0, "wait until this position of the log is known")
	terminal.OneOf(c, "kind", rows.Observation, rows.Summary, rows.Memory, rows.Prompt)
	terminal.OneOf(c, "sort", api.Words(api.SearchQuery{}, "sort")...)
	terminal.Check(c, func() error { return s.read(c, a.Now()) })
	terminal.UpTo(c, "limit", api.Most(api.SearchQuery{}, "limit"))
	terminal.WhenFlag(a, c, &q.Since, "since", "not before")
	terminal.WhenFlag(a, c, &q.Until, "until", "not after")
}

// read takes over what has a form of its own.
func (s *searched) read(c *cobra.Command, now time.Time) (err error) {
	q := &s.query
	if c.Flags().Changed("recency") {
		most := api.Most(*q, "recency")
		if q.Recency = &s.recency; s.recency < 0 || s.recency > most {
			return terminal.Misused(c, "--recency %d: it must be from 0 to %d", s.recency, most)
		}
	}
	q.AsOf, err = parseAsOf(c, s.asOf, now)
	return err
}

// parseAsOf reads a position of the log from 1 on, or a time; empty is now. The error is a UsageError of c.
func parseAsOf(c *cobra.Command, text string, now time.Time) (api.Moment, error) {
	if n, err := strconv.ParseUint(text, 10, 63); text == "" || err == nil && n > 0 {
		return api.Moment{Position: events.Position(n)}, nil
	}
	at, ok := terminal.ParseWhen(text, now)
	if !ok {
		return api.Moment{}, terminal.Misused(c, "--as-of %q is no position from 1 on, and no time: write 3d for so long ago, 2026-01-31, or RFC 3339", text)
	}
	return api.Moment{Time: at}, nil
}

func showResults(a *terminal.App, found api.SearchResults, q api.SearchQuery) error {
	if found.Note != "" {
		a.Say("%s", terminal.VisibleLine(found.Note))
	}
	printResults(a, found)
	if len(found.Results) == 0 {
		return fmt.Errorf("%w for %q", terminal.ErrNothing, q.Text)
	}
	if shown := q.Offset + len(found.Results); shown < found.Total {
		a.Say("%d of %d; `--offset %d` shows more, `cmemd show ID` shows one whole", shown, found.Total, shown)
	}
	return nil
}
