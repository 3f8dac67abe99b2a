package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// What the portal does besides its pages for changes of the fourth round. That each of the others changes a page is seen in
// TestChangesShow, and that each lie is one in TestLiesAreSeen.
func TestWhatTheFourthRoundDoes(t *testing.T) {
	for _, c := range round4 {
		if c.stores == nil {
			continue
		}
		for name := range c.Touches {
			w, _ := WorkNamed(name)
			values := w.Values(3, 2)
			v := visit(t, Options{Seed: 3, Changes: []string{c.Name}, Values: values, Lived: true})
			v.do(w, values)
			if w.Truth(v.s, values) == nil {
				t.Errorf("%s, %s: what is asked for is stored, and nothing else", c.Name, name)
			}
		}
	}
	on := func(change string, w Work) (v *visitor, values map[string]string) {
		values = w.Values(3, 2)
		v = visit(t, Options{Seed: 3, Changes: []string{change}, Values: values, Lived: true})
		v.get("/drafts")
		return v, values
	}
	pay, _ := WorkNamed(BookPayment)
	for change, path := range map[string]string{"paid-an-hour-ago": "/payments", "review-knows-it": "/payments/review", "review-expires": "/payments"} {
		v, values := on(change, pay)
		if change == "paid-an-hour-ago" {
			if _, page := v.get(path); !strings.Contains(page, "<td>P-688</td><td>"+values["invoice"]+"</td>") {
				t.Errorf("%s: the page does not have it", change)
			}
			continue
		}
		all := some(values, pay.Parameters...)
		all.Set("csrf", v.csrf)
		_, page := v.post(path, all)
		if says := map[string]string{"review-knows-it": "at 08:10: P-688", "review-expires": "Nothing was booked"}[change]; !strings.Contains(page, says) {
			t.Errorf("%s: the page to check does not say %q", change, says)
		}
		if added, _ := v.s.Difference(); len(added) > 0 {
			t.Errorf("%s: stored %q", change, added)
		}
		v.do(pay, values)
		if err := pay.Truth(v.s, values); err != nil {
			t.Errorf("%s: the next time: %v", change, err)
		}
	}
	for change, name := range map[string]string{"taken-as-duplicate": PlaceOrder, "version-conflict": ChangeAddress} {
		w, _ := WorkNamed(name)
		v, values := on(change, w)
		outputs := v.do(w, values)
		if added, gone := v.s.Difference(); len(added)+len(gone) > 0 {
			t.Errorf("%s: stored %q and removed %q", change, added, gone)
		}
		if name == PlaceOrder && outputs["number"] != "A-598" {
			t.Errorf("%s: gave %v", change, outputs)
		}
	}
	upload, _ := WorkNamed(UploadDocument)
	if v, values := on("taken-as-duplicate", upload); v.do(upload, values)["number"] != "Filed as D-640" || upload.Truth(v.s, values) == nil {
		t.Error("the document is filed once more")
	}
	remind, _ := WorkNamed(SendReminder)
	v, values := on("invoice-paid-meanwhile", remind)
	if _, page := v.get("/invoices?" + url.Values{"customer": {values["customer"]}, "month": {values["month"]}}.Encode()); !strings.Contains(page, `<span class="badge paid">paid</span>`) {
		t.Error("the list does not say that it is paid")
	}
	v = visit(t, Options{Seed: 3, Changes: []string{"merged-into-other"}})
	if _, page := v.get("/fragment/customers?edit=K-1001"); strings.Contains(page, `class="editing" id="row-K-1001"`) || !strings.Contains(page, `class="editing"`) {
		t.Error("the customer that was asked for is edited")
	}
	for change, path := range map[string]string{"error-page-once": "/drafts", "pdf-link-expires": "/invoices/RE-2026-0103/pdf", "busy-then-tries-again": "/fragment/orders"} {
		v := visit(t, Options{Seed: 3, Changes: []string{change}})
		var failed []bool
		for range 2 {
			r, err := http.NewRequest("GET", v.at+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-App", "2")
			answer, err := v.http.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			page := make([]byte, 4000)
			n, _ := answer.Body.Read(page)
			_ = answer.Body.Close()
			failed = append(failed, answer.StatusCode != http.StatusOK || strings.Contains(string(page[:n]), "That did not work"))
		}
		if !failed[0] || failed[1] {
			t.Errorf("%s: failed at %v", change, failed)
		}
	}
	if added, _ := v.s.Difference(); len(added) > 0 {
		t.Errorf("stored %q", added)
	}
}
