package procedure_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/backend/queue"
	"deskbell/backend/record"
	"deskbell/backend/store/sqlite"
)

var (
	ann = human.Actor{Role: human.Operator, Name: "Ann"}
	mei = human.Actor{Role: human.Operator, Name: "Mei"}
	bot = human.Actor{Role: human.Agent, Name: "bot"}
)

// A desk is a Deskbell with a real database and queue, whose browser is a script.
type desk struct {
	*testing.T
	store   *sqlite.Store
	queue   *queue.Queue
	service *procedure.Service

	mu      sync.Mutex
	done    []string                                        // steps that hands did, in order
	act     func(s human.ProcedureStep) (record.Did, error) // nil: all is well
	holds   func(c human.ProcedureCheckpoint) *record.Mismatch
	effect  func() (int, error)
	there   func() procedure.Seen // of an effect, in the place of so many
	rows    [][]string            // of the page
	touched string
	sent    []string // effects that were looked at, and the secret they got
	typed   []record.Secret
	ahead   time.Duration // of the clock
	opening func() error  // before a browser opens
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t}
	var err error
	d.store, err = sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	must(t, err)
	d.queue = queue.New(d.store, d.store, queue.Options{MaxPending: 100, Log: slog.New(slog.DiscardHandler)})
	must(t, d.queue.Load(t.Context()))
	d.begin()
	t.Cleanup(func() {
		d.service.Close()
		must(t, d.store.Close())
	})
	return d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin starts the service, as Deskbell does.
