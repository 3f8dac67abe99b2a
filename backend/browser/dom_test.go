package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
)

// films lets pages be filmed by the rrweb that the frontend is built with.
func films(o *Options) {
	o.RRWeb = func() (string, error) {
		raw, err := os.ReadFile(filepath.Join("..", "..", "frontend", "node_modules", "rrweb", "dist", "rrweb.umd.min.cjs"))
		return "var rrweb = (() => { const module = {exports: {}}, exports = module.exports;\n" + string(raw) + "\nreturn module.exports })();", err
	}
}

// filmed is what rrweb reports: its type 2 is a whole page, 3 a change of it.
type filmed struct {
	Type int             `json:"type"`
	Data json.RawMessage `json:"data"`
	At   float64         `json:"timestamp"`
}

func (v *visit) films(wants func(human.WebPage, filmed) bool) human.RecordedEvent {
	v.Helper()
	return v.wait("a part of the film", func(e human.RecordedEvent) bool {
		var f filmed
		return e.Type == human.PageDOM && json.Unmarshal(e.DOM, &f) == nil && wants(*e.Page, f)
	})
}

func TestPagesAreFilmed(t *testing.T) {
	key := "AKIA" + "QWERTYUIOPASDFGH"
	v := visits(t, human.BrowserOptions{DOM: true}, pages(map[string]string{
		"/": `<title>A film</title><p id=p>What it says, ` + key + `</p><a href="/x?token=param-3f9a">link</a>
			<input id=i style="position: absolute; left: 0; top: 200px; width: 100px; height: 30px"><input id=w type=password value=pass-3f9a><input type=hidden value=csrf-3f9a>
			<textarea>area-3f9a</textarea><select><option>open</select>
			<iframe srcdoc="<p>inside</p>"></iframe><iframe id=f></iframe>
			<script>f.src = location.href.replace('127.0.0.1', 'other.example') + 'inner'</script>`,
		"/inner": `<p>elsewhere</p><input value=inner-3f9a>`,
	}), films)
	// The empty page that the tab began with may have been filmed, too.
	whole := v.films(func(p human.WebPage, f filmed) bool {
		return f.Type == 2 && p.Frame == nil && strings.Contains(string(f.Data), "What it says")
	})
	for _, has := range []string{"open", `"hidden"`} {
		if !strings.Contains(string(whole.DOM), has) {
			t.Errorf("the page as a whole has no %q: %.3000s", has, whole.DOM)
		}
	}
	other := v.films(func(p human.WebPage, f filmed) bool { return f.Type == 2 && slices.Equal(p.Frame, []int{1}) })
	if !strings.Contains(string(other.DOM), "elsewhere") || !strings.Contains(other.Page.FrameURL, "other.example") {
		t.Errorf("the frame of another site: %.2000s of %+v", other.DOM, other.Page)
	}
	v.films(func(p human.WebPage, f filmed) bool {
		return p.Frame == nil && strings.Contains(string(f.Data), "inside")
	})
	v.run(`p.textContent = 'It changed'; w.type = 'text'`)
	v.films(func(_ human.WebPage, f filmed) bool {
		return f.Type == 3 && strings.Contains(string(f.Data), "It changed")
	})
	v.click(50, 215)
	v.typing("typed-3f9a")
	v.films(func(_ human.WebPage, f filmed) bool {
		var d struct {
			Source int    `json:"source"`
			Text   string `json:"text"`
		}
		return f.Type == 3 && json.Unmarshal(f.Data, &d) == nil && d.Source == 5 && d.Text == "•••"
	})
	v.run(`p.textContent = 'It is the end'`)
	v.films(func(_ human.WebPage, f filmed) bool { return strings.Contains(string(f.Data), "It is the end") })
	for _, e := range v.of(human.PageDOM) {
		if said := string(e.DOM); strings.Contains(said, "3f9a") || strings.Contains(said, key) {
			i := max(strings.Index(said, "3f9a"), strings.Index(said, key))
			t.Errorf("a secret is in the film: %s", said[max(0, i-200):min(len(said), i+50)])
		}
	}
	if got := v.ask(`[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames()).filter(a => /rr/.test(a)).length`); got != "0" {
		t.Errorf("%s attributes were set in the page", got)
	}
	if got := v.ask(`Object.keys(window).filter(k => /rrweb|deskbell/i.test(k)).join() + typeof rrweb + typeof deskbellFilm`); got != `"undefinedundefined"` {
		t.Errorf("the page sees %s", got)
	}
}

func TestALargePageIsFilmedInPieces(t *testing.T) {
	v := visits(t, human.BrowserOptions{DOM: true}, pages(map[string]string{"/": `<table id=t></table><script>
		t.innerHTML = Array.from({length: 3000}, (_, i) => '<tr><td>row ' + i + '<td title="' + i * i + '">' + i).join('')</script>`}), films)
	whole := v.films(func(_ human.WebPage, f filmed) bool { return f.Type == 2 && strings.Contains(string(f.Data), "row 0") })
	if n := len(whole.DOM); n < 3*filmPiece || !strings.Contains(string(whole.DOM), "row 2999") {
		t.Errorf("%d bytes; want all of it, in more pieces than one", n)
	}
}

func TestWhatIsTooMuchForAFilmIsAGap(t *testing.T) {
	v := visits(t, human.BrowserOptions{DOM: true}, pages(map[string]string{"/": fmt.Sprintf(
		`<p id=p></p><script>p.textContent = 'x '.repeat(%d)</script>`, filmEvent/2)}), films)
	v.films(func(_ human.WebPage, f filmed) bool { return f.Type == 4 })
	v.until("something was too much", func() bool {
		m := &v.b.shared.film
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.missing > 0
	})
	if _, err := v.stop(); err != nil {
		t.Fatal(err)
	}
	gaps := v.of(human.GapOpened)
	if len(gaps) != 1 || gaps[0].Gap.Reason != "limit" || gaps[0].Gap.Count != 1 || !strings.Contains(gaps[0].Text, "film") {
		t.Errorf("reported %+v", gaps)
	}
}

func TestAFilmThatMakesNoSense(t *testing.T) {
	b := New(Options{Clock: func() (time.Time, int64) { return time.Now(), 1 }}, human.BrowserOptions{}, nil)
	for _, raw := range []string{``, `7`, `"text"`, `[]`, `{"type":2`, `null`} {
		if clean, ok := b.maskJSON([]byte(raw)); ok {
			t.Errorf("%q became %q", raw, clean)
		}
	}
	f := &film{t: &tab{b: b, frames: map[string]*frame{"f": {}}}}
	r := &reel{frame: "f"}
	for _, payload := range []string{``, `{}`, `{"d":"a","n":1,"i":5,"of":9}`, `{"d":"a","n":1,"i":0,"of":1000000}`, `[]`, `{"d":"a","i":-1,"of":-5}`} {
		f.piece(r, payload)
		f.piece(nil, payload)
	}
	if len(f.ready) != 0 {
		t.Errorf("delivered %v", f.ready)
	}
}

func TestFilmingWithoutRRWebIsRefused(t *testing.T) {
	b := New(Options{Clock: func() (time.Time, int64) { return time.Now(), 1 }}, human.BrowserOptions{DOM: true}, nil)
	if _, err := b.Run(t.Context(), func() {}, func(human.RecordedEvent) {}); err == nil || !strings.Contains(err.Error(), "rrweb") {
		t.Errorf("got %v", err)
	}
}
