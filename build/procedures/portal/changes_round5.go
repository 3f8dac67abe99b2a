package portal

import (
	"archive/zip"
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// What is here was written by a fourth author who had not seen how procedures run. It is about meaning and identity, and about the web as it
// is: rows and options that look the same and are something else, warnings that stand in what is no paragraph, and pages as frameworks,
// design systems and browsers make them. The first part are redesigns that change nothing for a person. What may happen was stated before
// any of it was run. The portal says what says has while these are run.

// legalForms cuts the legal form from the end of a name.
const legalForms = `const cut = name => name.replace(/ (KG|AG|GmbH)$/, '');`

// otherInvoice gives the parts of the page of an invoice, and those of another one, each as a panel with a tab.
const otherInvoice = `
	const own = location.pathname.match(/RE-\d{4}-\d{4}$/)?.[0], main = all('main')[0]; if (!own || !main || window !== top) return
	const was = own.replace(/\d\d$/, n => n === '05' ? '06' : '05'), x = new XMLHttpRequest(); x.open('GET', Faktura.base + '/invoices/' + was, false); x.send()
	const mine = [...main.children].filter(e => e.matches('h1, dl, .actions, .say, dialog, .preview')), theirs = [...new DOMParser().parseFromString(x.responseText, 'text/html').querySelector('main').children].filter(e => e.matches('h1, dl, .actions, dialog'))
	theirs.forEach(d => { for (const e of [d, ...d.querySelectorAll('*')]) for (const a of ['id', 'for', 'aria-labelledby']) if (e.getAttribute(a)) e.setAttribute(a, e.getAttribute(a) + '-0') })
	const bar = document.createElement('div'), panel = list => { const d = document.createElement('div'); d.setAttribute('role', 'tabpanel'); d.append(...list); return d }; bar.setAttribute('role', 'tablist')
	const tabs = (first, open) => { const panels = first.map(n => panel(n === own ? mine : theirs)), buttons = first.map(n => { const b = document.createElement('button'); b.type = 'button'; b.className = 'btn small'; b.setAttribute('role', 'tab'); b.textContent = n; return b })
		const show = i => panels.forEach((p, k) => { p.style.cssText = k === i ? '' : 'visibility:hidden;height:0;overflow:hidden'; buttons[k].setAttribute('aria-selected', k === i); if (k === i && p.previousSibling !== bar) bar.after(p) })
		buttons.forEach((b, i) => { b.onclick = () => show(i) }); bar.append(...buttons); main.append(bar, ...panels); panels.forEach((p, k) => { p.style.cssText = k === open ? '' : 'visibility:hidden;height:0;overflow:hidden'; buttons[k].setAttribute('aria-selected', k === open) }) };`

// copies gives a copy of a form whose identifiers are others; test ids, labels and classes stay.
const copies = `const copy = f => { const c = f.cloneNode(true); for (const e of [c, ...c.querySelectorAll('*')]) for (const a of ['id', 'for', 'form']) if (e.getAttribute(a)) e.setAttribute(a, e.getAttribute(a) + '-2'); return c };`

// selectedTab shows which tab is open.
const selectedTab = `[role=tab][aria-selected=true] { background: var(--ink); color: var(--card) }`

// twins puts one with another name before the record of the run.
func twins(change func(string) string) func(books, map[string]string) books {
	return others(false, named(change))
}

var accents = strings.NewReplacer("a", "á", "e", "é", "i", "í")

func backwards(text string) string {
	letters := []rune(text)
	slices.Reverse(letters)
	return "\u202e" + string(letters) + "\u202c"
}

// withoutThem leaves out the customer of the run and its invoices.
func withoutThem(b books, values map[string]string) books {
	return slices.DeleteFunc(slices.Clone(b), func(r Record) bool { return r.Kind != "draft" && about(r, values) })
}

// raised adds to an amount in cents.
func raised(cents string, by func(int) int) string {
	n, err := strconv.Atoi(cents)
	if err != nil {
		return cents
	}
	return strconv.Itoa(by(n))
}

// zipped is an archive with one file.
func zipped(name string, data []byte) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	if f, err := z.Create(name); err == nil {
		_, _ = f.Write(data) // a buffer takes all
	}
	_ = z.Close()
	return out.Bytes()
}

var (
	reading  = []string{"filter", "invoice", "amount", "download"}
	booking  = []string{"payments", "invoice", "amount", "paid-on", "method", "continue", "book"}
	dunning  = []string{"filter", "invoice", "reminder", "message", "send"}
	allLists = merged(choosing(surely), touches{PlaceOrder: right, MonthTotal: right})
)

