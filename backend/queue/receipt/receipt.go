// Package receipt makes and checks receipts of operators' answers, as EP-AUTHORIZATION-RECEIPT-v1 of
// draft-schrock-ep-authorization-receipts-12 describes them: what was asked (the action), who answered it and how (the
// authorization context), a signature over that (the signoff), and the answer's place in the log of all receipts.
// docs/receipts.md says what a receipt proves, and where it departs from the draft. The package does no I/O.
package receipt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// A Decision is what an answer comes to.
type Decision string

// The decisions. An executor may act on Approved alone.
const (
	Approved Decision = "approved"
	Denied   Decision = "denied"
	Answered Decision = "answered" // work done, words, or what to change in a plan
	Declined Decision = "declined"
)

// DecisionOf is what an answer that ends an operation, or votes, comes to.
func DecisionOf(a human.Answer) Decision {
	switch a.Decision {
	case human.Approved:
		return Approved
	case human.Refused:
		return Denied
	}
	return Answered
}

// BySession is the means of proof of an answer that came with none: whoever held the session gave it.
const BySession human.Means = "session"

// How long a context may be signed after it was made. That of a plan which several operators confirm lasts as long as the plan, that of
// the first of two approvals until the second.
const (
	validity     = 5 * time.Minute
	validityVote = 366 * 24 * time.Hour
	validityTwo  = human.ApprovalTime + validity
)

// MinNonce is the fewest random bytes a nonce may have.
const MinNonce = 16

// An Action is what an agent asked for: the Action Object of the draft.
type Action struct {
	ActionType  string     `json:"action_type" doc:"deskbell. and the kind of operation."`
	EPVersion   string     `json:"ep_version"`
	Initiator   string     `json:"initiator" doc:"Whose key asked."`
	Parameters  Parameters `json:"parameters"`
	PolicyID    string     `json:"policy_id"`
	RequestedAt string     `json:"requested_at"`
	Target      Target     `json:"target"`
}

// A Target names an operation.
type Target struct {
	Resource string `json:"resource"`
	System   string `json:"system"`
}

// Parameters are the hashes of what was asked, each of the exact bytes.
type Parameters struct {
	ContextHash     string `json:"context_hash,omitempty"`
	DescriptionHash string `json:"description_hash"`
	DetailsHash     string `json:"details_hash,omitempty"`
	Digest          string `json:"digest" doc:"What the answer is bound to: the operation's digest, or that of the call as the operator edited it."`
	RequestedDigest string `json:"requested_digest,omitempty" doc:"Of an edited call: the operation's digest, of the call as it was sent."`
}

// A Context is what an operator signs, or the server in their name: the Authorization Context of the draft.
type Context struct {
	ActionHash        string      `json:"action_hash"`
	AnswerHash        string      `json:"answer_hash" doc:"Of the answer: see docs/receipts.md."`
	Approver          string      `json:"approver"`
	ApproverIndex     int         `json:"approver_index"`
	Audience          string      `json:"audience" doc:"Whom it is for: the agent that asked."`
	ContextType       string      `json:"context_type"`
	Decision          Decision    `json:"decision" enum:"approved,denied,answered,declined"`
	EPVersion         string      `json:"ep_version"`
	ExpiresAt         string      `json:"expires_at"`
	Initiator         string      `json:"initiator"`
	IssuedAt          string      `json:"issued_at"`
	Means             human.Means `json:"means" enum:"session,pin,system,passkey" doc:"How the operator showed that a person was there."`
	Nonce             string      `json:"nonce"`
	PolicyHash        string      `json:"policy_hash"`
	PolicyID          string      `json:"policy_id"`
	RequiredApprovals int         `json:"required_approvals"`
}

// An Assertion is what a passkey signed.
type Assertion struct {
	AuthenticatorData string `json:"authenticator_data"`
	ClientDataJSON    string `json:"client_data_json"`
	Signature         string `json:"signature"`
}

// A Signoff is a signature over a context.
type Signoff struct {
	ApproverKeyID string     `json:"approver_key_id"`
	ContextHash   string     `json:"context_hash"`
	KeyClass      string     `json:"key_class" enum:"A,C" doc:"A: the operator's passkey. C: the server, in the operator's name."`
	Signature     string     `json:"signature"`
	SignedAt      string     `json:"signed_at"`
	WebAuthn      *Assertion `json:"webauthn,omitempty"`
}

// Consumption says that the answer was used: it ended the operation, or counted as a vote.
type Consumption struct {
	CommittedAt string `json:"committed_at"`
	Nonce       string `json:"nonce"`
	State       string `json:"state" enum:"COMMITTED,DENIED"`
}

