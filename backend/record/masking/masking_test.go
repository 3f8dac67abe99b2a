package masking_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deskbell/backend/record/masking"
)

// Secrets here are made up, and put together from parts so that no scanner of repositories takes them for real ones.
func join(parts ...string) string { return strings.Join(parts, "") }

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	m := masking.New()
	key := join("-----BEGIN OPENSSH ", "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n")
	end := join("QyNTUxOQAAACD1\n-----END OPENSSH ", "PRIVATE KEY-----")
	github := join("ghp_", "Zk3Jq8sVw2Lx9Tn4Rb7Yc1Md6Hf5Pg0QaUeX")
	aws := join("AKIA", "Q3EGRZ7TX5LMN2PV")
	jwt := join("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ", ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U")
	slack := join("xoxb-", "2345678901-2345678901234-AbCdEfGhIjKlMnOpQrStUvWx")
	stripe := join("sk_live_", "4eC39HqLyjWDarjtT1zdp7dcXq2vBnM8")
	for name, tt := range map[string]struct{ text, want string }{
		"GitHub":                     {github, "•••"},
		"in a sentence":              {"Use " + github + ", please.", "Use •••, please."},
		"in Chinese":                 {"密钥是" + github + "，请保存。", "密钥是•••，请保存。"},
		"AWS":                        {"aws " + aws + " us-east-1", "aws ••• us-east-1"},
		"AWS, at the end":            {"The id is " + aws + ".", "The id is •••."},
		"JWT":                        {"token " + jwt + ", ok", "token •••, ok"},
		"Slack":                      {"hook=" + slack, "hook=•••"},
		"Stripe in brackets":         {"(" + stripe + ")", "(•••)"},
		"two, and one of them twice": {github + " " + aws + " " + github, "••• ••• •••"},
		"where it stands once more":  {join("password: ", "kX93!mmQ2") + " and again kX93!mmQ2", "password: ••• and again •••"},
		"a private key":              {"a\n" + key + end + "\nb", "a\n•••\nb"},
		"a private key cut off":      {"a\n" + key, "a\n•••"},
		"an assignment":              {join(`API_KEY="`, `q8Zk3JsVw2Lx9Tn4Rb7Yc1"`), `API_KEY="•••"`},
		"a password in an address":   {"git clone https://me:hunter2@example.org/r.git", "git clone https://me:•••@example.org/r.git"},
		"a parameter of an address":  {"https://example.org/cb?state=ok&access_token=a1b2c3d4e5#top", "https://example.org/cb?state=ok&access_token=•••"},
		"a header":                   {"Authorization: Bearer a8f5f167f44f4964e6c998dee827110c", "Authorization: Bearer •••"},
		"a password":                 {"Password: hunter2", "Password: •••"},
		"a password in quotes":       {`password = "Tr0ub4dor&3"`, `password = "•••"`},
		"a Chinese password":         {"密码：hunter2，别忘了", "密码：•••，别忘了"},
		"a German one":               {"Passwort: Kater!1987", "Passwort: •••"},
		"a PIN":                      {"PIN: 4711", "PIN: •••"},
		"a flag":                     {"mysql --user me --password hunter2 db", "mysql --user me --password ••• db"},
		"a flag with =":              {"run --token=abcdefgh --verbose", "run --token=••• --verbose"},
		"a Visa card":                {"card 4111 1111 1111 1111 12/29", "card ••• 12/29"},
		"a number before it":         {"2026 4111 1111 1111 1111", "2026 •••"},
		"a Mastercard with hyphens":  {"5555-5555-5555-4444", "•••"},
		"an American Express card":   {"3782 822463 10005", "•••"},
		"a UnionPay card":            {"卡号6212345678901232。", "卡号•••。"},
		"a card without spaces":      {"nr=4242424242424242;", "nr=•••;"},
	} {
		t.Run(name, func(t *testing.T) {
			got, found := m.Mask(tt.text)
			if got != tt.want || found != (tt.want != tt.text) {
				t.Errorf("%q became %q (%t), want %q", tt.text, got, found, tt.want)
			}
			if again, found := m.Mask(got); again != got || found {
				t.Errorf("masked again it became %q", again)
			}
		})
	}
}

