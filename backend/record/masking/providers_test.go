package masking_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deskbell/backend/record/masking"
)

// Alphabets of keys.
const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hex    = digits + "abcdef"
	alnum  = digits + lower + upper
	url64  = alnum + "-_"
	std64  = alnum + "+/"
)

// A mint makes what is random, always the same from the same seed.
type mint struct{ *rand.Rand }

func minted(seed uint64) mint { return mint{rand.New(rand.NewPCG(seed, 0))} }

func (m mint) of(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[m.IntN(len(alphabet))]
	}
	return string(b)
}

func (m mint) between(alphabet string, low, high int) string {
	return m.of(alphabet, low+m.IntN(high-low+1))
}

func (m mint) one(of ...string) string { return of[m.IntN(len(of))] }

func (m mint) uuid() string {
	return strings.Join([]string{m.of(hex, 8), m.of(hex, 4), "4" + m.of(hex, 3), m.one("8", "9", "a", "b") + m.of(hex, 3), m.of(hex, 12)}, "-")
}

// A provider's key: by the shape that the provider publishes or that its keys have, and the name of the variable that it is usually in.
type provider struct {
	name, variable string
	key            func(m mint) string
	named          bool // it has no shape of its own, and is known by its name alone
}

var providers = []provider{
	{"Anthropic", "ANTHROPIC_API_KEY", func(m mint) string { return "sk-ant-api03-" + m.of(url64, 93) + "AA" }, false},
	{"Anthropic, admin", "ANTHROPIC_ADMIN_KEY", func(m mint) string { return "sk-ant-admin01-" + m.of(url64, 93) + "AA" }, false},
	{"Anthropic, OAuth", "CLAUDE_CODE_OAUTH_TOKEN", func(m mint) string { return "sk-ant-oat01-" + m.of(url64, 93) + "AA" }, false},
	{"OpenAI, project", "OPENAI_API_KEY", func(m mint) string { return "sk-proj-" + m.of(url64, 74) + "T3BlbkFJ" + m.of(url64, 74) }, false},
	{"OpenAI, service", "OPENAI_API_KEY", func(m mint) string { return "sk-svcacct-" + m.of(url64, 74) + "T3BlbkFJ" + m.of(url64, 74) }, false},
	{"OpenAI, old", "OPENAI_API_KEY", func(m mint) string { return "sk-" + m.of(alnum, 20) + "T3BlbkFJ" + m.of(alnum, 20) }, false},
	{"OpenRouter", "OPENROUTER_API_KEY", func(m mint) string { return "sk-or-v1-" + m.of(hex, 64) }, false},
	{"DeepSeek", "DEEPSEEK_API_KEY", func(m mint) string { return "sk-" + m.of(hex, 32) }, false},
	{"Groq", "GROQ_API_KEY", func(m mint) string { return "gsk_" + m.of(alnum, 52) }, false},
	{"xAI", "XAI_API_KEY", func(m mint) string { return "xai-" + m.of(alnum, 80) }, false},
	{"Perplexity", "PERPLEXITY_API_KEY", func(m mint) string { return "pplx-" + m.of(alnum, 48) }, false},
	{"Replicate", "REPLICATE_API_TOKEN", func(m mint) string { return "r8_" + m.of(alnum, 37) }, false},
	{"Hugging Face", "HF_TOKEN", func(m mint) string { return "hf_" + m.of(lower+upper, 34) }, false},
	{"Mistral", "MISTRAL_API_KEY", func(m mint) string { return m.of(alnum, 32) }, true},
	{"GitHub", "GITHUB_TOKEN", func(m mint) string { return m.one("ghp_", "gho_", "ghu_", "ghs_", "ghr_") + m.of(alnum, 36) }, false},
	{"GitHub, fine-grained", "GH_TOKEN", func(m mint) string { return "github_pat_" + m.of(alnum, 22) + "_" + m.of(alnum, 59) }, false},
	{"GitLab", "GITLAB_TOKEN", func(m mint) string { return m.one("glpat-", "gldt-", "glrt-") + m.of(url64, 20) }, false},
	{"AWS, id", "AWS_ACCESS_KEY_ID", func(m mint) string { return m.one("AKIA", "ASIA") + m.of(upper+"234567", 16) }, false},
	{"AWS, secret", "AWS_SECRET_ACCESS_KEY", func(m mint) string { return m.of(std64, 40) }, true},
	{"AWS, session", "AWS_SESSION_TOKEN", func(m mint) string { return "IQoJb3JpZ2luX2Vj" + m.of(std64, 300) + "==" }, true},
	{"Google", "GOOGLE_API_KEY", func(m mint) string { return "AIza" + m.of(url64, 35) }, false},
	{"Google, client", "GOOGLE_CLIENT_SECRET", func(m mint) string { return "GOCSPX-" + m.of(url64, 28) }, false},
	{"Google, OAuth", "GOOGLE_OAUTH_ACCESS_TOKEN", func(m mint) string { return "ya29." + m.of(url64, 170) }, false},
	{"Azure, storage", "AZURE_STORAGE_KEY", func(m mint) string { return m.of(std64, 86) + "==" }, true},
	{"Azure, client", "AZURE_CLIENT_SECRET", func(m mint) string { return m.of(alnum, 3) + "8Q~" + m.of(alnum+"_.~-", 34) }, false},
	{"Slack, bot", "SLACK_BOT_TOKEN", func(m mint) string {
		return "xoxb-" + m.of("123456789", 12) + "-" + m.of("123456789", 13) + "-" + m.of(alnum, 24)
	}, false},
	{"Slack, user", "SLACK_TOKEN", func(m mint) string {
		return "xoxp-" + m.of("123456789", 12) + "-" + m.of("123456789", 12) + "-" + m.of("123456789", 13) + "-" + m.of(hex, 32)
	}, false},
	{"Slack, app", "SLACK_APP_TOKEN", func(m mint) string {
		return "xapp-1-A" + m.of(upper+digits, 10) + "-" + m.of("123456789", 13) + "-" + m.of(hex, 64)
	}, false},
	{"Slack, hook", "SLACK_WEBHOOK_URL", func(m mint) string {
		return "https://hooks.slack.com/services/T" + m.of(upper+digits, 10) + "/B" + m.of(upper+digits, 10) + "/" + m.of(alnum, 24)
	}, false},
	{"Discord, hook", "DISCORD_WEBHOOK", func(m mint) string {
		return "https://discord.com/api/webhooks/" + m.of("123456789", 18) + "/" + m.of(url64, 68)
	}, false},
	{"Telegram", "TELEGRAM_BOT_TOKEN", func(m mint) string { return m.of("123456789", 10) + ":AA" + m.of(url64, 33) }, false},
	{"Stripe", "STRIPE_SECRET_KEY", func(m mint) string { return m.one("sk_live_", "sk_test_", "rk_live_") + m.between(alnum, 24, 99) }, false},
	{"Stripe, hook", "STRIPE_WEBHOOK_SECRET", func(m mint) string { return "whsec_" + m.of(alnum, 32) }, false},
	{"npm", "NPM_TOKEN", func(m mint) string { return "npm_" + m.of(alnum, 36) }, false},
	{"PyPI", "TWINE_PASSWORD", func(m mint) string { return "pypi-AgEIcHlwaS5vcmc" + m.between(url64, 130, 170) }, false},
	{"crates.io", "CARGO_REGISTRY_TOKEN", func(m mint) string { return "cio" + m.of(alnum, 32) }, false},
	{"Docker", "DOCKER_TOKEN", func(m mint) string { return "dckr_pat_" + m.of(url64, 27) }, false},
	{"DigitalOcean", "DIGITALOCEAN_TOKEN", func(m mint) string { return "dop_v1_" + m.of(hex, 64) }, false},
	{"Databricks", "DATABRICKS_TOKEN", func(m mint) string { return "dapi" + m.of(hex, 32) }, false},
	{"SendGrid", "SENDGRID_API_KEY", func(m mint) string { return "SG." + m.of(url64, 22) + "." + m.of(url64, 43) }, false},
	{"Twilio", "TWILIO_API_KEY", func(m mint) string { return "SK" + m.of(hex, 32) }, false},
	{"Twilio, token", "TWILIO_AUTH_TOKEN", func(m mint) string { return m.of(hex, 32) }, true},
	{"Shopify", "SHOPIFY_ACCESS_TOKEN", func(m mint) string { return "shpat_" + m.of(hex, 32) }, false},
	{"Linear", "LINEAR_API_KEY", func(m mint) string { return "lin_api_" + m.of(alnum, 40) }, false},
	{"Notion", "NOTION_TOKEN", func(m mint) string { return "ntn_" + m.of(digits, 11) + m.of(alnum, 35) }, false},
	{"Vault", "VAULT_TOKEN", func(m mint) string { return "hvs." + m.of(url64, 95) }, false},
	{"Tailscale", "TS_AUTHKEY", func(m mint) string { return "tskey-auth-k" + m.of(alnum, 11) + "CNTRL-" + m.of(alnum, 32) }, false},
	{"age", "AGE_KEY", func(m mint) string { return "AGE-SECRET-KEY-1" + m.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58) }, false},
	{"JWT", "ACCESS_TOKEN", func(m mint) string {
		part := func(v any) string { raw, _ := json.Marshal(v); return base64.RawURLEncoding.EncodeToString(raw) }
		return part(map[string]string{"alg": m.one("HS256", "RS256", "ES256"), "typ": "JWT"}) + "." +
			part(map[string]any{"sub": m.of(digits, 10), "name": m.of(lower, 8), "iat": 1700000000 + m.IntN(1e8)}) + "." + m.of(url64, 43)
	}, false},
	{"Deskbell, agent", "DESKBELL_KEY", func(m mint) string { return "dbk_" + m.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 32) }, false},
	{"Deskbell, operator", "DESKBELL_TOKEN", func(m mint) string { return "dbo_" + m.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 32) }, false},
	{"a password", "DB_PASSWORD", func(m mint) string {
		return m.of(alnum, 6) + m.one("!", "#", "%", "*") + m.of(alnum, 7) + m.of(digits, 1)
	}, true},
	{"a token of hex", "API_TOKEN", func(m mint) string { return m.of(hex, m.one40(32, 40, 64)) }, true},
	{"a token of letters", "CLIENT_SECRET", func(m mint) string { return m.between(alnum, 24, 48) }, true},
}

