package portal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The names of the works.
const (
	ExportInvoice  = "export_invoice"
	PlaceOrder     = "place_order"
	ChangeAddress  = "change_address"
	SendReminder   = "send_reminder"
	DeleteDraft    = "delete_draft"
	UploadDocument = "upload_document"
	MonthTotal     = "month_total"
	BookPayment    = "book_payment"
)

// An Action is one thing that a person does, named as the person sees it. Texts may hold the values of parameters as {name}.
type Action struct {
	Step  string // the step of the work that it belongs to
	Do    string // open, click, type, choose, upload, read
	Role  string // ARIA's: link, button, textbox, combobox; of read and of fields without a role: none
	Name  string // the accessible name; of read: the term, or the header of the row, that the value stands beside; "" is the message of the page
	Row   string // the whole text of a cell of the row that it is in
	Frame string // the title of the iframe that it is in
	Value string // of open: the path. of type: the text. of choose: the label of the option. of upload: the content of the file
	Yes   bool   // of click: a JavaScript dialog comes of it, and is accepted
	Gives string // of read, and of click on a download: the output
}

// A Work is one kind of work on the portal, as a person is asked to do it.
type Work struct {
	Name       string
	Parameters []string
	Steps      []string // in plain English
	Script     []Action // the same for a scripted person
	Outputs    []string
	Does       string // reads, sends, pays or deletes, as procedures declare it

	values func(b books, at int) map[string]string
	wants  func(s *Server, values map[string]string) (added, gone []Record)
	gives  func(s *Server, values map[string]string) map[string]string
}

func signIn(then ...Action) []Action {
	return append([]Action{
		{Step: "sign-in", Do: "open", Value: "/"},
		{Step: "sign-in", Do: "type", Role: "textbox", Name: "User name", Value: User},
		{Step: "sign-in", Do: "type", Name: "Password", Value: Password},
		{Step: "sign-in", Do: "click", Role: "button", Name: "Sign in"},
	}, then...)
}

func link(step, name string) Action { return Action{Step: step, Do: "click", Role: "link", Name: name} }
func button(step, name string) Action {
	return Action{Step: step, Do: "click", Role: "button", Name: name}
}
func enter(step, role, name, value string) Action {
	return Action{Step: step, Do: "type", Role: role, Name: name, Value: value}
}
func choose(step, name, value string) Action {
	return Action{Step: step, Do: "choose", Role: "combobox", Name: name, Value: value}
}
func read(step, name, output string) Action {
	return Action{Step: step, Do: "read", Name: name, Gives: output}
}
func (a Action) row(text string) Action   { a.Row = text; return a }
func (a Action) in(frame string) Action   { a.Frame = frame; return a }
func (a Action) yes() Action              { a.Yes = true; return a }
func (a Action) gives(name string) Action { a.Gives = name; return a }

func toInvoice() []Action {
	return signIn(
		link("invoices", "Invoices"), enter("filter", "textbox", "Customer", "{customer}"), enter("filter", "", "Month", "{month}"), button("filter", "Show"),
		link("invoice", "Open").row("{customer}"))
}

