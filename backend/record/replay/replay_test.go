package replay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/replay"
)

// A stage is a desktop that is a list of windows and elements, and a player on it that writes down what it
// was told. Its time passes when it is waited.
type stage struct {
	windows  []record.Placed
	elements []human.Element
	focus    *human.Element
	blind    bool // no element is known

	did    []string
	held   map[string]bool
	waited time.Duration
	then   map[time.Duration]func() // what happens when so much was waited
	stop   string
	fail   error
}

func (s *stage) do(f string, args ...any) error {
	s.did = append(s.did, fmt.Sprintf(f, args...))
	return s.fail
}

func (s *stage) hold(what string, down bool) {
	if s.held == nil {
		s.held = map[string]bool{}
	}
	if down {
		s.held[what] = true
	} else {
		delete(s.held, what)
	}
}

func (s *stage) Move(x, y int) error { return s.do("move %d,%d", x, y) }
func (s *stage) Press(b int) error   { s.hold(fmt.Sprint(b), true); return s.do("press %d", b) }
func (s *stage) Release(b int) error {
	s.hold(fmt.Sprint(b), s.fail != nil) // what fails is not released
	return s.do("release %d", b)
}
func (s *stage) Scroll(x, y int) error {
	return s.do("scroll %d,%d", x, y)
}
func (s *stage) Text(text string) error { return s.do("type %s", text) }
func (s *stage) Hold(m string) error    { s.hold(m, true); return s.do("hold %s", m) }
func (s *stage) LetGo(m string) error   { s.hold(m, false); return s.do("let go %s", m) }
func (s *stage) Key(k string) error     { return s.do("key %s", k) }
func (s *stage) Interrupted() string    { return s.stop }
func (s *stage) ReleaseAll() error      { clear(s.held); return nil }

func (s *stage) Active(context.Context) (record.Placed, error) {
	if len(s.windows) == 0 {
		return record.Placed{}, human.Errorf(human.NotFound, "no window")
	}
	return s.windows[0], nil
}
func (s *stage) Windows(context.Context) ([]record.Placed, error) { return s.windows, nil }
func (s *stage) Activate(_ context.Context, w record.Placed) error {
	i := slices.IndexFunc(s.windows, func(p record.Placed) bool { return p.Window.ID == w.Window.ID })
	s.windows[0], s.windows[i] = s.windows[i], s.windows[0]
	return s.do("activate %s", w.Window.Title)
}
func (s *stage) At(_ context.Context, x, y int, _ record.Placed) (human.Element, error) {
	if s.blind {
		return human.Element{}, human.Errorf(human.Unavailable, "no accessibility")
	}
	for _, e := range s.elements {
		if e.Bounds.Contains(x, y) {
			return e, nil
		}
	}
	return human.Element{}, human.Errorf(human.NotFound, "nothing there")
}
func (s *stage) Focused(context.Context, record.Placed) (human.Element, error) {
	if s.focus == nil {
		return human.Element{}, human.Errorf(human.NotFound, "nothing has the keyboard")
	}
	return *s.focus, nil
}

func (s *stage) wait(ctx context.Context, d time.Duration) error {
	s.waited += d
	for at, f := range s.then {
		if s.waited >= at {
			delete(s.then, at)
			f()
		}
	}
	return ctx.Err()
}

func (s *stage) run(ctx context.Context, o replay.Options, list ...human.Action) (replay.Report, error) {
	o.Wait = s.wait
	return replay.Run(ctx, s, list, o)
}

func window(id, title, app string, x, y, w, h int) record.Placed {
	return record.Placed{App: human.App{Name: app, Exe: strings.ToLower(app)}, Window: human.Window{ID: id, Title: title, Bounds: human.Bounds{X: x, Y: y, W: w, H: h}}}
}

var (
	was   = window("1", "Contracts - Signer", "Signer", 100, 100, 400, 300)
	logIn = human.Element{Role: "button", Name: "Log in", Bounds: human.Bounds{X: 400, Y: 350, W: 80, H: 30}} // at the lower right corner
	user  = human.Element{Role: "textbox", Name: "User", Bounds: human.Bounds{X: 150, Y: 150, W: 200, H: 30}}
)