func (m mint) one40(of ...int) int { return of[m.IntN(len(of))] }

// A carrier is a place in which a key stands: what is written before and after it in logs, settings and terminals.
type carrier struct {
	name  string
	named bool // it says what the key is
	text  func(m mint, variable, key string) string
}

func quoted(s string) string { raw, _ := json.Marshal(s); return string(raw) }

var carriers = []carrier{
	{".env", true, func(_ mint, v, k string) string { return "PORT=8080\n" + v + "=" + k + "\nDEBUG=1\n" }},
	{".env, in quotes", true, func(_ mint, v, k string) string { return v + `="` + k + `"` + "\n" }},
	{"shell", true, func(_ mint, v, k string) string { return "$ export " + v + "=" + k + " && make deploy" }},
	{"shell, before a command", true, func(_ mint, v, k string) string { return v + "='" + k + "' npm run start" }},
	{"PowerShell", true, func(_ mint, v, k string) string { return "$env:" + v + ` = "` + k + `"` }},
	{"JSON", true, func(_ mint, v, k string) string {
		return `{"model":"x","` + strings.ToLower(v) + `":` + quoted(k) + `,"timeout":30}`
	}},
	{"JSON, in lines", true, func(_ mint, v, k string) string {
		return "{\n  \"env\": {\n    \"" + v + "\": " + quoted(k) + "\n  }\n}"
	}},
	{"JSON in JSON", true, func(_ mint, v, k string) string {
		return `{"level":"ERROR","msg":"request","body":` + quoted(`{"`+strings.ToLower(v)+`":`+quoted(k)+`,"n":1}`) + `}`
	}},
	{"TOML", true, func(_ mint, v, k string) string {
		return "[provider]\n" + strings.ToLower(v) + ` = "` + k + `"` + "\nretries = 3\n"
	}},
	{"YAML", true, func(_ mint, v, k string) string { return "env:\n  " + v + ": " + k + "\n  TZ: UTC\n" }},
	{"a Go struct", true, func(_ mint, v, k string) string { return "config {Name:x " + camel(v) + ":" + k + " Retries:3}" }},
	{"a Go map", true, func(_ mint, v, k string) string { return "env map[HOME:/root " + v + ":" + k + " TERM:xterm]" }},
	{"arguments of a program", true, func(_ mint, v, k string) string {
		return `exec: ["deploy" "--` + dashed(v) + `" "` + k + `" "--verbose"]`
	}},
	{"a flag", true, func(_ mint, v, k string) string { return "deploy --" + dashed(v) + "=" + k + " --verbose" }},
	{"docker", true, func(_ mint, v, k string) string { return "docker run --rm -e " + v + "=" + k + " app:1.2" }},
	{"a query", true, func(_ mint, v, k string) string {
		if strings.HasPrefix(k, "https:") {
			return k
		}
		return `GET "https://api.example.com/v1/items?page=2&` + strings.ToLower(v) + "=" + escaped(k) + `": dial tcp: i/o timeout`
	}},
	{"a sentence", false, func(_ mint, _, k string) string { return "invalid key " + k + ", see the documentation." }},
	{"a message in JSON", false, func(_ mint, _, k string) string {
		return `{"time":"2026-11-24T04:00:00Z","level":"WARN","msg":"not sent","err":` + quoted("401 Unauthorized: incorrect key provided: "+k+". You can find yours in the settings.") + `}`
	}},
	{"a Go panic", false, func(_ mint, _, k string) string {
		return "panic: cannot sign in with " + k + "\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:12 +0x1d\n"
	}},
	{"a Go panic, quoted", false, func(_ mint, _, k string) string {
		return "panic: " + strconv.Quote("token "+k) + " [recovered]\n\npanic: main.err{s:" + strconv.Quote(k) + "}\n"
	}},
	{"Chinese", false, func(_ mint, _, k string) string { return "密钥是" + k + "，请不要外传。" }},
	{"Chinese, in marks", false, func(_ mint, _, k string) string { return "令牌：「" + k + "」已失效" }},
	{"backquotes", false, func(_ mint, _, k string) string { return "Use `" + k + "` for staging." }},
	{"XML", false, func(_ mint, _, k string) string { return "<add key=\"x\">" + k + "</add>" }},
	{"a header", false, func(_ mint, _, k string) string { return "> Authorization: Bearer " + k + "\r\n> Accept: */*" }},
	{"curl", false, func(_ mint, _, k string) string {
		return `curl -s -H "Authorization: Bearer ` + k + `" https://api.example.com/v1`
	}},
	{"a header of its own", true, func(_ mint, _, k string) string { return "x-api-key: " + k + "\r\nhost: api.example.com" }},
	{"headers in Go", true, func(_ mint, _, k string) string { return "map[Accept:[*/*] X-Api-Key:[" + k + "]]" }},
	{"wrapped at 80", true, func(_ mint, v, k string) string {
		return wrapped("error: the value of "+v+"="+k+" was not accepted", 80)
	}},
	{"wrapped at 40, indented", true, func(_ mint, v, k string) string {
		return strings.ReplaceAll(wrapped(v+"="+k, 40), "\n", "\n    ")
	}},
}

