package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// showInputs prints what a row was made of, page by page. With --json all of it is one document.
func showInputs(ctx context.Context, a *terminal.App, client api.Invoker, id string) error {
	var all api.Inputs
	for more := true; more; more = all.Next > 0 {
		page, err := api.InputsRoute.Call(ctx, client, api.InputsQuery{ID: id, After: all.Next})
		if err != nil {
			return err
		}
		if a.JSON {
			page.Inputs = slices.Insert(page.Inputs, 0, all.Inputs...)
		} else {
			showPage(a, page.Inputs)
		}
		all = page
	}
	return a.Report(all, func(*terminal.App) error {
		if all.Total == 0 {
			return terminal.Advise(fmt.Errorf("%w: it was made of no inputs", terminal.ErrNothing), "prompts and saved memories are not: `cmemd show` prints them")
		}
		return nil
	})
}

func showPage(a *terminal.App, inputs []recall.RawInput) {
	for _, in := range inputs {
		showInput(a, in)
	}
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
	switch {
	case in.Erased.IsWithheld():
		a.Field("withheld", withheldWords)
	case in.Erased != nil:
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

// withheldWords says where the words of a record are that this machine was not given.
const withheldWords = "the machine that recorded it keeps what it says"

// erasedWords says why the words of a record are not there any more.
func erasedWords(e *recall.Erasure) string {
	switch {
	case e == nil:
		return "erased"
	case e.Cause == "retention":
		return "erased by retention, " + terminal.Moment(e.At)
	case e.Cause == "person":
		return "forgotten, " + terminal.Moment(e.At)
	case e.IsWithheld():
		return "withheld: " + withheldWords
	}
	return "erased"
}
