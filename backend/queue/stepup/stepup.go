// Package stepup asks operators to prove that a person is there before what is dangerous is done: with a passkey, with the operating
// system's own check, or with a PIN. One proof counts for one act, once, and for a short time. A Service is safe for concurrent use.
package stepup

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// Lives of a challenge, and how many one session may have at a time.
const (
	proveLife     = 3 * time.Minute  // until it is met
	useLife       = 60 * time.Second // from then until the act
	maxChallenges = 32
)

// ActKind is what an operator does that may need proof.
type ActKind string

// The kinds of acts.
const (
	Answer     ActKind = "answer"     // lets an agent do something
	Rule       ActKind = "rule"       // makes a rule that allows, or deletes one that does not
	Key        ActKind = "key"        // makes a key
	Gatekeeper ActKind = "gatekeeper" // makes the gatekeeper or the confirming of plans looser
	Settings   ActKind = "stepup"     // changes what needs proof, or what proves
	Team       ActKind = "team"       // changes who is in the team
)

// An Act is one exact thing that an operator's session asks for.
type Act struct {
	Kind    ActKind
	Subject string // what it is done to: an operation's id, a name
	Says    string // what is done, in a word: approve
	Digest  string // SHA-256 of the exact call, in hex
	Shown   string // of an answer: the digest of what was shown
	By      human.Actor

	Session string // who else gives the proof, gives it in vain
	Window  bool   // the session is the desktop window's, and no one-time code made it
	Phone   bool   // the session is a paired phone's
	Origin  string // of the page; empty where there is none

	Risk   human.Risk // of an answer
	Allows bool       // of an answer: makes a rule that allows, too
	Human  bool       // of an answer: what is answered is no approval, permission or plan
	// Of an answer to an operation, nil else: what it will be, for the context that a passkey signs.
	Operation *human.Operation
	Answer    *human.Answer
}

// Requirements say what needs proof. The zero value is nothing.
type Requirements struct {
	Answers    human.Risk `json:"answers" enum:",high,critical" doc:"The least risk of an approval, permission or plan from which letting it happen needs proof. Empty: none does."`
	Rules      bool       `json:"rules" doc:"Making a rule that allows, and deleting one that asks or blocks."`
	Keys       bool       `json:"keys" doc:"Making an agent's key."`
	Gatekeeper bool       `json:"gatekeeper" doc:"A looser policy of the gatekeeper, and plans that are confirmed by no one."`
}

// A System asks a person through the operating system. Errors are of package human.
type System interface {
	// Check is what it asks for.
	Check() human.SystemCheck
	// Available returns why the system cannot ask, nil where it can. It blocks shortly.
	Available(ctx context.Context) error
	// Ask blocks until the person has shown that they are there (nil), did not, or ctx ends. process is whose terminal or session is
	// asked; 0 is our own.
	Ask(ctx context.Context, process int) error
}

// Deps is what a Service needs.
type Deps struct {
	Vault  Vault
	System System // nil: there is none
	Now    func() time.Time
	Log    *slog.Logger
}

// A Service knows what needs proof and which means are set up, and holds challenges.
type Service struct {
	d Deps

	mu         sync.Mutex
	key        []byte // of the seal
	saved      string // what the vault was given last
	r          record
	broken     bool // the record was changed or lost while Deskbell did not run, and no operator has seen it yet
	challenges map[string]*challenge
	enrolling  map[string]webauthn.SessionData // registrations that are under way, by session

	pin sync.Mutex // one try after the other: each takes time and memory
}

// A challenge is what is to be met for one act.
type challenge struct {
	id      string
	act     Act
	until   time.Time
	context json.RawMessage
	sign    *webauthn.SessionData // of a passkey
	proof   *human.Proof          // once it is met
}

// New reads the record. A record that was changed or has vanished is no error: see Overview.Broken.
func New(ctx context.Context, d Deps) (*Service, error) {
	s := &Service{d: d, challenges: map[string]*challenge{}, enrolling: map[string]webauthn.SessionData{}}
	return s, s.load(ctx)
}

