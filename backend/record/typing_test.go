package record_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// written is everything of a recording that is stored, as text.
func (d *fixture) written(id human.RecordingID) string {
	d.t.Helper()
	r, err := d.store.Recording(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	data, err := json.Marshal(struct {
		R human.Recording
		E []human.RecordedEvent
	}{r, d.events(id)})
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

func TestTyping(t *testing.T) {
	type said struct{ text, hidden string }
	for what, tt := range map[string]struct {
		do     func(*fixture)
		want   []said
		never  string // must not be stored
		values []string
	}{
		"a text is stored as one, with what stands in the field": {
			do:     func(d *fixture) { d.focus(name); d.types("Hello you") },
			want:   []said{{"Hello you", ""}},
			values: []string{"Hello you"},
		},
		"what was erased was not meant": {
			do: func(d *fixture) {
				d.types("Hallo")
				for range 4 {
					d.key("Backspace")
				}
				d.types("ello")
			},
			want: []said{{"Hello", ""}},
		},
		"a pause ends a text": {
			do:   func(d *fixture) { d.types("one"); d.wait(time.Second); d.types("two") },
			want: []said{{"one", ""}, {"two", ""}},
		},
		"Enter ends a text": {
			do:   func(d *fixture) { d.types("one"); d.key("Enter"); d.types("two") },
			want: []said{{"one", ""}, {"two", ""}},
		},
		"a long text is cut at a white space": {
			do:     func(d *fixture) { d.focus(name); d.types("this is what goes on and on") },
			want:   []said{{"this is what goes ", ""}, {"on and on", ""}},
			values: []string{"this is what goes on and on"},
		},
		"a password is hidden": {
			do:    func(d *fixture) { d.focus(password); d.types("7391") },
			want:  []said{{"", "password"}},
			never: "7391",
		},
		"a field for passwords that nothing reported is known by looking": {
			do:    func(d *fixture) { d.elements.focus(&password); d.types("7391") },
			want:  []said{{"", "password"}},
			never: "7391",
		},
		"the name before the password is no secret": {
			do: func(d *fixture) {
				d.focus(name)
				d.wait(time.Second)
				d.types("alice")
				d.key("Tab")
				d.elements.focus(&password)
				d.wait(20 * time.Millisecond)
				d.focus(password)
				d.wait(100 * time.Millisecond)
				d.types("7391")
			},
			want:   []said{{"alice", ""}, {"", "password"}},
			never:  "7391",
			values: []string{"alice"},
		},
		"a password typed before the application reports where the focus is": {
			do: func(d *fixture) {
				d.focus(name)
				d.wait(time.Second)
				d.types("alice")
				d.key("Tab")
				for _, c := range "739" { // it still says that the name has the focus
					d.char(string(c))
					d.wait(40 * time.Millisecond)
				}
				d.focus(password)
				d.types("1")
			},
			want:  []said{{"alice", ""}, {"", "password"}},
			never: "7391",
		},
		"reports of the focus come late": {
			do: func(d *fixture) {
				d.focus(name)
				d.wait(time.Second)
				d.char("7")
				d.wait(10 * time.Millisecond)
				d.char("3")
				d.key("Enter")
				d.wait(200 * time.Millisecond)
				d.focus(password)
			},
			want:  []said{{"", "password"}},
			never: `"73"`,
		},
		"a password that is shown is one still": {
			do: func(d *fixture) {
				d.focus(password)
				d.types("73")
				d.wait(time.Second)
				shown := password
				shown.Secret = false
				d.focus(shown)
				d.wait(time.Second)
				d.types("91")
			},
			want:  []said{{"", "password"}, {"", "password"}},
			never: "91",
		},
		"what a terminal does not show is secret": {
			do: func(d *fixture) {
				d.types("sudo ls")
				d.key("Enter")
				d.wait(time.Second)
				d.guard.set(true)
				d.types("7391")
			},
			want:  []said{{"sudo ls", ""}, {"", "secure_input"}},
			never: "7391",
		},
		"an application that does not answer may have a secret field": {
			do:    func(d *fixture) { d.elements.slow = time.Second; d.types("7391") },
			want:  []said{{"", "unknown_field"}},
			never: "7391",
		},
		"secret shapes are masked, in the field's value, too": {
			do:     func(d *fixture) { d.focus(name); d.types("use sk-7391 ") },
			want:   []said{{"use ••• ", "secret"}},
			never:  "7391",
			values: []string{"use ••• "},
		},
		"the rest of a secret is hidden where the first part was harmless": {
			do:    func(d *fixture) { d.focus(name); d.types("sk-"); d.wait(time.Second); d.types("7391x") },
			want:  []said{{"sk-", ""}, {"", "secret"}},
			never: "7391",
			values: []string{
				"sk-", "•••",
			},
		},
		"a secret that was there in part": {
			do: func(d *fixture) {
				d.focus(name)
				d.elements.values["name"] = "sk-"
				d.types("7391x")
			},
			want:   []said{{"", "secret"}},
			never:  "7391",
			values: []string{"•••"},
		},
		"a window that is left out took the keyboard while something was typed": {
			do: func(d *fixture) {
				d.types("739")
				d.activate(safe)
				d.types("1111")
				d.activate(editor)
			},
			want:  []said{{"", "excluded"}},
			never: "739",
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, record.Options{Exclude: record.DefaultExclude})
				defer d.close()
				off := false
				d.start(human.RecordingOptions{Pictures: &off})
				d.activate(editor)
				d.wait(time.Second)
				tt.do(d)
				d.wait(2 * time.Second)
				r := d.stop()
				all := d.events(r.ID)
				var got []said
				keys := map[uint64]human.RecordedEvent{}
				for _, e := range all {
					switch e.Type {
					case human.KeyDown:
						keys[e.Seq] = e
						if e.Text != "" || e.Key != "" && len(e.Key) < 2 {
							t.Errorf("a key says which it is: %+v", e)
						}
					case human.KeyUp:
						if e.Text != "" || e.Key != "" && len(e.Key) < 2 {
							t.Errorf("a key says which it is: %+v", e)
						}
					case human.TextTyped:
						got = append(got, said{e.Text, e.Hidden})
						if first, last := keys[e.CausedBy], keys[e.Until]; first.Seq == 0 || last.Seq == 0 || first.Key != "" {
							t.Errorf("text %q is of the keys %+v to %+v", e.Text, first, last)
						}
					}
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("texts: %q, want %q", got, tt.want)
				}
				var values []string
				for _, e := range only(all, human.ValueRead) {
					values = append(values, e.Text)
				}
				if tt.values != nil && !slices.Equal(values, tt.values) {
					t.Errorf("values: %q, want %q", values, tt.values)
				}
				if tt.never != "" && strings.Contains(d.written(r.ID), tt.never) {
					t.Errorf("%s is stored: %s", tt.never, d.written(r.ID))
				}
				if !r.Complete {
					t.Errorf("not complete: %+v", r)
				}
			})
		})
	}
}

func TestTheRecordersOwnKeysAreNoWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, record.Options{OwnKeys: []record.Chord{{Key: "r", Modifiers: []string{"ctrl", "alt"}}}})
		defer d.close()
		d.start(human.RecordingOptions{})
		d.activate(editor)
		d.key("R", "ctrl", "alt")
		d.key("r", "ctrl")
		d.key("r", "ctrl", "alt")
		r := d.stop()
		var got []string
		for _, e := range d.events(r.ID) {
			if e.Type == human.KeyDown || e.Type == human.KeyUp {
				got = append(got, string(e.Type)+" "+strings.Join(append(slices.Clone(e.Modifiers), e.Key), "+"))
			}
		}
		if want := []string{"key_down ctrl+r", "key_up ctrl+r"}; !slices.Equal(got, want) {
			t.Errorf("keys %q, want %q", got, want)
		}
		if !r.Complete || r.Counts.Lost != 0 {
			t.Errorf("complete %t, lost %d: %+v", r.Complete, r.Counts.Lost, r.Sources)
		}
	})
}

func TestShortcutsKeepTheirNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, record.Options{})
		defer d.close()
		d.start(human.RecordingOptions{})
		d.activate(editor)
		d.focus(password)
		d.wait(time.Second)
		d.key("v", "ctrl")
		d.char("v")
		d.key("Enter")
		// The key of a shortcut comes up unseen; the next time it goes down it makes text.
		d.input.send(human.RecordedEvent{At: d.mono(), Type: human.KeyDown, Key: "7", Modifiers: []string{"ctrl"}})
		d.char("7")
		d.wait(time.Second)
		r := d.stop()
		var got []string
		for _, e := range d.events(r.ID) {
			if e.Type == human.KeyDown || e.Type == human.KeyUp {
				got = append(got, string(e.Type)+" "+strings.Join(append(slices.Clone(e.Modifiers), e.Key), "+"))
			}
		}
		want := []string{
			"key_down ctrl+v", "key_up ctrl+v", "key_down ", "key_up ", "key_down Enter", "key_up Enter", "key_down ctrl+7", "key_down ", "key_up ",
		}
		if !slices.Equal(got, want) {
			t.Errorf("keys:\n%q, want\n%q", got, want)
		}
	})
}

func TestWithoutElementsTypedTextIsHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, record.Options{}, func(deps *record.Deps) { deps.Elements = nil })
		defer d.close()
		r := d.start(human.RecordingOptions{})
		if s := r.Sources[2]; s.Status != "missing" || !strings.Contains(s.Detail, "Typed text is hidden") {
			t.Errorf("elements: %+v", s)
		}
		d.activate(editor)
		d.types("7391")
		d.wait(time.Second)
		r = d.stop()
		if text := only(d.events(r.ID), human.TextTyped); len(text) != 1 || text[0].Hidden != "unknown_field" || text[0].Count != 4 {
			t.Errorf("text: %+v", text)
		}
		if r.Complete {
			t.Error("complete without elements")
		}
	})
}

// Names of elements and windows, paths and the clipboard may hold secrets.
func TestNamesAreMasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, record.Options{})
		defer d.close()
		d.start(human.RecordingOptions{Folders: []string{"/tmp"}, Clipboard: "content"})
		secret := editor
		secret.Window.Title = "Key sk-7391"
		d.activate(secret)
		el := human.Element{Role: "button", Name: "Copy sk-7391", Bounds: human.Bounds{W: 9, H: 9}, Ancestry: []human.Element{{Role: "window", Name: "Key sk-7391"}}}
		d.elements.under = &el
		d.focus(el)
		d.click(1, 1)
		d.files.send(human.RecordedEvent{At: d.mono(), Type: human.FileChanged, File: &human.FileChange{Op: "renamed", Path: "/tmp/a", To: "/tmp/sk-7391"}})
		d.clip.send(human.RecordedEvent{At: d.mono(), Type: human.ClipboardSet, ContentKind: "text", Text: "it is sk-7391"})
		if _, err := d.rec.Mark(t.Context(), ann, "rec_1", record.Note{Text: "used sk-7391"}); err != nil {
			t.Fatal(err)
		}
		d.wait(time.Second)
		r := d.stop()
		if all := d.written(r.ID); strings.Contains(all, "7391") || strings.Count(all, "•••") != 8 || r.Counts.Masked != 8 {
			t.Errorf("%d masked: %s", r.Counts.Masked, all)
		}
		if el.Name != "Copy sk-7391" || secret.Window.Title != "Key sk-7391" {
			t.Error("the source's own memory was changed")
		}
	})
}

func TestTheClipboardsTextIsStoredOnlyWhereAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, record.Options{Exclude: record.DefaultExclude})
		defer d.close()
		d.start(human.RecordingOptions{})
		d.activate(editor)
		d.clip.send(human.RecordedEvent{At: d.mono(), Type: human.ClipboardSet, ContentKind: "text", Text: "hello"})
		d.activate(safe)
		d.wait(time.Second)
		d.clip.send(human.RecordedEvent{At: d.mono(), Type: human.ClipboardSet, ContentKind: "text", Text: "7391"})
		d.activate(editor)
		d.clip.send(human.RecordedEvent{At: d.mono(), Type: human.ClipboardSet, ContentKind: "files"}) // on its way when the window was left
		d.wait(2 * time.Second)
		d.clip.send(human.RecordedEvent{At: d.mono(), Type: human.ClipboardSet, ContentKind: "image"})
		d.wait(time.Second)
		r := d.stop()
		clips := only(d.events(r.ID), human.ClipboardSet)
		if len(clips) != 2 || clips[0].Text != "" || clips[0].ContentKind != "text" || clips[1].ContentKind != "image" || !r.Complete {
			t.Errorf("%+v", clips)
		}
	})
}
