// Package masking hides secrets in texts by their shape. The shapes are those gitleaks keeps: some 220 kinds of
// keys and tokens, each with the words that go with it and how random it must look. What a scanner of source code
// does not look for, and a recorder of a desktop meets, is added in own.go.
package masking

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// Hidden stands for a secret in a masked text.
const Hidden = "•••"

// A Masker is a record.Masker. It is safe for concurrent use, does no I/O, and takes time in proportion to the
// text's length. New costs nothing: the rules are read at the first text, and each expression is compiled at the
// first text that has one of its words.
type Masker struct {
	rules func() ([]*rule, error)
}

// New makes a Masker.
func New() *Masker { return &Masker{rules: sync.OnceValues(rules)} }

// Mask replaces each secret by Hidden, and keeps the rest as it is. Where a secret of some length is found, it is
// hidden wherever else it stands in the text.
func (m *Masker) Mask(text string) (string, bool) {
	all, err := m.rules()
	if err != nil {
		return Hidden, true // cannot be, with rules built in; and if it is, then nothing gets out
	}
	found := find(all, text)
	if len(found) == 0 {
		return text, false
	}
	return hide(text, found), true
}

func find(all []*rule, text string) []span {
	found := findIn(all, text)
	if whole, at := unwrapped(text); at != nil {
		for _, s := range findIn(all, whole) {
			found = append(found, span{at[s.from], at[s.to-1] + 1})
		}
	}
	return found
}

func findIn(all []*rule, text string) []span {
	lower, plain := lowered(text), ended(text)
	var found []span
	for _, r := range all {
		if r.mayBeIn(lower) {
			found = r.find(plain, found)
		}
	}
	for _, m := range marks() {
		found = m.find(text, lower, found)
	}
	return cards(plain, strangers(text, found))
}

const (
	ellipsis = "…"
	// longestWhole is how much of a whole is looked through, in bytes.
	longestWhole = 16 << 10
	// leastPart is how much of a secret gives it away, in bytes.
	leastPart = 4
)

// Within returns what hides secrets in texts that are made of parts of a whole: as Mask does, and beside it the secrets of
// the whole, and what stands of one before an ellipsis, where the text was cut. Of a whole that is longer than 16 KiB the
// end is not looked at, and each word that an ellipsis cuts is hidden. What is returned is not safe for concurrent use.
func (m *Masker) Within(whole string) func(text string) string {
	all, err := m.rules()
	if err != nil {
		return func(string) string { return Hidden }
	}
	long := len(whole) > longestWhole
	if long {
		whole = whole[:longestWhole]
	}
	var secrets []string
	for _, s := range find(all, whole) {
		if secret := whole[s.from:s.to]; len(secret) >= 8 {
			secrets = append(secrets, secret)
		}
	}
	known := map[string]string{}
	return func(text string) string {
		masked, is := known[text]
		if !is {
			masked = text
			for _, s := range secrets {
				masked = strings.ReplaceAll(masked, s, Hidden)
			}
			if strings.Contains(masked, ellipsis) {
				masked = uncut(masked, secrets, long)
			}
			masked, _ = m.Mask(masked)
			known[text] = masked
		}
		return masked
	}
}

// uncut hides what is left of secrets before each ellipsis; with every, all of the word that it cuts.
func uncut(text string, secrets []string, every bool) string {
	parts := strings.Split(text, ellipsis)
	for i, part := range parts[:len(parts)-1] {
		left := len(part)
		for _, s := range secrets {
			for n := min(len(s)-1, len(part)); n >= leastPart; n-- {
				if strings.HasSuffix(part, s[:n]) {
					left = min(left, len(part)-n)
					break
				}
			}
		}
		if every {
			left = min(left, strings.LastIndexAny(part, " \t\r\n\"'\x60=:")+1)
		}
		if left < len(part) {
			parts[i] = part[:left] + Hidden
		}
	}
	return strings.Join(parts, ellipsis)
}

// A span is where a secret stands, in bytes.
type span struct{ from, to int }