var round5 = in(5, []Change{
	// Redesigns that change nothing for a person.
	{Name: "text-in-spans", Does: "Each word of buttons, labels, links and cells is an element of its own.", Touches: every(right), js: `all('.btn, label, .nav-link, h1, td:not(:has(*)), dd, dt, th').forEach(e => { if (e.children.length) return; const parts = e.textContent.split(/(?<= )|(?= )/); e.replaceChildren(...parts.map(t => { const s = document.createElement('span'); s.textContent = t; return s })) })`},
	{Name: "font-tags", Does: "A browser has translated the page: all texts are in two font elements, and say the same.", Touches: every(right), js: `const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = []; while (walk.nextNode()) found.push(walk.currentNode)
		found.forEach(t => { if (!t.data.trim() || t.parentNode.closest?.('select, textarea, script, style, svg')) return; const o = document.createElement('font'), i = document.createElement('font'); o.style.verticalAlign = i.style.verticalAlign = 'inherit'; t.replaceWith(o); o.append(i); i.append(t) }); document.documentElement.classList.add('translated-ltr')`},
	{Name: "field-replaced-at-keys", inside: true, Does: "A text field is another element after each letter, with the same text and the cursor at its place.", Touches: every(right), js: `if (!Faktura.replaces) { Faktura.replaces = true; document.addEventListener('input', e => { const f = e.target; if (!f.matches('input:not([type]), input[type=text], input[type=number], textarea')) return
		const c = f.cloneNode(), at = f.selectionStart; c.value = f.value; f.replaceWith(c); c.focus(); if (at !== null) c.setSelectionRange(at, at) }) }`},
	{Name: "slotted-cards", Does: "Forms, tables and facts are the content of cards, elements of a design system with a shadow root and a slot.", Touches: every(right), js: `all('form.stack, form.filter, .grid:has(thead), dl.facts').forEach(e => { const h = document.createElement('fk-card'), s = h.attachShadow({mode: 'open'}); s.innerHTML = '<style>:host { display: block; margin-bottom: 16px } section { border: 1px solid #8886; border-radius: 14px; padding: 14px }</style><section part="body"><slot></slot></section>'; e.replaceWith(h); h.append(e) })`},
	{Name: "tables-scroll-sideways", Does: "Tables are three times as wide as their place, and scroll sideways in it; the first column stays.", Touches: choosing(surely), css: `.sideways { overflow-x: auto; max-width: 620px; border: 1px solid var(--line) } .sideways .grid { width: 1900px } .sideways tr > :first-child { position: sticky; left: 0; z-index: 1; background: var(--card); width: 160px }`, js: `all('.grid:has(thead)').forEach(t => { const d = document.createElement('div'); d.className = 'sideways'; t.replaceWith(d); d.append(t) })`},
	{Name: "colons-by-style", Does: "Labels end in a colon, by CSS.", Touches: every(right), css: `.field > label::after { content: ':' }`},
	{Name: "labels-by-style", inside: true, Does: "The words of labels and of the buttons of forms are written by CSS.", Touches: every(right), css: `[data-words]::before { content: attr(data-words) }`, js: `all('.field > label, form .actions .btn').forEach(e => { e.dataset.words = e.textContent; e.textContent = '' })`},
	{Name: "other-tab-mounted", inside: true, Does: "Forms have two tabs, New and Template; what is in the second has the same fields and buttons, and is not seen.", Touches: touches{PlaceOrder: right, UploadDocument: right, BookPayment: right}, css: selectedTab, js: copies + `all('form.stack').forEach(f => { if (f.closest('dialog') || !f.id) return; const bar = document.createElement('div'), other = document.createElement('div'); bar.setAttribute('role', 'tablist'); bar.innerHTML = '<button type="button" class="btn small" role="tab" aria-selected="true">New</button> <button type="button" class="btn small" role="tab" aria-selected="false">Template</button>'
		other.setAttribute('role', 'tabpanel'); other.style.cssText = 'visibility:hidden;position:absolute'; other.append(copy(f)); f.before(bar, other) })`},
	{Name: "closed-by-height", inside: true, Does: "Above each form is a closed section, Quick entry, with the same fields and buttons, which has no height.", Touches: touches{PlaceOrder: right, UploadDocument: right, BookPayment: right}, js: copies + `all('form.stack').forEach(f => { if (f.closest('dialog') || !f.id) return; const b = document.createElement('button'), d = document.createElement('div'); b.type = 'button'; b.className = 'btn quiet'; b.textContent = 'Quick entry'; b.setAttribute('aria-expanded', 'false'); d.style.cssText = 'height:0;overflow:hidden'; d.append(copy(f)); b.onclick = () => { d.style.height = d.style.height === '0px' ? 'auto' : '0px' }; f.before(b, d) })`},
	{Name: "words-for-readers", inside: true, Does: "Buttons and fields are described by texts for screen readers, which are not seen.", Touches: every(right), css: `.for-readers { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }`, js: `all('.field > input, .field > select, .field > textarea, form .actions .btn, #download').forEach((e, i) => { const s = document.createElement('span'); s.className = 'for-readers'; s.id = 'about-' + i; s.textContent = e.matches('.btn, #download') ? 'Can be pressed with the space bar, too.' : 'Leave it with the key Tab.'; e.after(s); e.setAttribute('aria-describedby', s.id) })`},
	{Name: "addresses-with-language", Does: "All addresses have lang=en behind them.", Touches: every(right), js: `all('a[href]').forEach(a => { const u = new URL(a.href, location.href); if (u.origin === location.origin) { u.searchParams.set('lang', 'en'); a.href = u } }); all('form[method=get]').forEach(f => f.insertAdjacentHTML('beforeend', '<input type="hidden" name="lang" value="en">'))`},
	{Name: "pages-swapped", Does: "The links of the navigation change the main part of the page by a script; no page is loaded.", Touches: every(right), js: `if (root !== document.body || window !== top || location.pathname.includes('/app/')) return
		all('.side a').forEach(a => { if (!/\/app\//.test(a.href)) a.addEventListener('click', async e => { e.preventDefault(); const d = new DOMParser().parseFromString(await (await fetch(a.href)).text(), 'text/html'); history.pushState({}, '', a.href); document.title = d.title; document.querySelector('main').replaceChildren(...d.querySelector('main').childNodes) }) }); addEventListener('popstate', () => location.reload())`},
	{Name: "masked-fields", Does: "The amount is filled in from the right, as at a till, and the invoice puts in its dashes by itself.", Touches: touches{BookPayment: right}, js: `all('#payment-amount').forEach(f => f.addEventListener('input', () => { const d = f.value.replace(/\D/g, '').replace(/^0+/, '').padStart(3, '0'); f.value = d.slice(0, -2) + '.' + d.slice(-2) }))
		all('#payment-invoice').forEach(f => f.addEventListener('input', () => { const d = f.value.replace(/\D/g, ''); f.value = 'RE-' + d.slice(0, 4) + (d.length > 4 ? '-' + d.slice(4, 8) : '') }))`},
	{Name: "pdf-by-blob", Does: "Download PDF fetches the file by a script, and gives it from memory.", Touches: touches{ExportInvoice: right}, js: `all('#download').forEach(a => a.addEventListener('click', async e => { e.preventDefault(); const r = await fetch(a.href), x = document.createElement('a'); x.href = URL.createObjectURL(await r.blob()); x.download = /filename="(.*)"/.exec(r.headers.get('Content-Disposition'))[1]; x.click() }))`},
	{Name: "pdf-by-new-tab", Does: "Download PDF opens a tab, which closes when the download begins.", Touches: touches{ExportInvoice: right}, js: `all('#download').forEach(a => { a.target = '_blank'; a.rel = 'noopener' })`},
	{Name: "accents-twin", Does: "Before the record of the run is one with accents in its name.", Touches: allLists, data: twins(accents.Replace)},
	{Name: "names-unbroken", Does: "Blanks in cells and options are no-break spaces.", Touches: every(right), js: `all('.grid tbody td:not(.num)').forEach(c => { if (!c.children.length) c.textContent = c.textContent.replaceAll(' ', '\u00a0') }); all('option').forEach(o => { o.setAttribute('value', o.value); o.textContent = o.textContent.replaceAll(' ', '\u00a0') })`},
	{Name: "matches-marked", Does: "What was looked for is marked in the rows that were found.", Touches: touches{ExportInvoice: right, SendReminder: right}, js: `const q = new URLSearchParams(location.search).get('customer'); if (q) all('#invoice-table tbody tr').forEach(r => { const c = r.cells[1], at = c?.textContent.toLowerCase().indexOf(q.toLowerCase()); if (!(at >= 0)) return; const t = c.textContent, m = document.createElement('mark'); m.textContent = t.slice(at, at + q.length); c.replaceChildren(t.slice(0, at), m, t.slice(at + q.length)) })`},
	{Name: "names-are-links", Does: "Names in rows are links, with a button behind them that copies the name.", Touches: choosing(surely), js: names + `lists.forEach(t => named(t).forEach(c => { const a = document.createElement('a'); a.href = Faktura.base + '/?about=' + encodeURIComponent(c.textContent); a.textContent = c.textContent; c.replaceChildren(a); c.insertAdjacentHTML('beforeend', ' <button type="button" class="btn quiet small" aria-label="Copy"><svg width="10" height="10" aria-hidden="true"><rect width="9" height="9" fill="currentColor"/></svg></button>') }))`},
	{Name: "file-in-shadow", Does: "The field for the file is an element of a design system, with its label inside of a shadow root.", Touches: touches{UploadDocument: right}, js: helpers + `all('#file').forEach(i => { const box = i.closest('.field'), form = i.form, e = document.createElement('fk-file'), s = e.attachShadow({mode: 'open'}); s.append(...box.childNodes); box.append(e); told(form, 'file', () => i.files[0]) })`},
	{Name: "fields-as-components", inside: true, Does: "Each field of a form, with its label, is inside of a shadow root of its own.", Touches: touches{PlaceOrder: right, SendReminder: right, UploadDocument: right, BookPayment: right}, js: helpers + `all('form.stack').forEach(f => [...f.querySelectorAll(':scope > .field')].forEach(d => { const c = d.querySelector('input, select, textarea'); if (!c || c.type === 'file') return
		const e = document.createElement('fk-field'), s = e.attachShadow({mode: 'open'}); s.innerHTML = '<style>label { display: block; font-size: 13px } input, select, textarea { font: inherit; width: 100%; padding: 7px 10px; border: 1px solid #8888; border-radius: 6px }</style>'; s.append(...d.childNodes); d.append(e); told(f, c.name, () => c.value) }))`},
	{Name: "invoices-in-tabs", Does: "The page of an invoice has a tab for the one that was looked at before; what is in it is there, and not seen.", Touches: touches{ExportInvoice: right, SendReminder: right}, css: selectedTab, js: otherInvoice + `theirs.splice(theirs.findIndex(e => e.matches('dialog')), 1); tabs([was, own], 1)`},

	// Rows and options that are something else.
	{Name: "legal-forms-left-out", Does: "Lists leave out legal forms, as stands above them and in tooltips. The customer of the run is gone; the one with KG behind the name stands there under its name.", Touches: touches{
		ExportInvoice: stop(reading...), SendReminder: stop(dunning...), ChangeAddress: stop("customers", "edit", "street", "city", "save"),
	}, data: withoutThem, js: legalForms + `all('#invoice-table, #customer-table').forEach(t => { t.before(Object.assign(document.createElement('p'), {className: 'say', textContent: 'Names in lists are without legal forms.'})); const at = t.id === 'invoice-table' ? 1 : 0; for (const r of t.tBodies[0].rows) { const c = r.cells[at]; if (!c || r.className === 'editing') continue; c.title = c.textContent; c.textContent = cut(c.textContent) } })`},
	{Name: "legal-form-column", Does: "The legal form is a column of its own. The row with KG comes before the one without.", Touches: touches{ExportInvoice: either("filter", "invoice"), SendReminder: either("filter", "invoice"), ChangeAddress: either("customers", "edit", "street")}, js: legalForms + `all('#invoice-table, #customer-table').forEach(t => { const at = t.id === 'invoice-table' ? 1 : 0; for (const r of t.rows) { if (r.cells.length < 3) continue
		const head = r.parentNode === t.tHead, c = r.cells[at], form = document.createElement(head ? 'th' : 'td'); form.textContent = head ? 'Legal form' : c.textContent.slice(cut(c.textContent).length).trim() || '–'; if (!head) c.textContent = cut(c.textContent); c.after(form) } t.tBodies[0].append(...[...t.tBodies[0].rows].reverse()) })`},
	{Name: "invisible-twin", Does: "Before the record of the run is one whose name has a letter more that has no width.", Touches: someRows, data: twins(func(name string) string { return name[:1] + "\u200b" + name[1:] })},
	{Name: "right-to-left-twin", Does: "Before the record of the run is one that is written from right to left, so that it looks the same.", Touches: someRows, data: twins(backwards)},
	{Name: "ordered-in", Does: "The list has all months; the month is a word under Period, and a new column, Ordered, has the month before as numbers.", Touches: touches{ExportInvoice: either(reading...), SendReminder: either(dunning...)}, js: `all('#invoice-table').forEach(t => { for (const r of t.rows) { if (r.cells.length < 3) continue; const c = r.cells[2], head = r.parentNode === t.tHead, o = document.createElement(head ? 'th' : 'td'), day = new Date(c.textContent + '-15')
		if (head) { c.textContent = 'Period'; o.textContent = 'Ordered' } else { c.textContent = day.toLocaleString('en', {month: 'long', year: 'numeric'}); day.setMonth(day.getMonth() - 1); o.textContent = day.toISOString().slice(0, 7) } c.after(o) } })`},
	{Name: "translated-names", Does: "A browser has translated the names of customers, too: und is &, and & is and. A bar says so, and can show what was there.", Touches: opened(ChangeAddress, either, "customers", "edit", "street", "city", "save"), js: `if (sessionStorage.original) return; all('#customer-table tbody tr:not(.editing)').forEach(r => { const t = r.cells[0].textContent; r.cells[0].innerHTML = '<font><font></font></font>'; r.cells[0].querySelector('font font').textContent = t.includes(' und ') ? t.replace(' und ', ' & ') : t.replace(' & ', ' and ') })
		if (root !== document.body && !document.querySelector('#translated')) { const d = document.createElement('div'); d.id = 'translated'; d.style.cssText = 'background:#ffe08a;color:#222;padding:6px 20px'; d.innerHTML = 'Translated from German. <button type="button">Show original</button>'; d.lastChild.onclick = () => { sessionStorage.original = 1; location.reload() }; document.body.prepend(d) }`},
	{Name: "names-by-row", Does: "The accessible names of the buttons in rows have the name of the row behind them.", Touches: choosing(either), js: names + `lists.forEach(t => named(t).forEach(c => c.closest('tr').querySelectorAll('.btn').forEach(b => b.setAttribute('aria-label', b.textContent.trim() + ' ' + c.textContent))))`},
	{Name: "toolbar-for-rows", Does: "Rows have no buttons: those above the table are about the selected row, which is the first one until another is clicked.", Touches: choosing(either), js: `all('.grid:has(.cell-actions)').forEach(t => { if (t.querySelector('.editing')) return; const rows = [...t.tBodies[0].rows].filter(r => r.querySelector('.cell-actions')), acts = rows.map(r => [...r.querySelector('.cell-actions').childNodes]), bar = document.createElement('div'); bar.className = 'actions'; bar.setAttribute('role', 'toolbar')
		const show = i => { bar.replaceChildren(...acts[i]); rows.forEach((r, k) => { r.style.background = k === i ? '#7ea2ff55' : ''; r.setAttribute('aria-selected', k === i) }) }; rows.forEach((r, i) => { r.querySelector('.cell-actions').replaceChildren(); r.onclick = () => show(i) }); if (rows.length) { t.before(bar); show(0) } })`},
	{Name: "options-under-other-group", Does: "The options are under another heading, and mean something else: products For rent, methods Refund to the customer, kinds Visible to customers. What they meant is above, with more words.", Touches: touches{
		PlaceOrder: stop("new", "customer", "product", "quantity", "delivery", "place"), UploadDocument: stop(uploadForm...), BookPayment: stop(booking...),
	}, js: helpers + `for (const [id, own, other, name, value] of [['#order-product', 'For sale', 'For rent, per month', 'note', () => 'Rented, per month'], ['#kind', 'Internal', 'Visible to customers', 'public', () => 'yes'], ['#method', 'Received', 'Refund to the customer', 'method', v => 'Refund: ' + v]]) all(id).forEach(s => {
		const list = [...s.options].slice(1), first = document.createElement('optgroup'), last = document.createElement('optgroup'); first.label = own; last.label = other; list.forEach(o => { const n = new Option(o.text + ' · ' + own.toLowerCase(), o.value); first.append(n) }); last.append(...list); s.append(first, last); told(s.form, name, v => s.selectedOptions[0]?.parentNode === last ? value(v) : undefined) })`},

	// What something means.
	{Name: "unit-by-style", Does: "Below the quantity stands boxes of 10, by CSS.", Touches: opened(PlaceOrder, stop, orderForm...), css: `.boxes::after { content: 'boxes of 10'; font-size: 13px }`, js: helpers + `all('#order-quantity').forEach(q => { q.closest('.field').classList.add('boxes'); told(q.form, 'quantity', v => v + '0') })`},
	{Name: "dollars-by-picture", Does: "The field of the amount has a picture of a dollar sign, and the page to check has US$ before the amount, by CSS. Euros are booked.", Touches: opened(BookPayment, stop, booking...), css: `#payment-amount { padding-left: 36px; background: no-repeat 10px center url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='18' height='22'%3E%3Ctext y='18' font-size='20' fill='%23888'%3E%24%3C/text%3E%3C/svg%3E") } .dollars::before { content: 'US$ ' }`, js: helpers + `all('#book').forEach(b => { document.querySelectorAll('dl.facts dd')[1].className = 'dollars'; told(b.form, 'amount', v => (v * 0.92).toFixed(2)) })`},
	{Name: "day-before-month", Does: "Dates are texts, whose fields say YYYY-DD-MM.", Touches: touches{PlaceOrder: either("quantity", "delivery", "place", "number"), BookPayment: either("amount", "paid-on", "method", "continue", "book")}, js: helpers + `all('#order-delivery, #paid-on').forEach(f => { f.setAttribute('type', 'text'); f.placeholder = 'YYYY-DD-MM'; told(f.form, f.name, v => { const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(v); return m && +m[3] <= 12 ? m[1] + '-' + m[3] + '-' + m[2] : v }) })`},
	{Name: "test-system", Does: "It is the test system, as a ribbon says by CSS: invoices have other amounts.", Touches: touches{ExportInvoice: stop(Anywhere), MonthTotal: stop(Anywhere, AtEffect)}, css: `.top { background: #6a1b9a } body:not(.framed)::before { content: 'TEST SYSTEM'; position: fixed; left: 40%; top: 10px; z-index: 9; padding: 4px 18px; background: #ffd600; color: #000; font-weight: 700; pointer-events: none }`, shows: func(b books, _ map[string]string) books {
		b = slices.Clone(b)
		for i, r := range b {
			if r.Kind == "invoice" {
				b[i] = r.with("cents", raised(r.Fields["cents"], func(n int) int { return n + 1234 }))
			}
		}
		return b
	}},
	{Name: "prices-without-tax", Does: "A button beside the heading of an invoice, Without tax, is pressed: the amount is that without tax.", Touches: opened(ExportInvoice, stop, "invoice", "amount", "download", AtEffect), css: `[aria-pressed=true] { background: var(--ink); color: var(--card) }`, js: `all('#amount').forEach(e => { const real = e.textContent, net = (parseFloat(real.replaceAll(',', '')) / 1.19).toLocaleString('en', {minimumFractionDigits: 2, maximumFractionDigits: 2}) + ' €', b = document.createElement('button'); b.type = 'button'; b.className = 'btn small'; b.textContent = 'Without tax'
		const show = on => { b.setAttribute('aria-pressed', on); e.textContent = on ? net : real }; b.onclick = () => show(b.getAttribute('aria-pressed') !== 'true'); all('main h1')[0].after(b); show(true) })`},
	{Name: "amount-rounded", Does: "The amount is rounded to hundreds, with a sign for about before it, by CSS; a tooltip has the exact one.", Touches: opened(ExportInvoice, stop, "invoice", "amount", "download", AtEffect), css: `#amount::before { content: '≈ ' }`, js: `all('#amount').forEach(e => { e.title = e.textContent; e.textContent = (Math.round(parseFloat(e.textContent.replaceAll(',', '')) / 100) * 100).toLocaleString('en', {minimumFractionDigits: 2}) + ' €' })`},
	{Name: "already-paid", Does: "The invoice is paid, as the list and its page say, with a stamp.", Touches: opened(SendReminder, stop, dunning...), css: `dd.stamped { border: 3px solid var(--good); color: var(--good); transform: rotate(-6deg); text-transform: uppercase; width: max-content; padding: 2px 8px }`, data: func(b books, values map[string]string) books {
		b = slices.Clone(b)
		for i, r := range b {
			if r.Kind == "invoice" && about(r, values) {
				b[i] = r.with("status", "paid")
			}
		}
		return b
	}, js: `all('#invoice-facts dd').forEach(d => { if (d.textContent === 'paid') d.className = 'stamped' })`},
	{Name: "booked-before", Does: "The same payment was booked today: it is in the list of payments, and the page to check says so among its facts.", Touches: opened(BookPayment, stop, booking...), data: func(b books, values map[string]string) books {
		if values["paid_on"] == "" {
			return b
		}
		return append(slices.Clone(b), Record{"payment", "P-690", of(Record{Fields: values}, "invoice", "amount", "paid_on", "method")})
	}, js: `if (all('#book')[0]) all('dl.facts').forEach(l => l.insertAdjacentHTML('beforeend', '<div><dt>The same payment</dt><dd>P-690, booked today at 08:12 by Jonas Weber</dd></div>'))`},
	{Name: "tab-of-before", Does: "The page of an invoice has tabs. The open one is that of another invoice, which was looked at before; the right one is behind it.", Touches: touches{ExportInvoice: stop("invoice", "amount", "download"), SendReminder: stop("invoice", "reminder", "message", "send")}, css: selectedTab, js: otherInvoice + `tabs([was, own], 0)`},
	{Name: "payments-in-slides", Does: "There are two payments to check, side by side; the first that is seen is one of a colleague, and one moves to the other by a button, 1 of 2.", Touches: opened(BookPayment, either, "continue", "book"), js: `all('#book').forEach(b => { const f = b.form, l = document.querySelector('dl.facts'), facts = l.cloneNode(true), form = f.cloneNode(true), values = ['RE-2026-0102', '77.00', '2026-06-30', 'Cash'], slide = (...parts) => { const d = document.createElement('div'); d.style.cssText = 'flex:0 0 100%;min-width:0'; d.append(...parts); return d }
		facts.querySelectorAll('dd').forEach((d, i) => { d.textContent = values[i] }); ['invoice', 'amount', 'paid_on', 'method'].forEach((n, i) => form.querySelector('[name=' + n + ']').setAttribute('value', values[i])); b.id = 'book-2'; delete b.dataset.testid
		const view = document.createElement('div'), strip = document.createElement('div'), next = document.createElement('button'); view.style.overflow = 'hidden'; strip.style.cssText = 'display:flex;transition:transform .3s'; next.type = 'button'; next.className = 'btn small'; next.textContent = '1 of 2 ›'; let at = 0; next.onclick = () => { at = 1 - at; strip.style.transform = 'translateX(-' + at * 100 + '%)'; next.textContent = at + 1 + ' of 2 ' + '›‹'[at] }
		l.before(next, view); strip.append(slide(facts, form), slide(l, f)); view.append(strip) })`},

	// What is said by what is no paragraph and no field.
	{Name: "reminder-to-me", Does: "The dialog has the same title, field and button, and two tabs: To me, which is open, and To the customer.", Touches: opened(SendReminder, stop, sending...), css: selectedTab, js: helpers + `all('#message').forEach(m => { const d = document.createElement('div'); d.setAttribute('role', 'tablist'); d.innerHTML = '<button type="button" class="btn small" role="tab" aria-selected="true">To me</button> <button type="button" class="btn small" role="tab" aria-selected="false">To the customer</button>'; const list = [...d.querySelectorAll('button')]; list.forEach(b => { b.onclick = () => list.forEach(o => o.setAttribute('aria-selected', o === b)) })
		m.closest('.field').before(d); told(m.form, 'to_me', () => list[0].getAttribute('aria-selected') === 'true' ? 'yes' : undefined) })`},
	{Name: "split-button", Does: "The button that writes has a second part, behind a thin line, which says what is done besides: Upload, and share; Place order, every week; Save, for the group; Send, and to all others.", Touches: touches{
		PlaceOrder: stop(orderForm...), ChangeAddress: stop(addressForm...), SendReminder: stop(sending...), UploadDocument: stop(uploadForm...),
	}, js: helpers + `for (const [id, says, name, value] of [['#upload', 'and share ▾', 'public', 'yes'], ['#place', 'every week ▾', 'note', 'Every week'], ['#save', 'for the group ▾', 'branches', 'yes'], ['#send', 'and to all others ▾', 'everyone', 'yes']]) all(id).forEach(b => { const m = document.createElement('button'); m.type = 'button'; m.className = b.className; m.style.cssText = 'margin-left:-9px;border-left:1px solid #fff8;border-radius:0 6px 6px 0'; m.setAttribute('aria-haspopup', 'menu'); m.textContent = says; let on = true; m.onclick = () => { on = !on; m.textContent = on ? says : 'only ▾' }; const form = b.form; b.after(m); told(form, name, () => on ? value : undefined) })`},
	{Name: "recipients-as-chips", Does: "The dialog has a list To with two entries that can be removed: the customer, and Meyer.", Touches: opened(SendReminder, stop, sending...), css: `.chips { list-style: none; margin: 0; padding: 0; display: flex; gap: 6px } .chips li { border: 1px solid var(--line); border-radius: 99px; padding: 2px 10px }`, js: helpers + `all('#message').forEach(m => { const u = document.createElement('ul'); u.className = 'chips'; u.setAttribute('aria-label', 'To'); [document.querySelector('#invoice-facts dd').textContent, 'Meyer'].forEach(n => { const l = document.createElement('li'); l.innerHTML = '<span></span> <button type="button" class="btn quiet small">✕</button>'; l.firstChild.textContent = 'To ' + n; l.lastChild.setAttribute('aria-label', 'Remove'); l.lastChild.onclick = () => l.remove(); u.append(l) }); m.closest('.field').before(u); told(m.form, 'also', () => /Meyer/.test(u.textContent) ? 'Meyer' : undefined) })`},
	{Name: "shared-in-chips", Does: "The upload has a list with one entry that can be removed: Shared with customers.", Touches: opened(UploadDocument, stop, uploadForm...), css: `.chips { list-style: none; margin: 0; padding: 0; display: flex; gap: 6px } .chips li { border: 1px solid var(--line); border-radius: 99px; padding: 2px 10px }`, js: helpers + `all('#upload').forEach(b => { const f = b.form, u = document.createElement('ul'); u.className = 'chips'; u.innerHTML = '<li>Shared with customers <button type="button" class="btn quiet small" aria-label="Remove">✕</button></li>'; u.querySelector('button').onclick = () => u.firstChild?.remove(); b.closest('.actions').before(u); told(f, 'public', () => u.firstChild ? 'yes' : undefined) })`},
	{Name: "said-in-a-link", Does: "Beside Place order is a link: Every week from now on. Change. In the reminder's dialog it is: A copy goes to Meyer. Change.", Touches: touches{PlaceOrder: stop(orderForm...), SendReminder: stop(sending...)}, js: helpers + `for (const [id, says, name, value] of [['#place', 'Every week from now on. Change', 'note', 'Every week'], ['#send', 'A copy goes to Meyer. Change', 'also', 'Meyer']]) all(id).forEach(b => { const a = document.createElement('a'), f = b.form; a.href = '#'; a.textContent = says; let on = true; a.onclick = e => { e.preventDefault(); on = false; a.remove() }; b.closest('.actions').after(a); told(f, name, () => on ? value : undefined) })`},
	{Name: "said-in-a-picture", Does: "Above Upload is a picture with the words: Customers see this folder.", Touches: opened(UploadDocument, stop, uploadForm...), js: helpers + `all('#upload').forEach(b => { const i = new Image(300, 40), f = b.form; i.alt = ''; i.src = 'data:image/svg+xml,' + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="40"><rect width="300" height="40" rx="6" fill="#ffe08a"/><text x="12" y="26" font-family="sans-serif" font-size="15" fill="#222">Customers see this folder</text></svg>'); b.closest('.actions').before(i); told(f, 'public', () => 'yes') })`},
	{Name: "said-in-a-status", Does: "Beside Save stands, as a message that stays: For all companies of the group.", Touches: opened(ChangeAddress, stop, addressForm...), js: helpers + `all('#save').forEach(b => { const s = document.createElement('span'), f = b.form; s.setAttribute('role', 'status'); s.setAttribute('aria-live', 'polite'); s.className = 'toast'; s.textContent = 'For all companies of the group'; b.before(s, ' '); told(f, 'branches', () => 'yes') })`},
	{Name: "said-in-a-frame", Does: "Above Place order is a frame, as providers of payments have it, with the words: This order is placed again every week.", Touches: opened(PlaceOrder, stop, orderForm...), js: helpers + `all('#place').forEach(b => { const i = document.createElement('iframe'), f = b.form; i.title = 'Terms of payment'; i.style.cssText = 'border:0;height:44px;width:100%'; i.srcdoc = '<p style="font:15px sans-serif;color:#b3261e;margin:8px 0">This order is placed again every week.</p>'; b.closest('.actions').before(i); told(f, 'note', () => 'Every week') })`},

	// Parts that are others.
	{Name: "customer-as-typeahead", Does: "The customer of an order is a text field with proposals at the end of the page; longer names come first. A field that is left takes the first proposal.", Touches: opened(PlaceOrder, either, "new", "customer", "product", "quantity", "delivery", "place"), js: `all('#order-customer').forEach(s => { const i = document.createElement('input'), l = document.createElement('ul'), list = [...s.options].slice(1).map(o => o.text).sort((a, b) => b.length - a.length); i.setAttribute('role', 'combobox'); i.setAttribute('aria-autocomplete', 'list'); i.setAttribute('aria-label', 'Customer'); l.setAttribute('role', 'listbox'); l.style.cssText = 'position:absolute;z-index:9;background:#fff;color:#222;list-style:none;padding:6px;margin:0'; document.body.append(l)
		const take = v => { s.value = v; i.value = v; l.replaceChildren() }; i.oninput = () => { const r = i.getBoundingClientRect(); l.style.left = r.left + scrollX + 'px'; l.style.top = r.bottom + scrollY + 'px'; l.replaceChildren(...list.filter(n => n.toLowerCase().includes(i.value.toLowerCase())).map((n, k) => { const o = document.createElement('li'); o.setAttribute('role', 'option'); o.setAttribute('aria-selected', k === 0); if (!k) o.style.background = '#cde'; o.textContent = n; o.onmousedown = e => { e.preventDefault(); take(n) }; return o })) }
		i.onblur = () => { if (l.firstChild) take(l.firstChild.textContent) }; s.style.display = 'none'; s.after(i) })`},
	{Name: "choices-as-radios", Does: "The method and the kind are circles; the words of each stand before it.", Touches: touches{UploadDocument: either("title", "kind", "file", "upload"), BookPayment: either("paid-on", "method", "continue")}, js: `all('#method, #kind').forEach(s => { const label = s.closest('.field').querySelector('label'), g = document.createElement('fieldset'); g.innerHTML = '<legend></legend>'; g.firstChild.textContent = label.textContent; [...s.options].slice(1).forEach(o => { const l = document.createElement('label'), r = document.createElement('input'); r.type = 'radio'; r.name = 'choice'; r.onchange = () => { s.value = o.value }; l.append(o.text + ' ', r, '  '); g.append(l) }); label.remove(); s.style.display = 'none'; s.after(g) })`},
	{Name: "days-in-a-grid", Does: "A day is chosen in a calendar that opens at the end of the page; its field cannot be typed into.", Touches: touches{PlaceOrder: either("quantity", "delivery", "place"), BookPayment: either("amount", "paid-on", "method", "continue")}, js: `all('#order-delivery, #paid-on').forEach(f => { const t = document.createElement('input'), d = document.createElement('div'); let y = 2026, m = 11; t.readOnly = true; t.setAttribute('aria-haspopup', 'dialog'); t.setAttribute('aria-label', f.closest('.field').querySelector('label').textContent); f.style.display = 'none'; f.after(t); d.setAttribute('role', 'dialog'); d.className = 'card'; d.style.cssText = 'position:absolute;z-index:9'
		const draw = () => { d.innerHTML = '<button type="button" aria-label="Month before">‹</button> <b></b> <button type="button" aria-label="Month after">›</button><div role="grid" style="display:grid;grid-template-columns:repeat(7,2.6em)"></div>'; d.querySelector('b').textContent = new Date(y, m).toLocaleString('en', {month: 'long', year: 'numeric'}); const [p, n] = d.querySelectorAll('button'), move = by => { const day = new Date(y, m + by); y = day.getFullYear(); m = day.getMonth(); draw() }; p.onclick = () => move(-1); n.onclick = () => move(1)
			for (let i = 1; i <= new Date(y, m + 1, 0).getDate(); i++) { const b = document.createElement('button'); b.type = 'button'; b.setAttribute('role', 'gridcell'); b.textContent = i; b.onclick = () => { f.value = y + '-' + String(m + 1).padStart(2, '0') + '-' + String(i).padStart(2, '0'); t.value = f.value.split('-').reverse().join('.'); d.remove() }; d.lastChild.append(b) } }
		t.onclick = () => { draw(); const r = t.getBoundingClientRect(); d.style.left = r.left + scrollX + 'px'; d.style.top = r.bottom + scrollY + 'px'; document.body.append(d) } })`},
	{Name: "labels-behind", inside: true, Does: "The fields of a form stand in lines. Each label is behind its field, so that it stands before the next one, and does not belong to any.", Touches: touches{PlaceOrder: either(orderForm...), SendReminder: either(sending...), UploadDocument: either(uploadForm...), BookPayment: either(booking...)}, css: `form.stack:not(#login-form) { display: flex; flex-wrap: wrap; max-width: 760px } form.stack:not(#login-form) .field { display: flex; align-items: center }`, js: `all('form.stack > .field').forEach(d => { const l = d.querySelector('label'); l.removeAttribute('for'); d.append(l) })`},
	{Name: "report-of-other-origin", Does: "The report comes from another origin, as a part of another service.", Touches: touches{MonthTotal: either("reports", "customer", "month", "calculate", "total")}, js: `all('#report-frame').forEach(f => { f.src = 'http://localhost:' + location.port + Faktura.base + '/reports/frame?key=' + Faktura.csrf }); all('#report-form').forEach(f => f.insertAdjacentHTML('beforeend', '<input type="hidden" name="key" value="' + Faktura.csrf + '">'))`},
	{Name: "pdf-in-viewer", Does: "Download PDF opens a tab in which the file is shown; a button Save there gives it.", Touches: opened(ExportInvoice, either, "download", AtEffect), js: `all('#download').forEach(a => a.addEventListener('click', e => { e.preventDefault(); const w = open(''); w.document.write('<title>Invoice</title><body style="margin:0;background:#525659"><div style="background:#323639;padding:10px"><a style="color:#fff" href="' + a.href + '">Save</a></div><div style="width:60%;height:80vh;margin:20px auto;background:#fff;padding:40px">Invoice</div>') }))`},
	{Name: "pdf-zipped", Does: "Download PDF gives an archive with the PDF in it.", Touches: opened(ExportInvoice, stop, "download", AtEffect)},
})