func (d *desk) begin() {
	d.Helper()
	d.service = procedure.New(procedure.Deps{
		Store: d.store.Procedures(), Queue: d.queue, Recorder: recorder{d}, Effects: d, Now: d.now, Log: slog.New(slog.DiscardHandler),
		Profile: func() string { return "throwaway" },
		Secret:  func(name string) (string, error) { return "value of " + name, nil },
		Wait: func(ctx context.Context, wait time.Duration) error {
			select {
			case <-time.After(min(wait, time.Millisecond)):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	})
	must(d.T, d.service.Recover(d.Context()))
}

func (d *desk) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Add(d.ahead)
}

func (d *desk) Look(_ context.Context, e human.ProcedureEffect, secret func(string) (string, error)) (procedure.Seen, error) {
	if e.URL != "" {
		text, err := secret("login")
		d.set(func() { d.sent = append(d.sent, fmt.Sprint(e.URL, " ", text, " ", human.KindOf(err) == human.Denied)) })
	}
	if d.there != nil {
		return d.there(), nil
	}
	n, err := d.effect()
	return procedure.Seen{Items: make([]string, n), Said: human.Sayf("%d rows", n)}, err
}

type recorder struct{ d *desk }

func (r recorder) Start(ctx context.Context, by human.Actor, op human.OperationID, _ human.RecordingOptions) (human.Recording, error) {
	if r.d.opening != nil {
		if err := r.d.opening(); err != nil {
			return human.Recording{}, err
		}
	}
	if _, err := r.d.queue.RecordingBegan(ctx, by, op, "rec_1"); err != nil {
		return human.Recording{}, err
	}
	return human.Recording{ID: "rec_1", OperationID: op, By: by.Name}, nil
}

func (r recorder) Stop(context.Context, human.Actor, human.RecordingID) (human.Recording, error) {
	return human.Recording{ID: "rec_1"}, nil
}

func (r recorder) Hands(context.Context, human.Actor, human.RecordingID) (record.Hands, error) {
	return hands(r), nil
}

type hands struct{ d *desk }

func (h hands) Do(ctx context.Context, s human.ProcedureStep, secret *record.Secret, _ time.Duration) (record.Did, error) {
	h.d.mu.Lock()
	act := h.d.act
	if s.Do != "pick" || !slices.Contains(h.d.done, s.ID) { // else it is read again
		h.d.done = append(h.d.done, s.ID)
	}
	if secret != nil {
		h.d.typed = append(h.d.typed, *secret)
	}
	h.d.mu.Unlock()
	if act == nil {
		return record.Did{FoundBy: "aria"}, nil
	}
	did, err := act(s)
	if ctx.Err() != nil {
		return did, ctx.Err()
	}
	return did, err
}

func (h hands) Holds(_ context.Context, c human.ProcedureCheckpoint, _ int64) (*record.Mismatch, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if h.d.holds == nil {
		return nil, nil
	}
	return h.d.holds(c), nil
}

func (h hands) Rows(context.Context) ([][]string, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	return h.d.rows, nil
}
func (h hands) Picture(context.Context) (string, human.WebPage) { return "picture", human.WebPage{} }

func (h hands) Now() int64      { return 0 }
func (h hands) Address() string { return "https://portal.example/orders" }
func (h hands) Resume()         {}
func (h hands) Interrupted() *human.Sentence {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if h.d.touched == "" {
		return nil
	}
	return &human.Sentence{Text: h.d.touched}
}

const order = `deskbell_procedure: 1
name: place_order
title: Place an order
where: browser
does: [sends]
secrets:
  - {name: login, site: "https://portal.example"}
outputs:
  - {name: number, type: text}
steps:
  - {id: s1, do: navigate, title: Open the portal, url: "https://portal.example/", then: [{is: address, text: "https://portal.example/"}]}
  - {id: s2, do: change, title: Sign in, secret: login, target: {role: textbox, name: Password, selectors: [["#password"]]}, then: [{is: text, text: Welcome}]}
  - {id: s3, do: click, title: Close the notice, optional: true, target: {role: button, name: Close}, then: [{is: gone, target: {role: button, name: Close}}]}
  - {id: s4, do: click, title: Order, writes: true, says: [], target: {role: button, name: Order}, then: [{is: text, text: Thank you}]}
  - {id: s5, do: pick, title: Read the number, output: number, target: {role: status, name: Number}, then: [{is: text, text: Thank you}]}
effects:
  - {is: sql, title: the order is in the database, path: orders.db, query: "SELECT customer FROM orders", has: [Nordwind], fresh: true, within: 0.05}
`

// asked saves the procedure and has the agent ask for a run.
func (d *desk) asked() human.OperationID {
	d.Helper()
	if _, err := d.service.Get(d.Context(), ann, "place_order", 0); err != nil {
		_, err := d.service.Save(d.Context(), ann, procedure.Change{File: order})
		must(d.T, err)
	}
	asked, err := d.service.Ask(d.Context(), bot, "place_order", procedure.Call{})
	must(d.T, err)
	return asked.Operation
}

// until waits for a run to be in a state.
func (d *desk) until(id human.OperationID, state human.ProcedureState) human.RunOfProcedure {
	d.Helper()
	for limit := time.Now().Add(20 * time.Second); ; {
		r, err := d.service.State(d.Context(), ann, id)
		must(d.T, err)
		if r.State == state {
			return r
		}
		if time.Now().After(limit) {
			d.Fatalf("the run is %s (%+v), not %s", r.State, r, state)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func (d *desk) orders(id human.OperationID, o procedure.RunOrder) {
	d.Helper()
	_, err := d.service.Order(d.Context(), ann, id, o)
	must(d.T, err)
}

// ringsFor says whether a run that stopped rings its operator, and no one else.
func (d *desk) ringsFor(id human.OperationID, r human.RunOfProcedure) {
	d.Helper()
	list, changed := d.service.Stopped(ann)
	if len(list) != 1 || list[0].Operation != id || list[0].Stop.Found.Text != r.Stop.Found.Text || list[0].Stops != r.Stops || list[0].Title == "" {
		d.Errorf("what rings: %+v", list)
	}
	select {
	case <-changed:
		d.Error("it has changed already")
	default:
	}
	for _, other := range []human.Actor{mei, bot, {Role: human.Agent, Name: ann.Name}} {
		if list, _ := d.service.Stopped(other); len(list) != 0 {
			d.Errorf("it rings %+v: %+v", other, list)
		}
	}
}

func (d *desk) did() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.done, " ")
}

func (d *desk) set(how func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	how()
}

// grows is an effect that is there once the order was placed.
func (d *desk) grows() func() (int, error) {
	return func() (int, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if slices.Contains(d.done, "s4") {
			return 3, nil
		}
		return 2, nil
	}
}

func TestAGoodRun(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	d.act = func(s human.ProcedureStep) (record.Did, error) {
		// What is being done is on the disk before it is done.
		all, err := d.store.Procedures().Open(context.Background())
		if err != nil || len(all) != 1 {
			t.Fatalf("the disk says %+v, %v", all, err)
		}
		at := slices.IndexFunc(all[0].Steps, func(x human.RunStep) bool { return x.Step == s.ID })
		if read := all[0].At() == len(all[0].Steps); !read && (all[0].At() != at || all[0].Steps[at].State != human.StepDoing) {
			t.Errorf("step %s is done, and the disk says %+v, %v", s.ID, all, err)
		}
		switch s.ID {
		case "s3":
			return record.Did{}, &record.Mismatch{Missing: true}
		case "s5":
			return record.Did{FoundBy: "role and name", Drifted: true, Text: "R-20881"}, nil
		}
		return record.Did{FoundBy: "aria"}, nil
	}
	id := d.asked()
	_, err := d.service.Run(t.Context(), ann, id)
	must(t, err)
	r := d.until(id, human.Succeeded)
	var states []string
	for _, s := range r.Steps {
		states = append(states, string(s.State))
	}
	if got := strings.Join(states, " "); got != "done done skipped done done" {
		t.Errorf("the steps are %s", got)
	}
	if len(d.typed) != 1 || d.typed[0].Text != "value of login" || d.typed[0].Site != "https://portal.example" {
		t.Errorf("typed %+v", d.typed)
	}
	op, err := d.queue.Get(t.Context(), bot, id)
	must(t, err)
	if r.Why != nil {
		t.Errorf("it ended with %s", r.Why.Text)
	}
	if op.State != human.Completed || op.Result.Fields["number"] != "R-20881" || op.Result.By != ann || op.Result.Verdict != human.WorkDone {
		t.Errorf("the agent gets %s %+v", op.State, op.Result)
	}
	if raw, _ := json.Marshal(op); strings.Contains(string(raw), "value of login") {
		t.Error("the agent gets the secret")
	}
	shown, err := d.service.Get(t.Context(), ann, "place_order", 0)
	must(t, err)
	if f := shown.Figures; f.Runs != 1 || f.Good != 1 || f.Stopped != 0 {
		t.Errorf("figures %+v", f)
	}
	if len(shown.Drifting) != 1 || shown.Drifting[0].Step != "s5" || shown.Drifting[0].Runs != 1 {
		t.Errorf("drifting %+v", shown.Drifting)
	}
	if _, err := d.service.Run(t.Context(), ann, id); human.KindOf(err) != human.Conflict {
		t.Errorf("a second run of the same operation: %v", err)
	}
}

// TestAStop is what an operator can do where something is not as it was taught: nothing is done twice.
func TestAStop(t *testing.T) {
	for name, tt := range map[string]struct {
		stop  string
		did   bool // the step was begun
		order procedure.RunOrder
		want  string // what hands did in the end
		state human.StepState
	}{
		"tried again":                    {"s4", false, procedure.RunOrder{Do: "continue"}, "s1 s2 s3 s4 s4 s5", human.StepDone},
		"done by hand":                   {"s4", false, procedure.RunOrder{Do: "done"}, "s1 s2 s3 s4 s5", human.StepByHand},
		"left out":                       {"s4", false, procedure.RunOrder{Do: "skip"}, "s1 s2 s3 s4 s5", human.StepSkipped},
		"it was done after all":          {"s4", true, procedure.RunOrder{Do: "done"}, "s1 s2 s3 s4 s5", human.StepByHand},
		"it was not done, somebody says": {"s4", true, procedure.RunOrder{Do: "continue", NotDone: true}, "s1 s2 s3 s4 s4 s5", human.StepDone},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.effect = d.grows()
			d.act = func(s human.ProcedureStep) (record.Did, error) {
				if s.ID == tt.stop {
					return record.Did{}, &record.Mismatch{Expected: human.Sayf("button %q", "Order"), Found: human.Sayf("button %q", "Buy"), Did: tt.did}
				}
				return record.Did{}, nil
			}
			id := d.asked()
			_, err := d.service.Run(t.Context(), ann, id)
			must(t, err)
			r := d.until(id, human.Halted)
			if r.Stop == nil || r.Stop.Step != tt.stop || r.Stop.Unsure != tt.did || r.Stop.Found.Text != `button "Buy"` {
				t.Fatalf("it stopped at %+v", r.Stop)
			}
			d.ringsFor(id, r)
			if _, err := d.service.Order(t.Context(), mei, id, tt.order); human.KindOf(err) != human.Denied {
				t.Errorf("another operator's order: %v", err)
			}
			if _, err := d.service.Order(t.Context(), bot, id, tt.order); human.KindOf(err) != human.Denied {
				t.Errorf("an agent's order: %v", err)
			}
			if tt.did {
				if _, err := d.service.Order(t.Context(), ann, id, procedure.RunOrder{Do: "continue"}); human.KindOf(err) != human.Conflict {
					t.Errorf("it continues though no one looked: %v", err)
				}
			}
			d.set(func() { d.act = nil })
			d.orders(id, tt.order)
			r = d.until(id, human.Succeeded)
			if list, _ := d.service.Stopped(ann); len(list) != 0 {
				t.Errorf("it still rings: %+v", list)
			}
			if got := d.did(); got != tt.want {
				t.Errorf("did %s, want %s", got, tt.want)
			}
			if r.Steps[3].State != tt.state || r.Stops != 1 {
				t.Errorf("the step is %s after %d stops", r.Steps[3].State, r.Stops)
			}
		})
	}
}

