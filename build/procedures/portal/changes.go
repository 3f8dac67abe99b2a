package portal

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Change is one way in which the portal is another on purpose.
type Change struct {
	Name  string
	Round int    // of which adversary it is; 0: of the first author
	Does  string // what a person sees of it
	// Touches says for each work that the change touches which ends are acceptable, under "" for all that are not named. A work that
	// it does not touch has to go right.
	Touches map[string]Accept

	inside bool                                   // the login page stays as it is
	html   func(load uint64, html string) string  // changes what is sent as a page or a part of one, the first of the portal being load 1
	css    string                                 // added to all pages
	says   map[string]string                      // what stands at places of pages: see says
	js     string                                 // changes root, a part of a page, before it is shown; all(selector) finds in it
	data   func(books, map[string]string) books   // changes what there is at first; values are those of the run to come
	shows  func(books, map[string]string) books   // what pages show of what there is
	stores func(write, books) []write             // what is stored in the place of what the page says
	later  func(write, books) []write             // what is stored half a Within later; the books are those before the write
	sends  func(invoice Record, all books) []byte // what is sent in the place of an invoice's PDF
	meets  func(*call) bool                       // changes a request before it is done, and says whether it has answered it
}

// Accept is how a run may end.
type Accept struct {
	Right bool     // done, and the truth holds
	Stops []string // or stopped at one of these steps
}

// The names of what is no step of a work's script.
const (
	Anywhere = "*"      // at any step
	AtEffect = "effect" // after the last step, when what must be true afterwards is looked at
)

// In says how a run of a work may end.
func (c Change) In(work string) Accept {
	if a, touched := c.Touches[work]; touched {
		return a
	}
	if a, touched := c.Touches[""]; touched {
		return a
	}
	return right
}

type touches = map[string]Accept

var right = Accept{Right: true}

func either(steps ...string) Accept { return Accept{Right: true, Stops: steps} }
func stop(steps ...string) Accept   { return Accept{Stops: steps} }

// every touches all works in the same way.
func every(a Accept) touches { return touches{"": a} }

// writing touches the works that write, at the step at which they do.
func writing(accept func(...string) Accept, more ...string) touches {
	return touches{
		PlaceOrder: accept(append(more, "place", "number")...), ChangeAddress: accept(append(more, "save")...), SendReminder: accept(append(more, "send")...),
		DeleteDraft: accept(append(more, "delete")...), UploadDocument: accept(append(more, "upload", "number")...),
		BookPayment: accept(append(more, "continue", "book", "number")...),
	}
}

// choosing touches the works that take one of many rows.
func choosing(accept func(...string) Accept) touches {
	return touches{
		ExportInvoice: accept("filter", "invoice"), SendReminder: accept("filter", "invoice"), ChangeAddress: accept("customers", "edit"), DeleteDraft: accept("drafts", "delete"),
	}
}

func all() []Change { return slices.Concat(Changes, Lies) }

// scramble gives another text for each text and page.
func scramble(load uint64, text string) string { return "x" + digest(fmt.Append(nil, load, text))[:8] }

// identifiers are the attributes by which parts of a page name each other.
const identifiers = "id|for|form|aria-labelledby"

// attributes changes the values of attributes.
func attributes(names string, change func(load uint64, value string) string) func(uint64, string) string {
	find := regexp.MustCompile(`( (?:` + names + `)=")([^"]*)"`)
	return func(load uint64, html string) string {
		return find.ReplaceAllStringFunc(html, func(found string) string {
			m := find.FindStringSubmatch(found)
			return m[1] + change(load, m[2]) + `"`
		})
	}
}

func without(names string) func(uint64, string) string {
	find := regexp.MustCompile(` (?:` + names + `)="[^"]*"`)
	return func(_ uint64, html string) string { return find.ReplaceAllString(html, "") }
}

// words replaces texts of elements and names of fields, where they are whole.
func words(by map[string]string) func(uint64, string) string {
	find := regexp.MustCompile(`(>|aria-label="|data-confirm="|title=")([^<>"]+)([<"])`)
	return func(_ uint64, html string) string {
		return find.ReplaceAllStringFunc(html, func(found string) string {
			m := find.FindStringSubmatch(found)
			if other, ok := by[strings.TrimSpace(m[2])]; ok {
				return m[1] + other + m[3]
			}
			return found
		})
	}
}

var synonyms = map[string]string{
	"Invoices": "Bills", "Orders": "Purchases", "Customers": "Clients", "Drafts": "Unfinished", "Documents": "Files", "Payments": "Receipts", "Reports": "Figures",
	"Show": "Search", "Open": "View", "Download PDF": "Save as PDF", "Send reminder": "Remind", "Send": "Submit", "Message": "Text", "New order": "Add order",
	"Customer": "Client", "Product": "Article", "Quantity": "Count", "Delivery": "Arrives on", "Place order": "Buy", "Edit": "Change", "Save": "Apply", "Delete": "Remove",
	"Title": "Caption", "Kind": "Type", "File": "Attachment", "Upload": "Add", "Month": "Period", "Calculate": "Run", "Total": "Sum", "Invoice": "Bill", "Amount": "Value",
	"Paid on": "Date", "Method": "Way", "Continue": "Next", "Book payment": "Confirm", "Street": "Road", "City": "Town",
	"Order number": "Reference", "Name": "Company",
}

