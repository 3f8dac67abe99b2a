//go:build window

package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"

	"deskbell/backend/app"
	"deskbell/backend/store/settings"
	"deskbell/build/e2e/desktoptest"
)

// phonePIN is the operator's.
const phonePIN = "quiet harbor 7"

const clearing = "Delete build/, .cache/ and old fixtures"

// A phone with an address of its own, in a network of its own, pairs by the QR code, reads a request and answers it. What is dangerous
// can only be denied there until a PIN is set at the computer, and then takes that PIN. It is unpaired at the computer, and by itself:
// at once the page says so, and shows and does nothing any more. This machine itself does not come in. It runs beside no other: a
// browser gives up what it loads when the machine's networks change.
//
// DESKBELL_PICTURES names a folder for the pictures of the documents, DESKBELL_PHONE_LOOKS one for all; both take Chinese, too.
func TestPhone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes networks")
	}
	const host, address = "10.213.7.1", "10.213.7.2"
	network := emptyNetwork(t)
	wire(t, network, host, address)
	languages := []string{"en"}
	if os.Getenv("DESKBELL_PICTURES")+os.Getenv("DESKBELL_PHONE_LOOKS") != "" {
		languages = append(languages, "zh-CN")
	}
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			c := atComputer(t, host)
			p := newPhone(t, network, c.phones.SPKI, language)
			low := c.asks("Deploy the site to staging?", "make deploy", "low")
			high := c.asks("Delete the build cache?", "rm -rf ~/.cache/build", "high")
			critical := c.asks(clearing, "rm -rf build .c\u0430che fixtures/\u202eold", "critical") // one letter is not what it seems, and one turns the text
			open := c.asks("Rotate the signing keys?", "rotate --all", "medium")

			p.pairs(c)
			p.sees("Deploy the site to staging?")
			p.look("inbox")
			var left string
			if err := p.d.evaluate(p.page, "location.hash + document.cookie", &left); err != nil || strings.Contains(left, "pair") || strings.Contains(left, "deskbell") {
				t.Errorf("the page keeps %q, %v", left, err)
			}
			p.do("Page.reload", nil) // its cookie continues; the code is used up
			p.sees("Deploy the site to staging?")
			p.opens("Deploy the site to staging?")
			p.sees("make deploy")
			p.look("low")
			p.press(p.word("approve"))
			c.ends(low, "approve")
			p.look("answered")

			p.withoutPIN(c, high, critical)
			p.withPIN(c, critical)
			p.unpaired(c, open)
			c.comesNotIn()
		})
	}
}

// withoutPIN denies a request of high risk, where nothing proves that the operator is there and nothing else is offered.
func (p *phone) withoutPIN(c *computer, high, critical string) {
	p.t.Helper()
	p.opens(clearing)
	p.sees("rm -rf build")
	p.sees(p.word("phone_unproven"))
	p.look("no-pin")
	p.opens("Delete the build cache?")
	p.sees(p.word("phone_unproven"))
	p.has(p.word("deny_with_reason"), true)
	p.has(p.word("approve"), false)
	p.press(p.word("deny_with_reason"))
	p.sees(p.word("reason_required"))
	p.do("Input.insertText", map[string]any{"text": "Ask again in the evening."})
	p.press(p.word("deny_with_reason"))
	c.ends(high, "deny")
	c.waits(critical)
}

