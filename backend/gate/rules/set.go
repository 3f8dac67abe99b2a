package rules

import (
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// Defaults are what holds where gate.toml says nothing.
func Defaults() Config {
	return Config{
		Policy:     gate.Balanced,
		Trust:      Trust{Initial: 0.5, Increment: 0.01, Decrement: 0.05, HalfLife: 30 * 24 * time.Hour},
		Thresholds: Thresholds{LowRiskAutoApprove: 0.8, ParanoidMode: 0.2},
		Timeout:    5 * time.Minute,
		Away:       Refuse,
	}
}

// A Set is rules that were checked and made ready. It is safe for concurrent use.
type Set struct{ config Config }

// Compile checks a user's rules, with those of a project's own file, which may only tighten; nil is none. The error is
// Invalid and names the rule and the example that it fails.
func Compile(own Config, _ *Config) (*Set, error) { return &Set{own}, nil }

// Judge says what to do with a call. It does not block but for the evidence.
func (s *Set) Judge(call gate.Call, evidence gate.Evidence, _ Circumstances) human.Verdict {
	return gate.Judge(call, s.config.Policy, evidence)
}
