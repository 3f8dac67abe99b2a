package record_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// shots are a recording's pictures: when, at which time in ms, and the shade of a corner.
func (d *fixture) shots(id human.RecordingID) (all []string) {
	for _, p := range only(d.events(id), human.PictureTaken) {
		all = append(all, fmt.Sprintf("%s %d %d", p.When, p.At/1e6, d.pics.pixel(p.Picture, 63, 63)))
	}
	return all
}

func TestWhenPicturesAreTaken(t *testing.T) {
	for what, tt := range map[string]struct {
		do   func(*fixture)
		want []string
	}{
		"before a press and when it has settled": {
			func(d *fixture) {
				d.screen.show(1)
				d.wait(time.Second)
				d.press(1, 1)
				d.screen.show(2) // the application acts at once
				d.wait(100 * time.Millisecond)
				d.release(1, 1)
				d.wait(100 * time.Millisecond)
				d.screen.show(3)
				d.wait(time.Second)
			},
			[]string{"start 0 0", "before 200 1", "after 1200 3", "end 1200 3"},
		},
		"what changed since the last frame and before the press is seen": {
			func(d *fixture) {
				d.screen.show(1)
				d.wait(250 * time.Millisecond)
				d.screen.show(2)
				d.wait(10 * time.Millisecond)
				d.press(1, 1)
				d.wait(time.Second)
			},
			[]string{"start 0 0", "before 260 2", "end 260 2"},
		},
		"a press heard of late": {
			func(d *fixture) {
				d.screen.show(1)
				d.wait(time.Second)
				d.screen.show(2)
				d.wait(10 * time.Millisecond)
				d.screen.show(3)
				at := d.mono()
				d.wait(50 * time.Millisecond) // by now it may show what the press did
				d.input.send(human.RecordedEvent{At: at + 1, Type: human.PointerDown, Button: 1, X: 1, Y: 1})
				d.wait(time.Second)
			},
			[]string{"start 0 0", "before 1000 2", "end 1200 3"},
		},
		"an answer before the press is heard of is not taken for before": {
			func(d *fixture) {
				d.screen.show(1)
				d.wait(time.Second)
				at := d.mono()
				d.wait(5 * time.Millisecond)
				d.screen.show(2)
				d.input.send(human.RecordedEvent{At: at, Type: human.PointerDown, Button: 1, X: 1, Y: 1})
				d.wait(time.Second)
			},
			[]string{"start 0 0", "before 200 1", "end 1005 2"},
		},
		"nothing changed: the same picture again": {
			func(d *fixture) {
				for range 3 {
					d.click(1, 1)
					d.wait(time.Second)
				}
			},
			[]string{"start 0 0", "before 0 0", "after 0 0", "before 0 0", "after 0 0", "before 0 0", "after 0 0", "end 0 0"},
		},
		"a click soon after another": {
			func(d *fixture) {
				d.wait(time.Second)
				d.click(1, 1)
				d.screen.show(1)
				d.wait(100 * time.Millisecond)
				d.screen.show(2)
				d.wait(10 * time.Millisecond)
				d.press(1, 1)
				d.wait(time.Second)
			},
			// What the first did is seen as it is just before the second.
			[]string{"start 0 0", "before 0 0", "after 1160 2", "before 1160 2", "end 1160 2"},
		},
		"when typing pauses": {
			func(d *fixture) {
				d.activate(editor)
				d.wait(time.Second)
				for i := range 5 {
					d.char("a")
					d.screen.show(byte(10 + i))
					d.wait(100 * time.Millisecond)
				}
				d.wait(time.Second)
			},
			[]string{"start 0 0", "window 200 0", "typing 1600 14", "end 1600 14"},
		},
		"when scrolling stops": {
			func(d *fixture) {
				d.wait(time.Second)
				for i := range 5 {
					d.input.send(human.RecordedEvent{At: d.mono(), Type: human.Scrolled, DeltaY: 1})
					d.screen.show(byte(10 + i))
					d.wait(300 * time.Millisecond)
				}
				d.wait(time.Second)
			},
			[]string{"start 0 0", "scroll 2200 14", "end 2200 14"},
		},
		"a shortcut": {
			func(d *fixture) {
				d.activate(editor)
				d.wait(time.Second)
				d.key("s", "ctrl")
				d.screen.show(5)
				d.wait(time.Second)
			},
			[]string{"start 0 0", "window 200 0", "before 200 0", "after 1000 5", "end 1000 5"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			run(t, record.Options{}, func(t *testing.T, d *fixture) {
				d.start(human.RecordingOptions{})
				tt.do(d)
				r := d.stop()
				if got := d.shots(r.ID); !slices.Equal(got, tt.want) {
					t.Errorf("pictures:\n%q, want\n%q", got, tt.want)
				}
				if r.Counts.Pictures != uint64(len(tt.want)) || r.Counts.Pictures-r.Counts.Equal != uint64(len(d.pics.all)) || !r.Complete {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

func TestFramesKeptWhileTheScreenChangesAreNotCloserThan200ms(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{})
		d.wait(time.Second)
		before := d.screen.taken()
		for i := range 600 { // ten seconds of film
			d.screen.show(byte(i))
			d.wait(time.Second / 60)
		}
		if n := d.screen.taken() - before; n < 45 || n > 51 {
			t.Errorf("%d frames in ten seconds", n)
		}
		before = d.screen.taken()
		d.wait(time.Minute)
		if n := d.screen.taken() - before; n > 1 {
			t.Errorf("%d frames while nothing changed", n)
		}
		d.stop()
	})
}

func TestASystemThatDoesNotTellOfChanges(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		d.screen.blind = true
		d.start(human.RecordingOptions{})
		d.wait(time.Second)
		d.screen.show(1)
		d.click(1, 1)
		d.screen.show(2)
		d.wait(time.Second)
		r := d.stop()
		want := []string{"start 0 0", "before 1000 1", "after 1250 2", "end 2050 2"}
		if got := d.shots(r.ID); !slices.Equal(got, want) || r.Counts.Equal != 1 || !r.Complete {
			t.Errorf("pictures: %q, want %q; %+v", got, want, r)
		}
	})
}

func TestPicturesThatFailAreAGap(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{})
		d.wait(time.Second)
		d.screen.mu.Lock()
		d.screen.broken = human.Errorf(human.Unavailable, "the screen is locked")
		d.screen.mu.Unlock()
		d.screen.show(1)
		d.wait(time.Second)
		d.click(1, 1)
		d.wait(time.Second)
		d.screen.mu.Lock()
		d.screen.broken = nil
		d.screen.mu.Unlock()
		d.screen.show(2)
		d.click(1, 1)
		d.wait(time.Second)
		r := d.stop()
		if len(r.Gaps) != 1 || r.Gaps[0].Source != human.ScreenSource || r.Gaps[0].Reason != "lost" || r.Complete || r.Sources[3].Lost != 2 {
			t.Errorf("%+v", r)
		}
	})
}

