package stepup

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

const (
	maxPasskeys = 20
	maxName     = 64 // characters of a passkey's name
)

// signatures are the kinds that receipts can be checked with: ES256, and RS256 for Windows Hello.
var signatures = []protocol.CredentialParameter{
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgES256}, {Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgRS256},
}

// A passkey is a credential of an authenticator.
type passkey struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	RP         string              `json:"rp"` // the host it is for
	At         time.Time           `json:"at"`
	Used       *time.Time          `json:"used,omitempty"`
	Credential webauthn.Credential `json:"credential"`
}

// A user is the operator as WebAuthn knows them, with the passkeys for one host.
type user struct {
	id          []byte
	name        string
	credentials []webauthn.Credential
}

func (u user) WebAuthnID() []byte                         { return u.id }
func (u user) WebAuthnName() string                       { return u.name }
func (u user) WebAuthnDisplayName() string                { return u.name }
func (u user) WebAuthnCredentials() []webauthn.Credential { return u.credentials }

func (r record) credentials(rp string) []webauthn.Credential {
	var list []webauthn.Credential
	for _, p := range r.Passkeys {
		if p.RP == rp {
			list = append(list, p.Credential)
		}
	}
	return list
}

// rpOf is the host that passkeys of a page are for: localhost at any port, or a name with TLS. An address that is a number has none.
func rpOf(origin string) (string, error) {
	u, err := url.Parse(origin)
	host := ""
	if err == nil {
		host = strings.ToLower(u.Hostname())
	}
	if host == "localhost" && u.Scheme == "http" || host != "" && u.Scheme == "https" && net.ParseIP(host) == nil {
		return host, nil
	}
	return "", human.Errorf(human.Unavailable, "passkeys do not work at this address; open the console at http://localhost with its port, in a browser")
}

// party is the relying party of one page. The port is not part of its name, but only that page's origin counts.
func party(origin string) (*webauthn.WebAuthn, string, error) {
	rp, err := rpOf(origin)
	if err != nil {
		return nil, "", err
	}
	w, err := webauthn.New(&webauthn.Config{RPID: rp, RPDisplayName: "Deskbell", RPOrigins: []string{origin}})
	return w, rp, err
}

// beginPasskey makes the options for the authenticator. Its challenge is the SHA-256 of the context.
func (s *Service) beginPasskey(c *challenge, origin string) (json.RawMessage, error) {
	w, rp, err := party(origin)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	options, session, err := w.BeginLogin(user{s.r.User, c.act.By.Name, s.r.credentials(rp)},
		webauthn.WithChallenge(sum(c.context)), webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, err
	}
	c.sign = session
	return json.Marshal(options.Response)
}

// finishPasskey verifies what the authenticator signed.
func (s *Service) finishPasskey(ctx context.Context, c *challenge, origin string, assertion json.RawMessage) error {
	w, rp, err := party(origin)
	if err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(assertion)
	if err != nil {
		return human.Wrap(human.Invalid, err, "the passkey's answer cannot be read")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.sign == nil {
		return human.Errorf(human.Conflict, "this challenge was not begun with a passkey; ask for its options first")
	}
	session := *c.sign
	c.sign = nil // one try
	credential, err := w.ValidateLogin(user{s.r.User, c.act.By.Name, s.r.credentials(rp)}, session, parsed)
	if err == nil && credential.Authenticator.CloneWarning {
		s.notice(ctx, human.Say("stepup_clone", "name", s.r.nameOf(credential.ID)))
		return human.Errorf(human.Denied, "this passkey's counter went back: it may have been copied. Remove it")
	}
	if err != nil {
		s.notice(ctx, human.Say("stepup_wrong_passkey"))
		return human.Wrap(human.Denied, err, "this passkey did not sign what was asked")
	}
	r := s.r
	r.Passkeys = slices.Clone(r.Passkeys)
	used := s.d.Now().UTC()
	for i := range r.Passkeys {
		if r.Passkeys[i].ID == idOf(credential.ID) {
			r.Passkeys[i].Credential, r.Passkeys[i].Used = *credential, &used
		}
	}
	return s.save(ctx, r)
}

// PublicKey is the public key of an operator's passkey, as receipts have it. A NotFound error where it was removed.
func (s *Service) PublicKey(_ context.Context, _ human.Actor, id string) (receipt.KeyEntry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.r.Passkeys, func(p passkey) bool { return p.ID == id })
	if i < 0 {
		return receipt.KeyEntry{}, human.Errorf(human.NotFound, "the passkey that confirmed this was removed; answer again")
	}
	p := s.r.Passkeys[i]
	text, err := spkiOf(p.Credential.PublicKey)
	return receipt.KeyEntry{PublicKey: text, ValidFrom: p.At.UTC()}, err
}

