package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// getArgs are the arguments of get.
type getArgs struct {
	IDs    []string `json:"ids" says:"handles such as m41, or ids, from search, timeline or injected memory" most:"50" each:"a handle or an id" least:"1" required:"true"`
	Inputs bool     `json:"inputs" says:"show the raw tool uses that one row was made of instead of the row"`
	After  uint64   `json:"after" says:"with inputs: the number at which the page before ended" least:"0" default:"0"`
}

func getTool() spec {
	return spec{
		name: "get", title: "Read memory whole", hints: reads(),
		description: "Read rows whole by their handles, many in one call. With inputs it shows instead what the tools behind ONE row were really given and printed.",
	}
}

func (c call) get(ctx context.Context, in getArgs) (string, error) {
	ids, err := cleanIDs(in.IDs)
	if err != nil {
		return "", err
	}
	if in.Inputs {
		if len(ids) > 1 {
			return "", &wrongArgument{"raw inputs are shown of one row at a time", "call get with one id and inputs."}
		}
		return c.inputs(ctx, ids[0], events.Position(in.After))
	}
	rows, err := api.ObservationsRoute.Call(ctx, c.cfg.Memory, api.RowsQuery{IDs: ids, After: c.known()})
	if err != nil {
		return "", err
	}
	return rowsPage(rows), nil
}

// cleanIDs is ids without what models put around them. The daemon says which are none.
func cleanIDs(given []string) (ids []string, err error) {
	for _, id := range given {
		id = strings.Trim(strings.TrimSpace(id), "`\"'#")
		if id == "" || strings.ContainsAny(id, ", \n") {
			return nil, &wrongArgument{quoted(id) + " is no id", "give each id as one string of the list."}
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// rowsPage shows as many rows as there is room for, in their order, and names the others.
func rowsPage(found api.Rows) string {
	p := newPage(projectOf(found.Rows))
	left := []string{}
	shown := 0
	for _, r := range found.Rows {
		if len(left) > 0 {
			left = append(left, handleOf(r.ID, r.Handle()))
			continue
		}
		switch text := wholeOf(r, found); {
		case p.put(text):
			shown++
		case shown == 0:
			p.putHead(text)
			shown++
			p.next(fmt.Sprintf("%s is longer than an answer may be and ends early: `cmemd show %s` in a shell prints all of it.", handleOf(r.ID, r.Handle()), handleOf(r.ID, r.Handle())))
		default:
			left = append(left, handleOf(r.ID, r.Handle()))
		}
	}
	p.head = fmt.Sprintf("%d of %d rows.", shown, len(found.Rows)+len(found.Missing))
	if len(left) > 0 {
		p.next("Left out for length; call get again with these: " + strings.Join(left, ", "))
	}
	if len(found.Missing) > 0 {
		p.next("There is nothing for these: " + oneLine(strings.Join(found.Unfound(), ", "), maxList) + ". Handles come from search, timeline and injected memory.")
	}
	if shown > 0 {
		p.next("`why` with a handle shows what a row was made of.")
	}
	return p.String()
}

// projectOf is the project that all rows are of; empty if they are of several.
func projectOf(rows []api.Row) string {
	for _, r := range rows {
		if r.Project != rows[0].Project {
			return ""
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return rows[0].Project
}

// inputsPage is how many raw inputs are asked for at once.
const inputsPage = 50

func (c call) inputs(ctx context.Context, id string, after events.Position) (string, error) {
	found, err := api.InputsRoute.Call(ctx, c.cfg.Memory, api.InputsQuery{ID: id, After: after, Limit: inputsPage})
	if err != nil {
		return "", err
	}
	p := newPage("this project")
	if found.Total == 0 {
		p.head = "It was made of no tool uses: prompts and saved memories are not. `get` without inputs reads it."
		return p.String(), nil
	}
	shown := 0
	for _, in := range found.Inputs {
		text := rawInput(in)
		if shown > 0 && weight(text) > p.room {
			break
		}
		shown++
		if !p.putHead(text) {
			p.next(fmt.Sprintf("The last input is longer than an answer may be and ends early: `cmemd show --inputs %s` in a shell prints all of it.", oneLine(id, maxWords)))
			break
		}
	}
	p.head = fmt.Sprintf("%d of the %d inputs behind %s, as they were captured.", shown, found.Total, oneLine(id, maxWords))
	if shown > 0 && (shown < len(found.Inputs) || found.Next > 0) {
		p.next(fmt.Sprintf("More: the same call with after %d.", found.Inputs[shown-1].Position))
	}
	return p.String(), nil
}
