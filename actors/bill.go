package actors

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// bill is b as it is recorded: at least calls requests were sent, and a model is named where it is not the one that was asked.
func (o *Offer) bill(b events.Bill, calls int) events.Bill {
	b.Calls, b.Model = max(calls, b.Calls), unless(b.Model, o.Model())
	return b
}

// formOf is the form of an output that came with a failure; empty: there is no output.
func formOf(f *observer.Failure) events.Form {
	switch {
	case f.Output.IsZero():
		return ""
	case f.Form == "":
		return events.FormXML
	}
	return f.Form
}
