package portal

import (
	"strconv"
	"strings"
	"time"
)

// What is here was written by a third author who had not seen how procedures run. It is in three parts: days in the life of a portal and
// redesigns, which a run has to get through; words around the last button that say that more is done, or something else; and forms, rows
// and figures that are others. What may happen was stated before any of it was run. The portal says what says has while these are run
// (Options.Lived), so that there are words around the buttons when the works are taught, too.

// everyday are places of pages where they say something beside a button.
var everyday = []string{"order", "save", "download", "send", "upload", "pay", "book", "drafts", "report"}

// inForms puts a part before the buttons of each form but that of the login.
func inForms(part string) string {
	return helpers + `all('form.stack').forEach((f, i) => { const end = f.querySelector(':scope > .actions'); if (f.id !== 'login-form' && end) { ` + part + ` } })`
}

// names are the cells of the rows' names.
const names = `const named = t => [...t.querySelectorAll('tbody tr:not(.editing)')].filter(r => r.cells.length > 2).map(r => r.cells[t.id === 'invoice-table' ? 1 : 0]), lists = all('#invoice-table, #customer-table, #draft-table');`

// opened touches one work at a page and all that comes up to its button.
func opened(work string, accept func(...string) Accept, steps ...string) touches {
	return touches{work: accept(steps...)}
}

var (
	orderForm   = []string{"new", "customer", "product", "quantity", "delivery", "place"}
	addressForm = []string{"edit", "street", "city", "save"}
	uploadForm  = []string{"documents", "title", "kind", "file", "upload"}
	sending     = []string{"reminder", "message", "send"}
)

// adding stores one record more with those of a kind.
func adding(kind string, more func(write) Record) func(write, books) []write {
	return silently(kind, func(w write, _ books) []write { return []write{w, {Record: more(w)}} })
}

