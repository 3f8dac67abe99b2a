package browser

import (
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// messages are what the page said, each with its role and how it came, once all of it has been read.
func (p *testPage) messages() (all []string) {
	p.t.Helper()
	p.evaluate("new Promise((done) => setTimeout(done, 900))", true, nil) // what is to come by a script of the page has come
	p.evaluate("deskbell.flush()", true, nil)
	for _, e := range p.all() {
		if e.Type == human.PageMessage {
			all = append(all, strings.TrimSpace(e.Element.Role+" "+e.Text+" "+strings.Join(e.Values, " ")))
		}
	}
	return all
}

// TestPageMessages has pages answer what is done in them in the ways that pages do (H11).
func TestPageMessages(t *testing.T) {
	c := startChromium(t)
	press := func(p *testPage) { p.click("#b") }
	for name, tt := range map[string]struct {
		html string
		do   func(p *testPage)
		want []string
	}{
		"an alert that is written at once": {
			`<button id=b onclick="a.textContent = 'The invoice was saved'">Save</button><p id=a role=alert></p>`, press,
			[]string{"alert The invoice was saved"},
		},
		"a status that comes after a while": {
			`<button id=b onclick="setTimeout(() => a.textContent = 'Sent to 3 people', 400)">Send</button><p id=a role=status></p>`, press,
			[]string{"status Sent to 3 people"},
		},
		"a toast that is added, with a button, and goes again": {
			`<button id=b onclick="let d = document.createElement('div'); d.className = 'Toastify__toast'; d.innerHTML = '<div>Profile updated</div><button>Close</button>'; setTimeout(() => document.body.append(d), 100); setTimeout(() => d.remove(), 5000)">Save</button>`, press,
			[]string{"Profile updated"},
		},
		"a line under a form, in a plain element": {
			`<form onsubmit="event.preventDefault(); setTimeout(() => r.textContent = 'Thank you, we will call you back', 100)"><input name=n><button id=b>Send</button></form><p id=r></p>`, press,
			[]string{"paragraph Thank you, we will call you back"},
		},
		"a line that is shown by the class of its field": {
			`<style>.invalid-feedback { display: none } .is-invalid ~ .invalid-feedback { display: block }</style><form novalidate onsubmit="event.preventDefault(); n.className = 'is-invalid'"><input id=n><div class=invalid-feedback>Please choose a user name.</div><button id=b>Send</button></form>`, press,
			[]string{"Please choose a user name."},
		},
		"a line that was hidden": {
			`<button id=b onclick="a.hidden = false">Go</button><div id=a hidden>Your plan has expired</div>`, press,
			[]string{"Your plan has expired"},
		},
		"what the browser says of a field": {
			`<form><input name=n required aria-label=Name><button id=b>Send</button></form>`, press,
			[]string{"textbox Please fill out this field. invalid"},
		},
		"a dialog that asks, without its buttons": {
			`<button id=b onclick="d.showModal()">Delete</button><dialog id=d><h2>Delete 3 files?</h2><p>This cannot be undone.</p><button>Cancel</button><button>Delete</button></dialog>`, press,
			[]string{"dialog Delete 3 files? This cannot be undone."},
		},
		"the heading of a page that a script shows instead": {
			`<main id=m><button id=b onclick="m.innerHTML = '<h1>Order 1042 is placed</h1>' + '<p>All that is written here is of no use to anybody.</p>'.repeat(20)">Order</button></main>`, press,
			[]string{"heading Order 1042 is placed"},
		},
		"the same message again after another act": {
			`<button id=b onclick="a.textContent = ''; setTimeout(() => a.textContent = 'Wrong password', 50)">Sign in</button><p id=a role=alert></p>`,
			func(p *testPage) {
				press(p)
				p.evaluate("new Promise((done) => setTimeout(done, 800))", true, nil)
				press(p)
			},
			[]string{"alert Wrong password", "alert Wrong password"},
		},
		"secrets in it are hidden": {
			`<button id=b onclick="a.textContent = 'Your key is ghp_0123456789abcdefghij0123456789abcdef'">Make</button><p id=a role=status></p>`, press,
			[]string{"status Your key is •••"},
		},
		"what was there, and what changes by itself, is none": {
			`<p>Online</p><p id=c role=timer>0 seconds</p><button id=b>Go</button><script>let n = 0; setInterval(() => { c.textContent = ++n + ' seconds' }, 50)</script>`, press,
			nil,
		},
		"menus and lists that offer something are none": {
			`<button id=b onclick="m.innerHTML = '<li role=menuitem>Copy</li><li role=menuitem>Paste</li>'; l.hidden = false">Edit</button><ul id=m role=menu></ul><div id=l role=listbox hidden><div role=option>One</div></div>`, press,
			nil,
		},
		"what is only moved or opened is none": {
			`<ul id=l><li id=c>Card</li><li>Other</li></ul><details id=d><summary>More</summary>Hidden words</details><button id=b onclick="l.append(c); d.open = true">Do it</button>`, press,
			nil,
		},
		"what is written on a button is none": {
			`<button id=b onclick="b.textContent = 'Do it again'; b.insertAdjacentHTML('afterend', '<a href=#>Undo it</a>')">Do it</button>`, press,
			nil,
		},
		"an element that was taken away and comes again": {
			`<div id=t class=toast>The file was saved</div><button id=b onclick="document.body.append(toast)">Save</button><script>const toast = document.querySelector('.toast'); toast.remove()</script>`, press,
			[]string{"The file was saved"},
		},
		"the rows of a table that is shown are none": {
			`<button id=b onclick="for (let i = 0; i < 20; i++) t.insertRow().innerHTML = '<td>Name ' + i + '<td>City'">Show</button><table id=t></table>`, press,
			nil,
		},
		"what comes without anything done is none": {
			`<button id=b>Go</button><p id=a role=alert></p><script>setTimeout(() => { a.textContent = 'New mail' }, 2000)</script>`, func(p *testPage) {
				p.until("new mail", func() bool { return p.text("a.textContent") != "" })
			},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.open(t, tt.html)
			tt.do(p)
			if got := p.messages(); !slices.Equal(got, tt.want) {
				t.Errorf("%q, not %q", got, tt.want)
			}
		})
	}

	t.Run("what comes with a page is marked", func(t *testing.T) {
		p := c.open(t, `<title>Shop</title><h1>Thank you for your order</h1><div class="flash notice">A receipt was sent to you</div><nav class=messages>Messages</nav>`)
		if got, want := p.messages(), []string{"heading Thank you for your order loaded", "A receipt was sent to you loaded"}; !slices.Equal(got, want) {
			t.Errorf("%q, not %q", got, want)
		}
	})
}
