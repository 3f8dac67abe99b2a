//go:build window

package e2e

import (
	"bytes"
	"image"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/build/e2e/desktoptest"
)

// A photographer records work in a form of which pictures are taken.
type photographer struct {
	formWorker
	h  *serving
	op human.Operation
	t  *testing.T
}

// record starts a recording.
func (p photographer) record() (id human.RecordingID) {
	p.t.Helper()
	var rec human.Recording
	p.h.call("POST", "/api/recordings", map[string]any{"operation_id": p.op.ID}, &rec)
	return rec.ID
}

func (p photographer) stop(id human.RecordingID) (rec human.Recording) {
	p.t.Helper()
	p.h.call("POST", "/api/recordings/"+string(id)+"/stop", nil, &rec)
	p.t.Logf("%s: %+v", id, rec.Counts)
	for _, g := range rec.Gaps {
		p.t.Logf("gap %+v", g)
	}
	return rec
}

func pictureSource(rec human.Recording) human.SourceState {
	for _, s := range rec.Sources {
		if s.Source == human.ScreenSource {
			return s
		}
	}
	return human.SourceState{}
}

// lacks waits until the recording says why there are no pictures, with a gap.
func (p photographer) lacks(why string) {
	p.t.Helper()
	p.Wait("it to say: "+why, func() bool {
		rec, _ := p.h.recorder()
		for _, g := range rec.Gaps {
			if g.Source == human.ScreenSource && g.Reason == "lost" {
				return strings.Contains(pictureSource(rec).Detail, why)
			}
		}
		return false
	})
}

// A photo is a stored picture with what it shows; nil where it is all black.
type photo struct {
	event   human.RecordedEvent
	picture image.Image
}

// photos are the pictures that are stored.
func (p photographer) photos(id human.RecordingID) (all []photo) {
	p.t.Helper()
	for _, e := range p.h.events(id) {
		if e.Type != human.PictureTaken {
			continue
		}
		status, data := p.h.ask("GET", "/api/recordings/"+string(id)+"/pictures/"+url.PathEscape(e.Picture), nil)
		picture, _, err := image.Decode(bytes.NewReader(data))
		if status != http.StatusOK || err != nil {
			p.t.Fatalf("picture %s: %d %v", e.Picture, status, err)
		}
		if ink(picture, picture.Bounds()) == picture.Bounds().Dx()*picture.Bounds().Dy() {
			picture = nil
		}
		all = append(all, photo{e, picture})
	}
	return all
}

// shown waits for a picture that is not black, of which something is true, and clicks now and then so that more are taken: on
// a busy machine it may not be known in time where the keyboard is, and then one is black.
func (p photographer) shown(id human.RecordingID, what string, is func(image.Image) bool) {
	p.t.Helper()
	var clicked time.Time
	p.Wait("a picture of "+what, func() bool {
		if time.Since(clicked) > 3*time.Second {
			clicked = time.Now()
			p.press("Agree")
		}
		for _, one := range p.photos(id) {
			if one.picture != nil && is(one.picture) {
				return true
			}
		}
		return false
	})
}

// ink counts the pixels of a region in which there is hardly any light.
func ink(picture image.Image, in image.Rectangle) (n int) {
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			if r, g, b, _ := picture.At(x, y).RGBA(); r+g+b < 3*0x6000 {
				n++
			}
		}
	}
	return n
}

// inside is where text stands in a part of the form, in a picture of its window, which has its shadow around it.
func (p photographer) inside(part string, picture image.Image) image.Rectangle {
	return p.form.Place(part).Inset(6).Intersect(picture.Bounds())
}

// agree has pictures taken of the first thing that is listed when GNOME asks, which it does not do the next time.
func (p photographer) agree() {
	p.t.Helper()
	id := p.record()
	p.Answer(desktoptest.Row(0))
	p.Wait("a picture", func() bool { current, _ := p.h.recorder(); return current.Counts.Pictures > 0 })
	p.stop(id)
}

// write clicks a field that has not the keyboard and types into it, once the recording knows that it has: a text that is there
// when it first looks is not reported as a change.
func (p photographer) write(id human.RecordingID, part, text, key string, want any) {
	p.t.Helper()
	p.press(part)
	p.Wait(part+" to have the keyboard in the recording", func() bool {
		return slices.ContainsFunc(p.h.events(id), func(e human.RecordedEvent) bool { return e.Type == human.FocusMoved && e.Element.Name == part })
	})
	p.Type(text)
	p.form.Await(key, want)
}

// reported waits until the recording has what a field holds.
func (p photographer) reported(id human.RecordingID, name string, is func(human.RecordedEvent) bool) {
	p.t.Helper()
	p.Wait(name+" to be reported", func() bool {
		for _, e := range p.h.events(id) {
			if e.Type == human.ElementChanged && e.Element.Name == name && is(e) {
				return true
			}
		}
		return false
	})
}

