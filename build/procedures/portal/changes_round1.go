package portal

import (
	"slices"
	"strings"
	"time"
)

// What is here was written by an author who had not seen how procedures run, to have them do the wrong thing. What may happen was stated
// before any of it was run.

// in gives changes the number of the round that they came with.
func in(round int, changes []Change) []Change {
	for i := range changes {
		changes[i].Round = round
	}
	return changes
}

// named changes the name of each record as the portal shows it.
func named(change func(string) string) func(Record) Record {
	return func(r Record) Record {
		for _, name := range []string{"name", "customer", "title"} {
			if v, has := r.Fields[name]; has {
				r = r.with(name, change(v))
			}
		}
		return r
	}
}

var (
	homoglyphs = strings.NewReplacer("a", "а", "e", "е", "o", "о", "i", "і")
	wider      = func(name string) string {
		if strings.Contains(name, " ") {
			return strings.Replace(name, " ", "  ", 1)
		}
		return name + "\u00a0"
	}
	// someRows touches the works that take one of many rows, and those that choose a customer.
	someRows = merged(choosing(either), touches{PlaceOrder: either("customer"), MonthTotal: either("customer")})
	filtered = touches{ExportInvoice: stop("filter", "invoice", "amount"), SendReminder: stop("filter", "invoice", "reminder", "message", "send")}
	amounts  = touches{ExportInvoice: either("amount"), MonthTotal: either("total", AtEffect)}
)

// more are the words of buttons that do more than they did.
var more = map[string]string{
	"Place order": "Place order every month", "Save": "Save and send", "Send": "Send to all", "Delete": "Delete all", "Upload": "Upload and publish", "Book payment": "Book payment and dun",
}

// previous gives rows: those of the same customers in other months, of the first page without a month, each customer once.
const previous = `
	const previous = rows => { const q = new URLSearchParams(location.search), x = new XMLHttpRequest()
		x.open('GET', Faktura.base + '/invoices?month=&customer=' + encodeURIComponent(q.get('customer') ?? ''), false); x.send()
		const seen = new Set(), other = [...new DOMParser().parseFromString(x.responseText, 'text/html').querySelectorAll('#invoice-table tbody tr')]
		return other.filter(r => r.cells.length > 3 && r.cells[2].textContent !== q.get('month') && !seen.has(r.cells[1].textContent) && seen.add(r.cells[1].textContent)) };`

// figures shows something else in the place of amounts for a while.
func figures(js string) string {
	return `all('#amount, #total').forEach(e => { const real = e.textContent; ` + js + ` })`
}

