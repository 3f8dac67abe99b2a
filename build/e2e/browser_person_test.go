//go:build window

package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// A surfer is a person before a browser, one thing after the other: trusted input through the debugging port.
type surfer struct {
	*debugger
	t                *testing.T
	site             site
	files, downloads string // folders: what they upload, and where the browser saves
	uploaded         []string
	looking          time.Duration
	page             string // the session of the tab they look at
	x, y             float64
	others           [][3]string // what they type and choose instead
	nth              int         // of the columns of others
}

// newSurfer looks at the browser's first tab once it shows something.
func newSurfer(t *testing.T, d *debugger, s site) *surfer {
	t.Helper()
	p := &surfer{debugger: d, t: t, site: s, looking: 250 * time.Millisecond}
	p.look(0)
	return p
}

func (p *surfer) must(session, method string, params, result any) {
	p.t.Helper()
	if err := p.call(session, method, params, result); err != nil {
		p.t.Fatal(err)
	}
}

// await waits for an event of a kind, takes it and those before it, and returns it.
func (p *surfer) await(method string) (e event) {
	p.t.Helper()
	eventually(p.t, method, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for i, one := range p.events {
			if one.method == method {
				e, p.events = one, p.events[i+1:]
				return true
			}
		}
		return false
	})
	return e
}

// look turns to the nth tab or popup, once it is there and has loaded.
func (p *surfer) look(n int) {
	p.t.Helper()
	eventually(p.t, fmt.Sprintf("tab %d", n), func() bool {
		all := p.pages()
		if len(all) <= n {
			return false
		}
		p.page = all[n].session
		return true
	})
	p.loaded()
}

func (p *surfer) loaded() {
	p.t.Helper()
	p.until("the page to load", `document.readyState === 'complete'`)
}

// until waits until an expression is true in the page.
func (p *surfer) until(what, expression string) {
	p.t.Helper()
	eventually(p.t, what, func() bool {
		var is bool
		return p.evaluate(p.page, "!!("+expression+")", &is) == nil && is
	})
}

// sees waits until the page has a text.
func (p *surfer) sees(text string) {
	p.t.Helper()
	quoted, _ := json.Marshal(p.shown(text))
	p.until(fmt.Sprintf("%q", text), fmt.Sprintf("(document.title + ' ' + (document.body ? document.body.innerText : '')).includes(%s)", quoted))
	p.pause()
}

// ends waits until the tab shows an address.
func (p *surfer) at(path string) {
	p.t.Helper()
	quoted, _ := json.Marshal(p.shown(path))
	p.until(path, fmt.Sprintf("document.readyState === 'complete' && location.href.endsWith(%s)", quoted))
	p.pause()
}

func (p *surfer) pause() { <-time.After(p.looking) }

// opens goes to another address, as the address bar does.
func (p *surfer) opens(path string) {
	p.t.Helper()
	p.must(p.page, "Page.navigate", map[string]any{"url": p.site.url(path), "transitionType": "typed"}, nil)
	p.at(path)
}

// choose finds an element by CSS, and where several match by its name: "button|Save".
const choose = `function (s) {
  const [css, name] = s.split('|');
  const all = [...this.querySelectorAll(css)];
  if (name === undefined) return all[0];
  const names = e => [e.getAttribute('aria-label'), e.textContent, e.title, e.value, ...(e.labels ? [...e.labels].map(l => l.textContent) : [])];
  return all.find(e => names(e).some(n => n && n.trim() === name));
}`

type object struct {
	Result struct {
		ObjectID string `json:"objectId"`
	}
}

// where finds an element's middle, in the tab's viewport. The path descends from the page through frames and
// shadow roots, open or closed: "iframe >> button|Hit".
func (p *surfer) where(path string) (x, y float64) {
	p.t.Helper()
	if css, name, named := strings.Cut(path, "|"); named {
		path = css + "|" + p.says(name)
	}
	var err error
	eventually(p.t, path, func() bool {
		x, y, err = p.find(path)
		return err == nil
	})
	return x, y
}

func (p *surfer) find(path string) (x, y float64, err error) {
	id, session, _, _, err := p.resolve(path)
	if err != nil {
		return 0, 0, err
	}
	if err := p.call(session, "DOM.scrollIntoViewIfNeeded", map[string]any{"objectId": id}, nil); err != nil {
		return 0, 0, err
	}
	if id, session, x, y, err = p.resolve(path); err != nil { // the frames around it may have moved
		return 0, 0, err
	}
	left, top, w, h, err := p.quad(session, id)
	return x + left + w/2, y + top + h/2, err
}

