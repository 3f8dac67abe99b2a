package stepup

import (
	"context"
	"time"

	"deskbell/backend/human"
)

// Overview is how step-up stands, as a session sees it.
type Overview struct {
	Policy   Requirements  `json:"policy"`
	Ready    bool          `json:"ready" doc:"Something is set up that can prove presence. Without it nothing needs proof."`
	PIN      bool          `json:"pin" doc:"A PIN is set."`
	Tries    Tries         `json:"tries"`
	System   bool          `json:"system" doc:"The operating system's check counts."`
	SystemOK bool          `json:"system_available"`
	Passkeys []Passkey     `json:"passkeys"`
	Means    []human.Means `json:"means" enum:"pin,system,passkey" doc:"What works in this session."`
	Register bool          `json:"can_register" doc:"A passkey can be registered from this page."`
	At       string        `json:"register_at,omitempty" doc:"An address of the console at which a passkey can be registered."`
	Window   bool          `json:"window" doc:"This session is the desktop window's: a PIN can be typed here."`
	Broken   bool          `json:"broken" doc:"The record of what is set up was changed or deleted while Deskbell did not run. High risks stay open until an operator has seen it."`
	Notices  []Notice      `json:"notices" doc:"What happened that the operator has to see, oldest first."`

	SystemCheck human.SystemCheck `json:"system_check,omitempty" enum:"password,hello,touch_id" doc:"What the operating system asks for."`
	SystemWhy   *human.Sentence   `json:"system_why,omitempty" doc:"Why it cannot ask."`
}

// Passkey is a registered passkey.
type Passkey struct {
	ID   string     `json:"id"`
	Name string     `json:"name"`
	Host string     `json:"host" doc:"The name of this machine that it is for."`
	At   time.Time  `json:"created_at"`
	Used *time.Time `json:"last_used,omitempty"`
}

// State returns how step-up stands.
func (s *Service) State(ctx context.Context, by Act) Overview {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch(ctx)
	return s.state(ctx, by)
}

func (s *Service) state(ctx context.Context, by Act) Overview {
	n := Needed{Means: []human.Means{}}
	s.means(ctx, by, &n)
	_, err := rpOf(by.Origin)
	st := Overview{
		Policy: s.r.Policy, Ready: s.r.setUp(), PIN: s.r.PIN != nil, Tries: s.tries(), System: s.r.System, SystemCheck: s.systemCheck(),
		Passkeys: make([]Passkey, 0, len(s.r.Passkeys)), Means: n.Means, Register: err == nil, Window: by.Window, Broken: s.broken,
		Notices: append([]Notice{}, s.r.Notices...),
	}
	if err != nil {
		st.At = atLocalhost(by.Origin)
	}
	if err := s.systemAvailable(ctx); err != nil {
		why := human.Sayf("%s", human.Inner{Err: err})
		st.SystemWhy = &why
	}
	st.SystemOK = st.SystemWhy == nil
	for _, p := range s.r.Passkeys {
		st.Passkeys = append(st.Passkeys, Passkey{ID: p.ID, Name: p.Name, Host: p.RP, At: p.At, Used: p.Used})
	}
	return st
}

// change changes the record, and tells the operator what was changed. That the session may, Require has said.
func (s *Service) change(ctx context.Context, by Act, do func(*record) (human.Sentence, error)) (Overview, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.r
	said, err := do(&r)
	if err != nil {
		return Overview{}, err
	}
	if said.Code != "" {
		r.Notices = s.noticed(r.Notices, said)
	}
	if err := s.save(ctx, r); err != nil {
		return Overview{}, err
	}
	s.broken = false // an operator is here
	return s.state(ctx, by), nil
}

// SetPolicy changes what needs proof.
func (s *Service) SetPolicy(ctx context.Context, by Act, p Requirements) (Overview, error) {
	if p.Answers != "" && !p.Answers.Dangerous() {
		return Overview{}, human.BadField("answers", "%q is not one of high, critical, or empty", human.OneLine(string(p.Answers), 20))
	}
	return s.change(ctx, by, func(r *record) (human.Sentence, error) {
		r.Policy = p
		return human.Say("stepup_policy"), nil
	})
}

// SetPIN sets a PIN; an empty one removes it.
func (s *Service) SetPIN(ctx context.Context, by Act, text string) (Overview, error) {
	if !by.Window {
		why := human.Say("proof_window_only")
		return Overview{}, &human.Error{Kind: human.Denied, Msg: why.Text, Said: why}
	}
	var p *pin
	if text != "" {
		var err error
		if p, err = newPIN(text, s.d.Now().UTC()); err != nil {
			return Overview{}, err
		}
	}
	return s.change(ctx, by, func(r *record) (human.Sentence, error) {
		r.PIN, r.Wrong, r.Pause = p, 0, time.Time{}
		if p == nil {
			return human.Say("stepup_pin_removed"), nil
		}
		return human.Say("stepup_pin_set"), nil
	})
}

// SetSystem lets the operating system's check count, once it was passed, or not. It blocks while the system asks.
func (s *Service) SetSystem(ctx context.Context, by Act, on bool, process int) (Overview, error) {
	if on {
		if err := s.systemAvailable(ctx); err != nil {
			return Overview{}, err
		}
		if p := human.ProofOf(ctx); p == nil || p.Means != human.BySystem { // else it was just passed, for this very call
			if err := s.d.System.Ask(ctx, process); err != nil {
				return Overview{}, err
			}
		}
	}
	return s.change(ctx, by, func(r *record) (human.Sentence, error) {
		r.System = on
		if on {
			return human.Say("stepup_system_on"), nil
		}
		return human.Say("stepup_system_off"), nil
	})
}

// Seen clears the notices, once an operator has seen them.
func (s *Service) Seen(ctx context.Context, by Act) (Overview, error) {
	return s.change(ctx, by, func(r *record) (human.Sentence, error) {
		r.Notices = nil
		return human.Sentence{}, nil
	})
}
