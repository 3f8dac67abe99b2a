package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A performer does steps in a rig's browser.
type performer struct {
	*rig
	tab *tab
}

// perform opens a page in a browser and returns hands in it.
func perform(t *testing.T, pages map[string]string, more map[string]http.HandlerFunc) (*performer, string) {
	t.Helper()
	s := serve(t, pages, more)
	r := run(t, headless(t), human.BrowserOptions{URL: s.URL + "/"})
	p := &performer{rig: r, tab: r.at("/")}
	r.b.Resume()
	return p, s.URL
}

// target describes an element of a frame, as a recording has it.
func (p *performer) target(in place, css string) *human.ProcedureTarget {
	p.t.Helper()
	var e human.Element
	s, _ := json.Marshal(css)
	p.js(p.tab, in, "describe("+string(s)+".split(' >>> ').reduce((at, css) => (at.shadowRoot ?? at).querySelector(css), document))", &e)
	return &human.ProcedureTarget{Role: e.Role, Name: e.Name, Named: e.Named, Beside: e.Beside, Tag: e.Tag, Selectors: e.Selectors}
}

// try does a step with so much patience.
func (p *performer) try(s human.ProcedureStep, patience time.Duration, secret ...*record.Secret) (record.Did, *record.Mismatch) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*patience+20*time.Second)
	defer cancel()
	did, err := p.b.Do(ctx, s, append(secret, nil)[0], patience)
	var m *record.Mismatch
	if err != nil && !errors.As(err, &m) {
		p.t.Fatalf("%s: %v", s.Do, err)
	}
	return did, m
}

// does does a step that has to succeed.
func (p *performer) does(s human.ProcedureStep) record.Did {
	p.t.Helper()
	did, m := p.try(s, patience)
	if m != nil {
		p.t.Fatalf("%s: %s (%+v)", s.Do, m, did)
	}
	return did
}

// fails does a step that has to fail, and say so.
func (p *performer) fails(s human.ProcedureStep, found string, secret ...*record.Secret) record.Mismatch {
	p.t.Helper()
	did, m := p.try(s, 150*time.Millisecond, secret...)
	if m == nil || !strings.Contains(m.Found.Text, found) {
		p.t.Fatalf("%s: %v (%+v), want %q", s.Do, m, did, found)
	}
	if human.KindOf(m) != human.Conflict {
		p.t.Errorf("it is of the kind %v", human.KindOf(m))
	}
	return *m
}

// is waits for an expression of the page to have a value.
func (p *performer) is(expression, want string) {
	p.t.Helper()
	p.within(p.top(p.tab), expression, want)
}

func (p *performer) within(in place, expression, want string) {
	p.t.Helper()
	var got string
	last := time.Now().Add(patience)
	for got = "-"; got != want && time.Now().Before(last); {
		p.js(p.tab, in, "new Promise(done => setTimeout(() => done(String("+expression+")), 10))", &got)
	}
	if got != want {
		p.t.Fatalf("%s is %q, want %q", expression, got, want)
	}
}

// holds waits for a checkpoint to hold.
func (p *performer) holds(c human.ProcedureCheckpoint) {
	p.t.Helper()
	var m *record.Mismatch
	p.until("it holds", func() bool {
		var err error
		if m, err = p.b.Holds(p.t.Context(), c, 0); err != nil {
			p.t.Fatal(err)
		}
		return m == nil
	})
}

// lacks says that a checkpoint does not hold, and what is found instead.
func (p *performer) lacks(c human.ProcedureCheckpoint, since int64, found string) {
	p.t.Helper()
	m, err := p.b.Holds(p.t.Context(), c, since)
	if err != nil || m == nil || !strings.Contains(m.Found.Text, found) {
		p.t.Fatalf("%+v: %v, %v; want %q", c, m, err, found)
	}
}

