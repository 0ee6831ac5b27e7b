package setting

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/internal/observer/extractive"
)

// InForce is what turns are decided by in one life of a daemon. What the zero value says is not the defaults: see Read.
type InForce struct {
	Provider     string // what observes; empty, where that is not on record
	PlaybackFile string
	Slots        int           // turns at once, over all sessions
	TurnTimeout  time.Duration // of a turn, and of its preparation
	Passivate    time.Duration
	Sessions     session.Rules // without Batch, which is the provider's, and Outputs: see Rules
	Pause        policy.Backoff
	NoYield      policy.NoYield
	Policy       policy.Name        // a live one
	Unparseable  policy.Unparseable // counts with policy.Supervised alone

	Choice
	Models PerProvider[string] // that each asks; see Model
}

// Read returns what a daemon went by that recorded settings in DaemonStarted. A key that is missing, or whose value cannot be
// read, has its default: bad are those that cannot. Whom it asked has no default: Provider is empty where that is missing.
func Read(recorded map[string]string) (v InForce, bad []string) {
	for _, r := range v.Rows() {
		r.Read(r.Standard)
		if text, ok := recorded[r.Key]; ok && !r.Read(text) {
			bad = append(bad, r.Key)
		}
	}
	v.Provider = recorded[keyProvider]
	return v, bad
}

// Rules are what sessions decide by under v, without the provider's batch limits.
func (v *InForce) Rules() session.Rules {
	rules := v.Sessions
	if v.Policy == policy.Supervised {
		outputs := v.Unparseable
		rules.Outputs = &outputs
	}
	return rules
}

// Rows are the settings of v: those that follow, and the models of all that have one.
func (v *InForce) Rows() []Row {
	all := slices.Concat(v.ProviderRows(), v.TurnRows(), v.SuperviseRows(), v.ChoiceRows())
	for _, name := range ProviderNames() {
		all = append(all, v.ModelRow(name)...)
	}
	return all
}

const keyProvider = "provider"

// ProviderRows are the settings that say who observes; ChoiceRows say who else does.
func (v *InForce) ProviderRows() []Row {
	return []Row{
		Word(&v.Provider, keyProvider, extractive.Name, ProviderNames(), "what observes the sessions"),
		Path(&v.PlaybackFile, "playback_file", "what the provider playback plays: a script or a scenario: see `cmemd help playback`"),
	}
}

// TurnRows are the settings that say how many turns run at once, and how long is waited for what.
func (v *InForce) TurnRows() []Row {
	d := session.DefaultRules()
	return []Row{
		Number(&v.Slots, "slots", 2, 1, 64, "turns at once, over all sessions"),
		Duration(&v.TurnTimeout, "turn_timeout", time.Minute, time.Second, time.Hour, "for one turn"),
		Duration(&v.Passivate, "passivate", 10*time.Minute, time.Second, 24*time.Hour, "after which a silent session leaves memory"),
		Duration(&v.Sessions.IdleStop, "idle_stop", d.IdleStop, time.Second, 24*time.Hour, "silence after which unfinished work counts as stopped"),
		Duration(&v.Sessions.Silence, "session_silence", d.Silence, time.Minute, 30*24*time.Hour, "silence after which a session counts as closed"),
	}
}

// SuperviseRows are the settings that say what is done about what fails. Of outputs that do not parse they allow less than a
// policy can run with: a single one is no sign of a broken observer. What was recorded is replayed all the same; see Read.
func (v *InForce) SuperviseRows() []Row {
	d, pause, outputs, none := session.DefaultRules(), policy.DefaultPause(), policy.DefaultUnparseable(), policy.DefaultNoYield()
	return []Row{
		Number(&v.Sessions.MaxAttempts, "max_attempts", d.MaxAttempts, 1, 10, "failures of one batch before it is halved or given up"),
		counted(&v.Sessions.Restarts.Max, policy.KeyMaxRestarts, d.Restarts.Max, "observer restarts allowed in restart_window; one more is a quarantine"),
		timed(&v.Sessions.Restarts.Window, policy.KeyRestartWindow, d.Restarts.Window, "in which max_restarts are counted"),
		counted(&v.Sessions.Restarts.MaxConsecutive, policy.KeyMaxConsecutive, d.Restarts.MaxConsecutive, "observer restarts allowed without a parsed turn between them"),
		timed(&v.Sessions.Restarts.Base, policy.KeyRestartDelay, d.Restarts.Base, "before the first restart; doubles"),
		timed(&v.Sessions.Restarts.Cap, policy.KeyRestartDelayMax, d.Restarts.Cap, "the longest delay before a restart"),
		timed(&v.Sessions.Quarantine.First, policy.KeyQuarantineFirst, d.Quarantine.First, "the first quarantine; doubles"),
		timed(&v.Sessions.Quarantine.Cap, policy.KeyQuarantineMax, d.Quarantine.Cap, "the longest quarantine"),
		timed(&v.Pause.First, policy.KeyPauseFirst, pause.First, "a provider's first pause, where it names no time; doubles"),
		timed(&v.Pause.Cap, policy.KeyPauseMax, pause.Cap, "a provider's longest pause, where it names no time"),
		counted(&v.NoYield.Max, policy.KeyNoYieldMax, none.Max, "answers in a row that were dropped, after which a provider that costs is paused"),
		timed(&v.NoYield.Window, policy.KeyNoYieldWindow, none.Window, "in which no_yield_max are counted"),
		Number(&v.Sessions.HeldMaxInputs, "held_max_inputs", d.HeldMaxInputs, 100, 1_000_000, "inputs that a session holds while it may try nothing; the oldest go first"),
		Duration(&v.Sessions.HeldMaxAge, "held_max_age", d.HeldMaxAge, time.Hour, 365*24*time.Hour, "for which an input is held while its session may try nothing"),
		Word(&v.Policy, "policy", policy.OTPHold, policy.Live(), "otp-hold drops outputs that do not parse; supervised also tries a fresh observer"),
		Number(&v.Unparseable.Max, policy.KeyMaxUnparseable, outputs.Max, 2, 100, "with supervised: outputs in unparseable_window that earn a fresh observer"),
		Duration(&v.Unparseable.Window, policy.KeyUnparseableWindow, outputs.Window, time.Second, 24*time.Hour, "in which max_unparseable are counted"),
		Duration(&v.Unparseable.Every, policy.KeyUnparseableEvery, outputs.Every, time.Second, 30*24*time.Hour, "the least time between two fresh observers of a session"),
	}
}

// counted is a number whose range is the policies'.
func counted(at *int, key string, standard int, doc string) Row {
	least, most := policy.Range(key)
	return Number(at, key, standard, int(least), int(most), doc)
}

// timed is a time whose range is the policies'.
func timed(at *time.Duration, key string, standard time.Duration, doc string) Row {
	least, most := policy.Range(key)
	return Duration(at, key, standard, time.Duration(least), time.Duration(most), doc)
}
