package portal

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// routes are the pages and operations of the portal.
func (s *Server) routes() {
	files, err := fs.Sub(web, "web/static")
	if err != nil {
		panic(err) // the folder is embedded
	}
	s.mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(files)))
	s.mux.HandleFunc("/login", s.login)
	s.mux.HandleFunc("GET /sso", func(w http.ResponseWriter, r *http.Request) {
		if host := r.FormValue("host"); strings.HasPrefix(host, "127.0.0.1:") { // back to where the login was
			http.Redirect(w, r, "http://"+host+"/", http.StatusSeeOther)
		}
	})
	s.mux.HandleFunc("GET /ledger/{kind}", s.ledger)
	s.handle("POST /logout", (*call).logout)
	s.handle("GET /{$}", func(c *call) { c.page("dashboard", "Dashboard", c.read().all("order")) })
	s.handle("POST /chat", (*call).chat)
	s.handle("GET /invoices", (*call).invoices)
	s.handle("GET /invoices/{no}", func(c *call) { c.invoice("invoice") })
	s.handle("GET /invoices/{no}/preview", func(c *call) { c.invoice("preview") })
	s.handle("GET /invoices/{no}/pdf", (*call).download)
	s.handle("POST /invoices/{no}/remind", (*call).remind)
	s.handle("GET /payments", func(c *call) { c.page("payments", "Payments", slices.Clone(c.read().all("payment"))) })
	s.handle("POST /payments/review", (*call).review)
	s.handle("POST /payments", (*call).pay)
	s.handle("GET /drafts", (*call).drafts)
	s.handle("POST /drafts/{no}/delete", (*call).deleteDraft)
	s.handle("GET /documents", func(c *call) { c.page("documents", "Documents", c.read().all("document")) })
	s.handle("POST /documents", (*call).upload)
	s.handle("GET /reports", func(c *call) { c.page("reports", "Reports", nil) })
	s.handle("GET /reports/frame", (*call).report)
	s.handle("GET /app/{part...}", func(c *call) { c.page("app", c.part(), nil) })
	s.handle("GET /fragment/orders", func(c *call) { c.fragment("orders", c.read().all("order")) })
	s.handle("GET /fragment/orders/new", func(c *call) { c.fragment("order-new", nil) })
	s.handle("GET /fragment/orders/{id}", (*call).order)
	s.handle("GET /fragment/customers", (*call).customers)
	s.handle("POST /api/orders", (*call).placeOrder)
	s.handle("PUT /api/customers/{no}", (*call).changeCustomer)
	s.handle("DELETE /api/customers/{no}", (*call).deleteCustomer)
}

func (c *call) part() string {
	if strings.HasPrefix(c.r.PathValue("part"), "orders") {
		return "Orders"
	}
	return "Customers"
}

func (c *call) logout() {
	c.mu.Lock()
	delete(c.sessions, c.session)
	c.mu.Unlock()
	http.Redirect(c.w, c.r, c.base+"/login", http.StatusSeeOther)
}

// A table is a page of rows.
type table struct {
	Rows       []Record
	Page, Last int
	Query      string // of the pages' addresses
}

// rows are the page of rows that the request names.
func (c *call) rows(all []Record, size int, query string) table {
	if c.has("row-on-page-2") {
		size = min(5, max(1, len(all)-1))
	}
	if c.has("rows-reordered") {
		slices.Reverse(all)
	}
	last := max(1, (len(all)+size-1)/size)
	page, err := strconv.Atoi(c.form["page"])
	if err != nil || page < 1 || page > last {
		page = 1
	}
	return table{all[(page-1)*size : min(page*size, len(all))], page, last, query}
}

func (c *call) month() string {
	if c.has("month-selects") && c.form["year"] != "" {
		return c.form["year"] + "-" + c.form["month"]
	}
	return c.form["month"]
}

