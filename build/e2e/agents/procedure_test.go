//go:build agents

package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/chromedp/chromedp/remote"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/backend/transport/client"
	"deskbell/build/e2e/desktoptest"
	"deskbell/build/procedures/portal"
)

const portalSeed = 4

// A bureau is a Deskbell whose person works on the billing portal.
type bureau struct {
	*fixture
	url     string
	now     atomic.Pointer[portal.Server]
	hold    atomic.Pointer[regexp.Regexp] // the next request for such a path gets no answer and does nothing
	held    atomic.Int64                  // how many did not
	browser string                        // a folder: downloads, and profile, which names the browser's
	work    portal.Work
}

func newBureau(t *testing.T) *bureau {
	t.Helper()
	b := &bureau{fixture: newFixture(t)}
	b.served = []string{"DISPLAY=" + desktoptest.Start(t, desktoptest.Options{Bare: true}).Display, "DESKBELL_SECRET_PASSWORD=" + portal.Password}
	b.work, _ = portal.WorkNamed(portal.ExportInvoice)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := b.hold.Load(); path != nil && path.MatchString(r.URL.Path) {
			b.held.Add(1)
			<-r.Context().Done()
			return
		}
		b.now.Load().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.url, b.browser = server.URL, filepath.Join(b.home, "browser")
	if err := os.MkdirAll(filepath.Join(b.browser, "downloads"), 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(b.browser, "chromium")
	b.write(program, fmt.Sprintf(`#!/bin/sh
for flag; do
	case $flag in --user-data-dir=*)
		mkdir -p "${flag#*=}/Default"
		echo '{"download":{"default_directory":"%[1]s/downloads","prompt_for_download":false}}' > "${flag#*=}/Default/Preferences"
		echo "${flag#*=}" > "%[1]s/profile" ;;
	esac
done
exec chromium --remote-debugging-port=0 --no-sandbox --lang=en-US --disable-gpu --headless=new --window-size=1280,900 "$@"
`, b.browser))
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	b.write(filepath.Join(b.data, "config.toml"), fmt.Sprintf("[recording.browser]\npath = %q\nprofile = \"throwaway\"\n", program))
	return b
}

// opens has the portal as it is before any work, and the nth values of a person.
func (b *bureau) opens(n int) map[string]string {
	b.t.Helper()
	values := b.work.Values(portalSeed, n)
	s, err := portal.New(portal.Options{Seed: portalSeed, Values: values})
	if err != nil {
		b.t.Fatal(err)
	}
	b.now.Store(s)
	return values
}

// A person sits before the browser that Deskbell opened.
type person struct{ *console }

func (b *bureau) person() *person {
	b.t.Helper()
	var port, path string
	b.wait("the browser", func() bool {
		profile, err := os.ReadFile(filepath.Join(b.browser, "profile"))
		if err != nil {
			return false
		}
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(profile)), "DevToolsActivePort"))
		port, path, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
		return err == nil && path != ""
	})
	if err := os.Remove(filepath.Join(b.browser, "profile")); err != nil { // the next one is another
		b.t.Fatal(err)
	}
	var id target.ID
	b.wait("a page of the portal", func() bool {
		var pages []struct {
			ID  target.ID
			URL string
		}
		r, err := http.Get("http://127.0.0.1:" + port + "/json/list")
		if err != nil {
			return false
		}
		defer func() { _ = r.Body.Close() }() // it was read
		if err := json.NewDecoder(r.Body).Decode(&pages); err != nil {
			b.t.Fatal(err)
		}
		for _, p := range pages {
			if strings.HasPrefix(p.URL, b.url) {
				id = p.ID
			}
		}
		return id != ""
	})
	all, leave := remote.NewAllocator(context.Background(), "ws://127.0.0.1:"+port+path, remote.NoModifyURL)
	tab, end := chromedp.NewContext(all, chromedp.WithTargetID(id), remote.WithKeepOpen())
	b.t.Cleanup(func() { end(); leave() })
	// A page that no screen shows has the focus only so. It may just be loading another.
	b.wait("the page's focus", func() bool {
		_, err := chromedp.Run(tab, func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
			_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
			return chromedp.Void{}, err
		})
		return err == nil
	})
	return &person{&console{b.fixture, tab}}
}

