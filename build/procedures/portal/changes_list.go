package portal

import (
	"slices"
	"strings"
)

// Changes are the ways in which the portal is changed on purpose. Where a change has more works than one in mind, its steps are those of
// all of them.
var Changes = append([]Change{
	// Other looks.
	{Name: "caps", Does: "Buttons, labels and headings are in capital letters by CSS.", Touches: every(right), css: `.btn, label, th, h1, h2, .nav-link { text-transform: uppercase }`},
	{Name: "right-to-left", Does: "The page runs from right to left.", Touches: every(right), html: func(_ uint64, h string) string {
		return strings.Replace(h, `<html lang="en">`, `<html lang="en" dir="rtl">`, 1)
	}},
	{Name: "zoomed", Does: "Everything is half as large again.", Touches: every(right), css: `body { zoom: 1.5 }`},
	{Name: "sticky-header", Does: "A header of 40 % of the window stays above what is scrolled, with a tall page below.", Touches: every(right), css: `.top { position: sticky; top: 0; height: 40vh; z-index: 5 } .content { padding-top: 90vh; padding-bottom: 90vh }`},
	{Name: "far-down", Does: "Everything stands three windows further down.", Touches: every(right), css: `.content { padding-top: 300vh }`},
	{Name: "animated", Does: "Buttons slide to their place for a second.", Touches: every(right), css: `@keyframes slide { from { transform: translateX(300px) } } .btn { animation: slide 1s }`},
	{Name: "cookie-banner", Does: "The cookie notice comes, and covers nothing that is needed.", Touches: every(right)},

	// Other identifiers.
	{Name: "ids-renamed", Does: "All ids have another prefix.", Touches: every(right), html: attributes(identifiers, func(_ uint64, v string) string { return "fk2-" + v })},
	{Name: "ids-random", Does: "All ids are random on each load.", Touches: every(right), html: attributes(identifiers, scramble)},
	{Name: "testids-renamed", Does: "All data-testid have another name.", Touches: every(right), html: attributes("data-testid", func(_ uint64, v string) string { return "qa_" + v })},
	{Name: "testids-gone", Does: "No data-testid is left.", Touches: every(right), html: without("data-testid")},
	{Name: "names-renamed", Does: "The names of form fields have another prefix.", Touches: every(right), html: attributes("name", func(_ uint64, v string) string { return "fk_" + v })},
	{Name: "classes-random", Does: "All classes are random, and the styles are lost.", Touches: every(right), html: attributes("class", scramble)},
	{Name: "all-random", Does: "Ids, data-testid, names' prefix and classes are all others.", Touches: every(right), html: func(load uint64, h string) string {
		return attributes("name", func(_ uint64, v string) string { return "fk_" + v })(load, attributes(identifiers+"|data-testid|class", scramble)(load, h))
	}},
	{Name: "testids-shifted", Does: "Each button and field has the id and data-testid of the one before it.", Touches: every(either(Anywhere)), js: `
		const list = all('.btn, input:not([type=hidden]), select, textarea').filter(e => e.dataset.testid), had = list.map(e => [e.id, e.dataset.testid])
		all('label[for]').forEach(l => { const f = list.find(e => e.id === l.htmlFor); if (f) { l.append(f); l.removeAttribute('for') } })
		list.forEach((e, i) => { [e.id, e.dataset.testid] = had[(i + had.length - 1) % had.length] })`},
	{Name: "buttons-swapped", Does: "Save and Delete, and Send and Cancel, change places, ids and data-testid.", Touches: touches{ChangeAddress: either("save"), SendReminder: either("send")}, js: `
		const swap = (a, b) => { if (!a || !b) return; [a.id, b.id] = [b.id, a.id]; [a.dataset.testid, b.dataset.testid] = [b.dataset.testid ?? '', a.dataset.testid ?? '']
			const mark = document.createComment(''); a.replaceWith(mark); b.before(a); mark.replaceWith(b) }
		swap(all('#save')[0], all('#delete')[0]); swap(all('#send')[0], all('#cancel-reminder')[0])`},
	{Name: "fields-swapped-under-ids", Does: "Two fields change their meaning and name, and keep id, data-testid and place: Street and City; Invoice and Amount.", Touches: touches{
		ChangeAddress: either("street", "city", "save"), BookPayment: either("invoice", "amount", "paid-on", "method", "continue"),
	}, js: `
		const swap = (a, b) => { if (!a || !b) return; [a.name, b.name] = [b.name, a.name]; [a.value, b.value] = [b.value, a.value]
			const la = a.getAttribute('aria-label'), lb = b.getAttribute('aria-label'); if (la) { a.setAttribute('aria-label', lb); b.setAttribute('aria-label', la) }
			const ta = root.querySelector('[for=' + a.id + ']'), tb = root.querySelector('[for=' + b.id + ']'); if (ta) [ta.textContent, tb.textContent] = [tb.textContent, ta.textContent]
			const head = root.querySelector('#customer-table thead tr'); if (head && la) [head.cells[2].textContent, head.cells[3].textContent] = [lb, la] }
		swap(all('#street')[0], all('#city')[0]); swap(all('#payment-invoice')[0], all('#payment-amount')[0])`},

	// Other words.
	{Name: "words-synonyms", inside: true, Does: "All buttons, labels and links say it in other words.", Touches: every(either(Anywhere)), html: words(synonyms)},
	{Name: "words-german", inside: true, Does: "All buttons, labels and links are in German.", Touches: every(either(Anywhere)), html: words(german)},
	{Name: "buttons-reworded", Does: "The buttons that write have other words.", Touches: merged(writing(either), touches{ExportInvoice: either("download"), MonthTotal: either("calculate")}), html: words(final)},
	{Name: "icons-named", Does: "Buttons are icons with the same accessible name.", Touches: every(right), js: `all('.btn').forEach(b => { b.setAttribute('aria-label', b.textContent.trim()); b.innerHTML = '<svg width="14" height="14" aria-hidden="true"><circle cx="7" cy="7" r="6" fill="currentColor"/></svg>' })`},
	{Name: "icons-only", inside: true, Does: "Buttons are icons without a name.", Touches: every(either(Anywhere)), js: `all('.btn').forEach(b => { b.innerHTML = '<svg width="14" height="14" aria-hidden="true"><circle cx="7" cy="7" r="6" fill="currentColor"/></svg>' })`},
	{Name: "labels-unbound", inside: true, Does: "Labels stand beside fields without belonging to them.", Touches: every(either(Anywhere)), html: without("for")},
	{Name: "labels-inside", inside: true, Does: "Labels are placeholders inside of the fields.", Touches: every(either(Anywhere)), js: `all('.field label').forEach(l => { const f = root.querySelector('#' + l.htmlFor); if (f && f.type !== 'checkbox') { f.placeholder = l.textContent; l.remove() } })`},
	{Name: "labels-starred", inside: true, Does: "Labels end in a star.", Touches: every(either(Anywhere)), js: `all('label').forEach(l => { l.textContent += ' *' })`},
	{Name: "counts-in-names", inside: true, Does: "Links and buttons have a count behind their words.", Touches: every(either(Anywhere)), js: `all('.btn, .nav-link').forEach((b, i) => { b.textContent += ' (' + (i * 7 % 11) + ')' })`},
	{Name: "hard-spaces", inside: true, Does: "Spaces in names are no-break spaces, and long words have soft hyphens.", Touches: every(either(Anywhere)), js: `all('.btn, label, .nav-link').forEach(e => { e.textContent = e.textContent.replaceAll(' ', '\u00a0').replace(/(\w{4})(\w{4})/g, '$1\u00ad$2') })`},
	{Name: "variants", inside: true, Does: "Every second page has other words.", Touches: every(either(Anywhere)), html: sometimes},
	{Name: "headings-reworded", Does: "Headings have other words.", Touches: every(either(Anywhere)), js: `all('h1, h2').forEach(h => { h.textContent = 'Your ' + h.textContent.toLowerCase() })`},

	// Other places.
	{Name: "nav-on-top", Does: "The navigation is above, in the opposite order.", Touches: every(right), css: `.frame { display: block } .side { width: auto } .nav-list { display: flex }`, js: `all('.nav-list').forEach(u => u.append(...[...u.children].reverse()))`},
	{Name: "nav-in-menu", Does: "The navigation has to be opened by a button.", Touches: every(either("invoices", "orders", "customers", "drafts", "documents", "payments", "reports")), js: `all('.side').forEach(n => { const b = document.createElement('button'); b.textContent = 'Menu'; b.className = 'btn'; b.onclick = () => { n.hidden = !n.hidden }; n.hidden = true; document.querySelector('.brand').after(b) })`},
	{Name: "nested", Does: "Fields and buttons are three elements deeper.", Touches: every(right), js: `all('.field > input, .field > select, .field > textarea, .btn').forEach(e => { for (let i = 0; i < 3; i++) { const d = document.createElement('span'); e.replaceWith(d); d.append(e) } })`},
	{Name: "fields-reordered", Does: "Fields are in the opposite order.", Touches: every(right), js: `all('form').forEach(f => { const end = f.querySelector(':scope > .actions'); if (end) [...f.querySelectorAll(':scope > .field')].reverse().forEach(e => end.before(e)) })`},
	{Name: "columns-reordered", Does: "Columns are in the opposite order.", Touches: every(right), js: `all('.grid thead').forEach(h => all('.grid tr').forEach(r => { if (r.cells.length > 1 && r.closest('table') === h.closest('table')) r.append(...[...r.cells].reverse()) }))`},
	{Name: "column-added", Does: "Tables have a new first column.", Touches: every(right), js: `all('.grid thead').forEach(h => all('.grid tr').forEach((r, i) => { if (r.closest('table') === h.closest('table') && r.cells.length > 1) { const c = document.createElement(r.parentNode === h ? 'th' : 'td'); c.textContent = r.parentNode === h ? 'No.' : i; r.prepend(c) } }))`},
	{Name: "rows-reordered", Does: "Rows are in the opposite order.", Touches: every(right)},
	{Name: "rows-move", Does: "The first row goes to the end every 700 ms.", Touches: choosing(either), js: `all('.grid tbody').forEach(b => setInterval(() => { if (!b.querySelector('.editing')) b.append(b.firstElementChild) }, 700))`},
	{Name: "tables-as-cards", Does: "Tables are lists of cards.", Touches: choosing(either), js: `all('.grid:has(thead)').forEach(t => { const list = document.createElement('div'); list.setAttribute('role', 'list')
		for (const r of t.tBodies[0].rows) { const card = document.createElement('div'); card.className = 'card'; card.setAttribute('role', 'listitem'); for (const c of r.cells) { const d = document.createElement('div'); d.append(...c.childNodes); card.append(d) } list.append(card) }
		t.replaceWith(list) })`},
	{Name: "row-actions-in-menu", Does: "The buttons of a row are in a menu that has to be opened.", Touches: choosing(either), js: `all('tbody tr:not(.editing) .cell-actions').forEach(c => { const d = document.createElement('details'); d.innerHTML = '<summary>Actions</summary>'; d.append(...c.childNodes); c.append(d) })`},
	{Name: "buttons-on-top", Does: "The buttons of a form are above its fields.", Touches: every(right), js: `all('form > .actions').forEach(a => a.parentNode.prepend(a))`},
	{Name: "buttons-reordered", Does: "Buttons that stand together are in the opposite order.", Touches: every(right), js: `all('.actions, #edit-form').forEach(a => a.append(...[...a.children].reverse()))`},
	{Name: "new-tab", Does: "An invoice opens in a new tab.", Touches: touches{ExportInvoice: either("invoice", "amount"), SendReminder: either("invoice", "reminder")}},
	{Name: "iframe-removed", Does: "The report is a page of its own behind a link.", Touches: touches{MonthTotal: either("reports", "customer")}},
	{Name: "iframe-added", Does: "All pages are inside of an iframe.", Touches: every(either(Anywhere)), css: `.framing { width: 100%; height: 80vh; border: 0 }`, js: `
		const main = all('main')[0], nav = all('.side')[0]; if (!main || !nav) return
		if (self === top) { const f = document.createElement('iframe'); f.className = 'framing'; f.title = 'Page'; f.src = location.href; main.replaceChildren(f) } else { nav.remove(); all('.top')[0].remove() }`},
	{Name: "shadow-root", Does: "The single-page part is inside of a shadow root.", Touches: touches{PlaceOrder: either(Anywhere), ChangeAddress: either(Anywhere)}},
	{Name: "paths-renamed", Does: "All addresses have another beginning.", Touches: every(either(Anywhere))},
	{Name: "other-host", Does: "The portal, with its login, is at another host.", Touches: every(stop("sign-in"))},

	// Dialogs.
	{Name: "cookie-wall", Does: "A cookie notice covers each page until it is answered once.", Touches: every(either(Anywhere)), js: `if (root !== document.body || window !== top || localStorage.cookies) return
		const d = document.createElement('dialog'); d.innerHTML = '<p>We value your privacy.</p><button class="btn" data-on="close-notice" type="button">Accept all</button> <button class="btn" data-on="close-notice" type="button">Reject all</button>'; d.onclick = () => { localStorage.cookies = 1 }; document.body.append(d); d.showModal()`},
	{Name: "news", inside: true, Does: "A dialog with news comes half a second after each page.", Touches: every(either(Anywhere)), js: `if (root !== document.body || window !== top) return
		setTimeout(() => { const d = document.createElement('dialog'); d.innerHTML = '<h2>What is new</h2><p>Faktura is faster.</p><button class="btn" data-on="close-notice" type="button">Got it</button>'; document.body.append(d); d.showModal() }, 500)`},
	{Name: "confirm-added", Does: "Each form that writes asks by a JavaScript dialog first.", Touches: writing(either), js: `all('form[method=post], form[data-send]').forEach(f => { if (!f.dataset.confirm && !/log(in|out)$/.test(f.action)) f.dataset.confirm = 'Are you sure?' })`},
	{Name: "confirm-gone", Does: "No JavaScript dialog comes any more.", Touches: touches{PlaceOrder: either("place", "number"), DeleteDraft: either("delete")}, html: without("data-confirm")},
	{Name: "confirm-reworded", Does: "The JavaScript dialog asks in other words.", Touches: touches{PlaceOrder: either("place"), DeleteDraft: either("delete")}, html: attributes("data-confirm", func(uint64, string) string { return "This costs money. Do it?" })},
	{Name: "confirm-reversed", Does: "The JavaScript dialog asks the opposite: OK keeps everything as it is.", Touches: touches{
		PlaceOrder: either("place", "number", AtEffect), DeleteDraft: either("delete", AtEffect),
	}, js: `Faktura.ask = (text, yes) => { if (!confirm('Keep everything as it is?')) yes() }`},
	{Name: "confirm-names-other", Does: "The JavaScript dialog names something else, and does that: it asks about all drafts; the order is tenfold.", Touches: touches{
		PlaceOrder: stop("place", "number", AtEffect), DeleteDraft: stop("delete", AtEffect),
	}, js: `all('[data-confirm]').forEach(f => { f.dataset.confirm = f.dataset.send ? 'Place this order ten times?' : 'Delete all drafts?'
		Faktura.ask = (text, yes) => { if (!confirm(text)) return
			const send = (f, n) => Promise.all([...Array(n)].map(() => fetch(f.action, {method: 'POST', headers: {'X-CSRF': Faktura.csrf, 'Content-Type': 'application/json'}, body: JSON.stringify(Object.fromEntries(new FormData(f)))})))
			if (/order/.test(text)) send(document.querySelector('#order-form'), 10).then(() => Faktura.go(Faktura.base + '/app/orders')); else Promise.all([...document.querySelectorAll('[data-confirm]')].map(f => send(f, 1))).then(() => location.reload()) } })`},
	{Name: "confirm-in-page", Does: "An HTML dialog takes the place of the JavaScript dialog.", Touches: touches{PlaceOrder: either("place", "number"), DeleteDraft: either("delete", AtEffect)}, js: `Faktura.ask = (text, yes) => { const d = document.createElement('dialog'); d.innerHTML = '<p></p><button class="btn primary">Yes</button> <button class="btn">No</button>'; d.querySelector('p').textContent = text; document.body.append(d)
		d.onclick = e => { if (e.target.tagName === 'BUTTON') { d.remove(); if (e.target.textContent === 'Yes') yes() } }; d.showModal() }`},
	{Name: "prompt-added", Does: "A JavaScript prompt for the word DELETE or ORDER takes the place of the dialog.", Touches: touches{PlaceOrder: either("place", "number"), DeleteDraft: either("delete", AtEffect)}, js: `Faktura.ask = (text, yes) => { if (/^(DELETE|ORDER)$/.test(prompt(text + ' Type DELETE or ORDER.') ?? '')) yes() }`},
	{Name: "session-expired", Does: "The third page after the login asks for the login again.", Touches: every(either(Anywhere))},
	{Name: "logged-out-at-submit", Does: "The first request that writes is answered by the login page.", Touches: writing(either, AtEffect)},
	{Name: "popup", Does: "The first click on a page opens another window.", Touches: every(either(Anywhere)), js: `if (root === document.body) document.addEventListener('click', () => window.open('about:blank', '_blank', 'width=300,height=200'), {once: true, capture: true})`},

	// Time.
	{Name: "slow-pages", Does: "Each answer takes two seconds.", Touches: every(right)},
	{Name: "slow-rows", Does: "The single-page part shows its content after 1.5 seconds.", Touches: every(right)},
	{Name: "spinner", Does: "A spinner covers each page for 1.5 seconds.", Touches: every(right), js: `if (root !== document.body) return
		const s = document.createElement('div'); s.style.cssText = 'position:fixed;inset:0;background:#fffc;z-index:9'; s.textContent = 'Loading…'; document.body.append(s); setTimeout(() => s.remove(), 1500)`},
	{Name: "disabled-a-while", Does: "Buttons are disabled for two seconds.", Touches: every(right), js: `all('button.btn').forEach(b => { b.disabled = true; setTimeout(() => { b.disabled = false }, 2000) })`},
	{Name: "late-buttons", Does: "Buttons have no effect until the page's script is ready, after 1.5 seconds.", Touches: every(either(Anywhere)), js: `const until = Date.now() + 1500; root.addEventListener('click', e => { if (Date.now() < until && e.target.closest('.btn')) { e.preventDefault(); e.stopImmediatePropagation() } }, true)
		if (root !== document.body) all('.btn').forEach(b => b.addEventListener('click', e => { if (Date.now() < until) { e.preventDefault(); e.stopImmediatePropagation() } }))`},
	{Name: "auto-refresh", Does: "The lists of the single-page part are drawn again every 200 ms.", Touches: touches{PlaceOrder: either("new", "customer"), ChangeAddress: either("edit", "street")}},
	{Name: "focus-stolen", Does: "Another field takes the focus every second.", Touches: every(either(Anywhere)), js: `setInterval(() => { const f = [...document.querySelectorAll('main input:not([type=hidden]), main select')].at(-1); if (f && f !== document.activeElement) f.focus() }, 1000)`},
	{Name: "slow-save", Does: "A write takes two seconds without a sign.", Touches: every(right)},
	{Name: "error-500-once", Does: "The first write fails with the status 500, and nothing is stored.", Touches: writing(either, AtEffect)},
	{Name: "error-after-save", Does: "The first write is stored, and the answer is the status 500.", Touches: writing(either, AtEffect)},
	{Name: "csrf-fails-once", Does: "The first write fails as the form is out of date.", Touches: writing(either, AtEffect)},
	{Name: "validation-toast", Does: "The first write is not accepted, which a toast says for six seconds.", Touches: writing(either, AtEffect)},
	{Name: "saves-late", Does: "A write is stored two seconds after the page says so.", Touches: writing(either, AtEffect)},

	// Forms.
	{Name: "required-field", Does: "A new field is required: Cost center.", Touches: touches{
		PlaceOrder: stop("place", "number"), ChangeAddress: stop("save", AtEffect), SendReminder: stop("send", AtEffect), UploadDocument: stop("upload", "number"), BookPayment: stop("continue", "book"),
	}},
	{Name: "field-removed", Does: "The order has no delivery date.", Touches: touches{PlaceOrder: stop("delivery")}},
	{Name: "field-prefilled", Does: "The quantity is 1 already.", Touches: touches{PlaceOrder: either("quantity")}},
	{Name: "field-short", Does: "The street takes twelve characters.", Touches: touches{ChangeAddress: either("street", "city", "save")}},
	{Name: "autocomplete", Does: "The street that was typed becomes a suggested one a moment after it was left.", Touches: touches{ChangeAddress: either("street", "city", "save")}, js: `all('[aria-label=Street]').forEach(f => f.addEventListener('change', () => setTimeout(() => { f.value = 'Lindenweg 1' }, 150)))`},
	{Name: "capitals-typed", Does: "Text fields turn what is typed into capital letters.", Touches: touches{
		ChangeAddress: either("street", "city", "save"), SendReminder: either("message", "send"), UploadDocument: either("title", "kind", "upload"),
	}, js: `all('main input[name$=title], textarea, [aria-label=Street], [aria-label=City]').forEach(f => f.addEventListener('input', () => { f.value = f.value.toUpperCase() }))`},
	{Name: "amount-reformatted", Does: "The amount is written otherwise once it was left, and means a hundredth.", Touches: touches{BookPayment: either("amount", "paid-on", "continue", "book")}, js: `all('#payment-amount').forEach(f => f.addEventListener('change', () => { f.value = (parseFloat(f.value) / 100).toFixed(2) }))`},
	{Name: "date-as-text", Does: "Dates are typed as DD.MM.YYYY.", Touches: touches{PlaceOrder: either("delivery", "place", "number"), BookPayment: either("paid-on", "method", "continue", "book")}},
	{Name: "month-selects", Does: "A month is two selects.", Touches: touches{ExportInvoice: either("filter", "invoice"), SendReminder: either("filter", "invoice"), MonthTotal: either("month", "calculate")}},
	{Name: "selects-as-lists", Does: "A select is a button with a list of options.", Touches: touches{
		PlaceOrder: either("customer", "product"), UploadDocument: either("kind"), BookPayment: either("method"), MonthTotal: either("customer"),
	}, js: `all('.field select').forEach(s => { const b = document.createElement('button'); b.type = 'button'; b.className = 'btn'; b.setAttribute('aria-haspopup', 'listbox'); b.textContent = s.value || 'Choose…'; b.setAttribute('aria-label', root.querySelector('[for="' + s.id + '"]').textContent)
		const l = document.createElement('ul'); l.setAttribute('role', 'listbox'); l.hidden = true
		for (const o of s.options) { const i = document.createElement('li'); i.setAttribute('role', 'option'); i.textContent = o.text; i.onclick = () => { s.value = o.value; b.textContent = o.text; l.hidden = true }; l.append(i) }
		b.onclick = () => { l.hidden = !l.hidden }; s.style.display = 'none'; s.after(b, l) })`},
	{Name: "options-reordered", Does: "Options are in the opposite order.", Touches: every(right)},
	{Name: "options-reworded", Does: "Options have other words.", Touches: touches{PlaceOrder: either("product", "place"), UploadDocument: either("kind", "upload"), BookPayment: either("method", "continue")}, js: `all('option').forEach(o => { if (o.value && !/^\d+$/.test(o.value) && !/customer/.test(o.parentNode.id)) { o.value = o.value; o.textContent = o.textContent.split(', ').reverse().join(' ') + ' · new' } })`},
	{Name: "options-similar", Does: "Before each option is one that begins with the same words and is another.", Touches: every(right), js: `all('.field option').forEach(o => { if (o.value && !/^\d+$/.test(o.value)) { const d = document.createElement('option'); d.textContent = o.textContent + ' (old)'; o.before(d) } })`},
	{Name: "form-in-two-parts", Does: "The second half of the order's form comes after a button Next.", Touches: touches{PlaceOrder: either("quantity", "delivery")}, js: `all('#order-form').forEach(f => { const late = [...f.children].slice(2); late.forEach(e => { e.style.display = 'none' }); const b = document.createElement('button'); b.type = 'button'; b.className = 'btn'; b.textContent = 'Next'; b.onclick = () => { b.remove(); late.forEach(e => { e.style.display = '' }) }; f.append(b) })`},
	{Name: "ticked-for-all", Does: "A ticked box sends the reminder to all customers.", Touches: touches{SendReminder: either("reminder", "message", "send")}},

	// Data.
	{Name: "record-missing", Does: "The customer or the draft of the run is not there.", Touches: merged(choosing(stop), touches{PlaceOrder: stop("customer"), MonthTotal: stop("customer")}), data: func(b books, values map[string]string) books {
		var left books
		for _, r := range b {
			if !about(r, values) {
				left = append(left, r)
			}
		}
		return left
	}},
	{Name: "two-match", Does: "There are two of the customer, the invoice or the draft of the run.", Touches: merged(choosing(stop), touches{PlaceOrder: either("customer"), MonthTotal: either("customer")}), data: others(false, func(r Record) Record { return r })},
	{Name: "similar-before", Does: "Before the customer, the invoice or the draft of the run is one whose name begins with the same words.", Touches: every(right), data: others(false, func(r Record) Record {
		for _, name := range []string{"name", "customer", "title"} {
			if v, has := r.Fields[name]; has {
				r = r.with(name, v+" AG")
			}
		}
		return r
	})},
	{Name: "row-on-page-2", Does: "Pages of tables are so short that the row may be on a later one.", Touches: choosing(either)},
	{Name: "many-rows", Does: "There are 300 more customers.", Touches: every(right), data: manyCustomers},
	{Name: "number-format", Does: "Amounts are written 1.234,50 €.", Touches: touches{ExportInvoice: either("amount"), MonthTotal: either("total")}},
	{Name: "date-format", Does: "Dates and months are written from the day to the year.", Touches: every(right)},

	// Decoys.
	{Name: "decoy-hidden", Does: "Before each button is the same one with the same id, hidden.", Touches: every(right), js: `all('.btn').forEach(b => { const c = b.cloneNode(true); c.style.display = 'none'; if (c.form) c.type = 'button'; b.before(c) })`},
	{Name: "decoy-off-screen", Does: "Before each button is the same one with the same id, far to the left, that only says it is done.", Touches: every(either(Anywhere)), js: `all('main .btn').forEach(b => { const c = document.createElement('button'); c.type = 'button'; c.id = b.id; c.className = b.className; c.textContent = b.textContent; if (b.dataset.testid) c.dataset.testid = b.dataset.testid; c.style.cssText = 'position:absolute;left:-9999px'; c.onclick = () => Faktura.toast('Done'); b.before(c) })`},
	{Name: "decoy-same-name", Does: "Above a table are the buttons of its first row once more.", Touches: choosing(either), js: `all('.grid').forEach(t => { const c = t.querySelector('tbody tr:not(.editing) .cell-actions'); if (c) { const d = document.createElement('div'); d.append(...[...c.childNodes].map(n => n.cloneNode(true))); t.before(d) } })`},
	{Name: "decoy-right-id", Does: "The ids of the buttons that write are on others beside them, which say done and do nothing.", Touches: merged(writing(either), touches{ExportInvoice: either("download"), MonthTotal: either("calculate", "total")}), js: `all('main .btn.primary, main .danger').forEach(b => { const c = document.createElement('button'); c.type = 'button'; c.className = b.className; c.textContent = 'Preview'; c.onclick = () => Faktura.toast('Done')
		c.id = b.id; c.dataset.testid = b.dataset.testid ?? ''; b.id += '-v2'; delete b.dataset.testid; b.before(c) })`},
	{Name: "decoy-on-top", Does: "Something transparent lies over the main buttons, and leads to the dashboard.", Touches: every(either(Anywhere)), js: `all('main .btn.primary, main .danger').forEach(b => { if (b.id === 'sign-in') return; const s = document.createElement('span'); s.style.cssText = 'position:relative;display:inline-block'; b.replaceWith(s); const o = document.createElement('a'); o.href = Faktura.base + '/'; o.style.cssText = 'position:absolute;inset:0'; s.append(b, o) })`},
}, slices.Concat(round1, round2, round3, round4, round5)...)

