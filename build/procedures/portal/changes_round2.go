package portal

import "strings"

// What is here was written by a second author who had not seen how procedures run, and who had read what the first round found and what was
// changed since. What may happen was stated before any of it was run.

// helpers are what the scripts of this round share: a field of a form, and the sending of a form besides.
const helpers = `
	const field = html => { const d = document.createElement('div'); d.className = 'field'; d.innerHTML = html; return d }
	const post = f => fetch(f.action, {method: 'POST', body: new URLSearchParams(new FormData(f))})
	const told = (f, name, how) => f.addEventListener('formdata', e => { const v = how(e.formData.get(name)); if (v !== undefined) e.formData.set(name, v) });`

// copied finds the row of a draft that has a copy, and that of the copy.
const copied = helpers + `
	const rows = all('#draft-table tbody tr'), copy = rows.find(r => / \(copy\)$/.test(r.cells[0].textContent)), own = copy && rows.find(r => r.cells[0].textContent + ' (copy)' === copy.cells[0].textContent); if (!own) return;`

// besidesIt sends other forms of the page before the one that was asked for.
const besidesIt = `const ask = Faktura.ask; Faktura.ask = (text, yes) => ask(text, () => Promise.all(more().map(post)).then(yes));`

// surely are works that have to go right.
func surely(...string) Accept { return right }

// state has a form send what its fields held when a key was released last, as scripts do that keep what is typed elsewhere.
const state = helpers + `all('#message, #title, #payment-amount, #payment-invoice, #street, #city').forEach(f => { let kept = f.value; f.addEventListener('keyup', () => { kept = f.value })
		const form = all('#edit-form').find(e => e.id === f.getAttribute('form')) ?? f.form; told(form, f.name, () => kept) })`

var (
	ordering  = touches{PlaceOrder: either("new", "customer", "product", "quantity", "delivery", "place")}
	reminding = touches{SendReminder: either("reminder", "message", "send")}
	paying    = touches{BookPayment: either("payments", "invoice", "amount", "paid-on", "method", "continue", "book")}
	typed     = touches{ChangeAddress: right, SendReminder: right, UploadDocument: right, BookPayment: right}
	listed    = touches{ExportInvoice: either("filter", "invoice"), SendReminder: either("filter", "invoice")}
)