// clicks moves the pointer to an element and clicks there.
func (p *person) clicks(at string) {
	p.d.t.Helper()
	p.does("click "+at, chromedp.WaitVisible(at), func(ctx context.Context, _ *chromedp.Target) (done chromedp.Void, err error) {
		box, err := chromedp.Run(ctx, chromedp.Dimensions(at))
		if err != nil {
			return done, err
		}
		x, y := (box.Content[0]+box.Content[4])/2, (box.Content[1]+box.Content[5])/2
		return done, chromedp.Do(ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y), chromedp.MouseClickXY(x, y))
	})
}

func (p *person) signsIn() {
	p.d.t.Helper()
	p.does("sign in", chromedp.Click("#user"), chromedp.SendKeys("#user", portal.User), chromedp.Click("#password"), chromedp.SendKeys("#password", portal.Password),
		chromedp.Click("#sign-in"), chromedp.WaitVisible("#nav-invoices"))
}

func (p *person) opensInvoice(values map[string]string) {
	p.d.t.Helper()
	month, err := time.Parse("2006-01", values["month"])
	if err != nil {
		p.d.t.Fatal(err)
	}
	p.does("open the invoice", chromedp.Click("#nav-invoices"), chromedp.WaitVisible("#invoice-filter"),
		chromedp.Click("#filter-customer"), chromedp.SendKeys("#filter-customer", values["customer"]),
		chromedp.SendKeys("#month", month.Format("Jan")+kb.ArrowRight+month.Format("2006")), chromedp.Click("#show"),
		// The page that was asked for says for what; the one before it may have the row, too.
		chromedp.Click(fmt.Sprintf(`//main[.//input[@id="filter-customer"][@value=%[1]q]]//tr[td[.=%[1]q]][td[.=%[2]q]]//a[.="Open"]`, values["customer"], values["month"])), chromedp.WaitVisible("#amount"))
}

// shows has a person export an invoice while it is recorded.
func (b *bureau) shows(agent *client.Client, n int) human.RecordingID {
	b.t.Helper()
	values := b.opens(n)
	op, _, err := agent.Invoke(b.t.Context(), client.Ring{Kind: human.Browser, Description: "Export the invoice", Details: json.RawMessage(fmt.Sprintf(`{"url": %q}`, b.url+"/login"))})
	if err != nil {
		b.t.Fatal(err)
	}
	b.call("POST", "/api/human/claim", object{"operation_id": op.ID}, nil)
	var rec human.Recording
	b.call("POST", "/api/recordings", object{"operation_id": op.ID, "options": object{"browser": object{}}}, &rec)
	p := b.person()
	p.signsIn()
	p.opensInvoice(values)
	b.call("POST", "/api/recordings/"+string(rec.ID)+"/pick", human.PickRequest{Field: "amount", Take: human.TakeElement}, nil)
	p.clicks("#amount")
	b.wait("the pick", func() bool {
		var all struct{ Actions []human.Action }
		b.call("GET", "/api/recordings/"+string(rec.ID)+"/actions", nil, &all)
		return slices.ContainsFunc(all.Actions, func(a human.Action) bool { return a.Type == human.Extract })
	})
	p.does("download", chromedp.Click("#download"))
	b.wait("the export", func() bool { return b.work.Truth(b.now.Load(), values) == nil })
	b.call("POST", "/api/recordings/"+string(rec.ID)+"/stop", nil, &rec)
	b.call("POST", "/api/human/complete", object{"operation_id": op.ID, "summary": "Done."}, nil)
	return rec.ID
}

// taught has a person show the work twice, and saves what they confirm of it.
func (b *bureau) taught() {
	b.t.Helper()
	var key struct{ Key string }
	b.call("POST", "/api/agents", object{"name": "clerk"}, &key)
	agent := client.New(b.fixture.url, key.Key)
	defer agent.Close()
	recordings := []human.RecordingID{b.shows(agent, 0), b.shows(agent, 1)}
	var draft procedure.ProcedureDraft
	b.call("POST", "/api/procedure-drafts", object{"recordings": recordings}, &draft)
	p := draft.Procedure
	p.Name = "export_invoice"
	one := 1
	p.Effects = []human.ProcedureEffect{{
		Is: "file", Title: "the whole PDF of the customer and the month", Path: filepath.Join(b.browser, "downloads", "*.pdf"), Has: []string{"({customer})", "({month})", "%%EOF"}, Fresh: true, Count: &one,
	}}
	b.call("POST", "/api/procedures", object{"procedure": p}, nil)
	b.call("PUT", "/api/procedures/export_invoice/agents", object{"agents": []string{"*"}, "pictures": true}, nil)
}

// A moment is when Deskbell is killed: while the site holds back what it was asked for. The person then opens the invoice, as the new browser is
// signed in nowhere, and says what became of that step.
type moment struct {
	holds string // a pattern of the address's path
	word  string // of the button
}