// TestAStopThatIsAccepted is at a form or words that are not those that were taught: with its order the step is done with them as they are.
func TestAStopThatIsAccepted(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	d.act = func(s human.ProcedureStep) (record.Did, error) {
		if s.ID == "s4" && s.Says != nil {
			return record.Did{}, &record.Mismatch{Expected: human.Sayf("words"), Found: human.Sayf("other words"), Differs: true}
		}
		if s.ID == "s5" {
			return record.Did{}, &record.Mismatch{Expected: human.Sayf("button %q", "Order"), Found: human.Sayf("button %q", "Buy")}
		}
		return record.Did{}, nil
	}
	id := d.asked()
	_, err := d.service.Run(t.Context(), ann, id)
	must(t, err)
	r := d.until(id, human.Halted)
	if r.Stop == nil || r.Stop.Step != "s4" || !r.Stop.Differs {
		t.Fatalf("it stopped at %+v", r.Stop)
	}
	stopsAgain := func() {
		t.Helper()
		for n := r.Stops; r.Stops == n; {
			r = d.until(id, human.Halted)
		}
	}
	d.orders(id, procedure.RunOrder{Do: "continue"})
	if stopsAgain(); r.Stop.Step != "s4" {
		t.Fatalf("then it stopped at %+v", r.Stop)
	}
	d.orders(id, procedure.RunOrder{Do: "accept"})
	if stopsAgain(); r.Stop.Step != "s5" || len(r.ByHand) != 2 || !r.ByHand[1].Accept || r.ByHand[1].Step != "s4" {
		t.Fatalf("in the end it stopped at %+v after %+v", r.Stop, r.ByHand)
	}
	if _, err := d.service.Order(t.Context(), ann, id, procedure.RunOrder{Do: "accept"}); human.KindOf(err) != human.Conflict {
		t.Errorf("another stop was accepted: %v", err)
	}
	d.set(func() { d.act = nil })
	d.orders(id, procedure.RunOrder{Do: "continue"})
	d.until(id, human.Succeeded)
}

