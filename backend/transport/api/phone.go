package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/queue/stepup"
)

// Lives of what lets a phone in.
const (
	pairingLife = 3 * time.Minute
	deviceLife  = 90 * 24 * time.Hour // of a phone that is not used
)

const (
	maxDevices    = 20
	maxDeviceName = 40 // characters

	// phoneCookie is taken by POST /api/phone/session alone. Its prefix has browsers keep it to this host, with TLS.
	phoneCookie = "__Host-deskbell-phone"
)

// PhoneStore keeps what Deskbell knows of phones. Errors are of package human. Its methods are not called at the same time.
type PhoneStore interface {
	// Devices also says whether they are as they were saved.
	Devices() (list []human.Device, whole bool, err error)
	SaveDevices(list []human.Device) error
	// Certificate is for names and IP addresses.
	Certificate(hosts []string) (tls.Certificate, error)
}

// Phones is what the door for phones needs.
type Phones struct {
	Store PhoneStore
	// Door says whether it is open, as host:port where.
	Door func() (open bool, addr string)
	// Set opens or closes it for good; nil where that cannot be.
	Set func(open bool) error
	// Near says whether a device at an address may come in; nil: see nearby.
	Near near
}

// A phoneDoor is what phones come in by. It knows those that are paired.
type phoneDoor struct {
	*Server
	Phones

	mu      sync.Mutex
	loaded  bool
	devices []human.Device // as the store has them, but for LastSeen
	door                   // see door.go
}

// Phone is a paired phone or tablet, as operators see it.
type Phone struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Operator string    `json:"operator" doc:"Who answers with it."`
	PairedAt time.Time `json:"paired_at"`
	LastSeen time.Time `json:"last_seen"`
	This     bool      `json:"this,omitempty" doc:"It makes this call."`

	Unconfirmed bool `json:"unconfirmed,omitempty" doc:"The list that it was in was changed while Deskbell did not run. It cannot come in until an operator confirms it."`
}

// PhoneState is how the door for phones stands.
type PhoneState struct {
	On          bool            `json:"on"`
	Addresses   []string        `json:"addresses" doc:"Where phones on the same network open the console. Empty while it is off."`
	Fingerprint string          `json:"fingerprint" doc:"SHA-256 of the certificate, as phones show it. Empty while it is off."`
	SPKI        string          `json:"spki" doc:"SHA-256 of its public key in base64, which stays when addresses change. Empty while it is off."`
	Devices     []Phone         `json:"devices"`
	Problem     *human.Sentence `json:"problem,omitempty" doc:"Why phones cannot reach it though it is on."`
}

// PhoneRequest opens or closes the door for phones.
type PhoneRequest struct {
	On bool `json:"on"`
}

// Pairing lets one phone in, once.
type Pairing struct {
	URL       string    `json:"url" doc:"For the phone to open. Its fragment has the one-time code; show it to the operator alone."`
	SVG       string    `json:"svg" doc:"The URL as a QR code, a picture in SVG."`
	ExpiresAt time.Time `json:"expires_at"`
}

// PairRequest is of a phone with a one-time code.
type PairRequest struct {
	Code string `json:"code"`
	Name string `json:"name,omitempty" doc:"What the operator calls it, up to 40 characters. Absent: what its browser says it is."`
}

type (
	deviceInput struct {
		ID string `path:"id" doc:"The device's id."`
	}
	confirmInput struct {
		deviceInput
		payload[none]
	}
	// entered is a session, and the cookie that begins the next one.
	entered struct {
		Cookie string `header:"Set-Cookie"`
		Body   *Session
	}
)

