package receipt

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"deskbell/backend/human"
)

// A Maker makes receipts. Its functions are safe for concurrent use.
type Maker struct {
	// Key is the server's key now.
	Key func() *Key
	// Keys are all that the server had; nil: only the one it has now.
	Keys func() []ServerKey
	// Passkey is the public key of an operator's passkey by its credential id; nil where passkeys are not used.
	Passkey func(ctx context.Context, by human.Actor, credential string) (KeyEntry, error)
}

// Make is the receipt of an operator's event that answers op, as it stood before; the event is to be its version. earlier are
// the receipts of other operators' votes or approvals that agree. A Conflict error where the event's proof is for another answer.
func (m *Maker) Make(ctx context.Context, op human.Operation, version uint64, e human.Event, earlier []Receipt) (Receipt, error) {
	answer, decision := human.Answer{HumanInput: e.Text}, Declined
	if e.Answer != nil {
		answer, decision = *e.Answer, DecisionOf(*e.Answer)
	}
	key := m.Key()
	var means human.Means
	if e.Proof != nil {
		means = e.Proof.Means
	}
	r := Receipt{
		ReceiptID: fmt.Sprintf("deskbell:receipt:%s:%d", op.ID, version), Action: actionOf(op, answer),
		Consumption: Consumption{State: "COMMITTED", CommittedAt: timeText(e.At)},
	}
	if decision == Denied || decision == Declined {
		r.Consumption.State = "DENIED"
	}
	nonce := make([]byte, MinNonce)
	_, _ = rand.Read(nonce) // never fails
	var err error
	if r.ActionHash, err = hashed(r.Action); err != nil {
		return r, unwritten(err)
	}
	c, err := newContext(op, r.ActionHash, e.By, decision, answer, means, e.At, nonce)
	if err != nil {
		return r, err
	}
	r.Consumption.Nonce = c.Nonce
	signoff := Signoff{KeyClass: classServer, ApproverKeyID: key.ID, SignedAt: timeText(e.At)}
	if means == human.ByPasskey && e.Proof.Context != nil {
		var proof KeyProof
		if c, signoff, proof, err = m.byPasskey(ctx, key, c, e); err != nil {
			return r, err
		}
		r.Consumption.Nonce = c.Nonce
		// Class A takes an authenticator that verified its user. Of another there is the server's word that it was used.
		if hash, err := c.Hash(); err == nil && checkAssertion(*signoff.WebAuthn, hash, proof.Key.PublicKey, "", nil) == nil {
			r.ApproverKeyProofs = []KeyProof{proof}
		} else {
			signoff = Signoff{KeyClass: classServer, ApproverKeyID: key.ID, SignedAt: signoff.SignedAt}
		}
	}
	if signoff.ContextHash, err = c.Hash(); err != nil {
		return r, unwritten(err)
	}
	if signoff.KeyClass == classServer {
		signoff.Signature = key.sign(signoff.ContextHash)
	}
	for _, vote := range earlier {
		r.Contexts, r.Signoffs = append(r.Contexts, vote.Contexts...), append(r.Signoffs, vote.Signoffs...)
		r.ApproverKeyProofs = append(r.ApproverKeyProofs, vote.ApproverKeyProofs...)
	}
	r.Contexts, r.Signoffs = append(r.Contexts, c), append(r.Signoffs, signoff)
	return r, nil
}

// The classes of keys that Deskbell uses.
const (
	classPasskey = "A"
	classServer  = "C"
)