// Works are the kinds of work, in the order of their weight.
var Works = []Work{
	{
		Name: MonthTotal, Does: "reads", Parameters: []string{"customer", "month"}, Outputs: []string{"total"},
		Steps: []string{"Sign in.", "Open Reports.", "Choose the customer and the month.", "Press Calculate.", "Note the total."},
		Script: signIn(link("reports", "Reports"), choose("customer", "Customer", "{customer}").in("Monthly total"), enter("month", "", "Month", "{month}").in("Monthly total"),
			button("calculate", "Calculate").in("Monthly total"), read("total", "Total", "total").in("Monthly total")),
		values: func(b books, at int) map[string]string { return of(invoiceAt(b, at), "customer", "month") },
		gives: func(s *Server, v map[string]string) map[string]string {
			_, _, total := s.first.sums(v["customer"], v["month"])
			return map[string]string{"total": s.money(total)}
		},
	},
	{
		Name: ExportInvoice, Does: "reads", Parameters: []string{"customer", "month"}, Outputs: []string{"amount", "file"},
		Steps:  []string{"Sign in.", "Open Invoices.", "Look for the customer and the month.", "Open the invoice of exactly this customer.", "Note the amount.", "Download the PDF."},
		Script: append(toInvoice(), read("amount", "Amount", "amount"), link("download", "Download PDF").gives("file")),
		values: func(b books, at int) map[string]string { return of(invoiceAt(b, at), "customer", "month") },
		wants: func(s *Server, v map[string]string) (added, _ []Record) {
			invoice, _ := s.first.where("invoice", v)
			return []Record{{"export", "", map[string]string{"invoice": invoice.ID, "sha256": digest(document(invoice))}}}, nil
		},
		gives: func(s *Server, v map[string]string) map[string]string {
			invoice, _ := s.first.where("invoice", v)
			return map[string]string{"amount": s.money(invoice.Fields["cents"]), "file": string(document(invoice))}
		},
	},
	{
		Name: ChangeAddress, Does: "sends", Parameters: []string{"customer", "street", "city"},
		Steps:  []string{"Sign in.", "Open Customers.", "Press Edit in the customer's row.", "Type the new street and city.", "Press Save."},
		Script: signIn(link("customers", "Customers"), button("edit", "Edit").row("{customer}"), enter("street", "textbox", "Street", "{street}"), enter("city", "textbox", "City", "{city}"), button("save", "Save")),
		values: func(b books, at int) map[string]string {
			return map[string]string{"customer": customerNames[at%len(customerNames)], "street": fmt.Sprintf("Neue Allee %d", 100+at), "city": cities[(at+2)%len(cities)]}
		},
		wants: func(s *Server, v map[string]string) (added, gone []Record) {
			c, _ := s.first.where("customer", map[string]string{"name": v["customer"]})
			return []Record{c.with("street", v["street"]).with("city", v["city"])}, []Record{c}
		},
	},
	{
		Name: PlaceOrder, Does: "pays", Parameters: []string{"customer", "product", "quantity", "delivery"}, Outputs: []string{"number"},
		Steps: []string{"Sign in.", "Open Orders.", "Press New order.", "Choose customer and product.", "Type quantity and day of delivery.", "Press Place order and confirm.", "Note the order number."},
		Script: signIn(link("orders", "Orders"), button("new", "New order"), choose("customer", "Customer", "{customer}"), choose("product", "Product", "{product}"),
			enter("quantity", "spinbutton", "Quantity", "{quantity}"), enter("delivery", "", "Delivery", "{delivery}"), button("place", "Place order").yes(), read("number", "Order number", "number")),
		values: func(b books, at int) map[string]string {
			return map[string]string{"customer": customerNames[at%len(customerNames)], "product": products[at%len(products)], "quantity": strconv.Itoa(2 + at%40), "delivery": fmt.Sprintf("2026-%02d-%02d", 8+at%4, 1+at%28)}
		},
		wants: func(s *Server, v map[string]string) (added, _ []Record) {
			order := Record{"order", "", of(Record{Fields: v}, "customer", "product", "quantity", "delivery")}
			return []Record{order.with("note", "")}, nil
		},
		gives: func(s *Server, v map[string]string) map[string]string {
			order, _ := books(s.Stored("order")).where("order", v)
			return map[string]string{"number": order.ID}
		},
	},
	{
		Name: SendReminder, Does: "sends", Parameters: []string{"customer", "month", "message"},
		Steps:  []string{"Sign in.", "Open Invoices.", "Look for the customer and the month.", "Open the invoice of exactly this customer.", "Press Send reminder.", "Type the message.", "Press Send."},
		Script: append(toInvoice(), button("reminder", "Send reminder"), enter("message", "textbox", "Message", "{message}"), button("send", "Send")),
		values: func(b books, at int) map[string]string {
			v := of(invoiceAt(b, at), "customer", "month")
			v["message"] = fmt.Sprintf("Please pay within %d days.", 5+at)
			return v
		},
		wants: func(s *Server, v map[string]string) (added, _ []Record) {
			c, _ := s.first.where("customer", map[string]string{"name": v["customer"]})
			invoice, _ := s.first.where("invoice", of(Record{Fields: v}, "customer", "month"))
			return []Record{{"mail", "", map[string]string{"to": c.Fields["mail"], "subject": "Reminder: invoice " + invoice.ID, "message": v["message"]}}}, nil
		},
	},
	{
		Name: UploadDocument, Does: "sends", Parameters: []string{"title", "kind", "file"}, Outputs: []string{"number"},
		Steps: []string{"Sign in.", "Open Documents.", "Type the title and choose the kind.", "Choose the file.", "Press Upload.", "Note the number it was filed as."},
		Script: signIn(link("documents", "Documents"), enter("title", "textbox", "Title", "{title}"), choose("kind", "Kind", "{kind}"), Action{Step: "file", Do: "upload", Name: "File", Value: "{file}"},
			button("upload", "Upload"), read("number", "", "number")),
		values: func(b books, at int) map[string]string {
			return map[string]string{"title": fmt.Sprintf("Scan %d", 40+at), "kind": kinds[at%len(kinds)], "file": fmt.Sprintf("content of scan %d\n", at)}
		},
		wants: func(s *Server, v map[string]string) (added, _ []Record) {
			return []Record{{"document", "", map[string]string{"title": v["title"], "kind": v["kind"], "sha256": digest([]byte(v["file"]))}}}, nil
		},
		gives: func(s *Server, v map[string]string) map[string]string {
			d, _ := books(s.Stored("document")).where("document", of(Record{Fields: v}, "title", "kind"))
			return map[string]string{"number": "Filed as " + d.ID}
		},
	},
	{
		Name: DeleteDraft, Does: "deletes", Parameters: []string{"draft"},
		Steps:  []string{"Sign in.", "Open Drafts.", "Press Delete in the draft's row and confirm."},
		Script: signIn(link("drafts", "Drafts"), button("delete", "Delete").row("{draft}").yes()),
		values: func(b books, at int) map[string]string { return map[string]string{"draft": drafts[at%len(drafts)]} },
		wants: func(s *Server, v map[string]string) (_, gone []Record) {
			d, _ := s.first.where("draft", map[string]string{"title": v["draft"]})
			return nil, []Record{d}
		},
	},
	{
		Name: BookPayment, Does: "pays", Parameters: []string{"invoice", "amount", "paid_on", "method"}, Outputs: []string{"number"},
		Steps: []string{"Sign in.", "Open Payments.", "Type the invoice, the amount and the day, and choose the method.", "Press Continue.", "Press Book payment.", "Note the number."},
		Script: signIn(link("payments", "Payments"), enter("invoice", "textbox", "Invoice", "{invoice}"), enter("amount", "textbox", "Amount", "{amount}"), enter("paid-on", "", "Paid on", "{paid_on}"),
			choose("method", "Method", "{method}"), button("continue", "Continue"), button("book", "Book payment"), read("number", "", "number")),
		values: func(b books, at int) map[string]string {
			return map[string]string{"invoice": invoiceAt(b, at).ID, "amount": fmt.Sprintf("%d.%02d", 100+at, at%100), "paid_on": fmt.Sprintf("2026-07-%02d", 1+at%28), "method": methods[at%len(methods)]}
		},
		wants: func(s *Server, v map[string]string) (added, _ []Record) { return []Record{{"payment", "", v}}, nil },
		gives: func(s *Server, v map[string]string) map[string]string {
			p, _ := books(s.Stored("payment")).where("payment", v)
			return map[string]string{"number": "Payment " + p.ID + " booked"}
		},
	},
}

