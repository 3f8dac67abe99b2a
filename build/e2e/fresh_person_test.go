//go:build window

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/build/corpus/fresh"
)

// A stranger carries out the steps of a fresh case, with trusted input, and keeps what the page was before each.
type stranger struct {
	*worker
	c        fresh.Case
	origin   string
	did      []stepped
	scrolled bool // the page was scrolled so that something could be reached
}

// A stepped is one step as it was done, and the document before it with the target marked.
type stepped struct {
	fresh.Step
	before string
}

// object is the element that a page calls key.
func (p *stranger) object(key string, frame bool) (string, error) {
	var o object
	if !frame {
		err := p.call(p.page, "Runtime.evaluate", map[string]any{"expression": fmt.Sprintf("window.__find && __find(%s)", quoted(key))}, &o)
		return o.Result.ObjectID, err
	}
	host, err := p.object("frame", false)
	if err != nil || host == "" {
		return "", err
	}
	err = p.call(p.page, "Runtime.callFunctionOn", map[string]any{
		"objectId": host, "functionDeclaration": "function (key) { const w = this.contentWindow; return w.__find && w.__find(key); }", "arguments": []any{map[string]any{"value": key}}}, &o)
	return o.Result.ObjectID, err
}

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // it is a string
	}
	return string(data)
}

// reach finds the middle of an element that has come to rest.
func (p *stranger) reach(key string, frame bool) (x, y float64, id string) {
	p.t.Helper()
	var lastX, lastY float64
	eventually(p.t, key, func() bool {
		var err error
		if id, err = p.object(key, frame); err != nil || id == "" {
			return false
		}
		var before, after float64
		_ = p.evaluate(p.page, "scrollY", &before)
		if p.call(p.page, "DOM.scrollIntoViewIfNeeded", map[string]any{"objectId": id}, nil) != nil {
			return false
		}
		_ = p.evaluate(p.page, "scrollY", &after)
		p.scrolled = p.scrolled || before != after
		left, top, w, h, err := p.quad(p.page, id)
		if err != nil || w == 0 || h == 0 {
			return false
		}
		x, y = left+w/2, top+h/2
		still := x == lastX && y == lastY
		lastX, lastY = x, y
		return still
	})
	return x, y, id
}

// notes keeps a step with the document as it is now.
func (p *stranger) keeps(d fresh.Step, id string) {
	p.t.Helper()
	one := stepped{Step: d}
	if id != "" {
		var r struct{ Result struct{ Value string } }
		p.must(p.page, "Runtime.callFunctionOn", map[string]any{"objectId": id, "functionDeclaration": serialize, "returnByValue": true}, &r)
		one.before = r.Result.Value
	}
	p.did = append(p.did, one)
}

// serialize writes the document of an element as HTML, shadow roots included, the element marked.
const serialize = `function () {
  const empty = new Set(['area','base','br','col','embed','hr','img','input','link','meta','source','track','wbr']), mark = this;
  const esc = s => s.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
  const write = n => {
    if (n.nodeType === 3) return n.parentNode && n.parentNode.localName === 'style' ? n.data : esc(n.data);
    if (n.nodeType !== 1) return '';
    if (n.localName === 'script') return '<script></script>'; // it is counted in paths
    let s = '<' + n.localName;
    for (const a of n.attributes) s += ' ' + a.name + '="' + esc(a.value) + '"';
    if (n === mark) s += ' data-fresh-mark=""';
    s += '>';
    if (empty.has(n.localName)) return s;
    if (n.shadowRoot) {
      s += '<template shadowrootmode="open">';
      for (const c of n.shadowRoot.adoptedStyleSheets || []) s += '<style>' + [...c.cssRules].map(r => r.cssText).join('\n') + '</style>';
      s += [...n.shadowRoot.childNodes].map(write).join('') + '</template>';
    }
    return s + [...n.childNodes].map(write).join('') + '</' + n.localName + '>';
  };
  return write(mark.ownerDocument.documentElement);
}`

// press clicks the element of a step.
func (p *stranger) press(d fresh.Step) {
	p.t.Helper()
	x, y, id := p.reach(d.On, d.Frame)
	p.keeps(d, id)
	_ = p.evaluate(p.page, "window.__was = 1", nil)
	if d.Do == "accept" || d.Do == "dismiss" {
		p.answers(x, y, d.Do == "accept")
		return
	}
	p.clicksAt(x, y, "left", 1, 0)
}

// answers clicks what opens a dialog that holds up the page, and answers it.
func (p *stranger) answers(x, y float64, accept bool) {
	p.t.Helper()
	p.moves(x, y, "none")
	p.mouse("mousePressed", "left", 1, 0)
	done := make(chan error, 1)
	page := p.page
	go func() {
		done <- p.call(page, "Input.dispatchMouseEvent", map[string]any{"type": "mouseReleased", "x": x, "y": y, "button": "left", "clickCount": 1, "pointerType": "mouse"}, nil)
	}()
	p.await("Page.javascriptDialogOpening")
	p.pause()
	p.must(page, "Page.handleJavaScriptDialog", map[string]any{"accept": accept}, nil)
	if err := <-done; err != nil {
		p.t.Fatal(err)
	}
	p.pause()
}

