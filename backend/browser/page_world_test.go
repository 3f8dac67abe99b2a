package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// hostile is what a page may do to find a recorder, or to break it.
const hostile = `
	let on = false, saw = [], note = (what) => { saw[saw.length] = what };
	for (let type of [EventTarget, Node, Element, Document, HTMLElement, HTMLInputElement, Array, String, RegExp, Map, Set, WeakSet, WeakMap, Event, UIEvent, PointerEvent, MutationObserver, IntersectionObserver])
		for (let where of [type, type.prototype])
			for (let name of Object.getOwnPropertyNames(where)) {
				let d = Object.getOwnPropertyDescriptor(where, name);
				if (!d.configurable || name === 'constructor' || name === 'prototype' || typeof name !== 'string') continue;
				let called = type.name + '.' + name;
				let tell = function () { if (!on) return d.get ? d.get.call(this) : d.value.apply(this, arguments); note(called); throw new Error('no') };
				try { Object.defineProperty(where, name, d.get ? { ...d, get: tell } : typeof d.value === 'function' ? { ...d, value: tell } : d) } catch {}
			}
	JSON.stringify = () => { if (on) note('stringify'); return '{}' };
	window.setTimeout = window.requestAnimationFrame = window.getSelection = () => { if (on) note('timers'); };`

