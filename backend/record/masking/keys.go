package masking

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// prefixes are how providers' keys begin, and what follows. gitleaks knows most of them, but wants the end of a word as source code has
// it: a quote, a space. Here they may stand in anything: in JSON that is in JSON, in XML, in a list that Go prints.
var prefixes = []struct{ begins, rest string }{
	{"sk- sk_live_ sk_test_ rk_live_ rk_test_", `[A-Za-z0-9_-]{20,}`}, // Anthropic, OpenAI, OpenRouter, DeepSeek, Stripe
	{"gsk_ xai- pplx- r8_ hf_ npm_ whsec_ dckr_pat_ dop_v1_ doo_v1_ dor_v1_ lin_api_ ntn_ secret_ figd_ glsa_ sntrys_ dp.pt. rubygems_ nfp_", `[A-Za-z0-9_-]{26,}`},
	{"ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", `[A-Za-z0-9_]{30,}`},
	{"glpat- gldt- glrt- glptt- glft- glsoat- glagent-", `[A-Za-z0-9_-]{16,}`},
	{"AKIA ASIA ABIA ACCA", `[A-Z2-7]{16}`},
	{"AIza", `[A-Za-z0-9_-]{30,}`}, {"GOCSPX-", `[A-Za-z0-9_-]{20,}`}, {"ya29.", `[A-Za-z0-9_.-]{20,}`},
	{"xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", `[A-Za-z0-9-]{16,}`},
	{"pypi-AgE", `[A-Za-z0-9_-]{30,}`}, {"cio", `[A-Za-z0-9]{32}\b`}, {"dapi SK", `[0-9a-f]{32}`}, {"SG.", `[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`},
	{"shpat_ shpca_ shppa_ shpss_", `[0-9A-Fa-f]{32}`}, {"hvs. hvb. hvr.", `[A-Za-z0-9_-]{20,}`}, {"tskey-", `[A-Za-z0-9-]{20,}`},
	{"AGE-SECRET-KEY-1", `[A-Z0-9]{20,}`}, {"eyJ", `[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`},
	{"dbk_ dbo_ dbm_", `[A-Za-z0-9]{20,}`}, // Deskbell's own
}

// A mark is a text that a secret begins with or stands behind, and the expression of both from the mark on. It is found much faster than
// an expression that may begin anywhere.
type mark struct {
	text    string // in lower case for one of any case
	anyCase bool
	expr    func() *regexp.Regexp // its first group is the secret
	is      func(before, secret string) bool
}

func (m *mark) find(text, lower string, found []span) []span {
	in := text
	if m.anyCase {
		in = lower
	}
	for at := 0; ; at += len(m.text) {
		next := strings.Index(in[at:], m.text)
		if next < 0 {
			return found
		}
		at += next
		window := text[at:min(at+farthest, len(text))]
		g := m.expr().FindStringSubmatchIndex(window)
		if g == nil {
			continue
		}
		s := span{at + g[2], at + g[3]}
		if m.is(text[:at], text[s.from:s.to]) {
			for g[3] == len(window) && s.to < len(text) && strings.IndexByte(" \t\r\n\"'\x60,;<>", text[s.to]) < 0 {
				s.to++ // it is longer than the window
			}
			found = append(found, s)
		} else if g[1] < len(window)/2 {
			continue // in what is no secret another name may stand
		}
		at += g[1] - len(m.text)
	}
}

// farthest is how far from a mark is looked, in bytes, so that the time taken is in proportion to the text's length.
const farthest = 1 << 10

// value is what follows a name, however both are written: NAME=value, "name": "value", \"name\":\"value\", Name:[value], "--name" "value".
const value = `[\\"'\x60]{0,4}?\s{0,3}(?:=>|[:=]|["'],?\s?["'])\s{0,3}[\[\\"'\x60]*(?:(?i:bearer|basic)\s+)?([^\s"'\x60\\,;&<>(){}\[\]$•，。；！？）」』】、…]{8,})`