// TestACheckpointThatFails stops after the step, which is not done again.
func TestACheckpointThatFails(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	d.service.Patience(20 * time.Millisecond)
	d.holds = func(c human.ProcedureCheckpoint) *record.Mismatch {
		if c.Text == "Thank you" {
			return &record.Mismatch{Expected: human.Sayf("the text %q", c.Text), Found: human.Sayf("a dialog")}
		}
		return nil
	}
	id := d.asked()
	_, err := d.service.Run(t.Context(), ann, id)
	must(t, err)
	if r := d.until(id, human.Halted); r.Stop.Step != "s4" || r.Stop.Unsure || r.Steps[3].State != human.StepChecks {
		t.Fatalf("stopped at %+v, %+v", r.Stop, r.Steps[3])
	}
	d.set(func() { d.holds = nil })
	d.orders(id, procedure.RunOrder{Do: "continue"})
	d.until(id, human.Succeeded)
	if got := d.did(); got != "s1 s2 s3 s4 s5" {
		t.Errorf("did %s", got)
	}
}

// TestAnEffectThatIsMissing stops a run whose pages say that all is well.
func TestAnEffectThatIsMissing(t *testing.T) {
	d := newDesk(t)
	there := 2
	d.effect = func() (int, error) { d.mu.Lock(); defer d.mu.Unlock(); return there, nil }
	id := d.asked()
	_, err := d.service.Run(t.Context(), ann, id)
	must(t, err)
	r := d.until(id, human.Halted)
	if r.Stop.Step != "" || r.Effects[0].State != "missing" || r.Stop.Expected.Text != "the order is in the database" {
		t.Fatalf("stopped at %+v, %+v", r.Stop, r.Effects)
	}
	if op, _ := d.queue.Get(t.Context(), bot, id); op.State == human.Completed {
		t.Error("the agent has an answer")
	}
	d.set(func() { there = 3 })
	d.orders(id, procedure.RunOrder{Do: "continue"})
	if r := d.until(id, human.Succeeded); r.Effects[0].State != "confirmed" {
		t.Errorf("effects %+v", r.Effects)
	}
	if got := d.did(); got != "s1 s2 s3 s4 s5" {
		t.Errorf("did %s", got)
	}
}

// TestAnEffectOfBefore does not count.
func TestAnEffectOfBefore(t *testing.T) {
	d := newDesk(t)
	d.effect = func() (int, error) { return 0, fmt.Errorf("no such table") }
	id := d.asked()
	if _, err := d.service.Run(t.Context(), ann, id); human.KindOf(err) != human.Conflict {
		t.Errorf("it runs though its effect cannot be looked at: %v", err)
	}
	if d.did() != "" {
		t.Errorf("did %s", d.did())
	}
}