// action is one as it was recorded, in the window was.
func action(a human.Action) human.Action {
	app, win := was.App, was.Window
	a.App, a.Window, a.ID, a.Words = &app, &win, "a1", "What was done"
	return a
}

func click(e *human.Element) human.Action {
	return action(human.Action{Type: human.Click, Button: 1, X: 440, Y: 365, Element: e})
}

func at(e human.Element, x, y int) human.Element {
	e.Bounds.X, e.Bounds.Y = x, y
	return e
}

func TestActionsArePlayedWhereThingsAreNow(t *testing.T) {
	typed := func(text, key string) human.Action {
		return action(human.Action{Type: human.Typing, Text: text, Count: len(text), Key: key, Element: &user})
	}
	moved := window("9", "Contracts - Signer", "Signer", 300, 50, 400, 300)
	larger := window("9", "Contracts - Signer", "Signer", 100, 100, 800, 600)
	mail := window("2", "Inbox", "Mail", 0, 0, 900, 700)
	for name, tt := range map[string]struct {
		stage  stage
		action human.Action
		did    []string
	}{
		"a click": {stage{windows: []record.Placed{was}, elements: []human.Element{logIn}}, click(&logIn), []string{"move 440,365", "press 1", "release 1"}},
		"a click in a window that has moved": {
			stage{windows: []record.Placed{moved}, elements: []human.Element{at(logIn, 600, 300)}}, click(&logIn), []string{"move 640,315", "press 1", "release 1"}},
		"a click on an element that stayed at its corner while the window grew": {
			stage{windows: []record.Placed{larger}, elements: []human.Element{at(logIn, 800, 650)}}, click(&logIn), []string{"move 840,665", "press 1", "release 1"}},
		"a click on an element that grew is on the same part of it": {
			stage{windows: []record.Placed{was}, elements: []human.Element{{Role: "button", Name: "Log in", Bounds: human.Bounds{X: 300, Y: 350, W: 160, H: 30}}}}, click(&logIn), []string{"move 380,365", "press 1", "release 1"}},
		"a click where no element was known": {stage{windows: []record.Placed{moved}}, click(nil), []string{"move 640,315", "press 1", "release 1"}},
		"a click where no element is known": {
			stage{windows: []record.Placed{moved}, blind: true}, click(&logIn), []string{"move 640,315", "press 1", "release 1"}},
		"a window behind another is brought to the front first": {
			stage{windows: []record.Placed{mail, was}, elements: []human.Element{logIn}}, click(&logIn), []string{"activate Contracts - Signer", "move 440,365", "press 1", "release 1"}},
		"a title that counts is the same title": {
			stage{windows: []record.Placed{window("1", "*Contracts (2) - Signer", "Signer", 100, 100, 400, 300)}, elements: []human.Element{logIn}}, click(&logIn), []string{"move 440,365", "press 1", "release 1"}},
		"a double click with a modifier": {
			stage{windows: []record.Placed{was}}, action(human.Action{Type: human.DoubleClick, Button: 1, X: 110, Y: 110, Modifiers: []string{"ctrl"}}),
			[]string{"move 110,110", "hold ctrl", "press 1", "release 1", "press 1", "release 1", "let go ctrl"}},
		"a drag goes the way": {
			stage{windows: []record.Placed{moved}}, action(human.Action{Type: human.Drag, Button: 1, X: 110, Y: 110, ToX: 122, ToY: 134}),
			[]string{"move 310,60", "press 1", "move 311,62", "move 312,64", "move 313,66", "move 314,68", "move 315,70", "move 316,72", "move 317,74", "move 318,76", "move 319,78", "move 320,80", "move 321,82", "move 322,84", "release 1"}},
		"a scroll, notch by notch": {
			stage{windows: []record.Placed{was}}, action(human.Action{Type: human.Scroll, X: 110, Y: 110, DeltaY: -2}), []string{"move 110,110", "scroll 0,-1", "scroll 0,-1"}},
		"typing, and the Tab that left the field": {stage{windows: []record.Placed{was}, focus: &user}, typed("mei", "Tab"), []string{"type mei", "key Tab"}},
		"typing where nobody knows what has the keyboard": {
			stage{windows: []record.Placed{was}}, typed("mei", ""), []string{"type mei"}},
		"a long text in parts": {stage{windows: []record.Placed{was}}, typed("0123456789abcdefgh", ""), []string{"type 0123456789abcdef", "type gh"}},
		"keys pressed three times": {
			stage{windows: []record.Placed{was}}, action(human.Action{Type: human.Shortcut, Key: "Tab", Count: 3, Modifiers: []string{"shift"}}), []string{"hold shift", "key Tab", "key Tab", "key Tab", "let go shift"}},
		"pasting twelve characters is one key": {
			stage{windows: []record.Placed{was}}, action(human.Action{Type: human.Paste, Key: "v", Count: 12, Modifiers: []string{"ctrl"}}), []string{"hold ctrl", "key v", "let go ctrl"}},
		"switching": {
			stage{windows: []record.Placed{mail, was}}, action(human.Action{Type: human.SwitchWindow}), []string{"activate Contracts - Signer"}},
		"a program whose window has another title yet": {
			stage{windows: []record.Placed{window("1", "Signer", "Signer", 0, 0, 9, 9)}}, action(human.Action{Type: human.OpenApp}), nil},
		"closing was done by what came before": {stage{windows: []record.Placed{mail}}, action(human.Action{Type: human.CloseWindow}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := tt.stage.run(t.Context(), replay.Options{}, tt.action)
			if err != nil || report.Done != 1 {
				t.Fatalf("%+v, %v", report, err)
			}
			if !slices.Equal(tt.stage.did, tt.did) {
				t.Errorf("\n got %q\nwant %q", tt.stage.did, tt.did)
			}
		})
	}
}