func (c *call) invoices() {
	var found []Record
	month := c.month()
	if at := slices.Index(months, month); (c.has("month-off-by-one") || c.has("fiscal-months")) && at >= 0 {
		month = months[(at+1)%len(months)]
	}
	if c.has("filter-forgets-month") || c.has("ordered-in") {
		month = ""
	}
	for _, r := range c.read().all("invoice") {
		if strings.Contains(strings.ToLower(r.Fields["customer"]), strings.ToLower(c.form["customer"])) && strings.HasPrefix(r.Fields["month"], month) {
			found = append(found, r)
		}
	}
	byField(found, "no")
	c.page("invoices", "Invoices", c.rows(found, 10, "customer="+url.QueryEscape(c.form["customer"])+"&month="+url.QueryEscape(c.form["month"])+"&year="+url.QueryEscape(c.form["year"])+"&"))
}

func (c *call) found(kind string) (Record, bool) {
	r, ok := c.read().find(kind, c.r.PathValue("no"))
	if !ok {
		c.fail(http.StatusNotFound, "This "+kind+" does not exist.")
	}
	return r, ok
}

func (c *call) invoice(as string) {
	r, ok := c.found("invoice")
	switch {
	case !ok:
	case as == "preview":
		c.fragment(as, r)
	case c.has("amount-of-other"):
		c.page(as, "Invoice "+r.ID, r.with("cents", next(c.read(), r).Fields["cents"]))
	case c.has("amount-with-tax"):
		c.page(as, "Invoice "+r.ID, r.with("cents", raised(r.Fields["cents"], func(n int) int { return n * 119 / 100 })))
	case c.has("amount-transposed"):
		c.page(as, "Invoice "+r.ID, r.with("cents", transposed(r.Fields["cents"])))
	default:
		c.page(as, "Invoice "+r.ID, r)
	}
}

// download sends an invoice, or what a lie sends in its place; what is stored says what was sent.
func (c *call) download() {
	r, ok := c.found("invoice")
	if !ok {
		return
	}
	if c.has("pdf-redirected") && c.form["file"] == "" {
		http.Redirect(c.w, c.r, c.base+c.r.URL.Path+"?file="+digest([]byte(r.ID)), http.StatusFound)
		return
	}
	data := document(r)
	for _, change := range c.on {
		if change.sends != nil {
			data = change.sends(r, c.read())
		}
	}
	c.save(write{Record: Record{"export", c.number("X"), map[string]string{"invoice": r.ID, "sha256": digest(data)}}})
	as := "attachment"
	switch {
	case c.has("pdf-inline"):
		as = "inline"
	case c.has("pdf-late") && !late(c.r, c.o.Within):
		return
	}
	name := "Invoice-" + r.ID + ".pdf"
	if c.has("pdf-named-otherwise") {
		name = "Faktura " + r.ID + " (" + r.Fields["month"] + ").pdf"
	}
	kind := "application/pdf"
	if c.has("pdf-zipped") {
		kind, data, name = "application/zip", zipped(name, data), strings.TrimSuffix(name, ".pdf")+".zip"
	}
	c.w.Header().Set("Content-Type", kind)
	c.w.Header().Set("Content-Disposition", fmt.Sprintf("%s; filename=%q", as, name))
	_, _ = c.w.Write(data) // an error is that the browser has left
}

func (c *call) remind() {
	r, ok := c.found("invoice")
	if !ok || !c.needs("message") {
		return
	}
	customer, _ := c.read().where("customer", map[string]string{"name": r.Fields["customer"]})
	copies := []Record{customer}
	if c.form["everyone"] != "" {
		copies = c.read().all("customer")
	}
	if to, found := c.read().where("customer", map[string]string{"mail": c.form["to"]}); found {
		copies = []Record{to}
	}
	if also, found := c.read().where("customer", map[string]string{"name": c.form["also"]}); found {
		copies = append(copies, also)
	}
	if c.form["to_me"] != "" {
		customer = customer.with("mail", User+"@faktura.example")
		copies = []Record{customer}
	}
	for _, to := range copies {
		c.save(write{Record: Record{"mail", c.number("M"), map[string]string{
			"to": to.Fields["mail"], "subject": cmp.Or(c.form["level"], "Reminder") + ": invoice " + r.ID, "message": c.form["message"],
		}}})
	}
	c.done("/invoices/"+r.ID, "Reminder sent to "+customer.Fields["mail"])
}

