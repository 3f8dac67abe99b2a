package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/stepup"
	"deskbell/backend/store/phones"
)

// phoneFixture is a server with an open door for phones, at a window that has switched it on.
type phoneFixture struct {
	*fixture
	dir   string
	at    string // the door, as phones write it
	print string

	mu    sync.Mutex
	open  bool
	later time.Duration // than it is
}

func (f *phoneFixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Add(f.later)
}

func (f *phoneFixture) waits(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.later += d
}

// openPhones opens it. allow says who may come in; nil is as it is without a test.
func openPhones(t *testing.T, allow near, change ...func(*Deps)) *phoneFixture {
	t.Helper()
	f := &phoneFixture{dir: t.TempDir()}
	f.fixture = openFixture(t, func(d *Deps, _ *queue.Options) {
		d.Now = f.now
		d.Phones = &Phones{
			Store: phones.New(f.dir, f.now), Near: allow,
			Door: func() (bool, string) { f.mu.Lock(); defer f.mu.Unlock(); return f.open, "127.0.0.1:0" },
			Set:  func(on bool) error { f.mu.Lock(); defer f.mu.Unlock(); f.open = on; return nil },
		}
		for _, c := range change {
			c(d)
		}
	})
	var st PhoneState
	r := f.send("PUT", "/api/phone", f.op, `{"on":true}`, nil)
	if r.into(&st); r.status != 200 || !st.On || len(st.Addresses) != 1 || st.Problem != nil {
		t.Fatalf("%d %s", r.status, r.body)
	}
	f.at, f.print = st.Addresses[0], st.Fingerprint
	return f
}

func anyDevice(netip.Addr, netip.Addr) bool { return true }

// A handset is a phone's browser, which trusts the fingerprint that the window shows.
type handset struct {
	f      *phoneFixture
	http   *http.Client
	cookie string
	token  string
}

func (f *phoneFixture) handset() *handset {
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, // it is checked by its fingerprint
		VerifyConnection: func(s tls.ConnectionState) error {
			if sum := sha256.Sum256(s.PeerCertificates[0].Raw); colons(sum[:]) != f.print {
				return errors.New("another certificate than the window shows")
			}
			return nil
		},
	}}
	f.t.Cleanup(transport.CloseIdleConnections)
	return &handset{f: f, http: &http.Client{Transport: transport}}
}