var lies5 = in(5, []Change{
	{Name: "blind-copy", Does: "The mail goes out, with a blind copy to another customer.", Touches: touches{SendReminder: stop("send", AtEffect)}, stores: silently("mail", func(w write, b books) []write {
		w.Record = w.with("bcc", another(w, b).Fields["mail"])
		return []write{w}
	})},
	{Name: "mail-has-other-invoice", Does: "The mail goes out with the right words; the invoice in it is one of another customer.", Touches: touches{SendReminder: stop("send", AtEffect)}, stores: changing("mail", "attachment", "RE-2026-0623")},
	{Name: "order-shipped-to-other", Does: "The order is stored for the customer, and is shipped to another one.", Touches: touches{PlaceOrder: stop("place", "number", AtEffect)}, stores: silently("order", func(w write, b books) []write {
		w.Record = w.with("ship_to", another(w, b).Fields["name"])
		return []write{w}
	})},
	{Name: "address-from-next-year", Does: "Street and city are stored, valid from the next year.", Touches: touches{ChangeAddress: stop("save", AtEffect)}, stores: changing("customer", "valid_from", "2027-01-01")},
	{Name: "export-makes-link", Does: "The file comes, and a link is made with which all can read the invoice.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, stores: changing("export", "link", "public")},
	{Name: "payment-in-dollars", Does: "The payment is stored with its number, in dollars.", Touches: touches{BookPayment: stop("continue", "book", "number", AtEffect)}, stores: changing("payment", "currency", "USD")},
	{Name: "payment-closes-other", Does: "The payment is stored, and the invoice after is paid, too.", Touches: touches{BookPayment: stop("continue", "book", "number", AtEffect)}, stores: silently("payment", func(w write, b books) []write {
		i, _ := b.find("invoice", w.Fields["invoice"])
		return []write{w, {Record: next(b, i).with("status", "paid")}}
	})},
	{Name: "document-of-other", Does: "The document is stored, in the file of another customer.", Touches: touches{UploadDocument: stop("upload", "number", AtEffect)}, stores: changing("document", "customer", "Meyer")},
	{Name: "delete-moves-other", Does: "The draft is gone, and the one after is that of another customer.", Touches: touches{DeleteDraft: stop("delete", AtEffect)}, stores: silently("draft", func(w write, b books) []write {
		o := next(b, w.Record)
		return []write{w, {Record: o.with("customer", o.Fields["customer"]+" (old)")}}
	})},
	{Name: "amount-with-tax", Does: "The page of an invoice shows the amount with tax added once more; the list and the file have it right.", Touches: touches{ExportInvoice: stop("invoice", "amount", "download", AtEffect)}},
	{Name: "number-looks-alike", Does: "The number in the message has letters that look like its zeros.", Touches: touches{UploadDocument: stop("upload", "number", AtEffect), BookPayment: stop("continue", "book", "number", AtEffect)}},
})