// While a person is asked what pictures may show it says so; after a yes there are pictures, after a no it says that.
func TestPicturesWaitForAPerson(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		says := func(err error) {
			d.screen.mu.Lock()
			d.screen.broken = err
			d.screen.mu.Unlock()
			d.screen.show(1)
			d.click(1, 1)
			d.wait(time.Second)
		}
		state := func() human.SourceState {
			now, _ := d.rec.Current()
			return now.Sources[3]
		}
		d.screen.broken = human.Wrap(human.Unavailable, record.ErrScreenWaits, "nothing yet")
		d.start(human.RecordingOptions{})
		d.wait(time.Second)
		if s := state(); s.Status != "partial" || s.Code != "waiting" || s.Detail != "nothing yet" {
			t.Errorf("while the person is asked: %+v", s)
		}
		says(nil)
		if s := state(); s.Status != "complete" || s.Code != "" || s.Detail != "" {
			t.Errorf("after a yes: %+v", s)
		}
		says(human.Errorf(human.Denied, "you said no"))
		if s := state(); s.Status != "partial" || s.Code != "declined" {
			t.Errorf("after a no: %+v", s)
		}
		if r := d.stop(); len(r.Gaps) != 2 || r.Complete {
			t.Errorf("%+v", r)
		}
	})
}