func camel(v string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(strings.ToLower(v), "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func dashed(v string) string { return strings.ReplaceAll(strings.ToLower(v), "_", "-") }

func escaped(k string) string {
	return strings.NewReplacer("+", "%2B", "/", "%2F", "=", "%3D", ":", "%3A", "#", "%23", "!", "%21", "%", "%25", "*", "%2A").Replace(k)
}

// wrapped breaks a text as a terminal does, which does not look at words.
func wrapped(text string, wide int) string {
	var b strings.Builder
	for len(text) > wide {
		b.WriteString(text[:wide] + "\n")
		text = text[wide:]
	}
	return b.String() + text
}

// others are secrets that bring their place with them.
var others = map[string]func(m mint) (text, secret string){
	"DATABASE_URL": func(m mint) (string, string) {
		p := m.of(alnum, 16)
		return "DATABASE_URL=" + m.one("postgres", "postgresql", "mysql", "mongodb+srv", "redis", "amqp") + "://app:" + p + "@db.example.com:5432/shop?sslmode=require", p
	},
	"DATABASE_URL, signs": func(m mint) (string, string) {
		p := m.of(alnum, 6) + m.one("%40", "!", "$", "#", "^", "&") + m.of(alnum, 8)
		return "dial postgres://app:" + p + "@db.example.com/shop: connection refused", p
	},
	"redis without a user": func(m mint) (string, string) {
		p := m.of(alnum, 20)
		return "REDIS_URL=redis://:" + p + "@cache:6379/0", p
	},
	"basic auth in an address": func(m mint) (string, string) {
		p := m.of(alnum, 14)
		return "fatal: could not read from 'https://ci:" + p + "@git.example.com/x.git'", p
	},
	"a token in an address": func(m mint) (string, string) {
		p := "ghp_" + m.of(alnum, 36)
		return "git clone https://" + p + "@github.com/acme/x.git", p
	},
	"basic header": func(m mint) (string, string) {
		p := base64.StdEncoding.EncodeToString([]byte("ci:" + m.of(alnum, 12)))
		return "authorization: Basic " + p, p
	},
	"curl -u": func(m mint) (string, string) {
		p := m.of(alnum, 14)
		return "curl -u admin:" + p + " https://example.com/api", p
	},
	"a cookie": func(m mint) (string, string) {
		p := m.of(hex, 64)
		return "Set-Cookie: session=" + p + "; Path=/; HttpOnly; Secure", p
	},
	"connection string": func(m mint) (string, string) {
		p := m.of(alnum, 12) + "!7"
		return "Server=db;Database=shop;User Id=app;Password=" + p + ";Encrypt=true", p
	},
	"Azure connection string": func(m mint) (string, string) {
		p := m.of(std64, 86) + "=="
		return "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=" + p + ";EndpointSuffix=core.windows.net", p
	},
	"signed address": func(m mint) (string, string) {
		p := m.of(hex, 64)
		return "GET https://b.s3.amazonaws.com/x?X-Amz-Credential=c%2F20261124&X-Amz-Signature=" + p + "&X-Amz-Expires=300", p
	},
	".netrc": func(m mint) (string, string) {
		p := m.of(alnum, 20)
		return "machine api.example.com login ada password " + p + "\n", p
	},
	".npmrc": func(m mint) (string, string) {
		p := m.uuid()
		return "//registry.example.com/:_authToken=" + p + "\n", p
	},
	".pgpass": func(m mint) (string, string) {
		p := m.of(alnum, 16)
		return "PGPASSWORD=" + p + " psql -h db -U app", p
	},
	"docker config": func(m mint) (string, string) {
		p := base64.StdEncoding.EncodeToString([]byte("ada:" + m.of(alnum, 20)))
		return "{\"auths\": {\"reg.example.com\": {\"auth\": \"" + p + "\"}}}", p
	},
	"kubernetes": func(m mint) (string, string) {
		p := base64.StdEncoding.EncodeToString([]byte(m.of(alnum, 30)))
		return "apiVersion: v1\nkind: Secret\ndata:\n  password: " + p + "\n", p
	},
	"a private key": func(m mint) (string, string) {
		p := wrapped(m.of(std64, 640), 64)
		return "read key:\n-----BEGIN " + m.one("RSA ", "EC ", "OPENSSH ", "") + "PRIVATE KEY-----\n" + p + "\n-----END PRIVATE KEY-----\ndone", p
	},
	"a private key in JSON": func(m mint) (string, string) {
		p := quoted(wrapped(m.of(std64, 640), 64))
		p = p[1 : len(p)-1]
		return `{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\n` + p + `\n-----END PRIVATE KEY-----\n","client_id":"1"}`, p
	},
	"a model's key in an error": func(m mint) (string, string) {
		p := "sk-ant-api03-" + m.of(url64, 30)
		return "the key " + p + " is too short", p
	},
}

// harmless are texts as logs, reports and settings have them, in which nothing is secret.
var harmless = map[string]func(m mint) string{
	"commit":       func(m mint) string { return "commit " + m.of(hex, 40) + " (HEAD -> main)" },
	"short commit": func(m mint) string { return m.of(hex, 7) + " Tokens: count them in the stream" },
	"diff":         func(m mint) string { return "index " + m.of(hex, 7) + ".." + m.of(hex, 7) + " 100644" },
	"UUID":         func(m mint) string { return "session " + m.uuid() + " resumed" },
	"key of a map": func(m mint) string { return `{"key":"` + m.uuid() + `","value":3}` },
	"operation": func(m mint) string {
		return `{"operation_id":"op_01` + m.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24) + `","state":"pending"}`
	},
	"image":     func(m mint) string { return "FROM golang@sha256:" + m.of(hex, 64) },
	"integrity": func(m mint) string { return `"integrity": "sha512-` + m.of(std64, 86) + `==",` },
	"go.sum":    func(m mint) string { return "github.com/acme/token v1.2.3 h1:" + m.of(std64, 43) + "=" },
	"stack": func(m mint) string {
		return "main.(*Server).authenticate(0xc" + m.of(hex, 9) + ", {0x" + m.of(hex, 6) + ", 0x" + m.of(hex, 2) + "})\n\t/src/auth/token.go:" + m.of("123456789", 3) + " +0x" + m.of(hex, 3)
	},
	"goroutine": func(m mint) string {
		return "goroutine " + m.of("123456789", 3) + " [chan receive, 12 minutes]:\nruntime.gopark(0x" + m.of(hex, 6) + "?, 0x0?)"
	},
	"registers": func(m mint) string {
		return "rax    0x" + m.of(hex, 12) + "\nrbx    0x" + m.of(hex, 12) + "\nrip    0x" + m.of(hex, 6)
	},
	"path": func(m mint) string { return "/home/ada/.cache/go-build/" + m.of(hex, 2) + "/" + m.of(hex, 64) + "-d" },
	"nix": func(m mint) string {
		return "/nix/store/" + m.of(digits+"abcdfghijklmnpqrsvwxyz", 32) + "-openssl-3.0.12/lib"
	},
	"Windows path": func(m mint) string {
		return `C:\Users\Ada\AppData\Local\Temp\go-build` + m.of(digits, 10) + `\b001\exe\app.exe`
	},
	"picture": func(m mint) string { return "pictures/" + m.of(hex, 2) + "/" + m.of(hex, 64) + ".png 1920x1080" },
	"log line": func(m mint) string {
		return `time=2026-11-24T04:00:00Z level=INFO msg="client connected" client=claude-code pid=` + m.of("123456789", 5)
	},
	"settings": func(m mint) string { return "model.max_input_tokens = " + m.of("123456789", 5) + " (default)" },
	"settings, key": func(m mint) string {
		return "phone.enabled = false (config.toml)\nserver.addr = \"127.0.0.1:" + m.of("123456789", 4) + "\""
	},
	"public key": func(m mint) string {
		return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + m.of(std64, 43) + " ada@example.com"
	},
	"fingerprint": func(m mint) string { return "SHA256:" + m.of(std64, 43) + " ada@example.com (ED25519)" },
	"address": func(m mint) string {
		return "GET https://example.com/blob/" + m.of(hex, 40) + "/src/keys.go?tab=" + m.of(lower, 6) + "#L12 200"
	},
	"etag":          func(m mint) string { return `ETag: "` + m.of(hex, 32) + `"` },
	"receipt":       func(m mint) string { return `"digest":"` + m.of(hex, 64) + `","version":4` },
	"password rule": func(m mint) string { return "Password: at least " + m.of("89", 1) + " characters" },
	"tokens": func(m mint) string {
		return "tokens: " + m.of("123456789", 4) + " in, " + m.of("123456789", 3) + " out; token_count=" + m.of("123456789", 5)
	},
	"variables": func(m mint) string {
		return "ANTHROPIC_API_KEY is not set; see $OPENAI_API_KEY, or `deskbell model set-key`"
	},
	"placeholder": func(m mint) string {
		return "API_KEY=your-api-key-here\nTOKEN=<token>\nPASSWORD=changeme\nSECRET=${SECRET}"
	},
	"cache key": func(m mint) string { return "cache key: build-linux-go1.26-" + m.of(hex, 8) + "-main hit" },
	"key press": func(m mint) string {
		return `{"key":"Enter","code":"NumpadEnter","keys":["ctrl+alt+b"],"selector":"#token-list > li:nth-child(` + m.of("123456789", 1) + `)"}`
	},
	"data image": func(m mint) string { return "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA" + m.of(std64, 200) + "==" },
	"Chinese": func(m mint) string {
		return "模型密钥：未设置。请在设置中填写，编号 " + m.of(digits, 6) + "。"
	},
}

// A reading is how a masker did with all of them, from one seed.
type reading struct {
	secrets, kept int
	missed        map[string]int // provider or carrier, by how often a part of a secret was left
	texts, marked int
	wrong         map[string]int // harmless texts of which something was hidden
	examples      []string
}

// leaks says whether as much of a secret is left as is of use: half of what is random of it, in one piece.
func leaks(masked, secret string) bool {
	plain := strings.NewReplacer("\n", "", " ", "", `\n`, "").Replace
	masked, secret = plain(masked), plain(secret)
	n := max(8, min(len(secret)/2, 20))
	if len(secret) < n {
		return strings.Contains(masked, secret)
	}
	for i := 0; i+n <= len(secret); i++ {
		if strings.Contains(masked, secret[i:i+n]) {
			return true
		}
	}
	return false
}

func read(m *masking.Masker, seed uint64, rounds int) reading {
	r := reading{missed: map[string]int{}, wrong: map[string]int{}}
	try := func(text, secret string, names ...string) {
		r.secrets++
		masked := m.Text(text)
		if !leaks(masked, secret) {
			return
		}
		r.kept++
		for _, n := range names {
			r.missed[n]++
		}
		r.examples = append(r.examples, strings.Join(names, " / ")+": "+text)
	}
	made := minted(seed)
	for range rounds {
		for _, p := range providers {
			for _, c := range carriers {
				if p.named && !c.named {
					continue
				}
				key := p.key(made)
				text := c.text(made, p.variable, key)
				if c.name == "a query" {
					key = escaped(key)
				}
				if strings.HasPrefix(key, "https:") {
					key = key[strings.LastIndex(key, "/")+1:] // the rest is in no way secret
				}
				try(text, key, p.name, "in "+c.name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(others)) {
			text, secret := others[name](made)
			try(text, secret, name)
		}
		for _, name := range slices.Sorted(maps.Keys(harmless)) {
			r.texts++
			text := harmless[name](made)
			if masked, found := m.Mask(text); found {
				r.marked++
				r.wrong[name]++
				r.examples = append(r.examples, "harmless, "+name+": "+masked)
			}
		}
	}
	return r
}

func table(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "%6d  %s\n", counts[n], n)
	}
	return b.String()
}

// Keys of real providers, by their shapes, in the places where logs, reports and settings have them. DESKBELL_MASKING_SEED makes others.
func TestKeysOfProviders(t *testing.T) {
	t.Parallel()
	seed := uint64(20261124)
	if n, err := strconv.ParseUint(os.Getenv("DESKBELL_MASKING_SEED"), 10, 64); err == nil {
		seed = n
	}
	r := read(masking.New(), seed, 4)
	t.Logf("seed %d: of %d secrets %d are left; of %d harmless texts %d are changed", seed, r.secrets, r.kept, r.texts, r.marked)
	t.Logf("left:\n%s", table(r.missed))
	t.Logf("changed:\n%s", table(r.wrong))
	if os.Getenv("DESKBELL_MASKING_SHOW") != "" {
		t.Log(strings.Join(r.examples, "\n"))
	}
	if r.kept*200 > r.secrets || r.marked*200 > r.texts {
		t.Error("more than 1 in 200")
	}
}
