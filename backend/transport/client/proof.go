package client

import (
	"context"
	"encoding/json"
	"net/http"

	"deskbell/backend/human"
)

// A Proof is what a call needs of its operator: a sign that a person is there.
type Proof struct {
	Challenge string        `json:"challenge"`
	Means     []human.Means `json:"means"` // that work from here
	Elsewhere []struct {    // and that do not, each with the reason
		Means human.Means    `json:"means"`
		Why   human.Sentence `json:"why"`
		At    string         `json:"at"` // an address at which it works
	} `json:"elsewhere"`
	SystemCheck human.SystemCheck `json:"system_check"`
}

type proofKey struct{}

// prove answers a call that needs proof: with the call made again once Prove met the challenge, or with the error it was.
func (c *Client) prove(ctx context.Context, method, path string, body, into any, problem []byte, was error) (int, error) {
	var p struct{ Proof *Proof }
	if c.Prove == nil || ctx.Value(proofKey{}) != nil || json.Unmarshal(problem, &p) != nil || p.Proof == nil {
		return http.StatusForbidden, was
	}
	if err := c.Prove(ctx, *p.Proof); err != nil {
		return http.StatusForbidden, err
	}
	return c.call(context.WithValue(ctx, proofKey{}, p.Proof.Challenge), method, path, body, into)
}

// Presence is what can prove that a person is there, and what needs it.
type Presence struct {
	System   bool `json:"system"`
	SystemOK bool `json:"system_available"`
	PIN      bool `json:"pin"`
	Passkeys []struct {
		Name string `json:"name"`
		Host string `json:"host"`
	} `json:"passkeys"`
	Policy struct {
		Answers    human.Risk `json:"answers"`
		Rules      bool       `json:"rules"`
		Keys       bool       `json:"keys"`
		Gatekeeper bool       `json:"gatekeeper"`
	} `json:"policy"` // what needs proof
	Ready  bool `json:"ready"`  // something is set up
	Broken bool `json:"broken"` // it was changed from outside, and no operator has seen it
}

// Presence returns what is set up.
func (c *Client) Presence(ctx context.Context) (p Presence, err error) {
	_, err = c.call(ctx, http.MethodGet, "/api/stepup", nil, &p)
	return p, err
}

// SetSystemCheck lets the operating system's check count, or not. To switch it on it asks the person at a process's terminal, and
// blocks until they answered.
func (c *Client) SetSystemCheck(ctx context.Context, on bool, process int) error {
	_, err := c.call(ctx, http.MethodPut, "/api/stepup/system", map[string]any{"on": on, "process": process}, nil)
	return err
}

// ProveBySystem has the operating system ask the person at a process's terminal, or in the desktop's session, and blocks until
// they answered.
func (c *Client) ProveBySystem(ctx context.Context, p Proof, process int) error {
	_, err := c.call(ctx, http.MethodPost, "/api/stepup", map[string]any{"challenge": p.Challenge, "means": human.BySystem, "process": process}, nil)
	return err
}

// ProveUninstall is good where the operator may remove Deskbell, and has proved to be there as far as that is set up.
func (c *Client) ProveUninstall(ctx context.Context) error {
	_, err := c.call(ctx, http.MethodPost, "/api/stepup/uninstall", nil, nil)
	return err
}