var marks = sync.OnceValue(func() []*mark {
	from := func(e string) func() *regexp.Regexp {
		return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A` + e) })
	}
	var all []*mark
	for _, p := range prefixes {
		for begins := range strings.FieldsSeq(p.begins) {
			all = append(all, &mark{text: begins, expr: from(`(` + regexp.QuoteMeta(begins) + p.rest + `)`), is: func(before, secret string) bool {
				return begun(before) && (strings.ContainsAny(secret, "0123456789") || strings.ToLower(secret) != secret && strings.ToUpper(secret) != secret)
			}})
		}
	}
	for _, name := range []string{"token", "secret", "password", "passwd", "passphrase", "pwd", "credential", "credentials", "authorization"} {
		all = append(all, &mark{text: name, anyCase: true, expr: from(`(?i:` + name + `)` + value), is: func(_, secret string) bool { return random(secret) }})
	}
	return append(all,
		&mark{text: "key", anyCase: true, expr: from(`(?i:key(?:[_-]?id)?)` + value), is: func(before, secret string) bool { return secretKey(before) && random(secret) }},
		&mark{text: "cookie", anyCase: true, expr: from(`(?i:cookie)["']?\s*[:=]\s*\[?["']?([^\s=;]+=[^\r\n"'\]]{8,})`), is: yes},
		&mark{text: "_auth", expr: from(`_auth(?:Token)?\s*=\s*["']?([^\s"'$]{8,})`), is: yes},                                    // npm
		&mark{text: `"auth`, expr: from(`"auth\\?"\s*:\s*\\?"([A-Za-z0-9+/=_-]{12,})`), is: yes},                                  // Docker
		&mark{text: "login ", expr: from(`login \s*\S+\s+password\s+(\S{4,})`), is: yes},                                          // .netrc
		&mark{text: " -u", expr: from(` -u\s*["']?[^\s:"']+:([^\s"']{4,})`), is: yes},                                             // curl
		&mark{text: " --user", expr: from(` --user[= ]["']?[^\s:"']+:([^\s"']{4,})`), is: yes},                                    //
		&mark{text: "Q~", expr: from(`Q~([A-Za-z0-9_~.-]{31,34})`), is: func(before, _ string) bool { return len(before) > 3 }},   // Azure
		&mark{text: ":AA", expr: from(`:(AA[A-Za-z0-9_-]{30,})`), is: func(before, _ string) bool { return endsInDigit(before) }}, // Telegram
		// The password of an address may have an @ of its own, and the user may be left out, or be a token.
		&mark{text: "://", expr: from(`://(?:[^/\s:@"']*:)?([^\s/@•"']{16,})@`), is: func(_, secret string) bool { return random(secret) }},
		// The address of a hook is as good as a password.
		&mark{text: "hook", anyCase: true, expr: from(`(?i:hooks?)[^\s"'<>\\]*/([A-Za-z0-9_-]{20,})`), is: func(_, secret string) bool { return random(secret) }},
	)
})

func yes(string, string) bool { return true }

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|32 >= 'a' && c|32 <= 'z'
}

// begun says whether a word begins after a text: \n and \t in JSON do not belong to one.
func begun(before string) bool {
	n := len(before)
	return n == 0 || !isWord(before[n-1]) || n > 1 && before[n-2] == '\\' && strings.IndexByte("nrt", before[n-1]) >= 0
}

func endsInDigit(s string) bool { return s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }

// What stands before "key" in names of secrets, and in names of what is none.
var (
	ofSecrets = []string{"api", "app", "access", "auth", "account", "encryption", "private", "secret", "service", "shared", "signing", "storage", "master"}
	ofOthers  = []string{"public", "cache", "primary", "foreign", "sort", "partition", "row", "object", "dedup", "idempotency", "lock", "hot", "sub", "map"}
)

// secretKey says whether the name that ends after before, and with "key", is one of a secret.
func secretKey(before string) bool {
	from := len(before)
	for from > 0 && len(before)-from < 40 && (isWord(before[from-1]) || before[from-1] == '-') {
		from--
	}
	name := strings.ToLower(before[from:])
	stem := strings.TrimRight(name, "_-")
	ends := func(with string) bool { return strings.HasSuffix(stem, with) }
	return stem != "" && !slices.ContainsFunc(ofOthers, ends) && (stem != name || slices.ContainsFunc(ofSecrets, ends))
}

