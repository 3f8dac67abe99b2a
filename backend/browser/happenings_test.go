package browser

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/human"
)

func TestDialogsAndTheirAnswers(t *testing.T) {
	site := serve(t, map[string]string{
		"/": `<title>Asks</title><button id=alert onclick="alert('Saved')">alert</button> <button id=confirm onclick="confirm('Delete it?')">confirm</button>
			<button id=prompt onclick="prompt('Name?', 'none')">prompt</button> <iframe src="http://b.test:PORT/in" style="width:200px;height:80px"></iframe>`,
		"/in": `<button onclick="alert('From within')">inner</button>`,
	}, nil)
	r := run(t, headless(t), human.BrowserOptions{URL: strings.Replace(site.URL, "127.0.0.1", "a.test", 1) + "/", Profile: "throwaway"})
	tab := r.at("/")
	for _, tt := range []struct {
		click  string
		inside string
		answer object
		want   human.Dialog
	}{
		{"#alert", "", object{"accept": true}, human.Dialog{Kind: "alert", Message: "Saved", Accepted: true}},
		{"#confirm", "", object{"accept": false}, human.Dialog{Kind: "confirm", Message: "Delete it?"}},
		{"#prompt", "", object{"accept": true, "promptText": "Ada"}, human.Dialog{Kind: "prompt", Message: "Name?", Accepted: true, Input: "Ada"}},
		{"button", "/in", object{"accept": true}, human.Dialog{Kind: "alert", Message: "From within", Accepted: true}},
	} {
		in := r.top(tab)
		if tt.inside != "" {
			in = r.frame(tab, tt.inside)
		}
		r.click(tab, in, tt.click)
		r.until("the dialog is answered", func() bool { // headless, no one else does
			return tab.conn.call(context.Background(), tab.session, "Page.handleJavaScriptDialog", tt.answer, nil) == nil
		})
		e := r.wait(human.PageDialog, func(e human.RecordedEvent) bool { return e.Dialog.Message == tt.want.Message })
		if *e.Dialog != tt.want || e.Cause == 0 {
			t.Errorf("the dialog is %+v, caused by %d; want %+v", e.Dialog, e.Cause, tt.want)
		}
	}
	n := 0
	for _, e := range r.all() {
		if e.Type == human.PageDialog {
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d dialogs are reported, want 4:\n%s", n, describe(r.all()))
	}
}

func TestDownloadsHaveTheirNameSizeAndHash(t *testing.T) {
	const content = "the file\n"
	site := serve(t, map[string]string{"/": `<title>Files</title><a href="/file?token=abc" download>file</a> <a id=stuck href="/stuck" download>stuck</a>`}, map[string]http.HandlerFunc{
		"/file": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
			_, _ = w.Write([]byte(content))
		},
		"/stuck": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Disposition", `attachment; filename="stuck.bin"`)
			w.Header().Set("Content-Length", "1000000")
			_, _ = w.Write([]byte(content))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	})
	o := headless(t)
	o.ProfileDir = t.TempDir()
	folder := t.TempDir()
	preferences := `{"download": {"default_directory": "` + folder + `", "prompt_for_download": false}, "kept": {"number": 12345678901234567}}`
	if err := os.MkdirAll(filepath.Join(o.ProfileDir, "Default"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.ProfileDir, "Default", "Preferences"), []byte(preferences), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, o, human.BrowserOptions{URL: site.URL + "/"})
	tab := r.at("/")
	r.click(tab, r.top(tab), "a")
	e := r.wait(human.PageDownload, nil)
	sum := sha256.Sum256([]byte(content))
	want := human.Transfer{Name: "report.csv", Size: int64(len(content)), Type: "text/csv; charset=utf-8", URL: site.URL + "/file?token=•••", Hash: hex.EncodeToString(sum[:]), State: "completed"}
	if len(e.Transfers) != 1 || e.Transfers[0] != want || e.Cause == 0 || e.Page.URL != site.URL+"/" {
		t.Errorf("the download is %+v of %+v, caused by %d; want %+v", e.Transfers, e.Page, e.Cause, want)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "report.csv")); err != nil || string(got) != content {
		t.Errorf("where the person has it there is %q, %v", got, err)
	}
}

