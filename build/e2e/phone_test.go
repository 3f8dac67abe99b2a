//go:build window

package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deskbell/build/e2e/desktoptest"
	started "deskbell/build/serving"
)

// onPhone has this test's own binary be the phone: what it does is in the variable's JSON.
const onPhone = "DESKBELL_TEST_ON_PHONE"

// A phoneTask is what the phone is given: what it scans, and the public key by which it knows the computer.
type phoneTask struct{ SVG, URL, SPKI, Shots, Request, Danger string }

// A phone with an address of its own, in a network of its own, pairs by the QR code, reads a request and answers it; what is dangerous
// it cannot answer without a PIN. This machine itself does not come in. It runs beside no other: a browser gives up what it loads when
// the machine's networks change.
func TestPhone(t *testing.T) {
	if text := os.Getenv(onPhone); text != "" {
		var task phoneTask
		if err := json.Unmarshal([]byte(text), &task); err != nil {
			t.Fatal(err)
		}
		beThePhone(t, task)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root makes networks")
	}
	name, network := fmt.Sprintf("db%d", os.Getpid()%1_000_000), emptyNetwork(t)
	inside := "nsenter --net=/proc/" + network + "/ns/net"
	host, phone := "10.213.7.1", "10.213.7.2"
	for _, step := range []string{
		"ip link add " + name + "a type veth peer name " + name + "b netns " + network,
		"ip addr add " + host + "/24 dev " + name + "a", "ip link set " + name + "a up",
		inside + " ip addr add " + phone + "/24 dev " + name + "b", inside + " ip link set " + name + "b up", inside + " ip link set lo up",
	} {
		words := strings.Fields(step)
		if said, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", step, err, said)
		}
	}
	url, token, data := servePhones(t, host)
	var st struct {
		Addresses []string
		SPKI      string
	}
	call(t, "PUT", url+"/api/phone", token, map[string]bool{"on": true}, &st)
	if len(st.Addresses) != 1 || !strings.HasPrefix(st.Addresses[0], "https://"+host+":") {
		t.Fatalf("phones come in at %v", st.Addresses)
	}
	var key struct{ Key string }
	call(t, "POST", url+"/api/agents", token, map[string]string{"name": "deployer"}, &key)
	var asked, danger struct {
		ID string `json:"operation_id"`
	}
	call(t, "POST", url+"/api/human/invoke", key.Key, map[string]any{"action_type": "approve", "description": "Deploy the site to staging?", "details": map[string]any{"action": "make deploy", "risk_level": "low"}}, &asked)
	call(t, "POST", url+"/api/human/invoke", key.Key, map[string]any{"action_type": "approve", "description": "Drop the old table?", "details": map[string]any{"action": "DROP TABLE old", "risk_level": "critical"}}, &danger)
	var pairing struct{ URL, SVG string }
	call(t, "POST", url+"/api/phone/pairing", token, struct{}{}, &pairing)

	// A program of this machine that has found the code, or reads the data folder, does not come in.
	if conn, err := net.DialTimeout("tcp", strings.TrimPrefix(st.Addresses[0], "https://"), desktoptest.Patience); err == nil {
		_ = conn.SetDeadline(time.Now().Add(desktoptest.Patience))
		_, _ = conn.Write([]byte{22, 3, 1, 0, 1, 0}) // as TLS begins
		if n, err := conn.Read(make([]byte, 1)); n > 0 {
			t.Errorf("it answers this machine: %v", err)
		}
		_ = conn.Close()
	}

	shots := os.Getenv("DESKBELL_PICTURES")
	task, err := json.Marshal(phoneTask{pairing.SVG, pairing.URL, st.SPKI, shots, asked.ID, danger.ID})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nsenter", "--net=/proc/"+network+"/ns/net", self, "-test.run", "^TestPhone$", "-test.v")
	cmd.Env = append(os.Environ(), onPhone+"="+string(task))
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the phone: %v\n%s", err, said)
	}
	var op struct {
		State  string
		Result struct{ Decision string }
	}
	call(t, "GET", url+"/api/human/operations/"+asked.ID, token, nil, &op)
	if op.State != "completed" || op.Result.Decision != "approve" {
		t.Errorf("the request stands as %+v", op)
	}
	call(t, "GET", url+"/api/human/operations/"+danger.ID, token, nil, &op)
	if op.State == "completed" {
		t.Error("a critical risk was answered without proof")
	}
	for _, file := range []string{"phone.pem", "phones.json"} {
		if info, err := os.Stat(filepath.Join(data, file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
}

// servePhones starts a server, and signs in.
func servePhones(t *testing.T, host string) (url, token, data string) {
	t.Helper()
	data = t.TempDir()
	cmd := exec.Command(program(t), "serve", "--json", "--data", data, "--addr", "127.0.0.1:0", "--set", "phone.addr="+host+":0")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	ready, err := started.Code(cmd)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	at, err := ready()
	if err != nil {
		t.Fatal(err)
	}
	var session struct{ Token string }
	call(t, "POST", at.URL+"/api/session", "", map[string]string{"code": at.Code}, &session)
	return at.URL, session.Token, data
}

func program(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../bin/deskbell")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func call(t *testing.T, method, url, token string, body, into any) {
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
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, url, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatal(err)
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

// beThePhone is a browser of a phone's size.
func beThePhone(t *testing.T, task phoneTask) {
	dir, err := os.MkdirTemp("", "phone-")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("chromium", "--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--user-data-dir="+dir, "--lang=en-US", "--disable-gpu",
		"--window-size=390,844", "--ignore-certificate-errors-spki-list="+task.SPKI, "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		eventually(t, "its last processes to write no more", func() bool { return os.RemoveAll(dir) == nil })
	})
	d := dial(t, dir)
	var page string
	eventually(t, "a page", func() bool {
		if all := d.pages(); len(all) > 0 {
			page = all[len(all)-1].session
		}
		return page != ""
	})
	do := func(method string, params map[string]any) {
		t.Helper()
		eventually(t, method, func() bool { return d.call(page, method, params, nil) == nil }) // a page that is being replaced takes none
	}
	do("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true})
	do("Emulation.setUserAgentOverride", map[string]any{"userAgent": "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36"})
	shot := func(name string) []byte {
		t.Helper()
		var picture struct{ Data string }
		eventually(t, "a picture", func() bool { return d.call(page, "Page.captureScreenshot", nil, &picture) == nil })
		raw, err := base64.StdEncoding.DecodeString(picture.Data)
		if err == nil && task.Shots != "" {
			err = os.WriteFile(filepath.Join(task.Shots, "phone-"+name+".png"), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	sees := func(text string) {
		t.Helper()
		defer func() {
			if t.Failed() {
				shot("failed")
				var all string
				_ = d.evaluate(page, "location.href + '\\n' + document.body.innerText", &all)
				t.Log(all)
			}
		}()
		eventually(t, text, func() bool {
			var there bool
			return d.evaluate(page, fmt.Sprintf("document.body.innerText.includes(%q)", text), &there) == nil && there
		})
	}
	press := func(what, text string) {
		t.Helper()
		eventually(t, what+" "+text, func() bool {
			var done bool
			_ = d.evaluate(page, fmt.Sprintf(`(() => { const it = [...document.querySelectorAll(%q)].find((e) => e.innerText.includes(%q) && e.offsetParent && !e.disabled); if (!it) return false; it.click(); return true; })()`, what, text), &done)
			return done
		})
	}

	// The camera reads what the window shows.
	do("Page.navigate", map[string]any{"url": "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(task.SVG))})
	var link string
	eventually(t, "the QR code", func() bool {
		file := filepath.Join(dir, "qr.png")
		if os.WriteFile(file, shot("code"), 0o600) != nil {
			return false
		}
		said, err := exec.Command("zbarimg", "--quiet", "--raw", file).Output()
		link = strings.TrimSpace(string(said))
		return err == nil && link != ""
	})
	if link != task.URL {
		t.Fatalf("the QR code says %q, not %q", link, task.URL)
	}
	do("Page.navigate", map[string]any{"url": link})
	sees("Deploy the site to staging?")
	shot("inbox")
	var left string
	if err := d.evaluate(page, "location.hash + document.cookie", &left); err != nil || strings.Contains(left, "pair") || strings.Contains(left, "deskbell") {
		t.Errorf("the page keeps %q, %v", left, err)
	}
	// Loaded again, its cookie continues; the code is used up.
	do("Page.reload", nil)
	sees("Deploy the site to staging?")
	press("a, button", "Deploy the site to staging?")
	sees("make deploy")
	shot("request")
	eventually(t, "the answer", func() bool { // what answers does nothing for half a second
		var state string
		_ = d.evaluate(page, `[...document.querySelectorAll("button")].find((e) => e.innerText.trim().startsWith("Approve") && e.offsetParent && !e.disabled)?.click(), document.body.innerText`, &state)
		return strings.Contains(state, "Approved") || strings.Contains(state, "approved")
	})
	shot("answered")
	do("Page.navigate", map[string]any{"url": "about:blank"})
	do("Page.navigate", map[string]any{"url": strings.Split(link, "#")[0]})
	press("a, button", "Drop the old table?")
	sees("DROP TABLE old")
	shot("critical")
	// The same code lets no other in.
	do("Network.clearBrowserCookies", nil)
	do("Page.navigate", map[string]any{"url": "about:blank"})
	do("Page.navigate", map[string]any{"url": link})
	sees("signed in")
	shot("unpaired")
}