// strangers finds keys that have no prefix of the list: a short beginning, a sign, and then what is no word.
func strangers(text string, found []span) []span {
	const least = 36
	for from := 0; from < len(text); {
		end := from
		for end < len(text) && (isWord(text[end]) || text[end] == '-') {
			end++
		}
		if end-from >= least && begun(text[:from]) {
			word := text[from:end]
			if from > 0 && text[from-1] == '\\' { // the n of \n
				word = word[1:]
			}
			sign := strings.IndexAny(word, "-_")
			if sign >= 2 && sign <= 10 && word[0] > '9' && !strings.HasPrefix(word, "sha") && jumbled(word[sign:]) {
				found = append(found, span{end - len(word), end})
			}
		}
		from = end + 1
	}
	return found
}

// jumbled says whether a word has digits, small and capital letters so mixed that no one gave it as a name.
func jumbled(word string) bool {
	var of [3]int
	for i := range len(word) {
		switch c := word[i]; {
		case c >= '0' && c <= '9':
			of[0]++
		case c >= 'a' && c <= 'z':
			of[1]++
		case c >= 'A' && c <= 'Z':
			of[2]++
		}
	}
	return slices.Min(of[:]) >= 3 && entropy(word) > 4.1
}

// random says whether what has the name of a secret looks like one, rather than like a word, a number, a path or a placeholder.
func random(value string) bool {
	value = strings.TrimRight(value, ".:!?")
	digits, letters := 0, 0
	for i := range len(value) {
		switch c := value[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c|32 >= 'a' && c|32 <= 'z':
			letters++
		}
	}
	switch {
	case len(value) < 8, letters == 0, strings.HasPrefix(value, "sha256:"), strings.HasPrefix(value, "h1:"), strings.Contains(value, "://"), strings.Contains(value, "..."):
		return false
	case digits == 0: // the names that programmers give have fewer capitals
		return len(value) >= 20 && strings.ToLower(value) != value && strings.ToUpper(value) != value && entropy(value) > 4
	case value[0] == '/': // a path, mostly
		return jumbled(value)
	}
	return entropy(value) > min(3.1, 2.4+float64(len(value))/25)
}

// broken is where a line may have been broken within a key: the line ends with a part of a word, and the next begins with one that has
// digits and letters.
var broken = regexp.MustCompile(`[A-Za-z0-9_+/=~.-]{4}\r?\n[ \t]{0,8}([A-Za-z0-9_+/~.-]{8,}=*)`)

// strange says whether a part of a word has digits, or letters so mixed as words do not.
func strange(part string) bool {
	low := strings.Count(strings.Map(func(r rune) rune { return map[bool]rune{true: 'x', false: '-'}[r >= 'a' && r <= 'z'] }, part), "x")
	up := strings.Count(strings.Map(func(r rune) rune { return map[bool]rune{true: 'x', false: '-'}[r >= 'A' && r <= 'Z'] }, part), "x")
	return strings.ContainsAny(part, "0123456789") || low >= 2 && up >= 2
}

// unwrapped is a text without the breaks that may be within a key, and where each of its bytes is in the text; nil where there is none.
func unwrapped(text string) (whole string, at []int) {
	var out []byte
	from := 0
	for next := from; ; {
		m := broken.FindStringSubmatchIndex(text[next:])
		if m == nil {
			break
		}
		start, end := next+m[2], next+m[3]
		next = start
		part := text[start:end]
		if end < len(text) && strings.IndexByte(" \t\r\n\"'`,;)]}\\<&", text[end]) < 0 || !strange(part) {
			continue
		}
		line := strings.LastIndexAny(text[:start], "\n")
		for line > from && text[line-1] == '\r' {
			line--
		}
		for i := from; i < line; i++ {
			out, at = append(out, text[i]), append(at, i)
		}
		from = start
	}
	if from == 0 {
		return "", nil
	}
	for i := from; i < len(text); i++ {
		out, at = append(out, text[i]), append(at, i)
	}
	return string(out), at
}
