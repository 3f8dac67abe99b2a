package receipt

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"deskbell/backend/human"
)

// Trust is what a verifier knows from elsewhere than the receipt. A key that is only in the receipt proves nothing.
type Trust struct {
	LogKeys      map[string]string   `json:"log_keys" doc:"Public keys of servers by id: SubjectPublicKeyInfo in base64url."`
	ApproverKeys map[string]KeyEntry `json:"approver_keys" doc:"Keys of operators by id."`

	RPID     string    `json:"rp_id,omitempty" doc:"Whose passkeys count; empty: not checked."`
	Origins  []string  `json:"allowed_origins,omitempty" doc:"From which pages; none: not checked."`
	Audience string    `json:"audience,omitempty" doc:"Whom the receipt has to be for; empty: not checked."`
	Now      time.Time `json:"now,omitzero" doc:"No receipt is from later than this; zero: not checked."`

	Since time.Time `json:"-"` // when the server's first key was made: every answer of its journal after that has a receipt
}

// A CheckedPart is one thing that was looked at.
type CheckedPart struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`

	Said *human.Sentence `json:"said,omitempty" doc:"The detail with its code, for clients that say it in another language."`
}

// The checks, named as in section 7.3 of the draft and its reference verifier, and Deskbell's own.
const (
	checkFormat      = "format"
	checkAction      = "action_hash"
	checkCommitments = "context_commitments"
	checkSignatures  = "signoff_signatures"
	checkSeparate    = "sod" // separation of duties
	checkInclusion   = "inclusion"
	checkLog         = "checkpoint_signature"
	checkWindows     = "windows"
	checkAudience    = "audience"
	checkChain       = "chain"
	checkApproved    = "approved"
)

// A Signer is who signed, as a Verification tells it.
type Signer struct {
	Operator string      `json:"operator"`
	Decision Decision    `json:"decision,omitempty"`
	Means    human.Means `json:"means,omitempty"`
	KeyClass string      `json:"key_class" enum:"A,C" doc:"A: a passkey. C: only the server's word."`
	KeyID    string      `json:"key_id"`
	At       string      `json:"at"`
}

// A Verification is what Verify found.
type Verification struct {
	Authentic  bool          `json:"authentic" doc:"Nothing was changed, and the keys that are trusted signed it."`
	Authorizes bool          `json:"authorizes" doc:"It is authentic, and approves what was asked."`
	ReceiptID  string        `json:"receipt_id"`
	Operation  string        `json:"operation,omitempty"`
	Agent      string        `json:"agent,omitempty"`
	Digest     string        `json:"digest,omitempty"`
	Answered   string        `json:"answered_at,omitempty"`
	Position   uint64        `json:"position,omitempty" doc:"Its place in the log of receipts, from 1."`
	Hash       string        `json:"hash,omitempty" doc:"What the receipt after it names."`
	Follows    string        `json:"follows,omitempty" doc:"The hash of the receipt before; none for the first."`
	LogKeyID   string        `json:"log_key_id,omitempty"`
	Signers    []Signer      `json:"signers"`
	Checks     []CheckedPart `json:"checks"`
	CannotKnow []string      `json:"cannot_know" doc:"What no receipt shows."`
}

// signedContext is a context of any issuer: what a verifier reads of it, and its hash.
type signedContext struct {
	Context
	Required json.RawMessage `json:"required_approvals"`
	Says     json.RawMessage `json:"decision"`
	hash     string
}

// approves says whether a context authorizes: those of other issuers name no decision where they do.
func (c signedContext) approves() bool {
	return c.Says == nil || string(c.Says) == `"approved"`
}

// verifying is one receipt under verification.
type verifying struct {
	Trust
	raw      map[string]json.RawMessage
	receipt  Receipt
	contexts []signedContext
	proofs   map[string]KeyEntry // attested by a server that is trusted
	approved []string            // who did
	signed   []string
	report   Verification
}

// Verify checks a receipt by itself, as section 7.3 of the draft says, with no other input than trust.
func Verify(raw []byte, trust Trust) Verification {
	v := verifying{Trust: trust, proofs: map[string]KeyEntry{}}
	v.report.Signers, v.report.CannotKnow = []Signer{}, cannotKnow(nil)
	if err := v.read(raw); err != nil {
		v.say(checkFormat, err)
		return v.report
	}
	v.say(checkFormat, nil)
	r := v.receipt
	v.say(checkAction, v.action())
	v.say(checkCommitments, v.commitments())
	v.attested()
	v.say(checkSignatures, v.signoffs())
	required, err := v.separate()
	v.say(checkSeparate, err)
	v.say(checkInclusion, v.inclusion())
	v.say(checkLog, v.checkpoint())
	v.say(checkWindows, v.windows())
	if v.Audience != "" {
		v.say(checkAudience, v.audience())
	}
	v.report.Authentic = !slices.ContainsFunc(v.report.Checks, func(c CheckedPart) bool { return !c.OK })
	err = nil
	if len(v.approved) < required {
		err = human.Errorf(human.Invalid, "%d of %d operators approve", len(v.approved), required)
	}
	v.say(checkApproved, err)
	v.report.Authorizes = v.report.Authentic && err == nil
	v.report.ReceiptID, v.report.Answered = r.ReceiptID, r.Consumption.CommittedAt
	v.report.Operation = strings.TrimPrefix(r.Action.Target.Resource, "operation/")
	v.report.Agent, v.report.Digest = r.Action.Initiator, r.Action.Parameters.Digest
	v.report.CannotKnow = cannotKnow(v.report.Signers)
	return v.report
}

func (v *verifying) say(name string, err error) {
	c := CheckedPart{Name: name, OK: err == nil}
	if err != nil {
		c.Said = &human.Sentence{Text: err.Error()}
		if e, is := errors.AsType[*human.Error](err); is {
			c.Said = &e.Said
		}
		c.Detail = c.Said.Text
	}
	v.report.Checks = append(v.report.Checks, c)
}

func cannotKnow(signers []Signer) []string {
	all := []string{
		"who the person is: a name is what the server calls the operator",
		"whether the operator read and understood what was asked",
		"whether the action was carried out, or carried out once",
		"whether a key was revoked, or the log shows others another history, since then",
	}
	for _, s := range signers {
		if s.KeyClass != classPasskey {
			return append(all, "whether the operator answered at all: for a signature of class C there is only the server's word")
		}
	}
	return all
}

func (v *verifying) read(raw []byte) error {
	clean, err := Canonical(raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(clean, &v.raw); err != nil {
		return human.Errorf(human.Invalid, "it is not a receipt")
	}
	// Timestamps and names only; what is hashed is taken from raw.
	lenient := maps.Clone(v.raw)
	delete(lenient, "contexts")
	again, err := json.Marshal(lenient)
	if err == nil {
		err = json.Unmarshal(again, &v.receipt)
	}
	if err != nil {
		return human.Errorf(human.Invalid, "it is not a receipt: %v", err)
	}
	var contexts []json.RawMessage
	if err := json.Unmarshal(cmpRaw(v.raw["contexts"]), &contexts); err != nil {
		return human.Errorf(human.Invalid, "its contexts cannot be read: %v", err)
	}
	for _, raw := range contexts {
		var c signedContext
		if err := json.Unmarshal(raw, &c); err != nil {
			return human.Errorf(human.Invalid, "a context cannot be read: %v", err)
		}
		_ = json.Unmarshal(c.Says, &c.Decision)
		c.hash = hashOf(raw) // it is canonical
		v.contexts = append(v.contexts, c)
	}
	if len(v.contexts) == 0 || len(v.receipt.Signoffs) == 0 {
		return human.Errorf(human.Invalid, "it has no context or no signoff")
	}
	return nil
}

func cmpRaw(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("[]")
	}
	return raw
}

func (v *verifying) action() error {
	if is := hashOf(v.raw["action"]); v.raw["action"] == nil || is != v.receipt.ActionHash {
		return human.Errorf(human.Invalid, "the action's hash is %s, the receipt says %q", is, v.receipt.ActionHash)
	}
	return nil
}

func (v *verifying) commitments() error {
	is := hashOf(v.raw["action"])
	for i, c := range v.contexts {
		switch {
		case c.ActionHash != is:
			return human.Errorf(human.Invalid, "context %d is about another action", i+1)
		case c.PolicyHash == "" || c.PolicyHash != v.contexts[0].PolicyHash:
			return human.Errorf(human.Invalid, "context %d has no policy, or another one", i+1)
		case c.Approver == "":
			return human.Errorf(human.Invalid, "context %d has no approver", i+1)
		}
	}
	return nil
}

// attested reads the passkeys that a server which is trusted says are its operators'.
func (v *verifying) attested() {
	var proofs []map[string]json.RawMessage
	_ = json.Unmarshal(cmpRaw(v.raw["approver_key_proofs"]), &proofs) // what is no proof proves nothing
	for _, raw := range proofs {
		var p KeyProof
		whole, _ := json.Marshal(raw)
		if json.Unmarshal(whole, &p) != nil {
			continue
		}
		delete(raw, "signature")
		signed, err := canonical(raw)
		if err == nil && checkEd25519(v.vouches(p), hashOf(signed), p.Signature) == nil && p.Key.KeyClass == classPasskey {
			v.proofs[p.ApproverKeyID] = p.Key
		}
	}
}

// vouches is the public key that may say whose a passkey is: a server's, or that of the operator's own desk.
func (v *verifying) vouches(p KeyProof) string {
	if entry, is := v.ApproverKeys[p.LogKeyID]; is && entry.ApproverID == p.Key.ApproverID && entry.KeyClass == classServer {
		return entry.PublicKey
	}
	return v.LogKeys[p.LogKeyID]
}

// key is the key that a signoff names, where it is trusted to sign for approver.
func (v *verifying) key(id, approver string) (KeyEntry, error) {
	if entry, pinned := v.ApproverKeys[id]; pinned {
		if entry.ApproverID == "" || entry.ApproverID != approver {
			return entry, human.Errorf(human.Invalid, "the key %s is not that of %s", id, approver)
		}
		return entry, nil
	}
	if entry, proven := v.proofs[id]; proven {
		if entry.ApproverID != approver {
			return entry, human.Errorf(human.Invalid, "the key %s is not that of %s", id, approver)
		}
		return entry, nil
	}
	if public, is := v.LogKeys[id]; is {
		return KeyEntry{PublicKey: public, KeyClass: classServer}, nil
	}
	return KeyEntry{}, human.Errorf(human.Invalid, "the key %s is not one that you trust", id)
}

func (v *verifying) signoffs() (err error) {
	for i, s := range v.receipt.Signoffs {
		at := slices.IndexFunc(v.contexts, func(c signedContext) bool { return c.hash == s.ContextHash })
		if at < 0 {
			return human.Errorf(human.Invalid, "signoff %d is over no context of the receipt", i+1)
		}
		c := v.contexts[at]
		if slices.ContainsFunc(v.receipt.Signoffs[:i], func(o Signoff) bool { return o.ContextHash == s.ContextHash }) {
			return human.Errorf(human.Invalid, "signoff %d is the second over its context", i+1)
		}
		class, one := v.signoff(s, c)
		if one != nil {
			if err == nil {
				err = human.Errorf(human.Invalid, "signoff %d: %s", i+1, human.Inner{Err: one})
			}
			continue
		}
		v.signed = append(v.signed, c.Approver)
		if c.approves() {
			v.approved = append(v.approved, c.Approver)
		}
		v.report.Signers = append(v.report.Signers, Signer{
			Operator: strings.TrimPrefix(c.Approver, operatorID("")), Decision: c.Decision, Means: c.Means, KeyClass: class,
			KeyID: s.ApproverKeyID, At: s.SignedAt,
		})
	}
	return err
}

// clockSkew is how far a verifier's clock and an issuer's may be apart.
const clockSkew = 5 * time.Minute

// signoff checks one signature. The class is that of the key which is trusted; a receipt cannot raise or lower it.
func (v *verifying) signoff(s Signoff, c signedContext) (class string, err error) {
	entry, err := v.key(s.ApproverKeyID, c.Approver)
	if err != nil {
		return "", err
	}
	issued, err := time.Parse(time.RFC3339, c.IssuedAt)
	switch {
	case err != nil:
		return "", human.Errorf(human.Invalid, "issued_at is not a time: %v", err)
	case !entry.CompromisedAt.IsZero():
		return "", human.Errorf(human.Invalid, "the key %s was compromised", s.ApproverKeyID)
	case issued.Before(entry.ValidFrom) || !entry.ValidTo.IsZero() && issued.After(entry.ValidTo):
		return "", human.Errorf(human.Invalid, "the key %s was not valid at %s", s.ApproverKeyID, c.IssuedAt)
	case !v.Now.IsZero() && issued.After(v.Now.Add(clockSkew)):
		return "", human.Errorf(human.Invalid, "it was issued at %s, which is yet to come", c.IssuedAt)
	}
	if entry.KeyClass != classPasskey {
		if s.KeyClass == classPasskey {
			return "", human.Errorf(human.Invalid, "it claims class A, the key %s is not a passkey", s.ApproverKeyID)
		}
		return classServer, checkEd25519(entry.PublicKey, s.ContextHash, s.Signature)
	}
	if s.WebAuthn == nil || s.WebAuthn.Signature != "" && s.WebAuthn.Signature != s.Signature {
		return "", human.Errorf(human.Invalid, "a passkey's assertion is missing, or has another signature")
	}
	return classPasskey, checkAssertion(*s.WebAuthn, c.hash, entry.PublicKey, v.RPID, v.Origins)
}

var errSignature = human.Errorf(human.Invalid, "the signature is not that of the key")

// checkEd25519 checks a signature over the bytes of a hash.
func checkEd25519(public, hash, signature string) error {
	key, err := parsePublic(public)
	if err != nil {
		return err
	}
	edKey, is := key.(ed25519.PublicKey)
	sum, err := parseHash(hash)
	sig, err2 := parseBase64(signature)
	if !is || err != nil || err2 != nil || !ed25519.Verify(edKey, sum, sig) {
		return errSignature
	}
	return nil
}

func parsePublic(text string) (any, error) {
	if text == "" {
		return nil, human.Errorf(human.Invalid, "its key is not one that you trust")
	}
	der, err := parseBase64(text)
	if err != nil {
		return nil, err
	}
	return x509.ParsePKIXPublicKey(der)
}

// parseBase64 reads base64url without padding, with the prefix that the draft's text has and its vectors do not.
func parseBase64(text string) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimPrefix(text, "b64u:"))
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, human.Errorf(human.Invalid, "it is not base64url without padding")
	}
	return b, nil
}

// Flags of authenticator data (WebAuthn, section 6.1).
const (
	userPresent  = 1 << 0
	userVerified = 1 << 2
)

// checkAssertion checks a passkey's assertion over a hash (WebAuthn, section 7.2). With neither rpID nor origins it may be from
// any page.
func checkAssertion(a Assertion, hash, public, rpID string, origins []string) error {
	sum, err := parseHash(hash)
	if err != nil {
		return err
	}
	clientData, err := parseBase64(a.ClientDataJSON)
	if err != nil {
		return err
	}
	var client struct {
		Type, Challenge, Origin string
		CrossOrigin             bool
	}
	if !jsontext.Value(clientData).IsValid() || json.Unmarshal(clientData, &client) != nil {
		return human.Errorf(human.Invalid, "the client data is not JSON")
	}
	data, err := parseBase64(a.AuthenticatorData)
	if err != nil {
		return err
	}
	of := sha256.Sum256([]byte(rpID))
	switch {
	case client.Type != "webauthn.get":
		return human.Errorf(human.Invalid, "the client data is not of an assertion")
	case client.Challenge != base64.RawURLEncoding.EncodeToString(sum):
		return human.Errorf(human.Invalid, "the passkey signed another challenge")
	case len(origins) > 0 && (client.CrossOrigin || !slices.Contains(origins, client.Origin)):
		return human.Errorf(human.Invalid, "the passkey was used on the page %q", client.Origin)
	case len(data) < 37 || data[32]&userPresent == 0:
		return human.Errorf(human.Invalid, "the passkey saw no user")
	case data[32]&userVerified == 0:
		return human.Errorf(human.Invalid, "the passkey did not verify its user")
	case rpID != "" && !bytes.Equal(data[:32], of[:]):
		return human.Errorf(human.Invalid, "the passkey is not one of %s", rpID)
	}
	key, err := parsePublic(public)
	if err != nil {
		return err
	}
	signature, err := parseBase64(a.Signature)
	if err != nil {
		return err
	}
	ofClient := sha256.Sum256(clientData)
	signed := slices.Concat(data, ofClient[:])
	digest := sha256.Sum256(signed)
	good := false
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		good = ecdsa.VerifyASN1(key, digest[:], signature)
	case ed25519.PublicKey:
		good = ed25519.Verify(key, signed, signature)
	case *rsa.PublicKey:
		good = rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) == nil
	}
	if !good {
		return errSignature
	}
	return nil
}

// separate checks that no one approves their own request, or signs twice, and says how many have to approve.
func (v *verifying) separate() (required int, err error) {
	required = 1
	for _, c := range v.contexts {
		if c.Required == nil {
			continue
		}
		var n int
		if json.Unmarshal(c.Required, &n) != nil || n < 1 {
			return required, human.Errorf(human.Invalid, "required_approvals is not a number of people")
		}
		required = max(required, n)
	}
	var action struct {
		Initiator *string `json:"initiator"`
	}
	if json.Unmarshal(v.raw["action"], &action) != nil {
		return required, human.Errorf(human.Invalid, "the initiator is not a name")
	}
	if action.Initiator != nil && slices.Contains(v.signed, *action.Initiator) {
		return required, human.Errorf(human.Invalid, "the initiator approves its own request")
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(v.signed))); len(distinct) != len(v.signed) {
		return required, human.Errorf(human.Invalid, "an operator signed twice")
	}
	return required, nil
}

func (v *verifying) inclusion() error {
	proof := v.receipt.LogProof
	if proof == nil {
		return human.Errorf(human.Invalid, "the receipt has no place in a log")
	}
	if proof.Alg != merkleAlg {
		return human.Errorf(human.Invalid, "the log's tree is hashed by %q; only %s is known", proof.Alg, merkleAlg)
	}
	inLog := maps.Clone(v.raw)
	delete(inLog, "log_proof")
	delete(inLog, "approver_key_proofs")
	b, err := canonical(inLog)
	if err != nil {
		return err
	}
	leaf := leafHash(b)
	if proof.LeafHash != "" && bare(proof.LeafHash) != leaf {
		return human.Errorf(human.Invalid, "the receipt is not the one that was added to the log")
	}
	if err := placed(proof.LeafIndex, proof.Checkpoint.TreeSize, proof.InclusionPath); err != nil {
		return err
	}
	root, err := rootOf(leaf, proof.InclusionPath)
	if err != nil {
		return err
	}
	if root != bare(proof.Checkpoint.RootHash) {
		return human.Errorf(human.Invalid, "the receipt is not in the log whose head it has")
	}
	v.report.Position, v.report.Hash, v.report.Follows = proof.LeafIndex+1, hashPrefix+leaf, proof.Checkpoint.PrevReceiptHash
	return nil
}

// CheckAfter checks that v is of the receipt that follows another one in the log, and says so in v.
func (v *Verification) CheckAfter(before Verification) {
	c := CheckedPart{Name: checkChain, OK: true, Detail: fmt.Sprintf("%d follows %d", v.Position, before.Position)}
	switch {
	case !before.Authentic:
		c = CheckedPart{Name: checkChain, Detail: "the receipt before is not authentic"}
	case v.Position != before.Position+1:
		c = CheckedPart{Name: checkChain, Detail: fmt.Sprintf("number %d of the log is not the one after number %d", v.Position, before.Position)}
	case v.Follows != before.Hash:
		c = CheckedPart{Name: checkChain, Detail: fmt.Sprintf("number %d names another receipt as the one before it: receipts were removed or changed", v.Position)}
	}
	v.Checks = append(v.Checks, c)
	v.Authentic = v.Authentic && c.OK
	v.Authorizes = v.Authorizes && c.OK
}

// placed checks that a path is that of the leaf at index in a tree of size leaves (RFC 9162, section 2.1.3.2).
func placed(index, size uint64, path []Step) error {
	if index >= size {
		return errPath
	}
	at, last := index, size-1
	for _, step := range path {
		if last == 0 {
			return errPath
		}
		position := "right"
		if at&1 == 1 || at == last {
			position = "left"
			for at&1 == 0 {
				at, last = at>>1, last>>1
			}
		}
		if step.Position != position {
			return errPath
		}
		at, last = at>>1, last>>1
	}
	if last != 0 {
		return errPath
	}
	return nil
}

func (v *verifying) checkpoint() error {
	var proof struct {
		Checkpoint map[string]json.RawMessage `json:"checkpoint"`
	}
	if v.receipt.LogProof == nil || json.Unmarshal(v.raw["log_proof"], &proof) != nil {
		return human.Errorf(human.Invalid, "the log's head is missing")
	}
	delete(proof.Checkpoint, "log_signature")
	b, err := canonical(proof.Checkpoint)
	if err != nil {
		return err
	}
	head := v.receipt.LogProof.Checkpoint
	v.report.LogKeyID = head.LogKeyID
	public, is := v.LogKeys[head.LogKeyID]
	if !is {
		return human.Errorf(human.Invalid, "the log's key %s is not one that you trust", head.LogKeyID)
	}
	return checkEd25519(public, hashOf(b), head.LogSignature)
}

func (v *verifying) windows() error {
	committed, err := time.Parse(time.RFC3339, v.receipt.Consumption.CommittedAt)
	if err != nil {
		return human.Errorf(human.Invalid, "committed_at is not a time")
	}
	for i, c := range v.contexts {
		if !within(committed, c.IssuedAt, c.ExpiresAt) {
			return human.Errorf(human.Invalid, "the answer was stored outside of the time that context %d allows", i+1)
		}
	}
	for i, s := range v.receipt.Signoffs {
		at := slices.IndexFunc(v.contexts, func(c signedContext) bool { return c.hash == s.ContextHash })
		signed, err := time.Parse(time.RFC3339, s.SignedAt)
		if at < 0 || err != nil || !within(signed, v.contexts[at].IssuedAt, v.contexts[at].ExpiresAt) {
			return human.Errorf(human.Invalid, "signoff %d was given outside of the time its context allows", i+1)
		}
	}
	return nil
}

func (v *verifying) audience() error {
	for _, c := range v.contexts {
		if c.Audience != v.Audience {
			return human.Errorf(human.Invalid, "it is for %s", c.Audience)
		}
	}
	return nil
}