// withPIN approves a request of critical risk with the PIN that is set meanwhile; a wrong one is counted, and approves nothing.
func (p *phone) withPIN(c *computer, critical string) {
	p.t.Helper()
	call(p.t, "PUT", c.url+"/api/stepup/pin", c.token, map[string]string{"pin": phonePIN}, nil)
	p.opens(clearing)
	p.sees("rm -rf build")
	eventually(p.t, "what answers to be armed", func() bool { return p.shows(".decide .btn.risky:not(:disabled)") })
	p.look("request")
	p.press(p.word("approve"))
	p.sees(p.word("proof_title"))
	p.look("pin")
	p.types("#proof-pin", "loud harbor 7")
	p.submits("#proof-pin")
	eventually(p.t, "the wrong PIN to be told", func() bool { return p.shows("dialog [role=alert]") })
	p.look("wrong-pin")
	c.waits(critical)
	var up struct{ Tries struct{ Wrong, Left int } }
	call(p.t, "GET", c.url+"/api/stepup", c.token, nil, &up)
	if up.Tries.Wrong != 1 || up.Tries.Left != 4 {
		p.t.Errorf("the wrong PIN counts as %+v", up.Tries)
	}
	p.types("#proof-pin", phonePIN)
	p.submits("#proof-pin")
	c.ends(critical, "approve")
	p.look("proved")
}

// unpaired ends the phone's session from the computer while something is open on it, pairs it again, and has it unpair itself.
func (p *phone) unpaired(c *computer, open string) {
	p.t.Helper()
	p.opens("Rotate the signing keys?")
	p.sees("rotate --all")
	p.clicks("[aria-label='" + p.word("snooze") + "']")
	eventually(p.t, "a dialog", func() bool { return p.shows("dialog[open]") })
	c.forgets()
	p.isOut()
	p.look("unpaired")
	var status int
	if err := p.d.evaluate(p.page, `fetch('/api/phone/session', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}', credentials: 'same-origin'}).then((r) => r.status)`, &status); err != nil || status != http.StatusUnauthorized {
		p.t.Errorf("its cookie is answered with %d, %v", status, err)
	}
	p.do("Page.reload", nil)
	p.isOut()
	c.waits(open)

	p.pairs(c)
	p.sees("Rotate the signing keys?")
	p.goes("settings")
	p.press(p.word("phone_unpair_this"))
	p.sees(p.word("phone_unpair_text"))
	p.look("unpair")
	p.clicks("dialog[open] .btn.risky, dialog[open] .btn.ink")
	p.isOut()
	if left := c.paired(); len(left) != 0 {
		p.t.Errorf("still paired: %v", left)
	}
	// The code that it came in with lets no one in again.
	p.do("Page.navigate", map[string]any{"url": "about:blank"})
	p.do("Page.navigate", map[string]any{"url": p.link})
	p.sees(p.word("phone_out_title"))
}

// isOut checks that the page says that the phone is unpaired and what to do, and that nothing else is on it, nor to be had.
func (p *phone) isOut() {
	p.t.Helper()
	p.sees(p.word("phone_out_title"))
	p.sees(p.word("phone_out_text"))
	p.sees(map[string]string{"en": "this phone was unpaired", "zh-CN": "此手机已取消配对"}[p.language])
	eventually(p.t, "nothing of requests, and no dialog", func() bool {
		var left bool
		return p.d.evaluate(p.page, `!!document.querySelector('dialog[open], nav, article') || document.body.textContent.includes('rotate --all')`, &left) == nil && !left
	})
}

// A computer is a whole Deskbell with its window's session, and an agent.
type computer struct {
	t                     *testing.T
	app                   *app.App
	url, token, data, key string

	phones struct {
		Addresses []string
		SPKI      string
	}
}

