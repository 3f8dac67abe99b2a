package x11

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/recordtest"
	"deskbell/build/e2e/desktoptest"
)

// Key codes of a PC keyboard under X.
const (
	codeEscape = 9
	codeDigit1 = 10
	codeE      = 26
	codeQ      = 24
	codeY      = 29 // z on a German one
	codeA      = 38
	codeS      = 39
	codeC      = 54
	codeM      = 58
	codeShift  = 50
	codeCtrl   = 37
	codeAlt    = 64
	codeAltGr  = 108
	codeSuper  = 133
	codeSpace  = 65
	codeCaps   = 66
	codeEnter  = 36
	codeAcute  = 21 // a dead one, German
	codeCircum = 49 // likewise
	codeF5     = 71
	codeKP7    = 79
	codeNum    = 77
)

func TestInput(t *testing.T) {
	recordtest.Source(t, func(tb testing.TB) recordtest.SourceRig {
		d := newFixture(tb)
		h := d.hand()
		x := 0
		return recordtest.SourceRig{
			Source: NewInput(d.Display, monotonic), Name: human.InputSource, Clock: monotonic, Early: 5 * time.Millisecond, Starts: 100,
			Provoke: func(testing.TB) []human.RecordedEvent {
				x = x%1000 + 10
				h.move(x, 20)
				h.click(1)
				h.tap(codeShift, codeA)
				h.sync()
				return []human.RecordedEvent{
					{Type: human.PointerMoved, X: x, Y: 20},
					{Type: human.PointerDown, X: x, Y: 20, Button: 1},
					{Type: human.PointerUp, X: x, Y: 20, Button: 1},
					{Type: human.KeyDown, Key: "Shift"},
					{Type: human.KeyDown, Key: "A", Text: "A", Modifiers: []string{"shift"}},
					{Type: human.KeyUp, Key: "A", Text: "A", Modifiers: []string{"shift"}},
					{Type: human.KeyUp, Key: "Shift", Modifiers: []string{"shift"}},
				}
			},
		}
	})
}

// typed is the text of the key_downs, with the names of keys without any in brackets.
func typed(events []human.RecordedEvent) string {
	var b strings.Builder
	for _, e := range events {
		switch {
		case e.Type != human.KeyDown || isModifier(e.Key):
		case e.Text != "":
			b.WriteString(e.Text)
		default:
			fmt.Fprintf(&b, "[%s]", strings.Join(append(slices.Clone(e.Modifiers), e.Key), "+"))
		}
	}
	return b.String()
}

