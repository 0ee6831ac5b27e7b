package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// statusArgs are the arguments of status: none.
type statusArgs struct{}

func statusTool() spec {
	return spec{
		name: "status", title: "How memory is doing", hints: reads(),
		description: "Say how memory is doing: what was captured and what became of it, what is held back and why, and which project you are in. Use it when memory seems to be missing.",
	}
}

func (c call) status(ctx context.Context, _ statusArgs) (string, error) {
	st, err := api.StatusRoute.Call(ctx, c.cfg.Memory, api.NoQuery{})
	if err != nil {
		return "", err
	}
	return statusText(st, c.here), nil
}

// statusText is ours alone: no captured text is in it.
func statusText(st api.Status, place Place) string {
	var b strings.Builder
	phase := "running"
	if !st.Ready {
		phase = "starting (" + oneLine(st.Phase, 40) + ")"
	}
	fmt.Fprintf(&b, "cmemd %s is %s, its log at position %d.\n", oneLine(st.Version, 40), phase, st.Position)
	if place.Root != "" {
		fmt.Fprintf(&b, "You work in project %s, %s.\n", quoted(place.Name), quoted(place.Root))
	} else {
		b.WriteString("It is not known which project you work in: name one in each call that the user lets you reach, by the setting mcp_projects.\n")
	}
	in := st.Inputs
	fmt.Fprintf(&b, "Of %s captured: %d observed, %d skipped, %d dropped, %d pending, %d forgotten.\n",
		number.Plural(in.Captured, "input"), in.Observed, in.Skipped, in.Dropped, in.Pending, in.Forgotten)
	for _, v := range st.Views {
		if v.Lag > 0 {
			fmt.Fprintf(&b, "%s is %d records behind.\n", oneLine(v.Name, 40), v.Lag)
		}
	}
	if st.Spool.Waiting > 0 {
		fmt.Fprintf(&b, "%s of hooks wait beside the log.\n", number.Plural(st.Spool.Waiting, "payload"))
	}
	if st.Degraded != "" {
		fmt.Fprintf(&b, "Degraded: %s\n", oneLine(st.Degraded, maxFailure))
	}
	for _, f := range st.Findings {
		fmt.Fprintf(&b, "Not well: %s. To mend it: %s\n", oneLine(f.Says, maxFailure), oneLine(f.Do, maxFailure))
	}
	if len(st.Findings) == 0 && st.Degraded == "" && st.Ready {
		b.WriteString("Nothing is wrong.\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
