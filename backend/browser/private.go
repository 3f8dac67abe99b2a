package browser

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// mask hides known shapes of secrets in a text.
func (b *Browser) mask(text string) string {
	if b.o.Masker == nil || text == "" {
		return text
	}
	text, _ = b.o.Masker.Mask(text)
	return text
}

// maskURL hides what is secret in a URL: user and password, the values of named parameters, also in its fragment, and
// known shapes. Of a data URL only the beginning is left.
func (b *Browser) maskURL(raw string) string {
	if scheme, rest, ok := strings.Cut(raw, ":"); ok && (scheme == "data" || scheme == "javascript") {
		kind, _, _ := strings.Cut(rest, ",")
		return scheme + ":" + cut(kind, 40) + ",…"
	}
	return b.mask(maskURL(cut(raw, maxURL), b.parameters()))
}

// parameters are the names of URL parameters that are hidden, beside the built-in ones: those of the settings, and
// those of fields for passwords that were typed into, which a form that is sent by GET puts into its address.
func (b *Browser) parameters() []string {
	b.namesMu.Lock()
	defer b.namesMu.Unlock()
	return slices.Concat(b.o.Parameters, b.secretNames)
}

// maxSecretNames is how many names of fields are remembered; the oldest go.
const maxSecretNames = 50

var namedField = regexp.MustCompile(`\[name="([^"\\]+)"\]$`)

// remember remembers the name of a field for passwords.
func (b *Browser) remember(e *human.Element) {
	if e == nil || !e.Secret {
		return
	}
	for _, s := range e.Selectors {
		found := namedField.FindStringSubmatch(s[len(s)-1])
		if found == nil {
			continue
		}
		b.namesMu.Lock()
		if !slices.Contains(b.secretNames, found[1]) {
			b.secretNames = append(b.secretNames, found[1])
			b.secretNames = b.secretNames[max(0, len(b.secretNames)-maxSecretNames):]
		}
		b.namesMu.Unlock()
	}
}

// maxURL is how many bytes of a URL are kept.
const maxURL = 4000

// private says whether a page is not recorded: one of an excluded site, or one of the browser's own and of its
// extensions, such as a password manager.
func (b *Browser) private(raw string) bool {
	if raw == "" {
		return false
	}
	u, err := url.Parse(raw)
	if err != nil {
		return true
	}
	switch strings.ToLower(u.Scheme) {
	case "blob", "filesystem":
		return b.private(u.Opaque)
	case "http", "https", "ws", "wss", "ftp":
		host, path := strings.ToLower(u.Hostname()), u.EscapedPath()
		return slices.ContainsFunc(b.o.Exclude, func(pattern string) bool { return excludes(pattern, host, u.Port(), path) })
	case "about", "data", "file", "javascript":
		return false
	case "chrome-error":
		return false
	}
	return !isNewTab(raw)
}

// isNewTab says whether a page is what a browser shows in a new tab, or a frame in that.
func isNewTab(raw string) bool {
	scheme, rest, ok := strings.Cut(raw, "://")
	scheme = strings.TrimSuffix(scheme, "-untrusted") // of frames with what comes from the web
	host, _, _ := strings.Cut(rest, "/")
	return ok && slices.Contains([]string{"chrome", "edge", "brave"}, scheme) && slices.Contains([]string{"newtab", "new-tab-page", "new-tab-page-third-party"}, host)
}

// excludes says whether a pattern, HOST or HOST:PORT or either with /PATH, with * for anything, names a page. Without
// a path it names all of the host.
func excludes(pattern, host, port, path string) bool {
	pattern = strings.TrimSpace(pattern)
	if _, rest, ok := strings.Cut(pattern, "://"); ok {
		pattern = rest
	}
	if pattern == "" {
		return false
	}
	where, what, hasPath := strings.Cut(pattern, "/")
	where = strings.ToLower(where)
	if !matches(where, host) && !matches(where, host+":"+port) {
		return false
	}
	return !hasPath || what == "" || matches("/"+what, path) || matches("/"+strings.TrimSuffix(what, "/")+"/*", path)
}

func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	ok, err := regexp.MatchString("^(?s:"+strings.Join(parts, ".*")+")$", text)
	return err == nil && ok
}

// checkPrivate notes that a frame has come to show a private page, or has left it.
func (t *tab) checkPrivate(f *frame, at int64) {
	if !t.conceals(f) {
		t.endGap(f, at)
	} else if f.away == 0 {
		t.b.change(func() { f.away = at })
	}
}

// endGap reports the time in which a frame showed a private page, if it did, and not of what.
func (t *tab) endGap(f *frame, at int64) {
	if f.away == 0 {
		return
	}
	from := f.away
	t.b.change(func() { f.away = 0 })
	t.b.emit(gap(from, at, "excluded", 0))
}

func (t *tab) endGaps(at int64) {
	for _, f := range t.frames {
		t.endGap(f, at)
	}
}

func (b *Browser) endGaps() {
	for _, t := range b.order {
		t.endGaps(b.now())
	}
}

// hidden says whether nothing may be recorded of a frame, which may say itself where it is: it, one around it, or its
// page is private.
func (t *tab) hidden(f *frame, href string) bool {
	if href != "" && t.b.private(href) {
		return true
	}
	for ; f != nil; f = f.parent {
		if t.conceals(f) {
			return true
		}
	}
	return t.conceals(t.main)
}