func site(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "build", "e2e", "testdata", "site", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestHandsFillAForm(t *testing.T) {
	p, _ := perform(t, map[string]string{"/": site(t, "forms.html"), "/thanks.html": "<title>Thank you</title><h1>Thank you</h1><p>It is on <button>Undo</button> its way.<span style='display:none'> Lost.</span></p>"}, nil)
	top := p.top(p.tab)
	on := func(css string) *human.ProcedureTarget { return p.target(top, css) }
	did := p.does(human.ProcedureStep{Do: "change", Target: on("[name=name]"), Text: "Anna"})
	if did.FoundBy != "aria" || did.Drifted || did.Element != `textbox "Name"` {
		t.Errorf("%+v", did)
	}
	p.does(human.ProcedureStep{Do: "change", Target: on("[name=name]"), Text: "Anna Lovelace"}) // in the place of what stands there
	p.is("document.forms[0].elements.name.value", "Anna Lovelace")
	p.does(human.ProcedureStep{Do: "change", Target: on("[name=email]"), Text: "anna@example.org"})
	p.does(human.ProcedureStep{Do: "change", Target: on("[name=quantity]"), Text: "12"})
	p.does(human.ProcedureStep{Do: "change", Target: on("textarea"), Text: "Ring twice.\nThen wait."})
	p.does(human.ProcedureStep{Do: "selectOption", Target: on("[name=country]"), Options: []string{"China"}})
	p.does(human.ProcedureStep{Do: "selectOption", Target: on("[name=sizes]"), Options: []string{"Small", "Large"}})
	p.does(human.ProcedureStep{Do: "check", Target: on("[value=courier]")})
	p.does(human.ProcedureStep{Do: "check", Target: on("[name=terms]"), Options: []string{"checked"}})
	p.does(human.ProcedureStep{Do: "check", Target: on("[name=terms]"), Options: []string{"checked"}}) // stays
	p.does(human.ProcedureStep{Do: "check", Target: on("#news")})
	p.does(human.ProcedureStep{Do: "check", Target: on("#news"), Options: []string{"unchecked"}})
	p.does(human.ProcedureStep{Do: "change", Target: on("[name=urgency]"), Text: "8"})
	p.does(human.ProcedureStep{Do: "change", Target: on("[name=colour]"), Text: "#112233"})
	p.is("[...new FormData(document.forms[0])].map(e => e.join('=')).join('&').replace(/\\s+/g, ' ')",
		"name=Anna Lovelace&email=anna@example.org&quantity=12&notes=Ring twice. Then wait.&country=cn&sizes=Small&sizes=Large&delivery=courier&terms=on&urgency=8&colour=#112233&q=")
	p.holds(human.ProcedureCheckpoint{Is: "value", Target: on("[name=country]"), Text: "China"})
	p.lacks(human.ProcedureCheckpoint{Is: "value", Target: on("[name=name]"), Text: "Bert"}, 0, `It holds "Anna Lovelace"`)
	p.fails(human.ProcedureStep{Do: "selectOption", Target: on("[name=country]"), Options: []string{"Peru"}}, "Its options are: Choose, Austria")
	p.does(human.ProcedureStep{Do: "change", Target: on("[name=q]"), Text: "lamp", Key: "Enter"})
	p.at("q=lamp")
	p.holds(human.ProcedureCheckpoint{Is: "address", Text: "*/thanks.html?*q=lamp"})
	p.holds(human.ProcedureCheckpoint{Is: "title", Text: "Thank you"})
	p.holds(human.ProcedureCheckpoint{Is: "text", Text: "thank  YOU"})
	p.holds(human.ProcedureCheckpoint{Is: "text", Text: "It is on Undo its way"})
	p.holds(human.ProcedureCheckpoint{Is: "text", Text: "It is on its way."}) // as a message of it is recorded
	p.lacks(human.ProcedureCheckpoint{Is: "text", Text: "Order"}, 0, "It does not say so")
	p.lacks(human.ProcedureCheckpoint{Is: "text", Text: "Lost"}, 0, "It does not say so")
	p.does(human.ProcedureStep{Do: "back"})
	p.holds(human.ProcedureCheckpoint{Is: "address", Text: "http://*/"})
	p.does(human.ProcedureStep{Do: "forward"})
	p.holds(human.ProcedureCheckpoint{Is: "text", Text: "Thank you"})
	for _, address := range []string{"file:///etc/hostname", "javascript:document.title='gone'", "data:text/html,x"} {
		p.fails(human.ProcedureStep{Do: "navigate", URL: address}, "It is "+address)
	}
	p.does(human.ProcedureStep{Do: "reload"})
	p.holds(human.ProcedureCheckpoint{Is: "text", Text: "Thank you"})
	if why := p.b.Interrupted(); why != nil {
		t.Errorf("Deskbell's own steps count as a person's: %s", why.Text)
	}
	// The recorder heard what was done, and no more.
	var heard []string
	for _, e := range p.all() {
		switch e.Type {
		case human.PageInput:
			heard = append(heard, e.Element.Name+"="+e.Text)
		case human.PageChoice:
			heard = append(heard, e.Element.Name+"="+strings.Join(e.Values, ","))
		}
	}
	for _, want := range []string{"Name=Anna Lovelace", "Email=anna@example.org", "Country=China", "Sizes=Small,Large", "Courier=checked", "I agree to the terms=checked", "Send me news=unchecked", "Urgency=8", "Colour=#112233", "Search=lamp"} {
		if !slices.Contains(heard, want) {
			t.Errorf("the recording has no %s: %q", want, heard)
		}
	}
}

func TestHandsFindWhatIsMeant(t *testing.T) {
	const log = `<output id=log></output><script>document.onclick = e => { log.textContent += (e.target.dataset.n ?? e.target.id) + ' ' }</script>`
	p, _ := perform(t, map[string]string{"/": `<div id=all><button id=send>Send</button><button id=cancel>Cancel</button></div>` + log}, nil)
	top := p.top(p.tab)
	set := func(html string) {
		s, _ := json.Marshal(html)
		p.js(p.tab, top, "void (all.innerHTML = "+string(s)+", log.textContent = '')", nil)
	}
	p.js(p.tab, top, "void (globalThis.all = document.querySelector('#all'), globalThis.log = document.querySelector('#log'))", nil)
	send := p.target(top, "#send")
	click := human.ProcedureStep{Do: "click", Target: send}
	byID := human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Send", Selectors: [][]string{{"#send"}}}}

	p.does(click)
	p.is("log.textContent", "send ")
	set(`<p>New</p><button id=c2>Cancel</button><section><button id=s2>Send</button></section>`)
	did := p.does(byID)
	if !did.Drifted || did.FoundBy != "role and name" {
		t.Errorf("%+v", did)
	}
	p.is("log.textContent", "s2 ")

	set(`<button id=a>Send</button><button id=b>Send</button>`)
	m := p.fails(click, "There are 2 that are alike")
	if m.Did || m.Missing {
		t.Errorf("%+v", m)
	}
	set(`<button id=send>Place order</button>`)
	if m = p.fails(byID, `There is button "Place order" instead`); !m.Missing || m.Did {
		t.Errorf("%+v", m)
	}
	set(`<button id=send hidden>Send</button>`)
	p.fails(click, "It is not there")
	p.holds(human.ProcedureCheckpoint{Is: "gone", Target: send})
	p.lacks(human.ProcedureCheckpoint{Is: "element", Target: send}, 0, "It is not there")
	set(`<button id=send disabled>Send</button>`)
	p.fails(click, "It is disabled")
	set(`<button id=send>Send</button><div id=over style="position:fixed;inset:0" role=dialog aria-label=Wait></div>`)
	p.fails(click, `It is covered by dialog "Wait"`)
	p.is("log.textContent", "")

	// What becomes ready is waited for.
	set(``)
	p.js(p.tab, top, `void setTimeout(() => { all.innerHTML = '<button id=send disabled>Send</button>'; setTimeout(() => { all.firstChild.disabled = false }, 100) }, 100)`, nil)
	p.does(click)
	p.is("log.textContent", "send ")

	// What comes under the pointer at the last moment is not clicked; what is meant is clicked where it then is.
	set(`<button id=send style="position:fixed;top:100px;left:0" onpointermove="this.style.top = '200px', other.style.top = '100px'">Send</button><button id=other style="position:fixed;top:300px;left:0">Delete</button>`)
	p.does(click)
	p.is("log.textContent", "send ")

	// What stands beside an element says which row is meant, also when that is the only one left.
	set(`<table><tr><td>Anna<td><button data-n=1>Delete</button><tr><td>Bert<td><button data-n=2>Delete</button></table>`)
	bert := p.target(top, "[data-n='2']")
	if bert.Beside != "Bert" {
		t.Fatalf("%+v", bert)
	}
	set(`<table><tr><td>Bert<td><button data-n=3>Delete</button><tr><td>Anna<td><button data-n=4>Delete</button></table>`)
	p.does(human.ProcedureStep{Do: "click", Target: bert})
	p.is("log.textContent", "3 ")
	set(`<table><tr><td>Carl<td><button data-n=5>Delete</button></table>`)
	p.fails(human.ProcedureStep{Do: "click", Target: bert}, `There is button "Delete" beside "Carl" instead`)
	p.is("log.textContent", "")

	// A row may be meant by any cell of it.
	set(`<table><tr><td>RE-1<td>Anna<td><button data-n=1>Open</button><tr><td>RE-2<td>Bert<td><button data-n=2>Open</button></table>`)
	p.does(human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Open", Beside: "Bert"}})
	p.is("log.textContent", "2 ")
	p.fails(human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Open", Beside: "Ber"}}, "instead")

	// Of several rows with one value, another one tells which is meant.
	set(`<table><tr><td>Bert<td>2026-01<td><button data-n=1>Open</button><tr><td>Bert<td>2026-02<td><button data-n=2>Open</button></table>`)
	p.does(human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Open", Beside: "Bert", Cells: []string{"2026-02"}}})
	p.is("log.textContent", "2 ")
	p.fails(human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Open", Beside: "Bert", Cells: []string{"2026-03"}}}, "instead")

	// The rows may have become a list.
	set(`<ul><li><div>RE-1</div><div><b>Anna</b></div><button data-n=1>Open</button><li><div>RE-2</div><div><b>Bert</b></div><button data-n=2>Open</button></ul>`)
	p.does(human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Open", Beside: "Bert"}})
	p.is("log.textContent", "2 ")
	p.fails(human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Open", Beside: "Carl"}}, "instead")

	// A style shows words in capital letters. Two whose words are the same are alike.
	set(`<button data-n=1 style="text-transform: uppercase">Open</button>`)
	p.does(human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Open"}})
	p.is("log.textContent", "1 ")
	set(`<button data-n=1>OPEN</button><button data-n=2>Open</button>`)
	p.fails(human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Open"}}, "There are 2 that are alike")

	// A path that now leads to another element is not followed.
	set(`<button data-n=6>Edit</button>`)
	path := &human.ProcedureTarget{Role: "button", Name: "Edit", Selectors: [][]string{{"#all > button:nth-child(1)"}}}
	set(`<button data-n=7>Edit</button><button data-n=8>Edit</button>`)
	p.fails(human.ProcedureStep{Do: "click", Target: path}, "There are 2 that are alike")
	p.is("log.textContent", "")
	if why := p.b.Interrupted(); why != nil {
		t.Error(why)
	}
}

// What is picked is read once it stays the same.
func TestHandsPickWhatStays(t *testing.T) {
	p, _ := perform(t, map[string]string{"/": `<title>Total</title><p role=status aria-label=Total id=total>0.00</p>`}, nil)
	p.js(p.tab, p.top(p.tab), `void (() => { let n = 0; const count = setInterval(() => { total.textContent = (n += 7.5).toFixed(2); if (n >= 150) clearInterval(count) }, 40) })()`, nil)
	step := human.ProcedureStep{Do: "pick", Output: "total", Target: &human.ProcedureTarget{Role: "status", Name: "Total"}}
	if did := p.does(step); did.Text != "150.00" {
		t.Errorf("it read %q", did.Text)
	}
	p.js(p.tab, p.top(p.tab), `void setInterval(() => { total.textContent += 1 }, 20)`, nil)
	p.fails(step, "It keeps changing")
}

// The rows of a page are those of its tables, however they are made, and its lists.
func TestHandsReadRows(t *testing.T) {
	p, _ := perform(t, map[string]string{"/": `<title>Orders</title><table><tr><th>No<th>Customer<tr><td> A-7 <td>Nordwind<br>Ltd<tr><td>A-8<td><input value=Acme></table>
		<div role=grid><div role=row><span role=gridcell>A-9</span><span role=gridcell>Halde</span></div></div><ul><li>A-10 <b>open</b></ul>`}, nil)
	rows, err := p.b.Rows(t.Context())
	if want := [][]string{{"No", "Customer"}, {"A-7", "Nordwind Ltd"}, {"A-8", "Acme"}, {"A-9", "Halde"}, {"A-10 open"}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%q, %v", rows, err)
	}
}

// What is done before a page's scripts have run may be lost: they are waited for, but not for ever.
func TestHandsWaitForScripts(t *testing.T) {
	wait := make(chan struct{})
	half := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, text)
		_ = http.NewResponseController(w).Flush()
	}
	p, url := perform(t, map[string]string{"/": "<title>Start</title>"}, map[string]http.HandlerFunc{
		"/slow": func(w http.ResponseWriter, _ *http.Request) {
			half(w, "<title>Slow</title><button id=b>Go</button><p id=log></p>")
			<-wait
			half(w, "<script>b.onclick = () => { log.textContent += 'went' }</script>")
		},
		"/endless": func(w http.ResponseWriter, r *http.Request) {
			half(w, "<title>Endless</title><button onclick='log.textContent += 1'>Go</button><p id=log></p>")
			<-r.Context().Done()
		},
	})
	click := human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Go"}}
	open := func(path string) {
		t.Helper()
		p.js(p.tab, p.top(p.tab), "void location.assign("+quote(url+path)+")", nil)
		p.holds(human.ProcedureCheckpoint{Is: "element", Target: click.Target})
	}
	open("/slow")
	done := make(chan *record.Mismatch)
	go func() { _, m := p.try(click, patience); done <- m }()
	p.is("document.querySelector('button') && log.textContent", "")
	close(wait)
	if m := <-done; m != nil {
		t.Fatal(m)
	}
	p.is("log.textContent", "went")
	open("/endless")
	if _, m := p.try(click, time.Second); m != nil {
		t.Fatal(m)
	}
	p.is("log.textContent", "1")
}

func TestHandsInFramesAndShadowRoots(t *testing.T) {
	inner := `<title>Inner</title><p style="height:600px">A frame</p><label>Code <input></label><button onclick="document.title = 'hit ' + document.querySelector('input').value">Hit</button>`
	p, url := perform(t, map[string]string{
		"/":      `<x-open></x-open><p style="height:900px">Far</p><iframe src="/inner" style="border:7px solid;padding:3px"></iframe><iframe src="http://other.test:PORT/inner"></iframe><script>` + `customElements.define('x-open', class extends HTMLElement { connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<label>Amount <input></label><button>Pay</button>'; this.shadowRoot.querySelector('button').onclick = () => { document.title = 'paid ' + this.shadowRoot.querySelector('input').value } } })</script>`,
		"/inner": inner,
	}, nil)
	top := p.top(p.tab)
	p.does(human.ProcedureStep{Do: "change", Target: p.target(top, "x-open >>> input"), Text: "12"})
	p.does(human.ProcedureStep{Do: "click", Target: p.target(top, "x-open >>> button")})
	p.is("document.title", "paid 12")
	for i, ending := range []string{url + "/inner", "other.test:" + url[strings.LastIndex(url, ":")+1:] + "/inner"} {
		in := p.frame(p.tab, ending)
		p.does(human.ProcedureStep{Do: "change", Frame: []int{i}, Target: p.target(in, "input"), Text: "x", Key: "Tab"})
		p.does(human.ProcedureStep{Do: "click", Frame: []int{i}, Target: p.target(in, "button")})
		p.within(in, "document.title", "hit x")
		p.holds(human.ProcedureCheckpoint{Is: "text", Text: "A frame", Frame: []int{i}})
	}
	// What comes over a frame at the last moment is not clicked; the frame is, once it can be reached.
	p.js(p.tab, top, `void document.body.insertAdjacentHTML('beforeend', '<div id=veil hidden style="position:fixed;inset:0" onclick="document.title = this.id">Veil</div>')`, nil)
	in := p.frame(p.tab, url+"/inner")
	p.js(p.tab, in, `void document.querySelector('button').addEventListener('pointermove', () => {
		const veil = parent.document.querySelector('#veil')
		veil.hidden = false
		setTimeout(() => { veil.hidden = true }, 200)
	}, {once: true})`, nil)
	p.does(human.ProcedureStep{Do: "change", Frame: []int{0}, Target: p.target(in, "input"), Text: "y", Key: "Tab"})
	p.does(human.ProcedureStep{Do: "click", Frame: []int{0}, Target: p.target(in, "button")})
	p.within(in, "document.title", "hit y")
	p.is("document.title", "paid 12")
	// What covers a frame covers what is in it.
	p.js(p.tab, top, `void document.body.insertAdjacentHTML('beforeend', '<div style="position:fixed;inset:0">Over</div>')`, nil)
	p.fails(human.ProcedureStep{Do: "click", Frame: []int{0}, Target: p.target(p.frame(p.tab, "/inner"), "button")}, "Its frame is covered")
	p.fails(human.ProcedureStep{Do: "click", Frame: []int{4}, Target: &human.ProcedureTarget{Role: "button"}}, "It does not have it")
	if why := p.b.Interrupted(); why != nil {
		t.Error(why)
	}
}

func TestHandsAnswerDialogs(t *testing.T) {
	p, _ := perform(t, map[string]string{"/": site(t, "dialogs.html")}, nil)
	top := p.top(p.tab)
	ask := human.ProcedureStep{Do: "click", Target: p.target(top, "#confirm")}
	name := human.ProcedureStep{Do: "click", Target: p.target(top, "#prompt"), Dialogs: []human.ProcedureDialog{{Kind: "prompt", Message: "New name", Accept: true, Input: "final"}}}
	p.does(name)
	p.is("result.textContent", "named final")
	ask.Dialogs = []human.ProcedureDialog{{Kind: "confirm", Message: "Really delete it?", Accept: false}}
	p.does(ask)
	p.is("result.textContent", "kept")
	e := p.wait(human.PageDialog, func(e human.RecordedEvent) bool { return e.Dialog.Kind == "confirm" })
	if e.Dialog.Accepted {
		t.Errorf("%+v", e.Dialog)
	}

	none := name
	none.Target = p.target(top, "#modal")
	if m := p.fails(none, "No dialog is open"); !m.Did {
		t.Errorf("%+v", m)
	}
	p.does(human.ProcedureStep{Do: "click", Target: p.target(top, "dialog button")})

	ask.Dialogs = []human.ProcedureDialog{{Kind: "confirm", Message: "Really send it?", Accept: true}}
	if m := p.fails(ask, `A dialog is open: confirm "Really delete it?"`); !m.Did {
		t.Errorf("%+v", m)
	}
	p.lacks(human.ProcedureCheckpoint{Is: "text", Text: "deleted"}, 0, "A dialog is open")
	ask.Dialogs[0].Message = ""
	if m := p.fails(ask, "A dialog is open"); m.Did { // nothing is done while it is, and it is no dialog of this step
		t.Errorf("%+v", m)
	}
	p.do(p.tab, "Page.handleJavaScriptDialog", object{"accept": true}) // as the person does
	p.is("result.textContent", "deleted")
	p.does(name)
	p.is("result.textContent", "named final")
}

// A secret is typed on its own site alone, and the recording does not have it.
func TestHandsTypeSecrets(t *testing.T) {
	form := `<label>Code <input oninput="(globalThis.got ??= []).push(this.value), document.title = 'typed'"></label>`
	p, url := perform(t, map[string]string{
		"/": form + `<iframe src="http://other.test:PORT/inner"></iframe>`, "/inner": form, "/outer": `<iframe src="http://127.0.0.1:PORT/inner"></iframe>`,
	}, nil)
	secret := &record.Secret{Text: "hunter2-secret", Site: url}
	step := human.ProcedureStep{Do: "change", Target: p.target(p.top(p.tab), "input"), Secret: "code"}
	if _, m := p.try(step, patience, secret); m != nil {
		t.Fatal(m)
	}
	p.is("document.querySelector('input').value", "hunter2-secret")
	e := p.wait(human.PageInput, nil)
	if e.Hidden == "" || e.Text != "" {
		t.Errorf("the recording has %+v", e)
	}
	p.lacks(human.ProcedureCheckpoint{Is: "value", Target: step.Target, Text: "other"}, 0, "It holds something else")

	other := strings.Replace(url, "127.0.0.1", "other.test", 1)
	foreign := step
	foreign.Frame = []int{0} // on another site in a page of this one
	p.fails(foreign, "The field is on "+other, secret)
	p.within(p.frame(p.tab, "/inner"), "document.querySelector('input').value + document.title", "")

	p.does(human.ProcedureStep{Do: "navigate", URL: other + "/outer"})
	p.at("/outer")
	p.fails(foreign, "The field is on "+other, secret) // of this site in a page of another
	p.within(p.frame(p.tab, "/inner"), "document.querySelector('input').value + document.title", "")

	p.does(human.ProcedureStep{Do: "navigate", URL: other + "/inner"})
	p.at("/inner")
	if m := p.fails(step, "The field is on "+other, secret); m.Did {
		t.Errorf("%+v", m)
	}
	p.is("document.querySelector('input').value + document.title", "")

	// The page that was asked may not be the one that is written to.
	p.does(human.ProcedureStep{Do: "navigate", URL: url + "/inner"})
	p.at("/inner")
	p.js(p.tab, p.top(p.tab), "hands.ready("+quote(step.Target)+", {write: true})", nil)
	p.is("hands.write('hunter2-secret', 'https://elsewhere.example')", "site")
	p.is("document.querySelector('input').value + document.title", "")
	raw, _ := json.Marshal(p.all())
	if strings.Contains(string(raw), "hunter2") {
		t.Error("the recording has the secret")
	}
}

func TestHandsNoticeThePerson(t *testing.T) {
	p, url := perform(t, map[string]string{"/": `<button onclick="document.title = 'hit'">Hit</button><input><div style="height:3000px;background:linear-gradient(red,blue)" onclick=""></div>`}, nil)
	hit := human.ProcedureStep{Do: "click", Target: p.target(p.top(p.tab), "button")}
	ours := func() {
		t.Helper()
		p.b.Resume()
		p.does(hit)
		p.does(human.ProcedureStep{Do: "press", Key: "Tab"})
		p.does(human.ProcedureStep{Do: "scroll", ScrollY: 500})
		p.does(human.ProcedureStep{Do: "navigate", URL: url + "/"})
		p.at("/")
		p.js(p.tab, p.top(p.tab), "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))", nil)
		if why := p.b.Interrupted(); why != nil {
			t.Fatalf("Deskbell's own steps count as a person's: %s", why.Text)
		}
	}
	for want, by := range map[string]func(){
		"you moved the pointer": func() { p.do(p.tab, "Input.dispatchMouseEvent", object{"type": "mouseMoved", "x": 300, "y": 310}) },
		"you clicked": func() {
			p.do(p.tab, "Input.dispatchMouseEvent", object{"type": "mousePressed", "x": 300, "y": 310, "button": "left", "clickCount": 1})
			p.do(p.tab, "Input.dispatchMouseEvent", object{"type": "mouseReleased", "x": 300, "y": 310, "button": "left", "clickCount": 1})
		},
		"you scrolled": func() {
			p.do(p.tab, "Input.dispatchMouseEvent", object{"type": "mouseWheel", "x": 300, "y": 310, "deltaX": 0, "deltaY": 60})
		},
		"you pressed a key": func() {
			p.do(p.tab, "Input.dispatchKeyEvent", object{"type": "keyDown", "key": "a", "text": "a", "windowsVirtualKeyCode": 65})
		},
	} {
		t.Run(want, func(*testing.T) {
			ours()
			by()
			p.until("it is noticed", func() bool { return p.b.Interrupted() != nil })
			if got := p.b.Interrupted(); got.Text != want {
				t.Errorf("it says %q", got)
			}
		})
	}
}

func TestHandsInTabs(t *testing.T) {
	p, url := perform(t, map[string]string{
		"/":    `<button onclick="setTimeout(() => window.open('/two'), 100)">Open</button><a href="/slow">Slow</a><button onclick="document.title = 'first'">Next</button>`,
		"/two": `<title>Two</title><button onclick="document.title = 'hit'">Next</button>`,
	}, map[string]http.HandlerFunc{"/slow": func(w http.ResponseWriter, r *http.Request) {
		<-time.After(700 * time.Millisecond)
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<button onclick="document.title = 'second'">Next</button>`))
	}})
	top := p.top(p.tab)
	next, began := p.target(top, "button:last-of-type"), p.b.Now()
	p.lacks(human.ProcedureCheckpoint{Is: "opened", Page: "t2"}, began, "It has not opened")
	p.lacks(human.ProcedureCheckpoint{Is: "closed", Page: "t2"}, began, "It has not opened")
	p.does(human.ProcedureStep{Do: "click", Target: p.target(top, "button")})
	p.does(human.ProcedureStep{Do: "click", Page: "t2", Target: next}) // is waited for
	p.holds(human.ProcedureCheckpoint{Is: "title", Text: "hit", Page: "t2"})
	p.holds(human.ProcedureCheckpoint{Is: "opened", Page: "t2"})
	p.lacks(human.ProcedureCheckpoint{Is: "opened", Page: "t1"}, began, "It was open before")
	p.does(human.ProcedureStep{Do: "switchPage", Page: "t1"})
	p.does(human.ProcedureStep{Do: "close", Page: "t2"})
	p.holds(human.ProcedureCheckpoint{Is: "closed", Page: "t2"})
	p.fails(human.ProcedureStep{Do: "click", Page: "t2", Target: next}, "It was closed")

	// What is done after a link is done on the page that it leads to, though that is slow.
	p.does(human.ProcedureStep{Do: "click", Target: p.target(top, "a")})
	p.does(human.ProcedureStep{Do: "click", Target: next})
	p.tab = p.at("/slow")
	p.is("document.title", "second")
	m := p.fails(human.ProcedureStep{Do: "navigate", URL: strings.Replace(url, "http://127.0.0.1", "http://127.0.0.1:1/x?", 1)}, "ERR_")
	if !m.Did {
		t.Errorf("%+v", m)
	}
}

func TestHandsDoTheRest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.csv")
	if err := os.WriteFile(file, []byte("a,b"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, url := perform(t, map[string]string{
		"/": "<p>Start</p>", "/drag": site(t, "drag.html"), "/canvas": site(t, "canvas.html"),
		"/rest": `<input type=file hidden aria-label=Report onchange="log.textContent = this.files[0].name"><output id=log></output>
			<div contenteditable aria-label=Notes>old</div><ul id=menu onmouseover="log.textContent = 'over'"><li>Menu</ul>
			<table aria-label=Prices><tr><th>What<th>Price<tr><td>Tea<td>3</table><p id=para>Total 12</p>
			<input id=k aria-label=Keys onkeydown="log.textContent = [event.ctrlKey, event.shiftKey, event.key, log.textContent.length]">
			<div id=box style="height:60px;overflow:auto" aria-label=Box role=region><p style="height:500px"></div>
			<video controls muted aria-label=Film src="data:video/mp4,"></video><a href="/file" download>Save</a><button ondblclick="log.textContent = 'twice'" oncontextmenu="log.textContent = 'menu'; return false">B</button>`,
	}, map[string]http.HandlerFunc{"/file": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="sums 7.csv"`)
		_, _ = w.Write([]byte("x"))
	}})
	go_ := func(to string) place {
		p.does(human.ProcedureStep{Do: "navigate", URL: url + to})
		p.tab = p.at(to)
		return p.top(p.tab)
	}
	top := go_("/drag")
	p.does(human.ProcedureStep{Do: "drag", Target: p.target(top, "#card"), To: p.target(top, "#to")})
	p.is("log.textContent", "dropped ")
	p.does(human.ProcedureStep{Do: "drag", Target: p.target(top, "#knob"), To: p.target(top, "#track")})
	p.is("log.textContent", "dropped volume 5 ")

	top = go_("/canvas")
	x, y := 0.5, 0.25
	p.does(human.ProcedureStep{Do: "click", Target: p.target(top, "canvas"), X: &x, Y: &y})
	p.is("document.querySelector('#spots').textContent", "150,50 ")

	top = go_("/rest")
	p.does(human.ProcedureStep{Do: "setInputFiles", Target: p.target(top, "[type=file]"), Files: []string{file}})
	p.is("log.textContent", "report.csv")
	p.fails(human.ProcedureStep{Do: "setInputFiles", Target: p.target(top, "[type=file]"), Files: []string{file + "x"}}, "It cannot be read")
	p.does(human.ProcedureStep{Do: "change", Target: p.target(top, "[contenteditable]"), Text: "new"})
	p.is("document.querySelector('[contenteditable]').textContent", "new")
	p.does(human.ProcedureStep{Do: "hover", Target: p.target(top, "li")})
	p.is("log.textContent", "over")
	p.does(human.ProcedureStep{Do: "press", Target: p.target(top, "#k"), Key: "a", Modifiers: []string{"ctrl", "shift"}})
	p.is("log.textContent.slice(0, 12)", "true,true,a,")
	p.does(human.ProcedureStep{Do: "press", Target: p.target(top, "#k"), Key: "7", Count: 3})
	p.is("k.value", "777")
	p.does(human.ProcedureStep{Do: "press", Key: "a", Modifiers: []string{"ctrl"}})
	p.does(human.ProcedureStep{Do: "press", Key: "Backspace"})
	p.is("k.value", "")
	p.does(human.ProcedureStep{Do: "scroll", Target: p.target(top, "#box"), ScrollY: 120})
	p.is("box.scrollTop", "120")
	did := p.does(human.ProcedureStep{Do: "pick", Target: p.target(top, "#para"), Output: "total"})
	if did.Text != "Total 12" || did.Picked.W == 0 {
		t.Errorf("%+v", did)
	}
	did = p.does(human.ProcedureStep{Do: "pick", Target: p.target(top, "table"), Output: "prices", Take: "table"})
	if len(did.Rows) != 2 || did.Rows[1][0] != "Tea" {
		t.Errorf("%+v", did)
	}
	if e := p.wait(human.PagePicked, func(e human.RecordedEvent) bool { return e.Pick.Field == "prices" }); e.Pick.Take != "table" {
		t.Errorf("%+v", e.Pick)
	}
	p.does(human.ProcedureStep{Do: "media", Target: p.target(top, "video"), Options: []string{"volume", "30"}})
	p.is("document.querySelector('video').volume", "0.3")
	p.does(human.ProcedureStep{Do: "doubleClick", Target: p.target(top, "button")})
	p.is("log.textContent", "twice")
	p.does(human.ProcedureStep{Do: "click", Target: p.target(top, "button"), Button: 3})
	p.is("log.textContent", "menu")
	since := p.b.Now()
	p.does(human.ProcedureStep{Do: "click", Target: p.target(top, "a")})
	p.holds(human.ProcedureCheckpoint{Is: "download", Text: "sums*.csv"})
	p.lacks(human.ProcedureCheckpoint{Is: "download", Text: "sums*.csv"}, p.b.Now(), "No such file has arrived")
	p.lacks(human.ProcedureCheckpoint{Is: "download", Text: "*.pdf"}, since, "No such file has arrived")
	if why := p.b.Interrupted(); why != nil {
		t.Error(why)
	}
}

// BenchmarkStep clicks a button and looks whether the page says what comes of it.
func BenchmarkStep(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<button onclick="log.textContent = 'Clicked ' + ++n">Hit</button><output id=log></output><script>let n = 0</script>`))
	}))
	defer s.Close()
	br := New(headless(nil), human.BrowserOptions{URL: s.URL + "/"}, nil)
	ctx, cancel := context.WithCancel(b.Context())
	ready, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_, _ = br.Run(ctx, func() { close(ready) }, func(human.RecordedEvent) {})
	}()
	defer func() { cancel(); <-done }()
	<-ready
	hit := human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Hit", Selectors: [][]string{{`aria/Hit[role="button"]`}}}}
	n := 0
	step := func() {
		n++
		if _, err := br.Do(ctx, hit, nil, patience); err != nil {
			b.Fatal(err)
		}
		for {
			m, err := br.Holds(ctx, human.ProcedureCheckpoint{Is: "text", Text: fmt.Sprint("Clicked ", n)}, 0)
			if err != nil {
				b.Fatal(err)
			}
			if m == nil {
				return
			}
		}
	}
	step()
	for b.Loop() {
		step()
	}
}
