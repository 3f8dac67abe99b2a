package receipt

import (
	"encoding/json"

	"deskbell/backend/human"
)

// Seal signs the answer of an operation that is held. It has no receipt before it leaves, and could else be written into the storage
// by another program, for the server to send and to sign.
func (m *Maker) Seal(op human.Operation) (string, error) {
	hash, err := sealed(op)
	if err != nil {
		return "", err
	}
	return m.Key().sign(hash), nil
}

// Sealed returns an error where the answer of an operation that is held is not the one that Seal signed.
func (m *Maker) Sealed(op human.Operation) error {
	hash, err := sealed(op)
	if err != nil {
		return err
	}
	key := m.Key()
	keys := map[string]string{key.ID: PublicText(key.Public())}
	if m.Keys != nil {
		keys = TrustIn(m.Keys()).LogKeys
	}
	for _, public := range keys {
		if checkEd25519(public, hash, op.Leaving.Seal) == nil {
			return nil
		}
	}
	return human.Errorf(human.Denied, "the answer of operation %s that is held was not written by this Deskbell", op.ID)
}

// sealed is the hash of what is signed: the answer, what it answers, and when it was held.
func sealed(op human.Operation) (string, error) {
	leaving := *op.Leaving
	leaving.Seal = ""
	text, err := json.Marshal(struct {
		What      string            `json:"what"`
		Operation human.OperationID `json:"operation_id"`
		Digest    string            `json:"digest"`
		Leaving   human.Leaving     `json:"leaving"`
	}{"deskbell: an answer that is held", op.ID, op.Digest, leaving})
	if err != nil {
		return "", human.Wrap(human.Internal, err, "the answer of operation %s cannot be written as JSON", op.ID)
	}
	return hashOf(text), nil
}