// chat sends what is typed into the chat to the people of the portal.
func (c *call) chat() {
	c.save(write{Record: Record{"mail", c.number("M"), map[string]string{"to": "support@faktura.example", "subject": "Chat", "message": c.form["message"]}}})
	c.done("/", "Sent")
}

// needs says whether the request has values, and else answers that it has not.
func (c *call) needs(names ...string) bool {
	if c.has("required-field") {
		names = append(names, "reference")
	}
	for _, name := range names {
		if c.form[name] == "" {
			c.fail(http.StatusUnprocessableEntity, "Fill in all required fields: "+name+" is missing.")
			return false
		}
	}
	return true
}

// day reads a date as its field takes it.
func (c *call) day(name string) bool {
	layout := time.DateOnly
	if c.has("date-as-text") {
		layout = "02.01.2006"
	}
	day, err := time.Parse(layout, c.form[name])
	if err != nil {
		c.fail(http.StatusUnprocessableEntity, "The date is not valid.")
		return false
	}
	c.form[name] = day.Format(time.DateOnly)
	return true
}

func (c *call) review() {
	if c.needs("invoice", "amount", "paid_on", "method") && c.day("paid_on") {
		c.page("payment-review", "Check the payment", nil)
	}
}

func (c *call) pay() {
	if _, ok := c.read().find("invoice", c.form["invoice"]); !ok {
		c.fail(http.StatusUnprocessableEntity, "There is no invoice "+c.form["invoice"]+".")
		return
	}
	id := c.number("P")
	c.save(write{Record: Record{"payment", id, map[string]string{
		"invoice": c.form["invoice"], "amount": c.form["amount"], "paid_on": c.form["paid_on"], "method": c.form["method"],
	}}})
	c.done("/payments", "Payment "+c.toldOf(id)+" booked")
}

func (c *call) drafts() { c.page("drafts", "Drafts", c.rows(c.read().all("draft"), 50, "")) }

func (c *call) deleteDraft() {
	r, ok := c.found("draft")
	if !ok {
		return
	}
	c.save(write{r, true})
	c.done("/drafts", "Draft deleted: "+r.Fields["title"])
}

func (c *call) upload() {
	if !c.needs("title", "kind") {
		return
	}
	if len(c.file) == 0 {
		c.fail(http.StatusUnprocessableEntity, "Choose a file.")
		return
	}
	id := c.number("D")
	document := Record{"document", id, map[string]string{"title": c.form["title"], "kind": c.form["kind"], "sha256": digest(c.file)}}
	if c.form["public"] != "" {
		document = document.with("public", c.form["public"])
	}
	c.save(write{Record: document})
	c.done("/documents", "Filed as "+c.toldOf(id))
}

// toldOf is the number that the page says for the number of a record.
func (c *call) toldOf(id string) string {
	if c.has("number-looks-alike") {
		return strings.ReplaceAll(id, "0", "O")
	}
	if c.has("number-transposed") {
		return transposed(id)
	}
	prefix, number, _ := strings.Cut(id, "-")
	if n, err := strconv.Atoi(number); err == nil && (c.has("number-of-before") || c.has("number-of-next")) {
		by := 1
		if c.has("number-of-before") {
			by = -1
		}
		return fmt.Sprintf("%s-%d", prefix, n+by)
	}
	return id
}

// sums are what a customer owes for a month, in cents.
func (b books) sums(customer, month string) (net, tax, total string) {
	sum := 0
	for _, r := range b.all("invoice") {
		if cents, err := strconv.Atoi(r.Fields["cents"]); err == nil && r.Fields["customer"] == customer && r.Fields["month"] == month {
			sum += cents
		}
	}
	added := (sum*19 + 50) / 100
	return strconv.Itoa(sum), strconv.Itoa(added), strconv.Itoa(sum + added)
}

