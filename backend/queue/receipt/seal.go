package receipt

import (
	"encoding/json"
	"slices"

	"deskbell/backend/human"
)

// Seal signs the answer of an operation that is held. It has no receipt before it leaves, and could else be written into the storage
// by another program, for the server to send and to sign.
func (m *Maker) Seal(op human.Operation) (string, error) {
	text, err := sealed(op)
	if err != nil {
		return "", err
	}
	return m.SealText(sealHeld, text), nil
}

// sealHeld is what the seal of an answer that is held is for.
const sealHeld = "deskbell: an answer that is held"

// SealText signs that this Deskbell wrote a text; what it is for keeps a seal from counting elsewhere.
func (m *Maker) SealText(what string, text []byte) string { return m.Key().sign(sealHash(what, text)) }

// sealHash is the hash of what is signed.
func sealHash(what string, text []byte) string {
	return hashOf(slices.Concat([]byte(what), []byte{0}, text))
}

// CheckSeal returns a Denied error where a seal is not one that SealText made.
func (m *Maker) CheckSeal(what string, text []byte, seal string) error {
	key := m.Key()
	keys := map[string]string{key.ID: PublicText(key.Public())}
	if m.Keys != nil {
		keys = TrustIn(m.Keys()).LogKeys
	}
	for _, public := range keys {
		if checkEd25519(public, sealHash(what, text), seal) == nil {
			return nil
		}
	}
	return human.Errorf(human.Denied, "it was not written by this Deskbell")
}

// Sealed returns an error where the answer of an operation that is held is not the one that Seal signed.
func (m *Maker) Sealed(op human.Operation) error {
	text, err := sealed(op)
	if err != nil {
		return err
	}
	if m.CheckSeal(sealHeld, text, op.Leaving.Seal) != nil {
		return human.Errorf(human.Denied, "the answer of operation %s that is held was not written by this Deskbell", op.ID)
	}
	return nil
}

// sealed is what is signed: the answer, what it answers, and when it was held.
func sealed(op human.Operation) ([]byte, error) {
	leaving := *op.Leaving
	leaving.Seal = ""
	text, err := json.Marshal(struct {
		Operation human.OperationID `json:"operation_id"`
		Digest    string            `json:"digest"`
		Leaving   human.Leaving     `json:"leaving"`
	}{op.ID, op.Digest, leaving})
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "the answer of operation %s cannot be written as JSON", op.ID)
	}
	return text, nil
}
