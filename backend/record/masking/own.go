package masking

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// own are shapes that gitleaks does not look for, because a program's source seldom has them.
func own() []*rule {
	expr := func(e string) func() *regexp.Regexp {
		return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(e) })
	}
	return []*rule{
		// gitleaks wants a whole block; one that was cut off is a secret as well.
		{words: []string{"private key"},
			expr: expr(`(?s)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----|\z)`)},
		// A password in an address: https://me:secret@example.org
		{words: []string{"://"}, expr: expr(`(?i)\b[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@•]+)@`)},
		// Secrets among the parameters of an address.
		{words: []string{"?", "&", "#"},
			expr: expr(`(?i)[?&#](?:[a-z0-9]+[._-])*(?:token|api_?key|key|signature|sig|password|passwd|pwd|secret|session_?id|sid|auth)=([^&#\s"']{6,})`)},
		{words: []string{"bearer ", "basic "}, expr: expr(`(?i)\b(?:bearer|basic)\s+([a-z0-9._~+/-]{16,}=*)`), allowed: withoutDigit},
		// What people write down: password: hunter2. A word alone is not taken for one ("password: required").
		{words: []string{"pass", "pwd", "kennwort", "密码", "密碼", "口令"},
			expr:    expr(`(?i)(?:password|passwort|kennwort|passwd|passcode|passphrase|pwd|密码|密碼|口令)["'\x60]?\s*(?:[:=：]|\bis\b|是|为)\s*["'\x60]?([^\s"'\x60<>$]{4,64})`),
			allowed: plainWord},
		{words: []string{"pin"}, expr: expr(`\b(?:PIN|Pin|pin)\s*[:=：]\s*([0-9]{4,12})\b`)},
		// In a terminal: --password hunter2
		{words: []string{"-pass", "-pwd", "-token", "-secret", "-api"},
			expr: expr(`(?i)(?:^|\s)--?(?:password|passwd|passphrase|pwd|token|secret|api-?key)(?:=|\s+)["']?([^\s"'<$-][^\s"'<$]{3,})`)},
	}
}

func withoutDigit(_, secret string) bool { return !strings.ContainsAny(secret, "0123456789") }

// plainWord says that something is more likely a word, a number or a mask than a password: it needs a letter,
// and beside it a digit or a sign that words do not have.
func plainWord(_, secret string) bool {
	letter, other := false, false
	for _, r := range secret {
		switch {
		case r < unicode.MaxASCII && unicode.IsLetter(r):
			letter = true
		case unicode.IsDigit(r) || strings.ContainsRune("!@#%^&*+=~|\\?_", r):
			other = true
		}
	}
	return !letter || !other
}

var cardShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:\d{4}([ -])\d{4}[ -]\d{4}[ -]\d{4}(?:[ -]?\d{3})?|\d{4}[ -]\d{6}[ -]\d{4,5}|\d{13,19})\b`)
})

// cards finds numbers of payment cards: written as on cards, of a length and with a beginning that issuers use,
// and right by their check digit (ISO/IEC 7812-1, Luhn).
func cards(text string, found []span) []span {
	for at := 0; at < len(text); {
		next := strings.IndexFunc(text[at:], func(r rune) bool { return r >= '0' && r <= '9' })
		if next < 0 {
			break
		}
		at += next
		m := cardShape().FindStringIndex(text[at:])
		if m == nil {
			break
		}
		s := span{at + m[0], at + m[1]}
		if isCard(text[s.from:s.to]) {
			found = append(found, s)
			at = s.to
			continue
		}
		// Another number may stand before the card's: continue after its first group.
		at = s.from
		for at < s.to && text[at] >= '0' && text[at] <= '9' {
			at++
		}
	}
	return found
}

func isCard(number string) bool {
	digits := strings.NewReplacer(" ", "", "-", "").Replace(number)
	return issued(digits) && luhn(digits)
}

// issued says whether a number begins and is as long as those of the large issuers.
func issued(d string) bool {
	n, four := len(d), d[:4]
	between := func(low, high string) bool { return four[:len(low)] >= low && four[:len(high)] <= high }
	switch {
	case d[0] == '4':
		return n == 13 || n == 16 || n == 19
	case between("51", "55"), between("2221", "2720"), between("6011", "6011"), between("644", "659"):
		return n == 16
	case between("34", "34"), between("37", "37"):
		return n == 15
	case between("3528", "3589"), between("62", "62"):
		return n >= 16
	case between("300", "305"), between("36", "36"), between("38", "39"):
		return n == 14 || n == 16
	}
	return false
}

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
			if d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
