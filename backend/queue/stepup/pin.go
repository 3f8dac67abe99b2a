package stepup

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"deskbell/backend/human"
)

// Limits of a PIN: its length in characters, and how often it may be wrong before nothing is taken for a while. Each wrong one after
// that doubles the pause.
const (
	minPIN     = 6
	maxPIN     = 128
	freeTries  = 5
	firstPause = 15 * time.Minute
	mostPause  = 24 * time.Hour
)

// ErrWrongPIN is in the chain of the error of a PIN that is wrong, or comes during a pause.
var ErrWrongPIN = errors.New("stepup: wrong PIN")

// A pin is the Argon2id of a PIN (RFC 9106, its second recommended option: 64 MiB, three passes).
type pin struct {
	Salt   []byte    `json:"salt"`
	Hash   []byte    `json:"hash"`
	Passes uint32    `json:"passes"`
	KiB    uint32    `json:"kib"`
	Lanes  uint8     `json:"lanes"`
	At     time.Time `json:"at"`
}

func (p pin) of(text string) []byte {
	return argon2.IDKey([]byte(text), p.Salt, p.Passes, p.KiB, p.Lanes, 32)
}

func newPIN(text string, now time.Time) (*pin, error) {
	if n := utf8.RuneCountInString(text); n < minPIN || len(text) > maxPIN {
		return nil, human.BadField("pin", "has %d characters; use %d or more, %d bytes at most", n, minPIN, maxPIN)
	}
	p := &pin{Salt: make([]byte, 16), Passes: 3, KiB: 64 << 10, Lanes: 4, At: now}
	rand.Read(p.Salt)
	p.Hash = p.of(text)
	return p, nil
}

// tries is how the PIN stands. The caller holds mu.
func (s *Service) tries() Tries {
	t := Tries{Wrong: s.r.Wrong, Left: max(1, freeTries-s.r.Wrong)}
	if s.r.Pause.After(s.d.Now()) {
		until := s.r.Pause.UTC()
		t.Until, t.Left = &until, 0
	}
	return t
}

// tryPIN checks a PIN. The try is counted, durably, before it is checked, so that ending Deskbell gains none.
func (s *Service) tryPIN(ctx context.Context, text string) error {
	s.pin.Lock()
	defer s.pin.Unlock()
	p, err := s.countTry(ctx)
	if err != nil {
		return err
	}
	right := len(text) <= maxPIN && subtle.ConstantTimeCompare(p.of(text), p.Hash) == 1
	s.mu.Lock()
	defer s.mu.Unlock()
	if right {
		r := s.r
		r.Wrong, r.Pause = 0, time.Time{}
		return s.save(ctx, r)
	}
	t := s.tries()
	s.notice(ctx, human.Say("stepup_wrong_pin"))
	if t.Until != nil {
		return human.Wrap(human.Denied, ErrWrongPIN, "the PIN is wrong; none is taken until %s", t.Until.Format(time.RFC3339))
	}
	return human.Wrap(human.Denied, ErrWrongPIN, "the PIN is wrong; tries left before a pause: %d", t.Left)
}

func (s *Service) countTry(ctx context.Context) (pin, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.r.PIN == nil {
		return pin{}, human.Errorf(human.NotFound, "no PIN is set")
	}
	if t := s.tries(); t.Until != nil {
		return pin{}, human.Wrap(human.Exhausted, ErrWrongPIN, "the PIN was wrong %d times; none is taken until %s", t.Wrong, t.Until.Format(time.RFC3339))
	}
	r := s.r
	if r.Wrong++; r.Wrong >= freeTries {
		r.Pause = s.d.Now().Add(min(mostPause, firstPause<<min(r.Wrong-freeTries, 10)))
	}
	return *r.PIN, s.save(ctx, r)
}