func TestWhatDoesNotFitStopsIt(t *testing.T) {
	mail := window("2", "Inbox", "Mail", 0, 0, 900, 700)
	cancel := at(human.Element{Role: "button", Name: "Cancel", Bounds: logIn.Bounds}, 400, 350)
	for name, tt := range map[string]struct {
		stage  stage
		action human.Action
		says   string
	}{
		"another element is there": {
			stage{windows: []record.Placed{was}, elements: []human.Element{cancel}}, click(&logIn), `expected button "Log in" in window "Contracts - Signer" of Signer, found button "Cancel"`},
		"another kind of element of that name": {
			stage{windows: []record.Placed{was}, elements: []human.Element{{Role: "link", Name: "Log in", Bounds: logIn.Bounds}}}, click(&logIn), `found link "Log in"`},
		"nothing is there": {stage{windows: []record.Placed{was}}, click(&logIn), `found nothing`},
		"the window is not there": {
			stage{windows: []record.Placed{mail}}, click(&logIn), `expected window "Contracts - Signer" of Signer, found window "Inbox" of Mail`},
		"no window is there": {stage{}, click(&logIn), `found no window that has the keyboard`},
		"a window of the same program with another title": {
			stage{windows: []record.Placed{window("1", "Settings - Signer", "Signer", 100, 100, 400, 300)}}, click(nil), `found window "Settings - Signer"`},
		"another size, and nothing says where": {
			stage{windows: []record.Placed{window("1", "Contracts - Signer", "Signer", 100, 100, 500, 300)}}, click(nil), `400 by 300 large`},
		"another field has the keyboard": {
			stage{windows: []record.Placed{was}, focus: &cancel}, action(human.Action{Type: human.Typing, Text: "mei", Element: &user}), `expected textbox "User" to have the keyboard, found button "Cancel"`},
		"a text that was hidden": {
			stage{windows: []record.Placed{was}, focus: &user}, action(human.Action{Type: human.Typing, Count: 8, Hidden: "password", Element: &user}), "its text was not recorded"},
		"a text nobody even counted": {
			stage{windows: []record.Placed{was}, focus: &user}, action(human.Action{Type: human.Typing, Hidden: "operator", Element: &user}), "its text was not recorded"},
		"a text that has a secret in it": {
			stage{windows: []record.Placed{was}, focus: &user}, action(human.Action{Type: human.Typing, Text: "key •••", Hidden: "secret", Element: &user}), "its text was not recorded"},
		"a text that was not given": {
			stage{windows: []record.Placed{was}, focus: &user}, action(human.Action{Type: human.Typing, Count: 8, Element: &user}), "its text was not recorded"},
		"a click in a page of a browser": {
			stage{windows: []record.Placed{was}}, action(human.Action{Type: human.Click, Button: 1, X: 5, Y: 5, Page: &human.WebPage{Target: "t1"}}), "was done in a browser"},
		"a window that should have closed": {stage{windows: []record.Placed{was}}, action(human.Action{Type: human.CloseWindow}), "it is still open"},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := tt.stage.run(t.Context(), replay.Options{}, tt.action, click(nil))
			if err == nil || human.KindOf(err) != human.Conflict || !strings.Contains(human.SafeText(err), tt.says) {
				t.Fatalf("got %v, want %q", err, tt.says)
			}
			if len(report.Played) != 1 || report.Played[0].State != "failed" || !strings.Contains(report.Played[0].Detail, tt.says) {
				t.Errorf("the report says %+v", report)
			}
			for _, did := range tt.stage.did {
				if !strings.HasPrefix(did, "activate") {
					t.Errorf("it did %q all the same", did)
				}
			}
		})
	}
}

