package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// recentInjections is how many of a session's latest injections are looked at for what was injected.
const recentInjections = 20

// maxNamedRows is how many rows' lines are told of a report that names some: a report is waited for, and agents.InjectedText learns no
// more lines than these have.
const maxNamedRows = 512

// What earlier releases gave: in the place of a summary and of a prompt of which others said all, and before handles in the place of allWays
// and fewWays.
const (
	standsBelow = "What came of it stands below."
	askedAbove  = "asked: as above"
	allWaysByID = "More: `cmemd show ID`, `cmemd search WORDS`, `cmemd timeline ID`."
	fewWaysByID = "More: `cmemd show ID`."
)

// InjectedLines returns the lines that may have been injected into a session, in every form that Context gives its rows,
// without ids and times, and the headings among them. What was forgotten is not there. Errors are ctx's and those of the views.
func (r *Recall) InjectedLines(ctx context.Context, session events.SessionID) ([]string, error) {
	list, err := r.cfg.Views.InjectionsBefore(ctx, session, 0, recentInjections)
	if err != nil {
		return nil, fmt.Errorf("recall: injected lines: %w", err)
	}
	var ids []events.ID
	seen := map[events.ID]bool{}
	for _, i := range list {
		for _, id := range i.IDs {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return r.lines(ctx, ids)
}

// InjectionsKnown is what every answer of InjectedLines that begins now knows at least: it asks the views alone, however far
// behind the index is.
func (r *Recall) InjectionsKnown() events.Position { return r.cfg.Views.Position() }

// Lines returns what InjectedLines does for the entries of handles and of the beginnings of ids, whoever was given them. What names no
// row, or more than one, is passed over. Errors are ctx's and those of the views and the log.
func (r *Recall) Lines(ctx context.Context, names ...string) ([]string, error) {
	var ids []events.ID
	for _, name := range names {
		id, err := r.Resolve(ctx, name)
		switch {
		case err == nil:
			ids = append(ids, id)
		case !slices.ContainsFunc(unnamed(), func(is error) bool { return errors.Is(err, is) }):
			return nil, fmt.Errorf("recall: lines: %w", err)
		}
	}
	rows, err := r.cfg.Views.Rows(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("recall: lines: %w", err)
	}
	entries, err := r.entriesOf(ctx, rows, moment{}) // below a prompt stand lines of others
	if err != nil {
		return nil, err
	}
	named := map[events.ID]bool{}
	for _, id := range ids {
		named[id] = true
	}
	for _, entry := range entries {
		for _, row := range entry {
			if !named[row.ID] && len(ids) < maxNamedRows {
				named[row.ID] = true
				ids = append(ids, row.ID)
			}
		}
	}
	return r.lines(ctx, ids)
}

// unnamed are the errors of Resolve that say that a text names no row.
func unnamed() []error {
	return []error{ErrNotFound, ErrNoMemory, ErrForgotten, ErrBadID, ErrAmbiguous}
}

func (r *Recall) lines(ctx context.Context, ids []events.ID) ([]string, error) {
	rows, err := r.cfg.Views.Rows(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("recall: lines: %w", err)
	}
	c := &chooser{recall: r}
	var lines []string
	for _, row := range rows {
		if row.Kind != "" && !row.Forgotten {
			lines = append(lines, c.forms(row)...)
		}
	}
	if len(lines) > 0 {
		heads := headings()
		lines = append(append(lines, heads[:]...), headFiles, allWays, fewWays, newerMeans, outsideMeans, standsBelow, strings.TrimPrefix(wentOnNotice, "- "), askedAbove, allWaysByID, fewWaysByID)
	}
	return lines, nil
}

// forms are all lines in which a row may be injected. A preference has none: a person who says it again is not an echo.
func (c *chooser) forms(row rows.Row) []string {
	if row.Stated() {
		return nil
	}
	forms := []string{c.workLine(row)}
	if row.Kind == rows.Prompt {
		forms = append(forms, c.requestLine(row))
	}
	for _, s := range statementsOf(textOf(row)) {
		text := c.words(s.text, maxWorkText)
		forms = append(forms, text, c.label(row)+c.where(row)+": "+text)
	}
	if row.Kind == rows.Summary {
		for line := range strings.Lines(c.lastSummary(row, &saidTexts{})) {
			forms = append(forms, strings.TrimPrefix(strings.TrimSpace(line), "- "))
		}
		if next := c.nextLine(row); next != "" {
			forms = append(forms, next)
		}
	}
	return forms
}
