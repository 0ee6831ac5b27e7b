package config

import (
	"cmp"
	"sync"

	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/replay"
)

// TypesInForce tells the types that observations could have in each life of a daemon: those of the mode that was set, read from a home
// as it is now. Of a mode that is gone, or that cannot be read any more, it calls unread once, and takes those of the code mode. What it
// returns is safe for concurrent use.
func TypesInForce(home string, unread func(error)) replay.TypesOf {
	var mu sync.Mutex // guards modes
	code := observer.CodeMode()
	modes := map[string]observer.Types{code.ID: nil} // nil is that mode's own
	return func(settings map[string]string, provider string) observer.Types {
		mu.Lock()
		defer mu.Unlock()
		name := cmp.Or(settings["mode"], code.ID)
		types, read := modes[name]
		if read || provider == extractive.Name { // which knows the words of the code mode alone
			return types
		}
		mode, err := (&Loaded{Home: home, Config: Config{Services: Services{Mode: name}}}).LoadMode()
		if err != nil {
			unread(err)
		} else {
			types = mode.TypeIDs()
		}
		modes[name] = types
		return types
	}
}