func TestItWaitsForWhatIsOnItsWay(t *testing.T) {
	s := stage{windows: []record.Placed{was}}
	s.then = map[time.Duration]func(){3 * time.Second: func() { s.elements = []human.Element{logIn} }}
	if _, err := s.run(t.Context(), replay.Options{}, click(&logIn)); err != nil {
		t.Error("a button that comes after 3 s:", err)
	}
	s = stage{}
	s.then = map[time.Duration]func(){12 * time.Second: func() { s.windows = []record.Placed{was} }}
	if _, err := s.run(t.Context(), replay.Options{}, action(human.Action{Type: human.OpenApp})); err != nil {
		t.Error("a program that takes 12 s:", err)
	}
	s = stage{}
	if _, err := s.run(t.Context(), replay.Options{Patience: time.Second}, click(&logIn)); err == nil || s.waited > 2*time.Second {
		t.Errorf("with a second of patience it waited %v: %v", s.waited, err)
	}
}

func TestTheOperatorIsAskedWhatToDo(t *testing.T) {
	password := human.Element{Role: "textbox", Name: "Password", Secret: true}
	hidden := action(human.Action{Type: human.Typing, Count: 8, Hidden: "password", Element: &password})
	s := stage{windows: []record.Placed{was}, focus: &password}
	var asked []replay.Question
	ask := func(answers ...replay.Answer) func(context.Context, replay.Question) replay.Answer {
		asked = nil
		return func(_ context.Context, q replay.Question) replay.Answer {
			asked = append(asked, q)
			return answers[len(asked)-1]
		}
	}
	report, err := s.run(t.Context(), replay.Options{Ask: ask(replay.Answer{Do: "text", Text: "hunter2"})}, hidden)
	if err != nil || !slices.Equal(s.did, []string{"type hunter2"}) || !asked[0].Text {
		t.Errorf("%v %q %+v", err, s.did, asked)
	}
	if strings.Contains(fmt.Sprint(report), "hunter2") {
		t.Error("the report shows the password")
	}
	s = stage{windows: []record.Placed{was}, elements: []human.Element{user}}
	report, err = s.run(t.Context(), replay.Options{Ask: ask(replay.Answer{Do: "skip"}, replay.Answer{})}, click(&logIn), hidden)
	if err == nil || len(report.Played) != 2 || report.Played[0].State != "skipped" || asked[0].Expected == "" {
		t.Errorf("%v %+v", err, report)
	}
	s = stage{windows: []record.Placed{was}}
	o := replay.Options{Ask: func(context.Context, replay.Question) replay.Answer {
		s.elements = []human.Element{logIn}
		return replay.Answer{Do: "retry"}
	}}
	if report, err := s.run(t.Context(), o, click(&logIn)); err != nil || report.Done != 1 {
		t.Errorf("after a retry: %+v %v", report, err)
	}
}

