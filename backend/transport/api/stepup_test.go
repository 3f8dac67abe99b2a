package api

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/procedure"
	"deskbell/backend/queue"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/queue/stepup"
)

// memory keeps the record of step-up.
type memory struct {
	sealed string
	key    []byte
}

func (m *memory) Load(context.Context) (string, []byte, error)    { return m.sealed, m.key, nil }
func (m *memory) MakeKey(context.Context) ([]byte, error)         { m.key = []byte("a key"); return m.key, nil }
func (m *memory) Save(_ context.Context, sealed string) (_ error) { m.sealed = sealed; return nil }

const rightPIN = "correct horse"

// stepFixture is a server with step-up, with a window's session (op) and a browser's, made by a code.
type stepFixture struct {
	*fixture
	browser string
	key     string
}

func openStepUp(t *testing.T) *stepFixture {
	up, err := stepup.New(t.Context(), stepup.Deps{Vault: new(memory), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	f := &stepFixture{fixture: openFixture(t, func(d *Deps, _ *queue.Options) { d.StepUp, d.Settings, d.Team = up, &fakeSettings{}, noTeam{} })}
	f.key = f.agent("migrator")
	f.browser = f.signIn()
	return f
}

// signIn is another session that a code made.
func (f *stepFixture) signIn() string {
	var session Session
	f.post("/api/session", "", `{"code":`+quoted(f.NewCode())+`}`).into(&session)
	return session.Token
}

// withPIN sets the PIN and what needs proof, in the window.
func (f *stepFixture) withPIN() {
	f.t.Helper()
	for path, body := range map[string]string{"pin": `{"pin":"` + rightPIN + `"}`} {
		if r := f.send("PUT", "/api/stepup/"+path, f.op, body, nil); r.status != http.StatusOK {
			f.t.Fatalf("%d %s", r.status, r.body)
		}
	}
	f.proven("PUT", "/api/stepup/policy", `{"answers":"critical","rules":true,"keys":true,"gatekeeper":true}`, http.StatusOK)
}

// critical asks for an approval of critical risk and returns the answer's body.
func (f *stepFixture) critical() (human.OperationID, string) {
	f.t.Helper()
	op := f.post("/api/human/invoke", f.key, `{"action_type":"approve","description":"drop the table","details":{"action":"DROP TABLE x","risk_level":"critical"}}`).operation(http.StatusCreated)
	return op.ID, idBody(op.ID, `,"decision":"approve","digest":`+quoted(op.Digest))
}

// needed makes a call that needs proof, and returns what is asked for.
func (f *stepFixture) needed(method, path, token, body string, change func(*http.Request)) stepup.Needed {
	f.t.Helper()
	p := f.send(method, path, token, body, change).problem(http.StatusForbidden, "proof that you are here")
	if p.Code != "proof_needed" || p.Proof == nil || p.Proof.Challenge == "" {
		f.t.Fatalf("%+v", p)
	}
	return *p.Proof
}

func withProof(challenge string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(proofHeader, challenge) }
}

// pin meets a challenge in the window.
func (f *stepFixture) pin(n stepup.Needed) string {
	f.t.Helper()
	var made stepup.Claimed
	r := f.post("/api/stepup", f.op, `{"challenge":`+quoted(n.Challenge)+`,"means":"pin","pin":"`+rightPIN+`"}`)
	if r.into(&made); r.status != http.StatusOK || made.Proof == "" {
		f.t.Fatalf("%d %s", r.status, r.body)
	}
	return made.Proof
}

// proven makes a call in the window with the proof that it needs.
func (f *stepFixture) proven(method, path, body string, status int) reply {
	f.t.Helper()
	n := f.needed(method, path, f.op, body, nil)
	r := f.send(method, path, f.op, body, withProof(f.pin(n)))
	if r.status != status {
		f.t.Fatalf("%s %s with proof: %d %s", method, path, r.status, r.body)
	}
	return r
}

func TestAnswersNeedProof(t *testing.T) {
	f := openStepUp(t)
	id, body := f.critical()
	f.withPIN()
	const complete = "/api/human/complete"
	n := f.needed("POST", complete, f.op, body, nil)
	if n.Subject != string(id) || n.Says != "approve" || len(n.Means) != 1 {
		t.Errorf("%+v", n)
	}
	f.send("POST", complete, f.op, body, withProof(n.Challenge)).problem(http.StatusForbidden, "was not met")

	// A proof is for its exact call, by its session.
	other, otherBody := f.critical()
	for name, try := range map[string]struct{ token, body string }{
		"another operation": {f.op, otherBody}, "other words": {f.op, strings.Replace(body, `,"dec`, `,"human_input":"go","dec`, 1)}, "another session": {f.browser, body},
	} {
		proof := f.pin(f.needed("POST", complete, f.op, body, nil))
		if r := f.send("POST", complete, try.token, try.body, withProof(proof)); r.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	if op, err := f.queue.Get(t.Context(), human.Actor{Role: human.Operator, Name: "ada"}, other); err != nil || op.State != human.Pending {
		t.Errorf("%s, %v", op.State, err)
	}

	done := f.proven("POST", complete, body, http.StatusOK)
	if op := done.operation(http.StatusOK); op.State != human.Completed {
		t.Errorf("%s", done.body)
	}
	entries, err := f.queue.History(t.Context(), human.Actor{Role: human.Operator, Name: "ada"}, id)
	must(t, err)
	if e := entries[len(entries)-1].Event; e.Proof == nil || e.Proof.Means != human.ByPIN {
		t.Errorf("the journal does not have the proof: %+v", e)
	}

	// To deny it, none is needed; a code's session cannot type the PIN.
	if n := f.needed("POST", complete, f.browser, otherBody, nil); len(n.Means) != 0 || len(n.Elsewhere) != 1 {
		t.Errorf("%+v", n)
	} else {
		f.post("/api/stepup", f.browser, `{"challenge":`+quoted(n.Challenge)+`,"means":"pin","pin":"`+rightPIN+`"}`).problem(http.StatusForbidden, "window only")
	}
	f.post(complete, f.browser, strings.Replace(otherBody, "approve", "deny", 1)).operation(http.StatusOK)
}

func TestWhatElseNeedsProof(t *testing.T) {
	f := openStepUp(t)
	f.withPIN()
	rule := string(f.proven("POST", "/api/gate/rules", `{"decision":"allow","command":"go test **"}`, http.StatusOK).body)
	if !strings.Contains(rule, "go test") {
		t.Error(rule)
	}
	var asks human.GateRule
	f.post("/api/gate/rules", f.op, `{"decision":"ask","command":"make **"}`).into(&asks)
	f.proven("DELETE", "/api/gate/rules/"+asks.ID, "", http.StatusNoContent)
	f.proven("POST", "/api/agents", `{"name":"other"}`, http.StatusCreated)
	f.proven("POST", "/api/receipts/keys", "", http.StatusCreated)
	f.proven("POST", "/api/team/invitations", `{"member":"Mei","role":"lead"}`, http.StatusOK)
	f.proven("DELETE", "/api/team/members/Mei", "", http.StatusOK)
	if r := f.send("PUT", "/api/gate/policy", f.op, `{"policy":"strict"}`, nil); r.status != http.StatusOK {
		t.Errorf("stricter: %d %s", r.status, r.body)
	}
	f.proven("PUT", "/api/gate/policy", `{"policy":"permissive"}`, http.StatusOK)
	for _, body := range []string{`{"sinks.webhook.url":"https://example.org/in"}`, `{"plan.auto_confirm_safe_tasks":true}`, `{"phone.enabled":true}`} {
		f.needed("PUT", "/api/settings", f.op, body, nil)
	}
	f.proven("PUT", "/api/stepup/pin", `{"pin":"another one"}`, http.StatusOK)
	for _, token := range []string{f.op, f.browser} {
		f.needed("PUT", "/api/stepup/policy", token, `{"answers":"","rules":false,"keys":false,"gatekeeper":false}`, nil)
		f.needed("DELETE", "/api/stepup/pin", token, "", nil)
		f.needed("POST", "/api/receipts/keys", token, "", nil)
		f.needed("PUT", "/api/stepup/system", token, `{"on":false}`, nil)
	}
	f.needed("DELETE", "/api/stepup/notices", f.browser, "", nil)
	f.needed("POST", "/api/stepup/uninstall", f.browser, "", nil)
	f.get("/api/stepup", f.key).problem(http.StatusForbidden, "only an operator")
}

func TestProofOfPermissionsAndPlans(t *testing.T) {
	f := openStepUp(t)
	f.withPIN()
	j := f.post("/api/gate/evaluate", f.key, `{"tool":"Bash","args":{"command":"git push --force origin main"},"cwd":"/","session_id":"s"}`)
	var judged human.Judgement
	j.into(&judged)
	q := f.get("/api/human/operations/"+string(judged.OperationID), f.op).operation(http.StatusOK)
	if !q.Risk.Dangerous() {
		t.Fatalf("the risk is %q", q.Risk)
	}
	answer := `{"choice":"allow","digest":` + quoted(q.Digest) + `}`
	path := "/api/gate/questions/" + string(q.ID) + "/answer"
	n := f.needed("POST", path, f.browser, answer, nil) // above low, by a code
	if n.Says != "allow" || n.Digest != q.Digest {
		t.Errorf("%+v", n)
	}
	withRule := `{"choice":"allow","digest":` + quoted(q.Digest) + `,"rule":{"decision":"allow","command":"git push **"}}`
	f.needed("POST", path, f.op, withRule, nil) // a rule that allows, in the window
	if r := f.post(path, f.browser, `{"choice":"deny","digest":`+quoted(q.Digest)+`}`); r.status != http.StatusOK {
		t.Errorf("denied: %d %s", r.status, r.body)
	}

	var st plan.Status
	f.post("/api/plans", f.key, `{"session_id":"drop","message":"m","tasks":[{"description":"drop it","tool_name":"bash","args":{"command":"rm -rf /etc"}}]}`).into(&st)
	to := "/api/plans/" + string(st.OperationID) + "/response"
	n = f.needed("POST", to, f.browser, `{"action":"confirm"}`, nil)
	if n.Subject != string(st.OperationID) || n.Says != "confirm" {
		t.Errorf("%+v", n)
	}
	if r := f.post(to, f.browser, f.responds("cancel", st.OperationID)); r.status != http.StatusOK {
		t.Errorf("canceled: %d %s", r.status, r.body)
	}
	st = f.submitted(f.key, "look")
	to = "/api/plans/" + string(st.OperationID) + "/response"
	f.needed("POST", to, f.browser, `{"action":"modify","modified_tasks":[{"description":"more","tool_name":"bash","args":{"command":"rm -rf /etc"}}]}`, nil)
	if r := f.post(to, f.browser, f.responds("confirm", st.OperationID)); r.status != http.StatusOK {
		t.Errorf("a plan of low risk: %d %s", r.status, r.body)
	}
}

// TestProofOfRuns: a run that pays or deletes is started as an approval of its risk is given, and by no agent.
func TestProofOfRuns(t *testing.T) {
	f := openStepUp(t)
	f.withPIN()
	for does, needs := range map[string]bool{"reads": false, "sends": true, "pays": true, "deletes": true} {
		t.Run(does, func(t *testing.T) {
			file := "deskbell_procedure: 1\nname: do_" + does + "\ntitle: Do it\nwhere: browser\npolicy: permissive\ndoes: [" + does + "]\nsteps:\n  - {id: s1, do: navigate, title: Open it, url: \"https://portal.example/\", then: [{is: title, text: Portal}]}\n"
			var shown procedure.Shown
			f.post("/api/procedures", f.op, `{"file":`+quoted(file)+`}`).into(&shown)
			var asked procedure.Asked
			f.post("/api/procedures/do_"+does+"/runs", f.key, `{}`).into(&asked)
			path := "/api/operations/" + string(asked.Operation) + "/procedure"
			if r := f.post(path, f.key, ""); r.status != http.StatusForbidden {
				t.Errorf("an agent starts it: %d %s", r.status, r.body)
			}
			if !needs {
				f.post(path, f.browser, "").problem(http.StatusServiceUnavailable, "records nothing")
				return
			}
			n := f.needed("POST", path, f.browser, "", nil) // above low, by a code
			if n.Says != "run" || n.Subject != string(asked.Operation) {
				t.Errorf("%+v", n)
			}
			if r := f.send("POST", path, f.key, "", withProof(n.Challenge)); r.status != http.StatusForbidden {
				t.Errorf("an agent starts it with a challenge: %d %s", r.status, r.body)
			}
			if r := f.send("POST", path, f.browser, "", withProof(n.Challenge)); r.status != http.StatusForbidden {
				t.Errorf("started with a challenge that was not met: %d %s", r.status, r.body)
			}
			var work human.Operation
			f.post("/api/human/invoke", f.key, `{"action_type":"browser","description":"do it"}`).into(&work)
			taken := `{"procedure":"do_` + does + `","version":1,"sha256":"` + shown.Digest + `"}`
			if n := f.needed("POST", "/api/operations/"+string(work.ID)+"/offers", f.browser, taken, nil); n.Subject != string(work.ID) {
				t.Errorf("for a request: %+v", n)
			}
		})
	}
}

// An authenticator as a browser has it, in software.
type authenticator struct {
	t       *testing.T
	key     *ecdsa.PrivateKey
	id      []byte
	counter uint32
}

func newAuthenticator(t *testing.T) *authenticator {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return &authenticator{t, key, []byte(rand.Text()), 1}
}

var b64 = base64.RawURLEncoding

// data is the authenticator data for a host, and clientData what a page of origin says beside it.
func (a *authenticator) data(host string, flags byte) []byte {
	sum := sha256.Sum256([]byte(host))
	return binary.BigEndian.AppendUint32(append(sum[:], flags), a.counter)
}

func clientData(kind, challenge, origin string) []byte {
	return []byte(`{"type":"webauthn.` + kind + `","challenge":"` + challenge + `","origin":"` + origin + `","crossOrigin":false}`)
}

func (a *authenticator) credential(response string) string {
	id := b64.EncodeToString(a.id)
	return `{"id":"` + id + `","rawId":"` + id + `","type":"public-key","clientExtensionResults":{},"response":` + response + `}`
}

// register makes the credential.
func (a *authenticator) register(host, challenge, origin string) string {
	data := append(a.data(host, 0x45), make([]byte, 16)...)
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(a.id))), a.id...)
	point, err := a.key.PublicKey.Bytes()
	must(a.t, err)
	data = append(append(data, 0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32), point[1:33]...)
	data = append(append(data, 0x22, 0x58, 32), point[33:]...)
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(data)))
	return a.credential(`{"clientDataJSON":"` + b64.EncodeToString(clientData("create", challenge, origin)) + `","attestationObject":"` +
		b64.EncodeToString(append(object, data...)) + `"}`)
}

