package stepup

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
)

// memory is a vault that keeps what it is given, until a test changes it as another program would.
type memory struct {
	sealed string
	key    []byte
}

func (m *memory) Load(context.Context) (string, []byte, error) { return m.sealed, m.key, nil }
func (m *memory) MakeKey(context.Context) ([]byte, error) {
	m.key = make([]byte, 32)
	rand.Read(m.key)
	return m.key, nil
}
func (m *memory) Save(_ context.Context, sealed string) error { m.sealed = sealed; return nil }

// asked is a system whose person answers as a test says.
type asked struct{ unavailable, answer error }

func (a *asked) Check() human.SystemCheck        { return human.WindowsHello }
func (a *asked) Available(context.Context) error { return a.unavailable }
func (a *asked) Ask(context.Context, int) error  { return a.answer }

type fixture struct {
	*Service
	t      *testing.T
	vault  *memory
	system *asked
	now    time.Time
}

var (
	ada    = human.Actor{Role: human.Operator, Name: "ada"}
	window = Act{By: ada, Session: "window", Window: true}
	coded  = Act{By: ada, Session: "code", Origin: "http://127.0.0.1:7717"}
)

func open(t *testing.T) *fixture {
	f := &fixture{t: t, vault: &memory{}, system: &asked{}, now: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)}
	f.restart()
	return f
}