// TestKilled: what was under way when Deskbell ended is not done again before an operator says so.
func TestKilled(t *testing.T) {
	for _, order := range []procedure.RunOrder{{Do: "done"}, {Do: "continue", NotDone: true}} {
		t.Run(order.Do, func(t *testing.T) {
			d := newDesk(t)
			d.effect = d.grows()
			killed := make(chan struct{})
			d.act = func(s human.ProcedureStep) (record.Did, error) {
				if s.ID == "s4" {
					<-killed
				}
				return record.Did{}, nil
			}
			id := d.asked()
			_, err := d.service.Run(t.Context(), ann, id)
			must(t, err)
			for !strings.Contains(d.did(), "s4") {
				<-time.After(time.Millisecond)
			}
			ended := make(chan struct{})
			go func() { d.service.Close(); close(ended) }()
			<-time.After(5 * time.Millisecond)
			close(killed)
			<-ended
			d.set(func() { d.act = nil })
			d.begin()
			r, err := d.service.State(t.Context(), ann, id)
			must(t, err)
			if r.State != human.Halted || !r.Stop.Unsure || r.Stop.Step != "s4" || r.Address != "https://portal.example/orders" {
				t.Fatalf("after the start it is %s at %+v", r.State, r.Stop)
			}
			if order.NotDone { // else the order itself opens the browser again
				_, err = d.service.Run(t.Context(), ann, id)
				must(t, err)
			}
			if _, err := d.service.Order(t.Context(), ann, id, procedure.RunOrder{Do: "continue"}); human.KindOf(err) != human.Conflict {
				t.Errorf("it continues though no one looked: %v", err)
			}
			d.orders(id, order)
			d.until(id, human.Succeeded)
			want := "s1 s2 s3 s4 s5"
			if order.NotDone {
				want = "s1 s2 s3 s4 s4 s5"
			}
			if got := d.did(); got != want {
				t.Errorf("did %s, want %s", got, want)
			}
		})
	}
}

// TestAPersonInterrupts: a run pauses where its operator uses the pages, and continues when they say so.
func TestAPersonInterrupts(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	d.act = func(s human.ProcedureStep) (record.Did, error) {
		if s.ID == "s2" {
			d.set(func() { d.touched = "you moved the pointer" })
		}
		return record.Did{}, nil
	}
	id := d.asked()
	_, err := d.service.Run(t.Context(), ann, id)
	must(t, err)
	r := d.until(id, human.HeldUp)
	if got := d.did(); got != "s1 s2" || r.Why.Text != "you moved the pointer" {
		t.Errorf("did %s, and paused because %v", got, r.Why)
	}
	d.set(func() { d.touched = "" })
	d.orders(id, procedure.RunOrder{Do: "step"})
	for !strings.Contains(d.did(), "s3") {
		<-time.After(time.Millisecond)
	}
	d.until(id, human.HeldUp)
	if got := d.did(); got != "s1 s2 s3" {
		t.Errorf("after one step it did %s", got)
	}
	d.orders(id, procedure.RunOrder{Do: "end"})
	r = d.until(id, human.GivenUp)
	if op, _ := d.queue.Get(t.Context(), ann, id); op.State.Terminal() || op.ClaimedBy != "Ann" {
		t.Errorf("the operation is %s, of %s: it is its operator's to answer", op.State, op.ClaimedBy)
	}
	if r.EndedAt == nil {
		t.Error("it has no end")
	}
}

// TestAWithdrawnRequest: nothing more is done for it.
func TestAWithdrawnRequest(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	id := d.asked()
	d.act = func(s human.ProcedureStep) (record.Did, error) {
		if s.ID == "s2" {
			_, err := d.queue.Cancel(context.Background(), bot, id, "not needed any more")
			if err != nil {
				t.Error(err)
			}
		}
		return record.Did{}, nil
	}
	_, err := d.service.Run(t.Context(), ann, id)
	must(t, err)
	d.until(id, human.GivenUp)
	if got := d.did(); got != "s1 s2" {
		t.Errorf("did %s", got)
	}
}

// TestASecretIsSentToItsSiteAlone, whatever server an effect of a file from elsewhere names.
func TestASecretIsSentToItsSiteAlone(t *testing.T) {
	d := newDesk(t)
	d.effect = func() (int, error) { return 1, nil }
	file := order[:strings.Index(order, "effects:")] + `effects:
  - {is: http, title: a, url: "https://portal.example/api", headers: {Authorization: "SECRET:login"}}
  - {is: http, title: b, url: "https://elsewhere.example/api", headers: {Authorization: "SECRET:login"}}
  - {is: http, title: c, url: "http://portal.example/api", headers: {Authorization: "SECRET:login"}}
`
	_, err := d.service.Save(t.Context(), ann, procedure.Change{File: file})
	must(t, err)
	id := d.asked()
	_, err = d.service.Run(t.Context(), ann, id)
	must(t, err)
	d.until(id, human.Succeeded)
	want := []string{"https://portal.example/api value of login false", "https://elsewhere.example/api  true", "http://portal.example/api  true"}
	if !slices.Equal(d.sent, append(want, want...)) { // it looks twice, as a step of it writes
		t.Errorf("sent %q", d.sent)
	}
}

