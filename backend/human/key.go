package human

import "time"

// A Key is what is known of an agent's key. The key itself is shown once, when it is made, and not kept.
type Key struct {
	ID        string     `json:"id"`
	Name      string     `json:"name" doc:"The agent_id of whoever bears the key."`
	Ephemeral bool       `json:"ephemeral,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	LastSeen  *time.Time `json:"last_seen,omitempty"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
}
