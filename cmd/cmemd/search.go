package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/api"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/recall"
)

func newSearch(a *app) *cobra.Command {
	var q api.SearchQuery
	var kinds []string
	var asOf string
	var after uint64
	c := &cobra.Command{
		Use: "search WORDS...", Short: "Find memory by any of its words",
		Long:    "Search finds observations, summaries, saved memories and prompts that hold any of the words, the best first.\nWithout words it lists the newest.",
		Example: "  cmemd search flaky checkout test\n  cmemd search --project shop --type bugfix --since 2w\n  cmemd search --file internal/cart.go",
	}
	f := c.Flags()
	f.StringVar(&q.Project, "project", "", "its name or root")
	f.StringSliceVar(&kinds, "kind", nil, "observation, summary, memory, prompt; several with commas, or given again")
	f.StringVar(&q.Type, "type", "", "of observations: bugfix, feature, decision, ...")
	f.StringVar(&q.Concept, "concept", "", "one that stands beside it")
	f.StringVar(&q.File, "file", "", "the end of a path that it is about")
	f.StringVar(&q.Session, "session", "", "its id, ours or the agent's")
	f.StringVar(&q.Agent, "agent", "", "whose memory")
	f.IntVarP(&q.Limit, "limit", "n", 20, "how many, at most 100")
	f.IntVar(&q.Offset, "offset", 0, "how many of the best to leave out")
	f.StringVar(&asOf, "as-of", "", "what was known at this position of the log, or then: 2h, 3d, 2w ago, 2026-01-31, or RFC 3339")
	f.Uint64Var(&after, "after", 0, "wait until this position of the log is known")
	since, until := addWhen(c, "since", "not before"), addWhen(c, "until", "not after")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		q.Text, q.Kind, q.After = strings.Join(args, " "), strings.Join(kinds, ","), position(after)
		for _, kind := range kinds {
			if err := oneOf(c, "kind", kind, kindWords()...); err != nil {
				return err
			}
		}
		if q.AsOf, q.AsOfAt, err = parseAsOf(c, asOf, a.now()); err != nil {
			return err
		}
		if err := needsUpTo(c, "limit", q.Limit, recall.MaxLimit); err != nil {
			return err
		}
		if q.Since, err = since.at(c, a.now()); err != nil {
			return err
		}
		if q.Until, err = until.at(c, a.now()); err != nil {
			return err
		}
		return a.query(c.Context(), func(ctx context.Context, client *api.Client) error {
			found, err := client.Search(ctx, q)
			if err != nil {
				return err
			}
			return a.showResults(found, q)
		})
	}
	return c
}

func kindWords() []string {
	return []string{string(projections.Observation), string(projections.Summary), string(projections.Memory), string(projections.Prompt)}
}

// parseAsOf reads a position of the log from 1 on, or a time; empty is neither. The error is a usageError of c.
func parseAsOf(c *cobra.Command, text string, now time.Time) (events.Position, time.Time, error) {
	if n, err := strconv.ParseUint(text, 10, 63); text == "" || err == nil && n > 0 {
		return position(n), time.Time{}, nil
	}
	at, ok := parseWhen(text, now)
	if !ok {
		return 0, at, misused(c, "--as-of %q is no position from 1 on, and no time: write 3d for so long ago, 2026-01-31, or RFC 3339", text)
	}
	return 0, at, nil
}

func (a *app) showResults(found api.SearchResults, q api.SearchQuery) error {
	if err := a.printResults(found); err != nil {
		return err
	}
	if len(found.Results) == 0 {
		return a.told(fmt.Errorf("%w for %q", errNothing, q.Text))
	}
	if shown := q.Offset + len(found.Results); shown < found.Total {
		a.say("%d of %d; `--offset %d` shows more, `cmemd show ID` shows one whole", shown, found.Total, shown)
	}
	return nil
}

func (a *app) printResults(found api.SearchResults) error {
	if a.json {
		return a.printJSON(found)
	}
	if len(found.Results) == 0 {
		return nil
	}
	l := list{head: []string{"ID", "WHAT", "WHEN", "PROJECT", "TOKENS", "TITLE"}}
	for _, r := range found.Results {
		l.add(a.shownID(r.ID), what(r.Kind, r.Type), moment(r.At), r.Project, strconv.Itoa(r.Tokens), flagged(r.Title, r.Flagged))
	}
	return a.print(l)
}

// what is the kind of a row, or for observations their type.
func what(k projections.Kind, typ string) string {
	if k == projections.Observation && typ != "" {
		return typ
	}
	return string(k)
}

// flagged marks a title whose row claims something that is not so.
func flagged(title string, marked bool) string {
	if marked {
		return "[unverified] " + title
	}
	return title
}

// needsUpTo returns a usageError unless n is from 1 to most.
func needsUpTo(c *cobra.Command, flag string, n, most int) error {
	if n < 1 || n > most {
		return misused(c, "--%s %d: it must be from 1 to %d", flag, n, most)
	}
	return nil
}

// needsPositive returns a usageError unless n is at least 1.
func needsPositive(c *cobra.Command, flag string, n int) error {
	if n < 1 {
		return misused(c, "--%s %d: it must be at least 1", flag, n)
	}
	return nil
}