var moments = []moment{
	{`^/invoices/[^/]+$`, "I did this step"},
	{`/pdf$`, "It was not done: do it"},
}

// A person shows a work twice; an agent asks for it with other values, and gets what it came to, though Deskbell is killed meanwhile.
func TestAgentsCallWhatAPersonShowedTwice(t *testing.T) {
	b := newBureau(t)
	b.start()
	b.taught()
	b.server.kill()
	operator := browser(t)
	for i, c := range everyConnected {
		if testing.Short() && c.client != "claude-code" && c.client != "codex" {
			continue
		}
		t.Run(c.client, func(t *testing.T) {
			b.t = t
			b.serves(operator, c, moments[i%len(moments)], b.opens(2+i))
		})
	}
}

// serves has an agent ask for the work with values, and a person confirm it and see to it when Deskbell was killed.
func (b *bureau) serves(operator context.Context, c connected, m moment, values map[string]string) {
	b.t.Helper()
	b.start()
	known := make(chan struct{})
	ask, look := c.ask, c.ask
	ask.Tool, ask.Args = strings.Replace(ask.Tool, "human", "procedure_export_invoice", 1), object{}
	for name, value := range values {
		ask.Args[name] = value
	}
	look.After, look.Args = known, object{"action": "get_evidence", "evidence": []string{"e1", "e2"}, "pictures": true}
	k := c.kind
	prepare := k.prepare
	k.prepare = func(d *fixture, model string) (args, env []string) {
		args, env = prepare(d, model)
		program := args[0]
		if program == "node" {
			program = args[1]
		}
		d.installed(c.program, program)
		d.run(d.bin, "connect", c.client, "--yes")
		return args, env
	}
	a := b.agent(k, ask, look)
	page := b.console(operator)
	op, err := b.operator.Operation(b.t.Context(), b.requested(a).ID)
	if err != nil {
		b.t.Fatal(err)
	}
	var call human.ProcedureCall
	if err := json.Unmarshal(op.Details, &call); err != nil || op.Kind != human.ProcedureRun || op.AgentID != c.client || !maps.Equal(call.Parameters, values) {
		b.t.Fatalf("it is a %s of %s with %s", op.Kind, op.AgentID, op.Details)
	}
	mark := fmt.Sprintf(`//*[@data-id=%q]`, op.ID)
	b.held.Store(0)
	b.hold.Store(regexp.MustCompile(m.holds))
	page.does("let it run", chromedp.Click(mark), page.button("Run"))
	b.wait("the site to hold something back", func() bool { return b.held.Load() > 0 })
	b.server.kill()
	b.hold.Store(nil)
	if err := b.work.Harm(b.now.Load(), values); err != nil || len(a.model.Told()) > 0 {
		b.t.Errorf("when Deskbell was killed: %v; the agent was told %q", err, a.model.Told())
	}

	b.start()
	page = b.console(operator)
	if err := os.Remove(filepath.Join(b.browser, "profile")); err != nil {
		b.t.Fatal(err)
	}
	page.does("take over", chromedp.Click(mark), chromedp.WaitVisible(`//*[@role="alert"][contains(., "This step may have been done.")]`), page.button("Take over"))
	p := b.person()
	p.signsIn()
	p.opensInvoice(values)
	page.does("continue", page.button(m.word))

	outputs := b.work.Expected(b.now.Load(), values)
	a.told(0, string(op.ID), `"status":"completed"`, `"amount":"`+outputs["amount"]+`"`, "1 effects confirmed outside of the page", `"field_sources":{"amount":"e1: picked from `+b.url, `"file":"e2: picked from `)
	if err := b.work.Truth(b.now.Load(), values); err != nil {
		b.t.Error(err)
	}
	var run human.RunOfProcedure
	b.call("GET", "/api/operations/"+string(op.ID)+"/procedure", nil, &run)
	if run.State != human.Succeeded || run.Stops != 1 || run.Effects[0].State != "confirmed" {
		b.t.Errorf("the run is %+v", run)
	}
	look.Args["operation_id"] = string(op.ID)
	close(known)
	a.told(1, `"picked":"`+outputs["amount"]+`"`, `"picture":"image 1: `, `"picture":"image 2: `)
	a.finished()
}

// button clicks one that begins with words, once it can be clicked.
func (c *console) button(words string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(fmt.Sprintf(`//main//button[not(@disabled)][starts-with(normalize-space(.), %q)]`, words))
}