// Needed is the error of an act whose proof is missing. What it says is fit to show.
type Needed struct {
	Challenge string        `json:"challenge" doc:"Meet it with POST /api/stepup, then make the same call again with the header Deskbell-Proof: CHALLENGE."`
	Until     time.Time     `json:"until"`
	Act       ActKind       `json:"act" enum:"answer,rule,key,gatekeeper,stepup,team"`
	Subject   string        `json:"subject,omitempty"`
	Says      string        `json:"says,omitempty"`
	Digest    string        `json:"digest,omitempty" doc:"Of an answer: the operation's, to which it is bound."`
	Means     []human.Means `json:"means" enum:"pin,system,passkey" doc:"What works from here."`
	Elsewhere []Elsewhere   `json:"elsewhere" doc:"What is set up and does not work from here, and why."`
	PIN       Tries         `json:"pin"`

	SystemCheck human.SystemCheck `json:"system_check,omitempty" enum:"password,hello,touch_id" doc:"What the operating system asks for."`
}

// Elsewhere is a means that does not work where the call came from.
type Elsewhere struct {
	Means human.Means    `json:"means" enum:"pin,system,passkey"`
	Why   human.Sentence `json:"why"`
	At    string         `json:"at,omitempty" doc:"An address at which it works."`
}

// Tries is how the PIN stands.
type Tries struct {
	Wrong int        `json:"wrong" doc:"Tries since the last right one."`
	Left  int        `json:"left" doc:"Tries until the next pause."`
	Until *time.Time `json:"until,omitempty" doc:"No PIN is taken until then."`
}

var errNeeded = human.Say("proof_needed")

func (n *Needed) Error() string { return errNeeded.Text }

// Unwrap makes it an error of package human.
func (n *Needed) Unwrap() error {
	return &human.Error{Kind: human.Denied, Msg: errNeeded.Text, Said: errNeeded}
}

// Require returns the proof for an act, nil where none is needed. given is the challenge that the caller says it has met, or empty.
// Without a proof the error is a *Needed.
func (s *Service) Require(ctx context.Context, a Act, given string) (*human.Proof, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch(ctx)
	if !s.needs(a) {
		return nil, nil
	}
	if given != "" {
		return s.redeem(ctx, a, given)
	}
	if a.Phone && !s.r.setUp() && !s.broken {
		why := human.Say("proof_phone_none")
		return nil, &human.Error{Kind: human.Denied, Msg: why.Text, Said: why}
	}
	n, err := s.challenge(ctx, a)
	if err != nil {
		return nil, err
	}
	return nil, n
}

// Needs says whether an act needs proof, without beginning anything.
func (s *Service) Needs(a Act) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.needs(a)
}

func (s *Service) needs(a Act) bool {
	if s.broken {
		if a.Kind == Settings { // in the window all of it may be set up again
			return !a.Window
		}
		return a.Kind != Answer || a.Allows || level(a) >= human.HighRisk.Level()
	}
	if a.Phone && (a.Kind != Answer || a.Allows || level(a) >= human.HighRisk.Level()) {
		return true // also where nothing is set up
	}
	if !s.r.setUp() {
		return false
	}
	p := s.r.Policy
	switch a.Kind {
	case Answer:
		from := p.Answers != "" && !a.Human && level(a) >= p.Answers.Level()
		return from || a.Allows && (p.Rules || !a.Window) || !a.Window && level(a) > human.LowRisk.Level()
	case Rule:
		return p.Rules || !a.Window
	case Key:
		return p.Keys
	case Gatekeeper:
		return p.Gatekeeper || !a.Window
	}
	return true
}

// level is an answer's risk. Agents that do not say it for an approval must not get by as those that say low.
func level(a Act) int {
	if a.Risk != "" {
		return a.Risk.Level()
	}
	if a.Human {
		return human.NoRisk.Level()
	}
	return human.MediumRisk.Level()
}