func TestPrivateSitesLeaveOnlyAGap(t *testing.T) {
	site := serve(t, map[string]string{
		"/":        `<title>Open</title><a id=go href="http://bank.test:PORT/account?holder=ada">bank</a><iframe src="http://bank.test:PORT/frame?holder=ada" style="width:200px;height:80px"></iframe>`,
		"/account": `<title>Account of Ada</title><button onclick="window.open('').document.body.innerHTML = '<button>Ada pays</button>'">pay</button><a id=back href="http://a.test:PORT/again">back</a>`,
		"/frame":   `<button>pay here</button>`,
		"/again":   `<title>Again</title><button>again</button>`,
	}, nil)
	o := headless(t)
	o.Exclude = []string{"*.test:1/nothing", "bank.test"}
	r := run(t, o, human.BrowserOptions{URL: strings.Replace(site.URL, "127.0.0.1", "a.test", 1) + "/", Profile: "throwaway"})
	tab := r.at("/")
	r.click(tab, r.frame(tab, "/frame?holder=ada"), "button")
	r.click(tab, r.top(tab), "#go")
	tab = r.at("/account?holder=ada")
	if !tab.private() || tab.page().URL != "" || tab.page().Title != "" {
		t.Errorf("a private page is %+v", tab.page())
	}
	r.click(tab, r.top(tab), "button")
	popup := r.at("about:blank")
	r.until("the popup is written", func() bool {
		var text string
		r.js(popup, r.top(popup), "document.body.textContent", &text)
		return text == "Ada pays"
	})
	r.click(popup, r.top(popup), "button")
	r.do(popup, "Page.close", nil)
	r.click(tab, r.top(tab), "#back")
	tab = r.at("/again")
	r.click(tab, r.top(tab), "button")
	r.wait(human.PageClick, func(e human.RecordedEvent) bool { return e.Element.Name == "again" })
	gaps := 0
	for _, e := range r.all() {
		if e.Type == human.GapOpened && e.Gap.Reason == "excluded" && e.Gap.To > e.Gap.From {
			gaps++
		}
	}
	if gaps != 3 {
		t.Errorf("%d gaps, want one each of the frame, the page and its popup", gaps)
	}
	all := describe(r.all())
	for _, secret := range []string{"bank.test:", "Ada", "ada", "pay"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q of a private site was reported:\n%s", secret, all)
		}
	}
}

func TestMessagesThatAreMissingAreTold(t *testing.T) {
	site := serve(t, map[string]string{"/": `<button>Press</button>`}, nil)
	r := run(t, headless(t), human.BrowserOptions{URL: site.URL + "/", Profile: "throwaway"})
	tab := r.at("/")
	r.click(tab, r.top(tab), "button")
	r.wait(human.PageClick, nil)
	// As if the script had counted three more that never came.
	r.js(tab, r.top(tab), bindingName+`(JSON.stringify({v: 1, n: 1000, ts: performance.now(), origin: performance.timeOrigin, href: location.href, events: []}))`, nil)
	e := r.wait(human.GapOpened, nil)
	if e.Gap.Reason != "lost" || e.Gap.Count < 990 || e.Gap.Source != human.BrowserSource || e.Gap.To < e.Gap.From {
		t.Errorf("the gap is %+v", e.Gap)
	}
	r.js(tab, r.top(tab), bindingName+`('{"v":')`, nil)
	r.wait(human.GapOpened, func(e human.RecordedEvent) bool { return e.Gap.Count == 1 })
}

func TestTypingIsToldWhenTheRecordingEnds(t *testing.T) {
	site := serve(t, map[string]string{"/": `<input autofocus aria-label=Name>`}, nil)
	r := run(t, headless(t), human.BrowserOptions{URL: site.URL + "/", Profile: "throwaway"})
	tab := r.at("/")
	r.click(tab, r.top(tab), "input")
	r.do(tab, "Input.dispatchKeyEvent", object{"type": "keyDown", "key": "a", "text": "a", "windowsVirtualKeyCode": 65})
	if _, err := r.end(); err != nil {
		t.Fatal(err)
	}
	r.wait(human.PageInput, func(e human.RecordedEvent) bool { return e.Text == "a" })
}
