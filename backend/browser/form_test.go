package browser

import (
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

const aForm = `<main><table><tr><th>Customer<th>Belongs to<th><tr><td>Acme<td>Bert<td><button id=acme>Edit</button><tr><td>Carl<td>Acme<td><button id=carl>Edit</button></table>
<p id=said>Order for Acme: 124.24 €</p><p hidden>Zorro &amp; Sons</p>
<form id=f onsubmit="event.preventDefault(); said.title += 'n'"><label>Name <input id=name onkeyup="this.title = this.value"></label>
<label>Search <input id=search></label><label>Password <input id=pw type=password></label>
<label>Way <select id=way><option value="">Choose…</option><option>Post</option><option>Mail</option></select></label>
<label><input id=express type=checkbox> Express</label><label><input id=copy type=checkbox checked> Send a copy</label><label hidden><input type=checkbox checked> Not seen</label>
<button id=send>Send</button></form>
<button id=level type=button role=switch aria-checked=false form=f>Express mail</button><button id=final type=button aria-pressed=false form=f>Final</button><input id=off type=range min=0 max=9 value=0 form=f aria-label=Discount>
<details><summary>More</summary><label><input id=note type=checkbox> Note</label></details><table><tr><td>Doris<td>Kiel<td><input id=no form=f aria-label=No.><td><x-button></x-button></table>
<dialog id=d><form><textarea aria-label=Message></textarea></form></dialog><aside><textarea aria-label=Message></textarea></aside></main>`

// What stands in the form around what is pressed is recorded, with no text of a field, and of what the page says only that it says what was typed before.
func TestWhatStandsInAForm(t *testing.T) {
	p, _ := perform(t, map[string]string{"/": aForm}, nil)
	top := p.top(p.tab)
	for _, typed := range [][2]string{{"Name", "Acme"}, {"Search", "24.24"}, {"Name", "Zorro & Sons"}, {"Search", "124.24"}} { // the script tells of a field when it is left
		p.does(human.ProcedureStep{Do: "change", Target: &human.ProcedureTarget{Role: "textbox", Name: typed[0]}, Text: typed[1]})
	}
	p.does(human.ProcedureStep{Do: "selectOption", Target: &human.ProcedureTarget{Role: "combobox", Name: "Way"}, Options: []string{"Post"}})
	p.is("document.querySelector('#name').title", "Zorro & Sons")
	p.click(p.tab, top, "#send")
	e := p.wait(human.PagePress, func(e human.RecordedEvent) bool { return e.Element.Name == "Send" })
	want := []human.Filled{{Role: "textbox", Name: "Name"}, {Role: "textbox", Name: "Search"}, {Role: "combobox", Name: "Way", Holds: "Post"}, {Role: "checkbox", Name: "Send a copy"}, {Role: "slider", Name: "Discount", Holds: "0"}}
	if !slices.Equal(e.Element.Form, want) {
		t.Errorf("the form is %+v", e.Element.Form)
	}
	if shows := e.Element.Shows; len(shows) != 3 || !slices.Contains(shows, human.Digested("Acme")) || !slices.Contains(shows, human.DigestedLine("Acme")) || !slices.Contains(shows, human.Digested("124.24")) || e.Text != "" {
		t.Errorf("of what was typed the page shows %q, and says %q", shows, e.Text)
	}
	p.click(p.tab, top, "#acme")
	e = p.wait(human.PagePress, func(e human.RecordedEvent) bool { return e.Element.Name == "Edit" })
	if a := e.Element.Ancestry; len(a) != 2 || a[0].Name != "Acme | Bert" || a[1].Name != "Customer | Belongs to" {
		t.Errorf("its row is %+v", a)
	}
}

// A form with something that was not there when it was taught is not sent.
func TestAFormThatIsNotAsItWasTaught(t *testing.T) {
	p, _ := perform(t, map[string]string{"/": aForm}, nil)
	send := human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Send"}, Form: []human.Filled{
		{Role: "checkbox", Name: "send a copy"}, {Role: "combobox", Name: "Way", Holds: "Post", Optional: true}, {Role: "textbox", Name: "Name", Optional: true}, {Role: "slider", Name: "Discount", Holds: "0"},
	}}
	is := func(field, what string) {
		p.js(p.tab, p.top(p.tab), "document.querySelector('#"+field+"')."+what, nil)
	}
	for _, tt := range []struct{ field, is, was, found string }{
		{"express", "checked = true", "checked = false", `checkbox "Express"`},
		{"copy", "checked = false", "checked = true", "not ticked"},
		{"way", "value = 'Mail'", "value = 'Post'", `combobox "Way": "Mail"`},
		{"search", "value = 'x'", "value = ''", `textbox "Search"`},
		{"level", "setAttribute('aria-checked', true)", "setAttribute('aria-checked', false)", `switch "Express mail"`},
		{"final", "setAttribute('aria-pressed', true)", "setAttribute('aria-pressed', false)", `"Final"`},
		{"off", "value = 3", "value = 0", `slider "Discount": "3"`},
		{"note", "checked = true", "checked = false", `checkbox "Note"`},
		{"no", "value = '7'", "value = ''", `textbox "No."`},
		{"pw", "value = 'hunter2'", "value = ''", `"Password"`},
	} {
		is(tt.field, tt.is)
		if m := p.fails(send, tt.found); m.Did || strings.Contains(m.Found.Text, "hunter2") {
			t.Errorf("%s: %+v", tt.field, m)
		}
		is(tt.field, tt.was)
	}
	const sent = "document.querySelector('#said').title"
	p.is(sent, "")
	p.does(send)
	p.is(sent, "n")
	send.Form = nil
	is("express", "checked = true")
	p.does(send)
	p.is(sent, "nn")
}