var round1 = in(1, []Change{
	// Rows that are alike.
	{Name: "names-cut", Does: "Names in tables are cut after eight letters; the whole name is a tooltip.", Touches: choosing(either), js: `all('.grid tbody td').forEach(c => { if (!c.children.length && /[a-z]/.test(c.textContent) && c.textContent.length > 8) { c.title = c.textContent; c.textContent = c.textContent.slice(0, 8) + '…' } })`},
	{Name: "homoglyph-twin", Does: "Before the record of the run is one whose name looks the same, in Cyrillic letters.", Touches: someRows, data: others(false, named(homoglyphs.Replace))},
	{Name: "spacing-twin", Does: "Before the record of the run is one whose name has one space more.", Touches: someRows, data: others(false, named(wider))},
	{Name: "case-twin", Does: "Before the record of the run is one with the same name in capital letters.", Touches: every(right), data: others(false, named(strings.ToUpper))},
	{Name: "name-in-other-cell", Does: "The name has a number behind it, and a new column Belongs to has the name of the row before.", Touches: choosing(either), js: `all('.grid thead').forEach(h => { const t = h.closest('table'), at = t.id === 'invoice-table' ? 1 : 0; if (!/^(invoice|customer|draft)/.test(t.id)) return
		let before = '–'; for (const r of t.rows) { if (r.cells.length < 3) continue; const own = r.cells[at].textContent, c = document.createElement(r.parentNode === h ? 'th' : 'td')
			if (r.parentNode === h) c.textContent = 'Belongs to'; else { c.textContent = before; r.cells[at].textContent = own + ' #' + r.rowIndex; before = own } r.cells[at].after(c) } })`},
	{Name: "linked-table", Does: "Above a table is one with the same names, whose buttons are about the record after; the table itself comes after 1.2 seconds.", Touches: merged(choosing(either), touches{ChangeAddress: either("customers", "edit", "street")}), js: `all('.grid:has(.cell-actions)').forEach(t => { if (t.querySelector('.editing')) return
		const c = t.cloneNode(true), cells = [...c.querySelectorAll('.cell-actions')], kids = cells.map(e => [...e.childNodes]); cells.forEach((e, i) => e.replaceChildren(...kids[(i + 1) % kids.length])); c.id = 'linked'
		const h = document.createElement('h2'); h.textContent = 'Linked: buttons are about the record after'; t.before(h, c); const mark = document.createComment(''); t.replaceWith(mark); setTimeout(() => mark.replaceWith(t), 1200) })`},
	{Name: "linked-table-below", Does: "Below a table is one with the same names, whose buttons are about the record after.", Touches: choosing(either), js: `all('.grid:has(.cell-actions)').forEach(t => { if (t.querySelector('.editing')) return
		const c = t.cloneNode(true), cells = [...c.querySelectorAll('.cell-actions')], kids = cells.map(e => [...e.childNodes]); cells.forEach((e, i) => e.replaceChildren(...kids[(i + 1) % kids.length])); c.id = 'linked'
		const h = document.createElement('h2'); h.textContent = 'Linked: buttons are about the record after'; t.after(h, c) })`},
	{Name: "other-account", Does: "The portal opens another account, whose customers, invoices and drafts have the same names and other numbers; its name stands in the header.", Touches: merged(choosing(func(...string) Accept { return stop(Anywhere) }), touches{MonthTotal: stop(Anywhere, AtEffect)}),
		data: others(false, func(r Record) Record {
			if _, has := r.Fields["cents"]; has {
				r = r.with("cents", "1200")
			}
			return r.with("account", "Süd")
		}), shows: func(b books, values map[string]string) books {
			return slices.DeleteFunc(slices.Clone(b), func(r Record) bool { return about(r, values) && r.Fields["account"] == "" })
		}, js: `all('.who').forEach(w => { w.textContent = 'Account Süd · ' + w.textContent })`},

	// What moves.
	{Name: "shift-on-hover", Does: "A hint of a row's height comes at the top of a table when the pointer comes over its buttons.", Touches: choosing(either), js: `if (!Faktura.hints) { Faktura.hints = true; document.addEventListener('pointerover', e => { const c = e.target.closest?.('.cell-actions'), t = c?.closest('table'); if (!t || t.dataset.hint || c.closest('.editing')) return; t.dataset.hint = 1
		const r = document.createElement('tr'); r.style.height = c.closest('tr').offsetHeight + 'px'; r.innerHTML = '<td colspan="9">Tip: double-click opens a row.</td>'; t.tBodies[0].prepend(r) }) }`},
	{Name: "gone-on-hover", Does: "The first row of a table is folded when the pointer comes over the buttons of another.", Touches: choosing(either), js: `if (!Faktura.folds) { Faktura.folds = true; document.addEventListener('pointerover', e => { const c = e.target.closest?.('.cell-actions'), t = c?.closest('table'); if (!t || t.dataset.fold || c.closest('.editing')) return; t.dataset.fold = 1
		const first = t.tBodies[0].rows[0]; if (first !== c.closest('tr')) first.style.display = 'none' }) }`},
	{Name: "banner-arrives", Does: "A banner of a row's height comes above each page after 0.6 seconds.", Touches: every(right), js: `if (root === document.body) all('main').forEach(m => setTimeout(() => { const b = document.createElement('div'); b.style.height = '46px'; b.textContent = 'Faktura is at the fair in May.'; m.prepend(b) }, 600))`},
	{Name: "live-rows", Does: "A new row comes at the top of a table every 0.4 seconds, twelve times.", Touches: choosing(either), js: `all('.grid tbody:has(.cell-actions)').forEach(b => { let n = 0; const more = setInterval(() => { if (++n > 12 || b.querySelector('.editing')) return clearInterval(more)
		const r = b.rows[b.rows.length - 1].cloneNode(true), at = b.closest('table').id === 'invoice-table' ? 1 : 0; r.cells[at].textContent = 'Neu ' + n; b.prepend(r) }, 400) })`},
	{Name: "rerender-on-hover", Does: "A button is drawn again when the pointer comes over it.", Touches: every(right), js: `if (!Faktura.again) { Faktura.again = true; document.addEventListener('pointerover', e => { const b = e.target.closest?.('.btn'); if (b && !b.dataset.again) { const c = b.cloneNode(true); c.dataset.again = 1; b.replaceWith(c) } }) }`},
	{Name: "rows-recycled", Does: "Tables are far down, and when the window scrolls, each row shows the content of the next.", Touches: choosing(either), css: `.content { padding-top: 130vh; padding-bottom: 60vh }`, js: `if (!Faktura.rolls) { Faktura.rolls = true; let last = 0; addEventListener('scroll', () => { if (Date.now() - last < 400) return; last = Date.now()
		document.querySelectorAll('.grid tbody:has(.cell-actions)').forEach(b => { if (b.querySelector('.editing')) return; const rows = [...b.rows], was = rows.map(r => [...r.childNodes]); rows.forEach((r, i) => r.replaceChildren(...was[(i + 1) % was.length])) }) }) }`},
	{Name: "virtual-rows", Does: "A table has eight rows, and more once one scrolls in it.", Touches: choosing(either), js: `all('.grid:has(.cell-actions)').forEach(t => { if (t.querySelector('.editing')) return; const d = document.createElement('div'); d.style.cssText = 'height:300px;overflow:auto'; t.replaceWith(d); d.append(t)
		const rest = [...t.tBodies[0].rows].slice(8); rest.forEach(r => r.remove()); d.addEventListener('scroll', () => t.tBodies[0].append(...rest.splice(0, 8))) })`},

	// Lists and pages that show something else.
	{Name: "month-off-by-one", Does: "The list has the invoices of the month after the one that is looked for, as its column says.", Touches: filtered},
	{Name: "results-stale", Does: "For 1.5 seconds the list shows what was found before: the same customers in another month, as its column says.", Touches: touches{ExportInvoice: either("filter", "invoice", "amount"), SendReminder: either("filter", "invoice", "reminder", "message")}, js: `if (!/month=\d/.test(location.search)) return;` + previous + `
		all('#invoice-table tbody').forEach(b => { const real = [...b.rows]; b.replaceChildren(...previous()); setTimeout(() => b.replaceChildren(...real), 1500) })`},
	{Name: "open-leads-next", Does: "The link of a row opens the invoice of another customer, as its page says.", Touches: filtered, js: `all('[data-testid=open-invoice]').forEach(a => { a.href = a.href.replace(/\d\d$/, n => String((+n + 1) % 24).padStart(2, '0')) })`},
	{Name: "open-leads-other-month", Does: "The link of a row opens the customer's invoice of another month, as its page says.", Touches: filtered, js: `if (!/month=\d/.test(location.search)) return;` + previous + `
		const was = previous(); all('#invoice-table tbody tr').forEach(r => { const o = was.find(o => o.cells[1].textContent === r.cells[1]?.textContent); if (o) r.querySelector('a').href = o.querySelector('a').href })`},
	{Name: "filter-kept", Does: "The filter has a customer and a month of the last session.", Touches: touches{ExportInvoice: right, SendReminder: right}, js: `if (!location.search) all('#invoice-filter input').forEach(f => { f.value = f.type === 'month' ? '2026-02' : 'Meyer' })`},
	{Name: "search-in-header", Does: "The header has a field Customer and a button Show, which look for orders; the filter is folded.", Touches: touches{ExportInvoice: either("filter", "invoice"), SendReminder: either("filter", "invoice")}, js: `all('.top .brand').forEach(b => { const f = document.createElement('form'); f.action = Faktura.base + '/app/orders'; f.innerHTML = '<label>Customer <input name="customer"></label> <label>Month <input type="month" name="month"></label> <button class="btn">Show</button>'; b.after(f) })
		all('#invoice-filter').forEach(f => { const d = document.createElement('details'); d.innerHTML = '<summary>Filter</summary>'; f.replaceWith(d); d.append(f) })`},
	{Name: "edit-opens-next", Does: "Edit opens the row of the customer after.", Touches: touches{ChangeAddress: stop("edit", "street")}, js: `const links = all('#customer-table [data-testid=edit]'), to = links.map(a => a.href); links.forEach((a, i) => { a.href = to[(i + 1) % to.length] })`},
	{Name: "two-rows-editing", Does: "The first customer's row is being edited, too.", Touches: touches{ChangeAddress: either("edit", "street", "city", "save")}, js: `all('#customer-table .editing').forEach(e => { const first = e.parentNode.rows[e.rowIndex === 1 ? 1 : 0], no = first.cells[1].textContent, f = e.querySelector('form').cloneNode(true)
		f.id = 'edit-form-2'; f.action = f.action.replace(/K-\d+/, no); for (const [i, n] of [[2, 'Street'], [3, 'City']]) { const was = first.cells[i].textContent; first.cells[i].innerHTML = '<input aria-label="' + n + '" name="' + n.toLowerCase() + '" form="edit-form-2">'; first.cells[i].firstChild.setAttribute('value', was) }
		first.cells[4].replaceChildren(f) })`},

	// The way there.
	{Name: "nav-in-footer", Does: "The links of the navigation are once more at the end of the page.", Touches: every(right), js: `all('.side').forEach(n => { const c = n.cloneNode(true); c.id = ''; c.setAttribute('aria-label', 'Footer'); c.querySelectorAll('[id]').forEach(e => e.removeAttribute('id')); document.querySelector('.frame').after(c) })`},
	{Name: "lands-elsewhere", Does: "After the login comes the page that was left last: Drafts.", Touches: every(either("sign-in"))},
	{Name: "sign-in-in-two-steps", Does: "The login asks for the user name, then after a button Next for the password.", Touches: every(either("sign-in")), js: `all('#login-form').forEach(f => { const late = [f.children[1], f.children[2]]; late.forEach(e => { e.style.display = 'none' }); const b = document.createElement('button'); b.type = 'button'; b.className = 'btn'; b.textContent = 'Next'; b.onclick = () => { b.remove(); late.forEach(e => { e.style.display = '' }) }; f.append(b) })`},
	{Name: "signed-in-already", Does: "No login is asked for: the last session is open.", Touches: every(either("sign-in"))},
	{Name: "rate-limited", Does: "Every fourth page says for a second that there were too many requests.", Touches: every(either(Anywhere))},
	{Name: "chat-first", Does: "A chat with Message and Send is on each page; the dialog of the reminder opens after 1.5 seconds.", Touches: touches{SendReminder: either("reminder", "message", "send")}, js: `if (root !== document.body || !all('main')[0] || !Faktura.csrf) return
		const d = document.createElement('aside'); d.setAttribute('aria-label', 'Help'); d.style.cssText = 'position:fixed;right:10px;bottom:10px;background:#ddd;padding:8px'; d.innerHTML = '<label>Message <textarea></textarea></label><button type="button" class="btn">Send</button>'; document.body.append(d)
		d.querySelector('button').onclick = () => fetch(Faktura.base + '/chat', {method: 'POST', headers: {'X-CSRF': Faktura.csrf, 'Content-Type': 'application/json'}, body: JSON.stringify({message: d.querySelector('textarea').value})}).then(() => Faktura.toast('Sent'))
		all('#remind').forEach(b => { b.dataset.on = ''; b.onclick = () => setTimeout(() => document.querySelector('#reminder-dialog').showModal(), 1500) })`},

	// Forms.
	{Name: "express-ticked", Does: "The order has a new box, ticked: Express.", Touches: touches{PlaceOrder: stop("new", "customer", "product", "quantity", "delivery", "place")}, js: `all('#order-note').forEach(n => { const d = document.createElement('div'); d.className = 'field check'; d.innerHTML = '<label><input type="checkbox" name="note" value="Express, 49 €" checked> Express, 49 €</label>'; n.closest('.field').after(d) })`},
	{Name: "refund-by-default", Does: "The payment has a new choice, which is Refund.", Touches: touches{BookPayment: stop("payments", "invoice", "amount", "paid-on", "method", "continue", "book")}, js: `all('#payment-form').forEach(f => { const d = document.createElement('div'); d.className = 'field'; d.innerHTML = '<label>Direction <select><option>Refund</option><option>Payment</option></select></label>'; f.querySelector('.actions').before(d)
		f.addEventListener('formdata', e => { if (d.querySelector('select').value === 'Refund') e.formData.set('amount', '-' + e.formData.get('amount')) }) })`},
	{Name: "public-by-default", Does: "The upload has a new box, ticked: Visible to customers.", Touches: touches{UploadDocument: stop("documents", "title", "kind", "file", "upload")}, js: `all('#upload-form .actions').forEach(a => { const d = document.createElement('div'); d.className = 'field check'; d.innerHTML = '<label><input type="checkbox" name="public" value="yes" checked> Visible to customers</label>'; a.before(d) })`},
	{Name: "branches-ticked", Does: "The address has a new box, ticked: For branches, too.", Touches: touches{ChangeAddress: stop("edit", "street", "city", "save")}, js: `all('#save').forEach(b => { const l = document.createElement('label'); l.innerHTML = '<input type="checkbox" name="branches" value="yes" checked> For branches, too'; b.before(l) })`},
	{Name: "defaults-late", Does: "Three seconds after a form came, its selects and its date or city take a default.", Touches: typing(either), js: `const defaults = all('#order-customer, #method, #kind, #order-delivery, #paid-on, #city'); const was = defaults.map(f => f.value)
		setTimeout(() => defaults.forEach((f, i) => { if (f.tagName === 'SELECT') f.selectedIndex = 1; else f.value = f.type === 'date' ? '2026-12-31' : was[i] }), 3000)`},
	{Name: "dependent-reset", Does: "A later field sets an earlier one: the product the customer, the method the day, the kind the title, the city the street.", Touches: typing(either), js: `const sets = (from, to, how) => all(from).forEach(f => f.addEventListener('change', () => setTimeout(() => all(to).concat([...(f.getRootNode().querySelectorAll?.(to) ?? [])]).forEach(how), 200)))
		sets('#order-product', '#order-customer', e => { e.selectedIndex = 1 }); sets('#method', '#paid-on', e => { e.value = '2026-12-31' }); sets('#kind', '#title', e => { e.value = 'Untitled' }); sets('#city', '#street', e => { e.value = 'Lindenweg 1' })`},
	{Name: "title-from-file", Does: "The title becomes the file's name once it was chosen.", Touches: touches{UploadDocument: either("file", "upload")}, js: `all('#file').forEach(f => f.addEventListener('change', () => { if (f.files[0]) document.querySelector('#title').value = f.files[0].name }))`},
	{Name: "hydration-resets", Does: "Fields are as they were at first again, 2.5 seconds after they came.", Touches: typing(either), js: `const fields = all('main input:not([type=hidden]):not([type=file]), main select, main textarea, form input:not([type=hidden]):not([type=file]), form select, [aria-label=Street], [aria-label=City]').filter(f => !f.closest('#login-form, .filter, dialog')), was = fields.map(f => f.value); setTimeout(() => fields.forEach((f, i) => { f.value = was[i] }), 2500)`},
	{Name: "draft-restored", Does: "Fields have what was typed the last time.", Touches: touches{PlaceOrder: right, SendReminder: right, UploadDocument: right, BookPayment: right}, js: `for (const [s, v] of Object.entries({'#order-quantity': '7', '#order-delivery': '2026-12-31', '#message': 'Final notice!', '#title': 'Scan', '#payment-invoice': 'RE-2026-0101', '#payment-amount': '1.00', '#paid-on': '2026-01-01'})) all(s).forEach(f => { f.value = v })`},
	{Name: "input-drops", Does: "A text field loses what is typed within 60 ms after a letter.", Touches: touches{ChangeAddress: either("street", "city", "save"), SendReminder: either("message", "send"), UploadDocument: either("title", "kind", "upload"), BookPayment: either("invoice", "amount", "paid-on", "continue", "book")}, js: `all('[aria-label=Street], [aria-label=City], #message, #title, #payment-invoice, #payment-amount').forEach(f => { let busy; f.addEventListener('input', () => { if (busy) return; const kept = f.value; busy = setTimeout(() => { f.value = kept; busy = 0 }, 60) }) })`},
	{Name: "option-values-rotated", Does: "The values of options, which people do not see, are those of other options; the portal knows that.", Touches: every(right), js: `all('.field select').forEach(s => { const own = s.selectedIndex, list = [...s.options].filter(o => o.value), was = list.map(o => o.text); list.forEach((o, i) => { o.value = was[(i + 1) % was.length] }); s.selectedIndex = own
		s.form?.addEventListener('formdata', e => { if (s.value) e.formData.set(s.name, s.selectedOptions[0].text) }) })`},
	{Name: "option-twins", Does: "Before the options is a group Archive with the same words and other meanings.", Touches: touches{UploadDocument: either("kind", "upload"), BookPayment: either("method", "continue")}, js: `all('#kind, #method').forEach(s => { const g = document.createElement('optgroup'); g.label = 'Archive'; for (const o of [...s.options]) if (o.value) { const c = new Option(o.text, 'Archive/' + o.text); g.append(c) } s.options[0].after(g) })`},
	{Name: "customer-preselected", Does: "Selects of customers have the first one chosen.", Touches: touches{PlaceOrder: right, MonthTotal: right}, js: `all('#order-customer, #report-customer').forEach(s => { const own = s.value; s.options[0].remove(); if (own) s.value = own })`},
	{Name: "rich-text", Does: "The message is a field of rich text.", Touches: touches{SendReminder: either("message", "send")}, js: `all('#message').forEach(f => { const d = document.createElement('div'); d.contentEditable = true; d.setAttribute('role', 'textbox'); d.setAttribute('aria-label', 'Message'); d.style.cssText = 'border:1px solid;min-height:5em'; f.hidden = true; f.style.display = 'none'; f.after(d); d.oninput = () => { f.value = d.innerText } })`},
	{Name: "date-in-parts", Does: "A day is three fields: day, month, year.", Touches: touches{PlaceOrder: either("delivery"), BookPayment: either("paid-on")}, js: `all('#order-delivery, #paid-on').forEach(f => { const s = document.createElement('span'), name = root.querySelector('[for=' + f.id + ']').textContent; s.innerHTML = ['day', 'month', 'year'].map(p => '<input size="4" aria-label="' + name + ' ' + p + '">').join(' '); f.style.display = 'none'; f.after(s)
		s.oninput = () => { const [d, m, y] = [...s.children].map(e => e.value); f.value = y + '-' + m.padStart(2, '0') + '-' + d.padStart(2, '0') } })`},
	{Name: "quantity-by-buttons", Does: "The quantity is 1, and changed by buttons alone.", Touches: touches{PlaceOrder: either("quantity")}, js: `all('#order-quantity').forEach(f => { f.value = 1; f.readOnly = true; for (const [n, by] of [['More', 1], ['Less', -1]]) { const b = document.createElement('button'); b.type = 'button'; b.textContent = n; b.onclick = () => { f.value = +f.value + by }; f.after(b) } })`},
	{Name: "amount-in-cents", Does: "The amount is in cents now, as stands behind its field.", Touches: touches{BookPayment: stop("amount", "paid-on", "method", "continue", "book")}, js: `all('#payment-form').forEach(f => { const h = document.createElement('small'); h.textContent = 'in cents'; f.querySelector('#payment-amount').after(h); f.addEventListener('formdata', e => e.formData.set('amount', (parseFloat(e.formData.get('amount')) / 100).toFixed(2))) })`},
	{Name: "labels-crossed", Does: "The labels of two fields are bound to each other's field, and stand where they were: Invoice and Amount; the names of Street and City are those of the other column.", Touches: touches{ChangeAddress: either("street", "city", "save"), BookPayment: either("invoice", "amount", "paid-on", "method", "continue", "book", "number")}, js: `
		const a = all('label[for=payment-invoice]')[0], b = all('label[for=payment-amount]')[0]; if (a) [a.htmlFor, b.htmlFor] = [b.htmlFor, a.htmlFor]
		all('#street').forEach(f => f.setAttribute('aria-label', 'City')); all('#city').forEach(f => f.setAttribute('aria-label', 'Street'))`},
	{Name: "autosaves", Does: "A field of the address is stored when it is left, and by Save once more.", Touches: touches{ChangeAddress: right}, js: `all('#street, #city').forEach(f => f.addEventListener('change', () => fetch(f.form.action, {method: 'PUT', headers: {'X-CSRF': Faktura.csrf, 'Content-Type': 'application/json'}, body: JSON.stringify(Object.fromEntries(new FormData(f.form)))})))`},
	{Name: "terms-unticked", Does: "The button of a form is disabled until a new box is ticked: Checked by me.", Touches: touches{PlaceOrder: stop("place", "number"), UploadDocument: stop("upload", "number"), BookPayment: stop("continue")}, js: `all('#place, #upload, #continue').forEach(b => { const l = document.createElement('label'); l.innerHTML = '<input type="checkbox"> Checked by me'; b.before(l); b.disabled = true; l.onchange = () => { b.disabled = !l.firstChild.checked } })`},
	{Name: "enabled-disabled-enabled", Does: "Buttons are disabled from 0.3 to 2 seconds after they came.", Touches: every(right), js: `all('button.btn').forEach(b => { setTimeout(() => { b.disabled = true }, 300); setTimeout(() => { b.disabled = false }, 2000) })`},

	// Asked once more, or something else.
	{Name: "confirm-says-more", Does: "The JavaScript dialog begins with the same words, says more, and more is done: the order comes twice, and another draft goes, too.", Touches: touches{PlaceOrder: stop("place", "number"), DeleteDraft: stop("delete")}, js: asking(`if (confirm(text + (order ? ' It comes each month: the next one is placed now, too.' : ' The draft below it goes, too.'))) twice()`)},
	{Name: "confirm-asks-again", Does: "A second JavaScript dialog asks for more, which is done if it is accepted: the same order again, or another draft.", Touches: touches{PlaceOrder: either("place", "number"), DeleteDraft: either("delete", AtEffect)}, js: asking(`if (confirm(text)) { if (confirm(order ? 'The same order for next month, too?' : 'Delete the draft below it, too?')) twice(); else yes() }`)},
	{Name: "confirm-late", Does: "The JavaScript dialog comes two seconds after the click.", Touches: touches{PlaceOrder: either("place", "number"), DeleteDraft: either("delete", AtEffect)}, js: `Faktura.ask = (text, yes) => setTimeout(() => { if (confirm(text)) yes() }, 2000)`},
	{Name: "buttons-say-more", Does: "The buttons that write begin with the same words and say that they do more.", Touches: merged(writing(stop), touches{ChangeAddress: stop("edit", "street", "city", "save"), DeleteDraft: stop("delete"), BookPayment: stop("book")}), html: words(more)},
	{Name: "four-eyes", Does: "What is sent waits for a second person, as the page says, and is not stored.", Touches: writing(stop, AtEffect), stores: func(w write, _ books) []write {
		if w.Kind == "export" {
			return []write{w}
		}
		return nil
	}},
	{Name: "flash-of-before", Does: "Above the message of the page is that of what another did before.", Touches: touches{UploadDocument: either("upload", "number", AtEffect), BookPayment: either("book", "number", AtEffect)}, js: `all('#flash').forEach(f => { const c = f.cloneNode(true); f.id = 'flash-2'; c.textContent = c.textContent.replace(/\d+/, '655'); f.before(c) })`},

	// Files and figures.
	{Name: "pdf-inline", Does: "The PDF is shown in the tab instead of downloaded.", Touches: touches{ExportInvoice: either("download", AtEffect)}},
	{Name: "pdf-late", Does: "The download comes after two seconds.", Touches: touches{ExportInvoice: right}},
	{Name: "amount-counts-up", Does: "Amounts count up from nothing for three seconds.", Touches: amounts, js: figures(`const end = Date.now() + 3000, to = parseFloat(real.replaceAll(',', '')); const tick = setInterval(() => { const left = (end - Date.now()) / 3000; e.textContent = left <= 0 ? real : (to * (1 - left)).toLocaleString('en', {minimumFractionDigits: 2, maximumFractionDigits: 2}) + ' €'; if (left <= 0) clearInterval(tick) }, 50); e.textContent = '0.00 €'`)},
	{Name: "amount-skeleton", Does: "Amounts are 0.00 € for three seconds.", Touches: amounts, js: figures(`e.textContent = '0.00 €'; setTimeout(() => { e.textContent = real }, 3000)`)},
	{Name: "amount-stale", Does: "Amounts are those of the last page for three seconds, with the words: is being updated.", Touches: amounts, js: figures(`const s = document.createElement('small'); s.textContent = 'is being updated'; (e.closest('dl, table')).after(s); e.textContent = '4,711.08 €'; setTimeout(() => { e.textContent = real; s.remove() }, 3000)`)},
	{Name: "cents-raised", Does: "The cents of amounts are small and raised, without a point.", Touches: touches{ExportInvoice: stop("amount"), MonthTotal: stop("total", AtEffect)}, js: figures(`e.innerHTML = real.replace(/\.(\d\d)/, '<sup>$1</sup>')`)},
	{Name: "amount-on-demand", Does: "Amounts are dots until a button Show amount is pressed.", Touches: touches{ExportInvoice: either("amount"), MonthTotal: either("total", AtEffect)}, js: figures(`const b = document.createElement('button'); b.type = 'button'; b.textContent = 'Show amount'; e.textContent = '••••'; b.onclick = () => { e.textContent = real; b.remove() }; (e.closest('dl, table')).after(b)`)},
	{Name: "two-amounts", Does: "Before the amount stands another with the same name, of the year before.", Touches: merged(amounts, touches{MonthTotal: either("calculate", "total", AtEffect)}), js: `all('#amount').forEach(e => { const d = e.parentNode.cloneNode(true); d.querySelector('dd').textContent = '99.00 €'; e.closest('dl').before(Object.assign(document.createElement('h2'), {textContent: 'Year before'}), d) }); all('#total').forEach(e => { const r = e.parentNode.cloneNode(true); r.lastElementChild.textContent = '99.00 €'; e.closest('tbody').prepend(r) })`},
	{Name: "report-twice", Does: "Before the report is one with the same title, of the month after, as it says.", Touches: touches{MonthTotal: either("reports", "customer", "month", "calculate", "total", AtEffect)}, js: `all('#report-frame').forEach(f => { const c = f.cloneNode(true); c.id = 'report-plan'; c.src += '?plan=1'; f.before(c) })
		if (/plan=1/.test(location.search)) all('#report-form').forEach(f => { f.insertAdjacentHTML('afterbegin', '<input type="hidden" name="plan" value="1"><b>Plan: the month after</b>') })`},
	{Name: "report-nested", Does: "The report is in an iframe in an iframe.", Touches: touches{MonthTotal: either("reports", "customer", "month", "calculate", "total")}, js: `all('#report-frame').forEach(f => { const src = f.src, o = document.createElement('iframe'); o.title = 'Reports'; o.className = 'report'; f.replaceWith(o); o.contentDocument.body.innerHTML = '<iframe title="Monthly total" style="width:100%;height:380px"></iframe>'; o.contentDocument.querySelector('iframe').src = src })`},
})