func (p *surfer) quad(session, id string) (x, y, w, h float64, err error) {
	var box struct{ Quads [][8]float64 }
	if err := p.call(session, "DOM.getContentQuads", map[string]any{"objectId": id}, &box); err != nil {
		return 0, 0, 0, 0, err
	}
	if len(box.Quads) == 0 {
		return 0, 0, 0, 0, fmt.Errorf("it has no box")
	}
	q := box.Quads[0]
	return q[0], q[1], q[4] - q[0], q[5] - q[1], nil
}

// resolve returns the element, its session, and where that session's document lies in the tab.
func (p *surfer) resolve(path string) (id, session string, dx, dy float64, err error) {
	session = p.page
	var o object
	if err := p.call(session, "Runtime.evaluate", map[string]any{"expression": "document"}, &o); err != nil {
		return "", "", 0, 0, err
	}
	steps := strings.Split(path, " >> ")
	for i, step := range steps {
		var found object
		err := p.call(session, "Runtime.callFunctionOn", map[string]any{"objectId": o.Result.ObjectID, "functionDeclaration": choose, "arguments": []any{map[string]any{"value": step}}}, &found)
		if err != nil {
			return "", "", 0, 0, err
		}
		id = found.Result.ObjectID
		if id == "" {
			return "", "", 0, 0, fmt.Errorf("there is no %s", step)
		}
		if i == len(steps)-1 {
			return id, session, dx, dy, nil
		}
		type node struct {
			Backend int `json:"backendNodeId"`
		}
		var d struct {
			Node struct {
				FrameID         string
				ContentDocument *node
				ShadowRoots     []node
			}
		}
		if err := p.call(session, "DOM.describeNode", map[string]any{"objectId": id, "depth": 1, "pierce": true}, &d); err != nil {
			return "", "", 0, 0, err
		}
		root := d.Node.ContentDocument
		if len(d.Node.ShadowRoots) > 0 {
			root = &d.Node.ShadowRoots[0]
		}
		var inner object
		if root != nil {
			var r struct{ Object struct{ ObjectID string } }
			err = p.call(session, "DOM.resolveNode", map[string]any{"backendNodeId": root.Backend}, &r)
			inner.Result.ObjectID = r.Object.ObjectID
		} else {
			x, y, _, _, e := p.quad(session, id)
			dx, dy = dx+x, dy+y
			if session = p.frameSession(d.Node.FrameID); session == "" || e != nil {
				return "", "", 0, 0, fmt.Errorf("%s has no document yet", step)
			}
			err = p.call(session, "Runtime.evaluate", map[string]any{"expression": "document"}, &inner)
		}
		if err != nil {
			return "", "", 0, 0, err
		}
		o = inner
	}
	return "", "", 0, 0, fmt.Errorf("an empty path")
}

// Modifiers as Input.dispatchKeyEvent counts them.
const (
	alt   = 1
	ctrl  = 2
	shift = 8
)

func (p *surfer) mouse(kind string, button string, count, modifiers int) {
	p.t.Helper()
	buttons := 0
	if kind == "mousePressed" || kind == "mouseMoved" && button != "none" {
		buttons = map[string]int{"left": 1, "right": 2, "middle": 4}[button]
	}
	p.must(p.page, "Input.dispatchMouseEvent", map[string]any{
		"type": kind, "x": p.x, "y": p.y, "button": button, "buttons": buttons, "clickCount": count, "modifiers": modifiers, "pointerType": "mouse",
	}, nil)
}

// moves brings the pointer to a point in the tab, in two steps.
func (p *surfer) moves(x, y float64, button string) {
	p.t.Helper()
	fromX, fromY := p.x, p.y
	for i := 1; i <= 2; i++ {
		p.x, p.y = math.Round(fromX+(x-fromX)*float64(i)/2), math.Round(fromY+(y-fromY)*float64(i)/2)
		p.mouse("mouseMoved", button, 0, 0)
	}
}

func (p *surfer) rests(path string) {
	p.t.Helper()
	x, y := p.where(path)
	p.moves(x, y, "none")
	<-time.After(2 * p.looking)
}

func (p *surfer) clicks(path string) {
	p.t.Helper()
	p.clicksWith(path, "left", 1, 0)
}