var round2 = in(2, []Change{
	// The order.
	{Name: "bill-to", Does: "What was Customer stands under Bill to; under Ship to is a new choice, Recipient, with the first customer chosen, whose order it is.", Touches: ordering, js: helpers + `all('#order-form').forEach(f => { const own = f.querySelector('#order-customer'), d = field('<h2>Ship to</h2><label for="ship-to">Recipient</label><select id="ship-to"></select>')
		d.querySelector('select').append(...[...own.options].slice(1).map(o => new Option(o.text))); own.closest('.field').before(Object.assign(document.createElement('h2'), {textContent: 'Bill to'})); own.closest('.field').after(d); told(f, 'customer', () => d.querySelector('select').value) })`},
	{Name: "quantity-in-boxes", Does: "Behind the quantity is a choice of unit, which is: boxes of 10.", Touches: ordering, js: helpers + `all('#order-quantity').forEach(q => { const s = document.createElement('select'); s.setAttribute('aria-label', 'Unit'); s.append(new Option('boxes of 10'), new Option('pieces')); q.after(s); told(q.form, 'quantity', v => s.value === 'pieces' ? v : v + '0') })`},
	{Name: "note-prefilled", Does: "The note has the text of the last order: Express, call before.", Touches: ordering, js: `all('#order-note').forEach(n => { n.value = 'Express, call before' })`},
	{Name: "options-closed", Does: "A closed section More options (1 chosen) has a choice of delivery, which is Express.", Touches: ordering, js: `all('#order-note').forEach(n => { const d = document.createElement('details'); d.innerHTML = '<summary>More options (1 chosen)</summary><label><input type="radio" name="note" value="Express, 49 €" checked> Express, 49 €</label> <label><input type="radio" name="note" value=""> Standard</label>'; n.closest('.field').after(d) })`},
	{Name: "product-superseded", Does: "A moment after a product was chosen, its successor is: the next one; a text says so.", Touches: touches{PlaceOrder: either("product", "quantity", "delivery", "place")}, js: `all('#order-product').forEach(s => s.addEventListener('change', () => setTimeout(() => { s.selectedIndex = s.selectedIndex % (s.options.length - 1) + 1; s.after(Object.assign(document.createElement('small'), {textContent: 'Replaced by its successor'})) }, 300)))`},
	{Name: "product-on-cheaper", Does: "When the day of delivery was filled in, the page takes the cheapest product of that week, and says so at the end of the form.", Touches: touches{PlaceOrder: stop("delivery", "place")}, js: `all('#order-delivery').forEach(d => d.addEventListener('change', () => { const s = d.form.querySelector('#order-product'); s.selectedIndex = s.selectedIndex % (s.options.length - 1) + 1; d.form.append('Taken: ' + s.value + ', 10 % off that week') }))`},
	{Name: "order-in-basket", Does: "Place order places what is in the basket, too, which stands above the form: 5 Labels.", Touches: touches{PlaceOrder: stop("new", "customer", "product", "quantity", "delivery", "place")}, js: `all('#order-form').forEach(f => { f.before(Object.assign(document.createElement('p'), {textContent: 'In the basket since yesterday: 5 × Labels, for Meyer'}))
		const ask = Faktura.ask; Faktura.ask = (text, yes) => ask(text, () => fetch(f.action, {method: 'POST', headers: {'Content-Type': 'application/json', 'X-CSRF': Faktura.csrf}, body: JSON.stringify({customer: 'Meyer', product: 'Labels', quantity: '5', delivery: '2026-09-09', note: ''})}).then(yes)) })`},
	{Name: "order-number-of-list", Does: "After the order comes a page with all orders of the day, each with Order number; the first is another.", Touches: touches{PlaceOrder: either("place", "number", AtEffect)}, js: `all('#order-number').forEach(n => { const d = n.parentNode.cloneNode(true); d.querySelector('dd').textContent = 'A-505'; n.closest('dl').before(Object.assign(document.createElement('h2'), {textContent: 'Placed before'}), Object.assign(document.createElement('dl'), {className: 'facts'})); n.closest('dl').previousElementSibling.append(d); n.closest('dl').before(Object.assign(document.createElement('h2'), {textContent: 'Placed now'})); n.removeAttribute('id'); delete n.dataset.testid })`},

	// The customers.
	{Name: "aria-says-save", Does: "The accessible name of Delete is Save, and that of Save is Apply; one sees Delete and Save. Delete does not ask.", Touches: touches{ChangeAddress: either("edit", "street", "city", "save")}, js: `all('#delete').forEach(d => { d.setAttribute('aria-label', 'Save'); d.dataset.on = ''; d.onclick = () => Faktura.send(d.closest('form'), 'DELETE'); all('#save')[0].setAttribute('aria-label', 'Apply') })`},
	{Name: "autosave-without-button", Does: "There is no Save: a field is stored 0.6 seconds after each letter, as the row says.", Touches: touches{ChangeAddress: either("edit", "street", "city", "save", AtEffect)}, js: `all('#save').forEach(b => { const form = b.form; b.replaceWith('Changes are saved as you type'); let busy; all('#street, #city').forEach(f => f.addEventListener('input', () => { clearTimeout(busy); busy = setTimeout(() => fetch(form.action, {method: 'PUT', headers: {'X-CSRF': Faktura.csrf, 'Content-Type': 'application/json'}, body: JSON.stringify(Object.fromEntries(new FormData(form)))}), 600) })) })`},
	{Name: "autosave-half", Does: "The street is stored three seconds after its last letter, until when Not saved yet stands beside it; Save stores the city, and the street as far as it was.", Touches: touches{ChangeAddress: either("street", "city", "save")}, js: helpers + `all('#street').forEach(f => { let kept = f.value, busy; const n = document.createElement('small'); f.after(n); f.addEventListener('input', () => { n.textContent = 'Not saved yet'; clearTimeout(busy); busy = setTimeout(() => { kept = f.value; n.textContent = 'Saved' }, 3000) }); told(all('#edit-form')[0], 'street', () => kept) })`},
	{Name: "house-number-moves", Does: "A number at the end of a street moves into a new field No. once it was left.", Touches: touches{ChangeAddress: either("street", "city", "save")}, js: helpers + `all('#street').forEach(f => { const n = document.createElement('input'); n.size = 4; n.setAttribute('aria-label', 'No.'); f.after(n); const split = () => { const m = f.value.match(/^(.*) (\d+)$/); if (m) [f.value, n.value] = [m[1], m[2]] }
		split(); f.addEventListener('change', split); told(all('#edit-form')[0], 'street', v => (v + ' ' + n.value).trim()) })`},
	{Name: "house-number-kept", Does: "The number in the street is a field of its own, No., and has the old one; it is put behind what is typed as street.", Touches: touches{ChangeAddress: either("edit", "street", "city", "save")}, js: helpers + `all('#street').forEach(f => { const n = document.createElement('input'), m = f.value.match(/^(.*) (\d+)$/); n.size = 4; n.setAttribute('aria-label', 'No.'); if (m) { f.setAttribute('value', m[1]); n.value = m[2] } f.after(n); told(all('#edit-form')[0], 'street', v => (v + ' ' + n.value).trim()) })`},
	{Name: "save-in-menu", Does: "The buttons that write are in a menu behind ⋯.", Touches: writing(either), js: `all('#save, #send, #upload, #book, #place, [data-testid=delete-draft]').forEach(b => { const d = document.createElement('details'); d.innerHTML = '<summary aria-label="More">⋯</summary>'; b.replaceWith(d); d.append(b) })`},
	{Name: "valid-for-parent", Does: "The row has a new choice Valid for: Billing address of Halde & Co KG (parent company), which is chosen: Save changes that one.", Touches: touches{ChangeAddress: either("edit", "street", "city", "save")}, js: `all('#edit-form').forEach(f => { const s = document.createElement('select'), own = f.action; s.setAttribute('aria-label', 'Valid for'); s.append(new Option('Parent company: Halde & Co KG', Faktura.base + '/api/customers/K-1008'), new Option('This customer', own)); f.prepend(s); f.action = s.value; s.onchange = () => { f.action = s.value } })`},

	// The drafts.
	{Name: "grouped-drafts", Does: "A draft and its copy are a group: the row of the group has the title, and its Delete removes the newest version, as it says; the rows below are Version 1 and Version 2.", Touches: touches{DeleteDraft: either("drafts", "delete")}, js: copied + `
		const group = own.cloneNode(true); group.id = 'group'; group.cells[1].textContent = '2 versions'; group.cells[2].textContent = 'Delete removes the newest'; group.cells[3].replaceChildren(copy.querySelector('form').cloneNode(true)); own.cells[0].textContent = 'Version 1'; copy.cells[0].textContent = 'Version 2'; own.before(group)`},
	{Name: "bulk-selected", Does: "Rows have boxes; that of the last one is ticked, and 1 selected stands above. Delete removes what is selected, too.", Touches: touches{DeleteDraft: either("drafts", "delete")}, js: helpers + `all('#draft-table').forEach(t => { [...t.rows].forEach((r, i) => { const c = document.createElement(i ? 'td' : 'th'); if (i) c.innerHTML = '<input type="checkbox" aria-label="Select"' + (i === t.rows.length - 1 ? ' checked' : '') + '>'; r.prepend(c) })
		t.before(Object.assign(document.createElement('p'), {textContent: '1 selected'})); const more = () => [...t.rows].filter(r => r.querySelector(':checked')).map(r => r.querySelector('form'));` + besidesIt + ` })`},
	{Name: "delete-with-copies", Does: "A row says: with 1 copy. Delete removes the copy, too.", Touches: touches{DeleteDraft: stop("drafts", "delete")}, js: copied + `own.cells[1].textContent += ' · with 1 copy'; const more = () => document.activeElement?.closest?.('tr') === own ? [copy.querySelector('form')] : [];` + besidesIt},
	{Name: "stale-actions", Does: "For 2.5 seconds the buttons of a row are about the one after, while above the table stands: Updating the list.", Touches: touches{DeleteDraft: either("drafts", "delete"), ExportInvoice: either("filter", "invoice", "amount"), SendReminder: either("filter", "invoice", "reminder", "message")}, js: `all('#draft-table, #invoice-table').forEach(t => { const list = [...t.querySelectorAll('[data-confirm], [data-testid=open-invoice]')], at = list.map(e => e.action ?? e.href), set = (e, to) => { if (e.action) e.action = to; else e.href = to }
		list.forEach((e, i) => set(e, at[(i + 1) % at.length])); const p = Object.assign(document.createElement('p'), {textContent: 'Updating the list…'}); t.before(p); setTimeout(() => { list.forEach((e, i) => set(e, at[i])); p.remove() }, 2500) })`},
	{Name: "undo-toast", Does: "Delete hides the row at once, without a question, and removes it after 4 seconds, unless Undo is pressed or the page is left.", Touches: touches{DeleteDraft: either("delete", AtEffect)}, js: `Faktura.ask = (text, yes) => { const r = document.activeElement?.closest?.('tr'); if (r) r.style.display = 'none'; Faktura.toast('Deleted'); const t = setTimeout(yes, 4000), b = Object.assign(document.createElement('button'), {textContent: 'Undo'}); b.onclick = () => { clearTimeout(t); b.remove(); if (r) r.style.display = '' }; document.querySelector('[aria-live]').append(b) }`},
	{Name: "titles-beside", Does: "The heading of drafts has two rows: Template has Title and Draft has Title. Each row has its template's title first, which is that of the draft before; its own has a version behind it.", Touches: touches{DeleteDraft: either("drafts", "delete")}, js: `all('#draft-table').forEach(t => { let before = 'Letter'; const top = t.tHead.insertRow(0); top.innerHTML = '<th></th><th>Draft</th><th></th><th></th><th></th>'; top.cells[0].textContent = 'Template'; t.tHead.rows[1].prepend(Object.assign(document.createElement('th'), {textContent: 'Title'}))
		for (const r of t.tBodies[0].rows) { const own = r.cells[0].textContent, c = document.createElement('td'); c.textContent = before; before = own; r.cells[0].textContent = own + ' v2'; r.prepend(c) } })`},
	{Name: "frozen-columns", Does: "Names stand in a table of their own beside the one that has the rest of the rows.", Touches: choosing(either), js: `all('.grid:has(.cell-actions)').forEach(t => { if (t.querySelector('.editing')) return; const l = t.cloneNode(true), at = t.id === 'invoice-table' ? 1 : 0; l.id = 'names'; [...l.rows].forEach(r => { if (r.cells.length > 2) r.replaceChildren(r.cells[at]) }); [...t.rows].forEach(r => { if (r.cells.length > 2) r.deleteCell(at) })
		const d = document.createElement('div'); d.style.display = 'flex'; t.replaceWith(d); d.append(l, t) })`},

	// The list of invoices.
	{Name: "fiscal-months", Does: "The column is Fiscal month, and the filter takes fiscal months, which begin a month early, as stands above; the page of an invoice says the month of the calendar.", Touches: filtered, js: `const month = new URLSearchParams(location.search).get('month'); all('#invoice-table').forEach(t => { t.tHead.rows[0].cells[2].textContent = 'Fiscal month'; t.before(Object.assign(document.createElement('p'), {textContent: 'Months are fiscal months. They begin a month early.'})); if (month) for (const r of t.tBodies[0].rows) if (r.cells[2]) r.cells[2].textContent = month })`},
	{Name: "filter-forgets-month", Does: "The list has all months of the customer.", Touches: listed},
	{Name: "typeahead-commits", Does: "The field Customer of the filter takes its first proposal when it is left: the name with KG behind it.", Touches: listed, js: `all('#filter-customer').forEach(f => f.addEventListener('change', () => { if (f.value && !/ KG$/.test(f.value)) f.value += ' KG' }))`},
	{Name: "corrections-first", Does: "Before the invoice's row is one with the same customer and month, Corrects and a number, which opens the invoice of another month, as its page says; the invoice's own row has (replaced) behind the name.", Touches: touches{ExportInvoice: either("filter", "invoice", "amount"), SendReminder: either("filter", "invoice", "reminder", "message", "send")}, js: previous + `
		if (/month=\d/.test(location.search)) { const was = previous(); all('#invoice-table tbody tr').forEach(r => { const o = was.find(o => o.cells[1].textContent === r.cells[1]?.textContent); if (!o) return; const c = r.cloneNode(true); c.id = ''; c.cells[0].textContent = 'Corrects ' + o.cells[0].textContent; c.querySelector('a').href = o.querySelector('a').href; r.before(c); r.cells[1].textContent += ' (replaced)' }) }`},

	// The figures of an invoice and of a report.
	{Name: "in-thousands", Does: "Amounts are in thousand €, as stands above them.", Touches: touches{ExportInvoice: stop("invoice", "amount"), MonthTotal: stop("total", AtEffect)}, js: figures(`e.closest('dl, table').before(Object.assign(document.createElement('p'), {textContent: 'All amounts in thousand €'})); e.textContent = (parseFloat(real.replaceAll(',', '')) / 1000).toFixed(2) + ' €'`)},
	{Name: "net-and-gross", Does: "There are two amounts, under Gross and under Net; the first has the identifiers.", Touches: touches{ExportInvoice: either("amount")}, js: `all('#amount').forEach(e => { const own = e.textContent, d = document.createElement('dl'); d.className = 'facts'; d.innerHTML = '<div><dt>Amount</dt><dd></dd></div>'; d.querySelector('dd').textContent = own; e.textContent = (parseFloat(own.replaceAll(',', '')) * 1.19).toLocaleString('en', {minimumFractionDigits: 2, maximumFractionDigits: 2}) + ' €'
		const h = text => Object.assign(document.createElement('h2'), {textContent: text}); e.closest('dl').before(h('Gross')); e.closest('dl').after(h('Net'), d) })`},
	{Name: "minus-by-style", Does: "The invoice is a credit note: its heading says so, and a minus stands before the amount, by CSS.", Touches: touches{ExportInvoice: stop("invoice", "amount", "download")}, css: `#amount::before { content: "−" }`, js: `if (all('#amount')[0]) all('h1').forEach(h => { h.textContent = h.textContent.replace('Invoice', 'Credit note') })`},
	{Name: "amount-was-now", Does: "The amount that was is struck through and has the identifiers; the one that is stands behind it.", Touches: touches{ExportInvoice: either("amount")}, js: `all('#amount').forEach(e => { const d = e.cloneNode(true), s = document.createElement('s'); s.id = 'amount'; s.dataset.testid = 'amount'; s.textContent = '4,711.08 €'; d.removeAttribute('id'); delete d.dataset.testid; d.prepend(s, ' '); e.replaceWith(d) })`},
	{Name: "amount-in-canvas", Does: "The amount is drawn on a canvas, whose text for other browsers is 0.00 €.", Touches: touches{ExportInvoice: either("amount")}, js: figures(`const c = document.createElement('canvas'); c.width = 140; c.height = 22; c.textContent = '0.00 €'; const g = c.getContext('2d'); g.font = '16px sans-serif'; g.fillText(real, 0, 17); e.replaceChildren(c)`)},
	{Name: "version-shown", Does: "The page shows version 1 of the invoice, replaced, with the amount that it had; version 2 is behind a tab.", Touches: touches{ExportInvoice: either("invoice", "amount")}, js: `all('#invoice-facts').forEach(l => { const was = l.cloneNode(true); was.removeAttribute('id'); was.querySelectorAll('[id]').forEach(e => { e.textContent = '1,004.20 €'; e.removeAttribute('id'); e.removeAttribute('data-testid') }); l.hidden = true; l.style.display = 'none'
		const t = document.createElement('p'); t.innerHTML = '<b>Version 1 (replaced)</b> <button type="button" class="btn small">Version 2</button>'; l.before(t, was); t.querySelector('button').onclick = () => { was.remove(); t.remove(); l.hidden = false; l.style.display = '' } })`},
	{Name: "amount-is-what-is-left", Does: "Amount is what is left to pay; Paid and Invoice total stand beside it.", Touches: touches{ExportInvoice: either("amount")}, js: figures(`if (e.id !== 'amount') return; const n = parseFloat(real.replaceAll(',', '')), m = n => n.toLocaleString('en', {minimumFractionDigits: 2, maximumFractionDigits: 2}) + ' €'; e.textContent = m(n / 4); for (const [k, v] of [['Paid', m(n * 3 / 4)], ['Invoice total', real]]) { const d = document.createElement('div'); d.innerHTML = '<dt></dt><dd></dd>'; d.firstChild.textContent = k; d.lastChild.textContent = v; e.closest('dl').append(d) }`)},
	{Name: "draft-copy", Does: "Beside Download PDF is a choice, which is: Copy without value. The file is that.", Touches: touches{ExportInvoice: stop("invoice", "amount", "download", AtEffect)}, js: `all('#download').forEach(a => { const s = document.createElement('select'); s.setAttribute('aria-label', 'Version'); s.append(new Option('Copy without value'), new Option('Original')); a.before(s) })`, sends: func(r Record, _ books) []byte {
		return []byte(strings.Replace(string(document(r)), "(Invoice ", "(Copy without value of invoice ", 1))
	}},
	{Name: "pdf-and-xml", Does: "Download PDF gives an XML of the invoice, too, first.", Touches: touches{ExportInvoice: either("download")}, js: `all('#download').forEach(a => a.addEventListener('click', () => { const x = document.createElement('a'); x.download = 'Invoice.xml'; x.href = URL.createObjectURL(new Blob(['<invoice/>'])); x.click() }))`},
	{Name: "total-of-group", Does: "The report has a box, ticked: Whole group; the total is that of all companies that begin with the name.", Touches: touches{MonthTotal: stop("customer", "month", "calculate", "total", AtEffect)}, js: `all('#report-form .actions').forEach(a => { const l = document.createElement('label'); l.innerHTML = '<input type="checkbox" checked> Whole group'; a.before(l) }); all('#sums').forEach(t => [...t.querySelectorAll('td')].forEach(c => { c.textContent = (parseFloat(c.textContent.replaceAll(',', '')) * 3 + 0.01).toLocaleString('en', {minimumFractionDigits: 2, maximumFractionDigits: 2}) + ' €' }))`},

	// The reminder.
	{Name: "reminder-to-last", Does: "The dialog has a new choice To, which is the address of another customer.", Touches: reminding, js: helpers + `all('#message').forEach(m => m.closest('.field').before(field('<label for="to">To</label><select id="to" name="to"><option>billing-1008@customer.example</option><option value="">The customer</option></select>')))`},
	{Name: "final-by-default", Does: "The dialog has a new choice Level, which is Final notice.", Touches: reminding, js: helpers + `all('#message').forEach(m => m.closest('.field').before(field('<label for="level">Level</label><select id="level" name="level"><option>Final notice</option><option value="">Reminder</option></select>')))`},
	{Name: "reminder-at-once", Does: "Send reminder sends the usual text at once, as stands beside it; there is no dialog.", Touches: touches{SendReminder: stop("invoice", "reminder")}, js: `all('#remind').forEach(b => { b.dataset.on = ''; b.after(' sends the usual text at once'); b.onclick = () => { const m = document.querySelector('#message'); m.value = 'Please pay.'; m.form.submit() } })`},
	{Name: "message-from-template", Does: "The dialog puts a template into the message when the pointer comes over Send.", Touches: touches{SendReminder: either("message", "send")}, js: `all('#send').forEach(b => b.addEventListener('pointerover', () => { document.querySelector('#message').value = 'Dear customer, please pay.' }))`},

	// The payment.
	{Name: "currency-preset", Does: "Behind the amount is a choice of currency, which is USD; the page to check says the amount in €.", Touches: paying, js: helpers + `all('#payment-amount').forEach(f => { const s = document.createElement('select'); s.setAttribute('aria-label', 'Currency'); s.append(new Option('USD'), new Option('EUR')); f.after(s); told(f.form, 'amount', v => s.value === 'EUR' ? v : (v * 0.92).toFixed(2)) })`},
	{Name: "invoice-completes-late", Does: "A moment after the field Invoice was left, it takes the first open one that is found: another.", Touches: paying, js: `all('#payment-invoice').forEach(f => f.addEventListener('change', () => setTimeout(() => { f.value = f.value.endsWith('01') ? f.value.replace(/01$/, '02') : f.value.replace(/\d\d$/, '01') }, 600)))`},
	{Name: "applies-to-oldest", Does: "A new choice Apply to is The oldest open invoice; the page to check says that one.", Touches: paying, js: helpers + `all('#payment-form .actions').forEach(a => { const d = field('<label><input type="radio" name="apply" checked> Apply to the oldest open invoice</label> <label><input type="radio" name="apply"> Apply to the invoice above</label>'); a.before(d); told(a.closest('form'), 'invoice', v => d.querySelector('input').checked ? 'RE-2026-0123' : v) })`},
	{Name: "review-proposes", Does: "The page to check has a field Amount to book, which has the open amount: 999.00.", Touches: touches{BookPayment: either("continue", "book")}, js: helpers + `all('#book').forEach(b => { b.form.querySelector('[name=amount]').remove(); b.closest('.actions').before(field('<label for="to-book">Amount to book</label><input id="to-book" name="amount" value="999.00">')) })`},
	{Name: "review-gone", Does: "Continue books the payment; there is no page to check.", Touches: touches{BookPayment: either("continue", "book", AtEffect)}, js: `all('#payment-form').forEach(f => { f.action = Faktura.base + '/payments' })`},
	{Name: "review-of-two", Does: "The page to check has two payments, and Book payment books both: the other is of yesterday.", Touches: touches{BookPayment: stop("continue", "book")}, js: helpers + `all('#book').forEach(b => { const d = document.querySelector('dl.facts').cloneNode(true); ['RE-2026-0102', '77.00', '2026-06-30', 'Cash'].forEach((v, i) => { d.querySelectorAll('dd')[i].textContent = v }); b.form.before(Object.assign(document.createElement('h2'), {textContent: 'Also in this batch'}), d)
		b.onclick = e => { e.preventDefault(); const f = b.form.cloneNode(true); for (const [k, v] of Object.entries({invoice: 'RE-2026-0102', amount: '77.00', paid_on: '2026-06-30', method: 'Cash'})) f.querySelector('[name=' + k + ']').value = v; post(f).then(() => b.form.submit()) } })`},
	{Name: "review-after-one-more", Does: "Before the page to check is one more, Allocation, which has Continue.", Touches: touches{BookPayment: either("continue", "book")}, js: `all('#book').forEach(b => { const late = [...b.closest('main').children]; late.forEach(e => { e.style.display = 'none' }); const d = document.createElement('div'); d.innerHTML = '<h1>Allocation</h1><p>Whole amount to this invoice.</p><button type="button" class="btn primary">Continue</button>'; b.closest('main').append(d); d.querySelector('button').onclick = () => { d.remove(); late.forEach(e => { e.style.display = '' }) } })`},

	// The upload, and all writes.
	{Name: "upload-queue", Does: "A file waits in the form since yesterday, as it says: old.txt, Receipt. Upload files it, too.", Touches: touches{UploadDocument: either("documents", "title", "kind", "file", "upload")}, js: `all('#upload-form').forEach(f => { f.before(Object.assign(document.createElement('p'), {textContent: 'Waiting: old.txt, Receipt'})); f.querySelector('#upload').onclick = e => { if (!f.querySelector('#file').files.length) return; e.preventDefault()
		const d = new FormData(f); d.set('title', 'old.txt'); d.set('kind', 'Receipt'); d.set('file', new Blob(['old']), 'old.txt'); fetch(f.action, {method: 'POST', body: d}).then(() => f.submit()) } })`},
	{Name: "maintenance-at-write", Does: "A write is answered by a page, with status 200, that says: Maintenance, nothing was stored.", Touches: writing(stop, AtEffect)},

	// Redesigns that change nothing for a person.
	{Name: "order-in-sheet", Does: "A new order is a sheet at the right, over the rest.", Touches: touches{PlaceOrder: right}, js: `all('#order-form').forEach(f => { const d = document.createElement('div'); d.setAttribute('role', 'dialog'); d.setAttribute('aria-modal', 'true'); d.setAttribute('aria-label', 'New order'); d.style.cssText = 'position:fixed;right:0;top:0;bottom:0;width:420px;overflow:auto;background:#fff;z-index:4;padding:16px;box-shadow:0 0 30px #0006'; f.replaceWith(d); d.append(f) })`},
	{Name: "grid-roles", Does: "Tables are elements with the roles of a grid.", Touches: choosing(surely), js: `all('.grid:has(thead)').forEach(t => { const part = (role, from) => { const d = document.createElement('div'); d.setAttribute('role', role); d.className = from.className; d.style.cssText = role === 'row' ? 'display:grid;grid-auto-flow:column;grid-auto-columns:1fr;gap:8px;padding:6px' : ''; return d }
		const g = part('grid', t); g.className = 'card'; for (const r of t.rows) { const row = part('row', r); for (const c of r.cells) { const cell = part(c.tagName === 'TH' ? 'columnheader' : 'gridcell', c); cell.append(...c.childNodes); row.append(cell) } g.append(row) } t.replaceWith(g) })`},
	{Name: "pdf-redirected", Does: "Download PDF leads to the file by another address.", Touches: touches{ExportInvoice: right}},
	{Name: "amount-with-euro", Does: "Once it was left, the field of an amount has € behind it, which the portal leaves out.", Touches: touches{BookPayment: right}, js: helpers + `all('#payment-amount').forEach(f => { f.addEventListener('blur', () => { if (f.value && !f.value.includes('€')) f.value += ' €' }); f.addEventListener('focus', () => { f.value = f.value.replace(' €', '') }); told(f.form, 'amount', v => v.replace(' €', '')) })`},
	{Name: "file-field-styled", Does: "The file is chosen by a drawn area; the field itself lies over it, transparent.", Touches: touches{UploadDocument: right}, js: `all('#file').forEach(f => { const d = document.createElement('span'); d.style.cssText = 'position:relative;display:block;border:2px dashed;padding:24px'; d.textContent = 'Drop a file here, or click'; f.replaceWith(d); d.append(f); f.style.cssText = 'position:absolute;inset:0;opacity:0' })`},
	{Name: "state-by-keyup", Does: "Fields are kept by a script that listens to keys.", Touches: typed, js: state},
	{Name: "toast-over-buttons", Does: "A message lies over the main buttons for three seconds.", Touches: every(right), js: `if (root === document.body) all('main .btn.primary').forEach(b => { const r = b.getBoundingClientRect(), t = document.createElement('div'); t.className = 'toast'; t.textContent = 'Welcome'; t.style.cssText = 'position:absolute;z-index:8;left:' + (r.left + scrollX - 5) + 'px;top:' + (r.top + scrollY - 5) + 'px;width:' + (r.width + 10) + 'px;height:' + (r.height + 10) + 'px'; document.body.append(t); setTimeout(() => t.remove(), 3000) })`},
	{Name: "labels-floating", Does: "Labels lie inside of empty fields, and above those that are filled in.", Touches: every(right), css: `.field { position: relative } .field > label { position: absolute; left: 8px; top: 6px; z-index: 1; pointer-events: none; font-size: 80% } .field > input, .field > select, .field > textarea { padding-top: 22px }`},
	{Name: "buttons-in-shadow", Does: "Buttons of forms are elements of a design system: a button inside of a shadow root.", Touches: every(right), js: `all('form .actions button.btn, #save, [data-testid=delete-draft]').forEach(b => { const host = document.createElement('fk-button'), s = host.attachShadow({mode: 'open'}); s.innerHTML = '<button type="button" style="padding:8px 14px;background:#246;color:#fff;border:0;border-radius:6px"></button>'; s.firstChild.textContent = b.textContent; s.firstChild.onclick = () => b.click(); b.style.display = 'none'; b.after(host) })`},
	{Name: "report-frame-late", Does: "The report's iframe is put into its page after two seconds.", Touches: touches{MonthTotal: right}, js: `all('#report-frame').forEach(f => { const p = Object.assign(document.createElement('p'), {textContent: 'Loading…'}); f.replaceWith(p); setTimeout(() => p.replaceWith(f), 2000) })`},
	{Name: "single-sign-on", Does: "The login leads by another host, and back.", Touches: every(right)},
	{Name: "row-actions-on-hover", Does: "The buttons of a row are seen while the pointer is over it.", Touches: choosing(surely), css: `tbody tr:not(.editing) .cell-actions > * { opacity: 0 } tbody tr:hover .cell-actions > *, tbody tr:focus-within .cell-actions > * { opacity: 1 }`},
	{Name: "content-fades", Does: "What is on a page comes by fading in, after gray boxes of 1.2 seconds.", Touches: every(right), js: `const parts = root === document.body ? all('main > *') : [...root.children]; parts.forEach(e => { if (e.id === 'app') return; const d = document.createElement('div'); d.style.cssText = 'height:40px;margin:8px 0;background:#ddd'; e.style.display = 'none'; e.before(d); setTimeout(() => { d.remove(); e.style.display = ''; e.animate([{opacity: 0}, {opacity: 1}], 400) }, 1200) })`},
})

