package memory

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// showInputs prints what a row was made of, page by page. With --json all of it is one document.
func showInputs(ctx context.Context, a *terminal.App, client api.Invoker, id string) error {
	var all api.Inputs
	for after, first := events.Position(0), true; first || after > 0; first = false {
		page, err := api.InputsRoute.Call(ctx, client, api.InputsQuery{ID: id, After: after})
		if err != nil {
			return err
		}
		after = page.Next
		if a.JSON {
			page.Inputs = append(all.Inputs, page.Inputs...)
			page.Next = 0
			all = page
			continue
		}
		for _, in := range page.Inputs {
			showInput(a, in)
		}
		all.Total = page.Total
	}
	if a.JSON {
		if err := a.PrintJSON(all); err != nil {
			return err
		}
	}
	if all.Total == 0 {
		return a.Reported(terminal.Advise(fmt.Errorf("%w: it was made of no inputs", terminal.ErrNothing), "prompts and saved memories are not: `cmemd show` prints them"))
	}
	return nil
}

func showInput(a *terminal.App, in recall.RawInput) {
	name := string(in.Kind)
	if in.Tool != "" {
		name += " " + in.Tool
	}
	if in.Failed {
		name += " (failed)"
	}
	a.Heading("%d  %s  %s", in.Position, terminal.Moment(in.At), terminal.VisibleLine(name))
	if in.Erased != nil {
		a.Field("erased", erasedWords(in.Erased))
	}
	a.Field("folder", in.Cwd)
	a.Field("input", in.Input)
	a.Field("output", in.Output)
	a.Field("said", in.Text)
	if in.Cut {
		a.Field("cut", "some of it was too long to be captured, or to be shown here")
	}
	a.Printf("\n")
}

// erasedWords says why the words of a record are not there any more.
func erasedWords(e *recall.Erasure) string {
	switch {
	case e == nil:
		return "erased"
	case e.Cause == "retention":
		return "erased by retention, " + terminal.Moment(e.At)
	case e.Cause == "person":
		return "forgotten, " + terminal.Moment(e.At)
	}
	return "erased"
}
