package portal

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

// What is here was written by a fourth author who had not seen how procedures run, and who had read of the three rounds before. It is about
// time and state: what becomes another between a look and a click, between two pages, and between the days. What may happen was stated
// before any of it was run.

// onPages does something on each whole page behind the login.
func onPages(js string) string {
	return `if (root !== document.body || window !== top || !Faktura.csrf) return; ` + js
}

// once does something the first time that a page runs the scripts of changes.
func once(js string) string { return `if (!Faktura.once4) { Faktura.once4 = true; ` + js + ` }` }

// lists are the tables of which one row is taken, while none is being edited.
const lists = `const lists = all('#invoice-table, #customer-table, #draft-table').filter(t => !t.querySelector('.editing'));`

// neighbors gives the page of the invoice after the one that is open.
const neighbors = `const after = () => { const own = location.pathname.split('/').pop(), x = new XMLHttpRequest(), no = own.slice(0, -2) + String((+own.slice(-2) + 1) % 24).padStart(2, '0')
	x.open('GET', Faktura.base + '/invoices/' + no, false); x.send(); return [no, new DOMParser().parseFromString(x.responseText, 'text/html')] };`

// atReview changes one value on the page to check, in what one reads and in what is sent, and says why.
func atReview(name, term, now, why string) string {
	return `all('#book').forEach(b => { const f = b.form.querySelector('[name=` + name + `]'), v = f.value; f.value = ` + now + `
		const d = all('dt').find(e => e.textContent === '` + term + `'); if (d) d.nextElementSibling.textContent = f.value
		b.closest('.actions').before(Object.assign(document.createElement('p'), {textContent: '` + why + `'})) })`
}

// everyWrite touches all works that write.
func everyWrite(a Accept) touches {
	return touches{PlaceOrder: a, ChangeAddress: a, SendReminder: a, DeleteDraft: a, UploadDocument: a, BookPayment: a}
}

// posts says whether a request writes.
func posts(c *call) bool { return c.r.Method != http.MethodGet && c.r.URL.Path != "/logout" }

// slowly has each request that writes take a while, as a part of Within.
func slowly(part time.Duration) func(*call) bool {
	return func(c *call) bool { return posts(c) && !late(c.r, c.o.Within/part) }
}

// booked adds the payment of the run, as another person booked it an hour before.
func booked(b books, values map[string]string) books {
	if values["invoice"] == "" || values["amount"] == "" {
		return b
	}
	return append(b, Record{"payment", "P-688", of(Record{Fields: values}, "invoice", "amount", "paid_on", "method")})
}

var (
	reviewed   = touches{BookPayment: stop("continue", "book")}
	inDialog   = touches{SendReminder: either("message", "send")}
	writesFrom = merged(typing(surely), touches{SendReminder: right})
)