func TestAStopLetsGoOfEverything(t *testing.T) {
	drag := action(human.Action{Type: human.Drag, Button: 1, X: 110, Y: 110, ToX: 300, ToY: 300, Modifiers: []string{"shift"}})
	for name, stop := range map[string]func(s *stage, cancel func()){
		"by the person":  func(s *stage, _ func()) { s.stop = "the mouse was moved" },
		"by the context": func(_ *stage, cancel func()) { cancel() },
		"by a failure":   func(s *stage, _ func()) { s.fail = errors.New("no display") },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := stage{windows: []record.Placed{was}}
			s.then = map[time.Duration]func(){250 * time.Millisecond: func() { stop(&s, cancel) }}
			report, err := s.run(ctx, replay.Options{}, drag, click(nil))
			if err == nil || len(report.Played) != 1 || report.Done != 0 {
				t.Fatalf("%+v %v", report, err)
			}
			if !slices.Contains(s.did, "press 1") || slices.Contains(s.did, "move 300,300") {
				t.Fatalf("it was not stopped in the midst of the drag: %q", s.did)
			}
			if len(s.held) > 0 {
				t.Errorf("%v are still held", s.held)
			}
			if s.fail == nil && !slices.Contains(s.did, "let go shift") {
				t.Errorf("shift was not let go by itself: %q", s.did)
			}
			if name == "by the context" && !errors.Is(err, context.Canceled) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestPausesAreThePersonsUpToALimitAndAtTheSpeedAskedFor(t *testing.T) {
	key := func(ms int) human.Action {
		a := action(human.Action{Type: human.Shortcut, Key: "F5"})
		a.At, a.End = int64(ms)*1e6, int64(ms)*1e6
		return a
	}
	for speed, want := range map[float64]time.Duration{0: 4 * time.Second, 2: 3 * time.Second} {
		s := stage{windows: []record.Placed{was}}
		if _, err := s.run(t.Context(), replay.Options{Speed: speed}, key(0), key(1000), key(2000), key(60000)); err != nil {
			t.Fatal(err)
		}
		// Two pauses of a second (or half of one), one cut to two seconds, and a little after each key.
		if s.waited < want || s.waited > want+time.Second {
			t.Errorf("at speed %v it waited %v, want about %v", speed, s.waited, want)
		}
	}
}

func TestWhatCannotBePlayedIsNamed(t *testing.T) {
	s := stage{windows: []record.Placed{was}}
	cut := click(&logIn)
	cut.Cut = true
	var reported []string
	o := replay.Options{Progress: func(p replay.Played) { reported = append(reported, fmt.Sprint(p.State, " ", p.Index, "/", p.Total)) }}
	report, err := s.run(t.Context(), o, cut, human.Action{Type: human.Note}, human.Action{Type: human.Missing}, human.Action{Type: human.Copy}, human.Action{Type: human.FileOperation})
	if err != nil || report.Done != 0 || len(report.Played) != 4 || len(s.did) > 0 {
		t.Fatalf("%+v %v %q", report, err, s.did)
	}
	for _, p := range report.Played {
		if p.State != "skipped" || p.Detail == "" {
			t.Errorf("%+v", p)
		}
	}
	if want := []string{"playing 1/5", "skipped 1/5"}; len(reported) != 8 || !slices.Equal(reported[:2], want) {
		t.Errorf("reported %q", reported)
	}
}