// TestNothingElseMayHaveChanged, where an effect says so: what else there is is noted before the run, and a run stops at what is another after it.
func TestNothingElseMayHaveChanged(t *testing.T) {
	d := newDesk(t)
	all := []string{"a", "b"}
	d.there = func() procedure.Seen {
		d.mu.Lock()
		defer d.mu.Unlock()
		items := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, "new") })
		return procedure.Seen{Items: items, All: slices.Clone(all), Said: human.Sayf("%d rows", len(items))}
	}
	d.act = func(s human.ProcedureStep) (record.Did, error) {
		if s.ID == "s4" {
			d.set(func() { all = []string{"a", "c", "new"} })
		}
		return record.Did{}, nil
	}
	file := strings.Replace(order, "fresh: true", "fresh: true, only: true, count: 1", 1)
	_, err := d.service.Save(t.Context(), ann, procedure.Change{File: file})
	must(t, err)
	id := d.asked()
	_, err = d.service.Run(t.Context(), ann, id)
	must(t, err)
	r := d.until(id, human.Halted)
	if r.Stop == nil || r.Stop.Found.Text != "1 new as expected, 1 new or changed otherwise, and 1 gone" || !slices.Equal(r.Effects[0].Had, []string{"a", "b"}) {
		t.Errorf("stopped by %+v, with %+v", r.Stop, r.Effects)
	}
	d.set(func() { all = []string{"new", "b", "a"} })
	d.orders(id, procedure.RunOrder{Do: "continue"})
	d.until(id, human.Succeeded)

	d.set(func() { all = make([]string, 1001) })
	if _, err = d.service.Run(t.Context(), ann, d.asked()); human.KindOf(err) != human.Conflict || !strings.Contains(err.Error(), "more than 1000") {
		t.Errorf("what is too many to be compared: %v", err)
	}
}

// TestVersions are saved in their order, and what was asked for is what runs.
func TestVersions(t *testing.T) {
	d := newDesk(t)
	id := d.asked()
	if _, err := d.service.Save(t.Context(), ann, procedure.Change{File: order}); human.KindOf(err) != human.Conflict {
		t.Errorf("a second first version: %v", err)
	}
	shown, err := d.service.Save(t.Context(), ann, procedure.Change{File: strings.Replace(order, "Place an order", "Order something", 1), After: 1, Note: "another title"})
	must(t, err)
	if shown.Version != 2 || len(shown.Versions) != 2 || shown.Procedure.Title != "Order something" {
		t.Errorf("saved %+v", shown)
	}
	if _, err := d.service.Save(t.Context(), bot, procedure.Change{File: order, After: 2}); human.KindOf(err) != human.Denied {
		t.Errorf("an agent saves one: %v", err)
	}
	must(t, d.service.Remove(t.Context(), ann, "place_order"))
	_, err = d.service.Save(t.Context(), ann, procedure.Change{File: strings.Replace(order, "name: Order", "name: Buy", 1)})
	must(t, err)
	if _, err := d.service.Run(t.Context(), ann, id); human.KindOf(err) != human.Conflict || !strings.Contains(err.Error(), "taught again") {
		t.Errorf("other steps run than were asked for: %v", err)
	}
	if d.did() != "" {
		t.Errorf("did %s", d.did())
	}
}

// A row of a page is looked at once the steps are done, on a page that is opened for it and that has to be that one.
func TestARowOfAPage(t *testing.T) {
	d := newDesk(t)
	file := order[:strings.Index(order, "effects:")] + `effects:
  - {is: row, title: the order is in the list, url: "https://portal.example/orders?of=*", has: ["{number}", Nordwind], within: 0.05}
`
	_, err := d.service.Save(t.Context(), ann, procedure.Change{File: file})
	must(t, err)
	d.act = func(s human.ProcedureStep) (record.Did, error) {
		if s.Do == "navigate" && strings.Contains(s.URL, "/orders") {
			d.set(func() { d.done = append(d.done, s.URL) })
		}
		return record.Did{Text: "A-70"}, nil
	}
	d.rows = [][]string{{"A-7", "Nordwind"}, {"A-701", "Nordwind"}, {"A-70", "Nordwind Ltd"}}
	id := d.asked()
	_, err = d.service.Run(t.Context(), ann, id)
	must(t, err)
	r := d.until(id, human.Halted)
	if r.Stop == nil || r.Stop.Step != "" || r.Stop.Found.Text != "0 of 3 rows at https://portal.example/orders?of=* are as expected" || r.Effects[0].State != "missing" {
		t.Errorf("it stopped at %+v, %+v", r.Stop, r.Effects)
	}
	if did := d.did(); !strings.HasSuffix(did, " s4 s5  https://portal.example/orders?of=*") {
		t.Errorf("it did %q", did)
	}
	elsewhere := human.Sayf("It is now https://portal.example/login")
	d.set(func() {
		d.rows = append(d.rows, []string{"A-70", "Nordwind"})
		d.holds = func(c human.ProcedureCheckpoint) *record.Mismatch {
			if c.Text != "https://portal.example/orders?of=%2A" {
				t.Errorf("the page has to be %q", c.Text)
			}
			return &record.Mismatch{Found: elsewhere}
		}
	})
	d.orders(id, procedure.RunOrder{Do: "continue"})
	r = d.until(id, human.Halted)
	for limit := time.Now().Add(20 * time.Second); r.Stops < 2 && time.Now().Before(limit); {
		r = d.until(id, human.Halted)
	}
	if r.Stop.Found.Text != elsewhere.Text {
		t.Errorf("it stopped at %+v", r.Stop)
	}
	d.set(func() { d.holds = nil })
	d.orders(id, procedure.RunOrder{Do: "continue"})
	if r = d.until(id, human.Succeeded); r.Effects[0].State != "confirmed" {
		t.Errorf("the effect is %+v", r.Effects[0])
	}
}