// sign makes an assertion.
func (a *authenticator) sign(host, challenge, origin string) string {
	a.counter++
	data, client := a.data(host, 0x05), clientData("get", challenge, origin)
	said := sha256.Sum256(client)
	sum := sha256.Sum256(append(append([]byte{}, data...), said[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	must(a.t, err)
	return a.credential(`{"clientDataJSON":"` + b64.EncodeToString(client) + `","authenticatorData":"` + b64.EncodeToString(data) +
		`","signature":"` + b64.EncodeToString(signature) + `"}`)
}

// page is a browser's page of the console at a name of this machine.
func (f *stepFixture) page(host string) (origin string, from func(*http.Request)) {
	u, err := url.Parse(f.url)
	must(f.t, err)
	origin = "http://" + host + ":" + u.Port()
	return origin, func(r *http.Request) {
		r.Host = host + ":" + u.Port()
		r.Header.Set("Origin", origin)
	}
}

type passkeyOptions struct {
	Options struct {
		Challenge string
		RP        struct{ ID string } `json:"rp"`
		RPID      string              `json:"rpId"`
	}
}

// enroll registers a passkey from a page at localhost.
func (f *stepFixture) enroll(a *authenticator) {
	f.t.Helper()
	origin, from := f.page("localhost")
	var o passkeyOptions
	f.send("POST", "/api/stepup/passkeys/options", f.browser, "{}", from).into(&o)
	if o.Options.RP.ID != "localhost" {
		f.t.Fatalf("%+v", o)
	}
	body := `{"name":"YubiKey 5C","credential":` + a.register("localhost", o.Options.Challenge, origin) + `}`
	r := f.send("POST", "/api/stepup/passkeys", f.browser, body, from)
	var st stepup.Overview
	if r.into(&st); r.status != http.StatusOK || len(st.Passkeys) != 1 || st.Passkeys[0].Name != "YubiKey 5C" {
		f.t.Fatalf("%d %s", r.status, r.body)
	}
}

// challengeOf asks for the options to meet a challenge with a passkey.
func (f *stepFixture) challengeOf(n stepup.Needed) string {
	f.t.Helper()
	_, from := f.page("localhost")
	var o passkeyOptions
	f.send("POST", "/api/stepup", f.browser, `{"challenge":`+quoted(n.Challenge)+`,"means":"passkey"}`, from).into(&o)
	if o.Options.RPID != "localhost" || o.Options.Challenge == "" {
		f.t.Fatalf("%+v", o)
	}
	return o.Options.Challenge
}

// assert meets a challenge with an assertion.
func (f *stepFixture) assert(n stepup.Needed, assertion string) reply {
	f.t.Helper()
	_, from := f.page("localhost")
	return f.send("POST", "/api/stepup", f.browser, `{"challenge":`+quoted(n.Challenge)+`,"means":"passkey","assertion":`+assertion+`}`, from)
}

func TestPasskeys(t *testing.T) {
	f := openStepUp(t)
	origin, from := f.page("localhost")
	key := newAuthenticator(t)
	f.enroll(key)
	id, body := f.critical()
	needed := func() stepup.Needed { return f.needed("POST", "/api/human/complete", f.browser, body, from) }

	n := needed()
	if len(n.Means) != 1 || n.Means[0] != human.ByPasskey {
		t.Fatalf("%+v", n)
	}
	assertion := key.sign("localhost", f.challengeOf(n), origin)
	if r := f.assert(n, assertion); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	again := func(r *http.Request) { from(r); withProof(n.Challenge)(r) }
	f.send("POST", "/api/human/complete", f.browser, body, again).operation(http.StatusOK)
	entries, err := f.queue.History(t.Context(), human.Actor{Role: human.Operator, Name: "ada"}, id)
	must(t, err)
	proof := entries[len(entries)-1].Event.Proof
	all := f.receiptsOf(id, f.browser)
	if v := receipt.Verify(all[len(all)-1], f.trust(f.browser)); !v.Authorizes || v.Signers[0].KeyClass != "A" || v.Signers[0].Means != human.ByPasskey {
		t.Errorf("the receipt: %+v\n%s", v, all)
	}
	sum := sha256.Sum256(proof.Context)
	var signed struct {
		Response struct{ ClientDataJSON string }
	}
	must(t, json.Unmarshal(proof.Assertion, &signed))
	said, err := b64.DecodeString(signed.Response.ClientDataJSON)
	if err != nil || proof.Means != human.ByPasskey || !strings.Contains(string(said), b64.EncodeToString(sum[:])) || !strings.Contains(string(proof.Context), `"means":"passkey"`) {
		t.Errorf("the passkey did not sign the context: %+v, %s, %v", proof, said, err)
	}

	_, body = f.critical()
	n = needed()
	if r := f.assert(n, assertion); r.status != http.StatusConflict {
		t.Errorf("an assertion before its options: %d %s", r.status, r.body)
	}
	for name, forged := range map[string]func(challenge string) string{
		"replayed":                 func(string) string { return assertion },
		"of another origin":        func(c string) string { return key.sign("localhost", c, "http://localhost:1") },
		"for another host":         func(c string) string { return key.sign("evil.example", c, origin) },
		"of another authenticator": func(c string) string { a := newAuthenticator(t); a.id = key.id; return a.sign("localhost", c, origin) },
		"of an unknown credential": func(c string) string { return newAuthenticator(t).sign("localhost", c, origin) },
		"of a counter that is back": func(c string) string {
			key.counter = 0
			defer func() { key.counter = 10 }()
			return key.sign("localhost", c, origin)
		},
	} {
		if r := f.assert(n, forged(f.challengeOf(n))); r.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	other := f.signIn()
	c := f.challengeOf(n)
	if r := f.send("POST", "/api/stepup", other, `{"challenge":`+quoted(n.Challenge)+`,"means":"passkey","assertion":`+key.sign("localhost", c, origin)+`}`, from); r.status != http.StatusNotFound {
		t.Errorf("by another session: %d %s", r.status, r.body)
	}
	if r := f.assert(n, key.sign("localhost", c, origin)); r.status != http.StatusOK {
		t.Errorf("and after all that, the right one: %d %s", r.status, r.body)
	}
	var st stepup.Overview
	f.get("/api/stepup", f.browser).into(&st)
	text, err := json.Marshal(st.Notices)
	must(t, err)
	if !strings.Contains(string(text), "may have been copied") || !strings.Contains(string(text), "did not sign") {
		t.Errorf("the operator is not told: %s", text)
	}
	f.needed("DELETE", "/api/stepup/passkeys/"+st.Passkeys[0].ID, f.browser, "", from)
}

func TestWherePasskeysWork(t *testing.T) {
	f := openStepUp(t)
	at, from := f.page("127.0.0.1")
	f.send("POST", "/api/stepup/passkeys/options", f.browser, "{}", from).problem(http.StatusServiceUnavailable, "http://localhost")
	var st stepup.Overview
	f.send("GET", "/api/stepup", f.browser, "", from).into(&st)
	if st.Register || st.At != strings.Replace(at, "127.0.0.1", "localhost", 1) {
		t.Errorf("%+v", st)
	}
	f.enroll(newAuthenticator(t))
	_, body := f.critical()
	n := f.needed("POST", "/api/human/complete", f.browser, body, from)
	if len(n.Means) != 0 || len(n.Elsewhere) != 1 || n.Elsewhere[0].At != st.At {
		t.Errorf("%+v", n)
	}
}