// silently stores something besides.
func silently(kind string, more func(write, books) []write) func(write, books) []write {
	return func(w write, b books) []write {
		if w.Kind == kind {
			return more(w, b)
		}
		return []write{w}
	}
}

// changing stores a write with a field that is another.
func changing(kind, name, value string) func(write, books) []write {
	return silently(kind, func(w write, _ books) []write {
		if !w.remove {
			w.Record = w.with(name, value)
		}
		return []write{w}
	})
}

var lies2 = in(2, []Change{
	{Name: "delete-changes-other", Does: "The draft is gone, and the amount of another is 1 cent.", Touches: touches{DeleteDraft: stop("delete", AtEffect)}, stores: silently("draft", func(w write, b books) []write {
		return []write{w, {Record: next(b, w.Record).with("cents", "1")}}
	})},
	{Name: "older-order-changed", Does: "The order is stored, and an older one has its quantity.", Touches: touches{PlaceOrder: stop("place", "number", AtEffect)}, stores: silently("order", func(w write, b books) []write {
		return []write{w, {Record: b.all("order")[0].with("quantity", "77")}}
	})},
	{Name: "loses-mail-address", Does: "Street and city are stored, and the customer's mail address is lost.", Touches: touches{ChangeAddress: stop("save", AtEffect)}, stores: changing("customer", "mail", "")},
	{Name: "pdf-with-other", Does: "The file has the right invoice, and that of the next customer behind it.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, sends: func(r Record, b books) []byte { return append(document(r), document(next(b, r))...) }},
	{Name: "public-silently", Does: "The document is stored, and customers see it.", Touches: touches{UploadDocument: stop("upload", "number", AtEffect)}, stores: changing("document", "public", "yes")},
	{Name: "subject-final", Does: "The mail has the right text under the subject Final notice.", Touches: touches{SendReminder: stop("send", AtEffect)}, stores: silently("mail", func(w write, _ books) []write {
		w.Record = w.with("subject", strings.Replace(w.Fields["subject"], "Reminder", "Final notice", 1))
		return []write{w}
	})},
	{Name: "changed-later", Does: "A second later one value is another, by a job that goes over what is new.", Touches: merged(writing(stop, AtEffect), touches{ExportInvoice: stop("download", AtEffect), DeleteDraft: right}), later: func(w write, _ books) []write {
		if w.remove {
			return nil
		}
		for name, value := range map[string]string{"order": "quantity", "customer": "city", "mail": "message", "document": "title", "payment": "amount", "export": "invoice"} {
			if w.Kind == name {
				w.Record = w.with(value, "7")
			}
		}
		return []write{w}
	}},
	{Name: "download-marks-paid", Does: "The file comes, and the invoice is paid now.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, stores: silently("export", func(w write, b books) []write {
		i, _ := b.find("invoice", w.Fields["invoice"])
		return []write{w, {Record: i.with("status", "paid")}}
	})},
	{Name: "number-of-next", Does: "The number in the message is that of what will be stored next.", Touches: touches{UploadDocument: stop("upload", "number", AtEffect), BookPayment: stop("continue", "book", "number", AtEffect)}},
	{Name: "total-without-last", Does: "What the report calls Total is a cent less.", Touches: touches{MonthTotal: stop("total", AtEffect)}},
})
