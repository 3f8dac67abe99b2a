package record_test

import (
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// What something is dropped on is what lay there before: afterwards it may be the thing itself.
func TestADragNamesWhatItIsDroppedOn(t *testing.T) {
	at := func(role, name string, x int) human.Element {
		return human.Element{Role: role, Name: name, Ref: name, Bounds: human.Bounds{X: x, Y: 100, W: 100, H: 60}}
	}
	file, folder := at("listitem", "report.txt", 100), at("listitem", "archive", 300)
	moved := at("listitem", "report.txt", 300)
	for what, tt := range map[string]struct {
		pressed, under, after *human.Element
		to                    int
		fast                  bool
		want                  string
	}{
		"what lay there":                      {&file, &folder, &moved, 350, false, "archive"},
		"what lies there, where it was quick": {&file, nil, &folder, 350, true, "archive"},
		"not the thing itself":                {&file, nil, &moved, 350, true, ""},
		"nothing":                             {&file, nil, nil, 350, false, ""},
		"not where a slider was moved":        {new(at("slider", "Volume", 100)), &folder, &folder, 350, false, ""},
		"not where a text was marked":         {new(at("textbox", "Notes", 100)), &folder, &folder, 350, false, ""},
		"not of a click":                      {&file, &folder, &folder, 113, false, ""},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, record.Options{})
				defer d.close()
				r := d.start(human.RecordingOptions{})
				d.activate(editor)
				d.elements.under = tt.pressed
				d.press(110, 110)
				d.wait(300 * time.Millisecond)
				d.elements.under = tt.under
				if !tt.fast {
					for _, x := range []int{110 + (tt.to-110)/2, tt.to} {
						d.input.send(human.RecordedEvent{At: d.mono(), Type: human.PointerMoved, X: x, Y: 110})
						d.wait(100 * time.Millisecond)
					}
				}
				d.elements.under = tt.after
				d.release(tt.to, 110)
				d.wait(time.Second)
				d.stop()
				all := d.events(r.ID)
				up := only(all, human.PointerUp)[0]
				got := ""
				for _, e := range only(all, human.ElementSeen) {
					if e.CausedBy == up.Seq {
						got = e.Element.Name
					}
				}
				if got != tt.want {
					t.Errorf("it was dropped on %q, want %q: %+v", got, tt.want, only(all, human.ElementSeen))
				}
			})
		})
	}
}