func atComputer(t *testing.T, host string) *computer {
	t.Helper()
	c := &computer{t: t, data: t.TempDir()}
	config, err := settings.Load(settings.Options{Dir: c.data, Flags: map[string]string{"server.addr": "127.0.0.1:0", "phone.addr": host + ":0"}, Env: func() []string { return nil }})
	if err == nil {
		c.app, err = app.Open(t.Context(), app.Config{Dir: c.data, Config: config, Version: "test", InApp: true, Console: os.DirFS("../../frontend/dist"), Errors: io.Discard})
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- c.app.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-c.app.Ready()
	c.url, c.token = c.app.URL(), c.app.WindowToken()
	call(t, "PUT", c.url+"/api/phone", c.token, map[string]bool{"on": true}, &c.phones)
	if len(c.phones.Addresses) != 1 || !strings.HasPrefix(c.phones.Addresses[0], "https://"+host+":") {
		t.Fatalf("phones come in at %v", c.phones.Addresses)
	}
	var made struct{ Key string }
	call(t, "POST", c.url+"/api/agents", c.token, map[string]string{"name": "deployer"}, &made)
	c.key = made.Key
	return c
}

// asks is a request of the agent.
func (c *computer) asks(title, action, risk string) (id string) {
	c.t.Helper()
	var op struct {
		ID string `json:"operation_id"`
	}
	call(c.t, "POST", c.url+"/api/human/invoke", c.key, map[string]any{"action_type": "approve", "description": title, "details": map[string]any{"action": action, "risk_level": risk, "impact": "1,204 files, 214 of them not committed"}}, &op)
	return op.ID
}

type phoneAnswer struct {
	State  string
	Result struct{ Decision string }
}

func (c *computer) operation(id string) (op phoneAnswer) {
	c.t.Helper()
	call(c.t, "GET", c.url+"/api/human/operations/"+id, c.token, nil, &op)
	return op
}

func (c *computer) ends(id, decision string) {
	c.t.Helper()
	eventually(c.t, "the answer "+decision, func() bool { op := c.operation(id); return op.State == "completed" && op.Result.Decision == decision })
}

func (c *computer) waits(id string) {
	c.t.Helper()
	if op := c.operation(id); op.State == "completed" {
		c.t.Fatalf("it was answered: %+v", op)
	}
}

// paired are the ids of paired phones.
func (c *computer) paired() (ids []string) {
	c.t.Helper()
	var st struct{ Devices []struct{ ID string } }
	call(c.t, "GET", c.url+"/api/phone", c.token, nil, &st)
	for _, d := range st.Devices {
		ids = append(ids, d.ID)
	}
	return ids
}

// forgets unpairs the phone by the command line.
func (c *computer) forgets() {
	c.t.Helper()
	ids := c.paired()
	if len(ids) != 1 {
		c.t.Fatalf("paired are %v", ids)
	}
	code, _, _ := c.app.Invite()
	path, err := filepath.Abs("../bin/deskbell")
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(path, "phone", "forget", ids[0], "--data", c.data, "--code", code)
	cmd.Env = append(os.Environ(), "HOME="+c.t.TempDir())
	if said, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(said), "is unpaired") {
		c.t.Fatalf("%v\n%s", err, said)
	}
}

// comesNotIn checks that a program of this machine that has found a code, or reads the data folder, is not answered.
func (c *computer) comesNotIn() {
	c.t.Helper()
	if conn, err := net.DialTimeout("tcp", strings.TrimPrefix(c.phones.Addresses[0], "https://"), desktoptest.Patience); err == nil {
		_ = conn.SetDeadline(time.Now().Add(desktoptest.Patience))
		_, _ = conn.Write([]byte{22, 3, 1, 0, 1, 0}) // as TLS begins
		if n, err := conn.Read(make([]byte, 1)); n > 0 {
			c.t.Errorf("it answers this machine: %v", err)
		}
		_ = conn.Close()
	}
	for _, file := range []string{"phone.pem", "phones.json", "phones.key"} {
		if info, err := os.Stat(filepath.Join(c.data, file)); err != nil || info.Mode().Perm() != 0o600 {
			c.t.Errorf("%s: %v, %v", file, info, err)
		}
	}
}

// pairing is a QR code that the computer shows. Once a PIN is set that takes it.
func (c *computer) pairing() (p struct{ URL, SVG string }) {
	c.t.Helper()
	at := c.url + "/api/phone/pairing"
	status, said := send(c.t, "POST", at, c.token, "", struct{}{})
	var asked struct{ Proof struct{ Challenge string } }
	if status == http.StatusForbidden && json.Unmarshal(said, &asked) == nil {
		call(c.t, "POST", c.url+"/api/stepup", c.token, map[string]string{"challenge": asked.Proof.Challenge, "means": "pin", "pin": phonePIN}, nil)
		status, said = send(c.t, "POST", at, c.token, asked.Proof.Challenge, struct{}{})
	}
	if err := json.Unmarshal(said, &p); err != nil || status >= 300 {
		c.t.Fatalf("%d %s, %v", status, said, err)
	}
	return p
}