// typing touches the works that fill in forms, at all steps of the form.
func typing(accept func(...string) Accept) touches {
	return touches{
		PlaceOrder: accept("new", "customer", "product", "quantity", "delivery", "place", "number"), ChangeAddress: accept("edit", "street", "city", "save"),
		UploadDocument: accept("title", "kind", "file", "upload"), BookPayment: accept("invoice", "amount", "paid-on", "method", "continue", "book"),
	}
}

// asking is what a page asks before it writes; twice does it for the same order again, or for the draft after.
func asking(js string) string {
	return `Faktura.ask = (text, yes) => { const order = /order/.test(text)
		const post = f => fetch(f.action, {method: 'POST', headers: {'X-CSRF': Faktura.csrf, 'Content-Type': 'application/json'}, body: JSON.stringify(Object.fromEntries(new FormData(f)))})
		const twice = () => { const f = order ? document.querySelector('#order-form') : [...document.querySelectorAll('[data-confirm]')].find(f => !f.matches(':focus-within')); post(f).then(yes) }
		` + js + ` }`
}

// aDayEarlier is a day as a portal stores it that takes midnight for that of another time zone.
func aDayEarlier(iso string) string {
	day, err := time.Parse(time.DateOnly, iso)
	if err != nil {
		return iso
	}
	return day.AddDate(0, 0, -1).Format(time.DateOnly)
}

