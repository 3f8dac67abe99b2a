//go:build window

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/build/e2e/desktoptest"
)

// Hands work in a browser that can be seen, with the desktop's own pointer and keys; where things are they see
// on the debugging port, as eyes do.
type hands struct {
	*surfer
	d      *desktoptest.Desktop
	dx, dy float64 // from the tab's viewport to the screen
}

func newHands(t *testing.T, d *desktoptest.Desktop, p *surfer) *hands {
	t.Helper()
	h := &hands{surfer: p, d: d}
	p.looking = 500 * time.Millisecond
	p.until("the window to be shown", "document.visibilityState === 'visible' && outerWidth > 0")
	var where [2]float64
	found := make(chan error, 1)
	go func() {
		found <- p.evaluate(p.page, `new Promise(r => addEventListener('mousemove', e => r([e.screenX - e.clientX, e.screenY - e.clientY]), { once: true }))`, &where)
	}()
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case err := <-found:
			if err != nil {
				t.Fatal(err)
			}
			h.dx, h.dy = where[0], where[1]
			return h
		case <-tick.C:
			d.Move(500+i%7*10, 500)
		}
	}
}

func (h *hands) on(path string) (x, y int) {
	h.t.Helper()
	fx, fy := h.where(path)
	return int(fx + h.dx), int(fy + h.dy)
}

func (h *hands) click(path string) {
	h.t.Helper()
	x, y := h.on(path)
	h.d.Move(x, y)
	h.d.Do("xdotool", "mousedown", "1", "sleep", "0.08", "mouseup", "1")
	h.pause()
}

func (h *hands) write(text string) {
	h.t.Helper()
	h.d.Do("xdotool", "type", "--delay", "40", text)
	h.pause()
}

func (h *hands) key(keys ...string) {
	h.t.Helper()
	h.d.Key(keys...)
	h.pause()
}

// finds turns to the tab that shows an address; the browser's own bars are pages, too.
func (h *hands) finds(path string) {
	h.t.Helper()
	eventually(h.t, "a tab with "+path, func() bool {
		for _, page := range h.pages() {
			var url string
			if h.evaluate(page.session, "location.href", &url) == nil && strings.HasSuffix(url, path) {
				h.page = page.session
				return true
			}
		}
		return false
	})
	h.at(path)
}

// TestBrowserByHand has a person work in a browser on a screen, with the X server's own pointer and keys, and the
// whole desktop recorded beside: what was done in a page is one action and not two.
func TestBrowserByHand(t *testing.T) {
	for name, desktop := range map[string]bool{"the browser alone": false, "the desktop, too": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStudy(t, true)
			_, rec, p := s.recordWith(t, "Work by hand", s.site.url("/forms.html"), human.RecordingOptions{Browser: &human.BrowserOptions{}, Desktop: &desktop})
			h := newHands(t, s.Desktop, p)
			h.click("[name=name]")
			h.write("Anna")
			h.click("[name=terms]")
			h.click("[name=country]") // its list is drawn by the browser
			h.key("Down", "Down", "Return")
			h.click("button|Check")
			h.sees("Checked Anna")
			h.click("button|Send order")
			h.at("colour=%23336699&q=")
			h.reaches()
			h.key("alt+Left")
			h.at("/forms.html")
			h.reaches()
			h.key("ctrl+l")
			h.write(strings.TrimPrefix(s.site.url("/dialogs.html"), "http://") + "\n")
			h.at("/dialogs.html")
			h.click("#alert")
			h.await("Page.javascriptDialogOpening")
			h.pause()
			h.key("Return")
			h.sees("alerted")
			h.reaches()
			tabs := len(h.pages())
			h.key("ctrl+t")
			eventually(t, "a new tab", func() bool { return len(h.pages()) > tabs })
			h.pause()
			h.key("ctrl+l")
			h.write(strings.TrimPrefix(s.site.url("/popups.html"), "http://") + "\n")
			h.finds("/popups.html")
			h.reaches()
			h.key("ctrl+1")
			h.look(0)
			h.pause()
			h.click("#confirm")
			h.await("Page.javascriptDialogOpening")
			h.pause()
			h.key("Escape")
			h.sees("kept")
			all := s.stop(t, &rec)
			got := sketch(all, s.port)
			want := lines(`
				open_page address /forms.html
				click textbox "Name"
				type textbox "Name" = "Anna"
				check checkbox "I agree to the terms" = checked
				choose combobox "Country" = China
				click button "Check"
				click button "Send order"
				navigate form /thanks.html?name=Anna&email=&quantity=1&notes=&country=cn&terms=on&urgency=5&colour=%23336699&q= <- click button "Send order"
				shortcut alt+ArrowLeft generic
				navigate back_forward /forms.html <- shortcut alt+ArrowLeft generic
				navigate address /dialogs.html
				click button "Alert"
				dialog alert "Careful" accepted true <- click button "Alert"
				open_page address /popups.html in t2
				shortcut ctrl+1 generic in t2
				switch_page
				click button "Delete"
				dialog confirm "Really delete it?" accepted false <- click button "Delete"
			`)
			// A person who is slow with the address has opened an empty tab first.
			got = slices.DeleteFunc(got, func(line string) bool { return line == "open_page chrome://newtab/ in t2" })
			for i := range got {
				got[i] = slow.ReplaceAllString(got[i], "open_page address /popups.html in t2")
			}
			if desktop {
				// What was done in no page (the address bar, the window itself) stays beside.
				for i := range got {
					got[i] = inWindow.ReplaceAllString(got[i], "navigate address ")
				}
				got = slices.DeleteFunc(got, func(line string) bool { return !slices.Contains(want, line) })
				s.once(t, all)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(sketch(all, s.port), "\n\t"), strings.Join(want, "\n\t"))
			}
			for _, a := range all {
				if a.Type == human.Click && a.Page != nil && (a.Before == "" || a.After == "") {
					t.Errorf("%s has pictures %q and %q", a.Words, a.Before, a.After)
				}
			}
		})
	}
}

var slow = regexp.MustCompile(`^navigate ([a-z]+( "[^"]*")? )?address /popups.html in t2$`)

// inWindow is the element of the desktop that a navigation by the address bar has.
var inWindow = regexp.MustCompile(`^navigate [a-z]+( "[^"]*")? address `)

// once fails the test where a click in a page is recorded as one of the desktop as well.
func (s *study) once(t *testing.T, all []human.Action) {
	t.Helper()
	presses, both := 0, 0
	source := map[uint64]human.SourceName{}
	for _, e := range s.events(s.last) {
		source[e.Seq] = e.Source
	}
	for _, a := range all {
		if a.Type != human.Click && a.Type != human.Check {
			continue
		}
		presses++
		from := map[human.SourceName]bool{}
		for _, seq := range a.Seqs {
			from[source[seq]] = true
		}
		if from[human.InputSource] && from[human.BrowserSource] {
			both++
		}
	}
	if presses == 0 || presses != both {
		t.Errorf("%d clicks, %d of them of desktop and page: %s", presses, both, fmt.Sprint(sketch(all, s.port)))
	}
}