// Not parallel: GNOME Shell takes the machine.
func TestWaylandPicturesOnGNOME(t *testing.T) {
	const secret, password = "ghp_x7Kq2mZ9vB4nR8tW1cY6pL3sD5fG0hJxQeUa", "hunter2plain"
	c := desktoptest.StartGNOME(t)
	portal := c.StartPortal("gnome")
	d := fixtureOn(t, c.Desktop)
	p := photographer{formWorker: formWorker{c, d.StartForm("form.gtk3.py", d.Home, nil), "form.gtk3"}, h: d.serve(), t: t}
	p.form.Place("Greet")
	var ready struct{ Sources []human.SourceState }
	p.h.call("GET", "/api/recorder", nil, &ready)
	if s := pictureSource(human.Recording{Sources: ready.Sources}); s.Status != "partial" || s.Code != "wayland" || !strings.Contains(s.Detail, "which window pictures") {
		t.Errorf("before it starts it says of pictures: %+v", s)
	}
	c.Wait("the form to have the keyboard", func() bool { return c.Eval("Boolean(global.display.focus_window)") == "true" })
	p.press("Greet")
	p.op, _ = p.h.ring("Fill in the form", map[string]any{"path": "form"})

	declined := p.record()
	p.lacks("shows nothing yet")
	c.Answer(desktoptest.Decline)
	p.lacks("did not allow pictures")
	p.press("Agree") // of which a picture would be taken
	p.reported(declined, "Agree", func(human.RecordedEvent) bool { return true })
	p.Wait("a picture to be missing", func() bool { rec, _ := p.h.recorder(); return rec.Counts.Lost > 1 })
	p.lacks("did not allow pictures")
	if rec := p.stop(declined); rec.Complete || rec.Counts.Pictures > 0 {
		t.Errorf("without consent: complete %t, %+v", rec.Complete, rec.Counts)
	}

	p.agree()
	first := p.record()
	p.shown(first, "the form", func(one image.Image) bool { return one.Bounds().Dx() > 500 && one.Bounds().Dx() < 800 })
	p.write(first, "Name", "ada", "name", "ada")
	p.reported(first, "Name", func(e human.RecordedEvent) bool { return e.Text == "ada" })
	p.shown(first, "the name", func(one image.Image) bool { return ink(one, p.inside("Name", one)) > 40 })
	p.write(first, "Notes", secret[:20], "notes", secret[:20])
	p.reported(first, "Notes", func(e human.RecordedEvent) bool { return strings.Contains(e.Text, secret[:8]) || e.Hidden != "" })
	p.Type(secret[20:])
	p.form.Await("notes", secret)
	p.reported(first, "Notes", func(e human.RecordedEvent) bool { return e.Hidden == "secret" })
	p.press("Agree")
	p.write(first, "Password", password, "password_length", len(password))
	p.reported(first, "Password", func(e human.RecordedEvent) bool { return e.Hidden == "password" })
	p.press("Agree")
	last := len(p.photos(first))
	p.Wait("another picture", func() bool { return len(p.photos(first)) > last })
	portal.PipeWire.Kill()
	p.lacks("Nothing can be seen any more")
	rec := p.stop(first)
	if rec.Complete {
		t.Error("it says it is complete after PipeWire died")
	}
	after := 0
	for _, one := range p.photos(first) {
		if one.picture == nil {
			t.Logf("%q at %d ms is black", one.event.When, one.event.At/1e6)
			after++
			continue
		}
		t.Logf("%q at %d ms: %v", one.event.When, one.event.At/1e6, one.picture.Bounds())
		if ink(one.picture, p.inside("Notes", one.picture))+ink(one.picture, p.inside("Password", one.picture)) > 0 {
			t.Errorf("the picture %q at %d ms shows what was typed", one.event.When, one.event.At/1e6)
		}
	}
	if after == 0 || rec.Counts.Black != uint64(after) {
		t.Errorf("%d pictures are black, and it counts %d", after, rec.Counts.Black)
	}
	d.nowhere(secret)
	d.nowhere(password)
}

// A whole monitor can be shown where no application is excluded. What a program shows that reports nothing is not known, so
// that nothing is shown any more once it was used.
func TestWaylandPicturesOfAMonitorOnGNOME(t *testing.T) {
	c := desktoptest.StartGNOME(t)
	c.StartPortal("gnome")
	d := fixtureOn(t, c.Desktop)
	d.Write(filepath.Join(d.data, "config.toml"), "[recording]\nexclude_defaults = false\n")
	p := photographer{formWorker: formWorker{c, d.StartForm("form.gtk3.py", d.Home, nil), "form.gtk3"}, h: d.serve(), t: t}
	p.form.Place("Greet")
	c.Wait("the form to have the keyboard", func() bool { return c.Eval("Boolean(global.display.focus_window)") == "true" })
	p.press("Greet")
	p.op, _ = p.h.ring("Fill in the form", map[string]any{"path": "form"})

	p.agree()
	id := p.record()
	p.shown(id, "the whole monitor", func(one image.Image) bool { return one.Bounds().Size() == image.Pt(1440, 900) })
	p.write(id, "Name", "ada", "name", "ada")
	p.reported(id, "Name", func(e human.RecordedEvent) bool { return e.Text == "ada" })
	at := p.form.Place("Name").Inset(6).Add(c.Corner())
	p.shown(id, "the name", func(one image.Image) bool { return ink(one, at) > 40 })
	since, _ := p.h.recorder()
	silent := c.Terminal()
	c.Type("rm")
	c.Wait("the terminal to read", func() bool { return silent() == "rm" })
	c.Wait("two seconds in it", func() bool { current, _ := p.h.recorder(); return current.Elapsed > since.Elapsed+2e9 })
	c.Eval("global.get_window_actors().map(a => a.meta_window).find(w => w.title == 'Form GTK 3').activate(0)")
	p.Wait("the form to have the keyboard again", func() bool { return strings.HasPrefix(c.Eval("global.display.focus_window.title"), `"Form`) })
	last := len(p.photos(id))
	p.press("Agree")
	p.Wait("another picture", func() bool { return len(p.photos(id)) > last })
	rec := p.stop(id)
	for _, one := range p.photos(id) {
		t.Logf("%q at %d ms, black %t", one.event.When, one.event.At/1e6, one.picture == nil)
		if one.picture != nil && one.event.At > since.Elapsed+1e9 {
			t.Errorf("the picture %q at %d ms shows the terminal", one.event.When, one.event.At/1e6)
		}
	}
	if rec.Counts.Black == 0 {
		t.Error("no picture is black")
	}
}
