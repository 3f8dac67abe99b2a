package record_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A form is a window of a program that reports what is done in it, where nothing has a place. What can be seen is one shade.
type form struct {
	*fixture
	in record.Placed
}

var (
	first  = placed("f1", "Form", "Form", 100, human.Bounds{})
	second = placed("f2", "Other", "Other", 101, human.Bounds{})
	field  = human.Element{Role: "textbox", Name: "Name", Ref: "name"}
	field2 = human.Element{Role: "textbox", Name: "Place", Ref: "place"}
	button = human.Element{Role: "button", Name: "Send", Ref: "send"}
	box    = human.Element{Role: "checkbox", Name: "Agree", Ref: "agree"}
	hidden = human.Element{Role: "textbox", Name: "Password", Ref: "password", Secret: true}
	shell  = human.Element{Role: "terminal", Name: "Terminal", Ref: "terminal"}
)

func (f form) say(t human.RecordedType, el human.Element, text string) {
	f.elements.send(human.RecordedEvent{At: f.mono(), Type: t, Element: &el, Text: text, App: &f.in.App, Window: &f.in.Window})
	f.settle()
}

// use makes it the active window with the keyboard in an element, which is read.
func (f form) use(el human.Element, text string) {
	f.activate(f.in)
	f.keyboard(el, text)
}

func (f form) keyboard(el human.Element, text string) {
	f.say(human.FocusMoved, el, "")
	if el.Role == "textbox" && !el.Secret {
		f.say(record.FieldRead, el, text)
	}
}

// write has a field hold a text, which can be seen as a shade.
func (f form) write(el human.Element, text string, shade byte) {
	f.screen.show(shade)
	f.say(record.FieldChanging, el, "")
	f.say(record.FieldRead, el, text)
	f.watch(100 * time.Millisecond)
}

// still ends what changed.
func (f form) still(el human.Element, text string) {
	f.watch(600 * time.Millisecond)
	f.say(record.FieldRead, el, text)
	f.say(record.FieldStill, el, "")
	f.watch(time.Second)
}

// silent is a program that reports nothing.
func (f form) silent() {
	at := f.mono()
	f.watch(500 * time.Millisecond)
	f.windows.send(human.RecordedEvent{At: at, Type: human.WindowActive})
	f.settle()
}

// watch lets time pass while pictures are taken.
func (f form) watch(t time.Duration) {
	for end := time.Now().Add(t); time.Now().Before(end); {
		f.say(human.ElementChanged, box, "")
		f.wait(min(time.Until(end), 210*time.Millisecond))
	}
}

