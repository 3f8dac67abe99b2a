package portal

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// What the portal does for changes of the fifth round: what a form sends along, what comes as a file, and what lists show.
func TestWhatTheFifthRoundDoes(t *testing.T) {
	for change, want := range map[string]struct {
		values url.Values
		mails  []string
	}{
		"reminder-to-me":      {url.Values{"to_me": {"yes"}}, []string{`to="mira@faktura.example"`}},
		"recipients-as-chips": {url.Values{"also": {"Meyer"}}, []string{`to="billing-1127@customer.example"`, ""}},
		"split-button":        {url.Values{"everyone": {"yes"}}, slices.Repeat([]string{""}, len(customerNames))},
	} {
		v := visit(t, Options{Seed: 1, Changes: []string{change}})
		v.get("/")
		want.values.Set("message", "x")
		want.values.Set("csrf", v.csrf)
		v.post("/invoices/RE-2026-0103/remind", want.values)
		added, _ := v.s.Difference()
		if len(added) != len(want.mails) || !strings.Contains(strings.Join(added, ""), want.mails[0]) {
			t.Errorf("%s: stored %q", change, added)
		}
	}

	_, file := visit(t, Options{Seed: 1, Changes: []string{"pdf-zipped"}}).get("/invoices/RE-2026-0103/pdf")
	z, err := zip.NewReader(strings.NewReader(file), int64(len(file)))
	if err != nil || len(z.File) != 1 {
		t.Fatalf("no archive with one file: %v", err)
	}
	f, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(f); err != nil || !bytes.HasPrefix(data, []byte("%PDF")) {
		t.Errorf("the archive has no PDF: %v", err)
	}

	v := visit(t, Options{Seed: 1, Changes: []string{"report-of-other-origin"}})
	v.get("/")
	for key, shown := range map[string]bool{v.csrf: true, "x": false} {
		answer, err := http.Get(v.at + "/reports/frame?key=" + key)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if strings.Contains(string(text), `id="report-form"`) != shown {
			t.Errorf("the report without a cookie, with the key %s: shown is not %v", key, shown)
		}
	}

	values := map[string]string{"customer": "Halde & Co", "month": "2026-03"}
	for change, want := range map[string]struct{ has, hasNot string }{
		"ordered-in":           {"<td>2026-02</td>", "is not there"},
		"legal-forms-left-out": {"<td>Halde &amp; Co KG</td>", "<td>Halde &amp; Co</td>"},
		"already-paid":         {`<td><span class="badge paid">paid</span></td>`, "<td>2026-04</td>"},
	} {
		_, page := visit(t, Options{Seed: 1, Changes: []string{change}, Values: values}).get("/invoices?customer=Halde&month=2026-03")
		if !strings.Contains(page, want.has) || strings.Contains(page, want.hasNot) {
			t.Errorf("%s: the list is not as it should be", change)
		}
	}
	w, _ := WorkNamed(ExportInvoice)
	for _, change := range []string{"test-system", "amount-with-tax"} {
		v := visit(t, Options{Seed: 1, Changes: []string{change}})
		given := w.Values(1, 2)
		if got := v.do(w, given)["amount"]; got == w.Expected(v.s, given)["amount"] {
			t.Errorf("%s: the amount is the right one", change)
		}
	}
}

// Each twin is before the record of the run, and is not it.
func TestTwinsAreOthers(t *testing.T) {
	for _, change := range []string{"accents-twin", "invisible-twin", "right-to-left-twin"} {
		v := visit(t, Options{Seed: 1, Changes: []string{change}, Values: map[string]string{"customer": "Meyer"}})
		list := v.s.Stored("customer")
		at := slices.IndexFunc(list, func(r Record) bool { return r.Fields["name"] == "Meyer" })
		if at < 1 || list[at-1].ID != list[at].ID+"9" || list[at-1].Fields["name"] == "Meyer" {
			t.Errorf("%s: there is no twin with another name", change)
		}
	}
}