// routes of the door, and of the operators who open it.
func (p *phoneDoor) routes(c catalogue) {
	add(c, route{http.MethodGet, "/api/phone", "getPhones", "Phones on the same network: whether they can come in, and which are paired", operators, 0},
		func(_ context.Context, x *exchange, _ *none) (*answer[*PhoneState], error) { return ok(p.state(x)) })
	add(c, route{http.MethodPut, "/api/phone", "setPhones", "Let phones on the same network in, or not", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[PhoneRequest]) (*answer[*PhoneState], error) {
			if in.JSON.On {
				if _, err := p.prove(ctx, x, stepup.Act{Kind: stepup.Settings, Says: "phone"}, in.JSON); err != nil {
					return nil, err
				}
			}
			if err := p.set(in.JSON.On); err != nil {
				return nil, err
			}
			return ok(p.state(x))
		})
	add(c, route{http.MethodPost, "/api/phone/pairing", "pairPhone", "Make a one-time QR code that pairs a phone", operators, 0},
		func(ctx context.Context, x *exchange, _ *payload[none]) (*answer[*Pairing], error) {
			at, err := p.address()
			if err != nil {
				return nil, err
			}
			if _, err := p.prove(ctx, x, stepup.Act{Kind: stepup.Settings, Says: "pair"}, nil); err != nil {
				return nil, err
			}
			return ok(p.invite(at, x.by.Name))
		})
	add(c, route{http.MethodDelete, "/api/phone/devices/{id}", "unpairPhone", "End a phone's sessions and forget it", operators, 0},
		func(_ context.Context, x *exchange, in *deviceInput) (*done, error) {
			if x.session.device != "" && x.session.device != in.ID {
				return nil, errAtComputer()
			}
			return &done{}, p.unpair(in.ID)
		})
	add(c, route{http.MethodPost, "/api/phone/devices/{id}/confirm", "confirmPhone", "Let a phone in again whose list was changed while Deskbell did not run", operators, 0},
		func(ctx context.Context, x *exchange, in *confirmInput) (*answer[*PhoneState], error) {
			if _, err := p.prove(ctx, x, stepup.Act{Kind: stepup.Settings, Says: "pair"}, in.ID); err != nil {
				return nil, err
			}
			if err := p.confirm(in.ID); err != nil {
				return nil, err
			}
			return ok(p.state(x))
		})
	add(c, route{http.MethodPost, "/api/phone/pair", "enterPhone", "Pair this phone with a one-time code", anyone, 0},
		func(_ context.Context, x *exchange, in *payload[PairRequest]) (*entered, error) {
			if err := entering(x.request); err != nil {
				return nil, err
			}
			return p.pair(x.request, in.JSON)
		})
	add(c, route{http.MethodPost, "/api/phone/session", "continuePhone", "Begin a session of a paired phone, by its cookie", anyone, 0},
		func(_ context.Context, x *exchange, _ *payload[none]) (*entered, error) {
			if err := entering(x.request); err != nil {
				return nil, err
			}
			return p.enter(x.request)
		})
}

// entering checks that a call which gives out a session is made by our own page on a phone.
func entering(r *http.Request) error {
	if !byPhone(r) {
		return human.Errorf(human.NotFound, "phones come in by an address of their own; see Phone in the settings")
	}
	if !strings.EqualFold(r.Header.Get("Origin"), "https://"+r.Host) {
		return human.Errorf(human.Denied, "only Deskbell's own page can do this")
	}
	return nil
}

// load reads the devices once, and forgets those that were not used for long. The caller holds mu. What another program writes into
// the file meanwhile does not count, and is overwritten.
func (p *phoneDoor) load() error {
	if !p.loaded {
		list, whole, err := p.Store.Devices()
		if err != nil {
			return err
		}
		if !whole && len(list) > 0 {
			if err := p.doubted(list); err != nil {
				return err
			}
		}
		p.devices, p.loaded = list, true
	}
	now := p.deps.Now()
	p.devices = slices.DeleteFunc(p.devices, func(d human.Device) bool { return now.Sub(d.LastSeen) > deviceLife })
	return nil
}

// paired are the phones that can come in; none where they cannot be read.
func (p *phoneDoor) paired() []human.Device {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.load() != nil {
		return nil
	}
	return slices.Clone(p.devices)
}

// doubted marks all devices of a list that was changed while Deskbell did not run, and tells the operators.
func (p *phoneDoor) doubted(list []human.Device) error {
	for i := range list {
		list[i].Unconfirmed = true
	}
	if err := p.Store.SaveDevices(list); err != nil {
		return err
	}
	p.deps.Log.Error("the list of phones was changed while Deskbell did not run; none comes in until an operator has confirmed it", "devices", len(list))
	p.notices.add(notice{SessionNotice: SessionNotice{Type: "session", At: p.deps.Now().UTC(), Operator: p.deps.Operator, Means: ByPhone, Blocked: true}, later: true})
	return nil
}

