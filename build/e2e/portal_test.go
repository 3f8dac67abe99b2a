//go:build window

package e2e

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite" // what effects look at

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/build/procedures/portal"
)

// An office is a Deskbell with an origin at which one portal after the other is served.
type office struct {
	*study
	seed    uint64
	server  *httptest.Server
	now     *atomic.Pointer[portal.Server]
	db      *sql.DB
	base    string // the database
	maildir string
	stored  *string // what the database has
}

func newOffice(t *testing.T, seed uint64) *office {
	t.Helper()
	o := &office{study: newStudy(t, false, "DESKBELL_SECRET_PORTAL="+portal.Password), seed: seed, now: new(atomic.Pointer[portal.Server]), stored: new(string)}
	o.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.now.Load().ServeHTTP(w, r) }))
	t.Cleanup(o.server.Close)
	o.base, o.maildir = filepath.Join(o.folder, "portal.sqlite"), filepath.Join(o.folder, "mails")
	db, err := sql.Open("sqlite", o.base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec("CREATE TABLE records(kind TEXT, id TEXT, fields TEXT)"); err != nil {
		t.Fatal(err)
	}
	o.db = db
	return o
}

var kindsOfRecords = []string{"customer", "invoice", "draft", "order", "payment", "document", "mail", "export"}

// mirror has the database say what the portal stores.
func (o *office) mirror(s *portal.Server) error {
	var all []portal.Record
	for _, kind := range kindsOfRecords {
		all = append(all, s.Stored(kind)...)
	}
	text, err := json.Marshal(all)
	if err != nil || string(text) == *o.stored {
		return err
	}
	tx, err := o.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if _, err := tx.Exec("DELETE FROM records"); err != nil {
		return err
	}
	for _, r := range all {
		fields, err := json.Marshal(r.Fields)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO records VALUES (?, ?, ?)", r.Kind, r.ID, string(fields)); err != nil {
			return err
		}
	}
	*o.stored = string(text)
	return tx.Commit()
}

// hosts serves a portal with a change, "" for none, until it is closed.
func (o *office) hosts(t *testing.T, change string, values map[string]string) (s *portal.Server, closes func()) {
	t.Helper()
	options := portal.Options{Seed: o.seed, Values: values, Maildir: o.maildir, Lived: os.Getenv("PORTAL_ROUND") >= "3"}
	if change != "" {
		options.Changes = []string{change}
	}
	s, err := portal.New(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(o.maildir, "new"), filepath.Join(o.folder, "downloads")} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := o.mirror(s); err != nil {
		t.Fatal(err)
	}
	o.now.Store(s)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := o.mirror(s); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return s, func() { cancel(); work.Wait() }
}

// A scribe does the script of a work as a person does.
type scribe struct {
	*worker
	began []time.Time // of each action
}

// seen finds an element as people see it, and gives a path to it, or how many options further down a select's option is.
const seen = `((a) => {
  const doc = a.Frame ? [...document.querySelectorAll('iframe')].find(f => f.title === a.Frame)?.contentDocument : document
  if (!doc || doc.readyState !== 'complete') return ''
  const kinds = {link: 'a[href]:not([role])', button: 'button, [role=button]', textbox: 'input, textarea', spinbutton: 'input[type=number]', combobox: 'select', '': 'input, textarea, select'}
  const text = e => e.textContent.trim()
  const name = e => (e.getAttribute('aria-label') || [...(e.labels || [])].map(text).join(' ') || e.textContent).trim()
  let found
  if (a.Do !== 'read') found = [...doc.querySelectorAll(kinds[a.Role])].filter(e => name(e) === a.Name)
  else if (a.Name) found = [...doc.querySelectorAll('dt, th[scope=row]')].filter(e => text(e) === a.Name).map(e => e.nextElementSibling)
  else found = [...doc.querySelectorAll('.flash')]
  found = found.filter(e => e.getClientRects().length && (!a.Row || [...(e.closest('tr')?.cells ?? [])].some(c => text(c) === a.Row)))
  let e = found[0]
  if (!e) return ''
  if (a.Downs) return String([...e.options].findIndex(o => text(o) === a.Value) - e.selectedIndex)
  if (a.Kind) return e.type
  if (a.Filled) return e.value ? 'yes' : 'no'
  const path = []
  for (; e.parentElement; e = e.parentElement) path.unshift(e.tagName.toLowerCase() + ':nth-child(' + (1 + [...e.parentElement.children].indexOf(e)) + ')')
  return (a.Frame ? 'iframe[title="' + a.Frame + '"] >> ' : '') + ['html', ...path].join(' > ')
})`