// TestPageWorld shows that the page neither sees the script nor breaks it.
func TestPageWorld(t *testing.T) {
	c := startChromium(t)
	const form = `<button id=a>Save</button><label>Name <input id=b></label>`
	use := func(p *testPage) []string {
		p.clickAt(20, 20, "left", 1)
		p.key("Tab", 0)
		p.typed("Ada")
		p.key("Enter", 0)
		return p.lines()
	}
	want := []string{`press button "Save"`, `click button "Save"`, `key Tab button "Save"`, `input textbox "Name" = Ada`, `key Enter textbox "Name"`}

	t.Run("a strict content security policy with trusted types", func(t *testing.T) {
		p := c.open(t, form, func(s *testSite) {
			s.header.Set("Content-Security-Policy", "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'; sandbox allow-scripts")
		})
		if got := use(p); !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
	})

	t.Run("a page that takes its own world to pieces", func(t *testing.T) {
		p := c.open(t, form+`<script>`+hostile+`</script>`)
		if got := use(p); !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
		var saw []string
		p.evaluate("on = false, saw", false, &saw)
		if len(saw) > 0 {
			t.Errorf("the page saw %q", saw)
		}
		p.evaluate("(() => { on = true; try { document.querySelector('a') } catch {} on = false; return saw })()", false, &saw)
		if !slices.Equal(saw, []string{"Document.querySelector"}) {
			t.Errorf("the page would have seen nothing: %q", saw)
		}
	})

	t.Run("nothing is added to the page, and nothing in its world is new", func(t *testing.T) {
		const looks = `JSON.stringify([Object.getOwnPropertyNames(globalThis).filter((n) => /deskbell|secretRects|describe|^take$|^send$/i.test(n)), typeof deskbell, typeof deskbellSend, document.documentElement.outerHTML, changes])`
		const watched = form + `<script>let changes = 0; new MutationObserver((r) => { changes += r.length }).observe(document, {subtree: true, childList: true, attributes: true, characterData: true})</script>`
		p := c.open(t, watched)
		plain := c.open(t, watched, func(s *testSite) { s.bare = true })
		use(p)
		plain.clickAt(20, 20, "left", 1)
		plain.key("Tab", 0)
		plain.typed("Ada")
		plain.key("Enter", 0)
		if got, want := p.text(looks), plain.text(looks); got != want {
			t.Errorf("with the script %s\nwithout %s", got, want)
		}
	})

	t.Run("a page that stops all events still reports", func(t *testing.T) {
		p := c.open(t, form+`<script>for (let type of ['pointerdown', 'click', 'keydown', 'input', 'focusout']) addEventListener(type, (e) => e.stopImmediatePropagation(), true)</script>`)
		if got := use(p); !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
	})

	t.Run("after document.open the script listens again, and once only", func(t *testing.T) {
		p := c.open(t, form)
		p.run("document.open(); document.write(" + quoted(form) + "); document.close()")
		source, err := script(pageConfig{Clipboard: true})
		if err != nil {
			t.Fatal(err)
		}
		p.evaluate(source+source, true, nil)
		if got := use(p); !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
	})

	t.Run("what is typed when the page goes is reported", func(t *testing.T) {
		p := c.open(t, form, func(s *testSite) { s.pages["/next"] = "<title>Next</title>" })
		p.run("b.focus(); b.oninput = () => { if (b.value === 'Ada') location.href = '/next' }")
		p.typed("Ada")
		if e := p.wait(human.PageInput, nil); e.Text != "Ada" {
			t.Errorf("reported %q", e.Text)
		}
	})

	t.Run("messages are numbered, and name the address they come from", func(t *testing.T) {
		p := c.open(t, form)
		p.click("#a")
		p.run("history.pushState(null, '', '/two?token=abcdef')")
		p.click("#a")
		p.lines()
		for i, m := range p.from {
			if m.Number != uint64(i+1) || m.Origin <= 0 || m.At <= 0 || (i > 1) != strings.HasSuffix(m.Href, "/two?token=•••") {
				t.Errorf("message %d: %+v", i, m)
			}
		}
		if len(p.from) != 4 {
			t.Errorf("%d events", len(p.from))
		}
	})

	t.Run("it stops, and begins again", func(t *testing.T) {
		p := c.open(t, form)
		p.run("b.focus()")
		p.typed("Ad")
		p.evaluate("deskbell.stop()", true, nil)
		p.typed("a")
		p.click("#a")
		if got := p.lines(); !slices.Equal(got, []string{`input textbox "Name" = Ad`}) {
			t.Errorf("reported %q", got)
		}
		p.evaluate("deskbell.arm()", true, nil)
		p.click("#a")
		if got := p.lines(); !slices.Equal(got[1:], want[:2]) {
			t.Errorf("reported %q", got)
		}
	})

	t.Run("places, and where the viewport stands", func(t *testing.T) {
		p := c.open(t, `<button style="position:absolute;left:100px;top:200px;width:80px;height:40px">Go</button>`)
		p.mouse("mouseMoved", 140, 220, nil)
		p.mouse("mousePressed", 140, 220, args{"button": "left", "clickCount": 1, "buttons": 1})
		p.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))", true, nil)
		p.mouse("mouseReleased", 140, 220, args{"button": "left", "clickCount": 1})
		e := p.wait(human.PageClick, nil)
		if e.X != 140 || e.Y != 220 || e.Element.Bounds != (human.Bounds{X: 100, Y: 200, W: 80, H: 40}) || e.Page == nil || e.Page.W != 1000 || e.Page.H < 500 || e.Page.Scale != 1 {
			t.Errorf("%+v %+v %+v", e, e.Element, e.Page)
		}
	})

	t.Run("the tab comes to the front", func(t *testing.T) {
		p := c.open(t, form)
		p.call("Emulation.setFocusEmulationEnabled", args{"enabled": false})
		other := c.open(t, form)
		other.call("Page.bringToFront", nil)
		p.until("it is in the back", func() bool { return p.text("document.visibilityState") == "hidden" })
		p.call("Page.bringToFront", nil)
		p.wait(human.PageShown, nil)
	})

	t.Run("files that are chosen", func(t *testing.T) {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.txt": "hello", "b.csv": "1,2"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p := c.open(t, `<input type=file multiple id=a aria-label=Files><div id=drop role=region aria-label=Here style="width:300px;height:100px"></div><script>drop.ondragover = drop.ondrop = (e) => e.preventDefault()</script>`)
		var node struct{ Result struct{ ObjectID string } }
		c.call(t, p.session, "Runtime.evaluate", args{"expression": "document.querySelector('#a')"}, &node)
		p.call("DOM.setFileInputFiles", args{"files": []string{filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.csv")}, "objectId": node.Result.ObjectID})
		p.wait(human.PageUpload, nil)
		x, y := p.at("#drop")
		data := args{"items": []args{}, "files": []string{filepath.Join(dir, "b.csv")}, "dragOperationsMask": 1}
		for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
			p.call("Input.dispatchDragEvent", args{"type": kind, "x": x, "y": y, "data": data})
		}
		p.wait(human.PageUpload, func(e human.RecordedEvent) bool { return e.Element.Name == "Here" })
		if got := p.lines(); !slices.Equal(got, []string{`upload button "Files" a.txt:5 b.csv:3`, `upload region "Here" b.csv:3`}) {
			t.Errorf("reported %q", got)
		}
	})

	for name, tt := range map[string]struct{ on, want, beside string }{
		"a list": {`<div id=b role=list aria-label=Done style="width:300px;height:100px"></div>`, `drag listitem "Boat" list "Done"`, ""},
		"the second card of a list": {`<section><h3>Review</h3><p>Sail</section><section><h3>Done</h3><p>Mast<p id=b style="width:300px;height:100px">Keel</section>`,
			`drag listitem "Boat" paragraph "Keel"`, "Done"},
	} {
		t.Run("a drag and drop of the page's own, on "+name, func(t *testing.T) {
			p := c.open(t, `<ul><li id=a draggable=true>Boat</ul>`+tt.on+`<script>a.ondragstart = (e) => e.dataTransfer.setData('text', 'x'); b.ondragover = b.ondrop = (e) => e.preventDefault()</script>`)
			p.call("Input.setInterceptDrags", args{"enabled": true})
			x, y := p.at("#a")
			toX, toY := p.at("#b")
			p.mouse("mouseMoved", x, y, nil)
			p.mouse("mousePressed", x, y, args{"button": "left", "clickCount": 1, "buttons": 1})
			p.mouse("mouseMoved", x+20, y+5, args{"button": "left", "buttons": 1})
			p.mouse("mouseMoved", x+40, y+10, args{"button": "left", "buttons": 1})
			p.until("the drag begins", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return p.dragged != nil })
			for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
				p.call("Input.dispatchDragEvent", args{"type": kind, "x": toX, "y": toY, "data": json.RawMessage(p.dragged)})
			}
			p.mouse("mouseReleased", toX, toY, args{"button": "left", "clickCount": 1})
			e := p.wait(human.PageDrag, nil)
			if got := p.lines(); !slices.Equal(got, []string{`press listitem "Boat"`, tt.want}) || e.X != int(x) || e.ToX != int(toX) || e.ToY != int(toY) || e.Target.Beside != tt.beside {
				t.Errorf("reported %q, %+v, beside %q", got, e, e.Target.Beside)
			}
		})
	}
}