// call makes a call that has to succeed.
func call(t *testing.T, method, url, token string, body, into any) {
	t.Helper()
	status, said := send(t, method, url, token, "", body)
	var err error
	if into != nil {
		err = json.Unmarshal(said, into)
	}
	if status >= 300 || err != nil {
		t.Fatalf("%s %s: %d %s, %v", method, url, status, said, err)
	}
}

func send(t *testing.T, method, url, token, proof string, body any) (status int, said []byte) {
	t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	if proof != "" {
		r.Header.Set("Deskbell-Proof", proof)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if said, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, said
}

// wire joins a network to this one.
func wire(t *testing.T, network, host, phone string) {
	t.Helper()
	name := fmt.Sprintf("db%d", os.Getpid()%1_000_000)
	inside := "nsenter --net=/proc/" + network + "/ns/net"
	for _, step := range []string{
		"ip link add " + name + "a type veth peer name " + name + "b netns " + network,
		// An address by itself would come a second or two later, and change the network under a page that loads.
		"ip link set " + name + "a addrgenmode none", inside + " ip link set " + name + "b addrgenmode none",
		"ip addr add " + host + "/24 dev " + name + "a", "ip link set " + name + "a up",
		inside + " ip addr add " + phone + "/24 dev " + name + "b", inside + " ip link set " + name + "b up", inside + " ip link set lo up",
	} {
		words := strings.Fields(step)
		if said, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", step, err, said)
		}
	}
}

// emptyNetwork makes a network of its own, which ends with the test and both ends of its wire with it: that of the process it returns.
// `ip netns` would leave a mount on the machine, and works in no chroot.
func emptyNetwork(t *testing.T) (pid string) {
	t.Helper()
	own, err := os.Readlink("/proc/self/ns/net")
	holder := exec.Command("unshare", "--net", "sleep", "infinity")
	if err = errors.Join(err, holder.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
	})
	pid = strconv.Itoa(holder.Process.Pid)
	eventually(t, "a network", func() bool { its, err := os.Readlink("/proc/" + pid + "/ns/net"); return err == nil && its != own })
	return pid
}

// A phone is a browser of a phone's size, in the network of a process.
type phone struct {
	t        *testing.T
	d        *debugger
	page     string
	dir      string
	language string
	words    map[string]any
	link     string // that it paired with
}