// challenge begins one. The caller holds mu.
func (s *Service) challenge(ctx context.Context, a Act) (*Needed, error) {
	now := s.d.Now()
	maps.DeleteFunc(s.challenges, func(_ string, c *challenge) bool { return !c.until.After(now) })
	var mine []*challenge
	for _, c := range s.challenges {
		if c.act.Session == a.Session {
			mine = append(mine, c)
		}
	}
	if len(mine) >= maxChallenges {
		oldest := slices.MinFunc(mine, func(a, b *challenge) int { return a.until.Compare(b.until) })
		delete(s.challenges, oldest.id)
	}
	c := &challenge{id: "dbp_" + rand.Text(), act: a, until: now.Add(proveLife)}
	var err error
	if c.context, err = s.contextOf(a); err != nil {
		return nil, err
	}
	s.challenges[c.id] = c
	n := &Needed{
		Challenge: c.id, Until: c.until.UTC(), Act: a.Kind, Subject: a.Subject, Says: a.Says, Digest: a.Shown, PIN: s.tries(),
		Means: []human.Means{}, Elsewhere: []Elsewhere{}, SystemCheck: s.systemCheck(),
	}
	s.means(ctx, a, n)
	return n, nil
}

// means says what is set up, and what of it works for an act. The caller holds mu.
func (s *Service) means(ctx context.Context, a Act, n *Needed) {
	elsewhere := func(m human.Means, at string, why human.Sentence) {
		n.Elsewhere = append(n.Elsewhere, Elsewhere{Means: m, Why: why, At: at})
	}
	if len(s.r.Passkeys) > 0 {
		switch rp, err := rpOf(a.Origin); {
		case err == nil && len(s.r.credentials(rp)) > 0:
			n.Means = append(n.Means, human.ByPasskey)
		case err == nil:
			elsewhere(human.ByPasskey, "", human.Say("proof_other_host", "host", s.r.Passkeys[0].RP))
		case a.Phone:
			elsewhere(human.ByPasskey, "", human.Say("proof_phone_passkey"))
		case a.Origin == "" || a.Window:
			elsewhere(human.ByPasskey, "", human.Say("proof_browser_only"))
		default:
			elsewhere(human.ByPasskey, atLocalhost(a.Origin), human.Say("proof_at_localhost"))
		}
	}
	if (s.r.System || s.broken) && a.Phone {
		elsewhere(human.BySystem, "", human.Say("proof_phone_system"))
	} else if s.r.System || s.broken {
		if err := s.systemAvailable(ctx); err != nil {
			said := human.Say("proof_no_system")
			elsewhere(human.BySystem, "", said)
			s.d.Log.Warn("the system cannot ask for proof of presence", "err", err)
		} else {
			n.Means = append(n.Means, human.BySystem)
		}
	}
	if s.r.PIN != nil {
		if a.Window || a.Phone {
			n.Means = append(n.Means, human.ByPIN)
		} else {
			elsewhere(human.ByPIN, "", human.Say("proof_window_only"))
		}
	}
}

// systemCheck is what the operating system asks for; empty where it has no check.
func (s *Service) systemCheck() human.SystemCheck {
	if s.d.System == nil {
		return ""
	}
	return s.d.System.Check()
}

func (s *Service) systemAvailable(ctx context.Context) error {
	if s.d.System == nil {
		return human.Errorf(human.Unavailable, "this system has no check of its own that Deskbell can use")
	}
	return s.d.System.Available(ctx)
}

// atLocalhost is a page's address under the name localhost, which passkeys need; empty where that is no name of it.
func atLocalhost(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" || u.Hostname() != "127.0.0.1" && u.Hostname() != "::1" {
		return ""
	}
	return "http://localhost:" + u.Port()
}

// contextOf is what a passkey signs, in canonical JSON: of an answer the context of its receipt.
func (s *Service) contextOf(a Act) (json.RawMessage, error) {
	var nonce [32]byte
	rand.Read(nonce[:])
	if a.Operation != nil && a.Answer != nil {
		c, err := receipt.NewContext(*a.Operation, a.By, "", *a.Answer, human.ByPasskey, s.d.Now(), nonce[:])
		if err != nil {
			return nil, err
		}
		return c.Canonical()
	}
	text, err := json.Marshal(map[string]string{
		"act": string(a.Kind), "at": s.d.Now().UTC().Format(time.RFC3339), "call": a.Digest, "nonce": hex.EncodeToString(nonce[:]),
		"operator": a.By.Name, "says": a.Says, "subject": a.Subject, "type": "deskbell-presence-v1",
	})
	if err != nil {
		return nil, err
	}
	return receipt.Canonical(text)
}

