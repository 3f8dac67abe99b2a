package portal

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// A Record is one thing that the portal stores. Its ID is the number that the portal gave it.
type Record struct {
	Kind   string // customer, invoice, draft, order, payment, document, mail, export
	ID     string
	Fields map[string]string
}

// String is what has to be true of the record: all but a number that the portal chose.
func (r Record) String() string {
	text := r.Kind
	for _, name := range slices.Sorted(maps.Keys(r.Fields)) {
		text += fmt.Sprintf(" %s=%q", name, r.Fields[name])
	}
	return text
}

func (r Record) with(name, value string) Record {
	fields := map[string]string{}
	maps.Copy(fields, r.Fields)
	fields[name] = value
	r.Fields = fields
	return r
}

// books are the records of the portal, in the order in which they came.
type books []Record

func (b books) all(kind string) []Record {
	var found []Record
	for _, r := range b {
		if r.Kind == kind {
			found = append(found, r)
		}
	}
	return found
}

func (b books) find(kind, id string) (Record, bool) {
	i := slices.IndexFunc(b, func(r Record) bool { return r.Kind == kind && r.ID == id })
	if i < 0 {
		return Record{}, false
	}
	return b[i], true
}

// where is the last record of a kind that has the fields.
func (b books) where(kind string, fields map[string]string) (Record, bool) {
	for _, r := range slices.Backward(b) {
		if r.Kind != kind {
			continue
		}
		same := true
		for name, value := range fields {
			same = same && r.Fields[name] == value
		}
		if same {
			return r, true
		}
	}
	return Record{}, false
}

// A write puts a record in the place of the one with its kind and ID, or at the end; or removes that one.
type write struct {
	Record
	remove bool
}

func (b books) after(writes ...write) books {
	b = slices.Clone(b)
	for _, w := range writes {
		at := slices.IndexFunc(b, func(r Record) bool { return r.Kind == w.Kind && r.ID == w.ID })
		switch {
		case w.remove && at >= 0:
			b = slices.Delete(b, at, at+1)
		case w.remove:
		case at >= 0:
			b[at] = w.Record
		default:
			b = append(b, w.Record)
		}
	}
	return b
}

// difference says which lines of b are not in a, and which of a are not in b, as often as they are there.
func difference(a, b books) (added, gone []string) {
	count := map[string]int{}
	for _, r := range b {
		count[r.String()]++
	}
	for _, r := range a {
		count[r.String()]--
	}
	for _, line := range slices.Sorted(maps.Keys(count)) {
		for range count[line] {
			added = append(added, line)
		}
		for range -count[line] {
			gone = append(gone, line)
		}
	}
	return added, gone
}

// The names and places of customers: some are the beginning of others, and some differ in a sign.
var (
	customerNames = []string{
		"Halde & Co", "Halde & Co KG", "Halde und Co", "Adler Optik", "Adler Optik Nord", "Bergmann", "Bergmann & Sohn", "Cramer Bau",
		"Dorn Elektro", "Ebert Print", "Falk Logistik", "Falk Logistics", "Gruber", "Ihde Reisen", "Jansen Metall", "Kern GmbH", "Kern AG",
		"Lorenz Papier", "Meyer", "Meier", "Nolte Haus", "Otto Weiss", "Prinz Garten", "Quast Farben",
	}
	months   = []string{"2026-01", "2026-02", "2026-03", "2026-04", "2026-05", "2026-06"}
	streets  = []string{"Lindenweg", "Hafenstraße", "Am Markt", "Bahnhofstraße", "Mühlgasse", "Ringstraße", "Schulweg"}
	cities   = []string{"20457 Hamburg", "80331 München", "04109 Leipzig", "50667 Köln", "01067 Dresden", "28195 Bremen"}
	products = []string{"Toner, black", "Toner, black XL", "Toner, cyan", "Paper A4", "Paper A3", "Envelopes C5", "Labels", "Staples"}
	kinds    = []string{"Contract", "Delivery note", "Receipt", "Other"}
	methods  = []string{"Bank transfer", "Direct debit", "Cash"}
	drafts   = []string{"Offer spring", "Offer spring (copy)", "Service plan", "Annual fee", "Printer lease", "Credit note", "Offer summer", "Repair"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func generator(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// world is what the portal has before anything is done to it. It follows from the seed.
func world(seed uint64) books {
	r := generator(seed, 0)
	var b books
	for i, name := range customerNames {
		no := fmt.Sprintf("K-%d", 1001+7*i)
		b = append(b, Record{"customer", no, map[string]string{
			"no": no, "name": name, "street": fmt.Sprintf("%s %d", pick(r, streets), 1+r.IntN(90)), "city": pick(r, cities),
			"mail": fmt.Sprintf("billing-%d@customer.example", 1001+7*i),
		}})
	}
	for m, month := range months {
		for i, at := range r.Perm(len(customerNames)) {
			no := fmt.Sprintf("RE-2026-%04d", 100*(m+1)+i)
			status := "open"
			if r.IntN(3) == 0 {
				status = "overdue"
			}
			b = append(b, Record{"invoice", no, map[string]string{
				"no": no, "customer": customerNames[at], "month": month, "due": month + "-28", "cents": fmt.Sprint(10_000 + r.IntN(990_000)), "status": status,
			}})
		}
	}
	for i, title := range drafts {
		no := fmt.Sprintf("E-%d", 11+i)
		b = append(b, Record{"draft", no, map[string]string{"no": no, "title": title, "customer": pick(r, customerNames), "cents": fmt.Sprint(5000 + r.IntN(90_000))}})
	}
	for i := range 5 {
		b = append(b, Record{"order", fmt.Sprintf("A-%d", 501+i), map[string]string{
			"customer": pick(r, customerNames), "product": pick(r, products), "quantity": fmt.Sprint(1 + r.IntN(20)), "delivery": fmt.Sprintf("2026-07-%02d", 1+r.IntN(28)), "note": "",
		}})
	}
	return b
}

// document is what a download of an invoice holds: a small PDF.
func document(invoice Record) []byte {
	text := fmt.Sprintf("BT /F1 18 Tf 60 760 Td (Invoice %s) Tj 0 -30 Td /F1 12 Tf (%s) Tj 0 -20 Td (%s) Tj 0 -20 Td (Amount in cents %s) Tj ET",
		invoice.ID, invoice.Fields["customer"], invoice.Fields["month"], invoice.Fields["cents"])
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(text), text), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	}
	out, table := "%PDF-1.4\n", "0000000000 65535 f \n"
	for i, o := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", len(out))
		out += fmt.Sprintf("%d 0 obj%s endobj\n", i+1, o)
	}
	return fmt.Appendf(nil, "%sxref\n0 %d\n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", out, len(objects)+1, table, len(objects)+1, len(out))
}

func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// byField sorts records by a field, as rows of a table.
func byField(rows []Record, field string) []Record {
	slices.SortStableFunc(rows, func(a, b Record) int { return cmp.Compare(a.Fields[field], b.Fields[field]) })
	return rows
}
