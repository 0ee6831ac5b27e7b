package setting

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/internal/observer/anthropic"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/observer/gemini"
	"github.com/cmemd/cmemd/internal/observer/openai"
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
	Policy       policy.Name        // a live one
	Unparseable  policy.Unparseable // counts with policy.Supervised alone

	Choice
	Models
}

// Read returns what a daemon went by that recorded settings in DaemonStarted. A key that is missing, or whose value cannot be
// read, has its default: bad are those that cannot. Whom it asked has no default: Provider is empty where that is missing.
func Read(recorded map[string]string) (v InForce, bad []string) {
	for _, r := range Rows() {
		r.Read(&v, r.Standard)
		if text, ok := recorded[r.Key]; ok && !r.Read(&v, text) {
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

// Rows are the settings of an InForce: those that follow, and the models of all that have one.
func Rows() []Row[InForce] {
	models := []Row[InForce]{ModelRow(claudecli.Name), ModelRow(anthropic.Name), ModelRow(openai.Name), ModelRow(gemini.Name)}
	return slices.Concat(TurnRows(), SuperviseRows(), ChoiceRows(), models)
}

const keyProvider = "provider"

// TurnRows are the settings that say who observes, and how long is waited for what.
func TurnRows() []Row[InForce] {
	d := session.DefaultRules()
	return []Row[InForce]{
		Word(keyProvider, extractive.Name, ProviderNames(), "what observes the sessions",
			func(v *InForce) *string { return &v.Provider }),
		Path("playback_file", "what the provider playback plays: a script or a scenario: see `cmemd help playback`",
			func(v *InForce) *string { return &v.PlaybackFile }),
		Number("slots", 2, 1, 64, "turns at once, over all sessions",
			func(v *InForce) *int { return &v.Slots }),
		Duration("turn_timeout", time.Minute, time.Second, time.Hour, "for one turn",
			func(v *InForce) *time.Duration { return &v.TurnTimeout }),
		Duration("passivate", 10*time.Minute, time.Second, 24*time.Hour, "after which a silent session leaves memory",
			func(v *InForce) *time.Duration { return &v.Passivate }),
		Duration("idle_stop", d.IdleStop, time.Second, 24*time.Hour, "silence after which unfinished work counts as stopped",
			func(v *InForce) *time.Duration { return &v.Sessions.IdleStop }),
		Duration("session_silence", d.Silence, time.Minute, 30*24*time.Hour, "silence after which a session counts as closed",
			func(v *InForce) *time.Duration { return &v.Sessions.Silence }),
	}
}

// SuperviseRows are the settings that say what is done about what fails.
func SuperviseRows() []Row[InForce] {
	d, pause, outputs := session.DefaultRules(), policy.DefaultPause(), policy.DefaultUnparseable()
	return []Row[InForce]{
		Number("max_attempts", d.MaxAttempts, 1, 10, "failures of one batch before it is halved or given up",
			func(v *InForce) *int { return &v.Sessions.MaxAttempts }),
		Number(policy.KeyMaxRestarts, d.Restarts.Max, 1, 1000, "observer restarts allowed in restart_window; one more is a quarantine",
			func(v *InForce) *int { return &v.Sessions.Restarts.Max }),
		Duration(policy.KeyRestartWindow, d.Restarts.Window, time.Millisecond, 24*time.Hour, "in which max_restarts are counted",
			func(v *InForce) *time.Duration { return &v.Sessions.Restarts.Window }),
		Number(policy.KeyMaxConsecutive, d.Restarts.MaxConsecutive, 1, 1000, "observer restarts allowed without a parsed turn between them",
			func(v *InForce) *int { return &v.Sessions.Restarts.MaxConsecutive }),
		Duration(policy.KeyRestartDelay, d.Restarts.Base, time.Millisecond, time.Hour, "before the first restart; doubles",
			func(v *InForce) *time.Duration { return &v.Sessions.Restarts.Base }),
		Duration(policy.KeyRestartDelayMax, d.Restarts.Cap, time.Millisecond, time.Hour, "the longest delay before a restart",
			func(v *InForce) *time.Duration { return &v.Sessions.Restarts.Cap }),
		Duration(policy.KeyQuarantineFirst, d.Quarantine.First, time.Millisecond, 24*time.Hour, "the first quarantine; doubles",
			func(v *InForce) *time.Duration { return &v.Sessions.Quarantine.First }),
		Duration(policy.KeyQuarantineMax, d.Quarantine.Cap, time.Millisecond, 7*24*time.Hour, "the longest quarantine",
			func(v *InForce) *time.Duration { return &v.Sessions.Quarantine.Cap }),
		Duration(policy.KeyPauseFirst, pause.First, time.Millisecond, 24*time.Hour, "a provider's first pause, where it names no time; doubles",
			func(v *InForce) *time.Duration { return &v.Pause.First }),
		Duration(policy.KeyPauseMax, pause.Cap, time.Millisecond, 7*24*time.Hour, "a provider's longest pause, where it names no time",
			func(v *InForce) *time.Duration { return &v.Pause.Cap }),
		Number("held_max_inputs", d.HeldMaxInputs, 100, 1_000_000, "inputs that a session holds while it may try nothing; the oldest go first",
			func(v *InForce) *int { return &v.Sessions.HeldMaxInputs }),
		Duration("held_max_age", d.HeldMaxAge, time.Hour, 365*24*time.Hour, "for which an input is held while its session may try nothing",
			func(v *InForce) *time.Duration { return &v.Sessions.HeldMaxAge }),
		Word("policy", policy.OTPHold, policy.Live(), "otp-hold drops outputs that do not parse; supervised also tries a fresh observer",
			func(v *InForce) *policy.Name { return &v.Policy }),
		Number(policy.KeyMaxUnparseable, outputs.Max, 2, 100, "with supervised: outputs in unparseable_window that earn a fresh observer",
			func(v *InForce) *int { return &v.Unparseable.Max }),
		Duration(policy.KeyUnparseableWindow, outputs.Window, time.Second, 24*time.Hour, "in which max_unparseable are counted",
			func(v *InForce) *time.Duration { return &v.Unparseable.Window }),
		Duration(policy.KeyUnparseableEvery, outputs.Every, time.Second, 30*24*time.Hour, "the least time between two fresh observers of a session",
			func(v *InForce) *time.Duration { return &v.Unparseable.Every }),
	}
}