func newPhone(t *testing.T, network, spki, language string) *phone {
	t.Helper()
	dir, err := os.MkdirTemp("", "phone-")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nsenter", "--net=/proc/"+network+"/ns/net", "chromium", "--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--user-data-dir="+dir, "--lang="+language, "--disable-gpu",
		"--window-size=390,844", "--ignore-certificate-errors-spki-list="+spki, "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		eventually(t, "its last processes to write no more", func() bool { return os.RemoveAll(dir) == nil })
	})
	p := &phone{t: t, dir: dir, language: language, words: map[string]any{}}
	files, err := filepath.Glob("../../frontend/messages/*/" + language + ".json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no messages: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &p.words)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p.d = dialBy(t, dir, &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: within(network)}}})
	eventually(t, "a page", func() bool {
		if all := p.d.pages(); len(all) > 0 {
			p.page = all[len(all)-1].session
		}
		return p.page != ""
	})
	p.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true})
	p.paints("light")
	p.do("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true})
	p.do("Emulation.setUserAgentOverride", map[string]any{"userAgent": "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "acceptLanguage": language})
	return p
}

// within dials from the network of a process: a socket stays in the network that it was made in.
func within(network string) func(context.Context, string, string) (net.Conn, error) {
	type dialed struct {
		conn net.Conn
		err  error
	}
	return func(ctx context.Context, kind, address string) (net.Conn, error) {
		done := make(chan dialed, 1)
		go func() {
			runtime.LockOSThread() // for good: the thread ends with this goroutine
			ns, err := os.Open("/proc/" + network + "/ns/net")
			if err == nil {
				err = errors.Join(unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET), ns.Close())
			}
			if err != nil {
				done <- dialed{nil, err}
				return
			}
			conn, err := new(net.Dialer).DialContext(ctx, kind, address)
			done <- dialed{conn, err}
		}()
		is := <-done
		return is.conn, is.err
	}
}

// word is a text of the page, in the phone's language.
func (p *phone) word(key string) string {
	p.t.Helper()
	text, is := p.words[key].(string)
	if !is {
		p.t.Fatalf("no text %s", key)
	}
	return text
}

// do sends a command; a page that is being replaced takes none.
func (p *phone) do(method string, params map[string]any) {
	p.t.Helper()
	eventually(p.t, method, func() bool { return p.d.call(p.page, method, params, nil) == nil })
}

// pairs reads the QR code that the computer shows by a camera, and opens what it says.
func (p *phone) pairs(c *computer) {
	p.t.Helper()
	pairing := c.pairing()
	p.do("Page.navigate", map[string]any{"url": "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(pairing.SVG))})
	eventually(p.t, "the QR code", func() bool {
		file := filepath.Join(p.dir, "qr.png")
		if os.WriteFile(file, p.shot(), 0o600) != nil {
			return false
		}
		said, err := exec.Command("zbarimg", "--quiet", "--raw", file).Output()
		p.link = strings.TrimSpace(string(said))
		return err == nil && p.link != ""
	})
	if p.link != pairing.URL {
		p.t.Fatalf("the QR code says %q, not %q", p.link, pairing.URL)
	}
	p.do("Page.navigate", map[string]any{"url": p.link})
}

// goes opens a page from the inbox.
func (p *phone) goes(place string) {
	p.t.Helper()
	address, _, _ := strings.Cut(p.link, "#")
	p.do("Page.navigate", map[string]any{"url": "about:blank"})
	p.do("Page.navigate", map[string]any{"url": address + "#/" + place})
}

// opens opens a request from the inbox.
func (p *phone) opens(title string) {
	p.t.Helper()
	p.goes("inbox")
	p.press(title)
}

func (p *phone) shot() []byte {
	p.t.Helper()
	var picture struct{ Data string }
	eventually(p.t, "a picture", func() bool { return p.d.call(p.page, "Page.captureScreenshot", nil, &picture) == nil })
	raw, err := base64.StdEncoding.DecodeString(picture.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	return raw
}

// tooSmall finds what a thumb misses, and what is not whole on the screen: links in a text, and what lies behind a dialog, are left out.
const tooSmall = `(() => {
	const top = document.querySelector('dialog[open]') ?? document.body;
	const bad = [];
	if (document.documentElement.scrollWidth > innerWidth) bad.push('the page is ' + document.documentElement.scrollWidth + ' wide');
	for (const e of top.querySelectorAll('button, a[href], input, textarea, select, summary')) {
		const r = (e.type === 'radio' || e.type === 'checkbox' ? e.labels?.[0] ?? e : e).getBoundingClientRect();
		if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true}) || r.width < 2 || getComputedStyle(e).display === 'inline' || e.disabled) continue;
		if (r.width < 43.5 || r.height < 43.5 || r.left < 0 || r.right > innerWidth + .5) bad.push((e.innerText || e.getAttribute('aria-label') || e.outerHTML.slice(0, 80)).trim() + ': ' + Math.round(r.width) + 'x' + Math.round(r.height) + ' at ' + Math.round(r.left));
	}
	return bad.join('\n');
})()`

// look checks that what can be pressed is large enough and on the screen, and takes pictures where they are wanted.
func (p *phone) look(name string) {
	p.t.Helper()
	var bad string
	if err := p.d.evaluate(p.page, tooSmall, &bad); err != nil || bad != "" {
		p.t.Errorf("%s: %s %v", name, bad, err)
	}
	documents, all := os.Getenv("DESKBELL_PICTURES"), os.Getenv("DESKBELL_PHONE_LOOKS")
	for _, theme := range []string{"light", "dark"} {
		p.paints(theme)
		file := "phone-" + name + "-" + theme + "-" + p.language + ".png"
		if all != "" {
			if err := os.WriteFile(filepath.Join(all, file), p.shot(), 0o600); err != nil {
				p.t.Fatal(err)
			}
		}
		if documents != "" && name == "request" && theme == "light" {
			cmd := exec.Command("convert", "-", "-strip", "-resize", "50%", "+dither", "-colors", "256", "png8:"+filepath.Join(documents, file))
			cmd.Stdin = bytes.NewReader(p.shot())
			if said, err := cmd.CombinedOutput(); err != nil {
				p.t.Fatalf("%v\n%s", err, said)
			}
		}
	}
}

// paints chooses a theme, without movement.
func (p *phone) paints(theme string) {
	p.t.Helper()
	p.do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}}})
}