// byPasskey takes the context that a passkey signed in place of the one it has to be, and its signoff.
func (m *Maker) byPasskey(ctx context.Context, key *Key, must Context, e human.Event) (Context, Signoff, KeyProof, error) {
	fail := func(err error) (Context, Signoff, KeyProof, error) { return Context{}, Signoff{}, KeyProof{}, err }
	var signed Context
	if err := json.Unmarshal(e.Proof.Context, &signed); err != nil {
		return fail(human.Wrap(human.Invalid, err, "what the passkey signed cannot be read: %v", err))
	}
	// What only the moment of the challenge knows.
	must.Nonce, must.IssuedAt, must.ExpiresAt, must.ApproverIndex = signed.Nonce, signed.IssuedAt, signed.ExpiresAt, signed.ApproverIndex
	if signed != must {
		return fail(human.Errorf(human.Conflict, "the passkey confirmed another answer than this one; answer again"))
	}
	if !within(e.At, signed.IssuedAt, signed.ExpiresAt) {
		return fail(human.Errorf(human.Conflict, "the passkey's confirmation has expired; answer again"))
	}
	var a struct {
		ID       string `json:"id"`
		Response struct {
			AuthenticatorData string `json:"authenticatorData"`
			ClientDataJSON    string `json:"clientDataJSON"`
			Signature         string `json:"signature"`
		} `json:"response"`
	}
	if err := json.Unmarshal(e.Proof.Assertion, &a); err != nil {
		return fail(human.Wrap(human.Invalid, err, "the passkey's assertion cannot be read: %v", err))
	}
	if m.Passkey == nil {
		return fail(human.Errorf(human.Internal, "passkeys are not set up, so their receipts cannot be made"))
	}
	entry, err := m.Passkey(ctx, e.By, a.ID)
	if err != nil {
		return fail(err)
	}
	entry.KeyClass, entry.ApproverID = classPasskey, must.Approver
	proof := KeyProof{ApproverKeyID: "deskbell:passkey:" + a.ID, Key: entry, LogKeyID: key.ID}
	sum, err := hashed(proof)
	if err != nil {
		return fail(unwritten(err))
	}
	proof.Signature = key.sign(sum)
	at := e.Proof.At
	if !within(at, signed.IssuedAt, signed.ExpiresAt) {
		at = e.At
	}
	return signed, Signoff{
		Signature: a.Response.Signature, KeyClass: classPasskey, ApproverKeyID: proof.ApproverKeyID, SignedAt: timeText(at),
		WebAuthn: &Assertion{a.Response.AuthenticatorData, a.Response.ClientDataJSON, a.Response.Signature},
	}, proof, nil
}

func within(at time.Time, from, to string) bool {
	start, err1 := time.Parse(time.RFC3339, from)
	end, err2 := time.Parse(time.RFC3339, to)
	return err1 == nil && err2 == nil && !at.Before(start) && !at.After(end)
}

// Answers says whether an event gets a receipt: an operator's answer, whatever it is, or vote. Of a vote that ends the operation,
// next is the end, which has the receipt of both.
func Answers(e human.Event, next *human.Event) bool {
	if e.By.Role != human.Operator {
		return false
	}
	switch e.Type {
	case human.Finished, human.TurnedDown, human.ApprovedFirst:
		return true
	case human.Voted:
		return next == nil || next.Type != human.Finished
	}
	return false
}

// Agreeing are the receipts of the votes of others that agree with an answer: of each operator their last; or the receipt of the first
// of two approvals, which the life cycle has agree with the second.
func Agreeing(entries []human.Entry, by human.Actor, with human.Answer) ([]Receipt, error) {
	last := map[string]human.Event{}
	var order []string
	for _, e := range entries {
		if e.Event.Type == human.ApprovedFirst {
			order = nil
		}
		if (e.Event.Type == human.Voted || e.Event.Type == human.ApprovedFirst) && e.Event.By != by && e.Event.Receipt != nil {
			order = append(slices.DeleteFunc(order, func(name string) bool { return name == e.Event.By.Name }), e.Event.By.Name)
			last[e.Event.By.Name] = e.Event
		}
	}
	var all []Receipt
	for _, name := range order {
		vote := last[name]
		if vote.Type == human.Voted && (with.Plan == nil || !vote.Answer.Plan.Agrees(*with.Plan)) {
			continue
		}
		var r Receipt
		if err := json.Unmarshal(vote.Receipt.RawMessage, &r); err != nil {
			return nil, human.Wrap(human.Internal, err, "the receipt of %s's vote cannot be read: %v", name, err)
		}
		all = append(all, r)
	}
	return all, nil
}
