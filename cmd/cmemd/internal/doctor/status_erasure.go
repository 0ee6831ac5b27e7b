package doctor

import (
	"fmt"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// showErasure says what retention does, what agents asked to forget, and whether something is being forgotten; nothing where neither is.
func showErasure(a *terminal.App, s *api.ErasureStatus) {
	if s == nil {
		return
	}
	if s.RetentionDays > 0 {
		line := fmt.Sprintf("inputs are erased after %s once settled; %d were", number.Plural(s.RetentionDays, "day"), s.Inputs)
		switch {
		case s.Running:
			line += ", and it is looking now"
		case !s.Looked.IsZero():
			line += ", it looked last at " + terminal.Moment(s.Looked)
		}
		a.Field("retention", line)
	}
	if s.Requests > 0 {
		a.Field("asked", fmt.Sprintf("%s of agents to forget: `cmemd forget --requests` lists them", number.Plural(s.Requests, "request")))
	}
	if s.Unfinished {
		a.Field("forgetting", "something is being erased, and not gone from all files yet")
	}
}