// What is made of parts of a call shows no part of its secrets.
func TestPartsOfAWhole(t *testing.T) {
	t.Parallel()
	m := masking.New()
	github := join("ghp_", "Zk3Jq8sVw2Lx9Tn4Rb7Yc1Md6Hf5Pg0QaUeX")
	password := join("kX93!", "mmQ2vv")
	long := strings.Repeat("echo one two three\n", 1000)
	for name, tt := range map[string]struct{ whole, text, want string }{
		"all of it":                  {"echo " + github, "prints " + github, "prints •••"},
		"cut":                        {"echo " + github, "prints " + github[:20] + "…", "prints •••…"},
		"cut in the middle of words": {"echo " + github, "“echo " + github[:9] + "…” prints", "“echo •••…” prints"},
		"known by what is before it": {"password: " + password, "writes " + password + " to a", "writes ••• to a"},
		"cut, and only known so":     {"password: " + password, "writes " + password[:6] + "…", "writes •••…"},
		"too little to matter":       {"echo " + github, "a g…", "a g…"},
		"not a part":                 {"echo " + github, "/src/a…/b", "/src/a…/b"},
		"its own":                    {"", "echo " + github, "echo •••"},
		"behind what is looked at":   {long + "echo " + github, "echo " + github[:20] + "…", "echo •••…"},
	} {
		t.Run(name, func(t *testing.T) {
			mask := m.Within(tt.whole)
			for range 2 {
				if got := mask(tt.text); got != tt.want {
					t.Errorf("%q became %q, want %q", tt.text, got, tt.want)
				}
			}
		})
	}
}

func TestOrdinaryTextIsKept(t *testing.T) {
	t.Parallel()
	m := masking.New()
	for _, text := range []string{
		"", " ", "•••",
		"Dear Ms Keller, the invoice 2026-1187 over EUR 4,312.50 is due on 21 November 2026.",
		"The password must have at least 8 characters, one of them a digit.",
		"Password: required", "Password:", "Confirm password: ", "Show password", "PIN required", "Pin to taskbar", "PIN: enter it",
		"password is case-sensitive", "I forgot my password. Is it possible to reset it?",
		"The token expired; sign in again.", "Secret Santa: draw lots on 2026-12-01", "Key features: fast, small, safe",
		"Press Ctrl+Shift+T to reopen the tab", "Keyboard layout: English (US)",
		"basic internationalization of the page", "bearer of good news",
		"550e8400-e29b-41d4-a716-446655440000", "id 01JD3W7Q9K2M5N8P0RSTVWXYZ1",
		"commit 45f52c0b8e2d1f7a9c3e5b7d9f1a3c5e7b9d1f3a", "45f52c0", "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"/home/anna/Documents/Quarterly report 2026-Q3 (final).odt", `C:\Users\Anna\AppData\Local\Temp\~DF3A.tmp`, "IMG_20261121_045533.jpg",
		"https://example.org/search?q=desk+bell&page=2#results", "http://127.0.0.1:8765/api/operations?limit=50",
		"anna.keller@example.org", "+49 30 901820", "Tel. 010-6552-9988", "IBAN DE89 3704 0044 0532 0130 00",
		"1234 5678 9012 3456", "4111 1111 1111 1112", "1700000000000", "Order 4003-1234-5678-9013 x",
		"ISBN 978-3-16-148410-0", "2026-11-21T04:55:33.123456789Z", "192.168.178.24", "fe80::1ff:fe23:4567:890a",
		"git push origin main --force-with-lease", "ls --password-file x", "SELECT id, name FROM users WHERE age > 30;",
		"明天下午三点开会，请把报告发给张伟。", "密码错误，请重新输入", "请输入密码：", "忘记密码？", "第十二季度的销售额为 4,312,500 元。",
		"パスワードを入力してください", "El perro no come a la una.",
	} {
		if got, found := m.Mask(text); found || got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// The text people wrote for this repository: tens of thousands of words, prose and commands, English and Chinese.
func TestHowMuchOrdinaryTextIsHidden(t *testing.T) {
	t.Parallel()
	m := masking.New()
	files, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(files) < 5 {
		t.Fatal("there is no text to try", err)
	}
	more, err := filepath.Glob("../../../frontend/messages/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	words, hidden := 0, 0
	for _, f := range append(append(files, more...), "../../../README.md") {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		words += len(regexp.MustCompile(`\pL+`).FindAll(text, -1))
		for line := range strings.Lines(string(text)) {
			if got, found := m.Mask(line); found {
				hidden++
				t.Logf("%s: %q", f, got)
			}
		}
	}
	t.Logf("%d places in %d words", hidden, words)
	if words < 5000 || hidden*2000 > words {
		t.Errorf("%d places were hidden in %d words; at most 1 in 2,000 may be", hidden, words)
	}
}

func BenchmarkMask(b *testing.B) {
	m := masking.New()
	prose := "The invoice is due on Friday; please check the account and the key dates with Ms Keller. "
	for name, text := range map[string]string{
		"200 characters":     strings.Repeat(prose, 3)[:200],
		"64 KiB":             strings.Repeat(prose, 1000)[:64<<10],
		"64 KiB of one word": strings.Repeat("key=", 16<<10),
		"64 KiB of digits":   strings.Repeat("4", 64<<10),
	} {
		b.Run(name, func(b *testing.B) {
			m.Mask(text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Mask(text)
			}
		})
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			masking.New().Mask("hello")
		}
	})
}
