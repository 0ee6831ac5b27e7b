package salvage

import (
	"fmt"

	"github.com/cmemd/cmemd/events"
)

// Why says what is known of a position, for a test that fails.
func (s *Salvage) Why(at events.Position) string {
	f := s.slots[at]
	return fmt.Sprintf("%d: %+v; the one before it %+v; last %d", at, f, s.slots[f.previous], s.Last)
}