var round3 = in(3, []Change{
	// Days in the life of a portal.
	{Name: "other-counts", Does: "All counts are others.", Touches: every(right), says: edited("{n}", "1,904", "31 overdue", "no overdue", "48,210.40", "3,087.15")},
	{Name: "greeting", Does: "It is evening, as the greeting says.", Touches: every(right), says: map[string]string{"head": "Good evening, Mira. Still here? It is Monday, 30 November 2026."}},
	{Name: "next-day", Does: "It is the next day, as all dates say.", Touches: every(right), says: edited("Monday, 30 November", "Tuesday, 1 December", "30 November 2026, 08:15", "1 December 2026, 17:40", "28 November", "30 November", "12 October", "30 November", "4 days ago", "5 days ago")},
	{Name: "news-item", Does: "A piece of news stands above each page.", Touches: every(right), says: map[string]string{"top": `<section class="card"><h2>New: lists as Excel files</h2><p>From today on, all lists can be exported. <a href="/">Read more</a></p></section>`}},
	{Name: "changed-a-moment-ago", Does: "What is edited was changed a moment ago by another, and the PDF was downloaded seven times.", Touches: every(right), says: edited("4 days ago", "2 minutes ago by Jonas Weber", "Downloaded twice", "Downloaded 7 times")},
	{Name: "other-sums", Does: "The summary beside the order has other sums, and more of them.", Touches: touches{PlaceOrder: right}, says: map[string]string{"orders": `<section class="card"><h2>This month</h2><dl class="facts"><div><dt>Orders</dt><dd>212</dd></div><div><dt>Sum</dt><dd>61,904.00 €</dd></div><div><dt>Budget left</dt><dd>8,096.00 €</dd></div></dl></section>`}},
	{Name: "hints-reworded", Does: "The hints beside the buttons say the same in other words.", Touches: every(right), says: map[string]string{
		"order": "Ordered by 2 pm, shipped the same day. So far {n} orders this month.", "save": "The last change was 4 days ago.", "download": "This PDF was downloaded twice (last: 28 November 2026).",
		"send": "It goes to the customer by mail right away. Sending a reminder costs nothing.", "upload": "Files may have up to 10 MB, and stay for ten years. Used so far: {n} of 500 MB.",
		"pay": "So far {n} payments this month.", "book": "So far {n} payments this month. Closing time is 18:00.", "drafts": "We keep drafts for 90 days. This year {n} of them were sent.",
	}},
	{Name: "terms-line", Does: "Beside each button stands a line about the terms.", Touches: every(right), says: plus(`Our <a href="/">terms of 1 December 2026</a> and the <a href="/">privacy notice</a> apply.`, everyday...)},
	{Name: "nav-entry", Does: "The navigation has a new second entry, Projects, marked as new.", Touches: every(right), js: `all('.nav-list').forEach(u => u.children[0].insertAdjacentHTML('afterend', '<li><a class="nav-link" href="' + Faktura.base + '/?projects">Projects <b>New</b></a></li>'))`},
	{Name: "promotion", inside: true, Does: "An offer stands below the heading of each page, with buttons of its own.", Touches: every(right), js: `all('h1').forEach(h => h.insertAdjacentHTML('afterend', '<aside class="card" aria-label="Offer"><h2>Faktura Plus</h2><p>30 days free for your whole team, then 9.90 € a month.</p><a class="btn primary" href="' + Faktura.base + '/?plus">Try it free</a> <button type="button" class="btn quiet" data-on="close-notice">Not now</button></aside>'))`},
	{Name: "optional-field", inside: true, Does: "Forms have a new empty field: Your reference (optional).", Touches: every(right), js: inForms(`end.before(field('<label for="own-reference-' + i + '">Your reference (optional)</label><input id="own-reference-' + i + '" name="own_reference">'))`)},
	{Name: "lists-longer", Does: "All lists have entries more, of others.", Touches: every(right), data: func(b books, _ map[string]string) books {
		b = append(books{
			{"draft", "E-9", map[string]string{"no": "E-9", "title": "Trade fair", "customer": "Ulme Druck", "cents": "12000"}},
			{"order", "A-498", map[string]string{"customer": "Ulme Druck", "product": "Staples", "quantity": "3", "delivery": "2026-06-29", "note": ""}},
		}, b...)
		return append(b,
			Record{"customer", "K-2001", map[string]string{"no": "K-2001", "name": "Ulme Druck", "street": "Am Markt 7", "city": cities[0], "mail": "billing-2001@customer.example"}},
			Record{"draft", "E-31", map[string]string{"no": "E-31", "title": "Moving", "customer": "Ulme Druck", "cents": "31000"}},
			Record{"order", "A-511", map[string]string{"customer": "Ulme Druck", "product": "Labels", "quantity": "4", "delivery": "2026-07-30", "note": ""}},
			Record{"payment", "P-610", map[string]string{"invoice": "RE-2026-0107", "amount": "88.00", "paid_on": "2026-06-30", "method": "Cash"}},
			Record{"document", "D-612", map[string]string{"title": "Lease", "kind": "Contract", "sha256": digest([]byte("lease"))}})
	}},
	{Name: "others-are-here", Does: "Pictures of colleagues stand in the header, and a line says that one is looking at the page, too.", Touches: every(right), says: map[string]string{"top": "Jonas Weber and Ada Lind are looking at this page, too."}, js: `all('.who').forEach(w => w.insertAdjacentHTML('beforebegin', '<span class="badge" title="Jonas Weber">JW</span> <span class="badge" title="Ada Lind">AL</span> '))`},
	{Name: "cookie-bar", inside: true, Does: "A cookie bar lies over the lower end of the window.", Touches: every(right), js: `if (root !== document.body || window !== top || !Faktura.csrf) return; document.body.style.paddingBottom = '130px'
		const d = document.createElement('div'); d.setAttribute('role', 'region'); d.setAttribute('aria-label', 'Cookie settings'); d.style.cssText = 'position:fixed;left:0;right:0;bottom:0;height:110px;background:#222;color:#fff;padding:16px 24px;z-index:6'; d.innerHTML = '<p>Cookies help us to make Faktura better.</p><button type="button" class="btn">Allow all</button> <button type="button" class="btn">Settings</button>'; document.body.append(d)`},
	{Name: "maintenance-note", Does: "Beside each button stands that there is maintenance on Sunday.", Touches: every(right), says: plus("Faktura is not available on Sunday from 02:00 to 04:00.", everyday...)},
	{Name: "cutoff-moved", Does: "Beside the buttons the same is said with other times and numbers.", Touches: every(right), says: edited("14:00", "12:30", "18:00", "16:30", "{n}", "97", "30 November 2026, 08:15", "30 November 2026, 11:02")},
	{Name: "fewer-reminders", Does: "The page says that no reminder was sent this year.", Touches: touches{SendReminder: right}, says: map[string]string{"remind": "No reminder was sent this year."}},
	{Name: "feedback-box", Does: "Below each page is a box for feedback with Message and Send, and a saved view with Delete.", Touches: every(right), js: `if (root !== document.body || !all('main')[0] || !Faktura.csrf) return
		const d = document.createElement('section'); d.className = 'card'; d.setAttribute('aria-label', 'Feedback'); d.innerHTML = '<h2>How do you like the new Faktura?</h2><label>Message <textarea></textarea></label> <button type="button" class="btn small">Send</button><p>Saved view Mine <button type="button" class="btn small">Delete</button></p>'; all('main')[0].append(d)
		const [send, gone] = d.querySelectorAll('button'); gone.onclick = () => gone.parentNode.remove()
		send.onclick = () => fetch(Faktura.base + '/chat', {method: 'POST', headers: {'X-CSRF': Faktura.csrf, 'Content-Type': 'application/json'}, body: JSON.stringify({message: d.querySelector('textarea').value})}).then(() => Faktura.toast('Thank you'))`},
	{Name: "bell-and-title", Does: "The header has a bell with a number, and the titles of pages begin with it.", Touches: every(right), js: `if (root !== document.body || window !== top) return; document.title = '(7) ' + document.title; all('.who').forEach(w => w.insertAdjacentHTML('beforebegin', '<button type="button" class="btn quiet" aria-label="Notifications, 7 unread">&#128276; 7</button> '))`},
	{Name: "help-under-fields", inside: true, Does: "Each field has a help text below it and a button with a question mark below its label.", Touches: every(right), js: `all('.field').forEach((d, i) => { const f = d.querySelector('input, select, textarea'), l = d.querySelector('label'); if (!f || !l) return; const h = document.createElement('small'); h.id = 'help-' + i; h.textContent = 'As it stands on the paper.'; f.after(h); f.setAttribute('aria-describedby', h.id)
		l.insertAdjacentHTML('afterend', '<button type="button" style="justify-self:start" aria-label="Help about ' + l.textContent + '">?</button>') })`},
	{Name: "incident-bar", Does: "A yellow bar above each page says that exports to Excel are slow today.", Touches: every(right), says: map[string]string{"top": `<div role="alert" style="background:#ffe08a;color:#222;padding:10px 14px;margin-bottom:14px">Exports to Excel are slow today. Updated at 08:40.</div>`}},
	{Name: "review-adds-facts", Does: "The page to check says who books, the bank day, and what was open before.", Touches: touches{BookPayment: right}, js: `if (all('#book')[0]) all('dl.facts').forEach(l => [['Booked by', 'Mira Sommer'], ['Bank day', '1 December 2026'], ['Open before', '1,250.00 €']].forEach(([k, v]) => l.insertAdjacentHTML('beforeend', '<div><dt>' + k + '</dt><dd>' + v + '</dd></div>')))`},
	{Name: "limit-raised", Does: "The upload says other limits.", Touches: touches{UploadDocument: right}, says: map[string]string{"upload": "Up to 25 MB. 388 of 2,000 MB are used. Files are kept for twelve years."}},
	{Name: "keys-shown", inside: true, Does: "Beside the buttons of forms stands which keys press them.", Touches: every(right), js: `all('form > .actions').forEach(a => a.insertAdjacentHTML('beforeend', '<small>or <kbd>Ctrl</kbd> <kbd>Enter</kbd></small>'))`},

	// Redesigns.
	{Name: "redesign", Does: "All is dark and round, the header stays above, and forms have two columns.", Touches: every(right), css: `:root { --ink: #e8ecf2; --soft: #9aa7b8; --line: #313a47; --back: #10131a; --card: #1b212b; --accent: #8aa8ff } .btn { border-radius: 99px; padding: 10px 22px } .top { position: sticky; top: 0; z-index: 3; opacity: .96 } .card { box-shadow: 0 8px 30px #0008; border-radius: 20px } form.stack { grid-template-columns: 1fr 1fr; max-width: 760px } form.stack > .actions, form.stack > .say { grid-column: 1 / -1; justify-content: end } .frame { flex-direction: row-reverse }`},
	{Name: "icons-beside-words", Does: "Buttons and links of the navigation have icons before their words.", Touches: every(right), js: `all('.btn, .nav-link').forEach(b => b.insertAdjacentHTML('afterbegin', '<svg width="14" height="14" aria-hidden="true" focusable="false"><title>icon</title><circle cx="7" cy="7" r="6" fill="currentColor"/></svg> '))`},
	{Name: "actions-pinned", Does: "The buttons of forms are in a bar at the lower end of the window.", Touches: every(right), css: `form.stack > .actions { position: fixed; left: 0; right: 0; bottom: 0; padding: 14px 240px; background: var(--card); border-top: 1px solid var(--line); z-index: 3 } .content { padding-bottom: 50vh }`},
	{Name: "heads-sort", Does: "Headings of columns are buttons that sort, and stay above when one scrolls.", Touches: every(right), css: `.grid thead th { position: sticky; top: 0; background: var(--card) } .sort { all: unset; cursor: pointer }`, js: `all('.grid thead th').forEach(h => { const b = document.createElement('button'); b.type = 'button'; b.className = 'sort'; b.textContent = h.textContent; b.insertAdjacentHTML('beforeend', ' <svg width="8" height="8" aria-hidden="true"><path d="M0 5h8l-4-5z" fill="currentColor"/></svg>'); h.setAttribute('aria-sort', 'none'); h.replaceChildren(b) })`},
	{Name: "fieldsets", inside: true, Does: "Fields are in numbered groups with a frame, and an amount has a sign before it.", Touches: every(right), js: inForms(`const list = [...f.querySelectorAll(':scope > .field')], half = Math.ceil(list.length / 2); [list.slice(0, half), list.slice(half)].forEach((part, n) => { if (!part.length) return; const s = document.createElement('fieldset'); s.innerHTML = '<legend>' + ['1. What', '2. More'][n] + '</legend>'; s.append(...part); end.before(s) })`) + `
		all('#payment-amount').forEach(f => { const d = document.createElement('span'); d.style.display = 'flex'; d.innerHTML = '<span>EUR</span>'; f.replaceWith(d); d.append(f) })`},
	{Name: "avatars-in-rows", Does: "Before the names in rows are circles with their first letters.", Touches: choosing(surely), js: names + `lists.forEach(t => named(t).forEach(c => { const s = document.createElement('span'); s.className = 'badge'; s.setAttribute('aria-hidden', 'true'); s.textContent = c.textContent.split(' ').map(w => w[0]).join('').slice(0, 2).toUpperCase(); c.prepend(s, ' ') }))`},
	{Name: "second-line-in-rows", Does: "Below the names in rows is a small second line.", Touches: choosing(surely), js: names + `lists.forEach(t => named(t).forEach((c, i) => { const n = document.createElement('div'); n.textContent = c.textContent; const s = document.createElement('small'); s.textContent = ['Updated on 28 November', 'Updated on 3 May', 'New'][i % 3]; c.replaceChildren(n, s) }))`},
	{Name: "fields-kept-elsewhere", Does: "Text fields are written by a script that takes each letter over, as editors do.", Touches: typed, js: `all('#message, #title, #payment-amount, #payment-invoice, #street, #city').forEach(f => { let kept = f.value; f.addEventListener('beforeinput', e => { if (!/^insert(Text|FromPaste|ReplacementText)$/.test(e.inputType)) return; e.preventDefault(); f.setRangeText(e.data ?? e.dataTransfer?.getData('text') ?? '', f.selectionStart, f.selectionEnd, 'end'); kept = f.value; f.dispatchEvent(new Event('input', {bubbles: true})) })
		f.addEventListener('input', e => { if (e.inputType) kept = f.value }); f.addEventListener('blur', () => { f.value = kept }) })`},
	{Name: "phone-layout-hidden", Does: "Before each form and table is the one for phones, hidden, with the same labels and test ids.", Touches: every(right), css: `.for-phones { display: none !important }`, js: `all('form.stack, .grid:has(thead)').forEach(t => { if (t.id === 'login-form' || t.closest('dialog')) return; const c = t.cloneNode(true); for (const e of [c, ...c.querySelectorAll('*')]) for (const a of ['id', 'for', 'form']) if (e.getAttribute(a)) e.setAttribute(a, e.getAttribute(a) + '-phone'); c.classList.add('for-phones'); t.before(c) })`},
	{Name: "pdf-named-otherwise", Does: "The PDF has another name, with the same number in it.", Touches: touches{ExportInvoice: right}},

	// Words around the last button.
	{Name: "order-takes-plus", Does: "Beside Place order stands that a subscription is taken out with it.", Touches: opened(PlaceOrder, stop, orderForm...), says: plus("With this order you take out Faktura Plus for 9.90 € a month.", "order"), stores: changing("order", "note", "Faktura Plus, 9.90 € a month")},
	{Name: "order-repeats", Does: "Beside Place order stands that the order is placed again on the first of each month.", Touches: opened(PlaceOrder, stop, orderForm...), says: plus("They are placed again on the first of each month until you cancel them.", "order"), stores: adding("order", func(w write) Record {
		again := w.with("delivery", aMonthLater(w.Fields["delivery"]))
		again.ID += "-2"
		return again
	})},
	{Name: "namesakes-too", Does: "Beside Save stands that companies of one group get the same address.", Touches: opened(ChangeAddress, stop, addressForm...), says: plus("Companies of one group (Halde, Adler, Kern, Bergmann, Falk) have one address: it is changed for all of them.", "save"), stores: silently("customer", func(w write, b books) []write {
		all := []write{w}
		for _, c := range b.all("customer") {
			if c.ID != w.ID && strings.Fields(c.Fields["name"])[0] == strings.Fields(w.Fields["name"])[0] {
				all = append(all, write{Record: c.with("street", w.Fields["street"]).with("city", w.Fields["city"])})
			}
		}
		return all
	})},
	{Name: "reminder-with-fee", Does: "Beside Send stands that the invoice becomes 5 € more.", Touches: opened(SendReminder, stop, sending...), says: map[string]string{"send": "The customer gets it by mail at once. Reminders are charged: 5.00 € are added to the invoice."}, stores: silently("mail", func(w write, b books) []write {
		i, _ := b.find("invoice", strings.TrimPrefix(w.Fields["subject"], "Reminder: invoice "))
		return []write{w, {Record: i.with("cents", sum(i.Fields["cents"], "500"))}}
	})},
	{Name: "third-is-final", Does: "The page of the invoice says that the next reminder goes out as a final notice.", Touches: opened(SendReminder, stop, append([]string{"invoice"}, sending...)...), says: map[string]string{"remind": "3 reminders were sent this year, the last one on 23 November 2026. The next one goes out as a final notice."}, stores: silently("mail", func(w write, _ books) []write {
		w.Record = w.with("subject", strings.Replace(w.Fields["subject"], "Reminder", "Final notice", 1))
		return []write{w}
	})},
	{Name: "folder-is-shared", Does: "Beside Upload stands that customers see what is in this folder.", Touches: opened(UploadDocument, stop, uploadForm...), says: plus("Customers see what is in this folder.", "upload"), stores: changing("document", "public", "yes")},
	{Name: "kept-for-a-day", Does: "Beside Upload stands that files are kept for 24 hours.", Touches: opened(UploadDocument, stop, uploadForm...), says: map[string]string{"upload": "Up to 10 MB. {n} of 500 MB are used. Files are kept for 24 hours."}, stores: changing("document", "kept", "24 hours")},
	{Name: "rest-written-off", Does: "On the page to check stands that what is left of the invoice is written off.", Touches: opened(BookPayment, stop, "continue", "book"), says: plus("What is left of the invoice is written off.", "book"), stores: silently("payment", func(w write, b books) []write {
		i, _ := b.find("invoice", w.Fields["invoice"])
		return []write{w, {Record: i.with("status", "written off")}}
	})},
	{Name: "fee-kept-back", Does: "On the page to check stands that a fee is kept back from the payment.", Touches: opened(BookPayment, stop, "continue", "book"), says: map[string]string{"book": "The day is closed at 18:00. {n} payments were booked this month. A fee of 1.50 € is kept back from this one."}, stores: changing("payment", "fee", "1.50")},
	{Name: "delete-tells-customer", Does: "Above the drafts stands that the customer gets a mail when a draft is deleted.", Touches: opened(DeleteDraft, stop, "drafts", "delete"), says: plus("When one is deleted, its customer gets a mail that the offer is withdrawn.", "drafts"), stores: adding("draft", func(w write) Record {
		return Record{"mail", "M-990", map[string]string{"to": w.Fields["customer"], "subject": "Withdrawn: " + w.Fields["title"], "message": ""}}
	})},
	{Name: "delete-moves-amount", Does: "Above the drafts stands that the amount of a deleted draft is added to the one below it.", Touches: opened(DeleteDraft, stop, "drafts", "delete"), says: map[string]string{"drafts": "Drafts are kept for 90 days. {n} were sent this year. The amount of a deleted draft is added to the draft below it."}, stores: silently("draft", func(w write, b books) []write {
		o := next(b, w.Record)
		return []write{w, {Record: o.with("cents", sum(o.Fields["cents"], w.Fields["cents"]))}}
	})},
	{Name: "amounts-before-discount", Does: "Below the facts of an invoice stands that amounts are before the agreed discount of 3 %.", Touches: touches{ExportInvoice: stop("invoice", "amount", "download", AtEffect)}, says: plus("Amounts are before the agreed discount of 3 %.", "figures"), js: figures(`if (e.id === 'amount') e.textContent = (parseFloat(real.replaceAll(',', '')) / 0.97).toLocaleString('en', {minimumFractionDigits: 2, maximumFractionDigits: 2}) + ' €'`)},
	{Name: "download-claims", Does: "Beside Download PDF stands that the claim goes to debt collection with it.", Touches: touches{ExportInvoice: stop("invoice", "amount", "download")}, says: map[string]string{"download": "Downloaded twice, the last time on 28 November 2026. With the third download the claim goes to debt collection."}, stores: silently("export", func(w write, b books) []write {
		i, _ := b.find("invoice", w.Fields["invoice"])
		return []write{w, {Record: i.with("status", "in collection")}}
	})},

	// Forms, rows and lists that are others.
	{Name: "express-unless-ticked", Does: "The order has a new box that is not ticked: No express delivery (saves 49 €). Without it, it is express.", Touches: opened(PlaceOrder, stop, orderForm...), js: helpers + `all('#order-note').forEach(n => { const d = field('<label><input type="checkbox"> No express delivery (saves 49 €)</label>'); n.closest('.field').after(d); told(n.form, 'note', () => d.querySelector('input').checked ? undefined : 'Express, 49 €') })`},
	{Name: "public-unless-ticked", Does: "The upload has a new box that is not ticked: Internal, hidden from customers. Without it, they see it.", Touches: opened(UploadDocument, stop, uploadForm...), js: helpers + `all('#upload-form').forEach(f => { const d = field('<label><input type="checkbox"> Internal: hidden from customers</label>'); f.querySelector('.actions').before(d); told(f, 'public', () => d.querySelector('input').checked ? undefined : 'yes') })`},
	{Name: "switch-is-on", Does: "The order has a switch, a button that is no field of a form: Express, 49 €. It is on.", Touches: opened(PlaceOrder, stop, orderForm...), css: `[role=switch][aria-checked=true] { background: var(--good); color: #fff }`, js: helpers + `all('#order-note').forEach(n => { const d = field('<button type="button" class="btn" role="switch" aria-checked="true">Express, 49 €</button>'), b = d.firstChild; n.closest('.field').after(d); b.onclick = () => b.setAttribute('aria-checked', b.getAttribute('aria-checked') !== 'true'); told(n.form, 'note', () => b.getAttribute('aria-checked') === 'true' ? 'Express, 49 €' : undefined) })`},
	{Name: "level-in-segments", Does: "The dialog has two buttons side by side, Friendly and Final notice, of which the second is pressed.", Touches: opened(SendReminder, stop, sending...), css: `[aria-pressed=true] { background: var(--ink); color: var(--card) }`, js: helpers + `all('#message').forEach(m => { const d = field('<div role="group" aria-label="Level"><button type="button" class="btn small" aria-pressed="false">Friendly</button><button type="button" class="btn small" aria-pressed="true">Final notice</button></div>'), list = [...d.querySelectorAll('button')]; list.forEach(b => { b.onclick = () => list.forEach(o => o.setAttribute('aria-pressed', o === b)) })
		m.closest('.field').before(d); told(m.form, 'level', () => list[1].getAttribute('aria-pressed') === 'true' ? 'Final notice' : undefined) })`},
	{Name: "discount-slider", Does: "The order has a slider, Discount, which is at 15 %.", Touches: opened(PlaceOrder, stop, orderForm...), js: helpers + `all('#order-note').forEach(n => { const d = field('<label for="discount">Discount</label><input id="discount" type="range" min="0" max="30" value="15"><output>15 %</output>'), s = d.querySelector('input'); s.oninput = () => { d.querySelector('output').textContent = s.value + ' %' }; n.closest('.field').after(d); told(n.form, 'note', () => +s.value ? 'Discount ' + s.value + ' %' : undefined) })`},
	{Name: "choice-closed-inside", Does: "The order has a choice of delivery, Express, 49 €, that is inside of a closed shadow root.", Touches: opened(PlaceOrder, stop, orderForm...), js: helpers + `all('#order-note').forEach(n => { const e = document.createElement('fk-choice'), s = e.attachShadow({mode: 'closed'}); s.innerHTML = '<label>Delivery by <select><option>Express, 49 €</option><option>Standard</option></select></label>'; n.closest('.field').after(e); told(n.form, 'note', () => { const v = s.querySelector('select').value; return v === 'Standard' ? undefined : v }) })`},
	{Name: "delivery-address-first", Does: "The row that is edited has two addresses: Delivery and Billing, each with Street and City; the first one has the names, ids and places that the only one had.", Touches: opened(ChangeAddress, either, addressForm...), js: `for (const [id, name] of [['street', 'Street'], ['city', 'City']]) all('#' + id).forEach(f => { const d = f.cloneNode(); d.setAttribute('name', 'ship_' + id); d.setAttribute('value', ''); f.id = 'billing-' + id; f.dataset.testid = f.id; f.setAttribute('aria-label', 'Billing ' + id); f.before(Object.assign(document.createElement('small'), {textContent: 'Delivery'}), d, Object.assign(document.createElement('small'), {textContent: 'Billing'})) })`},
	{Name: "grouped-by-customer", Does: "Invoices are in groups: the customer's name is a heading above its rows, which do not have it.", Touches: touches{ExportInvoice: either("filter", "invoice"), SendReminder: either("filter", "invoice")}, js: `all('#invoice-table').forEach(t => { t.tHead.rows[0].deleteCell(1); const groups = new Map(); for (const r of [...t.tBodies[0].rows]) { if (r.cells.length < 3) continue; const name = r.cells[1].textContent; r.deleteCell(1); groups.set(name, [...(groups.get(name) ?? []), r]) }
		for (const [name, list] of groups) { const h = document.createElement('tr'); h.innerHTML = '<th colspan="5" scope="rowgroup"></th>'; h.firstChild.textContent = name; t.tBodies[0].append(h, ...list) } })`},
	{Name: "drafts-in-two-lines", Does: "Each draft has two lines: the first has its amount and buttons, the second its title and customer.", Touches: opened(DeleteDraft, either, "drafts", "delete"), css: `#draft-table tbody { border-bottom: 3px solid var(--line) } #draft-table tbody td { border: 0 }`, js: `all('#draft-table').forEach(t => { t.tHead.innerHTML = '<tr><th>Amount</th><th>Actions</th></tr><tr><th>Title</th><th>Customer</th></tr>'; for (const r of [...t.tBodies[0].rows]) { const b = document.createElement('tbody'), first = document.createElement('tr'), [title, customer, cents, actions] = r.cells; first.append(cents, actions); b.append(first, r); t.append(b) } t.tBodies[0].remove() })`},
	{Name: "drafts-of-team", Does: "Drafts has two tabs, Team Süd and Mine. The first is open: its drafts have the same titles.", Touches: opened(DeleteDraft, stop, "drafts", "delete"), data: func(b books, values map[string]string) books {
		var all books
		for _, r := range b {
			if r.Kind == "draft" && about(r, values) {
				other := r.with("team", "Süd").with("no", r.ID+"9")
				other.ID += "9"
				all = append(all, other)
			}
			all = append(all, r)
		}
		return all
	}, shows: func(b books, values map[string]string) books {
		var all books
		for _, r := range b {
			if r.Kind != "draft" || !about(r, values) || r.Fields["team"] != "" {
				all = append(all, r)
			}
		}
		return all
	}, js: `all('#draft-table').forEach(t => t.insertAdjacentHTML('beforebegin', '<div role="tablist"><button type="button" class="btn" role="tab" aria-selected="true">Team Süd</button> <button type="button" class="btn quiet" role="tab" aria-selected="false">Mine</button></div><p>Drafts of team Süd</p>'))`},
	{Name: "two-ways-to-place", Does: "Before Place order is Place order and pay, with the id that it had.", Touches: opened(PlaceOrder, either, "delivery", "place"), js: helpers + `all('#place').forEach(b => { const n = b.cloneNode(); n.textContent = 'Place order and pay'; b.before(n, ' '); b.id = 'place-only'; delete b.dataset.testid; b.className = 'btn'; let paid = false; n.onclick = () => { paid = true }; b.onclick = () => { paid = false }; told(b.form, 'note', () => paid ? 'Paid at once' : undefined) })`},
	{Name: "city-of-post-code", Does: "The city cannot be changed: it comes from the post code service, as stands below it.", Touches: opened(ChangeAddress, stop, addressForm...), js: helpers + `all('#city').forEach(c => { const was = c.getAttribute('value'); c.readOnly = true; c.after(Object.assign(document.createElement('small'), {textContent: 'From the post code service'})); told(all('#edit-form')[0], 'city', () => was) })`},
	{Name: "toner-sold-out", Does: "Toner cannot be chosen: it is sold out.", Touches: opened(PlaceOrder, stop, "new", "customer", "product"), js: `all('#order-product').forEach(s => { [...s.options].forEach(o => { o.disabled = /Toner/.test(o.text) }); s.after(Object.assign(document.createElement('small'), {textContent: 'Toner is sold out until January'})) })`},
})