// TestPageTakes picks elements, and asks where secret fields are.
func TestPageTakes(t *testing.T) {
	c := startChromium(t)
	p := c.open(t, `<h1 id=h>Boats &amp; more</h1><input id=i value="12.50"><input id=pw type=password value=hunter2 style="position:absolute;left:10px;top:300px;width:100px;height:20px">
		<select id=s><option>DE<option selected>CN</select><p id=tok>Bearer a8f5f167f44f4964e6c998dee827110c</p>
		<table id=t><tr><th>Name<th>Size<tr><td id=cell><b>Ada</b><td>12<tr><td rowspan=2>Bob<td><input value=7><tr><td>8</table>
		<div id=g role=table><div role=row><span role=columnheader>A</span></div><div role=row><span role=cell>1</span></div></div>
		<ul id=u><li>One<li id=two>Two<ul><li>Deep</ul></ul><div id=cards><div class=card>X</div><div class=card id=y>Y</div></div>
		<div id=host style="position:absolute;left:200px;top:300px"></div><script>host.attachShadow({mode: 'open'}).innerHTML = '<input autocomplete=cc-number style="position:absolute;left:0;top:0;width:50px;height:10px">'</script>`)
	for name, tt := range map[string]struct{ call, want string }{
		"a text":           {`take('element', h)`, `Boats & more`},
		"a field's value":  {`take('element', i)`, `12.50`},
		"a select":         {`take('element', s)`, `CN`},
		"a password":       {`take('element', pw)`, `•••`},
		"a token":          {`take('element', tok)`, `Bearer •••`},
		"a text node":      {`take('element', h.firstChild)`, `Boats & more`},
		"a table":          {`take('table', cell)`, `[["Name","Size"],["Ada","12"],["Bob","7"],["Bob","8"]]`},
		"a table of roles": {`take('table', g.lastChild)`, `[["A"],["1"]]`},
		"a list":           {`take('list', u.querySelector('li'))`, `[["One"],["Two Deep"]]`},
		"a list of cards":  {`take('list', y)`, `[["X"],["Y"]]`},
		"no table":         {`take('table', h) || {text: 'none'}`, `none`},
		"no selection":     {`take('selection', null) || {text: 'none'}`, `none`},
		"a selection":      {`(getSelection().selectAllChildren(h), take('selection', null))`, `Boats & more`},
	} {
		t.Run(name, func(t *testing.T) {
			var got struct {
				Text    string
				Rows    [][]string
				Header  bool
				Cut     int
				Bounds  human.Bounds
				Element *human.Element
			}
			p.evaluate(`(() => { const [h, i, s, pw, tok, cell, g, u, y] = ['h', 'i', 's', 'pw', 'tok', 'cell', 'g', 'u', 'y'].map((n) => document.getElementById(n)); const r = `+tt.call+`; getSelection().removeAllRanges(); return r })()`, true, &got)
			if got.Text != tt.want || got.Header != (strings.Contains(name, "a table")) || got.Cut != 0 {
				t.Errorf("took %+v", got)
			}
			if got.Text != "none" && (got.Bounds.W <= 0 || got.Bounds.H <= 0 || got.Element == nil || len(got.Element.Selectors) == 0) {
				t.Errorf("took %+v of %+v", got.Bounds, got.Element)
			}
		})
	}
	t.Run("where secret fields are", func(t *testing.T) {
		var got []human.Bounds
		p.evaluate(`secretRects().sort((a, b) => a.x - b.x)`, true, &got)
		if len(got) != 2 || got[0].X != 10 || got[0].Y != 300 || got[0].W < 100 || got[1].X != 200 || got[1].W < 50 {
			t.Errorf("%+v", got)
		}
	})
}