func (c *scribe) spots(a portal.Action, more string) (found string) {
	c.t.Helper()
	var fields map[string]any
	text, _ := json.Marshal(a)
	_ = json.Unmarshal(text, &fields)
	fields[more] = true
	text, _ = json.Marshal(fields)
	eventually(c.t, fmt.Sprintf("%s %s %q", a.Do, a.Role, a.Name), func() bool {
		return c.evaluate(c.page, seen+"("+string(text)+")", &found) == nil && found != ""
	})
	return found
}

// does does one action of a script.
func (c *scribe) does(a portal.Action, values map[string]string) {
	c.t.Helper()
	c.loaded()
	c.began = append(c.began, time.Now())
	if a.Do == "open" || c.strays(a, values) { // the recording opened there
		return
	}
	a.Value, a.Row = portal.Fill(a.Value, values), portal.Fill(a.Row, values)
	path := c.spots(a, "Path")
	switch a.Do {
	case "click":
		if a.Yes {
			c.clicksAndAnswers(path, true, "")
		} else {
			c.clicks(path)
		}
	case "type":
		c.enters(path, c.spots(a, "Kind"), a)
	case "choose":
		downs, err := strconv.Atoi(c.spots(a, "Downs"))
		if err != nil || downs < 0 {
			c.t.Fatalf("%q cannot be chosen: %v", a.Value, err)
		}
		c.selects(path, downs)
	case "upload":
		c.uploads(path, a.Value)
	case "read":
		c.picks(a.Gives, path)
	}
}

// enters types into a field, into one for dates part by part.
func (c *scribe) enters(path, kind string, a portal.Action) {
	c.t.Helper()
	parts := strings.Split(a.Value, "-")
	switch kind {
	case "month":
		c.focuses(path)
		day, err := time.Parse("2006-01", a.Value)
		if err != nil {
			c.t.Fatal(err)
		}
		c.types(day.Format("January")[:3])
		c.presses("ArrowRight", 0)
		c.types(parts[0])
	case "date":
		c.focuses(path)
		c.types(parts[1] + parts[2] + parts[0])
	default:
		c.clicks(path)
		if c.spots(a, "Filled") == "yes" {
			c.presses("a", ctrl, "selectAll")
		}
		c.types(a.Value)
	}
}

// teaches records a work with the nth values, and says when each action of its script began.
func (o *office) teaches(t *testing.T, w portal.Work, n int) (rec human.Recording, values map[string]string, began []time.Time) {
	t.Helper()
	values = w.Values(o.seed, n)
	s, closes := o.hosts(t, "", values)
	defer closes()
	script := maps.Clone(values)
	if content, has := values["file"]; has {
		script["file"] = o.document(t, n, content)
	}
	what := strings.Join(w.Steps, " ")
	_, rec, p := o.record(t, what, o.server.URL+"/login", human.BrowserOptions{})
	p.looking = 100 * time.Millisecond
	c := &scribe{worker: &worker{surfer: p, s: o.study, rec: rec, answer: human.Answer{Fields: map[string]string{}}}}
	for _, a := range w.Script {
		c.does(a, script)
	}
	eventually(t, "the truth of "+w.Name, func() bool { return w.Truth(s, values) == nil })
	c.pause()
	c.loaded()
	o.stop(t, &rec)
	return rec, script, c.began
}