// A field is the one in the kind of part it was taught in, and a cell stands under the heading that it had.
func TestThePartAndTheColumn(t *testing.T) {
	p, _ := perform(t, map[string]string{"/": aForm}, nil)
	message := human.ProcedureStep{Do: "change", Text: "Hello", Target: &human.ProcedureTarget{Role: "textbox", Name: "Message", Inside: "dialog"}}
	if m := p.fails(message, "not there"); m.Did {
		t.Errorf("it was done: %+v", m)
	}
	p.js(p.tab, p.top(p.tab), "document.querySelector('dialog').show()", nil)
	p.does(message)
	p.is("document.querySelector('dialog textarea').value", "Hello")
	edit := human.ProcedureTarget{Role: "button", Name: "Edit", Beside: "Acme"}
	p.lacks(human.ProcedureCheckpoint{Is: "element", Target: &edit}, 0, "2 that are alike")
	edit.Columns = []string{"Customer"}
	p.holds(human.ProcedureCheckpoint{Is: "element", Target: &edit})
	edit.Columns = []string{"Company"} // which the table does not have any more
	p.lacks(human.ProcedureCheckpoint{Is: "element", Target: &edit}, 0, "2 that are alike")
	p.js(p.tab, p.top(p.tab), "document.querySelector('x-button').attachShadow({mode: 'open'}).innerHTML = '<button>Edit</button>'", nil)
	p.holds(human.ProcedureCheckpoint{Is: "element", Target: &human.ProcedureTarget{Role: "button", Name: "Edit", Beside: "Kiel"}})
	p.lacks(human.ProcedureCheckpoint{Is: "text", Text: "24.24"}, 0, "not say")
	p.holds(human.ProcedureCheckpoint{Is: "text", Text: "124.24"})
	for line, there := range map[string]bool{"acme": true, "Order for Acme: 124.24 €": true, "Order for  Acme: 124.24 €": true, "Order for Acme": false, "124.24": false, "Zorro & Sons": false, "Post": false} {
		if c := (human.ProcedureCheckpoint{Is: "line", Text: line}); there {
			p.holds(c)
		} else {
			p.lacks(c, 0, "no such line")
		}
	}
	p.js(p.tab, p.top(p.tab), "document.querySelector('#said').innerHTML = 'Order for <b>Ac</b>me <button>Copy</button>'", nil)
	p.holds(human.ProcedureCheckpoint{Is: "line", Text: "Order for Acme"})
}

// A page may put a colon or a star behind what it calls a field, and a choice from another group is another one.
func TestNamesAndGroups(t *testing.T) {
	p, _ := perform(t, map[string]string{"/": `<form onsubmit="event.preventDefault(); this.title += 'n'"><label><span>User</span><span style="margin-left:1ex">name</span>: <input></label><label>Way <select><optgroup label=Received><option>Cash<option>Bank</optgroup></select></label><button>Send</button></form>`}, nil)
	name := &human.ProcedureTarget{Role: "textbox", Name: "User name"}
	p.does(human.ProcedureStep{Do: "change", Target: name, Text: "Ann"})
	p.click(p.tab, p.top(p.tab), "button")
	e := p.wait(human.PagePress, func(e human.RecordedEvent) bool { return e.Element.Name == "Send" })
	if len(e.Element.Form) != 2 || e.Element.Form[1].Holds != "Received › Cash" {
		t.Errorf("the form is %+v", e.Element.Form)
	}
	send := human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Send"}, Form: e.Element.Form}
	p.does(send)
	p.js(p.tab, p.top(p.tab), "document.querySelector('optgroup').label = 'Refund'", nil)
	p.fails(send, "Refund › Cash")
	p.js(p.tab, p.top(p.tab), "document.querySelector('label span').textContent = 'Name of the'", nil)
	p.lacks(human.ProcedureCheckpoint{Is: "element", Target: name}, 0, "")
}