// confirm lets a device in again.
func (p *phoneDoor) confirm(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return err
	}
	list := slices.Clone(p.devices)
	i := slices.IndexFunc(list, func(d human.Device) bool { return d.ID == id })
	if i < 0 {
		return human.Errorf(human.NotFound, "there is no such phone")
	}
	list[i].Unconfirmed = false
	if err := p.Store.SaveDevices(list); err != nil {
		return err
	}
	p.devices = list
	return nil
}

func (p *phoneDoor) state(x *exchange) (*PhoneState, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return nil, err
	}
	st := &PhoneState{Addresses: []string{}, Devices: make([]Phone, 0, len(p.devices))}
	for _, d := range p.devices {
		st.Devices = append(st.Devices, Phone{d.ID, d.Name, d.Operator, d.PairedAt, d.LastSeen, x.session.device == d.ID, d.Unconfirmed})
	}
	if st.On, _ = p.Door(); !st.On {
		return st, nil
	}
	addresses, c, err := p.reach()
	if err != nil {
		why := human.Sayf("%s", human.Inner{Err: err})
		st.Problem = &why
		return st, nil
	}
	sum, key := sha256.Sum256(c.Leaf.Raw), sha256.Sum256(c.Leaf.RawSubjectPublicKeyInfo)
	st.Addresses, st.Fingerprint, st.SPKI = addresses, colons(sum[:]), base64Of(key[:])
	return st, nil
}

// colons is how browsers and phones show a fingerprint.
func colons(b []byte) string { return strings.ReplaceAll(fmt.Sprintf("% X", b), " ", ":") }

// set opens or closes the door for good.
func (p *phoneDoor) set(open bool) error {
	if p.Set == nil {
		return human.Errorf(human.Unavailable, "this Deskbell keeps no settings")
	}
	if err := p.Set(open); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.follow()
	if !open {
		p.sessions.dropPhones("")
		return nil
	}
	return err
}

// address is where a phone is sent.
func (p *phoneDoor) address() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open, _ := p.Door(); !open {
		return "", human.Errorf(human.Conflict, "phones cannot come in; switch them on first (Settings, Phone, or `deskbell phone on`)")
	}
	list, _, err := p.reach()
	if err != nil {
		return "", err
	}
	return list[0], nil
}

func (p *phoneDoor) invite(at, operator string) (*Pairing, error) {
	code, until := p.sessions.newPairing(operator)
	link := at + "/#pair=" + code
	picture, err := qrSVG(link)
	return &Pairing{link, picture, until.UTC()}, err
}

// pair lets a phone in that has a code, for good.
func (p *phoneDoor) pair(r *http.Request, in PairRequest) (*entered, error) {
	name, err := deviceName(in.Name, r.UserAgent())
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return nil, err
	}
	if len(p.devices) >= maxDevices {
		return nil, human.Errorf(human.Exhausted, "%d phones are paired, the most allowed; unpair one at the computer first", maxDevices)
	}
	operator, err := p.sessions.pair(in.Code)
	if err != nil {
		p.failed(r, human.TryCode)
		return nil, err
	}
	secret, now := rand.Text(), p.deps.Now().UTC()
	d := human.Device{ID: "ph_" + strings.ToLower(rand.Text()[:12]), Name: name, Operator: operator, PairedAt: now, LastSeen: now, Hash: hexOf(hashOf(secret))}
	list := append(slices.Clone(p.devices), d)
	if err := p.Store.SaveDevices(list); err != nil {
		return nil, err
	}
	p.devices = list
	p.deps.Log.Info("a phone was paired", "operator", operator, "device", d.ID, "name", name, "from", r.RemoteAddr)
	p.notices.add(notice{SessionNotice: SessionNotice{Type: "session", At: now, Operator: operator, Means: ByPhone, Device: name}, later: true})
	return p.entered(d, secret), nil
}