// send makes a request as its page does. change may be nil.
func (p *handset) send(method, path, body string, change func(*http.Request)) reply {
	p.f.t.Helper()
	r, err := http.NewRequestWithContext(p.f.t.Context(), method, p.f.at+path, strings.NewReader(body))
	must(p.f.t, err)
	r.Header.Set("Origin", p.f.at)
	r.Header.Set("User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 20_0 like Mac OS X)")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	if p.cookie != "" {
		r.Header.Set("Cookie", p.cookie)
	}
	if change != nil {
		change(r)
	}
	answer, err := p.http.Do(r)
	must(p.f.t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	must(p.f.t, err)
	return reply{p.f.t, answer.StatusCode, answer.Header, data}
}

// enters reads the answer of a call that gives out a session.
func (p *handset) enters(r reply) {
	p.f.t.Helper()
	if r.status != 200 {
		p.f.t.Fatalf("%d %s", r.status, r.body)
	}
	var session Session
	r.into(&session)
	set := r.header.Get("Set-Cookie")
	for _, want := range []string{"__Host-deskbell-phone=", "; Path=/;", "; HttpOnly", "; Secure", "; SameSite=Strict", "; Max-Age=7776000"} {
		if !strings.Contains(set, want) {
			p.f.t.Errorf("the cookie %q lacks %q", set, want)
		}
	}
	p.cookie, _, _ = strings.Cut(set, ";")
	p.token = session.Token
	if session.Operator != "ada" || session.Means != ByPhone || session.Resume != "" {
		p.f.t.Errorf("the session is %+v", session)
	}
}

func (f *phoneFixture) code() string {
	f.t.Helper()
	var p Pairing
	r := f.post("/api/phone/pairing", f.op, "{}")
	if r.into(&p); r.status != 200 || !strings.HasPrefix(p.SVG, "<svg ") {
		f.t.Fatalf("%d %s", r.status, r.body)
	}
	at, code, found := strings.Cut(p.URL, "/#pair=")
	if !found || at != f.at || len(code) < 26 || p.ExpiresAt.Sub(f.now()) > pairingLife {
		f.t.Fatalf("the pairing is %+v", p)
	}
	return code
}

func (f *phoneFixture) paired() *handset {
	f.t.Helper()
	p := f.handset()
	p.enters(p.send("POST", "/api/phone/pair", `{"code":`+quoted(f.code())+`}`, nil))
	return p
}

func (f *phoneFixture) devices() []Phone {
	f.t.Helper()
	var st PhoneState
	f.get("/api/phone", f.op).into(&st)
	return st.Devices
}

func TestPhonePairsReadsAndAnswers(t *testing.T) {
	f := openPhones(t, anyDevice)
	bot := f.agent("bot")
	p := f.handset()
	if r := p.send("GET", "/", "", nil); r.status != 404 { // this fixture has no console, but anyone may ask
		t.Errorf("the page: %d", r.status)
	}
	p = f.paired()
	op := f.ring(bot, "Which logo?")
	if !strings.Contains(string(p.send("GET", "/api/human/operations", "", nil).body), "Which logo?") {
		t.Error("the phone does not see what waits")
	}
	if r := p.send("POST", "/api/human/complete", idBody(op.ID, `,"human_input":"the second"`), nil); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
	// The page is opened again: its cookie begins a new session, which the WebSocket uses.
	p.token = ""
	p.enters(p.send("POST", "/api/phone/session", "{}", nil))
	ws := p.dial()
	defer func() { _ = ws.CloseNow() }() // the server may have closed it
	list := f.devices()
	if len(list) != 1 || list[0].Name != "iPhone" || list[0].Operator != "ada" || list[0].This {
		t.Fatalf("the devices are %+v", list)
	}
	// Unpaired, its sessions end at once, and its cookie is of no use.
	if r := f.send("DELETE", "/api/phone/devices/"+list[0].ID, f.op, "", nil); r.status != 204 {
		t.Errorf("%d %s", r.status, r.body)
	}
	for {
		if _, _, err := ws.Read(t.Context()); err != nil {
			break
		}
	}
	p.send("GET", "/api/human/operations", "", nil).problem(401, "expired")
	p.token = ""
	p.send("POST", "/api/phone/session", "{}", nil).problem(401, "unpaired")
}

func (p *handset) dial() *websocket.Conn {
	p.f.t.Helper()
	ws, _, err := websocket.Dial(p.f.t.Context(), p.f.at+"/api/ws", &websocket.DialOptions{
		HTTPClient: p.http, HTTPHeader: http.Header{"Origin": {p.f.at}}, Subprotocols: []string{"deskbell", bearerProto + p.token},
	})
	must(p.f.t, err)
	_, hello, err := ws.Read(p.f.t.Context())
	if must(p.f.t, err); !strings.Contains(string(hello), `"operator":"ada"`) {
		p.f.t.Errorf("the socket says %s", hello)
	}
	return ws
}

func TestPhoneSwitchedOffEndsItsSessions(t *testing.T) {
	f := openPhones(t, anyDevice)
	p := f.paired()
	ws := p.dial()
	defer func() { _ = ws.CloseNow() }() // the server may have closed it
	if r := f.send("PUT", "/api/phone", f.op, `{"on":false}`, nil); r.status != 200 || !strings.Contains(string(r.body), `"addresses":[]`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	for {
		if _, _, err := ws.Read(t.Context()); err != nil {
			break
		}
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(f.at, "https://")); err == nil {
		_ = conn.Close()
		t.Error("the door is still open")
	}
	f.post("/api/phone/pairing", f.op, "{}").problem(409, "switch them on")
	if len(f.devices()) != 1 {
		t.Error("it was forgotten")
	}
}

func TestPhoneCodesCountOnce(t *testing.T) {
	f := openPhones(t, anyDevice)
	p := f.handset()
	pair := func(code string) reply { return p.send("POST", "/api/phone/pair", `{"code":`+quoted(code)+`}`, nil) }
	used := f.code()
	// No other door takes it, and a code for a browser does not count here.
	f.post("/api/session", "", `{"code":`+quoted(used)+`}`).problem(401, "wrong, used or expired")
	pair(f.NewCode()).problem(401, "wrong, used or expired")
	p.enters(pair(used))
	pair(used).problem(401, "wrong, used or expired")
	older, newer := f.code(), f.code()
	pair(older).problem(401, "wrong, used or expired")
	f.waits(pairingLife)
	pair(newer).problem(401, "wrong, used or expired")
	right := f.code()
	for range 10 {
		pair("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	}
	pair("ABCDEFGHIJKLMNOPQRSTUVWXYZ").problem(429, "too many")
	p.enters(pair(right)) // no one is locked out by another's tries
	if n := len(f.devices()); n != 2 {
		t.Errorf("%d devices", n)
	}
	f.waits(deviceLife + time.Second)
	if n := len(f.devices()); n != 0 {
		t.Errorf("%d devices that were not used for long", n)
	}
}

// Who reads the data folder finds nothing that lets them in, and who writes into it while Deskbell runs, neither.
func TestPhoneSecretsAreNotOnDisk(t *testing.T) {
	f := openPhones(t, anyDevice)
	p := f.paired()
	raw, err := os.ReadFile(filepath.Join(f.dir, phones.DevicesFile))
	must(t, err)
	_, secret, _ := strings.Cut(p.cookie, "=")
	if bytes.Contains(raw, []byte(secret)) || strings.Contains(f.logs.String(), secret) || strings.Contains(f.logs.String(), strings.TrimPrefix(p.token, "dbo_")) {
		t.Error("a phone's secret was written down")
	}
	var kept struct{ Devices []human.Device }
	must(t, json.Unmarshal(raw, &kept))
	thief := f.handset()
	thief.cookie = phoneCookie + "=" + kept.Devices[0].Hash
	thief.send("POST", "/api/phone/session", "{}", nil).problem(401, "unpaired")
	f.adds("mine")
	thief.cookie = phoneCookie + "=mine"
	thief.send("POST", "/api/phone/session", "{}", nil).problem(401, "unpaired")
	for range maxWrong {
		thief.send("POST", "/api/phone/session", "{}", nil)
	}
	thief.send("POST", "/api/phone/session", "{}", nil).problem(429, "too many")
	p.enters(p.send("POST", "/api/phone/session", "{}", nil))
}

// A program of this machine does not come in, with whatever it has found out.
func TestPhoneDoorIsClosedToThisMachine(t *testing.T) {
	f := openPhones(t, nil)
	if answer, err := f.handset().http.Get(f.at + "/healthz"); err == nil {
		answer.Body.Close()
		t.Errorf("it answered %s", answer.Status)
	}
	own, err := ownAddresses()
	must(t, err)
	there := netip.MustParseAddr("192.168.7.7")
	for _, a := range own {
		if nearby(there, a.Addr) {
			t.Errorf("%v of this machine may come in", a)
		}
	}
	for _, c := range []struct {
		local, remote string
		want          bool
	}{
		{"192.168.7.7", "192.168.7.8", true}, {"::ffff:10.1.2.3", "::ffff:10.1.2.4", true}, {"fd12::1", "fd12::2", true}, {"fe80::1%eth0", "fe80::2%eth0", true},
		{"192.168.7.7", "203.0.113.8", false}, {"203.0.113.7", "192.168.7.8", false}, {"2001:db8::1", "2001:db8::2", false}, {"192.168.7.7", "127.0.0.1", false},
		{"100.64.1.1", "100.64.1.2", true},
	} {
		if got := nearby(netip.MustParseAddr(c.local), netip.MustParseAddr(c.remote)); got != c.want {
			t.Errorf("%s to %s: %v", c.remote, c.local, got)
		}
	}
}

func TestPhoneDoorTakesPhonesOnly(t *testing.T) {
	f := openPhones(t, anyDevice)
	bot := f.agent("bot")
	p := f.paired()
	// An agent's key, and an operator's session of elsewhere.
	with := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	p.send("GET", "/api/human/operations", "", with(bot)).problem(403, "agents cannot call here")
	p.send("POST", "/api/human/complete", `{"operation_id":"op_x"}`, with(bot)).problem(403, "agents cannot call here")
	p.send("GET", "/api/human/operations", "", with(f.op)).problem(401, "on that phone")
	// A phone's session elsewhere.
	f.get("/api/human/operations", p.token).problem(401, "on that phone")
	// Another page, another name, and no TLS.
	evil := func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }
	p.send("POST", "/api/phone/session", "{}", evil).problem(403, "cannot call Deskbell")
	p.send("GET", "/api/human/operations", "", evil).problem(403, "cannot call Deskbell")
	p.send("POST", "/api/phone/session", "{}", func(r *http.Request) { r.Header.Set("Origin", "http://"+r.URL.Host) }).problem(403, "cannot call Deskbell")
	p.send("POST", "/api/phone/session", "{}", func(r *http.Request) { r.Header.Del("Origin") }).problem(403, "own page")
	for _, host := range []string{"evil.example", "localhost", "127.0.0.1", "127.0.0.1:1"} {
		p.send("POST", "/api/phone/session", "{}", func(r *http.Request) {
			if r.Host = host; !strings.Contains(host, ":") {
				_, port, _ := net.SplitHostPort(r.URL.Host)
				r.Host += ":" + port
			}
			if host == "127.0.0.1" {
				r.Host = host // without our port
			}
		}).problem(421, "none of ours")
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.at, "https://"))
	must(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: "+strings.TrimPrefix(f.at, "https://")+"\r\n\r\n")
	must(t, err)
	must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	said, err := io.ReadAll(conn)
	if !strings.HasPrefix(string(said), "HTTP/1.0 400") {
		t.Errorf("without TLS it says %q, %v", said, err)
	}
	// What is for the computer, though it is an operator's.
	for _, call := range []string{
		"GET /api/agents", "POST /api/agents", "GET /api/settings", "PUT /api/settings", "POST /api/session", "POST /api/session/codes", "POST /api/session/terminal", "PUT /api/phone",
		"POST /api/phone/pairing", "DELETE /api/phone/devices/x", "GET /api/doctor", "GET /api/gate/rules", "POST /api/gate/rules", "PUT /api/gate/policy", "PUT /api/stepup/pin",
		"PUT /api/stepup/policy", "DELETE /api/stepup/pin", "GET /api/recordings", "POST /api/recordings", "POST /api/human/invoke", "POST /api/sample", "GET /api/backups", "POST /mcp",
		"POST /api/receipts/keys", "GET /api/agent/runs", "GET /api/openapi.json",
	} {
		method, path, _ := strings.Cut(call, " ")
		body := "{}"
		if method == "GET" {
			body = ""
		}
		p.send(method, path, body, nil).problem(403, "from a phone")
	}
	for call := range phoneCalls {
		method, path, _ := strings.Cut(call, " ")
		r, err := http.NewRequest(method, strings.NewReplacer("{id}", "x", "{label}", "x", "{session_id}", "x").Replace(path), nil)
		must(t, err)
		if _, pattern := f.handler.Handler(r); pattern != call {
			t.Errorf("phones may make the call %s, which there is not", call)
		}
	}
}

func TestPhoneProvesWhatIsDangerous(t *testing.T) {
	up, err := stepup.New(t.Context(), stepup.Deps{Vault: new(memory), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	f := openPhones(t, anyDevice, func(d *Deps) { d.StepUp = up })
	p := f.paired()
	step := &stepFixture{fixture: f.fixture, key: f.agent("migrator")}
	id, body := step.critical()
	// Nothing is set up: high risks stay open, others do not.
	p.send("POST", "/api/human/complete", body, nil).problem(403, "Set a PIN")
	low := f.post("/api/human/invoke", step.key, `{"action_type":"approve","description":"look","details":{"action":"ls","risk_level":"low"}}`).operation(201)
	p.send("POST", "/api/human/complete", idBody(low.ID, `,"decision":"approve","digest":`+quoted(low.Digest)), nil).operation(200)
	// With a PIN it is typed on the phone.
	step.withPIN()
	var needed Problem
	p.send("POST", "/api/human/complete", body, nil).into(&needed)
	if needed.Proof == nil || len(needed.Proof.Means) != 1 || needed.Proof.Means[0] != human.ByPIN {
		t.Fatalf("what is asked for: %+v", needed.Proof)
	}
	p.send("POST", "/api/stepup", `{"challenge":`+quoted(needed.Proof.Challenge)+`,"means":"pin","pin":"123456"}`, nil).problem(403, "PIN")
	var claimed stepup.Claimed
	p.send("POST", "/api/stepup", `{"challenge":`+quoted(needed.Proof.Challenge)+`,"means":"pin","pin":"`+rightPIN+`"}`, nil).into(&claimed)
	proof := func(r *http.Request) { r.Header.Set(proofHeader, claimed.Proof) }
	if op := p.send("POST", "/api/human/complete", body, proof).operation(200); op.ID != id || op.Result.Decision != human.Approved {
		t.Errorf("it ended as %+v", op.Result)
	}
	// To deny needs none; to let another phone in, and to open the door, does.
	_, body = step.critical()
	p.send("POST", "/api/human/complete", strings.Replace(body, `"approve"`, `"deny"`, 1), nil).operation(200)
	f.post("/api/phone/pairing", f.op, "{}").problem(403, "proof")
	f.send("PUT", "/api/phone", f.op, `{"on":true}`, nil).problem(403, "proof")
}

func TestPhoneMakesNoRules(t *testing.T) {
	f := openPhones(t, anyDevice)
	bot := f.agent("bot")
	p := f.paired()
	asked := f.permission(bot)
	at := "/api/gate/questions/" + string(asked.OperationID) + "/answer"
	p.send("POST", at, `{"choice":"once","rule":{"decision":"allow","tool":"bash","command":"make lint"}}`, nil).problem(403, "at the computer")
}

func TestPhonesAreThereAfterARestart(t *testing.T) {
	f := openPhones(t, anyDevice)
	p := f.paired()
	before := f.print
	if f.again(); f.print != before {
		t.Error("the certificate is another")
	}
	p.token = ""
	p.enters(p.send("POST", "/api/phone/session", "{}", nil))
}

// again is another server on the same folder, after this one: the fixture's door is its door from now on.
func (f *phoneFixture) again() *Server {
	f.t.Helper()
	next, err := New(Deps{Queue: f.queue, Keys: f.store, Operator: "ada", Log: slog.New(slog.DiscardHandler), Phones: &Phones{
		Store: phones.New(f.dir, time.Now), Near: anyDevice, Door: func() (bool, string) { return true, "127.0.0.1:0" },
	}})
	must(f.t, err)
	ctx, stop := context.WithCancel(f.t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(f.t, err)
	ended := make(chan error, 1)
	go func() { ended <- next.Serve(ctx, l) }()
	f.t.Cleanup(func() {
		stop()
		must(f.t, <-ended)
	})
	until(f.t, "the door is open", func() bool { next.phones.mu.Lock(); defer next.phones.mu.Unlock(); return next.phones.server != nil })
	st, err := next.phones.state(&exchange{session: &session{}})
	must(f.t, err)
	f.at, f.print = st.Addresses[0], st.Fingerprint
	return next
}

// adds writes a phone into the list, as any program of the user can.
func (f *phoneFixture) adds(secret string) {
	f.t.Helper()
	path := filepath.Join(f.dir, phones.DevicesFile)
	raw, err := os.ReadFile(path)
	must(f.t, err)
	var kept map[string]json.RawMessage
	must(f.t, json.Unmarshal(raw, &kept))
	var list []human.Device
	must(f.t, json.Unmarshal(kept["devices"], &list))
	list = append(list, human.Device{ID: "ph_thief", Name: "iPhone", Operator: "ada", PairedAt: time.Now(), LastSeen: time.Now(), Hash: hexOf(hashOf(secret))})
	kept["devices"], err = json.Marshal(list)
	must(f.t, err)
	raw, err = json.Marshal(kept)
	must(f.t, err)
	must(f.t, os.WriteFile(path, raw, 0o600))
}

// Who adds a phone while Deskbell does not run lets none in, and is seen: an operator confirms each phone of the list, or unpairs it.
func TestPhonesOfAChangedListWaitForTheOperator(t *testing.T) {
	f := openPhones(t, anyDevice)
	p := f.paired()
	f.adds("mine")
	next := f.again()
	thief := f.handset()
	thief.cookie = phoneCookie + "=mine"
	thief.send("POST", "/api/phone/session", "{}", nil).problem(403, "confirm this phone on the computer")
	p.token = ""
	p.send("POST", "/api/phone/session", "{}", nil).problem(403, "confirm this phone on the computer")
	for said := range next.notices.follow(t.Context()) {
		if said.Means != ByPhone || !said.Blocked {
			t.Errorf("operators hear of %+v", said)
		}
		break
	}
	// Not even another start lets them in.
	next = f.again()
	thief.send("POST", "/api/phone/session", "{}", nil).problem(403, "confirm this phone on the computer")
	st, err := next.phones.state(&exchange{session: &session{}})
	must(t, err)
	if len(st.Devices) != 2 || !st.Devices[0].Unconfirmed || !st.Devices[1].Unconfirmed {
		t.Fatalf("the list is %+v", st.Devices)
	}
	must(t, next.phones.confirm(st.Devices[0].ID))
	must(t, next.phones.unpair("ph_thief"))
	p.enters(p.send("POST", "/api/phone/session", "{}", nil))
	thief.send("POST", "/api/phone/session", "{}", nil).problem(401, "unpaired")
}

// Who also reads the key of the seal, and makes another seal, does let a phone in. The threat model says so.
func TestPhonesOfAForgedListComeIn(t *testing.T) {
	f := openPhones(t, anyDevice)
	f.paired()
	forger := phones.New(f.dir, time.Now)
	list, _, err := forger.Devices()
	must(t, err)
	must(t, forger.SaveDevices(append(list, human.Device{ID: "ph_thief", Operator: "ada", LastSeen: time.Now(), Hash: hexOf(hashOf("mine"))})))
	f.again()
	thief := f.handset()
	thief.cookie = phoneCookie + "=mine"
	thief.enters(thief.send("POST", "/api/phone/session", "{}", nil))
}

// A phone unpairs itself, and no other.
func TestPhoneUnpairsItself(t *testing.T) {
	f := openPhones(t, anyDevice)
	p, other := f.paired(), f.paired()
	list := f.devices()
	if len(list) != 2 {
		t.Fatalf("the devices are %+v", list)
	}
	p.send("DELETE", "/api/phone/devices/"+list[1].ID, "", nil).problem(403, "from a phone")
	if r := p.send("DELETE", "/api/phone/devices/"+list[0].ID, "", nil); r.status != 204 {
		t.Errorf("%d %s", r.status, r.body)
	}
	p.send("GET", "/api/human/operations", "", nil).problem(401, "expired")
	p.token = ""
	p.send("POST", "/api/phone/session", "{}", nil).problem(401, "unpaired")
	other.token = ""
	other.enters(other.send("POST", "/api/phone/session", "{}", nil))
}

// What a phone may call stands in its session, so that its page offers nothing else.
func TestPhoneSessionsSayWhatTheyMayCall(t *testing.T) {
	f := openPhones(t, anyDevice)
	p := f.handset()
	var s Session
	p.send("POST", "/api/phone/pair", `{"code":`+quoted(f.code())+`}`, nil).into(&s)
	if len(s.Calls) != len(phoneCalls) || !slices.Contains(s.Calls, "POST /api/human/complete") || slices.Contains(s.Calls, "GET /api/settings") {
		t.Errorf("it may call %v", s.Calls)
	}
	var computer Session
	f.post("/api/session", "", `{"code":`+quoted(f.NewCode())+`}`).into(&computer)
	if computer.Operator != "ada" || computer.Calls != nil {
		t.Errorf("at the computer: %+v", computer)
	}
}
