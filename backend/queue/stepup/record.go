package stepup

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"deskbell/backend/human"
)

// maxNotices is how many notices are kept.
const maxNotices = 20

// A Vault keeps the record, sealed, and the key of the seal in another place: who changes or deletes one of them is seen.
type Vault interface {
	// Load returns what is kept; both are empty where nothing ever was.
	Load(ctx context.Context) (sealed string, key []byte, err error)
	// MakeKey makes a key and keeps it.
	MakeKey(ctx context.Context) ([]byte, error)
	// Save keeps the record, durable when it returns.
	Save(ctx context.Context, sealed string) error
}

// A record is what is kept.
type record struct {
	Policy   Requirements `json:"policy"`
	System   bool         `json:"system"`
	PIN      *pin         `json:"pin,omitempty"`
	Wrong    int          `json:"wrong,omitempty"`
	Pause    time.Time    `json:"pause,omitzero"`
	User     []byte       `json:"user,omitempty"` // the handle that authenticators know the operator by
	Passkeys []passkey    `json:"passkeys,omitempty"`
	Notices  []Notice     `json:"notices,omitempty"`
}

// A Notice is what an operator has to see: nothing they did need have caused it.
type Notice struct {
	At   time.Time      `json:"at"`
	Said human.Sentence `json:"said"`
}

// setUp says whether anything can prove presence.
func (r record) setUp() bool { return r.System || r.PIN != nil || len(r.Passkeys) > 0 }

func seal(key, text []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)) + " " + string(text)
}

// unseal reads a record whose seal is whole.
func unseal(key []byte, sealed string) (r record, ok bool) {
	_, text, _ := strings.Cut(sealed, " ")
	if len(key) == 0 || !hmac.Equal([]byte(sealed), []byte(seal(key, []byte(text)))) {
		return record{}, false
	}
	return r, json.Unmarshal([]byte(text), &r) == nil
}

// load reads what is kept. Where it is not as it was left, nothing of it counts.
func (s *Service) load(ctx context.Context) error {
	sealed, key, err := s.d.Vault.Load(ctx)
	if err != nil {
		return err
	}
	if sealed == "" && len(key) == 0 {
		return nil
	}
	r, ok := unseal(key, sealed)
	if !ok {
		s.broken = true
		s.d.Log.Error("the record of step-up was changed or deleted while Deskbell did not run")
		return nil
	}
	s.key, s.saved, s.r = key, sealed, r
	return nil
}

// save keeps the record. The caller holds mu.
func (s *Service) save(ctx context.Context, r record) error {
	if s.key == nil {
		key, err := s.d.Vault.MakeKey(ctx)
		if err != nil {
			return err
		}
		s.key = key
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	sealed := seal(s.key, text)
	if err := s.d.Vault.Save(context.WithoutCancel(ctx), sealed); err != nil {
		return err
	}
	s.r, s.saved = r, sealed
	return nil
}

// watch sees to it that what is kept is what Deskbell kept last, and tells the operator where it was not. The caller holds mu.
func (s *Service) watch(ctx context.Context) {
	if s.saved == "" {
		return
	}
	sealed, key, err := s.d.Vault.Load(ctx)
	if err != nil || sealed == s.saved && hmac.Equal(key, s.key) {
		return
	}
	s.d.Log.Error("the record of step-up was changed from outside Deskbell; it is restored")
	s.key = nil
	s.notice(ctx, human.Say("stepup_restored"))
}

// notice keeps something for the operator to see. The caller holds mu.
func (s *Service) notice(ctx context.Context, said human.Sentence) {
	r := s.r
	r.Notices = s.noticed(r.Notices, said)
	if err := s.save(ctx, r); err != nil {
		s.d.Log.Error("the record of step-up cannot be kept", "err", err)
		s.r = r
	}
}

// noticed is a list of notices with one more, the oldest left out where there are too many.
func (s *Service) noticed(list []Notice, said human.Sentence) []Notice {
	s.d.Log.Warn("step-up: " + said.Text)
	list = append(append([]Notice{}, list...), Notice{At: s.d.Now().UTC(), Said: said})
	return list[max(0, len(list)-maxNotices):]
}
