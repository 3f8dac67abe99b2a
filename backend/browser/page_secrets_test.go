package browser

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Secrets here are made up, and put together from parts so that no scanner of repositories takes them for real ones.
func put(parts ...string) string { return strings.Join(parts, "") }

// TestPageSecrets types secrets into real pages: nothing that the script sends may hold them.
func TestPageSecrets(t *testing.T) {
	c := startChromium(t)
	const password = "tr0ub4dor&3"
	card := put("4111 1111 ", "1111 1111")
	jwt := put("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".dozjgNryP4J3jVmNHl0w5NXgL0n3I9PlFUP0THsR8U")
	github := put("ghp_", "Zk3Jq8sVw2Lx9Tn4Rb7Yc1Md6Hf5Pg0QaUeX")
	into := func(text string) func(*testPage) {
		return func(p *testPage) { p.run("a.focus()"); p.typed(text); p.key("Tab", 0) }
	}
	for name, tt := range map[string]struct {
		html   string
		do     func(p *testPage)
		secret string
		want   string // a line of them
	}{
		"a password": {`<input type=password id=a>`, into(password), password, `input textbox hidden:password(11)`},
		"a password that is shown while it is typed": {
			`<input type=password id=a><button id=b>Show</button><script>b.onclick = () => { a.type = 'text'; a.focus() }</script>`,
			func(p *testPage) {
				p.run("a.focus()")
				p.typed(password[:4])
				p.click("#b")
				p.typed(password[4:])
				p.key("Tab", 0)
			},
			password[:4], `input textbox hidden:password(11)`,
		},
		"a password that is shown before it is typed": {
			`<input type=password id=a><button id=b>Show</button><script>b.onclick = () => { a.type = 'text'; a.focus() }</script>`,
			func(p *testPage) { p.click("#b"); p.typed(password); p.key("Tab", 0) },
			password, `input textbox hidden:password(11)`,
		},
		"a password that is shown by another field": {
			`<input type=password id=a><button id=b>Show</button><script>b.onclick = () => { let n = document.createElement('input'); n.id = 'c'; n.value = a.value; a.replaceWith(n); n.focus(); n.setSelectionRange(99, 99) }</script>`,
			func(p *testPage) {
				p.run("a.focus()")
				p.typed(password)
				p.click("#b")
				p.typed("more")
				p.key("Tab", 0)
			},
			password, `input textbox hidden:password(15)`,
		},
		"a password in an open shadow root, switched there": {
			`<div id=h></div><script>let r = h.attachShadow({mode: 'open'}); r.innerHTML = '<input type=password><button>Show</button>'; let i = r.querySelector('input');
				r.querySelector('button').onclick = () => { i.type = 'text'; i.focus() }</script>`,
			func(p *testPage) {
				p.evaluate("[document.querySelector('#h').shadowRoot.querySelector('button').focus()]", true, nil)
				p.key(" ", 0)
				p.typed(password)
				p.key("Tab", 0)
			},
			password, `input textbox hidden:password(11)`,
		},
		"a password in a closed shadow root": {
			`<my-box id=h></my-box><script>let r = h.attachShadow({mode: 'closed'}); r.innerHTML = '<input type=password>'; r.firstChild.focus()</script>`,
			func(p *testPage) { p.typed(password); p.key("Tab", 0) },
			password, `input generic hidden:unknown_field(11)`,
		},
		"a password that the page writes elsewhere": {
			`<input type=password id=a><p><button id=b></button></p><script>let b = document.querySelector('button'); a.oninput = () => { b.textContent = 'Use ' + a.value; b.id = a.value; b.title = a.value }</script>`,
			func(p *testPage) { p.run("a.focus()"); p.typed(password); p.click("button") },
			password, `click button "Use •••"`,
		},
		"a password that is copied and put into an address": {
			`<input type=password id=a value=""><input id=b aria-label=Plain><script>a.oninput = () => history.replaceState(null, '', '?x=' + encodeURIComponent(a.value))</script>`,
			func(p *testPage) {
				p.run("a.focus()")
				p.typed("plainword")
				p.run("b.focus()")
				p.typed("plainword")
				p.key("Tab", 0)
			},
			"plainword", `input textbox "Plain" hidden:password(9)`,
		},
		"a field that says it is for a one-time code": {`<input autocomplete=one-time-code id=a>`, into("918273"), "918273", `input textbox hidden:secret(6)`},
		"a field that is called one":                  {`<input name=otpCode placeholder="Verification code" id=a>`, into("918273"), "918273", `input textbox "Verification code" hidden:secret(6)`},
		"a Chinese one":                               {`<input placeholder="请输入验证码" id=a>`, into("918273"), "918273", `input textbox "请输入验证码" hidden:secret(6)`},
		"a field for a card":                          {`<input autocomplete="billing cc-number" id=a>`, into(card), "1111", `input textbox hidden:secret(19)`},
		"a card's check value":                        {`<input autocomplete=cc-csc id=a>`, into("737"), "737", `input textbox hidden:secret(3)`},
		"a card in any field": {
			`<input id=a aria-label=Note>`, into("pay " + card + " 12/29"), "1111", `input textbox "Note" = pay ••• 12/29 hidden:secret(29)`,
		},
		"a card that is typed slowly": {
			`<input id=a aria-label=Note>`,
			func(p *testPage) {
				p.run("a.focus()")
				p.typed("5555 5555 5555")
				p.evaluate("new Promise((done) => setTimeout(done, 700))", true, nil)
				p.typed(" 4444")
				p.key("Tab", 0)
			},
			"5555", `input textbox "Note" = ••• hidden:secret(19)`,
		},
		"a token in any field": {`<textarea id=a aria-label=Note></textarea>`, into("use " + jwt + " now"), "dozjgNry", `input textbox "Note" = use ••• now hidden:secret(`},
		"a token that is typed slowly": {
			`<input id=a aria-label=Note>`,
			func(p *testPage) {
				p.run("a.focus()")
				p.typed(github[:20])
				p.evaluate("new Promise((done) => setTimeout(done, 700))", true, nil)
				p.typed(github[20:])
				p.key("Tab", 0)
			},
			github[4:16], `input textbox "Note" = ••• hidden:secret(40)`,
		},
		"a parameter of an address that is typed": {
			`<input id=a aria-label=URL>`, into("https://u:hunter22@x.test/cb?state=1&access_token=abc123#top"), "abc123",
			`input textbox "URL" = https://u:•••@x.test/cb?state=1&access_token=•••#top hidden:secret(`,
		},
		"a named parameter": {`<input id=a aria-label=URL>`, into("https://x.test/?patient=4711&b=2"), "4711", `input textbox "URL" = https://x.test/?patient=•••&b=2 hidden:secret(`},
		"a token that is copied from the page": {
			`<p id=a>` + github + `</p><script>getSelection().selectAllChildren(a)</script>`,
			func(p *testPage) { p.key("c", ctrlKey) },
			github, `copy paragraph = ••• [copy] hidden:secret(40)`,
		},
		"a token that is a name": {`<button id=a>Copy ` + github + `</button>`, func(p *testPage) { p.click("#a") }, github, `click button "Copy •••"`},
		"an ordinary number":     {`<input id=a aria-label=Phone>`, into("+49 30 1234567"), "", `input textbox "Phone" = +49 30 1234567`},
		"an ordinary sentence":   {`<input id=a aria-label=Note>`, into("password: required"), "", `input textbox "Note" = password: required`},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.open(t, tt.html, func(s *testSite) {
				s.config.Parameters = []string{"patient"}
				s.at = "/?token=s3cr3tpar&q=boat&Patient=4711"
			})
			tt.do(p)
			lines := p.lines()
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, tt.want) }) {
				t.Errorf("reported\n  %s\nand not %s", strings.Join(lines, "\n  "), tt.want)
			}
			for _, payload := range p.payloads {
				if said := words(t, payload); tt.secret != "" && strings.Contains(said, tt.secret) || strings.Contains(said, "s3cr3tpar") || strings.Contains(said, "4711") {
					t.Errorf("sent: %s", payload)
				}
				if name != "a password that is copied and put into an address" && !strings.Contains(payload, "/?token=•••&q=boat&Patient=•••") {
					t.Errorf("no address in %s", payload)
				}
			}
		})
	}
}