// document is a file to upload.
func (o *office) document(t *testing.T, n int, content string) string {
	t.Helper()
	path := filepath.Join(o.folder, fmt.Sprintf("scan-%d.txt", n))
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A lesson is a work as a saved procedure.
type lesson struct {
	portal.Work
	procedure string
	steps     map[string]string // of the procedure -> of the script
	cannot    string            // why it cannot be taught as it is; "" where it can
}

// learns teaches a work twice, and saves what a person confirms.
func (o *office) learns(t *testing.T, w portal.Work) lesson {
	t.Helper()
	l := lesson{Work: w, procedure: w.Name, steps: map[string]string{}}
	var recordings []human.RecordingID
	var taught []map[string]string
	at := map[string]string{} // recording and action -> step of the script
	for n := range 2 {
		rec, values, began := o.teaches(t, w, n)
		recordings, taught = append(recordings, rec.ID), append(taught, values)
		for _, a := range o.actions(rec.ID) {
			i := 0
			for i+1 < len(began) && !rec.StartedAt.Add(time.Duration(a.At)).Before(began[i+1].Add(-20*time.Millisecond)) {
				i++
			}
			at[string(rec.ID)+a.ID] = w.Script[i].Step
		}
	}
	var draft procedure.ProcedureDraft
	o.call("POST", "/api/procedure-drafts", map[string]any{"recordings": recordings}, &draft)
	p := renamed(t, draft.Procedure, w, taught)
	for _, name := range w.Parameters {
		if !slices.ContainsFunc(p.Parameters, func(q human.ProcedureParameter) bool { return q.Name == name }) {
			p = asked(p, name, taught[0][name])
		}
	}
	p.Name, p.Effects = w.Name, o.effects(w)
	if !slices.Contains(p.Does, w.Does) {
		p.Does = append(p.Does, w.Does)
	}
	for i := range p.Secrets {
		for j := range p.Steps {
			if p.Steps[j].Secret == p.Secrets[i].Name {
				p.Steps[j].Secret = "portal"
			}
		}
		p.Secrets[i].Name = "portal"
	}
	last := w.Script[0].Step
	for _, s := range p.Steps {
		if len(s.From) > 0 {
			last = cmp.Or(at[string(s.From[0].Recording)+s.From[0].Action], last)
		}
		l.steps[s.ID] = last
	}
	if dir := os.Getenv("PORTAL_DIR"); dir != "" {
		file, _ := procedure.Write(p)
		_ = os.WriteFile(filepath.Join(dir, w.Name+".yaml"), []byte(file), 0o600)
	}
	for _, q := range p.Parameters {
		if !slices.Contains(w.Parameters, q.Name) {
			l.cannot = fmt.Sprintf("%s with examples %q is no parameter of the work", q.Name, q.Examples)
			return l
		}
	}
	if status, answer := o.ask("POST", "/api/procedures", map[string]any{"procedure": p}); status != http.StatusCreated {
		t.Fatalf("%s cannot be saved: %s", w.Name, answer)
	}
	return l
}

// renamed is a procedure whose parameters are called as those of the work that had their values.
func renamed(t *testing.T, p human.Procedure, w portal.Work, taught []map[string]string) (again human.Procedure) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range p.Parameters {
		for _, name := range w.Parameters {
			if slices.Equal(q.Examples, []string{taught[0][name], taught[1][name]}) || name == "file" && slices.Equal(q.Examples, []string{filepath.Base(taught[0][name]), filepath.Base(taught[1][name])}) {
				text = []byte(strings.ReplaceAll(strings.ReplaceAll(string(text), "{"+q.Name+"}", "{"+name+"}"), `"name":"`+q.Name+`","type"`, `"name":"`+name+`","type"`))
			}
		}
	}
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	return again
}

// asked makes what both recordings had a parameter, as a person does in the editor.
func asked(p human.Procedure, name, value string) human.Procedure {
	for _, s := range p.Steps {
		switch {
		case s.Text == value:
			return procedure.Parameterize(p, s.ID, "text", name)
		case slices.Contains(s.Options, value):
			return procedure.Parameterize(p, s.ID, "options", name)
		}
	}
	return p
}

// columns are those that a table of one kind of records would have, in the words of a query: the fields that there are, and which a record has.
func (o *office) columns(kind string) string {
	var list sql.NullString
	if err := o.db.QueryRow(`SELECT group_concat(DISTINCT 'fields->>''' || key || '''') FROM records, json_each(fields) WHERE kind = ?`, kind).Scan(&list); err != nil || !list.Valid {
		return "id, fields"
	}
	return "id, (SELECT group_concat(key) FROM json_each(fields)), " + list.String
}