// clicksWith clicks count times in quick succession.
func (p *surfer) clicksWith(path, button string, count, modifiers int) {
	p.t.Helper()
	x, y := p.where(path)
	p.clicksAt(x, y, button, count, modifiers)
}

func (p *surfer) clicksAt(x, y float64, button string, count, modifiers int) {
	p.t.Helper()
	p.moves(x, y, "none")
	for i := 1; i <= count; i++ {
		p.mouse("mousePressed", button, i, modifiers)
		p.mouse("mouseReleased", button, i, modifiers)
	}
	p.pause()
}

// clicksAndAnswers clicks what opens a dialog that holds up the page, and answers it.
func (p *surfer) clicksAndAnswers(path string, accept bool, text string) {
	p.t.Helper()
	x, y := p.where(path)
	p.moves(x, y, "none")
	p.mouse("mousePressed", "left", 1, 0)
	done := make(chan error, 1)
	page, px, py := p.page, p.x, p.y
	go func() { // the click is answered only after the dialog
		done <- p.call(page, "Input.dispatchMouseEvent", map[string]any{
			"type": "mouseReleased", "x": px, "y": py, "button": "left", "clickCount": 1, "pointerType": "mouse"}, nil)
	}()
	p.await("Page.javascriptDialogOpening")
	p.pause()
	p.must(page, "Page.handleJavaScriptDialog", map[string]any{"accept": accept, "promptText": p.says(text)}, nil)
	if err := <-done; err != nil {
		p.t.Fatal(err)
	}
	p.pause()
}

// drags holds the left button from one point to another.
func (p *surfer) drags(fromX, fromY, toX, toY float64) {
	p.t.Helper()
	p.moves(fromX, fromY, "none")
	p.mouse("mousePressed", "left", 1, 0)
	for i := 1; i <= 8; i++ {
		p.moves(fromX+(toX-fromX)*float64(i)/8, fromY+(toY-fromY)*float64(i)/8, "left")
	}
	p.mouse("mouseReleased", "left", 1, 0)
	p.pause()
}

// dragsAndDrops drags what the browser itself drags (draggable).
func (p *surfer) dragsAndDrops(from, to string) {
	p.t.Helper()
	p.must(p.page, "Input.setInterceptDrags", map[string]any{"enabled": true}, nil)
	x, y := p.where(from)
	toX, toY := p.where(to)
	p.moves(x, y, "none")
	p.mouse("mousePressed", "left", 1, 0)
	p.moves(x+20, y+20, "left")
	var start struct{ Data json.RawMessage }
	if err := json.Unmarshal(p.await("Input.dragIntercepted").params, &start); err != nil {
		p.t.Fatal(err)
	}
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		p.must(p.page, "Input.dispatchDragEvent", map[string]any{"type": kind, "x": toX, "y": toY, "data": start.Data}, nil)
		p.pause()
	}
	p.x, p.y = toX, toY
	p.mouse("mouseReleased", "left", 1, 0)
	p.must(p.page, "Input.setInterceptDrags", map[string]any{"enabled": false}, nil)
	p.pause()
}

func (p *surfer) wheels(path string, deltaY float64) {
	p.t.Helper()
	x, y := p.where(path)
	p.moves(x, y, "none")
	p.must(p.page, "Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": deltaY}, nil)
	<-time.After(3 * p.looking)
}

// codes are the virtual key codes of keys that make no text.
var codes = map[string]int{
	"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46, "F2": 113,
}

// presses presses one key, by its W3C name.
func (p *surfer) presses(key string, modifiers int, commands ...string) {
	p.t.Helper()
	k := map[string]any{"key": key, "modifiers": modifiers, "type": "keyDown", "commands": append([]string{}, commands...)}
	text := ""
	code, named := codes[key]
	switch {
	case key == "Enter":
		text = "\r"
		k["code"] = key
	case named:
		k["code"] = key
	default:
		r := []rune(key)[0]
		if unicode.IsLetter(r) && r < 128 {
			k["code"] = "Key" + strings.ToUpper(key)
			code = int(unicode.ToUpper(r))
		}
		if modifiers&^shift == 0 {
			text = key
		}
	}
	k["windowsVirtualKeyCode"] = code
	if text != "" {
		k["text"] = text
	} else {
		k["type"] = "rawKeyDown"
	}
	p.must(p.page, "Input.dispatchKeyEvent", k, nil)
	p.must(p.page, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "modifiers": modifiers, "windowsVirtualKeyCode": code}, nil)
}

