package receipt

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"time"
)

// A Key is the server's own: it signs the log, and answers that came without a passkey, in the operator's name.
type Key struct {
	ID      string
	private ed25519.PrivateKey
}

// NewKey is the key of a private one.
func NewKey(private ed25519.PrivateKey) *Key {
	return &Key{ID: KeyID(private.Public().(ed25519.PublicKey)), private: private}
}

// KeyID names a public key of a server: by the first 16 bytes of the SHA-256 of its SubjectPublicKeyInfo.
func KeyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(spki(public))
	return "deskbell:key:" + hex.EncodeToString(sum[:16])
}

func spki(public ed25519.PublicKey) []byte {
	der, _ := x509.MarshalPKIXPublicKey(public) // it fails for other kinds of keys only
	return der
}

// Public is the public half.
func (k *Key) Public() ed25519.PublicKey { return k.private.Public().(ed25519.PublicKey) }

// sign signs the 32 bytes of a hash.
func (k *Key) sign(hash string) string {
	sum, _ := parseHash(hash)
	return base64.RawURLEncoding.EncodeToString(ed25519.Sign(k.private, sum))
}

// PublicText is a public key as receipts and trusted keys have it: its SubjectPublicKeyInfo in base64url.
func PublicText(public ed25519.PublicKey) string {
	return base64.RawURLEncoding.EncodeToString(spki(public))
}

// A ServerKey is a key of a server as others see it.
type ServerKey struct {
	ID        string     `json:"id"`
	PublicKey string     `json:"public_key" doc:"Ed25519: SubjectPublicKeyInfo in base64url."`
	MadeAt    time.Time  `json:"made_at"`
	RetiredAt *time.Time `json:"retired_at,omitempty" doc:"Once another key took its place."`
	After     string     `json:"after,omitempty" doc:"The key whose place it took; absent of the first."`
	Approver  string     `json:"approver_id,omitempty" doc:"Of another desk of the team: whose answers it signs, and no one else's."`
	Signature string     `json:"signature,omitempty" doc:"By the key whose place it took, over the SHA-256 of the canonical JSON of after, id, made_at and public_key."`
}

// succession is the hash of what a key signs to be followed by another.
func (s ServerKey) succession() (string, error) {
	return hashed(struct {
		After     string `json:"after"`
		ID        string `json:"id"`
		MadeAt    string `json:"made_at"`
		PublicKey string `json:"public_key"`
	}{s.After, s.ID, timeText(s.MadeAt), s.PublicKey})
}

// Follow signs that next takes the place of this key.
func (k *Key) Follow(next *ServerKey) error {
	next.After = k.ID
	sum, err := next.succession()
	if err != nil {
		return unwritten(err)
	}
	next.Signature = k.sign(sum)
	return nil
}

// Succeed is the trust with those of keys, oldest first, that one which is trusted signed to take its place.
func (t Trust) Succeed(keys []ServerKey) Trust {
	known := maps.Clone(t.LogKeys)
	for _, k := range keys {
		by, is := known[k.After]
		public, err := parsePublic(k.PublicKey)
		edKey, isEd := public.(ed25519.PublicKey)
		if !is || err != nil || !isEd || KeyID(edKey) != k.ID {
			continue
		}
		if sum, err := k.succession(); err == nil && checkEd25519(by, sum, k.Signature) == nil {
			known[k.ID] = k.PublicKey
		}
	}
	t.LogKeys = known
	return t
}

// KeysOf are the keys of another desk, for what they can be trusted: the answers of the member whose desk it is.
func KeysOf(member string, keys []ServerKey) []ServerKey {
	var good []ServerKey
	for _, k := range keys {
		public, err := parsePublic(k.PublicKey)
		if edKey, isEd := public.(ed25519.PublicKey); err == nil && isEd && KeyID(edKey) == k.ID {
			good = append(good, ServerKey{ID: k.ID, PublicKey: k.PublicKey, MadeAt: k.MadeAt, RetiredAt: k.RetiredAt, Approver: operatorID(member)})
		}
	}
	return good
}

// TrustIn trusts what a server's keys signed, and those of other desks as far as they count.
func TrustIn(keys []ServerKey) Trust {
	t := Trust{LogKeys: map[string]string{}, ApproverKeys: map[string]KeyEntry{}}
	for _, k := range keys {
		if k.Approver != "" {
			t.ApproverKeys[k.ID] = KeyEntry{ApproverID: k.Approver, KeyClass: classServer, PublicKey: k.PublicKey}
			continue
		}
		t.LogKeys[k.ID] = k.PublicKey
		if t.Since.IsZero() || k.MadeAt.Before(t.Since) {
			t.Since = k.MadeAt
		}
	}
	return t
}

// A KeyEntry is a public key that a verifier trusts, and for what.
type KeyEntry struct {
	ApproverID    string    `json:"approver_id,omitempty" doc:"Whose answers it signs; empty for a server's key, which signs for all its operators."`
	CompromisedAt time.Time `json:"compromised_at,omitzero" doc:"Once set, the key signs nothing, whatever time a receipt says."`
	KeyClass      string    `json:"key_class" enum:"A,C" doc:"A: a passkey. C: the server signs in the operator's name."`
	PublicKey     string    `json:"public_key" doc:"SubjectPublicKeyInfo in base64url."`
	ValidFrom     time.Time `json:"valid_from,omitzero"`
	ValidTo       time.Time `json:"valid_to,omitzero"`
}
