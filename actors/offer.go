package actors

import (
	"github.com/cmemd/cmemd/observer"
)

// Offer is a provider that turns may be asked of.
type Offer struct {
	observer.Provider
	Mode observer.Mode // types and concepts of its observations; zero means observer.CodeMode
	Free bool          // its answers cost nothing: no budget holds it
}

func (o Offer) withDefaults() Offer {
	if len(o.Mode.Types) == 0 {
		o.Mode = observer.CodeMode()
	}
	return o
}