func hide(text string, found []span) string {
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	var again []string
	at := 0
	for _, s := range found {
		if secret := text[s.from:s.to]; len(secret) >= 8 {
			again = append(again, secret, Hidden)
		}
		if s.to <= at {
			continue
		}
		if s.from >= at { // else it overlaps the one before
			out.WriteString(text[at:s.from])
			out.WriteString(Hidden)
		}
		at = s.to
	}
	out.WriteString(text[at:])
	return strings.NewReplacer(again...).Replace(out.String())
}

// ended is the text, byte for byte as long, with a space for each mark of punctuation that ends a word: many rules
// want a space or a quote after a secret, as it has in code; in a sentence there is a comma.
func ended(text string) string {
	b := []byte(text)
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case strings.IndexByte(".,;!?)]}", c) >= 0:
			if i+1 == len(b) || strings.IndexByte(" \t\r\n.,;!?)]}\"'", b[i+1]) >= 0 {
				b[i] = ' '
			}
		case c >= utf8.RuneSelf:
			if r, n := utf8.DecodeRune(b[i:]); strings.ContainsRune("，。；！？）」』】、…", r) {
				copy(b[i:], "   "[:n])
			}
		}
	}
	return string(b)
}

// lowered is the text, byte for byte as long, with small letters for the capitals of ASCII.
func lowered(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 32
		}
	}
	return string(b)
}

// A rule finds one kind of secret.
type rule struct {
	words   []string // in lower case; the text has one of them, or there is no need to look
	expr    func() *regexp.Regexp
	group   int     // the group that is the secret; 0: the first that matched, or all
	entropy float64 // bits per byte the secret must have more of
	allowed func(match, secret string) bool
}

func (r *rule) mayBeIn(lower string) bool {
	return slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(lower, w) })
}

func (r *rule) find(text string, found []span) []span {
	for _, at := range r.expr().FindAllStringSubmatchIndex(text, -1) {
		g := r.group
		for i := 1; g == 0 && i < len(at)/2; i++ {
			if at[2*i] < at[2*i+1] {
				g = i
			}
		}
		s := span{at[2*g], at[2*g+1]}
		if s.from < 0 || s.from == s.to {
			continue
		}
		secret := text[s.from:s.to]
		if r.entropy > 0 && entropy(secret) <= r.entropy || r.allowed != nil && r.allowed(text[at[0]:at[1]], secret) {
			continue
		}
		found = append(found, s)
	}
	return found
}

// isUUID is for what names like "key" mostly have without being secret.
var isUUID = regexp.MustCompile(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// rules are gitleaks' and our own.
func rules() ([]*rule, error) {
	var theirs config.ViperConfig // decoded without viper, which would keep it all in a global
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &theirs); err != nil {
		return nil, err
	}
	all := own()
	for _, t := range theirs.Rules {
		if t.Regex == "" || t.Path != "" {
			continue // for files of certain names only
		}
		r := &rule{group: t.SecretGroup, entropy: t.Entropy, expr: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(t.Regex) })}
		for _, w := range t.Keywords {
			r.words = append(r.words, strings.ToLower(w))
		}
		// The lists of what is no secret after all spare a reviewer examples from manuals, which may as well be
		// hidden here; but the rule that goes by words like "key" is of no use without.
		if t.ID == "generic-api-key" {
			var in []*regexp.Regexp
			var inMatch []*regexp.Regexp
			var words []string
			for _, a := range t.Allowlists {
				for _, e := range a.Regexes {
					switch a.RegexTarget {
					case "":
						in = append(in, regexp.MustCompile(e))
					case "match":
						inMatch = append(inMatch, regexp.MustCompile(e))
					}
				}
				words = append(words, a.StopWords...)
			}
			matches := func(in []*regexp.Regexp, s string) bool {
				return slices.ContainsFunc(in, func(e *regexp.Regexp) bool { return e.MatchString(s) })
			}
			r.allowed = func(match, secret string) bool {
				lower := strings.ToLower(secret)
				return isUUID.MatchString(secret) || strings.Contains(match, " h1:") || matches(in, secret) || matches(inMatch, match) ||
					slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// entropy is Shannon's, in bits for each byte.
func entropy(s string) float64 {
	var count [256]float64
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := n / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// Text returns a text with its secrets hidden.
func (m *Masker) Text(text string) string {
	masked, _ := m.Mask(text)
	return masked
}
