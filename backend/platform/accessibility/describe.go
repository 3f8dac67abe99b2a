package accessibility

import (
	"regexp"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
)

const (
	maxAncestors = 40
	maxName      = 200 // runes
	// How far up from what was pressed the thing that was meant may be.
	maxRetarget = 6
)

// describe makes the element that a person means by a node: the button, not the picture on it.
func (l *lookup) describe(kit toolkit, p placement, n node) human.Element {
	chain := l.chain(kit, l.known(kit, n.ref, toDescribe), maxAncestors)
	i := target(chain)
	t := l.known(kit, chain[i].ref, toDescribe)
	chain[i] = t
	e := human.Element{Role: t.role.word(), Bounds: p.desktop(t.box), States: t.states.words(), Ref: t.ref.String()}
	var hint string
	e.Name, hint = l.called(kit, t)
	e.Secret = secret(chain[i:], e.Name, hint)
	for _, a := range chain[i+1:] {
		name := clean(a.name)
		if name == "" && a.role.is(passive) {
			continue // boxes that only hold things together
		}
		e.Ancestry = append(e.Ancestry, human.Element{Role: a.role.word(), Name: name})
	}
	return e
}

// chain reads the names of the node's ancestors up to its window. It begins with the node itself.
func (l *lookup) chain(kit toolkit, n node, most int) []node {
	chain := []node{n}
	for len(chain) <= most && !n.parent.null() {
		above := l.known(kit, n.parent, withRole|withName|withParent)
		if above.gone || above.role == roleApplication || slices.ContainsFunc(chain, func(c node) bool { return c.ref == above.ref }) {
			break
		}
		chain, n = append(chain, above), above
	}
	return chain
}

// known is one, or what was read on the way down.
func (l *lookup) known(kit toolkit, r ref, what fields) node {
	if n, ok := l.path[r]; ok {
		return n
	}
	return l.one(kit, r, what)
}

// target is the index of what was meant.
func target(chain []node) int {
	for i, n := range chain {
		if i > maxRetarget || !n.role.is(interactive|passive) {
			return 0
		}
		if !n.role.is(interactive) {
			continue
		}
		// The arrow of a combo box is a button without a name.
		if i+1 < len(chain) && chain[i+1].role == roleComboBox && clean(n.name) == "" {
			return i + 1
		}
		return i
	}
	return 0
}

// called returns the accessible name of a node and what else it says of itself.
func (l *lookup) called(kit toolkit, n node) (name, hint string) {
	relations := l.ask(n.ref, accessible+"GetRelationSet")
	attributes := l.ask(n.ref, accessible+"GetAttributes")
	description := l.property(n.ref, accessible, "Description")

	var all map[string]string
	_ = attributes.into(&all) // none is as good
	placeholder := clean(all["placeholder-text"])
	about := clean(description.text())
	label := ""
	var related []struct {
		Type    uint32
		Targets []ref
	}
	const labelledBy = 2 // AtspiRelationType
	if relations.into(&related) == nil {
		for _, r := range related {
			if r.Type == labelledBy && len(r.Targets) > 0 {
				label = clean(l.property(r.Targets[0], accessible, "Name").text())
			}
		}
	}
	hint = strings.Join([]string{label, placeholder, about}, "\n")
	own := clean(n.name)
	if n.role == roleComboBox && label != "" {
		own = label // some call a combo box what is chosen in it
	}
	inner := ""
	if own == "" && n.role.is(titled) {
		inner = l.labels(kit, n)
	}
	for _, name = range []string{own, label, inner, placeholder, about} {
		if name != "" {
			break
		}
	}
	return name, hint
}

// labels are the words drawn on a node.
func (l *lookup) labels(kit toolkit, n node) string {
	const most = 32
	var words []string
	seen := 0
	var walk func(n node, depth int)
	walk = func(n node, depth int) {
		for _, c := range l.children(kit, n, toFind|withName) {
			if seen++; seen > most || !c.role.is(passive) || !c.shows(kit) || !c.box.empty() && !c.box.touches(n.box) {
				continue // the bullet of a list item stands outside of it
			}
			if name := clean(c.name); name != "" && (c.role == roleLabel || c.role == roleStatic || c.role == roleParagraph) {
				words = append(words, name)
			} else if depth < 4 {
				walk(c, depth+1)
			}
		}
	}
	walk(n, 0)
	return clean(strings.Join(words, " "))
}

// placeholder says whether a name is GTK 4's own word for a kind of widget.
func placeholder(name string) bool { return classes.MatchString(name) }

var classes = regexp.MustCompile(`^(Gtk|Adw)[A-Z][A-Za-z]+$`)

// clean makes a name one line of bounded length.
func clean(name string) string {
	if placeholder(name) {
		return ""
	}
	name = strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(name, "\uFFFC", " "), "")), " ")
	return human.Shorten(name, maxName)
}

// secret says whether the first of the chain is a field for something secret: by its role or by that of
// the field around it, or by its name, because a GTK 4 entry that shows dots cannot be told by role.
func secret(chain []node, name, hint string) bool {
	for i, n := range chain[:min(len(chain), 3)] {
		if n.role == rolePassword && (i == 0 || chain[0].role.is(typed)) {
			return true
		}
	}
	n := chain[0]
	return (n.role.is(typed) || n.states.has(stateEditable)) && secretWords.MatchString(name+"\n"+hint)
}

// secretWords are what fields for secrets are called.
var secretWords = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`pass\s?-?(word|wd|phrase|code|key)`, `\bpwd\b`, `\bpins?\b`, `\bone[- ]?time\b`, `\b[th]?otp\b`, `\b2fa\b`, `\bcv[vc]2?\b`,
	`\b(security|verification|authentication|recovery|access) codes?\b`, `\b(secret|private|api) ?keys?\b`, `\bsecret\b`, `\bseed phrase\b`,
	`密码`, `密碼`, `口令`, `验证码`, `驗證碼`, `动态码`, `一次性`, `密钥`, `金鑰`,
	`パスワード`, `パスフレーズ`, `暗証`, `認証コード`, `비밀번호`, `암호`, `인증번호`,
	`passwor[td]`, `kennwort`, `passphrase`, `geheim`, `mot de passe`, `phrase secrète`, `code secret`,
	`contraseña`, `\bclave\b`, `\bsenha\b`, `palavra-passe`, `parola d.ordine`, `parola`, `şifre`, `wachtwoord`, `lösenord`,
	`adgangskode`, `passord`, `salasana`, `hasło`, `heslo`, `jelszó`, `пароль`, `пин-?код`, `κωδικός`, `mật khẩu`, `رمز المرور`, `كلمة المرور`, `סיסמה`,
}, "|"))

// text reads what stands in a node; of a long text nothing, because a part would not be its value.
func (l *lookup) text(n node) (string, error) {
	const most = 10_000
	var v dbus.Variant
	if err := l.property(n.ref, textual, "CharacterCount").into(&v); err != nil {
		return "", err
	}
	count, _ := v.Value().(int32)
	if count > most {
		return "", human.Errorf(human.Exhausted, "the text has %d characters, and at most %d are read", count, most)
	}
	var s string
	err := l.ask(n.ref, textual+"GetText", int32(0), count).into(&s)
	return s, err
}