// effects are what a person says must be true after a work: the new row, one of its kind, and nothing else.
func (o *office) effects(w portal.Work) []human.ProcedureEffect {
	rows := func(title, where string, count int, values ...string) human.ProcedureEffect {
		return human.ProcedureEffect{Is: "sql", Title: title, Path: o.base, Query: "SELECT id FROM records r WHERE " + where, Values: values, Fresh: true, Count: &count, Within: 5}
	}
	kind, count, has := "", new(1), []string(nil) // what of that kind is new, or gone
	var all []human.ProcedureEffect
	row := func(of string, more string, names ...string) {
		kind = of
		where, values := "kind = '"+of+"'", []string{}
		for _, name := range names {
			where += " AND fields->>'" + name + "' = ?"
			values = append(values, "{"+name+"}")
		}
		has = values
		all = append(all, rows("a new "+of, where+more, 1, values...))
	}
	// numbered says that what the page called the new one is one that is new. Its sentence is what the portal says of a record.
	numbered := func(output string) human.ProcedureEffect {
		e := rows("the "+kind+" has the number", "kind = '"+kind+"'", 1)
		e.Query, e.Has = "SELECT id, 'Filed as ' || id, 'Payment ' || id || ' booked' FROM records r WHERE kind = '"+kind+"'", []string{output}
		return e
	}
	switch w.Name {
	case portal.PlaceOrder:
		row("order", "", "customer", "product", "quantity", "delivery")
		all = append(all, numbered("{number}"))
	case portal.ChangeAddress:
		kind, count, has = "customer", nil, []string{"{customer}", "{street}", "{city}"}
		all = append(all, rows("the address", "kind = 'customer' AND fields->>'name' = ? AND fields->>'street' = ? AND fields->>'city' = ?", 1, "{customer}", "{street}", "{city}"))
	case portal.SendReminder:
		row("mail", " AND EXISTS (SELECT 1 FROM records c WHERE c.kind = 'customer' AND c.fields->>'mail' = r.fields->>'to')", "message")
		all = append(all, human.ProcedureEffect{Is: "mail", Title: "the reminder", Path: o.maildir, Has: []string{"{message}"}, Fresh: true, Count: new(1), Within: 5})
		all[0].Query = strings.Replace(all[0].Query, "c.kind = 'customer'", "c.kind = 'customer' AND c.fields->>'name' = ?", 1)
		all[0].Values = append(all[0].Values, "{customer}")
	case portal.DeleteDraft:
		kind, count, has = "draft", new(-1), []string{"{draft}"}
		all = append(all, rows("the draft is gone", "kind = 'draft' AND fields->>'title' = ?", -1, "{draft}"))
	case portal.UploadDocument:
		row("document", "", "title", "kind")
		all = append(all, numbered("{number}"))
	case portal.BookPayment:
		row("payment", "", "invoice", "amount", "paid_on", "method")
		all = append(all, numbered("{number}"))
	case portal.ExportInvoice:
		kind = "export"
		all = append(all, rows("the export", "kind = 'export' AND EXISTS (SELECT 1 FROM records i WHERE i.kind = 'invoice' AND i.id = r.fields->>'invoice' AND i.fields->>'customer' = ? AND i.fields->>'month' = ?)", 1, "{customer}", "{month}"),
			human.ProcedureEffect{Is: "file", Title: "the whole PDF of the customer and the month", Path: filepath.Join(o.folder, "downloads", "*.pdf"), Has: []string{"({customer})", "({month})", "%%EOF"}, Fresh: true, Count: new(1), Within: 5})
	case portal.MonthTotal:
		return []human.ProcedureEffect{{Is: "http", Title: "the ledger has the total", URL: o.server.URL + "/ledger/invoice?customer={customer}&month={month}", Has: []string{`"total":"{total}"`}, Within: 5}}
	}
	same := rows("no other "+kind+" is new, changed or gone", "kind = '"+kind+"'", 1, has...)
	same.Has, same.Values, same.Count, same.Only = same.Values, nil, count, true
	others := rows("nothing else is", "kind <> '"+kind+"'", 0)
	same.Query = strings.Replace(same.Query, "SELECT id", "SELECT "+o.columns(kind), 1)
	others.Query = strings.Replace(others.Query, "SELECT id", "SELECT id, fields", 1)
	return append(all, same, others)
}

// notTaught is the verdict where a work cannot be made a procedure that has its parameters and no others.
const notTaught portal.Verdict = "not taught"

// A reading is how one run ended.
type reading struct {
	work, change, group string
	verdict             portal.Verdict
	why, stopped        string
	lie, confirmed      bool
	perStep             time.Duration
}