// does carries out one step.
func (p *stranger) does(d fresh.Step) {
	p.t.Helper()
	switch d.Do {
	case "click", "accept", "dismiss":
		p.press(d)
	case "dialog":
		p.keeps(d, "")
	case "type", "slip":
		id, _ := p.object(d.On, d.Frame)
		p.keeps(d, id)
		p.types(d.Text)
		if d.Do == "slip" {
			for range 2 {
				p.presses("Backspace", 0)
			}
			p.types(d.To)
		}
	case "clear":
		p.press(fresh.Step{Do: "click", On: d.On, Frame: d.Frame, Name: d.Name, Types: []string{"click"}})
		p.keeps(fresh.Step{Do: "key", May: []string{"shortcut", "type"}}, "")
		p.presses("a", ctrl, "selectAll")
		p.keeps(fresh.Step{Do: "key", May: []string{"shortcut", "type"}}, "")
		p.presses("Backspace", 0)
		p.pause()
	case "select", "date":
		p.chooses(d)
	case "drag", "drop":
		p.carries(d)
	case "hover":
		x, y, id := p.reach(d.On, d.Frame)
		p.keeps(d, id)
		p.moves(x, y, "none")
		<-time.After(2 * p.looking)
	case "upload":
		id, err := p.object(d.On, d.Frame)
		if err != nil {
			p.t.Fatal(err)
		}
		p.keeps(d, id)
		p.must(p.page, "DOM.setFileInputFiles", map[string]any{"objectId": id, "files": []string{p.file(d.Text, "content of "+d.Text)}}, nil)
		p.pause()
	case "pick":
		x, y, _ := p.reach(d.On, d.Frame)
		p.keeps(d, "")
		p.takesAt(human.TakeElement, d.Text, x, y)
	case "wheel":
		p.keeps(d, "")
		p.must(p.page, "Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": 400, "y": 400, "deltaX": 0, "deltaY": 300}, nil)
		<-time.After(2 * p.looking)
	case "move":
		p.moves(300, 300, "none")
	default:
		p.waits(d)
	}
}

// waits is what a person does between steps, and moves between pages.
func (p *stranger) waits(d fresh.Step) {
	p.t.Helper()
	switch d.Do {
	case "settle":
		p.until("the page to settle", "document.readyState === 'complete' && (!window.__idle || __idle()) && [...document.querySelectorAll('iframe')].every(f => !f.contentWindow.__idle || f.contentWindow.__idle())")
		p.pause()
	case "loaded":
		p.until("another page", "!window.__was && document.readyState === 'complete'")
		p.pause()
	case "at":
		p.until(d.Text, fmt.Sprintf("location.pathname === %s && window.__ready", quoted(d.Text)))
		p.pause()
	case "back":
		p.keeps(d, "")
		p.goes(-1)
		p.until("the page before", "window.__ready")
	case "tab":
		n, err := strconv.Atoi(d.Text)
		if err != nil {
			p.t.Fatal(err)
		}
		p.look(n)
		p.must(p.page, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
		p.until("the other tab", "window.__ready")
		p.pause()
	default:
		p.t.Fatalf("no one knows how to %q", d.Do)
	}
}

// chooses picks an option or a date, in the way that the component has it.
func (p *stranger) chooses(d fresh.Step) {
	p.t.Helper()
	var how string
	key := quoted("how:" + d.On[len("field:"):])
	script := "__find(" + key + ")"
	if d.Frame {
		script = "__find('frame').contentWindow.__find(" + key + ")"
	}
	p.until(d.On, "window.__ready")
	if err := p.evaluate(p.page, script, &how); err != nil {
		p.t.Fatal(err)
	}
	_, _, id := p.reach(d.On, d.Frame)
	switch how {
	case "native":
		p.keeps(d, id)
		var n int
		var r struct{ Result struct{ Value int } }
		p.must(p.page, "Runtime.callFunctionOn", map[string]any{"objectId": id, "returnByValue": true, "arguments": []any{map[string]any{"value": d.Text}}, "functionDeclaration": "function (t) { this.focus(); return [...this.options].findIndex(o => o.textContent === t) - this.selectedIndex; }"}, &r)
		key := "ArrowDown"
		if n = r.Result.Value; n < 0 {
			key, n = "ArrowUp", -n
		}
		for range n {
			p.presses(key, 0)
		}
		p.presses("Enter", 0)
		p.pause()
	case "date":
		p.keeps(d, id)
		p.must(p.page, "Runtime.callFunctionOn", map[string]any{"objectId": id, "functionDeclaration": "function () { this.focus(); }"}, nil)
		p.types(d.Text[5:7] + d.Text[8:10] + d.Text[:4])
	default:
		p.press(fresh.Step{Do: "click", On: d.On, Name: d.Name, Frame: d.Frame, Types: []string{"click", "choose"}})
		p.press(fresh.Step{Do: "click", On: d.To, Name: optionName(d), Frame: d.Frame, Types: []string{"click", "choose"}})
	}
}

func optionName(d fresh.Step) string {
	if d.Do == "date" {
		return d.Text[8:]
	}
	return d.Text
}

// carries drags an element to another.
func (p *stranger) carries(d fresh.Step) {
	p.t.Helper()
	x, y, id := p.reach(d.On, d.Frame)
	toX, toY, _ := p.reach(d.To, d.Frame)
	p.keeps(d, id)
	if d.Do == "drag" {
		p.drags(x, y, toX, toY)
		<-time.After(p.looking)
		return
	}
	p.must(p.page, "Input.setInterceptDrags", map[string]any{"enabled": true}, nil)
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

// newStranger begins a recording of a case, on a server's origin.
func newStranger(t *testing.T, s *study, c fresh.Case, origin string) *stranger {
	t.Helper()
	p := &stranger{c: c, origin: origin}
	p.worker = begin(t, s, corpusCase{name: c.Name, what: c.What, details: c.MarshalDetails(origin)}, s.key)
	p.until("the page to be drawn", "window.__ready")
	if err := os.MkdirAll(filepath.Join(s.folder, "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.files = filepath.Join(s.folder, "files")
	p.pause()
	return p
}
