package procedure_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/backend/record"
)

// TestWhatIsOffered reads the cases: nothing wrong is offered, and most of what is covered is.
func TestWhatIsOffered(t *testing.T) {
	for name, cases := range map[string][]offerCase{"first": offerCases, "later": laterCases} {
		t.Run(name, func(t *testing.T) {
			right, wrong, missed := reading(t, cases)
			t.Logf("%d right, %d wrong, %d missed", right, wrong, missed)
			if wrong > 0 || float64(right) < 0.9*float64(right+missed) {
				t.Errorf("%d are right, %d wrong, %d missed", right, wrong, missed)
			}
		})
	}
}

// TestWhatIsReadFromARequest fills parameters in where they stand there, and nowhere else.
func TestWhatIsReadFromARequest(t *testing.T) {
	all := taughtWork(t)
	for _, c := range []struct {
		procedure, description, details string
		want                            map[string]string
	}{
		{"export_invoice", "Download the October invoice of Halde & Co", portal, map[string]string{"customer": "Halde & Co", "month": "2026-10"}},
		{"export_invoice", "Download the December invoice of Kestrel Ltd", portal, map[string]string{"customer": "Kestrel Ltd", "month": "2025-12"}},
		{"export_invoice", "Get the latest invoice of Kestrel", portal, map[string]string{"customer": "Kestrel"}},
		{"export_invoice", "Get Nordwind's invoices of September and October", portal, map[string]string{"customer": "Nordwind"}},
		{"export_invoice", "Get last month's invoice", portal + `,"parameters":{"Customer":"Aldus"}`, map[string]string{"customer": "Aldus", "month": "2026-10"}},
		{"export_invoice", "Get the invoice for Nordwind or Halde & Co, 2026-09", portal, map[string]string{"month": "2026-09"}},
		{"export_invoice", "Get the invoice, we may need it", portal, map[string]string{}},
		{"book_room", "Book meeting room Oak on 4 December 2026", rooms, map[string]string{"room": "Oak", "day": "2026-12-04"}},
		{"book_room", "Book a meeting room on 4 December", rooms, map[string]string{}},
		{"book_room", "Book a room made of Oakwood, 2026-13-04", rooms, map[string]string{}},
		{"parcel_status", "Check parcel px-30001", track, map[string]string{"parcel_number": "px-30001"}},
		{"parcel_status", "Check the parcels PX-1 and PX-2", track, map[string]string{}},
		{"update_stock", "Update stock for article A-300: quantity 7", shop, map[string]string{"article": "A-300", "quantity": "7"}},
		{"update_stock", "Set the stock of article A-200 to 12", shop, map[string]string{"article": "A-200"}},
		{"export_fapiao", "请下载北风公司2026年10月的发票", fapiao, map[string]string{"customer": "北风公司", "month": "2026-10"}},
		{"export_fapiao", "帮我把十月的发票导出来", fapiao, map[string]string{"month": "2026-10"}},
		{"register_guest", "登记访客“李雷”，日期2026年12月4日", visit, map[string]string{"guest": "李雷", "day": "2026-12-04"}},
	} {
		got := maps.Clone(procedure.ReadValues(all[c.procedure], offerCase{c.procedure, "browser", c.description, c.details}.operation()))
		maps.DeleteFunc(got, func(_, value string) bool { return value == "" })
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.description, got, c.want)
		}
	}
}

// requested has the agent ask a person for the work of the procedure.
func (d *desk) requested(fields string) human.OperationID {
	d.Helper()
	_, err := d.service.Save(d.Context(), ann, procedure.Change{File: order})
	must(d.T, err)
	op, _, err := d.queue.Submit(d.Context(), human.Request{
		Kind: human.Browser, Description: "Place an order", AgentID: bot.Name, Priority: human.DefaultPriority,
		Details: json.RawMessage(`{"url":"https://portal.example/","data_to_extract":[` + fields + `]}`),
	}, nil)
	must(d.T, err)
	return op.ID
}

// taken takes the only offer of a request.
func (d *desk) taken(id human.OperationID) procedure.OfferTaken {
	d.Helper()
	offers, err := d.service.Offers(d.Context(), ann, id)
	must(d.T, err)
	if len(offers) != 1 || offers[0].Procedure != "place_order" || offers[0].Why[0].Text != "same site: portal.example" {
		d.Fatalf("offers %+v", offers)
	}
	return procedure.OfferTaken{Procedure: offers[0].Procedure, Version: offers[0].Version, Digest: offers[0].Digest}
}