func TestSecretsInPicturesWithoutPlaces(t *testing.T) {
	const key = "sk-abcdefgh"
	for what, tt := range map[string]struct {
		do         func(a, b form)
		shows, not []byte
	}{
		"a plain text is shown": {
			do: func(a, _ form) {
				a.write(field, "ada", 10)
				a.still(field, "ada")
				a.keyboard(button, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5, 10},
		},
		"a secret": {
			do: func(a, _ form) {
				a.write(field, key, 20)
				a.still(field, key)
				a.keyboard(button, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"in parts": {
			do: func(a, _ form) {
				a.write(field, "sk-a", 20)
				a.still(field, "sk-a")
				a.write(field, key, 21)
				a.still(field, key)
			},
			shows: []byte{5}, not: []byte{20, 21},
		},
		"in parts with a long pause": {
			do: func(a, _ form) {
				a.write(field, "sk-a", 20)
				a.still(field, "sk-a")
				a.watch(20 * time.Second)
				a.write(field, key, 21)
				a.still(field, key)
			},
			shows: []byte{5}, not: []byte{20, 21},
		},
		"in a second window, with the first in use again": {
			do: func(a, b form) {
				b.use(field2, "")
				b.write(field2, key, 20)
				b.still(field2, key)
				a.use(field, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"the window with it is closed": {
			do: func(a, b form) {
				b.use(field2, "")
				b.write(field2, key, 20)
				b.still(field2, key)
				b.windows.send(human.RecordedEvent{At: b.mono(), Type: human.WindowClosed, App: &b.in.App, Window: &b.in.Window})
				a.screen.show(30)
				a.use(field, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5, 30}, not: []byte{20},
		},
		"there for a moment": {
			do: func(a, _ form) {
				a.write(field, key, 20)
				a.write(field, "", 21) // sent: it may stand elsewhere now
				a.still(field, "")
				a.keyboard(button, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20, 21},
		},
		"erased before it could be read": {
			do: func(a, _ form) {
				a.screen.show(20)
				a.say(record.FieldChanging, field, "")
				a.watch(300 * time.Millisecond)
				a.write(field, "", 21)
				a.still(field, "")
				a.keyboard(button, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"erased, and said late": {
			do: func(a, _ form) {
				a.screen.show(20)
				a.watch(240 * time.Millisecond)
				a.write(field, "", 21)
				a.still(field, "")
				a.keyboard(button, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"the window with it is closed at once": {
			do: func(a, b form) {
				b.use(field2, "")
				b.watch(2 * time.Second)
				b.screen.show(20)
				b.watch(900 * time.Millisecond)
				b.say(record.FieldChanging, field2, "")
				b.say(record.FieldRead, field2, key)
				b.say(record.FieldStill, field2, "")
				b.windows.send(human.RecordedEvent{At: b.mono(), Type: human.WindowClosed, App: &b.in.App, Window: &b.in.Window})
				a.screen.show(30)
				a.use(field, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5, 30}, not: []byte{20},
		},
		"it stood there before": {
			do: func(a, b form) {
				b.screen.show(20)
				b.use(field2, key)
				b.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"what is written cannot be read": {
			do: func(a, b form) {
				a.screen.show(20)
				a.say(record.FieldChanging, field, "")
				a.watch(600 * time.Millisecond)
				a.say(record.FieldStill, field, "")
				b.use(button, "")
				b.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"it is read in part": {
			do: func(a, b form) {
				a.write(field, "text \ufffc", 20)
				a.still(field, "text \ufffc")
				b.use(button, "")
				b.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"a reading before the last change": {
			do: func(a, b form) {
				a.screen.show(20)
				at := a.mono()
				a.wait(time.Millisecond)
				a.say(record.FieldChanging, field, "")
				a.elements.send(human.RecordedEvent{At: at, Type: record.FieldRead, Element: &field, Window: &a.in.Window})
				a.watch(600 * time.Millisecond)
				a.say(record.FieldStill, field, "")
				b.use(button, "")
				b.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"it is said late": {
			do: func(a, _ form) {
				a.screen.show(20)
				a.watch(900 * time.Millisecond)
				a.write(field, key, 20)
				a.still(field, key)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"it never comes to rest": {
			do: func(a, b form) {
				a.write(field, "ada", 20)
				a.keyboard(button, "")
				a.watch(40 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"an element that does not say what is typed": {
			do: func(a, b form) {
				a.screen.show(20)
				a.keyboard(shell, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"a window that does not say where the keyboard is": {
			do: func(a, b form) {
				b.activate(b.in)
				b.screen.show(20)
				b.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"a program that reports nothing, and what it leaves on the screen": {
			do: func(a, _ form) {
				a.silent()
				a.screen.show(20)
				a.watch(2 * time.Second)
				a.use(button, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"a program that reports nothing, and cannot be seen": {
			do: func(a, _ form) {
				a.screen.show(6) // the window without the keyboard
				a.silent()
				a.watch(2 * time.Second)
				a.screen.show(30)
				a.use(button, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5, 30}, not: []byte{6},
		},
		"a program on the monitor that reports nothing, and was used for a moment": {
			do: func(a, b form) {
				a.screen.set(func(s *screen) { s.many = true })
				a.screen.show(20)
				a.silent()
				a.wait(10 * time.Millisecond)
				a.use(button, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"a password": {
			do: func(a, b form) {
				a.keyboard(hidden, "")
				a.screen.show(20)
				a.watch(time.Second)
				b.use(button, "") // the other window may show it
				b.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"elements were lost meanwhile": {
			do: func(a, _ form) {
				a.elements.fail <- errors.New("lost")
				a.wait(time.Second)
				a.screen.show(20)
				a.wait(10 * time.Second)
				a.use(button, "")
				a.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"in a pause": {
			do: func(a, b form) {
				r, _ := a.rec.Current()
				_, _ = a.rec.Pause(context.Background(), ann, r.ID)
				a.write(field, key, 20)
				a.still(field, key)
				_, _ = a.rec.Resume(context.Background(), ann, r.ID)
				b.use(button, "")
				b.watch(2 * time.Second)
			},
			shows: []byte{5}, not: []byte{20},
		},
		"as the recording is stopped": {
			do:    func(a, _ form) { a.write(field, "ad", 20) },
			shows: []byte{5}, not: []byte{20},
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, record.Options{})
				defer d.close()
				d.screen.nowhere = true
				r := d.start(human.RecordingOptions{})
				a, b := form{d, first}, form{d, second}
				a.use(field, "")
				a.screen.show(5)
				a.watch(3 * time.Second)
				tt.do(a, b)
				d.stop()
				var shown []byte
				for _, p := range only(d.events(r.ID), human.PictureTaken) {
					shown = append(shown, d.pics.pixel(p.Picture, 63, 63))
				}
				t.Log(shown)
				for _, shade := range tt.shows {
					if !slices.Contains(shown, shade) {
						t.Errorf("no picture shows %d", shade)
					}
				}
				for _, shade := range tt.not {
					if slices.Contains(shown, shade) {
						t.Errorf("a picture shows %d", shade)
					}
				}
			})
		})
	}
}
