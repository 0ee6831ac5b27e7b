package config

import (
	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
)

// Rules are what sessions decide by under c.
func (c Config) Rules() session.Rules {
	r := session.Rules{
		Restarts: policy.Restarts{
			Max: c.MaxRestarts, Window: c.RestartWindow, MaxConsecutive: c.MaxConsecutive,
			Base: c.RestartDelay, Cap: c.RestartDelayMax,
		},
		Quarantine: policy.Backoff{First: c.QuarantineFirst, Cap: c.QuarantineMax},
		IdleStop:   c.IdleStop, Silence: c.SessionSilence, MaxAttempts: c.MaxAttempts,
		HeldMaxInputs: c.HeldMaxInputs, HeldMaxAge: c.HeldMaxAge,
	}
	if c.Policy == string(policy.Supervised) {
		r.Outputs = &policy.Unparseable{Max: c.MaxUnparseable, Window: c.UnparseableWindow, Every: c.UnparseableEvery}
	}
	return r
}
