package fresh

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

// says are the words by which summaries say that something was done, outside of quotations, in both languages.
var says = map[string]*regexp.Regexp{
	Create:  regexp.MustCompile(`(?i)\b(created|added)\b|(已|新)(创建|建)|(创建|新建|添加)了`),
	Save:    regexp.MustCompile(`(?i)\bsaved\b|已保存|保存了`),
	Delete:  regexp.MustCompile(`(?i)\b(deleted|removed)\b|已删除|删除了`),
	Move:    regexp.MustCompile(`(?i)\bmoved\b|已移|移(动)?到|移动了`),
	Send:    regexp.MustCompile(`(?i)\b(sent|submitted)\b|已(发送|提交)|(发送|提交)了`),
	Upload:  regexp.MustCompile(`(?i)\buploaded\b|已上传|上传了`),
	Publish: regexp.MustCompile(`(?i)\bpublished\b|已发布|发布了`),
	Pay:     regexp.MustCompile(`(?i)\bpaid\b|已(支付|付款)|支付了|付了`),
	Approve: regexp.MustCompile(`(?i)\bapproved\b|已批准|批准了`),
	SignIn:  regexp.MustCompile(`(?i)\bsigned in\b|已登录|登录成功|登录了`),
}

var (
	noChange   = regexp.MustCompile(`(?i)nothing (was|has been|is) (changed|picked|done|entered)|without (changing|any change)|no changes? (was|were) made|(没有|未)(作|做|进行)?(任何)?(更改|改动|修改|变更|选取|改变)`)
	noMessage  = regexp.MustCompile(`(?i)no page, message or download|no message|没有看到页面跳转、提示|没有(看到)?提示`)
	negated    = regexp.MustCompile(`(?i)\b(not|never|nothing|no|without|cannot|canceled|cancelled|refused|failed)\b|n't\b|没有|未|无法|不足|取消|失败|不能|拒绝`)
	wasMet     = regexp.MustCompile(`(?i)^as expected|符合预期|如预期|与预期一致`)
	wasNotMet  = regexp.MustCompile(`(?i)^expected\b.*\bbut\b|预期.*(但|实际)|与预期.*不符`)
	notKnown   = regexp.MustCompile(`(?i)does not confirm|cannot be told|not seen|不足以确认|无法确认|未看到`)
	statuses   = regexp.MustCompile(`(^|[ (（，,:：“”])([45]\d\d)([ )）,，。;；:：]|\.\s|\.?$)`)
	quotations = regexp.MustCompile(`“[^”]*”|"[^"]*"`)
	cameToNone = regexp.MustCompile(`(?i)the sign-in at .* failed|was not taken|did not go through|登录失败|没有被接受|没有成功`)
	unsentForm = regexp.MustCompile(`(?i)filled in and not sent|填.*(未|没有)(提交|发送)`)
	mildly     = regexp.MustCompile(`(?i)for upload|typed \(hidden\) and sent|typed and sent|并提交；|not recorded|没有记录|未记录`)
)

// Hold decomposes a report into claims and holds each against the truth. A sentence that says nothing which the truth
// knows is open.
func Hold(lang string, r human.Report, t Truth) (all []Claim) {
	add := func(where, text string) {
		for _, s := range sentences(text) {
			verdict, why := weigh(s, t)
			all = append(all, Claim{lang, where, s, verdict, why})
		}
	}
	add("line", r.Line)
	add("text", r.Text)
	for _, f := range r.Findings {
		if f.Kind == human.FoundValue {
			all = append(all, value(lang, f, t))
			continue
		}
		add("finding "+string(f.Kind), f.Text)
	}
	for _, f := range r.Suggestions {
		add("suggestion", f.Text)
	}
	all = slices.CompactFunc(all, func(a, b Claim) bool { return a == b })
	return append(all, unsaid(lang, r, t)...)
}

// sentences are those of a text; a full stop within a quotation ends none.
func sentences(text string) (all []string) {
	depth, start := 0, 0
	runes := []rune(text)
	cut := func(end int) {
		if s := strings.TrimSpace(string(runes[start:end])); s != "" {
			all = append(all, s)
		}
		start = end
	}
	for i, c := range runes {
		switch {
		case c == '“':
			depth++
		case c == '”':
			depth--
		case depth > 0:
		case c == '\n' || c == '。' || c == '；' || c == ';', c == '.' && (i+1 == len(runes) || runes[i+1] == ' ' || runes[i+1] == '\n'):
			cut(i + 1)
		}
	}
	cut(len(runes))
	return all
}

