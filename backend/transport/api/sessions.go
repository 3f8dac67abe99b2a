package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
)

// Lives of what signs an operator in.
const (
	codeLife   = 10 * time.Minute
	resumeLife = time.Minute    // after the session's last WebSocket closed
	idleLife   = 24 * time.Hour // of a session that nobody uses
	settle     = 2 * time.Second
)

// Wrong codes that are answered as such, per minute; more are told to slow down.
const maxWrong = 5

type hash [sha256.Size]byte

func hashOf(secret string) hash { return sha256.Sum256([]byte(secret)) }

// sessions are the operators' sessions. They live in memory only, and only as hashes: a look-up by hash
// takes as long for a near miss as for a far one.
type sessions struct {
	now func() time.Time

	mu     sync.Mutex
	codes  map[hash]invitation // one-time codes
	resume map[hash]*session
	tokens map[hash]*session
	wrong  []time.Time // the last wrong codes, oldest first, at most maxWrong

	pairing pairing // of the next phone
}

// Means is what a session was opened with. A session that a reloaded page continues keeps what it was opened with.
type Means string

// The means.
const (
	ByWindow   Means = "window"   // the desktop window has it by itself
	ByCode     Means = "code"     // a one-time code that a person was shown somewhere else
	ByTerminal Means = "terminal" // a one-time code that was drawn on the terminal that asked for it
	ByPhone    Means = "phone"    // a phone that an operator paired
)

// An invitation is what a one-time code stands for.
type invitation struct {
	until    time.Time
	name     string // the operator's who signs in with it
	means    Means
	terminal string // the only terminal's session that it counts in, if any
	over     func() // tells whoever showed the code that it is of no use any more
}

// A session is one signed-in page, window or terminal.
type session struct {
	ctx    context.Context // ends with the session
	end    context.CancelFunc
	token  hash
	resume hash
	means  Means
	name   string // the operator's

	terminal string // the only terminal's session that may use it; empty: whoever has the token
	device   string // the phone that it is of, which may use it at the door for phones alone

	// Guarded by sessions.mu.
	sockets int
	used    time.Time     // by a call or a WebSocket
	closed  time.Time     // when its last WebSocket closed, or it began
	quiet   chan struct{} // closed when its last WebSocket closes
	misused time.Time     // outside of its terminal, told of
}

// opened is what a new session gets once.
type opened struct {
	token, resume, name string
	session             *session
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, codes: map[hash]invitation{}, resume: map[hash]*session{}, tokens: map[hash]*session{}}
}

// codeLength is how many characters a one-time code has, without its dash. A resume code has more.
const codeLength = 10

// crockford is base 32 without letters that are mistaken for others.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// typed is a code as a person may have typed it, in the one spelling it is known by.
var typed = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1")

func normal(code string) string { return typed.Replace(strings.ToUpper(strings.TrimSpace(code))) }

// newCode makes a one-time code of 50 bits, for a person to read and type, who is an operator of that name. over is closed when
// it was used, has expired, or another was made for the same terminal.
func (s *sessions) newCode(name string, means Means, terminal string) (word string, over <-chan struct{}) {
	var b [10]byte
	rand.Read(b[:])
	code := crockford.EncodeToString(b[:])[:codeLength]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for h, i := range s.codes {
		if !i.until.After(now) || terminal != "" && i.terminal == terminal {
			s.dropCode(h)
		}
	}
	h, ended := hashOf(code), make(chan struct{})
	late := time.AfterFunc(codeLife, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dropCode(h)
	})
	s.codes[h] = invitation{now.Add(codeLife), name, means, terminal, func() { late.Stop(); close(ended) }}
	return code[:5] + "-" + code[5:], ended
}

// names are those of operators that have a session, or a code for one.
func (s *sessions) names() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := map[string]bool{}
	for _, i := range s.codes {
		names[i.name] = true
	}
	for _, o := range s.tokens {
		names[o.name] = true
	}
	return names
}

// forget makes a code useless that no one was shown.
func (s *sessions) forget(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropCode(hashOf(normal(code)))
}

// dropCode makes a code useless. The caller holds mu.
func (s *sessions) dropCode(h hash) {
	if i, ok := s.codes[h]; ok {
		delete(s.codes, h)
		i.over()
	}
}

