package policy

import (
	"slices"
	"time"
)

// legacyStreak is how many unparsed outputs in a row made the legacy policy respawn.
const legacyStreak = 3

// Policy is one of the nine under given settings. It is immutable and safe for concurrent use; New makes one.
type Policy struct {
	name     Name
	settings Settings
}

// New returns the policy called name under s. Its error is that of Parse or of Settings.Check.
func New(name Name, s Settings) (*Policy, error) {
	if _, err := Parse(string(name)); err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	s = s.withDefaults()
	if name == WindowOnly {
		s.Restarts = s.Restarts.windowAlone()
	}
	return &Policy{name: name, settings: s}, nil
}

// Name is the policy's name.
func (p *Policy) Name() Name { return p.name }

// State is what a policy remembers of one session's observer. The zero value is a session that was never asked. What
// it remembers of a provider is a Pause, which all sessions of that provider share.
type State struct {
	bad         int         // unparsed outputs: in a row, or in the window that began at since
	since       time.Time   // of the windowed policies
	unparseable []time.Time // since the last parsed one; none that is exempt, and young enough to count
	respawned   time.Time   // when Unparseable last earned a respawn
	restarts    history
	trips       int       // halts in a row, from 1; 0: not halted
	until       time.Time // when the halt's probe is due
}

// Delivers reports whether a turn that is due at now is given to the observer: not while it is halted or its provider
// rests. Exactly at the end of either it is, as the probe.
func (p *Policy) Delivers(s *State, provider Pause, now time.Time) bool {
	return !p.halted(s, now) && (!provider.Paused() || provider.ProbeDue(now))
}

// halted reports whether the observer is stopped and no probe may be tried at now.
func (p *Policy) halted(s *State, now time.Time) bool {
	return s.trips > 0 && (!p.name.holds() || now.Before(s.until))
}

// Probes reports whether the next turn that is delivered is the probe of a halted observer, which is started for it.
func (p *Policy) Probes(s *State) bool { return s.trips > 0 }

// RuleOnTurn rules on a turn that Delivers let through at now. If the observer was halted, the turn was its probe: it is
// started again, and released if it answered. A failure of its provider, or a refusal, says nothing of it: the next turn
// is a probe, too.
func (p *Policy) RuleOnTurn(s *State, t Turn, now time.Time) Verdict {
	if t.Failure.BlamesObserver() {
		return p.RuleOnExit(s, now)
	}
	probe := p.Probes(s)
	if probe && t.Failure == "" {
		s.trips, s.restarts = 0, history{lastSuccess: s.restarts.lastSuccess}
	}
	return Verdict{Ruling: p.rule(s, t, now), Restarted: probe}
}

func (p *Policy) rule(s *State, t Turn, now time.Time) Ruling {
	switch {
	case t.Failure == "":
		return p.decide(s, t.Output, now)
	case !p.name.holds():
		return p.decideFailed(s, t.Output, now)
	case t.Failure.BlamesTurn():
		return RuleRetry
	case t.Failure.BlamesProvider():
		return RuleHold
	}
	return "" // no class of failure that there is
}

// Pause returns what becomes of the provider's pause by a turn that was delivered at now. Only a parsed turn ends the
// doubling. A turn's own fault pauses nobody here, however often: every turn that is replayed asks about something that
// has not failed yet, and such a turn is let through at once. See Pause.Blames.
func (p *Policy) Pause(provider Pause, t Turn, now time.Time) Pause {
	switch {
	case !p.name.holds():
		return provider
	case t.Failure.BlamesTurn():
		return provider
	case t.Failure != "":
		return provider.After(t.Failure, Clamp(t.ResetsAt, now), now, p.settings.Pause)
	case t.Parsed():
		return Pause{}
	}
	return provider
}

// RuleOnOpening rules on the opening turn of an observer that was respawned. It may be respawned for it again. Its content
// is of no session's events, so that only RuleRespawn means anything to the caller.
func (p *Policy) RuleOnOpening(s *State, o Output, now time.Time) Ruling { return p.decide(s, o, now) }