// tries has an agent ask for a procedure with new values, an operator run it, and judges what came of it.
func (o *office) tries(t *testing.T, l lesson, change string) (got reading) {
	t.Helper()
	values := l.Values(o.seed, 2)
	s, closes := o.hosts(t, change, values)
	defer closes()
	given := maps.Clone(values)
	if content, has := given["file"]; has {
		given["file"] = o.document(t, 2, content)
	}
	var asked procedure.Asked
	o.call("POST", "/api/procedures/"+l.procedure+"/runs", map[string]any{"parameters": given}, &asked, o.key)
	path := "/api/operations/" + string(asked.Operation) + "/procedure"
	var r human.RunOfProcedure
	o.call("POST", path, map[string]any{}, &r)
	for !r.State.Over() && r.State != human.Halted && r.State != human.HeldUp {
		<-time.After(50 * time.Millisecond)
		o.call("GET", path, nil, &r)
	}
	<-time.After(300 * time.Millisecond) // what a page sends a second time comes now
	s.Settle()
	outcome := portal.Outcome{Outputs: maps.Clone(r.Outputs)}
	if r.State == human.Succeeded {
		if files, _ := filepath.Glob(filepath.Join(o.folder, "downloads", "*.pdf")); len(files) == 1 && outcome.Outputs != nil {
			data, _ := os.ReadFile(files[0])
			outcome.Outputs["file"] = string(data)
		}
		got.perStep = r.EndedAt.Sub(r.StartedAt) / time.Duration(len(r.Steps))
	} else {
		outcome.Stopped = portal.AtEffect
		if at := r.At(); at < len(r.Steps) {
			outcome.Stopped = l.steps[r.Steps[at].Step]
		}
	}
	got.work, got.change, got.stopped = l.Name, change, outcome.Stopped
	got.confirmed = !slices.ContainsFunc(r.Effects, func(e human.RunEffect) bool { return e.State != "confirmed" })
	got.verdict, got.why = portal.Judge(s, l.Work, values, outcome)
	if r.Stop != nil {
		got.why += " [" + r.Stop.Step + " expected " + r.Stop.Expected.Text + "; found " + r.Stop.Found.Text + "]"
	} else if r.Why != nil {
		got.why += " [" + r.Why.Text + "]"
	}
	if !r.State.Over() {
		o.call("POST", path+"/orders", procedure.RunOrder{Do: "end"}, &r)
		eventually(t, "the end of the run", func() bool {
			o.call("GET", path, nil, &r)
			return r.State.Over()
		})
		o.call("POST", "/api/human/complete", map[string]any{"operation_id": asked.Operation, "summary": "done"}, nil)
	}
	return got
}

// beginnings are the first changes of their groups.
var beginnings = map[string]string{
	"caps": "looks", "ids-renamed": "identifiers", "words-synonyms": "words", "nav-on-top": "places", "cookie-wall": "dialogs", "slow-pages": "time",
	"required-field": "forms", "record-missing": "data", "decoy-hidden": "decoys",
}

// A trial is a work on a portal with a change; "" is none.
type trial struct{ work, change, group string }

// trials are all works with all changes of a round that touch them, without a change in the first one, and with all its lies that touch them.
func trials(round int) (changes, lies []trial) {
	touches := func(c portal.Change, work string) bool {
		_, all := c.Touches[""]
		_, one := c.Touches[work]
		return c.Round == round && (all || one)
	}
	for _, w := range portal.Works {
		group := fmt.Sprintf("round %d", round)
		if round == 0 {
			changes = append(changes, trial{w.Name, "", "none"})
		}
		for _, c := range portal.Changes {
			if round == 0 {
				group = cmp.Or(beginnings[c.Name], group)
			}
			if touches(c, w.Name) {
				changes = append(changes, trial{w.Name, c.Name, group})
			}
		}
		for _, c := range portal.Lies {
			if touches(c, w.Name) {
				lies = append(lies, trial{w.Name, c.Name, "lies"})
			}
		}
	}
	return changes, lies
}

// chosen are the trials of a seed: so many of the changes and of the lies of a round; with works, of so many works alone; with only, those
// that it names as WORK/CHANGE alone.
func chosen(seed uint64, round, works, changes, lies int, only string) (all []trial) {
	r := rand.New(rand.NewPCG(seed, 21))
	order := r.Perm(len(portal.Works))
	c, l := trials(round)
	for i, list := range [][]trial{c, l} {
		if only != "" {
			all = append(all, slices.DeleteFunc(list, func(t trial) bool { return !slices.Contains(strings.Split(only, ","), t.work+"/"+t.change) })...)
			continue
		}
		list = slices.DeleteFunc(list, func(t trial) bool {
			return slices.IndexFunc(order, func(i int) bool { return portal.Works[i].Name == t.work }) >= works
		})
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		all = append(all, list[:min([]int{changes, lies}[i], len(list))]...)
	}
	return all
}