// signIn trades a code for a session: a one-time code, or the resume code of a session whose page was
// loaded anew. A right code always counts, however many wrong ones came before it: no one can be locked
// out. 50 bits that live for 10 minutes cannot be guessed at any rate a machine can try them. With a terminal's session, only
// that can use the new one; a code that was drawn on a terminal counts nowhere else.
func (s *sessions) signIn(ctx context.Context, code, terminal string) (opened, error) {
	h := hashOf(normal(code))
	s.mu.Lock()
	if i, ok := s.codes[h]; ok && i.until.After(s.now()) {
		if i.terminal != "" && i.terminal != terminal {
			s.mu.Unlock()
			return opened{}, errElsewhere
		}
		s.dropCode(h)
		s.mu.Unlock()
		return s.open(i.name, i.means, terminal), nil
	}
	old := s.resume[h]
	var quiet chan struct{}
	if old != nil && old.sockets > 0 {
		quiet = old.quiet
	}
	s.mu.Unlock()
	if quiet != nil { // the page that was left may not have hung up yet
		late := time.NewTimer(settle)
		defer late.Stop()
		select {
		case <-quiet:
		case <-late.C:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	if old != nil && s.resume[h] == old && old.sockets == 0 && s.now().Sub(old.closed) <= resumeLife {
		s.drop(old)
		s.mu.Unlock()
		return s.open(old.name, old.means, ""), nil
	}
	defer s.mu.Unlock()
	return opened{}, s.wrongCode()
}

// errElsewhere is the error of a terminal's code that comes from somewhere else.
var errElsewhere = human.Errorf(human.Denied, "this code counts in the terminal that showed it, and nowhere else; run `deskbell login` where you want to sign in")

// wrongCode counts a wrong code. The caller holds mu.
func (s *sessions) wrongCode() error {
	now := s.now()
	for len(s.wrong) > 0 && now.Sub(s.wrong[0]) >= time.Minute {
		s.wrong = s.wrong[1:]
	}
	if len(s.wrong) >= maxWrong {
		return human.Errorf(human.Exhausted, "too many wrong codes; get a new one from the app or the terminal, and wait a minute before you try again")
	}
	s.wrong = append(s.wrong, now)
	return human.Errorf(human.Unauthorized, "this code is wrong, used or expired; get a new one from the app, or in a terminal with: deskbell login")
}

// open begins a session of an operator. With a terminal's session only that can use it; such a one, and the window's, need no
// code to continue.
func (s *sessions) open(name string, means Means, terminal string) opened {
	return s.openFor(name, means, terminal, "")
}

// openFor is open for a phone, too, whose cookie begins the next session.
func (s *sessions) openFor(name string, means Means, terminal, device string) opened {
	o := opened{token: "dbo_" + rand.Text(), name: name}
	n := &session{token: hashOf(o.token), means: means, name: name, terminal: terminal, device: device, used: s.now(), closed: s.now(), quiet: make(chan struct{})}
	n.ctx, n.end = context.WithCancel(context.Background())
	o.session = n
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, old := range s.tokens {
		if s.expired(old) {
			s.drop(old)
		}
	}
	s.tokens[n.token] = n
	if means != ByWindow && terminal == "" && device == "" {
		o.resume = rand.Text()
		n.resume = hashOf(normal(o.resume))
		s.resume[n.resume] = n
	}
	return o
}

func (s *sessions) expired(x *session) bool {
	return x.means != ByWindow && x.sockets == 0 && s.now().Sub(x.used) > idleLife
}

// find returns the session of a token, or nil.
func (s *sessions) find(token string) *session {
	h := hashOf(token)
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.tokens[h]
	if x == nil || s.expired(x) {
		return nil
	}
	x.used = s.now()
	return x
}

// misused notes that a terminal's session was used outside of it, and says whether to tell: once a minute.
func (s *sessions) misused(x *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if now.Sub(x.misused) < time.Minute {
		return false
	}
	x.misused = now
	return true
}

// connect counts a session's WebSocket in, until the returned function is called.
func (s *sessions) connect(x *session) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.sockets++; x.sockets == 1 {
		x.quiet = make(chan struct{})
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		x.used = s.now()
		if x.sockets--; x.sockets == 0 {
			x.closed = x.used
			close(x.quiet)
		}
	}
}

// close ends a session.
func (s *sessions) close(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(x)
}

// drop ends a session. The caller holds mu.
func (s *sessions) drop(x *session) {
	delete(s.tokens, x.token)
	delete(s.resume, x.resume)
	x.end()
}
