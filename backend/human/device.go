package human

import "time"

// A Device is an operator's phone or tablet that was paired. The secret that it holds is not kept, only its SHA-256.
type Device struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Operator string    `json:"operator"`
	PairedAt time.Time `json:"paired_at"`
	LastSeen time.Time `json:"last_seen"`
	Hash     string    `json:"hash"` // of the secret, in hexadecimal digits

	// Unconfirmed says that the list it was in had been changed while Deskbell did not run. It does not come in until an operator has
	// confirmed it.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}