// another is a customer that a write is not about.
func another(w write, b books) Record {
	list := b.all("customer")
	at := slices.IndexFunc(list, func(r Record) bool {
		return r.ID != w.ID && r.Fields["name"] != w.Fields["customer"] && r.Fields["mail"] != w.Fields["to"]
	})
	return list[at]
}

var lies1 = in(1, []Change{
	{Name: "changes-another", Does: "It is stored, and the address of another customer is changed with it.", Touches: merged(writing(stop, AtEffect), touches{ExportInvoice: stop("download", AtEffect)}), stores: func(w write, b books) []write {
		return []write{w, {Record: another(w, b).with("city", "99999 Nirgendwo")}}
	}},
	{Name: "adds-a-note", Does: "The order is stored with a note that was not typed: Express.", Touches: touches{PlaceOrder: stop("place", "number", AtEffect)}, stores: func(w write, _ books) []write {
		if w.Kind == "order" {
			w.Record = w.with("note", "Express, 49 €")
		}
		return []write{w}
	}},
	{Name: "file-of-before", Does: "The document is stored with the content of a file before.", Touches: touches{UploadDocument: stop("upload", "number", AtEffect)}, stores: func(w write, _ books) []write {
		if w.Kind == "document" {
			w.Record = w.with("sha256", digest([]byte("before")))
		}
		return []write{w}
	}},
	{Name: "reminder-of-other-invoice", Does: "The reminder goes to the right customer, about another invoice of theirs.", Touches: touches{SendReminder: stop("send", AtEffect)}, stores: func(w write, b books) []write {
		if w.Kind == "mail" {
			i, _ := b.find("invoice", strings.TrimPrefix(w.Fields["subject"], "Reminder: invoice "))
			for _, o := range b.all("invoice") {
				if o.ID != i.ID && o.Fields["customer"] == i.Fields["customer"] {
					w.Record = w.with("subject", "Reminder: invoice "+o.ID)
				}
			}
		}
		return []write{w}
	}},
	{Name: "day-earlier", Does: "Days are stored as the day before.", Touches: touches{PlaceOrder: stop("place", "number", AtEffect), BookPayment: stop("continue", "book", "number", AtEffect)}, stores: func(w write, _ books) []write {
		for _, name := range []string{"delivery", "paid_on"} {
			if v, has := w.Fields[name]; has {
				w.Record = w.with(name, aDayEarlier(v))
			}
		}
		return []write{w}
	}},
	{Name: "stored-crossed", Does: "Street and city are stored in each other's place.", Touches: touches{ChangeAddress: stop("save", AtEffect)}, stores: func(w write, _ books) []write {
		if w.Kind == "customer" {
			w.Record = w.with("street", w.Fields["city"]).with("city", w.Fields["street"])
		}
		return []write{w}
	}},
	{Name: "deletes-and-orders", Does: "The draft is gone, as it was sent as an order.", Touches: touches{DeleteDraft: stop("delete", AtEffect)}, stores: func(w write, _ books) []write {
		if w.remove {
			return []write{w, {Record: Record{"order", "A-900", map[string]string{"customer": w.Fields["customer"], "product": "Labels", "quantity": "1", "delivery": "2026-07-01", "note": ""}}}}
		}
		return []write{w}
	}},
	{Name: "amount-of-other", Does: "The page of an invoice shows the amount of the invoice after.", Touches: touches{ExportInvoice: stop("invoice", "amount", "download", AtEffect)}},
	{Name: "pdf-superseded", Does: "The file is an older version of the right invoice, with another amount.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, sends: func(r Record, _ books) []byte { return document(r.with("cents", "100")) }},
	{Name: "total-without-tax", Does: "What the report calls Total is without tax.", Touches: touches{MonthTotal: stop("total", AtEffect)}},
	{Name: "number-of-before", Does: "The number in the message is that of what was stored before.", Touches: touches{UploadDocument: stop("number", AtEffect), BookPayment: stop("number", AtEffect)}},
	{Name: "stored-again-late", Does: "It is stored once more a second later, by a queue.", Touches: merged(writing(stop, AtEffect), touches{ExportInvoice: stop("download", AtEffect), ChangeAddress: right, DeleteDraft: right}), later: func(w write, _ books) []write {
		again := twice(w, nil)
		return again[1:]
	}},
	{Name: "comes-back-late", Does: "A second later it is as it was, as a copy from elsewhere is put in its place.", Touches: merged(writing(stop, AtEffect), touches{ExportInvoice: stop("download", AtEffect)}), later: func(w write, b books) []write {
		if was, had := b.find(w.Kind, w.ID); had {
			return []write{{Record: was}}
		}
		return []write{{w.Record, true}}
	}},
})
