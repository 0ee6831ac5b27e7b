package replay

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// life is one life of the daemon: what it went by.
type life struct {
	known   bool   // its settings are on record
	version string // of the program
	rules   session.Rules
	pause   policy.Backoff
	slots   int
	timeout time.Duration // of a turn, and of its preparation
	budget  bool          // there is one: it may hold inputs
	tokens  int64         // that a session may use; 0: no limit
	perDay  int64         // tokens that all may use in a day; 0: no limit
	routes  provider.Routes
	routed  bool     // routes are on record
	only    string   // whom alone a turn can be asked of, whatever it costs; empty: there is a choice
	bad     []string // settings that cannot be read: their defaults were taken
	clean   bool     // the life before ended in order, or there was none

	stopped bool            // this life ended in order, so far as is known
	began   events.Position // where this life begins
}

// firstLife is what is known before any daemon is on record.
func firstLife() life { return life{stopped: true, clean: true}.withSettings(nil) }

// read takes a record of the daemon's stream.
func (l *life) read(r events.Record) error {
	if r.Kind != events.KindDaemonStarted && r.Kind != events.KindDaemonStopped {
		return nil
	}
	e, err := r.Event()
	if err != nil && !errors.Is(err, events.ErrErased) {
		return fmt.Errorf("replay: prove: %w", err)
	}
	if e, ok := e.(events.DaemonStopped); ok {
		l.stopped = e.Clean
		return nil
	}
	started, _ := e.(events.DaemonStarted)
	*l = life{began: r.Position, clean: l.stopped, version: started.Version, known: len(started.Settings) > 0}.withSettings(started.Settings)
	return nil
}

// why says what may make this life's decisions look unlike what is derived.
func (l *life) why() string {
	switch {
	case !l.known:
		return "the settings of that life are not on record: the defaults were taken"
	case len(l.bad) > 0:
		return "of that life's settings these could not be read, and their defaults were taken: " + strings.Join(l.bad, ", ")
	case l.version != "":
		return "nothing on record explains it; it was recorded by version " + l.version
	}
	return "nothing on record explains it"
}

// RulesInForce returns what a daemon went by that recorded settings in DaemonStarted: the rules of sessions without the
// provider's batch limits, the waits of a provider's pauses, and the number of slots. A key that is missing, or that cannot be
// read, has its default.
func RulesInForce(settings map[string]string) (rules session.Rules, pause policy.Backoff, slots int) {
	l := life{}.withSettings(settings)
	return l.rules, l.pause, l.slots
}

// PolicyInForce returns the policy, and the numbers of it, that a daemon went by that recorded settings in DaemonStarted.
// Numbers that no live policy has are the defaults.
func PolicyInForce(settings map[string]string) (policy.Name, policy.Settings) {
	rules, pause, _ := RulesInForce(settings)
	s := policy.Settings{Restarts: rules.Restarts, Quarantine: rules.Quarantine, Pause: pause}
	if rules.Outputs == nil {
		return policy.OTPHold, s
	}
	s.Unparseable = *rules.Outputs
	return policy.Supervised, s
}

// withSettings returns l with the rules that settings make.
func (l life) withSettings(settings map[string]string) life {
	s := settingsOf{values: settings}
	quarantine, pause := policy.DefaultQuarantine(), policy.DefaultPause()
	l.rules = session.Rules{
		Restarts: policy.Restarts{
			Max: s.number("max_restarts", 0), Window: s.duration("restart_window", 0),
			MaxConsecutive: s.number("max_consecutive", 0), Base: s.duration("restart_delay", 0),
			Cap: s.duration("restart_delay_max", 0),
		},
		Quarantine: policy.Backoff{
			First: s.duration("quarantine_first", quarantine.First), Cap: s.duration("quarantine_max", quarantine.Cap),
		},
		IdleStop: s.duration("idle_stop", 0), Silence: s.duration("session_silence", 0),
		MaxAttempts: s.number("max_attempts", 0), HeldMaxInputs: s.number("held_max_inputs", 0),
		HeldMaxAge: s.duration("held_max_age", 0),
	}
	if settings["policy"] == string(policy.Supervised) {
		l.rules.Outputs = &policy.Unparseable{
			Max: s.number("max_unparseable", 0), Window: s.duration("unparseable_window", 0), Every: s.duration("unparseable_every", 0),
		}
	}
	l.pause = policy.Backoff{First: s.duration("pause_first", pause.First), Cap: s.duration("pause_max", pause.Cap)}
	l.slots = s.number("slots", 2)
	l.timeout = s.duration("turn_timeout", time.Minute)
	l.tokens = int64(s.number(policy.LimitTokensSession, 0))
	l.perDay = int64(s.number(policy.LimitTokensDay, 0))
	l.budget = s.limits(policy.LimitUSDDay, policy.LimitUSDSession) || l.tokens > 0 || l.perDay > 0
	l.routes, l.routed = RoutesInForce(settings)
	if names := l.routes.Names(); len(names) == 1 && l.tokens == 0 && l.perDay == 0 {
		l.only = names[0]
	}
	l.bad = s.bad
	return l
}

// settingsOf reads settings as they were recorded.
type settingsOf struct {
	values map[string]string
	bad    []string
}

// limits reports whether any of keys sets a limit.
func (s *settingsOf) limits(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		limit, err := strconv.ParseFloat(s.values[key], 64)
		return err == nil && limit > 0
	})
}

func (s *settingsOf) number(key string, otherwise int) int {
	text, ok := s.values[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		s.bad = append(s.bad, key)
		return otherwise
	}
	return n
}

func (s *settingsOf) duration(key string, otherwise time.Duration) time.Duration {
	text, ok := s.values[key]
	if !ok {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		s.bad = append(s.bad, key)
		return otherwise
	}
	return d
}

// unparseable is the limits of outputs as they were recorded with a decision.
func unparseable(l events.Limits) *policy.Unparseable {
	return &policy.Unparseable{Max: l.Unparseable, Window: l.Window, Every: l.Every}
}
