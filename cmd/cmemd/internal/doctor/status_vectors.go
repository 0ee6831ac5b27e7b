package doctor

import (
	"fmt"

	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/projections/vectors"
)

// vectorsLine says how far the vectors are.
func vectorsLine(st *vectors.Stats) string {
	line := fmt.Sprintf("%s of %s, by %s", number.Grouped(st.Filled), number.Grouped(st.Total), st.Model)
	if st.Refused > 0 {
		line += fmt.Sprintf("; %s refused", number.Grouped(st.Refused))
	}
	if st.Stopped != "" {
		return line + "; they stand still: " + st.Stopped
	}
	if st.Paused != "" {
		line += "; " + st.Paused
	}
	return line
}