// TestBrowserPortal teaches Deskbell works on a billing portal, and has it do them on portals that are another on purpose. PORTAL_CHANGES and
// PORTAL_LIES say how many of the changes and lies of PORTAL_ROUND are tried, chosen by PORTAL_SEED; PORTAL_ONLY names some of them as
// WORK/CHANGE with commas between; PORTAL_REPORT is a file that the figures go to. Without, it is a small sample.
func TestBrowserPortal(t *testing.T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	seed, changes, lies, works := uint64(number("PORTAL_SEED", 4)), number("PORTAL_CHANGES", 3), number("PORTAL_LIES", 3), number("PORTAL_WORKS", 2)
	byWork := map[string][]trial{}
	for _, one := range chosen(seed, number("PORTAL_ROUND", 0), works, changes, lies, os.Getenv("PORTAL_ONLY")) {
		byWork[one.work] = append(byWork[one.work], one)
	}
	idle := make(chan *office, 2)
	for range min(cap(idle), len(byWork)) {
		idle <- newOffice(t, seed)
	}
	var mu sync.Mutex
	var all []reading
	t.Run("works", func(t *testing.T) {
		for name, list := range byWork {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				own := <-idle
				t.Cleanup(func() { idle <- own })
				w, _ := portal.WorkNamed(name)
				l := own.at(t).learns(t, w)
				for _, one := range list {
					t.Run(cmp.Or(one.change, "none"), func(t *testing.T) {
						got := reading{work: name, change: one.change, verdict: notTaught, why: l.cannot, stopped: portal.Anywhere}
						if l.cannot == "" {
							got = own.at(t).tries(t, l, one.change)
						}
						got.group, got.lie = one.group, one.group == "lies"
						t.Logf("%s: %s (stopped at %q) %s", got.verdict, one.change, got.stopped, got.why)
						if bad := []portal.Verdict{portal.SilentWrong, portal.Guessed, portal.StoppedHarmed, notTaught}; slices.Contains(bad, got.verdict) && os.Getenv("PORTAL_REPORT") == "" {
							t.Errorf("%s with %s: %s: %s", name, one.change, got.verdict, got.why)
						}
						mu.Lock()
						defer mu.Unlock()
						all = append(all, got)
						if path := os.Getenv("PORTAL_REPORT"); path != "" {
							if err := os.WriteFile(path, []byte(table(seed, all)), 0o600); err != nil {
								t.Fatal(err)
							}
						}
					})
				}
			})
		}
	})
}

// table is what readings come to, in Markdown.
func table(seed uint64, all []reading) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Seed %d, %d runs of %d works.\n\n", seed, len(all), len(portal.Works))
	verdicts := []portal.Verdict{portal.Right, portal.StoppedWell, portal.Unneeded, portal.StoppedLate, portal.StoppedHarmed, portal.SilentWrong, portal.Guessed, notTaught}
	b.WriteString("| group | runs | right | stopped | unneeded stop | stopped late | harm | silent wrong | guessed | not taught | effects confirmed | a step |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, group := range []string{"none", "looks", "identifiers", "words", "places", "dialogs", "time", "forms", "data", "decoys", "round 1", "round 2", "round 3", "round 4", "round 5", "lies", ""} {
		count, runs, done, confirmed := map[portal.Verdict]int{}, 0, 0, 0
		var took []time.Duration
		for _, r := range all {
			if group != "" && r.group != group {
				continue
			}
			runs++
			count[r.verdict]++
			if r.stopped == "" {
				done++
				if r.confirmed {
					confirmed++
				}
				took = append(took, r.perStep)
			}
		}
		fmt.Fprintf(&b, "| %s | %d ", cmp.Or(group, "all"), runs)
		for _, v := range verdicts {
			fmt.Fprintf(&b, "| %d ", count[v])
		}
		middle := "–"
		if slices.Sort(took); len(took) > 0 {
			middle = fmt.Sprintf("%d ms", took[len(took)/2].Milliseconds())
		}
		fmt.Fprintf(&b, "| %d of %d | %s |\n", confirmed, done, middle)
	}
	b.WriteString("\n| work | change | end | at |\n|---|---|---|---|\n")
	slices.SortFunc(all, func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.verdict, b.verdict), cmp.Compare(a.change, b.change), cmp.Compare(a.work, b.work))
	})
	for _, r := range all {
		if !r.verdict.Good() {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.work, r.change, r.verdict, cmp.Or(r.stopped, "the end"))
		}
	}
	return b.String()
}

// at is the same office for a subtest.
func (o *office) at(t *testing.T) *office {
	again := &office{study: o.in(t), seed: o.seed, server: o.server, now: o.now, db: o.db, base: o.base, maildir: o.maildir, stored: o.stored}
	return again
}