const aPage = `<header>Hello Ann</header><nav>Orders</nav><main><p>Orders › New</p><h1>Order of 30 November 2026</h1><p>For <b>Acme</b>, 12 pieces at 3.50 €.</p>
<table><tr><td>Doris<td>Kiel</table><ul><li>One<li>Two</ul><dl><dt>State<dd>overdue</dl><p>Last saved <time>two minutes ago</time></p><p role=status>Saved</p><div style="position:fixed">Chat</div><p style="display:none">Never</p>
<form id=f onsubmit="event.preventDefault(); this.title += 'n'"><label>Name <input id=name></label><label><input type=checkbox> Keep it secret</label><p id=hint>You get<br>a mail.</p><button id=send>Send</button> <button type=button>Cancel</button></form></main>`

// The lines around what is pressed are recorded: no rows, no labels, nothing that passes, no numbers and no dates.
func TestWhatIsSaidAroundAButton(t *testing.T) {
	p, _ := perform(t, map[string]string{"/": aPage}, nil)
	p.click(p.tab, p.top(p.tab), "#send")
	e := p.wait(human.PagePress, func(e human.RecordedEvent) bool { return e.Element.Name == "Send" })
	want := []string{"Orders > New", "Order of #", "For Acme, # pieces at # €.", "State", "Last saved", "Keep it secret", "You get", "a mail.", "Cancel"}
	if !slices.Equal(e.Element.Says, want) {
		t.Errorf("the page says %q", e.Element.Says)
	}
	p.js(p.tab, p.top(p.tab), "document.querySelector('main').append(...Array.from({length: 200}, (_, i) => Object.assign(document.createElement('p'), {textContent: 'Line ' + i})))", nil)
	p.click(p.tab, p.top(p.tab), "#send + button")
	if e = p.wait(human.PagePress, func(e human.RecordedEvent) bool { return e.Element.Name == "Cancel" }); e.Element.Says != nil {
		t.Errorf("of a long page it says %q", e.Element.Says)
	}
}

// A page that says something else around a button is not sent; what a pattern allows is.
func TestOtherWordsAroundAButton(t *testing.T) {
	p, _ := perform(t, map[string]string{"/": aPage}, nil)
	send := human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Send"}, Says: []string{"Orders > New", "Order of #", "Order of # › *", "All ∗ of it", "State", "Last saved", "Keep it secret", "Cancel", "You get*", "You get › a mail."}}
	hint := func(html string) {
		p.js(p.tab, p.top(p.tab), "document.querySelector('#hint').innerHTML = "+quote(html), nil)
	}
	for _, tt := range []struct{ html, found string }{
		{"You get a mail.<br>The basket is sent, too: 5 Labels.", "The basket is sent, too: 5 Labels."},
		{"a mail.", "a mail."},
		{"<label>Why</label>Press to confirm that all is sent", "all is sent"},
		{"All the rest of it", "All the rest of it"},
		{"<label><input type=checkbox> Do not send all</label>", "Do not send all"},
		{"<button type=button aria-pressed=false>All orders</button>", "All orders"},
		{"<ul><li>To Ann</li><li>To Bert</li></ul>", "To Ann"},
		{"<a href=x>A copy goes to Bert.</a> Change", "A copy goes to Bert."},
		{"<button type=button role=tab aria-selected=true>To me</button>", "To me"},
		{"You get .* or so?<br>[a mail]", "[a mail]"},
	} {
		hint(tt.html)
		if m := p.fails(send, tt.found); m.Did {
			t.Errorf("%s: %+v", tt.html, m)
		}
	}
	p.is("document.querySelector('#f').title", "")
	for _, html := range []string{"All * of it", "You get 3 mails.", "You get<br>a mail.", "<label>Copies</label><span style='position:absolute;clip-path:inset(50%)'>For readers</span>"} {
		hint(html)
		p.does(send)
	}
	p.is("document.querySelector('#f').title", "nnnn")
	p.js(p.tab, p.top(p.tab), "document.querySelector('#f').insertAdjacentHTML('beforebegin', '<ul><li>Three<li><a href=x>News</a></ul><button>Try</button>')", nil)
	p.does(send) // outside of the form they are data, and other things to do
	p.is("document.querySelector('#f').title", "nnnnn")
}