var german = map[string]string{
	"Invoices": "Rechnungen", "Orders": "Bestellungen", "Customers": "Kunden", "Drafts": "Entwürfe", "Documents": "Dokumente", "Payments": "Zahlungen", "Reports": "Berichte",
	"Show": "Anzeigen", "Open": "Öffnen", "Download PDF": "PDF laden", "Send reminder": "Mahnung senden", "Send": "Senden", "Message": "Nachricht", "New order": "Neue Bestellung",
	"Customer": "Kunde", "Product": "Artikel", "Quantity": "Menge", "Delivery": "Lieferung", "Place order": "Bestellen", "Edit": "Bearbeiten", "Save": "Speichern", "Delete": "Löschen",
	"Title": "Titel", "Kind": "Art", "File": "Datei", "Upload": "Hochladen", "Month": "Monat", "Calculate": "Berechnen", "Total": "Summe", "Invoice": "Rechnung", "Amount": "Betrag",
	"Paid on": "Bezahlt am", "Method": "Zahlungsart", "Continue": "Weiter", "Book payment": "Buchen", "Street": "Straße", "City": "Ort",
	"Order number": "Bestellnummer", "Name": "Name", "Cancel": "Abbrechen", "Delete this draft?": "Entwurf löschen?", "Place this order?": "Bestellung absenden?",
}

// final are the buttons by which works write or end.
var final = map[string]string{
	"Place order": "Buy now", "Save": "Store", "Send": "Dispatch", "Delete": "Discard", "Upload": "File it", "Book payment": "Post it", "Download PDF": "Export", "Calculate": "Compute",
}

var variant = words(synonyms)

// sometimes changes every second page.
func sometimes(load uint64, html string) string {
	if load%2 == 0 {
		return variant(load, html)
	}
	return html
}

// about says whether a record is one that the values name.
func about(r Record, values map[string]string) bool {
	switch r.Kind {
	case "customer":
		return r.Fields["name"] == values["customer"]
	case "draft":
		return r.Fields["title"] == values["draft"]
	case "invoice":
		return r.Fields["customer"] == values["customer"] && (values["month"] == "" || r.Fields["month"] == values["month"])
	}
	return false
}

// others adds to each record that the values name another one before it, or behind it.
func others(behind bool, change func(Record) Record) func(books, map[string]string) books {
	return func(b books, values map[string]string) books {
		var all books
		for _, r := range b {
			if !about(r, values) {
				all = append(all, r)
				continue
			}
			other := r
			other.ID += "9"
			other = change(other.with("no", other.ID))
			if behind {
				all = append(all, r, other)
			} else {
				all = append(all, other, r)
			}
		}
		return all
	}
}

func manyCustomers(b books, _ map[string]string) books {
	for i := range 300 {
		no := fmt.Sprintf("K-%d", 3000+i)
		b = append(b, Record{"customer", no, map[string]string{"no": no, "name": fmt.Sprintf("Zweig %03d", i), "street": "Am Markt 1", "city": cities[i%len(cities)], "mail": no + "@customer.example"}})
	}
	return b
}

// next is the record of the same kind after one.
func next(b books, r Record) Record {
	same := b.all(r.Kind)
	at := slices.IndexFunc(same, func(o Record) bool { return o.ID == r.ID })
	return same[(at+1)%len(same)]
}

// wrongValue stores what is a little different from what was typed.
func wrongValue(w write, _ books) []write {
	for name, change := range map[string]func(string) string{
		"quantity": func(v string) string { return v + "0" },
		"street":   func(v string) string { return v[:len(v)-1] },
		"message":  func(string) string { return "" },
		"title":    strings.ToUpper,
		"amount":   func(v string) string { return strings.Replace(v, ".", "", 1) },
	} {
		if v, has := w.Fields[name]; has && !w.remove && v != "" && (w.Kind != "draft") {
			w.Record = w.with(name, change(v))
		}
	}
	return []write{w}
}

// neighbor stores it for the next customer, invoice, draft or address.
func neighbor(w write, b books) []write {
	switch w.Kind {
	case "customer":
		o := next(b, w.Record)
		return []write{{Record: o.with("street", w.Fields["street"]).with("city", w.Fields["city"])}}
	case "draft":
		return []write{{next(b, w.Record), w.remove}}
	case "mail":
		c, _ := b.where("customer", map[string]string{"mail": w.Fields["to"]})
		return []write{{Record: w.with("to", next(b, c).Fields["mail"])}}
	case "order":
		c, _ := b.where("customer", map[string]string{"name": w.Fields["customer"]})
		return []write{{Record: w.with("customer", next(b, c).Fields["name"])}}
	case "payment":
		i, _ := b.find("invoice", w.Fields["invoice"])
		return []write{{Record: w.with("invoice", next(b, i).ID)}}
	}
	return []write{w}
}

func twice(w write, _ books) []write {
	if w.remove || w.Kind == "customer" {
		return []write{w}
	}
	other := w
	other.ID += "b"
	return []write{w, other}
}

// besides stores what is asked for, and removes a draft that is not.
func besides(w write, b books) []write {
	var more []write
	for _, d := range b.all("draft") {
		if d.ID != w.ID {
			more = append(more, write{d, true})
			break
		}
	}
	return append(more, w)
}

// merged has the entries of all; later ones win.
func merged(all ...touches) touches {
	sum := touches{}
	for _, t := range all {
		maps.Copy(sum, t)
	}
	return sum
}