// What was filled in is looked at once more before it is sent: a page may have changed one field as another was filled in.
func TestAFieldThatThePageChanged(t *testing.T) {
	d := newDesk(t)
	field := func(name string) string { return "{role: textbox, name: " + name + "}" }
	file := order[:strings.Index(order, "steps:")] + `steps:
  - {id: s1, do: navigate, title: Open, url: "https://portal.example/", then: [{is: address, text: "https://portal.example/"}]}
  - {id: s2, do: change, title: Line, text: Bolt, target: ` + field("Line") + `}
  - {id: s3, do: click, title: Add, target: {role: button, name: Add}}
  - {id: s4, do: change, title: Customer, text: Halde & Co, target: ` + field("Customer") + `}
  - {id: p1, do: selectOption, title: Product, options: [Toner], target: {role: combobox, name: Product}, then: [{is: value, text: Toner, target: {role: combobox, name: Product}}]}
  - {id: s5, do: change, title: Amount, text: "124.24", target: ` + field("Amount") + `}
  - {id: s6, do: click, title: Order, writes: true, target: {role: button, name: Order}}
  - {id: s7, do: pick, title: Read the number, output: number, target: {role: status, name: Number}}
`
	_, err := d.service.Save(t.Context(), ann, procedure.Change{File: strings.Replace(file, "does: [sends]", "does: [sends]\npolicy: permissive", 1)})
	must(t, err)
	now := map[string]string{"Line": "", "Customer": "Adler Optik", "Amount": "124.24 €", "Product": "Toner"}
	d.act = func(human.ProcedureStep) (record.Did, error) { return record.Did{Text: "7"}, nil }
	d.holds = func(c human.ProcedureCheckpoint) *record.Mismatch {
		if c.Is != "value" || c.Text == now[c.Target.Name] {
			return nil
		}
		return &record.Mismatch{Found: human.Sayf("It holds %q", now[c.Target.Name]), Holds: now[c.Target.Name]}
	}
	id := d.asked()
	_, err = d.service.Run(t.Context(), ann, id)
	must(t, err)
	r := d.until(id, human.Halted)
	if r.Stop.Step != "s6" || r.Stop.Unsure || r.Steps[6].State != human.StepLater || !strings.Contains(r.Stop.Found.Text, "Adler Optik") {
		t.Errorf("it stopped at %+v", r.Stop)
	}
	d.set(func() { now["Customer"], now["Product"] = "HALDE & CO", "Toner, XL" }) // of a list, what has the same letters is another
	d.orders(id, procedure.RunOrder{Do: "continue"})
	for r.Stops < 2 {
		r = d.until(id, human.Halted)
	}
	if !strings.Contains(r.Stop.Found.Text, "Toner, XL") {
		t.Errorf("it stopped at %+v", r.Stop)
	}
	d.set(func() { now["Product"] = "Toner" })
	d.orders(id, procedure.RunOrder{Do: "continue"})
	d.until(id, human.Succeeded)
	if did := d.did(); did != "s1 s2 s3 s4 p1 s5 s6 s7" {
		t.Errorf("it did %s", did)
	}
}

// picks reads one text after the other, and the last one from then on.
func (d *desk) picks(shown *[]string) func(human.ProcedureStep) (record.Did, error) {
	return func(s human.ProcedureStep) (did record.Did, _ error) {
		if s.Do == "pick" {
			d.set(func() { all := *shown; did.Text, *shown = all[0], append(all[1:], all[len(all)-1]) })
		}
		return did, nil
	}
}