func TestTextAsTyped(t *testing.T) {
	for name, tt := range map[string]struct {
		layout []string // setxkbmap's
		keys   [][]byte // tapped in turn, modifiers first
		want   string
	}{
		"plain and with Shift":                   {[]string{"us"}, [][]byte{{codeA}, {codeShift, codeA}, {codeShift, codeDigit1}, {codeSpace}, {codeQ}}, "aA! q"},
		"Caps Lock works on letters only":        {[]string{"us"}, [][]byte{{codeCaps}, {codeA}, {codeShift, codeA}, {codeDigit1}, {codeCaps}, {codeA}}, "Aa1a"},
		"German, z and y, AltGr":                 {[]string{"de"}, [][]byte{{codeY}, {codeAltGr, codeQ}, {codeAltGr, codeE}, {codeShift, codeDigit1 + 1}}, "z@€\""},
		"dead keys":                              {[]string{"de"}, [][]byte{{codeAcute}, {codeE}, {codeCircum}, {codeA}, {codeAcute}, {codeShift, codeE}}, "[Dead]é[Dead]â[Dead]É"},
		"a dead key and the space bar":           {[]string{"de"}, [][]byte{{codeCircum}, {codeSpace}, {codeA}}, "[Dead]^a"},
		"a dead key twice":                       {[]string{"de"}, [][]byte{{codeAcute}, {codeAcute}, {codeA}}, "[Dead]´a"},
		"a dead key on what takes no accent":     {[]string{"de"}, [][]byte{{codeAcute}, {codeQ}, {codeA}}, "[Dead][Process]a"},
		"an escaped dead key":                    {[]string{"de"}, [][]byte{{codeAcute}, {codeEscape}, {codeE}}, "[Dead][Escape]e"},
		"Caps Lock on umlauts":                   {[]string{"de"}, [][]byte{{codeCaps}, {47}, {codeCaps}, {47}}, "Öö"},
		"Russian":                                {[]string{"ru"}, [][]byte{{codeA}, {codeShift, codeS}, {codeY}}, "фЫн"},
		"Greek":                                  {[]string{"gr"}, [][]byte{{codeA}, {codeS}}, "ασ"},
		"Polish":                                 {[]string{"pl"}, [][]byte{{codeAltGr, codeA}, {codeAltGr, codeShift, codeS}}, "ąŚ"},
		"two groups, changed by a key":           {[]string{"us,ru", "-option", "grp:menu_toggle"}, [][]byte{{codeA}, {135}, {codeA}, {codeShift, codeA}, {135}, {codeA}}, "aфФa"},
		"a shortcut in a layout without Latin":   {[]string{"us,ru", "-option", "grp:menu_toggle"}, [][]byte{{135}, {codeCtrl, codeC}, {codeC}}, "[ctrl+c]с"},
		"shortcuts make no text":                 {[]string{"us"}, [][]byte{{codeCtrl, codeC}, {codeCtrl, codeShift, codeA}, {codeAlt, codeF5}, {codeSuper, codeE}, {codeE}}, "[ctrl+c][ctrl+shift+A][alt+F5][meta+e]e"},
		"keys without text":                      {[]string{"us"}, [][]byte{{codeEnter}, {23}, {22}, {113}, {112}, {119}}, "[Enter][Tab][Backspace][ArrowLeft][PageUp][Delete]"},
		"the keypad, without and with Num Lock":  {[]string{"us"}, [][]byte{{codeKP7}, {codeNum}, {codeKP7}, {codeNum}, {codeKP7}}, "[Home]7[Home]"},
		"a compose sequence is not guessed at":   {[]string{"us", "-option", "compose:menu"}, [][]byte{{135}, {codeA}, {codeE}, {codeE}}, "[Compose][Process][Process]e"},
		"accents that only Unicode can compose":  {[]string{"us", "-variant", "intl"}, [][]byte{{48}, {codeE}, {codeShift, 48}, {codeA}, {49}, {codeE}}, "[Dead]é[shift+Dead]ä[Dead]è"},
		"AltGr of a French keyboard, and digits": {[]string{"fr"}, [][]byte{{codeDigit1}, {codeShift, codeDigit1}, {codeAltGr, 19}}, "&1@"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Do("setxkbmap", tt.layout...)
			h := d.hand()
			r := listen(t, NewInput(d.Display, monotonic))
			for _, codes := range tt.keys {
				h.tap(codes...)
			}
			h.tap(codeF5 + 1)
			h.sync()
			r.until("the last key", func(e human.RecordedEvent) bool { return e.Key == "F6" && e.Type == human.KeyUp })
			events := r.stop()
			if got := strings.TrimSuffix(typed(events), "[F6]"); got != tt.want {
				t.Errorf("typed %q, want %q%s", got, tt.want, shown(events))
			}
			downs := map[string]int{}
			for _, e := range events {
				switch e.Type {
				case human.KeyDown:
					downs[e.Key+"\x00"+e.Text]++
				case human.KeyUp: // says what its press said
					downs[e.Key+"\x00"+e.Text]--
				}
			}
			for k, n := range downs {
				if n != 0 {
					t.Errorf("%q was pressed %d times more than released", k, n)
				}
			}
		})
	}
}

func TestLayoutChangedWhileRecording(t *testing.T) {
	d := newFixture(t)
	d.Do("setxkbmap", "us")
	h := d.hand()
	r := listen(t, NewInput(d.Display, monotonic))
	for i, layout := range []string{"us", "ru", "de", "us"} {
		d.Do("setxkbmap", layout)
		h.tap(codeY)
		h.sync()
		d.Wait("the key", func() bool { return len([]rune(typed(r.all()))) > i })
	}
	if got := typed(r.stop()); got != "yнzy" {
		t.Errorf("typed %q", got)
	}
}