// TestAnOfferAnswersItsRequest under the names that the request has for the fields, and only an operator takes it.
func TestAnOfferAnswersItsRequest(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	d.act = func(s human.ProcedureStep) (record.Did, error) { return record.Did{Text: "R-20881"}, nil }
	id := d.requested(`"order number"`)
	if _, err := d.service.Offers(t.Context(), bot, id); human.KindOf(err) != human.Denied {
		t.Errorf("an agent sees offers: %v", err)
	}
	o := d.taken(id)
	if _, err := d.service.Take(t.Context(), bot, id, o); human.KindOf(err) != human.Denied {
		t.Errorf("an agent takes an offer: %v", err)
	}
	other := o
	other.Digest = strings.Repeat("0", 64)
	if _, err := d.service.Take(t.Context(), ann, id, other); human.KindOf(err) != human.Conflict {
		t.Errorf("something else is run than was offered: %v", err)
	}
	_, err := d.service.Take(t.Context(), ann, id, o)
	must(t, err)
	r := d.until(id, human.Succeeded)
	op, err := d.queue.Get(t.Context(), bot, id)
	must(t, err)
	if r.Why != nil || op.State != human.Completed || op.Result.Fields["order number"] != "R-20881" || len(op.Result.Fields) != 1 || op.Result.By != ann {
		t.Errorf("%+v: the agent gets %s %+v", r.Why, op.State, op.Result)
	}
	if r.Digest != o.Digest || !strings.Contains(op.Result.ExecutionResult, o.Digest) {
		t.Errorf("the run is not bound to %s: %s %+v", o.Digest, r.Digest, op.Result)
	}
	if _, err := d.service.Take(t.Context(), ann, id, o); human.KindOf(err) != human.Conflict {
		t.Errorf("it is run twice: %v", err)
	}
}

// TestAnOfferThatStops leaves its request to its operator, and is not run for it again.
func TestAnOfferThatStops(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	d.act = func(s human.ProcedureStep) (record.Did, error) {
		if s.ID == "s4" {
			return record.Did{}, &record.Mismatch{Expected: human.Sayf("button %q", "Order"), Found: human.Sayf("button %q", "Buy")}
		}
		return record.Did{}, nil
	}
	id := d.requested(``)
	o := d.taken(id)
	_, err := d.service.Take(t.Context(), ann, id, o)
	must(t, err)
	d.until(id, human.Halted)
	d.orders(id, procedure.RunOrder{Do: "end"})
	d.until(id, human.GivenUp)
	if op, _ := d.queue.Get(t.Context(), ann, id); op.State.Terminal() || op.ClaimedBy != ann.Name {
		t.Errorf("the request is %s, of %q", op.State, op.ClaimedBy)
	}
	if offers, err := d.service.Offers(t.Context(), ann, id); err != nil || len(offers) > 0 {
		t.Errorf("it is offered again: %+v, %v", offers, err)
	}
	if _, err := d.service.Take(t.Context(), ann, id, o); human.KindOf(err) != human.Conflict {
		t.Errorf("it is run again: %v", err)
	}
}

// TestAnOfferThatGivesLess leaves what it found as a draft: its operator fills in the rest.
func TestAnOfferThatGivesLess(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	d.act = func(s human.ProcedureStep) (record.Did, error) { return record.Did{Text: "R-20881"}, nil }
	id := d.requested(`"order number", "carrier"`)
	offers, err := d.service.Offers(t.Context(), ann, id)
	must(t, err)
	if o := offers[0]; !maps.Equal(o.Gives, map[string]string{"order number": "number"}) || !slices.Equal(o.Missing, []string{"carrier"}) {
		t.Errorf("it gives %v and lacks %v", o.Gives, o.Missing)
	}
	_, err = d.service.Take(t.Context(), ann, id, d.taken(id))
	must(t, err)
	r := d.until(id, human.Succeeded)
	op, err := d.queue.Get(t.Context(), ann, id)
	must(t, err)
	if op.State.Terminal() || op.Draft == nil || op.Draft.Fields["order number"] != "R-20881" || r.Why == nil || r.Why.Text != "it does not give carrier: fill that in, and answer" {
		t.Errorf("the request is %s with the draft %+v, and the run says %+v", op.State, op.Draft, r.Why)
	}
}

// TestAnOfferThatDoesNotStart can be taken again: nothing was done.
func TestAnOfferThatDoesNotStart(t *testing.T) {
	d := newDesk(t)
	d.effect = func() (int, error) { return 0, human.Errorf(human.Unavailable, "no such table") }
	id := d.requested(``)
	o := d.taken(id)
	if _, err := d.service.Take(t.Context(), ann, id, o); human.KindOf(err) != human.Conflict {
		t.Errorf("it runs though its effect cannot be looked at: %v", err)
	}
	d.effect = d.grows()
	_, err := d.service.Take(t.Context(), ann, id, d.taken(id))
	must(t, err)
	d.until(id, human.Succeeded)
}

// TestAnOfferAndAKill: the run continues where it was, as every run.
func TestAnOfferAndAKill(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	killed, begun := make(chan struct{}), make(chan struct{})
	d.act = func(s human.ProcedureStep) (record.Did, error) {
		if s.ID == "s4" {
			close(begun)
			<-killed
		}
		return record.Did{}, nil
	}
	id := d.requested(``)
	_, err := d.service.Take(t.Context(), ann, id, d.taken(id))
	must(t, err)
	<-begun
	ended := make(chan struct{})
	go func() { d.service.Close(); close(ended) }()
	close(killed)
	<-ended
	d.set(func() { d.act = nil })
	d.begin()
	r, err := d.service.State(t.Context(), ann, id)
	must(t, err)
	if r.State == human.Halted {
		_, err = d.service.Order(t.Context(), ann, id, procedure.RunOrder{Do: "done"})
		must(t, err)
	}
	d.until(id, human.Succeeded)
	if got := d.did(); got != "s1 s2 s3 s4 s5" {
		t.Errorf("did %s", got)
	}
	if op, _ := d.queue.Get(t.Context(), ann, id); op.State != human.Completed {
		t.Errorf("the request is %s", op.State)
	}
}