// enter begins a session of the phone whose cookie comes with a request.
func (p *phoneDoor) enter(r *http.Request) (*entered, error) {
	secret := ""
	if c, err := r.Cookie(phoneCookie); err == nil {
		secret = c.Value
	}
	if secret == "" {
		return nil, human.Errorf(human.Unauthorized, "this phone is not paired; scan a code from Deskbell on the computer (Settings, Phone)")
	}
	hash := hexOf(hashOf(secret))
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.devices, func(d human.Device) bool { return d.Hash == hash })
	if i < 0 {
		if err := p.sessions.wrongPhone(); err != nil {
			return nil, err
		}
		p.deps.Log.Warn("a phone came with a cookie that is none of ours, or was unpaired", "from", r.RemoteAddr)
		return nil, human.Errorf(human.Unauthorized, "this phone was unpaired, or was not used for long; scan a code from Deskbell on the computer again")
	}
	if p.devices[i].Unconfirmed {
		return nil, human.Errorf(human.Denied, "the list of phones was changed while Deskbell did not run; confirm this phone on the computer (Settings, Phone, or deskbell phone confirm %s)", p.devices[i].ID)
	}
	list := slices.Clone(p.devices)
	list[i].LastSeen = p.deps.Now().UTC()
	if err := p.Store.SaveDevices(list); err != nil {
		return nil, err
	}
	p.devices = list
	return p.entered(list[i], secret), nil
}

// entered opens a session. The caller holds mu, so that no device is dropped meanwhile.
func (p *phoneDoor) entered(d human.Device, secret string) *entered {
	o := p.sessions.openPhone(d.Operator, d.ID)
	c := http.Cookie{Name: phoneCookie, Value: secret, Path: "/", MaxAge: int(deviceLife.Seconds()), Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	return &entered{c.String(), &Session{Token: o.token, Operator: o.name, Means: ByPhone, Calls: phoneCallList}}
}

func (p *phoneDoor) unpair(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return err
	}
	list := slices.DeleteFunc(slices.Clone(p.devices), func(d human.Device) bool { return d.ID == id })
	if len(list) == len(p.devices) {
		return human.Errorf(human.NotFound, "there is no such phone")
	}
	p.devices = list // it counts no more, whether that can be written or not
	p.sessions.dropPhones(id)
	return p.Store.SaveDevices(list)
}

// deviceName is a phone's name: what it was called, or what its browser says it is.
func deviceName(name, agent string) (string, error) {
	name = strings.TrimSpace(name)
	if utf8.RuneCountInString(name) > maxDeviceName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", human.BadField("name", "is longer than %d characters, or has invisible ones", maxDeviceName)
	}
	for _, known := range []string{"iPhone", "iPad", "Android"} {
		if strings.Contains(agent, known) {
			return cmp.Or(name, known), nil
		}
	}
	return cmp.Or(name, "Phone"), nil
}

func hexOf(h hash) string { return hex.EncodeToString(h[:]) }

// newPairing makes a one-time code for a phone. Another that was made before is of no use any more.
func (s *sessions) newPairing(operator string) (code string, until time.Time) {
	text := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	until = s.now().Add(pairingLife)
	s.pairing = pairing{hashOf(normal(text)), until, operator}
	return text, until
}

// A pairing is what a phone's one-time code stands for.
type pairing struct {
	code     hash
	until    time.Time
	operator string
}

// pair takes a phone's one-time code and returns the operator's name. 130 bits that live for minutes cannot be guessed.
func (s *sessions) pair(code string) (operator string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pairing; p.until.After(s.now()) && p.code == hashOf(normal(code)) {
		s.pairing = pairing{}
		return p.operator, nil
	}
	if err := s.wrongCode(); human.KindOf(err) == human.Exhausted {
		return "", err
	}
	return "", human.Errorf(human.Unauthorized, "this code is wrong, used or expired; scan a new one from Deskbell on the computer (Settings, Phone)")
}

// wrongPhone counts a wrong cookie, and says when there were too many.
func (s *sessions) wrongPhone() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.wrongCode(); human.KindOf(err) == human.Exhausted {
		return err
	}
	return nil
}

// openPhone begins a session that counts at the door for phones alone.
func (s *sessions) openPhone(operator, device string) opened {
	return s.openFor(operator, ByPhone, "", device)
}

// dropPhones ends the sessions of a device, or of all.
func (s *sessions) dropPhones(device string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.tokens {
		if x.device != "" && (device == "" || x.device == device) {
			s.drop(x)
		}
	}
}
