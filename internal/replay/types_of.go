package replay

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// TypesOf returns the types that the observations of a provider may have in a life of the daemon that went by settings, as
// DaemonStarted recorded them; nil where they are not on record. It is asked once a life and provider.
type TypesOf func(settings map[string]string, provider string) observer.Types

// typesOr is types, or those of the code mode where there are none.
func typesOr(types observer.Types) observer.Types {
	if types == nil {
		return observer.CodeMode().TypeIDs()
	}
	return types
}

// lifeTypes knows the types in the life at hand.
type lifeTypes struct {
	of       TypesOf // nil: those of the code mode
	settings map[string]string
	known    map[string]observer.Types // by provider
}

// begin begins a life if r says so.
func (l *lifeTypes) begin(r events.Record) error {
	if r.Kind != events.KindDaemonStarted {
		return nil
	}
	e, err := eventOf(r)
	started, _ := e.(events.DaemonStarted)
	l.settings, l.known = started.Settings, nil
	return err
}

// types returns what a provider's observations may be.
func (l *lifeTypes) types(provider string) observer.Types {
	if known, ok := l.known[provider]; ok {
		return known
	}
	var types observer.Types
	if l.of != nil {
		types = l.of(l.settings, provider)
	}
	if l.known == nil {
		l.known = map[string]observer.Types{}
	}
	l.known[provider] = typesOr(types)
	return l.known[provider]
}