// weigh says what a sentence is worth.
func weigh(s string, t Truth) (verdict, why string) {
	bare := quotations.ReplaceAllString(s, "“”")
	is := func(ok bool, why string) (string, string) {
		if ok {
			return "true", ""
		}
		return "false", why
	}
	switch {
	case notKnown.MatchString(bare) && (strings.Contains(strings.ToLower(bare), "expected") || strings.Contains(bare, "预期")):
		if t.Expected == Met || t.Expected == NotMet {
			return "not said", "the expected outcome was " + t.Expected
		}
		return "true", ""
	case wasMet.MatchString(bare):
		return is(t.Expected == Met, "the expected outcome was "+t.Expected)
	case wasNotMet.MatchString(bare):
		return is(t.Expected == NotMet, "the expected outcome was "+t.Expected)
	case unsentForm.MatchString(bare):
		return is(t.Unsent || slices.ContainsFunc(t.Facts, func(f Fact) bool { return !f.Happened }), "what was filled in was sent")
	case noChange.MatchString(bare):
		return is(!t.Touched && !t.changed(), "something was changed, filled in or set")
	case noMessage.MatchString(bare):
		return is(!slices.ContainsFunc(t.Facts, func(f Fact) bool { return f.Seen }), "the page showed a message")
	}
	if cameToNone.MatchString(bare) {
		return is(slices.ContainsFunc(t.Facts, func(f Fact) bool { return f.Tries > 1 || f.Tries > 0 && !f.Happened }), "nothing failed")
	}
	for _, m := range statuses.FindAllStringSubmatch(bare, -1) {
		if status, _ := strconv.Atoi(m[2]); !slices.Contains(t.Errors, status) && !slices.Contains(t.Numbers, m[2]) && !slices.Contains(slices.Collect(maps.Values(t.Fields)), m[2]) && !strings.Contains(bare, m[2]+" ms") {
			return "false", "nothing answered with " + m[2]
		}
	}
	if mildly.MatchString(bare) {
		return "open", ""
	}
	return weighDone(bare, t, is)
}

// weighDone weighs a sentence that says that something was done, or was not.
func weighDone(bare string, t Truth, is func(ok bool, why string) (string, string)) (verdict, why string) {
	for verb, words := range says {
		if !words.MatchString(bare) {
			continue
		}
		did := t.happened(verb, "") || verb == Send && (t.happened(Create, "") || t.happened(Save, "") || t.happened(Pay, "") || t.happened(SignIn, "") || t.happened(Publish, "")) || verb == Create && t.happened(Publish, "") || verb == Save && t.happened(Set, "")
		if negated.MatchString(bare) {
			if tried := slices.ContainsFunc(t.Facts, func(f Fact) bool { return f.Verb == verb }); tried && !strings.Contains(bare, "first") && !strings.Contains(bare, "第") {
				failed := slices.ContainsFunc(t.Facts, func(f Fact) bool { return f.Verb == verb && (!f.Happened || f.Tries > 1) })
				return is(failed, "it did happen: "+verb)
			}
			continue
		}
		return is(did, "it did not happen: "+verb)
	}
	return "open", ""
}

// value holds a value that was asked for against the page.
func value(lang string, f human.Finding, t Truth) Claim {
	c := Claim{Lang: lang, Where: "finding value", Text: f.Text, Verdict: "open"}
	for _, ref := range f.Evidence {
		want, known := t.Fields[ref.ID]
		if ref.Kind != human.RefField || !known {
			continue
		}
		c.Verdict = "true"
		if !strings.Contains(f.Text, want) {
			c.Verdict, c.Why = "false", ref.ID+" is "+want
		}
	}
	return c
}

// weight is how much a verb has of consequence, for the headline.
var weight = map[string]int{Pay: 9, Send: 8, Delete: 7, Publish: 6, Approve: 6, Create: 5, Upload: 5, Move: 4, Save: 4, Set: 3, SignIn: 2}

// unsaid are the facts that no part of a report has, and the headline's lack of the largest.
func unsaid(lang string, r human.Report, t Truth) (all []Claim) {
	text := r.Line + "\n" + r.Text
	for _, f := range r.Findings {
		text += "\n" + f.Text
	}
	mentions := func(text string, f Fact) bool {
		words := says[f.Verb]
		for _, s := range sentences(text) {
			if notKnown.MatchString(quotations.ReplaceAllString(s, "")) {
				continue
			}
			if !f.Happened && cameToNone.MatchString(quotations.ReplaceAllString(s, "")) {
				return true
			}
			if f.Object != "session" && strings.Contains(s, f.Object) || words != nil && words.MatchString(quotations.ReplaceAllString(s, "")) || f.Verb == SignIn && (strings.Contains(s, "Sign-in") || strings.Contains(s, "登录")) {
				return true
			}
		}
		return false
	}
	var first *Fact
	for i, f := range t.Facts {
		if f.Tries == 0 && !f.Happened {
			continue
		}
		if !mentions(text, f) {
			all = append(all, Claim{lang, "report", f.Verb + " " + f.Object, "not said", map[bool]string{true: "it happened", false: "it was tried and failed"}[f.Happened]})
		}
		if first == nil || weight[f.Verb] > weight[first.Verb] {
			first = &t.Facts[i]
		}
	}
	if first != nil && !mentions(r.Line, *first) {
		all = append(all, Claim{lang, "line", r.Line, "not said", "the headline lacks " + first.Verb + " " + first.Object})
	}
	return all
}