// xdotool types what the layout lacks by changing the layout, for a key or two.
func TestTypedByXdotool(t *testing.T) {
	d := newFixture(t)
	d.Do("setxkbmap", "us,ru")
	r := listen(t, NewInput(d.Display, monotonic))
	const text = "Grep 'foo' {a|b} 50%; Привет"
	d.Do("xdotool", "type", "--delay", "15", text)
	d.Do("xdotool", "key", "F6")
	r.until("the last key", func(e human.RecordedEvent) bool { return e.Key == "F6" })
	if got := strings.TrimSuffix(typed(r.stop()), "[F6]"); got != text {
		t.Errorf("typed %q, want %q", got, text)
	}
}

func TestPointer(t *testing.T) {
	d := newFixture(t)
	h := d.hand()
	r := listen(t, NewInput(d.Display, monotonic))
	h.move(100, 100)
	h.fake(buttonPress, 1, 0, 0)
	for x := 110; x <= 150; x += 10 {
		h.move(x, 100)
	}
	h.fake(buttonRelease, 1, 0, 0)
	for _, button := range []byte{5, 5, 4, 6, 7, 9} {
		h.click(button)
	}
	h.fake(keyPress, codeCtrl, 0, 0)
	h.click(3)
	h.fake(keyRelease, codeCtrl, 0, 0)
	h.sync()
	r.until("the last", func(e human.RecordedEvent) bool { return e.Type == human.KeyUp })
	var got []string
	for _, e := range r.stop() {
		got = append(got, fmt.Sprint(e.Type, " ", e.Button, " ", e.X, ",", e.Y, " ", e.DeltaX, ",", e.DeltaY, " ", e.Modifiers))
	}
	want := []string{
		"move 0 100,100 0,0 []", "press 1 100,100 0,0 []", "move 0 110,100 0,0 []", "move 0 120,100 0,0 []", "move 0 130,100 0,0 []",
		"move 0 140,100 0,0 []", "move 0 150,100 0,0 []", "release 1 150,100 0,0 []", "scroll 0 150,100 0,1 []", "scroll 0 150,100 0,1 []",
		"scroll 0 150,100 0,-1 []", "scroll 0 150,100 -1,0 []", "scroll 0 150,100 1,0 []", "press 9 150,100 0,0 []", "release 9 150,100 0,0 []",
		"key_down 0 150,100 0,0 []", "press 3 150,100 0,0 [ctrl]", "release 3 150,100 0,0 [ctrl]", "key_up 0 150,100 0,0 [ctrl]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAutoRepeat(t *testing.T) {
	d := newFixture(t)
	d.Do("xset", "r", "rate", "150", "50")
	h := d.hand()
	r := listen(t, NewInput(d.Display, monotonic))
	h.fake(keyPress, codeA, 0, 0)
	d.Wait("repeats", func() bool { return len(typed(r.all())) >= 12 })
	h.fake(keyRelease, codeA, 0, 0)
	h.sync()
	r.until("the release", func(e human.RecordedEvent) bool { return e.Type == human.KeyUp })
	events := r.stop()
	for i, e := range events {
		last := i == len(events)-1
		if (e.Type == human.KeyUp) != last || (e.Type == human.KeyDown && e.Repeat != (i > 0)) {
			t.Errorf("event %d of %d: %s repeat %v", i, len(events), e.Type, e.Repeat)
		}
	}
}

func TestTimeStamps(t *testing.T) {
	d := newFixture(t)
	h := d.hand()
	other := time.Now()
	for name, tt := range map[string]struct {
		clock func() (time.Time, int64)
	}{
		"on the server's clock":  {monotonic},
		"on a clock of its own":  {func() (time.Time, int64) { return time.Now(), int64(time.Since(other)) }},
		"on one that began late": {func() (time.Time, int64) { w, m := monotonic(); return w, m - 1e15 }},
	} {
		t.Run(name, func(t *testing.T) {
			r := listen(t, NewInput(d.Display, tt.clock))
			var sent []int64
			for i := range 200 {
				_, before := tt.clock()
				h.move(i+1, 7)
				h.sync()
				_, after := tt.clock()
				sent = append(sent, before, after)
			}
			r.until("the last", func(e human.RecordedEvent) bool { return e.X == 200 })
			for i, e := range r.stop() {
				// The server stamps whole milliseconds, cut off.
				if before, after := sent[2*i], sent[2*i+1]; e.At < before-int64(1100*time.Microsecond) || e.At > after {
					t.Errorf("event %d is %v off, of an injection that took %v", i, time.Duration(e.At-before), time.Duration(after-before))
				}
			}
		})
	}
}

func TestServerDies(t *testing.T) {
	d := newFixture(t)
	r := listen(t, NewInput(d.Display, monotonic))
	d.Server.Kill()
	select {
	case <-r.done:
	case <-time.After(desktoptest.Patience):
		t.Fatal("it goes on without a server")
	}
	if human.KindOf(r.err) != human.Unavailable {
		t.Errorf("Run = %v", r.err)
	}
}

func TestServerHangs(t *testing.T) {
	d := newFixture(t)
	r := listen(t, NewInput(d.Display, monotonic))
	_ = d.Server.Signal(syscall.SIGSTOP)
	defer func() { _ = d.Server.Signal(syscall.SIGCONT) }()
	r.cancel()
	select {
	case <-r.done:
	case <-time.After(desktoptest.Patience):
		t.Fatal("it does not stop while the server hangs")
	}
	if human.KindOf(r.err) != human.Unavailable {
		t.Errorf("what the server still had is lost, and Run = %v", r.err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if state := NewInput(d.Display, monotonic).Check(ctx); state.Status != "missing" {
		t.Errorf("Check of a server that hangs: %+v", state)
	}
}

func TestCheck(t *testing.T) {
	d := newFixture(t)
	bare := newFixture(t, "-extension", "RECORD", "-extension", "XTEST")
	for name, tt := range map[string]struct {
		display string
		env     map[string]string
		status  string
		code    string
	}{
		"an X server":                        {d.Display, nil, "complete", ""},
		"the display of the environment":     {"", map[string]string{"DISPLAY": d.Display}, "complete", ""},
		"no display":                         {"", map[string]string{"DISPLAY": ""}, "missing", codeNoDisplay},
		"a display that is not there":        {":59999", nil, "missing", codeNoDisplay},
		"no name of a display":               {"nonsense", nil, "missing", codeNoDisplay},
		"Wayland by its socket":              {"", map[string]string{"DISPLAY": d.Display, "WAYLAND_DISPLAY": "wayland-0"}, "missing", codeWayland},
		"Wayland by its session":             {"", map[string]string{"DISPLAY": d.Display, "XDG_SESSION_TYPE": "wayland"}, "missing", codeWayland},
		"Wayland without XWayland":           {"", map[string]string{"DISPLAY": "", "WAYLAND_DISPLAY": "wayland-0"}, "missing", codeWayland},
		"another display than the session's": {d.Display, map[string]string{"DISPLAY": ":59998", "WAYLAND_DISPLAY": "wayland-0"}, "complete", ""},
		"a server without RECORD":            {bare.Display, nil, "missing", codeUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			state := NewInput(tt.display, monotonic).Check(t.Context())
			if state.Status != tt.status || state.Code != tt.code || state.Source != human.InputSource {
				t.Errorf("Check = %+v, want %s %s", state, tt.status, tt.code)
			}
			if state.Status != "complete" && (state.Detail == "" || state.Fix == "") {
				t.Errorf("it does not say what to do: %+v", state)
			}
		})
	}
}

// A recorder that falls behind loses nothing: neither of what the server would throw away, nor of what it has
// not told when it is to stop.
func TestLastEventsAreTaken(t *testing.T) {
	d := newFixture(t)
	h := d.hand()
	const events = 5_000
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan struct{}), make(chan struct{})
	var got, seen uint64
	var err error
	go func() {
		defer close(done)
		seen, err = NewInput(d.Display, monotonic).Run(ctx, func() { close(ready) }, func(human.RecordedEvent) {
			if got++; got%250 == 0 {
				<-time.After(100 * time.Millisecond) // as if another program had the processor
			}
		})
	}()
	<-ready
	for i := range events / 2 {
		h.click(1)
		if i%20 == 0 { // 4,000 a second: far more than that the server throws away when we are slow to read
			h.sync()
			<-time.After(10 * time.Millisecond)
		}
	}
	h.sync()
	cancel()
	<-done
	if err != nil || got != events || seen != got {
		t.Errorf("%d of %d events, seen %d, %v", got, events, seen, err)
	}
}