// Lies are the changes with which a page says success and something else is true.
var Lies = append([]Change{
	{Name: "saves-nothing", Does: "The page says success, shows it, and nothing is stored.", Touches: writing(stop, AtEffect), stores: func(w write, _ books) []write {
		if w.Kind == "export" {
			return []write{w} // the file is there: it is no lie
		}
		return nil
	}},
	{Name: "rolls-back", Does: "The page shows the write for two seconds; it was never stored.", Touches: writing(stop, AtEffect), stores: func(w write, _ books) []write {
		if w.Kind == "export" {
			return []write{w}
		}
		return nil
	}},
	{Name: "saves-wrong-value", Does: "One value is stored a little differently.", Touches: merged(writing(stop, AtEffect), touches{DeleteDraft: right}), stores: wrongValue},
	{Name: "saves-for-other", Does: "It is stored for the next customer, invoice or draft.", Touches: merged(writing(stop, AtEffect), touches{UploadDocument: right}), stores: neighbor},
	{Name: "saves-twice", Does: "It is stored twice.", Touches: merged(writing(stop, AtEffect), touches{ExportInvoice: stop("download", AtEffect), ChangeAddress: right, DeleteDraft: right}), stores: twice},
	{Name: "saves-more", Does: "It is stored, and a draft is removed with it.", Touches: merged(writing(stop, AtEffect), touches{ExportInvoice: stop("download", AtEffect)}), stores: besides},
	{Name: "submits-twice", Does: "One click sends two requests.", Touches: merged(writing(stop, AtEffect), touches{ChangeAddress: right, DeleteDraft: right}), js: `
		if (!Faktura.twice) { Faktura.twice = true; const send = Faktura.send
			Faktura.send = (f, m) => { send(f, m); return send(f, m) }
			const submit = HTMLFormElement.prototype.submit
			HTMLFormElement.prototype.submit = function () { if (/(review|delete|logout|login)$/.test(this.action)) return submit.call(this)
				fetch(this.action, {method: 'POST', body: new FormData(this)}).then(() => submit.call(this)) } }`},
	{Name: "pdf-empty", Does: "The file is empty.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, sends: func(Record, books) []byte { return nil }},
	{Name: "pdf-old", Does: "The file is another invoice of the customer.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, sends: func(r Record, b books) []byte {
		for _, o := range b.all("invoice") {
			if o.ID != r.ID && o.Fields["customer"] == r.Fields["customer"] {
				return document(o)
			}
		}
		return nil
	}},
	{Name: "pdf-of-other", Does: "The file is the next customer's invoice under the right name.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, sends: func(r Record, b books) []byte { return document(next(b, r)) }},
	{Name: "pdf-is-a-page", Does: "The file is the login page under the name of a PDF.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, sends: func(Record, books) []byte {
		return []byte("<!doctype html><title>Sign in</title><p>Your session has ended.</p>")
	}},
	{Name: "pdf-cut", Does: "The file is the first half of the right one.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, sends: func(r Record, _ books) []byte { d := document(r); return d[:len(d)/2] }},
	{Name: "total-of-other-month", Does: "The report shows the total of the month after.", Touches: touches{MonthTotal: stop("total", AtEffect)}},
	{Name: "number-of-other", Does: "The number that the page gives for an order is that of another.", Touches: touches{PlaceOrder: stop("number", AtEffect)}},
}, slices.Concat(lies1, lies2, lies3, lies4, lies5)...)