func (p *phone) sees(text string) {
	p.t.Helper()
	seen := false
	defer func() {
		if !seen {
			var all string
			_ = p.d.evaluate(p.page, "location.href + ' ' + document.body.innerText", &all)
			p.t.Log(all)
		}
	}()
	eventually(p.t, text, func() bool {
		_ = p.d.evaluate(p.page, fmt.Sprintf("document.body.innerText.includes(%q)", text), &seen)
		return seen
	})
}

// shows says whether an element is there.
func (p *phone) shows(selector string) bool {
	var there bool
	return p.d.evaluate(p.page, fmt.Sprintf("!!document.querySelector(%q)", selector), &there) == nil && there
}

// has waits until a button that can be pressed is there, or checks that there is none.
func (p *phone) has(name string, wanted bool) {
	p.t.Helper()
	there := func() (is bool) {
		_ = p.d.evaluate(p.page, fmt.Sprintf(`[...document.querySelectorAll("button")].some((e) => e.innerText.trim().startsWith(%q) && e.offsetParent)`, name), &is)
		return is
	}
	if wanted {
		eventually(p.t, "the button "+name, there)
	} else if there() {
		p.t.Errorf("there is a button %s", name)
	}
}

// press presses a button or link as soon as it can be pressed.
func (p *phone) press(text string) {
	p.t.Helper()
	eventually(p.t, "to press "+text, func() bool {
		var done bool
		_ = p.d.evaluate(p.page, fmt.Sprintf(`(() => { const it = [...document.querySelectorAll("a, button")].find((e) => e.innerText.trim().includes(%q) && e.offsetParent && !e.disabled); it?.click(); return !!it; })()`, text), &done)
		return done
	})
}

func (p *phone) clicks(selector string) {
	p.t.Helper()
	eventually(p.t, selector, func() bool {
		var done bool
		_ = p.d.evaluate(p.page, fmt.Sprintf(`(() => { const it = document.querySelector(%q); if (!it || it.disabled) return false; it.click(); return true; })()`, selector), &done)
		return done
	})
}

// types puts a text into a field, in place of what is there.
func (p *phone) types(selector, text string) {
	p.t.Helper()
	eventually(p.t, "the field "+selector, func() bool {
		var done bool
		_ = p.d.evaluate(p.page, fmt.Sprintf(`(() => { const it = document.querySelector(%q); if (!it || it.disabled || it.value) return false; it.focus(); return document.activeElement === it; })()`, selector), &done)
		return done
	})
	p.do("Input.insertText", map[string]any{"text": text})
}

// submits presses the button of a field's form.
func (p *phone) submits(field string) {
	p.t.Helper()
	eventually(p.t, "to send "+field, func() bool {
		var done bool
		_ = p.d.evaluate(p.page, fmt.Sprintf(`(() => { const it = document.querySelector(%q)?.form?.querySelector('.btn.ink:not(:disabled)'); it?.click(); return !!it; })()`, field), &done)
		return done
	})
}