// redeem takes the proof of an act. Whatever comes of it, the challenge is used up. The caller holds mu.
func (s *Service) redeem(ctx context.Context, a Act, given string) (*human.Proof, error) {
	c := s.challenges[given]
	if c == nil || c.act.Session != a.Session {
		return nil, human.Errorf(human.Denied, "this proof was used, has expired or belongs to another session; make the call again without it")
	}
	delete(s.challenges, given)
	switch {
	case !c.until.After(s.d.Now()):
		return nil, human.Errorf(human.Denied, "this proof has expired; make the call again without it")
	case c.proof == nil:
		return nil, human.Errorf(human.Denied, "this challenge was not met; make the call again without it")
	case c.act.Kind != a.Kind || c.act.Digest != a.Digest:
		s.notice(ctx, human.Say("stepup_other_act", "operator", a.By.Name))
		return nil, human.Errorf(human.Denied, "this proof is for something else; make the call again without it")
	}
	return c.proof, nil
}

// A Claim is how a session meets a challenge.
type Claim struct {
	Challenge string          `json:"challenge"`
	Means     human.Means     `json:"means" enum:"pin,system,passkey"`
	PIN       string          `json:"pin,omitempty" doc:"Of pin; from the desktop window only."`
	Assertion json.RawMessage `json:"assertion,omitempty" doc:"Of passkey: PublicKeyCredential.toJSON() (WebAuthn Level 3). Absent: begin, and get options."`
	Process   int             `json:"process,omitempty" doc:"Of system: the process whose terminal is asked. Absent: the desktop's session is."`
}

// A Claimed is what comes of a Claim.
type Claimed struct {
	Proof   string          `json:"proof,omitempty" doc:"For the header Deskbell-Proof of the same call, made again. It counts once."`
	Until   *time.Time      `json:"until,omitempty"`
	Options json.RawMessage `json:"options,omitempty" doc:"Of passkey: for navigator.credentials.get (PublicKeyCredentialRequestOptionsJSON)."`
}

// Prove meets a challenge of the session, or begins to with a passkey. It blocks while the system asks.
func (s *Service) Prove(ctx context.Context, by Act, claim Claim) (Claimed, error) {
	s.mu.Lock()
	c := s.challenges[claim.Challenge]
	if c == nil || c.act.Session != by.Session || !c.until.After(s.d.Now()) {
		s.mu.Unlock()
		return Claimed{}, human.Errorf(human.NotFound, "this challenge was used, has expired or belongs to another session; make the call again")
	}
	n := Needed{}
	s.means(ctx, by, &n)
	works := slices.Contains(n.Means, claim.Means)
	s.mu.Unlock()
	if !works {
		for _, e := range n.Elsewhere {
			if e.Means == claim.Means {
				return Claimed{}, &human.Error{Kind: human.Denied, Msg: e.Why.Text, Said: e.Why}
			}
		}
		return Claimed{}, human.BadField("means", "%q is not set up", human.OneLine(string(claim.Means), 20))
	}
	var err error
	proof := &human.Proof{Means: claim.Means}
	switch claim.Means {
	case human.ByPIN:
		err = s.tryPIN(ctx, claim.PIN)
	case human.BySystem:
		if err = s.d.System.Ask(ctx, claim.Process); err != nil {
			s.d.Log.Warn("the system's check was not passed", "operator", by.By.Name, "err", err)
		}
	case human.ByPasskey:
		if len(claim.Assertion) == 0 {
			options, err := s.beginPasskey(c, by.Origin)
			return Claimed{Options: options}, err
		}
		proof.Context, proof.Assertion = c.context, claim.Assertion
		err = s.finishPasskey(ctx, c, by.Origin, claim.Assertion)
	}
	if err != nil {
		return Claimed{}, err
	}
	return s.met(claim.Challenge, c, proof)
}

// met notes that a challenge is met, where it still is one.
func (s *Service) met(id string, c *challenge, proof *human.Proof) (Claimed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.d.Now().UTC()
	if s.challenges[id] != c || !c.until.After(now) || c.proof != nil {
		return Claimed{}, human.Errorf(human.Denied, "this proof has expired; make the call again without it")
	}
	proof.At, c.proof, c.until = now, proof, now.Add(useLife)
	until := c.until
	return Claimed{Proof: id, Until: &until}, nil
}

// sum is the SHA-256 of data.
func sum(data []byte) []byte {
	h := sha256.Sum256(data)
	return h[:]
}