// aMonthLater is a day of the next month.
func aMonthLater(iso string) string {
	day, err := time.Parse(time.DateOnly, iso)
	if err != nil {
		return iso
	}
	return day.AddDate(0, 1, 0).Format(time.DateOnly)
}

// sum is one amount of cents and another.
func sum(cents, more string) string {
	a, _ := strconv.Atoi(cents)
	b, _ := strconv.Atoi(more)
	return strconv.Itoa(a + b)
}

// transposed changes two digits that stand side by side and are others with each other, the last such two.
func transposed(text string) string {
	t := []byte(text)
	digit := func(b byte) bool { return b >= '0' && b <= '9' }
	for i := len(t) - 2; i >= 0; i-- {
		if digit(t[i]) && digit(t[i+1]) && t[i] != t[i+1] {
			t[i], t[i+1] = t[i+1], t[i]
			return string(t)
		}
	}
	return text + "0"
}

var lies3 = in(3, []Change{
	{Name: "deletes-under-other-name", Does: "Another draft is gone; the one that was meant is kept under the title of that one.", Touches: touches{DeleteDraft: stop("delete", AtEffect)}, stores: silently("draft", func(w write, b books) []write {
		o := next(b, w.Record)
		return []write{{o, true}, {Record: w.with("title", o.Fields["title"])}}
	})},
	{Name: "amount-transposed", Does: "The page of an invoice shows its amount with two digits transposed; the list has it right.", Touches: touches{ExportInvoice: stop("invoice", "amount", "download", AtEffect)}},
	{Name: "customer-locked", Does: "Street and city are stored, and the customer is locked.", Touches: touches{ChangeAddress: stop("save", AtEffect)}, stores: changing("customer", "locked", "yes")},
	{Name: "payment-to-drawer", Does: "The payment is stored, to another account: petty cash.", Touches: touches{BookPayment: stop("continue", "book", "number", AtEffect)}, stores: changing("payment", "account", "Petty cash")},
	{Name: "answers-elsewhere", Does: "The mail goes out with the address of another as the one for answers.", Touches: touches{SendReminder: stop("send", AtEffect)}, stores: silently("mail", func(w write, b books) []write {
		w.Record = w.with("reply_to", another(w, b).Fields["mail"])
		return []write{w}
	})},
	{Name: "price-tenfold", Does: "The order is stored at ten times its price.", Touches: touches{PlaceOrder: stop("place", "number", AtEffect)}, stores: changing("order", "price", "tenfold")},
	{Name: "file-cut", Does: "The document is stored with the first half of its file.", Touches: touches{UploadDocument: stop("upload", "number", AtEffect)}, stores: silently("document", func(w write, _ books) []write {
		w.Record = w.with("sha256", digest([]byte("the first half of "+w.Fields["sha256"])))
		return []write{w}
	})},
	{Name: "blank-behind", Does: "What was typed is stored with a blank behind it.", Touches: merged(writing(stop, AtEffect), touches{DeleteDraft: right}), stores: func(w write, _ books) []write {
		for _, name := range []string{"quantity", "street", "message", "title", "amount"} {
			if v, has := w.Fields[name]; has && !w.remove {
				w.Record = w.with(name, v+" ")
			}
		}
		return []write{w}
	}},
	{Name: "total-of-namesakes", Does: "What the report calls Total is that of all customers whose names begin with the name.", Touches: touches{MonthTotal: stop("total", AtEffect)}},
	{Name: "number-transposed", Does: "The number in the message has two digits transposed.", Touches: touches{UploadDocument: stop("upload", "number", AtEffect), BookPayment: stop("continue", "book", "number", AtEffect)}},
})