var round4 = in(4, []Change{
	// Days that a run has to get through.
	{Name: "session-counts-down", Does: "The header counts down each second until one is signed out.", Touches: every(right), js: onPages(`all('.who').forEach(w => { const s = document.createElement('span'); s.className = 'badge'; let n = 900
		const tick = () => { s.textContent = 'Signed out in ' + Math.trunc(n / 60) + ':' + String(n-- % 60).padStart(2, '0') }; tick(); setInterval(tick, 1000); w.before(s, ' ') })`)},
	{Name: "clock-ticks", Does: "The time in As of has seconds, and goes.", Touches: touches{ExportInvoice: right, SendReminder: right, MonthTotal: right}, js: `all('.say').filter(p => /08:15/.test(p.textContent)).forEach(p => { const was = p.textContent; let n = 7; const tick = () => { p.textContent = was.replace('08:15', '08:15:' + String(n++ % 60).padStart(2, '0')) }; tick(); setInterval(tick, 1000) })`},
	{Name: "draft-saved-note", inside: true, Does: "A moment after one typed, Draft saved and a time stand beside the buttons.", Touches: writesFrom, js: once(`document.addEventListener('input', e => { const f = e.target.form; if (!f || f.matches('.filter, #login-form')) return
		clearTimeout(f.wait); f.wait = setTimeout(() => { let s = f.querySelector('.kept'); if (!s) { s = document.createElement('small'); s.className = 'kept'; (f.querySelector('.actions') ?? f).append(' ', s) } s.textContent = 'Draft saved at 08:16' }, 600) })`)},
	{Name: "busy-then-tries-again", Does: "The first answer to each request of a script is that the portal is busy; the script tries again by itself.", Touches: touches{PlaceOrder: right, ChangeAddress: right}, js: once(`const get = window.fetch
		window.fetch = async (at, how = {}) => { const r = await get(at, {...how, headers: {...how.headers, 'X-App': '2'}}); if (r.status !== 503) return r; await new Promise(go => setTimeout(go, 900)); return get(at, how) }`), meets: func(c *call) bool {
		if c.r.Header.Get("X-App") == "" || !c.firstTime("busy "+c.r.Method+c.r.URL.String()) {
			return false
		}
		http.Error(c.w, "busy", http.StatusServiceUnavailable)
		return true
	}},
	{Name: "rows-in-batches", Does: "Lists show three rows at once, and four more every quarter of a second.", Touches: choosing(surely), js: lists + `lists.forEach(t => { const b = t.tBodies[0], rest = [...b.rows].slice(3); rest.forEach(r => r.remove()); const more = setInterval(() => { b.append(...rest.splice(0, 4)); if (!rest.length) clearInterval(more) }, 250) })`},
	{Name: "reloads-after-login", Does: "The first page after the login loads itself again after 0.6 seconds.", Touches: every(right), js: onPages(`if (/\/login$/.test(document.referrer) && !sessionStorage.fresh) setTimeout(() => { sessionStorage.fresh = 1; location.reload() }, 600)`)},
	{Name: "lock-released", Does: "For 1.5 seconds Save is disabled, and beside it stands that another person has the row open.", Touches: touches{ChangeAddress: right}, js: `all('#save').forEach(b => { b.disabled = true; const s = Object.assign(document.createElement('small'), {textContent: 'Jonas Weber has this row open…'}); b.form.append(s); setTimeout(() => { s.remove(); b.disabled = false }, 1500) })`},
	{Name: "undo-offered", Does: "After a write, a bar with Undo comes at the lower left for six seconds; left alone, it does nothing.", Touches: everyWrite(right), js: `all('.flash, #order-number').forEach(() => { const d = document.createElement('div'); d.setAttribute('role', 'status'); d.style.cssText = 'position:fixed;left:20px;bottom:20px;background:#222;color:#fff;padding:10px'; d.innerHTML = 'Done. <button type="button" class="btn small">Undo</button>'; document.body.append(d); setTimeout(() => d.remove(), 6000) })`},
	{Name: "saves-in-background", Does: "After Save the list comes at once with the new address, which is sent a second later.", Touches: touches{ChangeAddress: right}, js: once(`const send = Faktura.send; Faktura.send = async (f, m) => { if (m !== 'PUT') return send(f, m)
		const at = f.action, v = Object.fromEntries(new FormData(f)); await Faktura.go(Faktura.base + '/app/customers'); Faktura.toast('Saved'); const r = document.querySelector('#row-' + at.split('/').pop()); if (r) { r.cells[2].textContent = v.street; r.cells[3].textContent = v.city }
		setTimeout(() => fetch(at, {method: m, keepalive: true, headers: {'Content-Type': 'application/json', 'X-CSRF': Faktura.csrf}, body: JSON.stringify(v)}), 900) }`)},
	{Name: "new-version-corner", Does: "A second after each page, a box at the lower right says that there is a new version, with Reload.", Touches: every(right), js: onPages(`setTimeout(() => { const d = document.createElement('div'); d.setAttribute('role', 'status'); d.style.cssText = 'position:fixed;right:12px;bottom:12px;background:#222;color:#fff;padding:10px;z-index:7'; d.innerHTML = 'There is a new version of Faktura. <button type="button" class="btn small">Reload</button>'; d.querySelector('button').onclick = () => location.reload(); document.body.append(d) }, 1000)`)},
	{Name: "buttons-busy", Does: "A button that was pressed is disabled, and says Please wait, until the answer comes after a second.", Touches: everyWrite(right), meets: slowly(2), js: once(`document.addEventListener('submit', e => { const b = e.submitter; if (!b || /log(in|out)$/.test(e.target.action)) return; const was = b.textContent; setTimeout(() => { b.disabled = true; b.textContent = 'Please wait…' }); setTimeout(() => { b.disabled = false; b.textContent = was }, 4000) })`)},
	{Name: "other-status-late", Does: "Half a second after the message of the page comes another below it: Backup of 08:15 finished.", Touches: touches{UploadDocument: right, BookPayment: right, SendReminder: right, DeleteDraft: right}, js: `all('#flash').forEach(f => setTimeout(() => f.insertAdjacentHTML('afterend', '<div class="flash" role="status">Backup of 08:15 finished</div>'), 500))`},
	{Name: "rows-resort-once", Does: "Lists are put into another order once, 0.7 seconds after they came.", Touches: choosing(surely), js: lists + `lists.forEach(t => setTimeout(() => t.tBodies[0].append(...[...t.tBodies[0].rows].reverse()), 700))`},
	{Name: "title-blinks", Does: "The title of each page is every other second that there is a new message.", Touches: every(right), js: onPages(`const was = document.title; let n = 0; setInterval(() => { document.title = n++ % 2 ? was : 'Ada Lind wrote to you' }, 800)`)},
	{Name: "address-with-stamp", Does: "A moment after a page came, its address has a number behind it.", Touches: every(right), js: `if (window === top && Faktura.csrf) setTimeout(() => { if (!/[?&]t=/.test(location.search)) history.replaceState(history.state, '', location.href + (location.search ? '&' : '?') + 't=' + Date.now()) }, 300)`},
	{Name: "pdf-prepared", Does: "After a click on Download PDF the link says Preparing for 1.5 seconds, and then the download comes.", Touches: touches{ExportInvoice: right}, js: `all('#download').forEach(a => a.addEventListener('click', e => { if (a.ready) return; e.preventDefault(); a.textContent = 'Preparing…'; setTimeout(() => { a.textContent = 'Download PDF'; a.ready = true; a.click(); a.ready = false }, 1500) }))`},
	{Name: "still-there-dialog", inside: true, Does: "A dialog asks whether one is still there, a second after each page, and closes by itself 2.5 seconds later.", Touches: every(right), js: onPages(`setTimeout(() => { const d = document.createElement('dialog'); d.innerHTML = '<p>Are you still there?</p><button type="button" class="btn">Yes</button>'; d.querySelector('button').onclick = () => d.remove(); document.body.append(d); d.showModal(); setTimeout(() => d.remove(), 2500) }, 900)`)},
	{Name: "slow-offers-retry", Does: "A write takes two seconds, and meanwhile a bar above offers Try again, which would send it once more.", Touches: everyWrite(right), meets: slowly(1), js: once(`document.addEventListener('submit', e => { const f = e.target; if (f.method === 'get' && !f.dataset.send || /log(in|out)$/.test(f.action)) return; setTimeout(() => { const d = document.createElement('div'); d.setAttribute('role', 'status'); d.style.cssText = 'position:fixed;left:0;right:0;top:0;background:#ffe08a;color:#222;padding:10px;z-index:7'; d.innerHTML = 'This takes longer than usual. <button type="button" class="btn small">Try again</button>'; d.querySelector('button').onclick = () => f.requestSubmit(); document.body.append(d); setTimeout(() => d.remove(), 2500) }, 700) })`)},
	{Name: "asks-afterwards", Does: "After a write, a dialog asks how it was; it changes nothing.", Touches: touches{ChangeAddress: right, SendReminder: right, UploadDocument: right, DeleteDraft: right, BookPayment: right}, js: `const asks = () => setTimeout(() => { const d = document.createElement('dialog'); d.innerHTML = '<h2>How was it?</h2><button type="button" class="btn">Good</button> <button type="button" class="btn">Not good</button>'; d.onclick = e => { if (e.target.tagName === 'BUTTON') d.remove() }; document.body.append(d); d.showModal() }, 400)
		all('#flash').forEach(asks); ` + once(`const say = Faktura.toast; Faktura.toast = (text, bad) => { say(text, bad); if (text === 'Saved') asks() }`)},
	{Name: "last-used-first", Does: "Lists of choices begin with a group Last used, which has three of them once more, with the same meaning.", Touches: touches{PlaceOrder: right, UploadDocument: right, BookPayment: right, MonthTotal: right}, js: `all('.field select').forEach(s => { if (s.options.length < 4) return; const g = document.createElement('optgroup'); g.label = 'Last used'; g.append(...[...s.options].slice(1, 4).map(o => new Option(o.text, o.value))); s.options[0].after(g) })`},
	{Name: "last-opened-rows", Does: "Lists begin with up to eight rows of them once more, under Last opened; their buttons do the same.", Touches: choosing(surely), js: lists + `lists.forEach(t => { const b = t.tBodies[0], list = [...b.rows].filter(r => r.cells.length > 3).slice(0, 8).map(r => r.cloneNode(true)); if (!list.length) return; const p = document.createElement('tbody'); p.innerHTML = '<tr><th colspan="6" scope="rowgroup">Last opened</th></tr>'; p.append(...list); b.before(p) })`},

	// What was done already, or is under way.
	{Name: "paid-an-hour-ago", Does: "The table below the form has the very same payment, which another person booked an hour ago.", Touches: touches{BookPayment: stop("payments", "invoice", "amount", "paid-on", "method", "continue", "book")}, data: booked},
	{Name: "review-knows-it", Does: "The page to check says that the same payment was booked at 08:10 by another.", Touches: reviewed, data: booked, says: plus("Ada Lind booked a payment for this invoice with the same amount and day at 08:10: P-688.", "book")},
	{Name: "reminded-today", Does: "The page of the invoice says that a colleague sent a reminder an hour ago.", Touches: opened(SendReminder, stop, append([]string{"invoice"}, sending...)...), says: map[string]string{"remind": "3 reminders were sent this year, the last one today at 08:10 by Ada Lind."}},
	{Name: "invoice-paid-meanwhile", Does: "The invoice was paid this morning, as its row and its page say.", Touches: opened(SendReminder, stop, append([]string{"filter", "invoice"}, sending...)...), data: func(b books, values map[string]string) books {
		for i, r := range b {
			if r.Kind == "invoice" && about(r, values) {
				b[i] = r.with("status", "paid")
			}
		}
		return b
	}},
	{Name: "taken-as-duplicate", Does: "A colleague did the same a minute ago: the portal takes it for a duplicate, shows theirs, and stores nothing.", Touches: touches{PlaceOrder: stop("place", "number", AtEffect), UploadDocument: stop("upload", "number", AtEffect)}, data: func(b books, v map[string]string) books {
		if v["product"] != "" {
			b = append(b, Record{"order", "A-598", of(Record{Fields: v}, "customer", "product", "quantity", "delivery")}.with("note", ""))
		}
		if v["kind"] != "" {
			b = append(b, Record{"document", "D-640", map[string]string{"title": v["title"], "kind": v["kind"], "sha256": digest([]byte(v["file"]))}})
		}
		return b
	}, meets: func(c *call) bool {
		if c.r.Method != http.MethodPost {
			return false
		}
		if o, has := c.read().where("order", of(Record{Fields: c.form}, "customer", "product", "quantity", "delivery")); has && c.r.URL.Path == "/api/orders" {
			c.done("/app/orders/"+o.ID, "Order "+o.ID+" placed")
			return true
		}
		if d, has := c.read().where("document", map[string]string{"sha256": digest(c.file)}); has && c.r.URL.Path == "/documents" {
			c.done("/documents", "Filed as "+d.ID)
			return true
		}
		return false
	}},
	{Name: "continues-upload", Does: "Beside Upload stands that one continues D-640, whose file is replaced.", Touches: opened(UploadDocument, stop, uploadForm...), says: plus("You continue D-640 of this morning: this file takes its place.", "upload"), data: func(b books, _ map[string]string) books {
		return append(b, Record{"document", "D-640", map[string]string{"title": "Lease", "kind": "Contract", "sha256": digest([]byte("lease"))}})
	}, stores: silently("document", func(w write, b books) []write {
		old, _ := b.find("document", "D-640")
		return []write{{old, true}, w}
	})},
	{Name: "merged-into-other", Does: "The customer was merged into the one after: Edit opens that one, as a line says.", Touches: opened(ChangeAddress, stop, addressForm...), js: `all('#customer-table .editing').forEach(r => { const no = new URLSearchParams(location.search).get('edit'); if (r.cells[1].textContent !== no) r.closest('table').before(Object.assign(document.createElement('p'), {textContent: no + ' was merged into ' + r.cells[0].textContent + ' yesterday.'})) })`, meets: func(c *call) bool {
		if r, has := c.read().find("customer", c.form["edit"]); has && c.r.URL.Path == "/fragment/customers" {
			c.form["edit"] = next(c.read(), r).ID
		}
		return false
	}},

	// Other persons.
	{Name: "acts-for-other", Does: "Each page says below the header that one acts for a colleague until one ends it.", Touches: touches{PlaceOrder: stop(Anywhere), ChangeAddress: stop(Anywhere), SendReminder: stop(Anywhere), UploadDocument: stop(Anywhere), BookPayment: stop(Anywhere)}, says: map[string]string{"top": `<section class="card">You act for Ada Lind until you end it. <button type="button" class="btn small">End</button></section>`}, stores: func(w write, _ books) []write {
		if !w.remove && w.Kind != "export" {
			w.Record = w.with("for", "Ada Lind")
		}
		return []write{w}
	}},
	{Name: "version-conflict", Does: "Save is answered like any other, by the list, and its message says that nothing was saved as another person changed the customer.", Touches: touches{ChangeAddress: stop("save", AtEffect)}, meets: func(c *call) bool {
		if c.r.Method != http.MethodPut {
			return false
		}
		c.done("/app/customers", "Not saved: Jonas Weber changed this customer a minute ago")
		return true
	}},
	{Name: "saves-as-copy", Does: "Beside Save stands that another person has the customer open, and that Save makes a copy.", Touches: opened(ChangeAddress, stop, addressForm...), says: plus("Jonas Weber has it open since 08:02: Save makes a copy of the customer.", "save"), stores: silently("customer", func(w write, _ books) []write {
		w.Record = w.with("no", w.ID+"9")
		w.ID += "9"
		return []write{w}
	})},
	{Name: "turns-read-only", Does: "0.9 seconds after the row opened it is read only again, with what it had, as stands beside Save, which closes it.", Touches: opened(ChangeAddress, stop, append([]string{AtEffect}, addressForm...)...), js: `all('#edit-form').forEach(f => setTimeout(() => { document.querySelectorAll('#street, #city').forEach(e => { e.value = e.defaultValue; e.readOnly = true }); f.after(Object.assign(document.createElement('small'), {textContent: 'Read only: your right to edit ended at 08:31'}))
		f.addEventListener('submit', e => { e.preventDefault(); e.stopPropagation(); Faktura.toast('Nothing to save'); Faktura.go(Faktura.base + '/app/customers') }) }, 900))`},
	{Name: "read-only-mode", Does: "Each page says that there is maintenance, and that entries are accepted and not kept.", Touches: everyWrite(stop(Anywhere)), says: map[string]string{"top": "Maintenance from 08:30 to 09:00: entries are accepted, and not kept."}, stores: func(w write, _ books) []write {
		if w.Kind == "export" {
			return []write{w}
		}
		return nil
	}},
	{Name: "optimistic-fails", Does: "The page shows it as done at once; 1.5 seconds later it is as it was, and a message says that it failed.", Touches: touches{DeleteDraft: stop("delete", AtEffect), ChangeAddress: stop("save", AtEffect)}, js: once(`Faktura.ask = text => { const r = document.activeElement.closest('tr'); if (!r || !confirm(text)) return; r.style.display = 'none'; Faktura.toast('Draft deleted'); setTimeout(() => { r.style.display = ''; Faktura.toast('Not deleted: Jonas Weber has it open', true) }, 1500) }
		const send = Faktura.send; Faktura.send = async (f, m) => { if (m !== 'PUT') return send(f, m); const no = f.action.split('/').pop(), v = new FormData(f); await Faktura.go(Faktura.base + '/app/customers'); Faktura.toast('Saved'); const r = document.querySelector('#row-' + no); if (!r) return; const was = [r.cells[2].textContent, r.cells[3].textContent]
			r.cells[2].textContent = v.get('street'); r.cells[3].textContent = v.get('city'); setTimeout(() => { [r.cells[2].textContent, r.cells[3].textContent] = was; Faktura.toast('Not saved: the connection was lost', true) }, 1500) }`)},
	{Name: "colleague-types-too", Does: "A colleague is in the same field: 0.7 seconds after it was typed into, it ends in what they typed.", Touches: touches{ChangeAddress: either("street", "city", "save"), UploadDocument: either("title", "kind", "file", "upload")}, js: `all('#street, #title').forEach(f => f.addEventListener('input', () => { if (f.shared) return; f.shared = true; setTimeout(() => { f.value += ' (rear building)'; f.style.outline = '3px solid orange'; f.title = 'Jonas Weber is typing' }, 700) }))`},
	{Name: "edit-moves-down", Does: "The list gets a row while one types: what is edited is the next customer now, as the row says.", Touches: touches{ChangeAddress: either("street", "city", "save")}, js: `all('#city').forEach(c => c.addEventListener('input', () => { const r = c.closest('tr'); if (r.moved) return; r.moved = true; setTimeout(() => { const n = r.nextElementSibling ?? r.previousElementSibling, f = r.querySelector('form')
		for (const i of [0, 1]) [r.cells[i].textContent, n.cells[i].textContent] = [n.cells[i].textContent, r.cells[i].textContent]; f.action = f.action.replace(/K-\d+/, r.cells[1].textContent) }, 60) }))`},
	{Name: "next-in-queue", Does: "The page behind the dialog moves on to the next invoice while one types, as its heading and its facts say; Send is about that one.", Touches: inDialog, js: neighbors + `all('#message').forEach(m => m.addEventListener('input', () => { if (m.moved) return; m.moved = true; setTimeout(() => { const [no, page] = after(); for (const s of ['h1', '.crumbs', '#invoice-facts']) document.querySelector('main ' + s).replaceWith(page.querySelector('main ' + s))
		m.form.action = m.form.action.replace(/RE-[\d-]+/, no); Faktura.toast('Next invoice in the queue: ' + no) }, 60) }))`},

	// What comes late, or out of order.
	{Name: "answers-out-of-order", Does: "0.5 seconds after the list came, the answer to an older search takes its place: the same customers in another month, as its column says.", Touches: touches{ExportInvoice: either("filter", "invoice", "amount"), SendReminder: either("filter", "invoice", "reminder", "message", "send")}, js: `if (!/month=\d/.test(location.search)) return;` + previous + `
		const was = previous(); all('#invoice-table tbody').forEach(b => setTimeout(() => b.replaceChildren(...was), 500))`},
	{Name: "previous-page-lingers", Does: "For 1.5 seconds the page of an invoice is that of another, whole, under a line Loading.", Touches: touches{ExportInvoice: either("invoice", "amount", "download"), SendReminder: either("invoice", "reminder", "message", "send")}, js: neighbors + `const m = all('main')[0]; if (!m || !all('#invoice-facts')[0]) return; const real = [...m.childNodes], [, page] = after(), p = Object.assign(document.createElement('p'), {textContent: 'Loading…'})
		m.replaceChildren(p, ...page.querySelector('main').childNodes); setTimeout(() => m.replaceChildren(...real), 1500)`},
	{Name: "older-save-arrives-later", Does: "The row is saved in the background, too, as stands beside Save while it waits: 2.5 seconds after the street was typed, with the city as it was then.", Touches: touches{ChangeAddress: either("street", "city", "save")}, js: `all('#street').forEach(f => f.addEventListener('input', () => { if (f.waits) return; f.waits = true; const form = document.querySelector('#edit-form'), at = form.action, city = document.querySelector('#city').value; form.after(Object.assign(document.createElement('small'), {textContent: 'Saving in the background…'}))
		setTimeout(() => fetch(at, {method: 'PUT', headers: {'Content-Type': 'application/json', 'X-CSRF': Faktura.csrf}, body: JSON.stringify({street: f.value, city})}).then(() => Faktura.toast('Saved in the background')), 2500) }))`},
	{Name: "number-preliminary", Does: "For 1.6 seconds the number is a preliminary one, as stands below it.", Touches: touches{UploadDocument: either("upload", "number", AtEffect), BookPayment: either("book", "number", AtEffect), PlaceOrder: either("place", "number", AtEffect)}, js: `all('#flash, #order-number').forEach(e => { const real = e.textContent; e.textContent = real.replace(/\d+/, n => +n + 200); const s = Object.assign(document.createElement('small'), {textContent: 'The number is preliminary.'}); (e.closest('dl') ?? e).after(s); setTimeout(() => { e.textContent = real; s.remove() }, 1600) })`},
	{Name: "message-restored-late", Does: "0.3 seconds after the message was typed, a draft of it from before is put behind it.", Touches: inDialog, js: `all('#message').forEach(m => { let wait; m.addEventListener('input', () => { clearTimeout(wait); wait = setTimeout(() => { if (m.restored) return; m.restored = true; m.value += '\nOtherwise we go to court.'; m.after(Object.assign(document.createElement('small'), {textContent: 'Draft of 28 November restored'})) }, 300) }) })`},
	{Name: "options-reload", Does: "0.5 seconds after a choice the list has a new first entry, and what is chosen is the entry before.", Touches: touches{
		PlaceOrder: either("customer", "product", "quantity", "delivery", "place", "number"), UploadDocument: either("kind", "file", "upload"), BookPayment: either("method", "continue", "book"), MonthTotal: either("customer", "month", "calculate", "total", AtEffect),
	}, js: `all('.field select').forEach(s => s.addEventListener('change', () => { if (s.fresh) return; s.fresh = true; setTimeout(() => { const at = s.selectedIndex; s.options[1].before(new Option('Aalto')); s.selectedIndex = at }, 500) }))`},
	{Name: "report-refreshes", Does: "0.9 seconds after the total came, the report is about the latest month, as its field says.", Touches: touches{MonthTotal: either("calculate", "total", AtEffect)}, js: `all('#total').forEach(() => { const q = new URLSearchParams(location.search); if (q.get('auto')) return; q.set('month', q.get('month') === '2026-06' ? '2026-05' : '2026-06'); q.set('auto', 1); setTimeout(() => location.replace(location.pathname + '?' + q), 900) })`},
	{Name: "buttons-swap-on-hover", Does: "A new design comes while the pointer is over Save or Send: in that place is Delete, which does not ask, or Cancel.", Touches: touches{ChangeAddress: either("save", AtEffect), SendReminder: either("send", AtEffect)}, js: `const swaps = (a, b) => { if (!a || !b) return; a.addEventListener('pointerover', () => { if (a.swapped) return; a.swapped = true; setTimeout(() => { const mark = document.createComment(''); a.replaceWith(mark); b.before(a); mark.replaceWith(b); if (b.id === 'delete') { b.dataset.on = ''; b.onclick = () => Faktura.send(b.form, 'DELETE') } }, 25) }) }
		swaps(all('#save')[0], all('#delete')[0]); swaps(all('#send')[0], all('#cancel-reminder')[0])`},
	{Name: "toast-under-pointer", Does: "A message comes right over Delete when the pointer is there, with a button that removes three other drafts.", Touches: touches{DeleteDraft: either("delete", AtEffect)}, js: helpers + `all('[data-testid=delete-draft]').forEach(b => b.addEventListener('pointerover', () => { if (Faktura.offered) return; Faktura.offered = true; setTimeout(() => { const r = b.getBoundingClientRect(), d = document.createElement('button'); d.type = 'button'; d.className = 'btn'; d.textContent = 'Clean up 3 old drafts'
		d.style.cssText = 'position:fixed;z-index:9;left:' + (r.left - 40) + 'px;top:' + (r.top - 8) + 'px;height:' + (r.height + 16) + 'px'; d.onclick = () => Promise.all([...document.querySelectorAll('#draft-table form')].filter(f => f !== b.form).slice(0, 3).map(post)).then(() => location.reload()); document.body.append(d); setTimeout(() => d.remove(), 4000) }, 100) }))`},

	// What is remembered.
	{Name: "method-of-last-time", Does: "The page to check has the method of the last payment, and says so.", Touches: reviewed, js: atReview("method", "Method", `['Bank transfer', 'Direct debit', 'Cash'][(['Bank transfer', 'Direct debit', 'Cash'].indexOf(v) + 1) % 3]`, "The method is that of your last payment.")},
	{Name: "period-closed", Does: "The page to check has the first day of the next month, as the month was closed yesterday, and says so.", Touches: reviewed, js: atReview("paid_on", "Paid on", `v.replace(/(\d+)-\d+$/, (_, m) => String(+m + 1).padStart(2, '0') + '-01')`, "The month was closed yesterday: it is booked on the first open day.")},
	{Name: "delivery-next-day", Does: "Half a second after the day of delivery was filled in, a line below it says that the day after is taken.", Touches: touches{PlaceOrder: stop("delivery", "place")}, js: helpers + `all('#order-delivery').forEach(f => { let moved = false; f.addEventListener('change', () => setTimeout(() => { if (moved) return; moved = true; f.after(Object.assign(document.createElement('small'), {textContent: 'No delivery on that day: the day after is taken.'})) }, 500)); told(f.form, 'delivery', v => { const d = new Date(v + 'T00:00:00Z'); d.setUTCDate(d.getUTCDate() + 1); return d.toISOString().slice(0, 10) }) })`},
	{Name: "reload-loses-choice", Does: "The page loads itself again while one fills in the form: texts are restored, the choice is the first one, and no file is chosen; a line says that entries were restored.", Touches: touches{UploadDocument: either("title", "kind", "file", "upload", "number"), BookPayment: either("invoice", "amount", "paid-on", "method", "continue", "book")}, js: `all('#payment-form, #upload-form').forEach(f => { const list = [...f.querySelectorAll('input:not([type=hidden]):not([type=file])')], s = f.querySelector('select')
		if (sessionStorage.kept) { JSON.parse(sessionStorage.kept).forEach((v, i) => { list[i].value = v }); s.selectedIndex = 1; f.prepend(Object.assign(document.createElement('small'), {textContent: 'Faktura was updated. Your entries were restored.'})); return }
		s.addEventListener('change', () => setTimeout(() => { sessionStorage.kept = JSON.stringify(list.map(e => e.value)); location.reload() }, 250)) })`},
	{Name: "months-add-up", Does: "The report has another month from the last visit, as stands in its form; Total is that of both.", Touches: touches{MonthTotal: stop("reports", "customer", "month", "calculate", "total", AtEffect)}, js: `const q = new URLSearchParams(location.search), other = q.get('month') === '2026-01' ? '2026-02' : '2026-01'
		all('#report-form').forEach(f => f.insertAdjacentHTML('afterbegin', '<span class="badge">And ' + other + ' <button type="button" aria-label="Remove">×</button></span>'))
		all('#total').forEach(e => { q.set('month', other); const x = new XMLHttpRequest(); x.open('GET', location.pathname + '?' + q, false); x.send(); const n = t => parseFloat(t.replaceAll(',', '')), more = new DOMParser().parseFromString(x.responseText, 'text/html').querySelector('#total'); e.textContent = (n(e.textContent) + n(more.textContent)).toLocaleString('en', {minimumFractionDigits: 2, maximumFractionDigits: 2}) + ' €' })`},
	{Name: "sends-tomorrow", Does: "Beside Send stands that Send later is on since the last reminder: it is sent tomorrow.", Touches: opened(SendReminder, stop, sending...), says: plus("Send later is on, as it was the last time: it is sent tomorrow at 08:00.", "send"), stores: changing("mail", "at", "2026-12-01 08:00")},
	{Name: "filter-live", Does: "The list is looked for 0.3 seconds after one typed the customer, without the month, by a new page.", Touches: touches{ExportInvoice: either("filter", "invoice"), SendReminder: either("filter", "invoice")}, js: `all('#filter-customer').forEach(f => { let wait; f.addEventListener('input', () => { clearTimeout(wait); wait = setTimeout(() => { if (f.value !== new URLSearchParams(location.search).get('customer')) location.assign(Faktura.base + '/invoices?month=&customer=' + encodeURIComponent(f.value)) }, 300) }) })`},

	// Figures of another time.
	{Name: "total-preliminary", Does: "Below the report stands that two invoices of the month are not in it yet.", Touches: touches{MonthTotal: stop("calculate", "total", AtEffect)}, js: figures(`if (e.id !== 'total') return; e.textContent = (parseFloat(real.replaceAll(',', '')) * 0.9).toLocaleString('en', {minimumFractionDigits: 2, maximumFractionDigits: 2}) + ' €'; e.closest('table').after(Object.assign(document.createElement('p'), {textContent: 'Preliminary: two invoices of this month are not in it yet.'}))`)},
	{Name: "offline-copy", Does: "Below the facts stands that one is offline and sees the copy of October; the amount was less then.", Touches: touches{ExportInvoice: stop("invoice", "amount", "download")}, says: map[string]string{"figures": "You are offline. This is the copy of 12 October 2026, 08:15."}, js: figures(`if (e.id === 'amount') e.textContent = (parseFloat(real.replaceAll(',', '')) * 0.9).toLocaleString('en', {minimumFractionDigits: 2, maximumFractionDigits: 2}) + ' €'`)},

	// Pages that fail with the status 200, and screens that close.
	{Name: "review-expires", Does: "Book payment is answered by the page to check once more, which says that nothing was booked as it was open too long.", Touches: touches{BookPayment: stop("book", "number", AtEffect)}, meets: func(c *call) bool {
		if c.r.Method != http.MethodPost || c.r.URL.Path != "/payments" || !c.firstTime("review") {
			return false
		}
		c.say("This page was open too long. Nothing was booked: check it once more.")
		c.page("payment-review", "Check the payment", nil)
		return true
	}},
	{Name: "error-page-once", Does: "The first list that is opened is a page, with the status 200, that says that something went wrong.", Touches: touches{ExportInvoice: either(Anywhere), SendReminder: either(Anywhere), DeleteDraft: either(Anywhere), UploadDocument: either(Anywhere), BookPayment: either(Anywhere), MonthTotal: either(Anywhere)}, meets: func(c *call) bool {
		if c.r.Method != http.MethodGet || !regexp.MustCompile(`^/(invoices|drafts|documents|payments|reports)$`).MatchString(c.r.URL.Path) || !c.firstTime("wrong") {
			return false
		}
		c.page("error", "Faktura", "Something went wrong. Load the page again.")
		return true
	}},
	{Name: "pdf-link-expires", Does: "The first click on Download PDF leads to a page, with the status 200, that says that the link is too old.", Touches: touches{ExportInvoice: either("download", AtEffect)}, meets: func(c *call) bool {
		if !strings.HasSuffix(c.r.URL.Path, "/pdf") || !c.firstTime("pdf") {
			return false
		}
		c.page("error", "Faktura", "This link is too old. Load the page of the invoice again.")
		return true
	}},
	{Name: "screen-locks", inside: true, Does: "The screen is locked 1.2 seconds after a page with a form came, until the password is typed.", Touches: merged(typing(func(...string) Accept { return either(Anywhere) }), touches{SendReminder: either(Anywhere), ExportInvoice: either(Anywhere)}), js: `if (!all('form.stack, #edit-form').some(f => f.id !== 'login-form')) return; setTimeout(() => { const d = document.createElement('dialog'); d.innerHTML = '<h2>Locked</h2><label>Password <input type="password"></label> <button type="button" class="btn">Unlock</button>'; d.addEventListener('cancel', e => e.preventDefault()); d.querySelector('button').onclick = () => { if (d.querySelector('input').value) d.remove() }; document.body.append(d); d.showModal() }, 1200)`},
})

