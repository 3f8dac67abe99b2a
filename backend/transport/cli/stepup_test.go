package cli

import (
	"bytes"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

// Whoever reads what is set up reads what to type next.
func TestWhatNeedsProof(t *testing.T) {
	changed := client.Presence{System: true, SystemOK: true, Ready: true, Broken: true}
	changed.Policy.Answers, changed.Policy.Keys = human.CriticalRisk, true
	for name, tt := range map[string]struct {
		p        client.Presence
		says     []string
		saysNone []string
	}{
		"nothing":        {client.Presence{SystemOK: true}, []string{"`deskbell proof system on`\n", "passkey         none: Settings, in a browser", "needs proof     nothing, until"}, []string{"says why", "warning"}},
		"nothing asks":   {client.Presence{}, []string{"`deskbell proof system on` says why"}, nil},
		"some, and seen": {changed, []string{"warning", "system's check  set up", "needs proof     to approve from critical risk on, to make a key, to change this\n", "above low risk"}, []string{"a rule that allows, to change this"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			must(t, (&shell{data: t.TempDir(), out: &out}).showPresence(tt.p))
			for _, text := range tt.says {
				if !strings.Contains(out.String(), text) {
					t.Errorf("does not say %q:\n%s", text, &out)
				}
			}
			for _, text := range tt.saysNone {
				if strings.Contains(out.String(), text) {
					t.Errorf("says %q:\n%s", text, &out)
				}
			}
		})
	}
}

func TestWhereAProofCanBeGiven(t *testing.T) {
	s := &shell{data: t.TempDir()}
	elsewhere := client.Proof{}
	for _, m := range []human.Means{human.ByPasskey, human.ByPIN, human.BySystem} {
		elsewhere.Elsewhere = append(elsewhere.Elsewhere, struct {
			Means human.Means    `json:"means"`
			Why   human.Sentence `json:"why"`
			At    string         `json:"at"`
		}{m, human.Say("proof_no_system"), ""})
	}
	for want, p := range map[string]client.Proof{
		"do this with your password, where you run this at a terminal":                                                                      {Means: []human.Means{human.BySystem}},
		"do this with your passkey, in a browser; or with the PIN, in Deskbell's window; or with your password, but: The system cannot ask": elsewhere,
		"do this with Windows Hello, where you run this at a terminal":                                                                      {Means: []human.Means{human.BySystem}, SystemCheck: human.WindowsHello},
		"see Proof of presence in the settings":                                                                                             {},
	} {
		if got := s.otherWays(p); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
