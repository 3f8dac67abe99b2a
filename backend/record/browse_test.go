package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// browser is a browser in which the test is the person.
type browser struct {
	*source
	keep   record.SavePicture
	opts   human.BrowserOptions
	closed chan struct{} // the person closes it

	mu    sync.Mutex
	picks []human.PickRequest
	shown int
}

func (b *browser) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-b.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return b.source.Run(ctx, ready, emit)
}

func (b *browser) Pick(_ context.Context, p human.PickRequest) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.picks = append(b.picks, p)
	return nil
}

func (b *browser) Show(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shown++
	return nil
}

// web runs a test with a browser.
func web(t *testing.T, test func(t *testing.T, d *fixture, b *browser)) {
	var b *browser
	run(t, record.Options{}, func(t *testing.T, d *fixture) { test(t, d, b) }, func(deps *record.Deps) {
		b = &browser{source: newSource(human.BrowserSource), closed: make(chan struct{})}
		deps.Browser = func(o human.BrowserOptions, _ bool, keep record.SavePicture) record.Browser {
			b.opts, b.keep = o, keep
			return b
		}
	})
}

var page = &human.WebPage{Target: "t1", URL: "https://shop.example/cart", Title: "Cart"}

func (d *fixture) does(b *browser, e human.RecordedEvent) {
	e.At, e.Page = d.mono(), page
	b.send(e)
	d.settle()
}

// U3, H5: a browser is recorded by itself, and nothing of the desktop with it.
func TestABrowserIsRecorded(t *testing.T) {
	web(t, func(t *testing.T, d *fixture, b *browser) {
		d.ops.details = json.RawMessage(`{"url":"https://shop.example/"}`)
		r := d.start(human.RecordingOptions{Browser: &human.BrowserOptions{}})
		if b.opts.URL != "https://shop.example/" || b.opts.Profile != "kept" {
			t.Errorf("opened with %+v", b.opts)
		}
		d.does(b, human.RecordedEvent{Type: human.PagePress, Button: 1, Browsing: human.Browsing{Ref: 7}})
		id, err := b.keep(&record.Frame{W: 2, H: 2, Scale: 1, Pix: make([]byte, 16)})
		if err != nil {
			t.Fatal(err)
		}
		d.does(b, human.RecordedEvent{Type: human.PictureTaken, Picture: id, When: "before", Browsing: human.Browsing{Ref: 8, Cause: 7}})
		d.does(b, human.RecordedEvent{Type: human.PageClick, Button: 1, Count: 1, Browsing: human.Browsing{Ref: 9}})
		d.does(b, human.RecordedEvent{Type: human.PageInput, Text: "sk-secret-1", Count: 11, Element: &human.Element{Role: "textbox", Name: "Key"}})
		d.does(b, human.RecordedEvent{Type: human.PageInput, Count: 8, Hidden: "password", Element: &human.Element{Role: "textbox", Secret: true}})
		d.input.send(human.RecordedEvent{At: d.mono(), Type: human.KeyDown, Key: "a", Text: "a"}) // no one listens
		r = d.stop()
		if !r.Complete || r.Counts.Clicks != 1 || r.Counts.Masked != 2 || r.Counts.Pictures != 1 {
			t.Errorf("recorded: complete %t, %+v, %+v", r.Complete, r.Counts, r.Sources)
		}
		for _, s := range r.Sources {
			want := "off"
			if s.Source == human.BrowserSource {
				want = "complete"
			}
			if s.Status != want {
				t.Errorf("source %s is %s, want %s", s.Source, s.Status, want)
			}
		}
		all := d.events(r.ID)
		press, picture := only(all, human.PagePress), only(all, human.PictureTaken)
		if len(press) != 1 || len(picture) != 1 || picture[0].CausedBy != press[0].Seq || picture[0].Picture != id || picture[0].Source != human.BrowserSource {
			t.Errorf("the picture is %+v, its press %+v", picture, press)
		}
		texts := only(all, human.PageInput)
		if len(texts) != 2 || strings.Contains(texts[0].Text, "sk-") || texts[0].Hidden != "secret" || texts[1].Hidden != "password" || texts[1].Count != 8 {
			t.Errorf("typed: %+v", texts)
		}
		if len(only(all, human.KeyDown)) != 0 {
			t.Error("the desktop was recorded")
		}
		if _, err := b.keep(&record.Frame{W: 1, H: 1, Scale: 1, Pix: make([]byte, 4)}); human.KindOf(err) != human.Conflict {
			t.Errorf("a picture after the end: %v", err)
		}
	})
}

// While a recording is paused neither events nor pictures of the browser are kept.
func TestAPausedBrowser(t *testing.T) {
	web(t, func(t *testing.T, d *fixture, b *browser) {
		r := d.start(human.RecordingOptions{Browser: &human.BrowserOptions{URL: "http://127.0.0.1:8080/"}})
		if _, err := d.rec.Pause(t.Context(), ann, r.ID); err != nil {
			t.Fatal(err)
		}
		d.does(b, human.RecordedEvent{Type: human.PageClick, Button: 1, Count: 1})
		if _, err := b.keep(&record.Frame{W: 1, H: 1, Scale: 1, Pix: make([]byte, 4)}); human.KindOf(err) != human.Conflict {
			t.Errorf("a picture in a pause: %v", err)
		}
		wantKind(t, "pick", d.rec.Pick(t.Context(), ann, r.ID, human.PickRequest{Field: "price"}), human.Conflict, "paused")
		if _, err := d.rec.Resume(t.Context(), ann, r.ID); err != nil {
			t.Fatal(err)
		}
		d.does(b, human.RecordedEvent{Type: human.PageClick, Button: 1, Count: 1})
		if r = d.stop(); !r.Complete || r.Counts.Clicks != 1 {
			t.Errorf("recorded: complete %t, %+v, %+v", r.Complete, r.Counts, r.Sources)
		}
	})
}

