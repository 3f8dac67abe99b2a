//go:build agents

package agents

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"deskbell/backend/human"
)

// A console is Deskbell's page in a browser, with an operator at its pointer and keys.
type console struct {
	d   *fixture
	tab context.Context
}

// browser starts a browser that ends with its test; the context is for consoles.
func browser(t *testing.T) context.Context {
	t.Helper()
	program := os.Getenv("CHROMIUM")
	for _, path := range []string{"/usr/bin/chromium-headless-shell", "/usr/bin/chromium"} {
		if _, err := os.Stat(path); program == "" && err == nil {
			program = path
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(program), chromedp.Env("LANG=C.UTF-8", "LANGUAGE=en"), // the sandbox is not for root
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900), chromedp.Flag("lang", "en-GB"), chromedp.WSURLReadTimeout(patience))
	all, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeAll := chromedp.NewContext(all)
	t.Cleanup(func() { closeAll(); end() })
	if err := chromedp.Do(ctx); err != nil { // starts it
		t.Fatal(err)
	}
	return ctx
}

// console opens the page, signed in by a link of its own, in a browser.
func (d *fixture) console(browser context.Context) *console {
	d.t.Helper()
	tab, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	d.t.Cleanup(end)
	c := &console{d, tab}
	if err := chromedp.Do(tab, chromedp.EmulateViewport(1280, 900)); err != nil { // opens it
		d.t.Fatal(err)
	}
	var link struct{ Console string }
	d.call("POST", "/api/session/codes", object{}, &link)
	c.does("sign in", chromedp.Navigate(link.Console), chromedp.WaitVisible(chromedp.CSS("nav, main")))
	return c
}

// does has the operator do something, for as long as a busy machine takes.
func (c *console) does(what string, steps ...chromedp.Action[chromedp.Void]) {
	c.d.t.Helper()
	limited, cancel := context.WithTimeout(c.tab, patience)
	defer cancel()
	if err := chromedp.Do(limited, steps...); err != nil {
		page, _ := chromedp.Run(c.tab, chromedp.Evaluate[string]("document.body.innerText + '\\nshown at ' + location.hash")) // without it the test fails all the same
		// Reports are cut from above, so what failed comes last.
		c.d.t.Fatalf("%s\n%s: %v", page, what, err)
	}
}

// goes opens a page of the console.
func (c *console) goes(place string) {
	c.d.t.Helper()
	if _, err := chromedp.Run(c.tab, chromedp.Evaluate[any](fmt.Sprintf("void (location.hash = %q)", "#/"+place))); err != nil {
		c.d.t.Fatal(err)
	}
}

// clicks clicks a button of the client's side of the page, once it can be clicked.
func (c *console) clicks(client, words string) {
	c.d.t.Helper()
	c.does(words+" "+client,
		chromedp.Click(fmt.Sprintf(`//*[@data-client=%q]//button[contains(@class, "open")]`, client)),
		chromedp.Click(fmt.Sprintf(`//section[.//h2[@id="client-title"]]/footer//button[not(@disabled)][starts-with(normalize-space(.), %q)]`, words)))
}

// stands waits until a client's row says how it stands.
func (c *console) stands(client, words string) {
	c.d.t.Helper()
	c.does(client+" to be "+words, chromedp.WaitVisible(fmt.Sprintf(`//*[@data-client=%q]//*[contains(@class, "state")]/*[normalize-space(.)=%q]`, client, words)))
}

// answers opens a request from the inbox, writes the answer and sends it.
func (c *console) answers(op human.OperationID, words string) {
	c.d.t.Helper()
	c.goes("inbox")
	c.does("answer",
		chromedp.Click(fmt.Sprintf(`//*[@data-id=%q]`, op)),
		chromedp.WaitVisible(`//*[contains(@class, "arming") and @aria-hidden="true"]`, chromedp.AtLeast(0)),
		chromedp.SendKeys(`//main//textarea[not(ancestor::aside)]`, words),
		chromedp.Click(`//main//button[not(@disabled)][starts-with(normalize-space(.), "Send answer")]`))
}