func TestMessagesOfPagesAreBounded(t *testing.T) {
	t.Parallel()
	event := func(e string) string {
		return `{"v":1,"n":7,"ts":12.5,"origin":1000,"href":"https://x.test/","events":[` + e + `]}`
	}
	for name, payload := range map[string]string{
		"nothing": ``, "no JSON": `{"v":1`, "another version": `{"v":2}`, "an array": `[]`, "time before the document": `{"v":1,"ts":-1}`, "a time without sense": `{"v":1,"ts":1e300}`,
		"a type that pages do not report": event(`{"type":"page_download"}`), "a type of the recorder": event(`{"type":"ended"}`), "an X that is none": event(`{"type":"page_click","x":1.5}`),
		"too long": event(`{"type":"page_input","text":"` + strings.Repeat("x", maxPayload) + `"}`), "too many": event(strings.Repeat(`{"type":"page_click"},`, maxEvents) + `{"type":"page_click"}`),
	} {
		if m, err := decode(payload); err == nil {
			t.Errorf("%s was read: %+v", name, m)
		}
	}
	m, err := decode(event(`{"type":"page_input","seq":9,"t_mono_ns":5,"source":"input","caused_by":3,"picture":"abc","x":99999999999,"count":-4,"text":"` + strings.Repeat("é", 15_000) +
		`","modifiers":["meta","ctrl","evil"],"hidden":"nonsense","gap":{"reason":"lost"},"dom":{"a":1},"values":["\ud800"],"transfers":[{"name":"../../etc/passwd","size":-1,"sha256":"x","state":"completed"}],
		"element":{"role":"textbox","states":["checked","evil"],"ancestry":[{"role":"x"}],"selectors":[[],["a"],["` + strings.Repeat("y", 5000) + `"]],"bounds":{"w":-5}},"page":{"target":"t9","url":"https://evil.test","w":10,"h":20,"scale":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	e := m.Events[0]
	if m.Number != 7 || m.At != 12.5 || m.Origin != 1000 || e.Seq != 0 || e.At != 0 || e.Source != "" || e.CausedBy != 0 || e.Picture != "" || e.X != maxPlace || e.Count != 0 || e.Gap != nil || e.DOM != nil || e.Hidden != "" {
		t.Errorf("%+v", e)
	}
	if len(e.Text) > maxText || !strings.HasSuffix(e.Text, "é") || !slices.Equal(e.Modifiers, []string{"ctrl", "meta"}) || e.Transfers[0] != (human.Transfer{Name: "passwd"}) {
		t.Errorf("%+v", e)
	}
	if el := e.Element; !slices.Equal(el.States, []string{"checked"}) || el.Ancestry != nil || len(el.Selectors) != 1 || el.Bounds.W != 0 || e.Page.Target != "" || e.Page.URL != "" || e.Page.W != 10 {
		t.Errorf("%+v %+v", el, e.Page)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"v":1,"n":1,"ts":1,"origin":1,"href":"x","events":[{"type":"page_click","element":{"role":"button","selectors":[["a","b"]]},"values":["x"],"transfers":[{"name":"/"}]}]}`)
	f.Fuzz(func(t *testing.T, payload string) {
		m, err := decode(payload)
		if err != nil {
			return
		}
		for _, e := range m.Events {
			if len(e.Text) > maxText || len(e.Values) > maxValues || !slices.Contains(fromPages, e.Type) {
				t.Errorf("%+v", e)
			}
		}
	})
}