// types types a text, key by key.
func (p *surfer) types(text string) {
	p.t.Helper()
	for _, r := range p.says(text) {
		if r == '\n' {
			p.presses("Enter", 0)
			continue
		}
		p.presses(string(r), 0)
		<-time.After(10 * time.Millisecond)
	}
	p.pause()
}

// enters clicks a field, empties it and types.
func (p *surfer) enters(path, text string) {
	p.t.Helper()
	p.clicks(path)
	p.types(text)
}

// composes types by an input method: the syllables one after the other, then what they become.
func (p *surfer) composes(becomes string, syllables ...string) {
	p.t.Helper()
	for _, s := range syllables {
		p.must(p.page, "Input.imeSetComposition", map[string]any{"text": s, "selectionStart": len(s), "selectionEnd": len(s)}, nil)
		<-time.After(30 * time.Millisecond)
	}
	p.must(p.page, "Input.insertText", map[string]any{"text": p.says(becomes)}, nil)
	p.pause()
}

// selects picks an option of a select by its keyboard, as its list is drawn by the browser and not the page.
func (p *surfer) selects(path string, downs int) {
	p.t.Helper()
	id, session, _, _, err := p.resolve(path)
	if err != nil {
		p.t.Fatal(err)
	}
	p.must(session, "DOM.focus", map[string]any{"objectId": id}, nil)
	if _, err := fmt.Sscanf(p.says(fmt.Sprint("down ", downs)), "down %d", &downs); err != nil {
		p.t.Fatal(err)
	}
	for range downs {
		p.presses("ArrowDown", 0)
	}
	p.presses("Enter", 0)
	p.pause()
}

// uploads chooses files in a file field's dialog.
func (p *surfer) uploads(path string, files ...string) {
	p.t.Helper()
	id, session, _, _, err := p.resolve(path)
	if err != nil {
		p.t.Fatal(err)
	}
	p.must(session, "DOM.setFileInputFiles", map[string]any{"objectId": id, "files": files}, nil)
	p.pause()
}

// reaches is the time in which a person comes from the page to the browser's own buttons.
func (p *surfer) reaches() { <-time.After(2500 * time.Millisecond) }

// reloads presses the browser's own button.
func (p *surfer) reloads() {
	p.t.Helper()
	p.reaches()
	p.must(p.page, "Page.reload", nil, nil)
	p.pause()
	p.loaded()
}

// goes moves in the history as the browser's own buttons do.
func (p *surfer) goes(by int) {
	p.t.Helper()
	p.reaches()
	var h struct {
		CurrentIndex int
		Entries      []struct{ ID int }
	}
	p.must(p.page, "Page.getNavigationHistory", nil, &h)
	p.must(p.page, "Page.navigateToHistoryEntry", map[string]any{"entryId": h.Entries[h.CurrentIndex+by].ID}, nil)
	p.pause()
	p.loaded()
}

// focuses gives a field the keyboard, as Tab does.
func (p *surfer) focuses(path string) {
	p.t.Helper()
	id, session, _, _, err := p.resolve(path)
	if err != nil {
		p.t.Fatal(err)
	}
	p.must(session, "DOM.focus", map[string]any{"objectId": id}, nil)
}

// closes closes the tab they look at.
func (p *surfer) closes() {
	p.t.Helper()
	p.reaches()
	gone := p.page
	p.must(p.page, "Page.close", nil, nil)
	eventually(p.t, "the tab to close", func() bool {
		return !slices.ContainsFunc(p.pages(), func(t *target) bool { return t.session == gone })
	})
	p.pause()
}

// shows brings the nth tab to the front.
func (p *surfer) shows(n int) {
	p.t.Helper()
	p.look(n)
	p.must(p.page, "Page.bringToFront", nil, nil)
	p.pause()
}

// file makes a file to upload.
func (p *surfer) file(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.files, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.uploaded = append(p.uploaded, path)
	return path
}

// downloaded waits for a file that the browser saves.
func (p *surfer) downloaded(name, text string) {
	p.t.Helper()
	eventually(p.t, name, func() bool {
		data, err := os.ReadFile(filepath.Join(p.downloads, name))
		return err == nil && string(data) == text
	})
	p.pause()
}
