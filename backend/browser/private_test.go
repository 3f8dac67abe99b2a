package browser

import (
	"strings"
	"testing"

	"deskbell/backend/human"
)

func TestWhichPagesArePrivate(t *testing.T) {
	b := New(Options{Exclude: []string{"bank.example", "*.health.example", "shop.example/account", "https://old.example/a/*/b", "127.0.0.1:8080", " ", "a[b.example"}}, human.BrowserOptions{}, nil)
	for url, want := range map[string]bool{
		"https://bank.example/":               true,
		"http://BANK.example:81/x?y#z":        true,
		"https://notbank.example/":            false,
		"https://bank.example.evil.example/":  false,
		"https://my.health.example/x":         true,
		"https://health.example/":             false,
		"https://shop.example/":               false,
		"https://shop.example/account":        true,
		"https://shop.example/account/orders": true,
		"https://shop.example/accounts":       false,
		"https://old.example/a/x/b":           true,
		"https://old.example/a/x/c":           false,
		"http://127.0.0.1:8080/":              true,
		"http://127.0.0.1:8081/":              false,
		"blob:https://bank.example/1-2":       true,
		"about:blank":                         false,
		"about:srcdoc":                        false,
		"data:text/html,x":                    false,
		"":                                    false,
		"chrome://newtab/":                    false,
		"chrome-untrusted://new-tab-page/x?y": false,
		"chrome-untrusted://print/":           true,
		"chrome://settings/passwords":         true,
		"chrome-error://chromewebdata/":       false,
		"chrome-extension://abc/vault.html":   true,
		"devtools://devtools/x":               true,
		"edge://newtab/":                      false,
		"http://[::1":                         true, // what cannot be read is not shown
		"wss://bank.example/socket":           true,
		"https://user:pw@bank.example/":       true,
		"filesystem:https://bank.example/t/x": true,
		"view-source:https://bank.example/":   true,
		"blob:https://other.example/1-2":      false,
	} {
		if got := b.private(url); got != want {
			t.Errorf("private(%q) = %v, want %v", url, got, want)
		}
	}
}

type upper struct{}

func (upper) Mask(s string) (string, bool) {
	return strings.ReplaceAll(s, "hunter2", "•••"), true
}

func TestURLsAreMasked(t *testing.T) {
	b := New(Options{Parameters: []string{"customer"}, Masker: upper{}}, human.BrowserOptions{}, nil)
	for url, want := range map[string]string{
		"https://a.example/p?token=abc&page=2":            "https://a.example/p?token=•••&page=2",
		"https://a.example/p?Customer=7":                  "https://a.example/p?Customer=•••",
		"https://a.example/#access_token=abc&state=x":     "https://a.example/#access_token=•••&state=x",
		"https://a.example/hunter2":                       "https://a.example/•••",
		"data:text/html;base64,c2VjcmV0":                  "data:text/html;base64,…",
		"https://a.example/" + strings.Repeat("x", 10000): "https://a.example/" + strings.Repeat("x", maxURL-18),
		"about:blank":                 "about:blank",
		"not a url %zz ?password=abc": "not a url %zz ?password=•••",
	} {
		if got := b.maskURL(url); got != want {
			t.Errorf("maskURL(%q) = %q, want %q", url, got, want)
		}
	}
}