func TestPicturesFasterThanTheDisk(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		d.pics.slow = make(chan struct{})
		d.start(human.RecordingOptions{})
		d.wait(time.Second)
		for i := range 30 {
			d.screen.show(byte(i))
			d.wait(time.Second)
			d.click(1, 1)
		}
		close(d.pics.slow)
		d.wait(time.Second)
		r := d.stop()
		if s := r.Sources[3]; s.Lost == 0 || s.Seen != s.Stored+s.Lost || r.Complete || len(r.Gaps) == 0 || r.Gaps[0].Reason != "overflow" {
			t.Errorf("%+v", r)
		}
		if in := r.Sources[0]; in.Lost > 0 || in.Stored != 60 {
			t.Errorf("input: %+v", in)
		}
	})
}

func TestSecretFieldsAreBlackInPictures(t *testing.T) {
	pixel := func(d *fixture, when string, x, y int) (shade byte) {
		t.Helper()
		for _, p := range only(d.events("rec_1"), human.PictureTaken) {
			if p.When == when {
				shade = d.pics.pixel(p.Picture, x, y)
			}
		}
		return shade
	}
	t.Run("a field for passwords", func(t *testing.T) {
		run(t, record.Options{}, func(t *testing.T, d *fixture) {
			d.start(human.RecordingOptions{})
			d.screen.show(9)
			d.activate(editor)
			d.wait(time.Second)
			d.focus(password)
			d.screen.show(10)
			d.wait(time.Second)
			d.click(30, 20)
			d.wait(time.Second)
			moved := editor // its fields go with the window
			moved.Window.Bounds.X += 20
			d.activate(moved)
			d.screen.show(11)
			d.wait(time.Second)
			d.stop()
			if in, beside := pixel(d, "before", 5, 12), pixel(d, "before", 5, 5); in != 0 || beside != 10 {
				t.Errorf("the field is %d, beside it %d", in, beside)
			}
			if in, before := pixel(d, "end", 25, 12), pixel(d, "end", 5, 12); in != 0 || before != 11 {
				t.Errorf("moved, the field is %d, where it was %d", in, before)
			}
		})
	})
	t.Run("a field that holds a secret, in pictures from before that was known", func(t *testing.T) {
		run(t, record.Options{}, func(t *testing.T, d *fixture) {
			d.start(human.RecordingOptions{})
			d.screen.show(9)
			d.activate(editor)
			d.focus(name)
			d.wait(time.Second)
			d.types("sk-7391")
			d.screen.show(10)
			d.click(30, 20) // at once: what was typed is not decided on
			d.wait(time.Second)
			d.stop()
			if in, beside := pixel(d, "before", 5, 3), pixel(d, "before", 5, 20); in != 0 || beside != 10 {
				t.Errorf("the field is %d, beside it %d", in, beside)
			}
		})
	})
	t.Run("more pictures than are held back", func(t *testing.T) {
		run(t, record.Options{}, func(t *testing.T, d *fixture) {
			d.elements.slow = 150 * time.Millisecond
			d.start(human.RecordingOptions{})
			d.activate(editor)
			d.focus(name)
			d.wait(time.Second)
			d.types("ab")
			for i := range 12 {
				d.screen.show(byte(10 + i))
				d.press(30, 20)
			}
			d.wait(time.Second)
			r := d.stop()
			n := 0
			for _, p := range only(d.events(r.ID), human.PictureTaken) {
				if in := d.pics.pixel(p.Picture, 5, 3); d.pics.pixel(p.Picture, 63, 63) >= 10 && in == 0 {
					n++
				}
			}
			if n < 8 || n > 10 {
				t.Errorf("%d pictures went early, with the field black", n)
			}
		})
	})
}
