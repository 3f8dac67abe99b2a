package browser

import (
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// board has two lists of cards, and drag, which moves one by the pointer.
const board = `<style>[role=list] { position: absolute; top: 20px; width: 200px; height: 300px } [role=group] { width: 150px; height: 50px; background: silver; margin: 5px; user-select: none }</style>
	<div role=list aria-label=Todo style="left: 20px"><div role=group aria-label=Fix><span id=a>Fix it</span> <b>bug</b></div><div role=group aria-label=Test>Test it</div></div>
	<div role=list aria-label=Done style="left: 400px"><div role=group aria-label=Plan>Plan it</div><div role=group aria-label=Ship id=b>Ship it</div></div>
	<script>function drag(move) {
		let card
		addEventListener('pointerdown', (e) => { card = e.target.closest('[role=group]'); e.preventDefault() })
		addEventListener('pointermove', (e) => { if (card) move(card, e.clientX, e.clientY) })
		addEventListener('pointerup', () => { card = null })
	}</script>`

// drags drags one element onto another, as slowly as a person.
func (p *testPage) drags(from, onto string) {
	p.t.Helper()
	x, y := p.at(from)
	toX, toY := p.at(onto)
	p.mouse("mouseMoved", x, y, nil)
	p.mouse("mousePressed", x, y, args{"button": "left", "clickCount": 1, "buttons": 1})
	for i := 1.0; i <= 12; i++ {
		p.mouse("mouseMoved", x+(toX-x)*min(i, 10)/10, y+(toY-y)*min(i, 10)/10, args{"button": "left", "buttons": 1})
		p.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 5)))", true, nil)
	}
	p.mouse("mouseReleased", toX, toY, args{"button": "left", "clickCount": 1})
}

// A pageCase is what is done in a page, and what is reported of it.
type pageCase struct {
	html string
	do   func(p *testPage)
	want []string
}

// dialogUnder has a dialog come where the pointer is, on an element of that class which covers the page.
func dialogUnder(class string) pageCase {
	return pageCase{
		`<button id=a>Delete</button><script>a.onclick = () => setTimeout(() => { let o = document.createElement('div'); o.className = 'overlay'; o.innerHTML = '<div id=s class="' + '` + class + `' + '" style="position:fixed;inset:0"></div>'; document.body.append(o);
			setTimeout(() => { let d = document.createElement('div'); d.className = 'overlay-content'; d.innerHTML = '<button>Yes</button>'; o.append(d) }, 300) }, 50)</script>`,
		func(p *testPage) {
			p.click("#a")
			p.evaluate("new Promise((done) => setTimeout(done, 150))", true, nil)
			p.mouse("mouseMoved", 300, 300, nil)
			p.mouse("mouseMoved", 320, 300, nil)
			p.rest()
		},
		[]string{`press button "Delete"`, `click button "Delete"`},
	}
}

// rest waits until a page has drawn what was done in it.
func (p *testPage) rest() {
	p.evaluate("new Promise((done) => setTimeout(done, 400))", true, nil)
}