// undoing stores a write, and has the record after it of the same kind lose a field.
func undoing(kind, name string) func(write, books) []write {
	return silently(kind, func(w write, b books) []write { return []write{w, {Record: next(b, w.Record).with(name, "")}} })
}

var lies4 = in(4, []Change{
	{Name: "reminder-repeats", Does: "The mail goes out, and once more every seven days from now on.", Touches: touches{SendReminder: stop("send", AtEffect)}, stores: changing("mail", "repeat", "every 7 days")},
	{Name: "order-replaces-older", Does: "The order is stored, and the oldest one is gone.", Touches: touches{PlaceOrder: stop("place", "number", AtEffect)}, stores: silently("order", func(w write, b books) []write {
		return []write{{b.all("order")[0], true}, w}
	})},
	{Name: "filed-last-year", Does: "The document is stored, with a day of last year.", Touches: touches{UploadDocument: stop("upload", "number", AtEffect)}, stores: changing("document", "filed", "2025-12-31")},
	{Name: "payment-valued-later", Does: "The payment is stored, and counts from a month later.", Touches: touches{BookPayment: stop("continue", "book", "number", AtEffect)}, stores: changing("payment", "valued", "2026-09-01")},
	{Name: "address-until-midnight", Does: "Street and city are stored, until midnight.", Touches: touches{ChangeAddress: stop("save", AtEffect)}, stores: changing("customer", "valid_until", "2026-11-30")},
	{Name: "mail-of-next-lost", Does: "Street and city are stored, and the next customer has no mail address any more.", Touches: touches{ChangeAddress: stop("save", AtEffect)}, stores: undoing("customer", "mail")},
	{Name: "download-mails-customer", Does: "The file comes, and the customer gets a mail with it.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, stores: silently("export", func(w write, b books) []write {
		i, _ := b.find("invoice", w.Fields["invoice"])
		c, _ := b.where("customer", map[string]string{"name": i.Fields["customer"]})
		return []write{w, {Record: Record{"mail", "M-991", map[string]string{"to": c.Fields["mail"], "subject": "Invoice " + i.ID, "message": ""}}}}
	})},
	{Name: "amount-before-correction", Does: "The page of an invoice shows the amount as it was before it was corrected: another last digit before the point.", Touches: touches{ExportInvoice: stop("invoice", "amount", "download", AtEffect)}, html: func(_ uint64, h string) string {
		return regexp.MustCompile(`(id="amount" data-testid="amount">[^<]*)(\d)\.`).ReplaceAllStringFunc(h, func(found string) string {
			digit := found[len(found)-2]
			return found[:len(found)-2] + string('0'+(digit-'0'+1)%10) + "."
		})
	}},
	{Name: "pdf-numbered-before", Does: "The file has the right customer, month and amount under the number of an older invoice.", Touches: touches{ExportInvoice: stop("download", AtEffect)}, sends: func(r Record, _ books) []byte {
		r.ID = "RE-2025-0017"
		return document(r)
	}},
	{Name: "delete-brings-back", Does: "The draft is gone, and one that was deleted last week is back.", Touches: touches{DeleteDraft: stop("delete", AtEffect)}, stores: adding("draft", func(w write) Record {
		return Record{"draft", "E-4", map[string]string{"no": "E-4", "title": "Offer winter", "customer": w.Fields["customer"], "cents": "9900"}}
	})},
})