// words returns what a message says, without its numbers and the port of the test's site: a time may have any digits in it.
func words(t *testing.T, payload string) string {
	t.Helper()
	var message any
	if err := json.Unmarshal([]byte(payload), &message); err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	var said strings.Builder
	var read func(any)
	read = func(v any) {
		switch v := v.(type) {
		case string:
			said.WriteString(sitePort.ReplaceAllString(v, "") + "\n")
		case []any:
			for _, part := range v {
				read(part)
			}
		case map[string]any:
			for name, part := range v {
				said.WriteString(name + "\n")
				read(part)
			}
		}
	}
	read(message)
	return said.String()
}

var sitePort = regexp.MustCompile(`(//127\.0\.0\.1):\d+`)

func TestSecretParametersOfAddressesAreHidden(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://x.test/a?b=1":                         "https://x.test/a?b=1",
		"https://x.test/a?token=abc&b=1":               "https://x.test/a?token=•••&b=1",
		"https://x.test/a?x-api-key=abc;Session=2":     "https://x.test/a?x-api-key=•••;Session=•••",
		"https://x.test/#access_token=abc&state=1":     "https://x.test/#access_token=•••&state=1",
		"https://me:hunter2@x.test/a":                  "https://me:•••@x.test/a",
		"https://x.test/a?patient=4711&monkey=2":       "https://x.test/a?patient=•••&monkey=2",
		"https://x.test/a?redirect=%2F%3Ftoken%3Dabc1": "https://x.test/a?redirect=%2F%3Ftoken%3D•••",
	} {
		if got := maskURL(in, []string{"patient"}); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}
