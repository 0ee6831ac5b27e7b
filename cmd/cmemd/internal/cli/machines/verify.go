package machines

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// Verify has the daemon check all that the store holds, and reports it.
func Verify(ctx context.Context, a *terminal.App) error {
	if _, err := joined(ctx, a); err != nil {
		return err
	}
	return terminal.Await(ctx, a, api.ClusterVerifyRoute, "verifying", api.NoQuery{}, showVerified)
}

func showVerified(a *terminal.App, v api.ClusterVerified) error {
	wrong := len(v.Problems)
	for _, log := range v.Logs {
		name := terminal.VisibleLine(log.Machine)
		if log.Own {
			name += ", this machine"
		}
		if log.Problem != "" {
			wrong++
			a.Printf("%s: well up to record %d of %d: %s\n", name, log.Checked, log.Last, terminal.VisibleLine(log.Problem))
			continue
		}
		a.Printf("%s: %s in %s, signed and linked\n", name, number.Plural(log.Checked, "record"), number.Plural(log.Segments, "segment"))
	}
	for _, problem := range v.Problems {
		a.Printf("%s\n", terminal.VisibleLine(problem))
	}
	if v.OK {
		return nil
	}
	return terminal.Advise(fmt.Errorf("%s with what the machines share", number.Plural(wrong, "thing")+" is not well"),
		"what the store lost is sent again by the machine whose log it is, while that is in the space; a log that two homes write, or that of a machine "+
			"which was taken out, stays as it is. `cmemd status --cluster` says more")
}