// restart is another process on the same vault.
func (f *fixture) restart() {
	f.t.Helper()
	s, err := New(f.t.Context(), Deps{Vault: f.vault, System: f.system, Now: func() time.Time { return f.now }, Log: slog.New(slog.DiscardHandler)})
	must(f.t, err)
	f.Service = s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const right = "correct horse"

// withPIN sets the PIN, and that critical answers need proof.
func withPIN(t *testing.T) *fixture {
	f := open(t)
	_, err := f.SetPIN(t.Context(), window, right)
	must(t, err)
	_, err = f.SetPolicy(t.Context(), window, Requirements{Answers: human.CriticalRisk, Rules: true})
	must(t, err)
	return f
}

// approve is an answer to a request of some risk, in a session.
func approve(in Act, risk human.Risk) Act {
	in.Kind, in.Subject, in.Says, in.Digest, in.Risk = Answer, "op_1", "approve", "the call", risk
	return in
}

// needed begins a challenge.
func (f *fixture) needed(a Act) *Needed {
	f.t.Helper()
	proof, err := f.Require(f.t.Context(), a, "")
	var n *Needed
	if proof != nil || !errors.As(err, &n) {
		f.t.Fatalf("no proof is asked for: %v, %v", proof, err)
	}
	return n
}

// byPIN meets a challenge.
func (f *fixture) byPIN(n *Needed, pin string) error {
	_, err := f.Prove(f.t.Context(), window, Claim{Challenge: n.Challenge, Means: human.ByPIN, PIN: pin})
	return err
}

func TestWhatNeedsProof(t *testing.T) {
	f := withPIN(t)
	rule := func(a Act) Act { a.Kind = Rule; return a }
	allows := func(a Act) Act { a.Allows = true; return a }
	words := func(a Act) Act { a.Human = true; return a }
	for name, tt := range map[string]struct {
		act  Act
		want bool
	}{
		"critical in the window":                  {approve(window, human.CriticalRisk), true},
		"high in the window":                      {approve(window, human.HighRisk), false},
		"low in the window":                       {approve(window, human.LowRisk), false},
		"medium by a code's session":              {approve(coded, human.MediumRisk), true},
		"low by a code's session":                 {approve(coded, human.LowRisk), false},
		"a risk that is not said, by a code":      {approve(coded, ""), true},
		"a risk that is not said, in the window":  {approve(window, ""), false},
		"words for a critical request, by a code": {words(approve(coded, human.CriticalRisk)), true},
		"words for a critical request, window":    {words(approve(window, human.CriticalRisk)), false},
		"words without a risk, by a code":         {words(approve(coded, "")), false},
		"a low answer that makes a rule":          {allows(approve(window, human.LowRisk)), true},
		"a rule":                                  {rule(window), true},
		"a key":                                   {Act{Kind: Key, Window: true}, false},
		"the gatekeeper, in the window":           {Act{Kind: Gatekeeper, Window: true}, false},
		"the gatekeeper, by a code":               {Act{Kind: Gatekeeper}, true},
		"what proves":                             {Act{Kind: Settings, Window: true}, true},
	} {
		if got := f.Needs(tt.act); got != tt.want {
			t.Errorf("%s: proof %v", name, got)
		}
	}
	if f := open(t); f.Needs(approve(coded, human.CriticalRisk)) || f.Needs(Act{Kind: Settings}) {
		t.Error("proof is asked for where nothing can give it")
	}
}

func TestAProofCountsOnceForItsAct(t *testing.T) {
	f := withPIN(t)
	act := approve(window, human.CriticalRisk)
	n := f.needed(act)
	if len(n.Means) != 1 || n.Means[0] != human.ByPIN || n.Subject != "op_1" {
		t.Fatalf("%+v", n)
	}
	if _, err := f.Require(t.Context(), act, n.Challenge); human.KindOf(err) != human.Denied {
		t.Errorf("a challenge that was not met counted: %v", err)
	}
	n = f.needed(act)
	must(t, f.byPIN(n, right))
	proof, err := f.Require(t.Context(), act, n.Challenge)
	if err != nil || proof == nil || proof.Means != human.ByPIN || !proof.At.Equal(f.now) {
		t.Fatalf("%+v, %v", proof, err)
	}
	if proof, err := f.Require(t.Context(), act, n.Challenge); proof != nil || human.KindOf(err) != human.Denied {
		t.Errorf("a second time: %v, %v", proof, err)
	}

	for name, other := range map[string]func(Act) Act{
		"another call":        func(a Act) Act { a.Digest = "another call"; return a },
		"another kind of act": func(a Act) Act { a.Kind = Rule; return a },
		"another session":     func(a Act) Act { a.Session = "other"; return a },
	} {
		n := f.needed(act)
		must(t, f.byPIN(n, right))
		if proof, err := f.Require(t.Context(), other(act), n.Challenge); proof != nil || human.KindOf(err) != human.Denied {
			t.Errorf("%s: %v, %v", name, proof, err)
		}
	}
	if st := f.State(t.Context(), window); !strings.Contains(st.Notices[len(st.Notices)-1].Said.Text, "something else") {
		t.Errorf("the operator is not told: %+v", st.Notices)
	}

	n = f.needed(act)
	must(t, f.byPIN(n, right))
	f.now = f.now.Add(useLife)
	if proof, err := f.Require(t.Context(), act, n.Challenge); proof != nil || human.KindOf(err) != human.Denied {
		t.Errorf("after it expired: %v, %v", proof, err)
	}
	n = f.needed(act)
	f.now = f.now.Add(proveLife)
	if err := f.byPIN(n, right); human.KindOf(err) != human.NotFound {
		t.Errorf("met too late: %v", err)
	}
}

func TestThePINIsTheWindowsAlone(t *testing.T) {
	f := withPIN(t)
	n := f.needed(approve(coded, human.HighRisk))
	if len(n.Means) != 0 || len(n.Elsewhere) != 1 || n.Elsewhere[0].Means != human.ByPIN {
		t.Errorf("a code's session may use %v, not %+v", n.Means, n.Elsewhere)
	}
	if _, err := f.Prove(t.Context(), coded, Claim{Challenge: n.Challenge, Means: human.ByPIN, PIN: right}); human.KindOf(err) != human.Denied {
		t.Errorf("a code's session typed the PIN: %v", err)
	}
	if _, err := f.SetPIN(t.Context(), coded, "123456"); human.KindOf(err) != human.Denied {
		t.Errorf("a code's session set the PIN: %v", err)
	}
	// The window cannot meet another session's challenge either.
	if err := f.byPIN(n, right); human.KindOf(err) != human.NotFound {
		t.Errorf("a challenge of another session was met: %v", err)
	}
}

func TestPINsTriesArePausedOverRestarts(t *testing.T) {
	f := withPIN(t)
	act := approve(window, human.CriticalRisk)
	wrong := func(want human.ErrorKind) {
		t.Helper()
		if err := f.byPIN(f.needed(act), "wrong"); human.KindOf(err) != want {
			t.Fatalf("a wrong PIN: %v", err)
		}
	}
	for left := freeTries - 1; left > 0; left-- {
		wrong(human.Denied)
		if n := f.needed(act); n.PIN.Left != left || n.PIN.Wrong != freeTries-left {
			t.Errorf("tries: %+v, not %d left", n.PIN, left)
		}
	}
	wrong(human.Denied)
	for range 2 {
		if err := f.byPIN(f.needed(act), right); human.KindOf(err) != human.Exhausted {
			t.Errorf("during the pause: %v", err)
		}
		f.restart()
	}
	f.now = f.now.Add(firstPause)
	wrong(human.Denied)
	f.now = f.now.Add(firstPause)
	wrong(human.Exhausted) // the pause is twice as long now
	f.now = f.now.Add(firstPause)
	must(t, f.byPIN(f.needed(act), right))
	if n := f.needed(act); n.PIN.Left != freeTries || n.PIN.Wrong != 0 {
		t.Errorf("after the right one: %+v", n.PIN)
	}
	if st := f.State(t.Context(), window); len(st.Notices) < freeTries {
		t.Errorf("wrong PINs are not shown: %+v", st.Notices)
	}
}

func TestATryIsCountedBeforeItIsChecked(t *testing.T) {
	f := withPIN(t)
	_, err := f.countTry(t.Context())
	must(t, err)
	f.restart() // as if it was ended during the check
	if n := f.needed(approve(window, human.CriticalRisk)); n.PIN.Wrong != 1 {
		t.Errorf("%+v", n.PIN)
	}
}

func TestPINsAreHashed(t *testing.T) {
	f := open(t)
	for _, short := range []string{"12345", "五个字符数", strings.Repeat("x", maxPIN+1)} {
		if _, err := f.SetPIN(t.Context(), window, short); human.KindOf(err) != human.Invalid {
			t.Errorf("%q: %v", short, err)
		}
	}
	_, err := f.SetPIN(t.Context(), window, right)
	must(t, err)
	if strings.Contains(f.vault.sealed, right) || !strings.Contains(f.vault.sealed, `"kib":65536`) {
		t.Error(f.vault.sealed)
	}
}

func TestTheSystemsCheck(t *testing.T) {
	f := open(t)
	f.system.answer = human.Errorf(human.Denied, "no")
	if _, err := f.SetSystem(t.Context(), coded, true, 0); human.KindOf(err) != human.Denied || f.State(t.Context(), coded).System {
		t.Errorf("switched on by somebody who is not there: %v", err)
	}
	f.system.answer = nil
	_, err := f.SetSystem(t.Context(), coded, true, 0)
	must(t, err)
	act := approve(coded, human.HighRisk)
	n := f.needed(act)
	f.system.answer = human.Errorf(human.Denied, "no")
	if _, err := f.Prove(t.Context(), coded, Claim{Challenge: n.Challenge, Means: human.BySystem}); human.KindOf(err) != human.Denied {
		t.Errorf("the system said no: %v", err)
	}
	f.system.answer = nil
	_, err = f.Prove(t.Context(), coded, Claim{Challenge: n.Challenge, Means: human.BySystem})
	must(t, err)
	proof, err := f.Require(t.Context(), act, n.Challenge)
	if err != nil || proof.Means != human.BySystem {
		t.Fatalf("%+v, %v", proof, err)
	}
	f.system.answer = human.Errorf(human.Denied, "asked twice")
	if _, err := f.SetSystem(human.WithProof(t.Context(), *proof), coded, true, 0); err != nil {
		t.Errorf("switched on with the system's own proof: %v", err)
	}
	if _, err := f.SetSystem(human.WithProof(t.Context(), human.Proof{Means: human.ByPIN}), coded, true, 0); human.KindOf(err) != human.Denied {
		t.Errorf("switched on with a PIN alone: %v", err)
	}
	if st := f.State(t.Context(), coded); !st.SystemOK || st.SystemWhy != nil || st.SystemCheck != human.WindowsHello {
		t.Errorf("the system can ask: %+v", st)
	}
	f.system.unavailable = human.Errorf(human.Unavailable, "no polkit")
	if st := f.State(t.Context(), coded); st.SystemOK || st.SystemWhy == nil || st.SystemWhy.Code != "no_polkit" {
		t.Errorf("the system cannot ask: %+v", st)
	}
	if n := f.needed(act); len(n.Means) != 0 || len(n.Elsewhere) != 1 || n.SystemCheck != human.WindowsHello {
		t.Errorf("%+v", n)
	}
}

// What another program does to what is kept is seen.
func TestTheRecordIsSealed(t *testing.T) {
	for name, harm := range map[string]func(*memory){
		"deleted":     func(m *memory) { m.sealed = "" },
		"changed":     func(m *memory) { m.sealed = strings.Replace(m.sealed, `"answers":"critical"`, `"answers":""`, 1) },
		"another key": func(m *memory) { m.key = []byte("a key of the agent's own") },
		"without key": func(m *memory) { m.key = nil },
	} {
		f := withPIN(t)
		harm(f.vault)
		// While Deskbell runs, what it knows counts, and is written again.
		if !f.Needs(approve(window, human.CriticalRisk)) {
			t.Errorf("%s: no proof is asked for", name)
		}
		n := f.needed(approve(window, human.CriticalRisk))
		if st := f.State(t.Context(), window); !strings.Contains(st.Notices[len(st.Notices)-1].Said.Text, "restored") {
			t.Errorf("%s: the operator is not told: %+v", name, st.Notices)
		}
		must(t, f.byPIN(n, right))
		f.restart()
		must(t, f.byPIN(f.needed(approve(window, human.CriticalRisk)), right))

		// While it does not run, nothing can be restored, but high risks stay open until an operator knows.
		harm(f.vault)
		f.restart()
		st := f.State(t.Context(), window)
		n = f.needed(approve(window, human.HighRisk))
		if !st.Broken || st.PIN || len(n.Means) != 1 || n.Means[0] != human.BySystem {
			t.Errorf("%s: %+v, %+v", name, st, n)
		}
		if settings := (Act{Kind: Settings}); !f.Needs(settings) || !f.Needs(Act{Kind: Key, Window: true}) {
			t.Errorf("%s: a session by code can say that it was seen, or the window make a key", name)
		} else if settings.Window = true; f.Needs(settings) {
			t.Errorf("%s: the window cannot set it up again", name)
		}
		f.restart()
		if !f.State(t.Context(), window).Broken {
			t.Errorf("%s: after another start it is forgotten", name)
		}
		st, err := f.Seen(t.Context(), window)
		if err != nil || st.Broken || f.Needs(approve(window, human.HighRisk)) {
			t.Errorf("%s: %+v, %v", name, st, err)
		}
		f.restart()
		if f.State(t.Context(), window).Broken {
			t.Errorf("%s: what the operator has seen is shown again", name)
		}
	}
}