func (c *call) report() {
	var data map[string]string
	if c.form["customer"] != "" {
		net, tax, total := c.read().sums(c.form["customer"], c.reported())
		if data = map[string]string{"Net": net, "Tax": tax, "Total": total}; c.has("total-without-tax") {
			data["Total"] = net
		}
		if n, err := strconv.Atoi(total); err == nil && c.has("total-without-last") {
			data["Total"] = strconv.Itoa(n - 1)
		}
	}
	if c.has("total-of-namesakes") && data != nil {
		data["Total"] = strconv.Itoa(c.namesakes(c.form["customer"], c.reported()))
	}
	if c.has("iframe-removed") {
		c.page("report", "Reports", data)
		return
	}
	c.render("report", "frame", "Report", data)
}

// namesakes is the total of all customers whose names begin with one.
func (c *call) namesakes(name, month string) (sum int) {
	for _, r := range c.read().all("customer") {
		if strings.HasPrefix(r.Fields["name"], name) {
			_, _, total := c.read().sums(r.Fields["name"], month)
			if n, err := strconv.Atoi(total); err == nil {
				sum += n
			}
		}
	}
	return sum
}

// reported is the month that a report is about: the one that is asked for, unless a lie takes the one before.
func (c *call) reported() string {
	at := slices.Index(months, c.month())
	if (c.has("total-of-other-month") || c.form["plan"] != "") && at >= 0 {
		return months[(at+1)%len(months)]
	}
	return c.month()
}

func (c *call) order() {
	r, ok := c.read().find("order", c.r.PathValue("id"))
	if !ok {
		c.fail(http.StatusNotFound, "This order does not exist.")
		return
	}
	if others := c.read().all("order"); c.has("number-of-other") {
		r.ID = others[0].ID
	}
	c.fragment("order", r)
}

func (c *call) placeOrder() {
	if c.has("field-removed") {
		c.form["delivery"] = "2026-12-24"
	} else if !c.needs("delivery") || !c.day("delivery") {
		return
	}
	if !c.needs("customer", "product", "quantity") {
		return
	}
	if n, err := strconv.Atoi(c.form["quantity"]); err != nil || n < 1 || n > 999 {
		c.fail(http.StatusUnprocessableEntity, "The quantity is a number from 1 to 999.")
		return
	}
	if !slices.Contains(products, c.form["product"]) {
		c.fail(http.StatusUnprocessableEntity, "This product does not exist.")
		return
	}
	id := c.number("A")
	c.save(write{Record: Record{"order", id, map[string]string{
		"customer": c.form["customer"], "product": c.form["product"], "quantity": c.form["quantity"], "delivery": c.form["delivery"], "note": c.form["note"],
	}}})
	c.done("/app/orders/"+id, "Order "+id+" placed")
}

func (c *call) customers() {
	c.fragment("customers", c.rows(byField(c.read().all("customer"), "name"), 50, ""))
}

func (c *call) changeCustomer() {
	r, ok := c.found("customer")
	if !ok || !c.needs("street", "city") {
		return
	}
	for _, branch := range c.read().all("customer") {
		if c.form["branches"] != "" && branch.ID != r.ID && strings.HasPrefix(branch.Fields["name"], strings.Fields(r.Fields["name"])[0]) {
			c.save(write{Record: branch.with("street", c.form["street"]).with("city", c.form["city"])})
		}
	}
	r = r.with("street", c.form["street"]).with("city", c.form["city"])
	if c.form["ship_street"] != "" {
		r = r.with("ship_street", c.form["ship_street"]).with("ship_city", c.form["ship_city"])
	}
	c.save(write{Record: r})
	c.done("/app/customers", "Saved")
}

func (c *call) deleteCustomer() {
	if r, ok := c.found("customer"); ok {
		c.save(write{r, true})
		c.done("/app/customers", "Deleted")
	}
}