// A KeyProof is the server's word that a passkey is an operator's: its signature over the canonical JSON of the rest.
type KeyProof struct {
	ApproverKeyID string   `json:"approver_key_id"`
	Key           KeyEntry `json:"key"`
	LogKeyID      string   `json:"log_key_id"`
	Signature     string   `json:"signature,omitempty"`
}

// A Receipt is a Trust Receipt of the draft.
type Receipt struct {
	Action            Action      `json:"action"`
	ActionHash        string      `json:"action_hash"`
	ApproverKeyProofs []KeyProof  `json:"approver_key_proofs,omitempty"`
	Consumption       Consumption `json:"consumption"`
	Contexts          []Context   `json:"contexts"`
	LogProof          *LogProof   `json:"log_proof,omitempty"`
	ReceiptID         string      `json:"receipt_id"`
	Signoffs          []Signoff   `json:"signoffs"`
}

// Encode is the receipt's canonical JSON.
func (r Receipt) Encode() (human.Receipt, error) {
	b, err := canonical(r)
	if err != nil {
		return human.Receipt{}, unwritten(err)
	}
	return human.Receipt{RawMessage: b}, nil
}

// Leaf is the hash in the log of receipts of one that Encode wrote: of all but what is added there.
func Leaf(r human.Receipt) (string, error) {
	if !bytes.Contains(r.RawMessage, []byte(`"approver_key_proofs"`)) { // few have them, and their log_proof stands elsewhere
		return leafHash(r.RawMessage), nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(r.RawMessage, &all); err != nil {
		return "", err
	}
	delete(all, "approver_key_proofs")
	bare, err := canonical(all)
	return leafHash(bare), err
}

// A policy is what had to be met: the object whose hash is policy_hash.
type policy struct {
	Operators         []string `json:"operators,omitempty"` // who has to be among them
	PolicyID          string   `json:"policy_id"`
	RequiredApprovals int      `json:"required_approvals"`
}

// sole is what most answers have to meet.
var (
	sole        = policy{PolicyID: policyID, RequiredApprovals: 1}
	soleHash, _ = hashed(sole)
)

const (
	epVersion   = "1.0"
	contextType = "ep.signoff.v1"
	policyID    = "deskbell:policy:answer@v1"
)

// Names of who takes part.
func agentID(name string) string    { return "deskbell:agent:" + name }
func operatorID(name string) string { return "deskbell:operator:" + name }
func audienceOf(agent string) string {
	return "urn:deskbell:agent:" + url.PathEscape(agent)
}

// actionOf is what an answer is to. Where an operator edited the call, that is the edited one: whoever compares the digest of what is
// to run finds an approval of nothing else.
func actionOf(op human.Operation, answer human.Answer) Action {
	a := Action{
		EPVersion: epVersion, ActionType: "deskbell." + string(op.Kind),
		Target:     Target{System: "deskbell", Resource: "operation/" + string(op.ID)},
		Parameters: Parameters{Digest: hashPrefix + op.Digest, DescriptionHash: hashOf([]byte(op.Description))},
		Initiator:  agentID(op.AgentID), PolicyID: policyID, RequestedAt: timeText(op.CreatedAt),
	}
	if digest := op.AnswerDigest(answer); digest != op.Digest {
		a.Parameters.Digest, a.Parameters.RequestedDigest = hashPrefix+digest, hashPrefix+op.Digest
	}
	if len(op.Details) > 0 {
		a.Parameters.DetailsHash = hashOf(op.Details)
	}
	if len(op.Context) > 0 {
		a.Parameters.ContextHash = hashOf(op.Context)
	}
	return a
}

func timeText(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// policyOf is what an answer to op has to meet.
func policyOf(op human.Operation) (policy, error) {
	p := sole
	if op.Kind != human.Plan {
		p.RequiredApprovals = max(1, op.ApprovalsNeeded)
		return p, nil
	}
	q, err := op.PlanQuestion()
	if err == nil && q.Together() {
		p.RequiredApprovals, p.Operators = max(q.Confirmations, len(q.Operators)), q.Operators
	}
	return p, err
}

// NewContext is the context of one answer by an operator to op, whole as it stands before the answer. What is signed is its
// Hash, the challenge of a passkey. answer is filled in as the operation's kind does; of one that declines only HumanInput
// counts, the reason. nonce is random, of at least MinNonce bytes. An answer that the kind does not take is an error.
func NewContext(op human.Operation, by human.Actor, d Decision, answer human.Answer, means human.Means, at time.Time, nonce []byte) (Context, error) {
	if k, is := kind.Of(op.Kind); is && d != Declined {
		if err := k.Check(op, &answer); err != nil { // it completes the arguments of an edited call
			return Context{}, err
		}
	}
	actionHash, err := hashed(actionOf(op, answer))
	if err != nil {
		return Context{}, unwritten(err)
	}
	return newContext(op, actionHash, by, d, answer, means, at, nonce)
}

// newContext is NewContext with the hash of op's action.
func newContext(op human.Operation, actionHash string, by human.Actor, d Decision, answer human.Answer, means human.Means, at time.Time, nonce []byte) (Context, error) {
	if len(nonce) < MinNonce {
		return Context{}, human.Errorf(human.Internal, "a nonce has %d bytes; it needs %d", len(nonce), MinNonce)
	}
	if k, is := kind.Of(op.Kind); is && d != Declined {
		if err := k.Check(op, &answer); err != nil {
			return Context{}, err
		}
		d = DecisionOf(answer)
	}
	answerHash, err := AnswerHash(answer)
	if err != nil {
		return Context{}, err
	}
	must, err := policyOf(op)
	if err != nil {
		return Context{}, err
	}
	policyHash := soleHash
	if must.RequiredApprovals > 1 || len(must.Operators) > 0 {
		if policyHash, err = hashed(must); err != nil {
			return Context{}, unwritten(err)
		}
	}
	if means == "" {
		means = BySession
	}
	c := Context{
		EPVersion: epVersion, ContextType: contextType, ActionHash: actionHash, PolicyID: policyID, PolicyHash: policyHash,
		Initiator: agentID(op.AgentID), Audience: audienceOf(op.AgentID), Approver: operatorID(by.Name), ApproverIndex: 1,
		RequiredApprovals: must.RequiredApprovals, Nonce: base64.RawURLEncoding.EncodeToString(nonce),
		IssuedAt: timeText(at), ExpiresAt: timeText(at.Add(validity)), Decision: d, AnswerHash: answerHash, Means: means,
	}
	if must.RequiredApprovals > 1 {
		c.ExpiresAt = timeText(at.Add(validityVote))
		if op.Kind != human.Plan {
			c.ExpiresAt = timeText(at.Add(validityTwo))
		}
		if first := op.FirstApproval(at); first != nil && first.By != by && d == Approved {
			c.ApproverIndex++
		}
		for _, v := range op.Votes {
			if v.By != by {
				c.ApproverIndex++
			}
		}
	}
	return c, nil
}

func unwritten(err error) error {
	return human.Wrap(human.Internal, err, "a receipt cannot be written: %v", err)
}

// AnswerHash is the SHA-256 of what an answer says: the canonical JSON of those members of an operation's result that its agent
// acts on. Its summary and findings are derived, from these and from recordings; the journal's chain covers them. Integers stay
// as they were written, be they larger than other implementations can hold.
func AnswerHash(a human.Answer) (string, error) {
	type plan struct {
		Action     human.PlanAction `json:"action"`
		Tasks      []human.Task     `json:"tasks,omitempty"`
		TaskByTask bool             `json:"task_by_task,omitempty"`
	}
	said := struct {
		HumanInput      string               `json:"human_input,omitempty"`
		ExecutionResult string               `json:"execution_result,omitempty"`
		Decision        human.Decision       `json:"decision,omitempty"`
		Fields          map[string]string    `json:"fields,omitempty"`
		Attachments     []human.AttachmentID `json:"attachments,omitempty"` // the files, which their ids stand for byte by byte
		Choice          human.ChoiceAction   `json:"choice,omitempty"`
		Args            json.RawMessage      `json:"args,omitempty"`
		Plan            *plan                `json:"plan,omitempty"`
		human.WorkAnswer
		human.BoxAnswer
	}{HumanInput: a.HumanInput, ExecutionResult: a.ExecutionResult, Decision: a.Decision, Fields: a.Fields, Attachments: a.AttachedIDs(), Choice: a.Choice, Args: a.Args, WorkAnswer: a.WorkAnswer, BoxAnswer: a.BoxAnswer}
	if a.Plan != nil {
		said.Plan = &plan{a.Plan.Action, a.Plan.Tasks, a.Plan.TaskByTask}
	}
	raw, err := json.Marshal(said)
	if err != nil {
		return "", human.Wrap(human.Invalid, err, "the answer is not JSON: %v", err)
	}
	value := jsontext.Value(raw)
	if err := value.Canonicalize(jsontext.CanonicalizeRawInts(false)); err != nil {
		return "", human.Wrap(human.Invalid, err, "the answer cannot be signed: %v", err)
	}
	return hashOf(value), nil
}

// Canonical is the context as it is hashed.
func (c Context) Canonical() ([]byte, error) { return canonical(c) }

// Hash is the SHA-256 of the context's canonical JSON.
func (c Context) Hash() (string, error) { return hashed(c) }
