package asking

import (
	"cmp"
	_ "embed" // the cues
	"math/bits"

	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed cues.tsv
var cueFile string

// A cue is a set of kinds: what the words of a sentence, or of a line, say about it. cues.tsv explains each.
type cue uint32

const (
	cueCourtesy cue = 1 << iota
	cueTold
	cueDemand
	cueOffer
	cueGate
	cueRhetorical
	cueMatter
	cuePoses
	cueThen
	cueChoice
	cueOfferAsked
	cueHowto
	cueSure
	cueOpener
	cueToUser
	cueUnmarked
	cueEmbedded
	cueAnswer
	cueAssumed
	cueWeak
	cueDone
	cueHeld
	cueLead
	cueIntro
	cueTitled
	cueFAQAsks
	cueFAQAnswers
	cueLetterOpens
	cueLetterCloses
)

// each calls do with the number of each kind of the set.
func (c cue) each(do func(uint32)) {
	for ; c != 0; c &= c - 1 {
		do(uint32(bits.TrailingZeros32(uint32(c))))
	}
}

var cueNames = map[string]cue{
	"courtesy": cueCourtesy, "told": cueTold, "demand": cueDemand, "offer": cueOffer, "gate": cueGate, "rhetorical": cueRhetorical, "matter": cueMatter, "poses": cuePoses, "then": cueThen, "choice": cueChoice, "offer-asked": cueOfferAsked, "howto": cueHowto, "sure": cueSure, "opener": cueOpener,
	"to-user": cueToUser, "unmarked": cueUnmarked, "embedded": cueEmbedded, "answer": cueAnswer, "assumed": cueAssumed, "weak": cueWeak,
	"done": cueDone, "held": cueHeld, "lead": cueLead, "intro": cueIntro, "titled": cueTitled,
	"faq-asks": cueFAQAsks, "faq-answers": cueFAQAnswers, "letter-opens": cueLetterOpens, "letter-closes": cueLetterCloses,
}

// A pattern of cues.tsv. Of each of its needs, one stands in whatever it matches: all the grams of a text.
type pattern struct {
	cue     cue
	needs   [][][]uint32
	match   func() *regexp.Regexp // compiled when first needed; nil: it is the literal
	literal string
	han     bool // it matches Chinese only
}

// theCues is cues.tsv, which is read when it is first needed.
var theCues = sync.OnceValue(func() cueSet { return readCues(cueFile) })

type cueSet struct {
	patterns   []pattern
	simplified *strings.Replacer
}

// readCues reads cues.tsv: 'kind TAB pattern', 'let TAB name TAB pattern' for a {name} in later patterns, and
// 'simplified TAB pairs' of a traditional character and its simplified one, and 'chinese' before the
// patterns that match only where there are Chinese characters.
func readCues(file string) cueSet {
	var all []pattern
	var named, pairs []string
	chinese := false
	for line := range strings.Lines(file) {
		line = strings.TrimRight(line, "\r\n")
		kind, rest, _ := strings.Cut(line, "\t")
		if kind == "" || kind[0] == '#' {
			continue
		}
		switch kind {
		case "chinese":
			chinese = true
		case "let":
			name, alternatives, _ := strings.Cut(rest, "\t")
			named = append([]string{"{" + name + "}", "(?:" + strings.NewReplacer(named...).Replace(alternatives) + ")"}, named...)
		case "simplified":
			for pair := range strings.FieldsSeq(rest) {
				_, n := utf8.DecodeRuneInString(pair)
				pairs = append(pairs, pair[:n], pair[n:])
			}
		default:
			c, known := cueNames[kind]
			if !known {
				panic("cues.tsv: unknown kind " + kind)
			}
			expr := strings.NewReplacer(named...).Replace(rest)
			parsed, err := syntax.Parse(expr, syntax.Perl)
			if err != nil {
				panic("cues.tsv: " + err.Error())
			}
			alternatives := []*syntax.Regexp{parsed}
			if parsed.Op == syntax.OpAlternate {
				alternatives = parsed.Sub // each is looked for only where what it needs is
			}
			for _, e := range alternatives {
				all = append(all, newPattern(c, e, chinese))
			}
		}
	}
	return cueSet{all, strings.NewReplacer(pairs...)}
}

func newPattern(c cue, e *syntax.Regexp, chinese bool) pattern {
	p := pattern{cue: c, han: chinese}
	if e.Op == syntax.OpLiteral {
		p.literal = string(e.Rune)
	} else {
		expr := e.String()
		p.match = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	}
	for _, g := range needed(e.Simplify()) {
		var texts [][]uint32
		for _, t := range g {
			texts = append(texts, gramsIn(t))
		}
		p.needs = append(p.needs, texts)
	}
	return p
}

func (p *pattern) matches(text string) bool {
	if p.match == nil {
		return strings.Contains(text, p.literal)
	}
	return p.match().MatchString(text)
}

// A group is texts of which one stands in whatever an expression matches.
type group []string

// needed returns groups that all have to be met where an expression matches.
func needed(e *syntax.Regexp) []group {
	switch e.Op {
	case syntax.OpLiteral:
		return []group{{string(e.Rune)}}
	case syntax.OpCharClass:
		var g group
		for i := 0; i < len(e.Rune); i += 2 {
			if e.Rune[i+1]-e.Rune[i] > 30 || len(g) > 60 {
				return nil
			}
			for c := e.Rune[i]; c <= e.Rune[i+1]; c++ {
				g = append(g, string(c))
			}
		}
		return []group{g}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(e.Sub[0])
	case syntax.OpConcat:
		var all []group
		for _, sub := range e.Sub {
			all = append(all, needed(sub)...)
		}
		return all
	case syntax.OpAlternate:
		var union group
		for _, sub := range e.Sub {
			groups := needed(sub)
			if len(groups) == 0 {
				return nil
			}
			union = append(union, slices.MaxFunc(groups, func(a, b group) int { return cmp.Compare(a.rarity(), b.rarity()) })...)
		}
		return []group{union}
	}
	return nil
}

// rarity is higher where fewer texts have one of a group: a character of Chinese says as much as three letters.
func (g group) rarity() int {
	n := len(g[0])
	for _, t := range g[1:] {
		n = min(n, len(t))
	}
	return n*100 - len(g)
}

// grams is a set of the characters of a text and of their pairs, as hashes: what it has not, the text has not either.
type grams [512]uint64

func gramsOf(text string) *grams {
	var g grams
	last := rune(0)
	for _, c := range text {
		for _, bit := range [2]uint32{gram(0, c), gram(last, c)} {
			g[bit/64] |= 1 << (bit % 64)
		}
		last = c
	}
	return &g
}

func gram(a, b rune) uint32 { return (uint32(a)*0x9E3779B1 ^ uint32(b)*0x85EBCA6B) >> 17 }

// gramsIn lists the grams of a text that a pattern needs.
func gramsIn(text string) (bits []uint32) {
	runes := []rune(text)
	if len(runes) == 1 {
		return []uint32{gram(0, runes[0])}
	}
	for i := range runes[1:] {
		bits = append(bits, gram(runes[i], runes[i+1]))
	}
	return bits
}

// cuesOf says what the words of a sentence, or of a line, say, of the kinds that are wanted. The text is in lower case.
func cuesOf(text string, wanted cue) (found cue) {
	has, chinese := gramsOf(text), han(text)
	for i := range theCues().patterns {
		p := &theCues().patterns[i]
		if p.cue&wanted != 0 && (chinese || !p.han) && p.cue&found == 0 && p.mayMatch(has) && p.matches(text) {
			found |= p.cue
		}
	}
	return found
}

func (p *pattern) mayMatch(has *grams) bool {
	for _, g := range p.needs {
		if !slices.ContainsFunc(g, func(bits []uint32) bool {
			for _, b := range bits {
				if has[b/64]&(1<<(b%64)) == 0 {
					return false
				}
			}
			return true
		}) {
			return false
		}
	}
	return true
}
