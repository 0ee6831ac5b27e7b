package replay

import (
	"strings"

	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/setting"
)

// life is one life of the daemon: what it went by.
type life struct {
	setting.InForce           // what is on record, and the defaults of the rest
	known              bool   // its settings are on record
	version            string // of the program
	rules              session.Rules
	routes             provider.Routes // none: they are not on record
	soleProvider       string          // whom alone a turn can be asked of, whatever it costs; empty: there is a choice
	unreadableSettings []string        // settings that cannot be read: their defaults were taken
	previousClean      bool            // the life before ended in order, or there was none

	stoppedClean bool            // this life ended in order, so far as is known
	began        events.Position // where this life begins
}

// firstLife is what is known before any daemon is on record.
func firstLife() life { return life{stoppedClean: true, previousClean: true}.withSettings(nil) }

// read takes a record of the daemon's stream.
func (l *life) read(r events.Record) error {
	if r.Kind != events.KindDaemonStarted && r.Kind != events.KindDaemonStopped {
		return nil
	}
	e, err := eventOf(r)
	if err != nil {
		return err
	}
	if e, ok := e.(events.DaemonStopped); ok {
		l.stoppedClean = e.Clean
		return nil
	}
	started, _ := e.(events.DaemonStarted)
	*l = life{began: r.Position, previousClean: l.stoppedClean, version: started.Version, known: len(started.Settings) > 0}.withSettings(started.Settings)
	l.rules.Version = started.Rules
	return nil
}

// why says what may make this life's decisions look unlike what is derived.
func (l *life) why() string {
	switch {
	case !l.known:
		return "the settings of that life are not on record: the defaults were taken"
	case len(l.unreadableSettings) > 0:
		return "of that life's settings these could not be read, and their defaults were taken: " + strings.Join(l.unreadableSettings, ", ")
	case l.version != "":
		return "nothing on record explains it; it was recorded by version " + l.version
	}
	return "nothing on record explains it"
}

// withSettings returns l with what it went by if a daemon recorded settings.
func (l life) withSettings(settings map[string]string) life {
	l.InForce, l.unreadableSettings = setting.Read(settings)
	l.rules, l.routes = l.Rules(), l.Routes()
	if names := l.routes.Names(); len(names) == 1 && l.Budget.TokensSession == 0 && l.Budget.TokensDay == 0 {
		l.soleProvider = names[0]
	}
	return l
}