// spkiOf is a credential's public key (COSE, RFC 9052) as its SubjectPublicKeyInfo in base64url.
func spkiOf(cose []byte) (string, error) {
	parsed, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return "", err
	}
	var key any
	switch k := parsed.(type) {
	case webauthncose.EC2PublicKeyData:
		key, err = k.ToECDSA()
	case webauthncose.OKPPublicKeyData:
		key = ed25519.PublicKey(k.XCoord)
	case webauthncose.RSAPublicKeyData:
		e := new(big.Int).SetBytes(k.Exponent)
		key = &rsa.PublicKey{N: new(big.Int).SetBytes(k.Modulus), E: int(e.Int64())}
	default:
		err = fmt.Errorf("no such kind of key: %T", parsed)
	}
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	return base64.RawURLEncoding.EncodeToString(der), err
}

func idOf(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }

func (r record) nameOf(id []byte) string {
	for _, p := range r.Passkeys {
		if p.ID == idOf(id) {
			return p.Name
		}
	}
	return ""
}

// BeginRegistration makes the options for a new passkey of the session's page.
func (s *Service) BeginRegistration(ctx context.Context, by Act) (json.RawMessage, error) {
	w, rp, err := party(by.Origin)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.r.Passkeys) >= maxPasskeys {
		return nil, human.Errorf(human.Exhausted, "there are %d passkeys, the most allowed; remove one first", maxPasskeys)
	}
	r := s.r
	if r.User == nil {
		r.User = make([]byte, 32)
		rand.Read(r.User)
		if err := s.save(ctx, r); err != nil {
			return nil, err
		}
	}
	of := user{r.User, by.By.Name, r.credentials(rp)}
	var known []protocol.CredentialDescriptor
	for _, c := range of.credentials {
		known = append(known, c.Descriptor())
	}
	options, session, err := w.BeginRegistration(of, webauthn.WithExclusions(known), webauthn.WithCredentialParameters(signatures), webauthn.WithConveyancePreference(protocol.PreferNoAttestation),
		webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementDiscouraged, UserVerification: protocol.VerificationRequired}))
	if err != nil {
		return nil, err
	}
	if len(s.enrolling) >= maxChallenges {
		clear(s.enrolling)
	}
	s.enrolling[by.Session] = *session
	return json.Marshal(options.Response)
}

// Register keeps a new passkey. That the session may, Require has said.
func (s *Service) Register(ctx context.Context, by Act, name string, made json.RawMessage) (Overview, error) {
	w, rp, err := party(by.Origin)
	if err != nil {
		return Overview{}, err
	}
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName {
		return Overview{}, human.BadField("name", "must have 1 to %d characters", maxName)
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(made)
	if err != nil {
		return Overview{}, human.Wrap(human.Invalid, err, "the passkey's answer cannot be read")
	}
	return s.change(ctx, by, func(r *record) (human.Sentence, error) {
		session, begun := s.enrolling[by.Session]
		delete(s.enrolling, by.Session)
		if !begun {
			return human.Sentence{}, human.Errorf(human.Conflict, "no registration is under way here; ask for its options first")
		}
		c, err := w.CreateCredential(user{r.User, by.By.Name, r.credentials(rp)}, session, parsed)
		if err != nil {
			return human.Sentence{}, human.Wrap(human.Denied, err, "this passkey did not sign what was asked")
		}
		r.Passkeys = append(slices.Clone(r.Passkeys), passkey{ID: idOf(c.ID), Name: name, RP: rp, At: s.d.Now().UTC(), Credential: *c})
		return human.Say("stepup_passkey_added", "name", name), nil
	})
}

// Remove removes a passkey.
func (s *Service) Remove(ctx context.Context, by Act, id string) (Overview, error) {
	return s.change(ctx, by, func(r *record) (human.Sentence, error) {
		i := slices.IndexFunc(r.Passkeys, func(p passkey) bool { return p.ID == id })
		if i < 0 {
			return human.Sentence{}, human.Errorf(human.NotFound, "there is no such passkey")
		}
		name := r.Passkeys[i].Name
		r.Passkeys = slices.Delete(slices.Clone(r.Passkeys), i, i+1)
		return human.Say("stepup_passkey_removed", "name", name), nil
	})
}
