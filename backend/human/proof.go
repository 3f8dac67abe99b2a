package human

import (
	"context"
	"encoding/json"
	"time"
)

// Means is how an operator showed that a person was there.
type Means string

// The means, the weakest first. A session is none: whoever holds its token has it.
const (
	ByPIN     Means = "pin"     // typed into the window
	BySystem  Means = "system"  // the operating system asked for the user's password, finger or face
	ByPasskey Means = "passkey" // signed by a WebAuthn authenticator
)

// A SystemCheck is what an operating system asks a person for (BySystem).
type SystemCheck string

// The checks of the systems.
const (
	SystemPassword SystemCheck = "password" // Linux: polkit
	WindowsHello   SystemCheck = "hello"
	TouchID        SystemCheck = "touch_id" // macOS: Touch ID, a watch, or the user's password
)

// Name is what a person calls it.
func (c SystemCheck) Name() string {
	switch c {
	case WindowsHello:
		return "Windows Hello"
	case TouchID:
		return "Touch ID or the Mac's password"
	}
	return "your password"
}

// A Proof of presence is given with one answer, or with one change of what is allowed, and counts for that alone.
type Proof struct {
	Means Means     `json:"means"`
	At    time.Time `json:"at"`
	// Of a passkey: the canonical JSON whose SHA-256 was its challenge, and its assertion as the browser gave it
	// (PublicKeyCredential.toJSON, WebAuthn Level 3).
	Context   json.RawMessage `json:"context,omitempty"`
	Assertion json.RawMessage `json:"assertion,omitempty"`
}

// A Receipt of an operator's answer is JSON, as package receipt makes it; in an event it has no place in the log yet.
type Receipt struct{ json.RawMessage }

type proofKey struct{}

// WithProof is ctx with the proof that came with what is being done.
func WithProof(ctx context.Context, p Proof) context.Context {
	return context.WithValue(ctx, proofKey{}, &p)
}

// ProofOf is the proof that came with what is being done, nil without one.
func ProofOf(ctx context.Context) *Proof {
	p, _ := ctx.Value(proofKey{}).(*Proof)
	return p
}