// TestPage drives real pages with the input of a person, and reads what the page script reports of it.
func TestPage(t *testing.T) {
	c := startChromium(t)
	for name, tt := range map[string]pageCase{
		"a click is reported with the button as it was before it changed": {
			`<button id=a>Save</button><script>a.onmousedown = () => { a.textContent = 'Saving' }; a.onclick = () => { a.textContent = 'Saved' }</script>`,
			func(p *testPage) { p.click("#a") },
			[]string{`press button "Save"`, `click button "Save"`},
		},
		"a click on what lies in a link is one on the link": {
			`<a href="#b"><svg width=20 height=20><path id=a d="M0 0h20v20H0z"/></svg> <b>Read on</b></a>`,
			func(p *testPage) { p.click("#a") },
			[]string{`press link "Read on"`, `click link "Read on"`},
		},
		"a double click and a triple click": {
			`<p id=a>Some words</p>`,
			func(p *testPage) { x, y := p.at("#a"); p.clickAt(x, y, "left", 3) },
			[]string{`press paragraph "Some words"`, `click paragraph "Some words"`, `press paragraph "Some words"`, `click x2 paragraph "Some words"`, `press paragraph "Some words"`, `click x3 paragraph "Some words"`},
		},
		"a right click is one click": {
			`<button id=a>Menu</button><script>a.oncontextmenu = (e) => e.preventDefault()</script>`,
			func(p *testPage) { x, y := p.at("#a"); p.clickAt(x, y, "right", 1) },
			[]string{`press button3 button "Menu"`, `click button3 button "Menu"`},
		},
		"a middle click": {
			`<button id=a>New</button>`,
			func(p *testPage) { x, y := p.at("#a"); p.clickAt(x, y, "middle", 1) },
			[]string{`press button2 button "New"`, `click button2 button "New"`},
		},
		"a button that is pressed by keys is no click as well": {
			`<button id=a>Go</button><script>a.onclick = () => { a.dataset.n = (a.dataset.n || '') + 'x' }; a.focus()</script>`,
			func(p *testPage) {
				p.key("Enter", 0)
				p.key(" ", 0)
				if n := p.text("a.dataset.n"); n != "xx" {
					p.t.Errorf("the page was clicked %q", n)
				}
			},
			[]string{`key Enter button "Go"`, `key   button "Go"`},
		},
		"a click on a label is no second click on its box": {
			`<label id=a>Agree <input type=checkbox></label>`,
			func(p *testPage) { x, y := p.at("#a"); p.clickAt(x-20, y, "left", 1) },
			[]string{`press label "Agree"`, `click label "Agree"`, `choice checkbox "Agree" [checked]`},
		},
		"a check box says what it became": {
			`<input type=checkbox id=a aria-label=Mail checked>`,
			func(p *testPage) { p.click("#a") },
			[]string{`press checkbox "Mail"`, `click checkbox "Mail" [unchecked]`, `choice checkbox "Mail" [unchecked]`},
		},
		"a switch that the page draws says what it became": {
			`<button role=switch aria-checked=false aria-label=Mail id=a></button><script>a.onclick = () => setTimeout(() => a.setAttribute('aria-checked', 'true'), 30)</script>`,
			func(p *testPage) { p.click("#a"); p.rest() },
			[]string{`press switch "Mail"`, `click switch "Mail"`, `choice switch "Mail" [checked]`},
		},
		"so does a part that is drawn beside a box": {
			`<div><div><input type=checkbox role=switch aria-label=Mail id=b style="opacity:0;width:0" checked><span></span><span id=a style="display:inline-block;width:40px;height:20px"></span></div></div><script>a.onclick = () => { b.checked = false }</script>`,
			func(p *testPage) { p.click("#a"); p.rest() },
			[]string{`press generic`, `click generic`, `choice switch "Mail" [unchecked]`},
		},
		"one that stays as it was says nothing": {
			`<button role=switch aria-checked=false aria-label=Mail id=a></button><div><span id=c>Row</span><input type=checkbox></div>`,
			func(p *testPage) { p.click("#a"); p.click("#c"); p.rest() },
			[]string{`press switch "Mail"`, `click switch "Mail"`, `press generic "Row"`, `click generic "Row"`},
		},
		"radio buttons by keys": {
			`<label><input type=radio name=n id=a checked> One</label><label><input type=radio name=n> Two</label><script>a.focus()</script>`,
			func(p *testPage) { p.key("ArrowDown", 0) },
			[]string{`choice radio "Two" [checked]`},
		},
		"what a script does is not reported": {
			`<button id=a>Go</button><input id=b>`,
			func(p *testPage) {
				p.run(`a.click(); a.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true})); b.value = 'x';
					b.dispatchEvent(new InputEvent('input', {bubbles: true})); b.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true})); scrollTo(0, 9)`)
			},
			nil,
		},
		"typing is what stands in the field, Tab ends it": {
			`<label>Name <input id=a></label><input><script>a.focus()</script>`,
			func(p *testPage) {
				p.typed("Adda")
				p.key("Backspace", 0)
				p.key("Backspace", 0)
				p.typed("a Löve")
				p.key("Tab", 0)
			},
			[]string{`input textbox "Name" = Ada Löve`, `key Tab textbox "Name"`},
		},
		"Enter sends what was typed though the page empties the field": {
			`<input id=a aria-label=Say><script>a.onkeydown = (e) => { if (e.key === 'Enter') a.value = '' }; a.focus()</script>`,
			func(p *testPage) { p.typed("Hello"); p.key("Enter", 0); p.typed("Bye"); p.key("Enter", 0) },
			[]string{`input textbox "Say" = Hello`, `key Enter textbox "Say"`, `input textbox "Say" = Bye`, `key Enter textbox "Say"`},
		},
		"Enter in a text of several lines is a line of it, unless the page takes it": {
			`<textarea id=a aria-label=Text></textarea><script>a.focus(); a.onkeydown = (e) => { if (e.key === 'Enter' && a.value.includes('\n')) e.preventDefault() }</script>`,
			func(p *testPage) {
				p.typed("one")
				p.key("Enter", 0)
				p.typed("two")
				p.key("Enter", 0)
				p.wait(human.PageKey, nil)
			},
			[]string{"input textbox \"Text\" = one\ntwo", `key Enter textbox "Text"`},
		},
		"typing is reported while it goes on": {
			`<input id=a aria-label=Name><script>a.focus()</script>`,
			func(p *testPage) { p.typed("Ad"); p.wait(human.PageInput, nil); p.typed("a") },
			[]string{`input textbox "Name" = Ad`, `input textbox "Name" = Ada`},
		},
		"an input method's text, and none of its keys": {
			`<input id=a aria-label=Name><script>a.focus()</script>`,
			func(p *testPage) {
				p.call("Input.imeSetComposition", args{"text": "ni", "selectionStart": 2, "selectionEnd": 2})
				p.call("Input.imeSetComposition", args{"text": "nihao", "selectionStart": 5, "selectionEnd": 5})
				p.call("Input.insertText", args{"text": "你好"})
				p.key("Enter", 0)
			},
			[]string{`input textbox "Name" = 你好`, `key Enter textbox "Name"`},
		},
		"an editable element, with its lines": {
			`<div id=a contenteditable aria-label=Note></div><script>a.focus()</script>`,
			func(p *testPage) { p.typed("one"); p.key("Enter", 0); p.typed("two"); p.click("#a") },
			[]string{"input textbox \"Note\" = one\ntwo", `press textbox "Note"`, `click textbox "Note"`},
		},
		"a select by keys": {
			`<label>Colour <select id=a><option>Red<option value=g>Green</select></label><script>a.focus()</script>`,
			func(p *testPage) { p.key("ArrowDown", 0) },
			[]string{`choice combobox "Colour" [Green]`},
		},
		"several options": {
			`<select id=a multiple aria-label=Days><option>Mon<option>Tue<option>Wed</select><script>a.focus()</script>`,
			func(p *testPage) { p.key("ArrowDown", 0); p.key("ArrowDown", shiftKey) },
			[]string{`choice listbox "Days" [Mon]`, `choice listbox "Days" [Mon, Tue]`},
		},
		"a date that is typed": {
			`<label>Day <input type=date id=a></label><script>a.focus()</script>`,
			func(p *testPage) { p.typed("12312026") },
			[]string{`choice textbox "Day" [2026-12-31]`},
		},
		"a slider by keys": {
			`<input type=range id=a min=0 max=10 value=5 aria-label=Volume><script>a.focus()</script>`,
			func(p *testPage) { p.key("ArrowRight", 0) },
			[]string{`choice slider "Volume" [6]`},
		},
		"shortcuts, and letters that are commands": {
			`<body><script>onkeydown = (e) => e.preventDefault()</script>`,
			func(p *testPage) {
				p.key("s", ctrlKey)
				p.key("Shift", shiftKey)
				p.key("Escape", 0)
				p.key("j", 0)
				p.key("ArrowLeft", altKey|shiftKey)
			},
			[]string{`key ctrl+s generic`, `key Escape generic`, `key j generic`, `key alt+shift+ArrowLeft generic`},
		},
		"letters that a picture takes are counted, and not reported": {
			`<canvas id=a tabindex=0 aria-label=Screen></canvas><script>a.focus()</script>`,
			func(p *testPage) { p.typed("hunter"); p.key("Enter", 0) },
			[]string{`input canvas "Screen" hidden:unknown_field(6)`, `key Enter canvas "Screen"`},
		},
		"a box to choose from, of the page's own": {
			`<input id=a role=combobox aria-label=City aria-expanded=false><ul id=l role=listbox hidden><li role=option><b>Ber</b>lin</li></ul>
				<script>a.oninput = () => { l.hidden = false }; l.onmousedown = (e) => { e.preventDefault(); a.value = 'Berlin'; l.hidden = true }; a.focus()</script>`,
			func(p *testPage) { p.typed("Ber"); p.click("li"); p.key("Tab", 0) },
			[]string{`input combobox "City" = Ber`, `press option "Berlin"`, `click option "Berlin"`, `key Tab combobox "City"`},
		},
		"shortcuts in a field": {
			`<input id=a aria-label=Name value=Ada><script>a.focus()</script>`,
			func(p *testPage) { p.key("a", ctrlKey); p.key("ArrowLeft", 0); p.key("ArrowDown", 0) },
			[]string{`key ctrl+a textbox "Name"`, `key ArrowDown textbox "Name"`},
		},
		"copying, cutting and pasting": {
			`<input id=a aria-label=From value=Ada><input id=b aria-label=To><script>a.select()</script>`,
			func(p *testPage) {
				p.key("c", ctrlKey)
				p.key("x", ctrlKey)
				p.run("b.focus()")
				p.key("v", ctrlKey)
				if got := p.text("b.value"); got != "Ada" {
					p.t.Errorf("pasted %q", got)
				}
			},
			[]string{`key ctrl+c textbox "From"`, `copy textbox "From" = Ada [copy]`, `key ctrl+x textbox "From"`, `copy textbox "From" = Ada [cut]`,
				`input textbox "From"`, `key ctrl+v textbox "To"`, `paste textbox "To"`, `input textbox "To" = Ada`},
		},
		"the page is scrolled, and reported where it rests": {
			`<div style="height:5000px">Long</div>`,
			func(p *testPage) {
				p.mouse("mouseWheel", 200, 200, args{"deltaX": 0, "deltaY": 300})
				p.mouse("mouseWheel", 200, 200, args{"deltaX": 0, "deltaY": 200})
				p.until("it is there", func() bool { return p.text("scrollY") == "500" })
				if e := p.wait(human.PageScrolled, func(e human.RecordedEvent) bool { return e.ToY == 500 }); e.Element != nil {
					p.t.Errorf("an element scrolled: %+v", e.Element)
				}
			},
			[]string{`scroll`},
		},
		"an element is scrolled": {
			`<div id=a role=region aria-label=List style="height:100px;overflow:auto"><div style="height:900px">Long</div></div>`,
			func(p *testPage) {
				x, y := p.at("#a")
				p.mouse("mouseWheel", x, y, args{"deltaX": 0, "deltaY": 120})
				p.wait(human.PageScrolled, func(e human.RecordedEvent) bool { return e.ToY == 120 })
			},
			[]string{`scroll region "List"`},
		},
		"a drag by the pointer": {
			`<div id=a role=listitem style="width:50px;height:50px;background:red">One</div><div id=b role=region aria-label=Done style="position:absolute;left:300px;top:300px;width:200px;height:200px"></div>
				<script>a.onpointerdown = (e) => { e.preventDefault(); a.setPointerCapture(e.pointerId) };
				a.onpointermove = (e) => { if (e.buttons) a.style.cssText += ';position:absolute;left:' + (e.clientX - 25) + 'px;top:' + (e.clientY - 25) + 'px' }</script>`,
			func(p *testPage) { p.drag("#a", 400, 400) },
			[]string{`press generic "One"`, `drag generic "One" region "Done"`},
		},
		"a card that takes its place in a list while it is dragged": {
			board + `<script>drag((card, x, y) => { const e = document.elementFromPoint(x, y).closest('[role=group]'); if (e && e !== card) e.before(card) })</script>`,
			func(p *testPage) { p.drags("#a", "#b") },
			[]string{`press generic "Fix it"`, `drag generic "Fix it" group "Ship"`},
		},
		"a card that lies in its new list before it is dropped": {
			board + `<script>let lists = document.querySelectorAll('[role=list]'); lists[1].removeAttribute('aria-label'); lists[1].lastChild.id = ''
				drag((card, x, y) => { const e = document.elementFromPoint(x, y).closest('[role=list]'); if (e) e.append(card) })</script><i id=end style="position:absolute;left:450px;top:290px;pointer-events:none">.</i>`,
			func(p *testPage) { p.drags("#a", "#end") },
			[]string{`press generic "Fix it"`, `drag generic "Fix it" list "Plan it Ship it"`},
		},
		"a card whose copy is dragged, and that stays in the list as its place": {
			board + `<script>let copy; drag((card, x, y) => {
				if (!copy) { copy = card.cloneNode(true); copy.id = ''; copy.style.cssText = 'position:fixed;width:150px;pointer-events:none'; document.body.append(copy); card.style.opacity = 0.3 }
				copy.style.left = x + 'px'; copy.style.top = y + 'px'
				const e = document.elementFromPoint(x, y).closest('[role=group]'); if (e && e !== card) e.before(card)
			})</script>`,
			func(p *testPage) { p.drags("#a", "#b") },
			[]string{`press generic "Fix it"`, `drag generic "Fix it" group "Ship"`},
		},
		"a card whose copy lies over its target": {
			board + `<script>let copy; drag((card, x, y) => {
				if (!copy) { copy = card.cloneNode(true); copy.id = ''; copy.style.cssText = 'position:fixed;width:150px'; document.body.append(copy) }
				copy.style.left = x - 20 + 'px'; copy.style.top = y - 5 + 'px'
			})</script>`,
			func(p *testPage) { p.drags("#a", "#b") },
			[]string{`press generic "Fix it"`, `drag generic "Fix it" group "Ship"`},
		},
		"a text that scrolls in its field is no scroll": {
			`<input id=a aria-label=Note style="width:60px"><script>a.value = 'wide'.padEnd(90, '.'); a.focus()</script>`,
			func(p *testPage) {
				p.key("End", 0)
				p.key("Home", 0)
				p.key("End", 0)
				p.drag("#a", 500, 20)
				p.typed("x")
				p.run("a.value = 'wide'")
				p.key("Tab", 0)
			},
			[]string{`press textbox "Note"`, `click generic`, `input textbox "Note" = wide`, `key Tab textbox "Note"`},
		},
		"what a script scrolls elsewhere is no scroll": {
			`<div id=b style="height:50px;overflow:auto"><p style="height:900px"></div><div id=a style="height:50px">Here</div><script>a.onwheel = () => { b.scrollTop += 30 }; a.onclick = () => { b.scrollTop = 300 }</script>`,
			func(p *testPage) {
				x, y := p.at("#a")
				p.mouse("mouseWheel", x, y, args{"deltaX": 0, "deltaY": 30})
				p.click("#a")
				p.evaluate("new Promise((done) => setTimeout(done, 400))", true, nil)
			},
			[]string{`press generic "Here"`, `click generic "Here"`},
		},
		"blank lines of an editor": {
			`<div id=a contenteditable aria-label=Note><p><br></p></div><script>a.focus(); document.execCommand('defaultParagraphSeparator', false, 'p')</script>`,
			func(p *testPage) {
				for _, line := range []string{"one", "", "three"} {
					p.typed(line)
					if line != "three" {
						p.key("Enter", 0)
					}
				}
				p.key("Tab", 0)
			},
			[]string{"input textbox \"Note\" = one\n\nthree", `key Tab textbox "Note"`},
		},
		"an editor that makes its lines itself": {
			`<div id=a contenteditable aria-label=Note><p>x</p></div><script>a.focus(); getSelection().collapse(a.firstChild, 1)
				a.onkeydown = (e) => { if (e.key === 'Enter') { e.preventDefault(); const p = document.createElement('p'); p.append(document.createElement('br')); a.append(p); getSelection().collapse(p, 0) } }</script>`,
			func(p *testPage) {
				p.typed("y")
				p.key("Enter", 0)
				p.key("Enter", 0)
				p.typed("z")
				p.key("Tab", 0)
			},
			[]string{"input textbox \"Note\" = xy\n\nz", `key Tab textbox "Note"`},
		},
		"an editor that takes out what is typed": {
			`<textarea id=a aria-label=Code></textarea><pre id=b></pre><script>a.focus(); a.oninput = () => { b.textContent += a.value; a.value = '' }</script>`,
			func(p *testPage) { p.typed("let a = 1"); p.key("Tab", 0) },
			[]string{`input textbox "Code" = let a = 1`, `key Tab textbox "Code"`},
		},
		"an editor that writes what is typed itself": {
			`<div id=a contenteditable aria-label=Note></div><script>a.focus(); a.onbeforeinput = (e) => { e.preventDefault(); a.textContent += e.data; getSelection().collapse(a, 1) }</script>`,
			func(p *testPage) { p.typed("Total"); p.key("Tab", 0) },
			[]string{`input textbox "Note" = Total`, `key Tab textbox "Note"`},
		},
		"an editor that draws its text": {
			`<canvas id=a tabindex=0 aria-label=Sheet width=200 height=50></canvas><script>a.editContext = new EditContext(); a.focus()</script>`,
			func(p *testPage) { p.typed("Total"); p.key("Tab", 0) },
			[]string{`input canvas "Sheet" = Total`, `key Tab canvas "Sheet"`},
		},
		"a select that is changed twice": {
			`<label>Colour <select id=a><option>Red<option>Green<option>Blue</select></label><script>a.focus()</script>`,
			func(p *testPage) { p.key("ArrowDown", 0); p.key("ArrowDown", 0) },
			[]string{`choice combobox "Colour" [Green]`, `choice combobox "Colour" [Blue]`},
		},
		"selecting text is no drag": {
			`<p id=a>Some words to select</p>`,
			func(p *testPage) { p.drag("#a", 160, 25) },
			[]string{`press paragraph "Some words to select"`, `click paragraph "Some words to select"`},
		},
		"buttons that a style shows, with nothing that says so": {
			`<style>.c > .t { display: none } .c:hover > .t { display: block }</style><div class=c style="width:300px;height:100px"><div><p id=a>Boat</p></div><div class=t><button id=b>Delete</button></div></div>`,
			func(p *testPage) {
				p.evaluate("new Promise((done) => requestIdleCallback(() => requestAnimationFrame(() => requestAnimationFrame(done))))", true, nil)
				x, y := p.at("#a")
				p.mouse("mouseMoved", x, y, nil)
				p.wait(human.PageHover, nil)
				p.click("#b")
			},
			[]string{`hover paragraph "Boat"`, `press button "Delete"`, `click button "Delete"`},
		},
		"a menu that a script shows": {
			`<div id=h><span id=a>More</span></div><div id=m style="display: none"><button id=b>Copy</button></div><script>h.onmouseenter = () => { m.style.display = 'block' }</script>`,
			func(p *testPage) {
				x, y := p.at("#a")
				p.mouse("mouseMoved", x, y, nil)
				p.wait(human.PageHover, nil)
				p.click("#b")
			},
			[]string{`hover generic "More"`, `press button "Copy"`, `click button "Copy"`},
		},
		"a menu in the button that it belongs to is no part of its name": {
			`<style>#a ul { display: none } #a:hover ul { display: block }</style><nav class=menu><div id=a role=button tabindex=0 class=dropdown>More<ul class=menu><li id=b role=menuitem tabindex=0>Copy</ul></div></nav>`,
			func(p *testPage) {
				// Menus are looked for when the page is idle, and known after a frame.
				p.evaluate("new Promise((done) => requestIdleCallback(() => requestAnimationFrame(() => requestAnimationFrame(done))))", true, nil)
				x, y := p.at("#a")
				p.mouse("mouseMoved", x, y, nil)
				e := p.wait(human.PageHover, nil)
				for _, list := range e.Element.Selectors {
					if strings.Contains(strings.Join(list, " "), "Copy") {
						p.t.Errorf("found by what is in the menu: %q", list)
					}
				}
			},
			[]string{`hover button "More"`},
		},
		"a tip that a style shows is no hover": {
			`<style>.t { display: none } .c:hover .t { display: block }</style><div class=c><span id=a>Boat</span><div class=t style="position:fixed">A tip</div></div><p><button id=b style="margin-top:99px">Go</button>`,
			func(p *testPage) {
				p.evaluate("new Promise((done) => requestIdleCallback(() => requestAnimationFrame(() => requestAnimationFrame(done))))", true, nil)
				x, y := p.at("#a")
				p.mouse("mouseMoved", x, y, nil)
				p.evaluate("new Promise((done) => setTimeout(done, 300))", true, nil)
				p.click("#b")
			},
			[]string{`press button "Go"`, `click button "Go"`},
		},
		"a menu that opens by style alone": {
			`<nav><ul><li id=a><a href="#p">Products</a><ul style="display:none"><li><a href="#x">Boats</a></ul></ul></nav><style>#a:hover ul{display:block!important}</style>`,
			func(p *testPage) {
				// Menus are looked for when the page is idle, and known after a frame.
				p.evaluate("new Promise((done) => requestIdleCallback(() => requestAnimationFrame(() => requestAnimationFrame(done))))", true, nil)
				x, y := p.at("#a > a")
				p.mouse("mouseMoved", x, y, nil)
				p.wait(human.PageHover, nil)
			},
			[]string{`hover link "Products"`},
		},
		"a menu that a script opens": {
			`<button id=a aria-haspopup=menu aria-expanded=false>More</button><script>a.onmouseenter = () => a.setAttribute('aria-expanded', 'true')</script>`,
			func(p *testPage) { x, y := p.at("#a"); p.mouse("mouseMoved", x, y, nil); p.wait(human.PageHover, nil) },
			[]string{`hover button "More"`},
		},
		"a popup that is added": {
			`<a id=a href="#x">Ada</a><script>a.onmouseenter = () => { let d = document.createElement('div'); d.className = 'hovercard'; d.innerHTML = '<button>Follow</button>'; document.body.append(d) }</script>`,
			func(p *testPage) { x, y := p.at("#a"); p.mouse("mouseMoved", x, y, nil); p.wait(human.PageHover, nil) },
			[]string{`hover link "Ada"`},
		},
		"a dialog that comes under the pointer is opened by no hover":               dialogUnder(""),
		"nor is one with an element that darkens the page and is called an overlay": dialogUnder("overlay-scrim"),
		"a hover that opens nothing": {
			`<style>a{transition:opacity .05s}a:hover{opacity:.5}</style><a id=a href="#x">Ada</a><script>a.onmouseenter = () => { a.dataset.seen = 1; document.body.append(document.createElement('p')) }</script>`,
			func(p *testPage) {
				x, y := p.at("#a")
				p.mouse("mouseMoved", x, y, nil)
				p.run(`new Promise((done) => a.ontransitionend = done)`)
			},
			nil,
		},
		"an open shadow root": {
			`<div id=host></div><script>let r = host.attachShadow({mode: 'open'}); r.innerHTML = '<button>In</button><input aria-label=Deep><select aria-label=Pick><option>A<option>B</select>'; r.querySelector('input').focus()</script>`,
			func(p *testPage) {
				p.typed("x")
				p.key("Tab", 0)
				p.key("ArrowDown", 0)
				p.clickAt(20, 20, "left", 1)
			},
			[]string{`input textbox "Deep" = x`, `key Tab textbox "Deep"`, `choice combobox "Pick" [B]`, `press button "In"`, `click button "In"`},
		},
		"a closed shadow root reports its host, and no letter that is typed": {
			`<my-box id=host aria-label=Box style="display:block"></my-box><script>host.attachShadow({mode: 'closed'}).innerHTML = '<input>'</script>`,
			func(p *testPage) { p.clickAt(40, 20, "left", 1); p.typed("secret"); p.key("Enter", 0) },
			[]string{`press generic "Box"`, `click generic "Box"`, `input generic "Box" hidden:unknown_field(6)`, `key Enter generic "Box"`},
		},
		"fields and pictures that hide properties of their form and of the document": {
			`<form id=a onsubmit="return false"><input name=id><input name=parentNode><input name=getAttribute><input name=localName><input name=tagName><input name=contains><input name=closest>
				<button name=attributes>Go</button><input name=ownerDocument aria-label=Own></form>
				<img name=body><img name=documentElement><img name=activeElement><img name=querySelectorAll><img name=visibilityState><img name=hasFocus><img name=evaluate><img name=getElementById>`,
			func(p *testPage) {
				p.click("button")
				p.key("Tab", 0)
				p.typed("x")
				p.key("Tab", 0)
				p.key("Escape", 0)
			},
			[]string{`press button "Go"`, `click button "Go"`, `key Tab button "Go"`, `input textbox "Own" = x`, `key Tab textbox "Own"`, `key Escape generic`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.open(t, tt.html)
			tt.do(p)
			if got := p.lines(); !slices.Equal(got, tt.want) {
				t.Errorf("reported\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
		})
	}
}