// What is picked has to look as it did when it was taught; it is waited for.
func TestAnOutputOfAnotherShape(t *testing.T) {
	d := newDesk(t)
	_, err := d.service.Save(t.Context(), ann, procedure.Change{File: strings.Replace(order, "type: text}", "type: text, pattern: '[0-9]+'}", 1)})
	must(t, err)
	d.effect = d.grows()
	shown := []string{"", "…", "12 "}
	d.act = d.picks(&shown)
	id := d.asked()
	_, err = d.service.Run(t.Context(), ann, id)
	must(t, err)
	if r := d.until(id, human.Succeeded); r.Outputs["number"] != "12 " {
		t.Errorf("the output is %q", r.Outputs["number"])
	}
	d.set(func() { shown, d.ahead = []string{"••••"}, 0 })
	d.effect = d.grows()
	id = d.asked()
	go func() { // patience ends by the clock
		for range 200 {
			<-time.After(5 * time.Millisecond)
			d.set(func() { d.ahead += time.Second })
		}
	}()
	_, err = d.service.Run(t.Context(), ann, id)
	must(t, err)
	r := d.until(id, human.Halted)
	if r.Stop.Step != "s5" || r.Stop.Unsure || !strings.Contains(r.Stop.Found.Text, "••••") || r.Outputs["number"] != "" {
		t.Errorf("it stopped at %+v with %q", r.Stop, r.Outputs)
	}
}

// What is undone right after its effect was seen is no success.
func TestAnEffectThatIsUndone(t *testing.T) {
	d := newDesk(t)
	looks := 0
	d.effect = func() (int, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if !slices.Contains(d.done, "s4") {
			return 3, nil
		}
		if looks++; looks == 1 {
			return 4, nil
		}
		return 3, nil
	}
	id := d.asked()
	_, err := d.service.Run(t.Context(), ann, id)
	must(t, err)
	r := d.until(id, human.Halted)
	if r.Stop.Step != "" || r.Effects[0].State != "missing" {
		t.Errorf("it stopped at %+v, %+v", r.Stop, r.Effects)
	}
}

// What was picked while a page still showed something else is read again where the run ends on that page.
func TestAnOutputThatIsAnotherLater(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	shown := []string{"0.00", "268.80", "268.80"}
	d.act = d.picks(&shown)
	id := d.asked()
	_, err := d.service.Run(t.Context(), ann, id)
	must(t, err)
	r := d.until(id, human.Halted)
	if r.Stop.Step != "s5" || r.Stop.Unsure || !strings.Contains(r.Stop.Found.Text, "268.80") {
		t.Errorf("it stopped at %+v", r.Stop)
	}
	_, err = d.service.Order(t.Context(), ann, id, procedure.RunOrder{Do: "continue"})
	must(t, err)
	if r := d.until(id, human.Succeeded); r.Outputs["number"] != "268.80" {
		t.Errorf("the output is %q", r.Outputs["number"])
	}
}

// A key that works in every program pauses the run that is recorded, continues it and ends it. That it was pressed pauses the run, too, which is
// one pause.
func TestAKeyStopsARun(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	reached, on := make(chan bool, 1), make(chan bool)
	d.act = func(s human.ProcedureStep) (record.Did, error) {
		if s.ID == "s1" {
			reached <- true
			<-on
		}
		return record.Did{}, nil
	}
	key := func(rec human.RecordingID, end, want bool) {
		t.Helper()
		if found, err := d.service.ByKey(t.Context(), ann, rec, end); found != want || err != nil {
			t.Fatalf("found %t, %v", found, err)
		}
	}
	key("rec_1", false, false)
	id := d.asked()
	_, err := d.service.Run(t.Context(), ann, id)
	must(t, err)
	<-reached
	key("rec_2", false, false)
	key("rec_1", false, true)
	on <- true
	if r := d.until(id, human.HeldUp); d.did() != "s1" || r.Why.Text != "you paused it" {
		t.Errorf("did %s, %+v", d.did(), r.Why)
	}
	d.set(func() { d.touched = "you pressed a key" })
	key("rec_1", false, true) // continues, and the keyboard pauses it right away
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); {
		if r := d.until(id, human.HeldUp); r.Why.Text == "you pressed a key" {
			break
		}
	}
	d.set(func() { d.touched, d.ahead = "", -time.Hour }) // however long that took
	key("rec_1", false, true)                             // the last key of those that were pressed together
	for range 50 {
		<-time.After(time.Millisecond)
		if r, err := d.service.State(t.Context(), ann, id); err != nil || r.State != human.HeldUp || r.Why.Text != "you pressed a key" {
			t.Fatalf("it is %s, %+v, %v", r.State, r.Why, err)
		}
	}
	d.set(func() { d.ahead, d.act = time.Hour, nil })
	key("rec_1", false, true)
	d.until(id, human.Succeeded)

	d.act = func(human.ProcedureStep) (record.Did, error) { return record.Did{}, &record.Mismatch{} }
	id = d.asked()
	_, err = d.service.Run(t.Context(), ann, id)
	must(t, err)
	d.until(id, human.Halted)
	key("rec_1", true, true)
	d.until(id, human.GivenUp)
}
