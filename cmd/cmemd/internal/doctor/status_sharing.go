package doctor

import (
	"context"
	"errors"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

const sharingStep = "`cmemd status --cluster` says how the machines are"

// sharingError is what keeps memory from being shared as an error; nil: nothing does.
func sharingError(says []string) error {
	if len(says) == 0 {
		return nil
	}
	return terminal.Advise(errors.New(says[0]), "%s", sharingStep)
}

// checkMachines looks whether memory is shared where this machine has joined others. Of one that has not there is nothing to say.
func checkMachines(_ context.Context, x *examination) (all []finding) {
	if x.status == nil {
		return nil
	}
	for _, line := range x.status.Sharing {
		all = append(all, faulty(sharingStep, "%s", line))
	}
	return all
}