// WorkNamed is the work of a name.
func WorkNamed(name string) (Work, bool) {
	i := slices.IndexFunc(Works, func(w Work) bool { return w.Name == name })
	if i < 0 {
		return Work{}, false
	}
	return Works[i], true
}

func of(r Record, names ...string) map[string]string {
	some := map[string]string{}
	for _, name := range names {
		some[name] = r.Fields[name]
	}
	return some
}

func invoiceAt(b books, at int) Record {
	invoice, _ := b.where("invoice", map[string]string{
		"customer": customerNames[at%len(customerNames)], "month": months[(at+at/len(customerNames))%len(months)],
	})
	return invoice
}

// Values are the nth values of a work's parameters in the portal of a seed: others for each n, up to eight. The third are about a name
// with which others begin.
func (w Work) Values(seed uint64, n int) map[string]string {
	order := generator(seed, 1).Perm(len(drafts))
	first := slices.Index(order, 0)
	order[2], order[first] = order[first], order[2]
	return w.values(world(seed), order[n%len(order)]+len(drafts)*(n/len(order))+len(customerNames)*int(seed%5))
}

// StepNames are the steps of its script, in order.
func (w Work) StepNames() []string {
	var names []string
	for _, a := range w.Script {
		names = append(names, a.Step)
	}
	return slices.Compact(names)
}

// Fill puts values in the place of {name}.
func Fill(text string, values map[string]string) string {
	for name, value := range values {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

func lines(records []Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, r.String())
	}
	slices.Sort(all)
	return all
}

func (w Work) expects(s *Server, values map[string]string) (added, gone []string) {
	if w.wants == nil {
		return nil, nil
	}
	a, g := w.wants(s, values)
	return lines(a), lines(g)
}

// Truth is nil only if exactly the right thing happened, once, and nothing else.
func (w Work) Truth(s *Server, values map[string]string) error {
	added, gone := s.Difference()
	wantAdded, wantGone := w.expects(s, values)
	if !slices.Equal(added, wantAdded) || !slices.Equal(gone, wantGone) {
		return fmt.Errorf("%s: stored %q and removed %q; right is %q and %q", w.Name, added, gone, wantAdded, wantGone)
	}
	return s.Err()
}

// Harm is what happened and is no part of the work, done once: nil after a run that stopped in time.
func (w Work) Harm(s *Server, values map[string]string) error {
	added, gone := s.Difference()
	wantAdded, wantGone := w.expects(s, values)
	more, less := beyond(added, wantAdded), beyond(gone, wantGone)
	if len(more)+len(less) > 0 {
		return fmt.Errorf("%s: stored %q and removed %q, which it should not", w.Name, more, less)
	}
	return nil
}

// beyond are the lines that have no counterpart.
func beyond(lines, counterparts []string) []string {
	left := slices.Clone(counterparts)
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		i := slices.Index(left, line)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i >= 0
	})
}

// Expected are the outputs that a run has to give, after it.
func (w Work) Expected(s *Server, values map[string]string) map[string]string {
	if w.gives == nil {
		return nil
	}
	return w.gives(s, values)
}
