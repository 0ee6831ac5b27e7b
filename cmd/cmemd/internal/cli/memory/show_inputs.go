package memory

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// showInputs prints what a row was made of, of which the daemon tells a page at a time.
func showInputs(ctx context.Context, a *terminal.App, client api.Invoker, id string) error {
	all, err := api.InputsRoute.Call(ctx, client, api.InputsQuery{ID: id})
	for err == nil && all.Next > 0 {
		earlier := all.Inputs
		all, err = api.InputsRoute.Call(ctx, client, api.InputsQuery{ID: id, After: all.Next})
		all.Inputs = append(earlier, all.Inputs...)
	}
	if err != nil {
		return err
	}
	return a.Report(all, func(a *terminal.App) error {
		for _, in := range all.Inputs {
			showInput(a, in)
		}
		if all.Total == 0 {
			return terminal.Advise(fmt.Errorf("%w: it was made of no inputs", terminal.ErrNothing), "prompts and saved memories are not: `cmemd show` prints them")
		}
		return nil
	})
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