// RuleOnExit rules on the end of the observer at now. While it is halted there is none to end.
func (p *Policy) RuleOnExit(s *State, now time.Time) Verdict {
	switch {
	case p.halted(s, now):
		return Verdict{Ruling: RuleNone}
	case s.trips > 0:
		p.halt(s, now)
		return Verdict{Ruling: RuleHalt, Restarted: true}
	case p.name.limits() && s.restarts.countRestart(p.settings.Restarts, now) != "":
		p.halt(s, now)
		return Verdict{Ruling: RuleHalt}
	}
	return Verdict{Ruling: RuleRestart, Restarted: true}
}

func (p *Policy) halt(s *State, now time.Time) {
	s.trips++
	s.until = now.Add(p.settings.Quarantine.Nth(s.trips))
}

// decide rules on an output by its class and disposition.
func (p *Policy) decide(s *State, o Output, now time.Time) Ruling {
	if !o.known() {
		return ""
	}
	if o.Parsed() {
		s.bad, s.unparseable = 0, nil
		s.restarts.succeed(now)
	} else if p.respawns(s, o, now) {
		s.bad, s.unparseable = 0, nil
		return RuleRespawn
	}
	switch o.Disposition {
	case Observations, Summary:
		return RuleKeep
	case Skip:
		return RuleSkip
	case Dropped:
		return RuleDrop
	}
	return ""
}

// decideFailed is decide for what arrived of a turn that failed. To a policy that believes no transport a blank output is no
// skip then: its inputs were not answered, and nobody asks for them again.
func (p *Policy) decideFailed(s *State, o Output, now time.Time) Ruling {
	ruling := p.decide(s, o, now)
	if ruling == RuleSkip && !o.Parsed() {
		return RuleDrop
	}
	return ruling
}

// respawns counts an output that did not parse, and reports whether it is one too many.
func (p *Policy) respawns(s *State, o Output, now time.Time) bool {
	switch p.name {
	case LegacyKeyword:
		s.bad++
		return o.PhraseFound || s.bad >= legacyStreak
	case Consecutive:
		s.bad++
		return s.bad >= legacyStreak
	case Windowed:
		return o.PhraseFound || p.overflows(s, o, now)
	case WindowedNoKW:
		return p.overflows(s, o, now)
	case Supervised:
		return p.earnsRespawn(s, o, now)
	}
	return false
}

// overflows counts o in the window. A sliding one reaches back from now. An anchored one that began longer than a window ago is
// replaced by one that begins now. An output exactly one window after the first is inside of either.
func (p *Policy) overflows(s *State, o Output, now time.Time) bool {
	w := p.settings.Windowed
	if slices.Contains(w.Exempt, o.Class) {
		return false
	}
	if w.Sliding {
		s.unparseable = append(withinWindow(s.unparseable, now, w.Window), now)
		return len(s.unparseable) >= w.Threshold
	}
	if s.bad == 0 || now.Sub(s.since) > w.Window {
		s.bad, s.since = 0, now
	}
	s.bad++
	return s.bad >= w.Threshold
}

// earnsRespawn counts o unless it is blank, by the rule that runs live.
func (p *Policy) earnsRespawn(s *State, o Output, now time.Time) bool {
	if o.Class == ClassIdle {
		return false
	}
	u := p.settings.Unparseable
	_, respawn := u.Decide(s.unparseable, s.respawned, now)
	if respawn {
		s.respawned = now
		return true
	}
	s.unparseable = append(withinWindow(s.unparseable, now, u.Window), now)
	return false
}

// withinWindow drops the times that are more than window old at now, in place. They ascend.
func withinWindow(times []time.Time, now time.Time, window time.Duration) []time.Time {
	n := 0
	for n < len(times) && now.Sub(times[n]) > window {
		n++
	}
	return slices.Delete(times, 0, n)
}