// A browser that the person closed is no loss, and comes back when they ask for it; one that died is a gap.
func TestAClosedBrowserIsOpenedAgain(t *testing.T) {
	web(t, func(t *testing.T, d *fixture, b *browser) {
		r := d.start(human.RecordingOptions{Browser: &human.BrowserOptions{}})
		if err := d.rec.ShowBrowser(t.Context(), ann, r.ID); err != nil || b.shown != 1 {
			t.Fatalf("shown %d times, %v", b.shown, err)
		}
		b.closed <- struct{}{}
		d.wait(time.Minute)
		if b.runs != 1 {
			t.Fatalf("opened %d times", b.runs)
		}
		if err := d.rec.ShowBrowser(t.Context(), ann, r.ID); err != nil || b.runs != 2 || b.shown != 1 {
			t.Fatalf("opened %d times, shown %d, %v", b.runs, b.shown, err)
		}
		d.does(b, human.RecordedEvent{Type: human.PageClick, Button: 1, Count: 1})
		if r = d.stop(); !r.Complete || r.Counts.Clicks != 1 {
			t.Errorf("recorded: complete %t, %+v, %+v", r.Complete, r.Counts, r.Sources)
		}
		wantKind(t, "show", d.rec.ShowBrowser(t.Context(), ann, r.ID), human.Conflict, "is not running")

		r = d.start(human.RecordingOptions{Browser: &human.BrowserOptions{}})
		b.fail <- errors.New("it was killed")
		d.wait(time.Minute)
		if b.runs != 3 {
			t.Errorf("opened %d times", b.runs)
		}
		if r = d.stop(); r.Complete || len(r.Gaps) != 1 || r.Gaps[0].Source != human.BrowserSource {
			t.Errorf("a killed browser: complete %t, %+v", r.Complete, r.Gaps)
		}
	})
}

func TestWhatABrowserRefuses(t *testing.T) {
	web(t, func(t *testing.T, d *fixture, b *browser) {
		no := false
		for name, c := range map[string]struct {
			o    human.RecordingOptions
			says string
		}{
			"file":    {human.RecordingOptions{Browser: &human.BrowserOptions{URL: "file:///etc/passwd"}}, "only http and https"},
			"script":  {human.RecordingOptions{Browser: &human.BrowserOptions{URL: "javascript:alert(1)"}}, "only http and https"},
			"profile": {human.RecordingOptions{Browser: &human.BrowserOptions{Profile: "mine"}}, "kept or throwaway"},
			"nothing": {human.RecordingOptions{Desktop: &no}, "nothing to record"},
		} {
			_, err := d.rec.Start(t.Context(), ann, "op_1", c.o)
			wantKind(t, name, err, human.Invalid, c.says)
		}
		d.ops.details = json.RawMessage(`{"url":"file:///etc/passwd"}`) // an agent's
		r := d.start(human.RecordingOptions{Browser: &human.BrowserOptions{}})
		if b.opts.URL != "" {
			t.Errorf("opened at %q", b.opts.URL)
		}
		wantKind(t, "take", d.rec.Pick(t.Context(), ann, r.ID, human.PickRequest{Field: "a", Take: "all"}), human.Invalid, "element, selection")
		wantKind(t, "field", d.rec.Pick(t.Context(), ann, r.ID, human.PickRequest{Field: strings.Repeat("x", 201)}), human.Invalid, "longer")
		if err := d.rec.Pick(t.Context(), ann, r.ID, human.PickRequest{Field: "a"}); err != nil || len(b.picks) != 1 || b.picks[0].Take != human.TakeElement {
			t.Errorf("picks %+v, %v", b.picks, err)
		}
		_, err := d.rec.Hands(t.Context(), ann, r.ID)
		wantKind(t, "hands", err, human.Conflict, "cannot act in the browser")
		d.stop()
		_, err = d.rec.Hands(t.Context(), ann, r.ID)
		wantKind(t, "hands", err, human.Conflict, "is not running")
		if err := d.rec.Discard(t.Context(), ann, r.ID); err != nil {
			t.Fatal(err)
		}
		r = d.start(human.RecordingOptions{})
		wantKind(t, "pick without", d.rec.Pick(t.Context(), ann, r.ID, human.PickRequest{Field: "a"}), human.Conflict, "no browser")
		if err := d.rec.Discard(t.Context(), ann, r.ID); err != nil {
			t.Fatal(err)
		}

		b.not = &human.SourceState{Status: "missing", Code: "no_browser", Detail: "There is no browser.", Fix: "Install Chromium."}
		_, err = d.rec.Start(t.Context(), ann, "op_1", human.RecordingOptions{Browser: &human.BrowserOptions{}})
		wantKind(t, "missing", err, human.Unavailable, "Install Chromium")
		d.nowhere()
		b.not = nil
		b.mute = true
		b.fail <- errors.New("the profile is in use")
		_, err = d.rec.Start(t.Context(), ann, "op_1", human.RecordingOptions{Browser: &human.BrowserOptions{}})
		if err == nil || !strings.Contains(err.Error(), "profile is in use") {
			t.Errorf("a browser that does not open: %v", err)
		}
		d.nowhere()
	})
}
