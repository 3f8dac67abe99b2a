package browser

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// masked stands where something is hidden.
const masked = "•••"

// secretParameters are URL parameters whose values let somebody in: of OAuth and OpenID Connect, SAML, one-time links
// and session ids.
var secretParameters = []string{
	"access_token", "api_key", "apikey", "assertion", "auth", "client_secret", "code", "code_verifier", "id_token", "jsessionid", "jwt", "key",
	"otp", "passwd", "password", "phpsessid", "pwd", "refresh_token", "samlrequest", "samlresponse", "secret", "session", "session_id",
	"sessionid", "sid", "sig", "signature", "state", "ticket", "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature",
}

// parameters are the names of URL parameters that are masked, in lower case.
func (b *Browser) parameters() []string {
	names := slices.Clone(secretParameters)
	for _, p := range b.o.Parameters {
		names = append(names, strings.ToLower(p))
	}
	return names
}

// mask hides known shapes of secrets in a text.
func (b *Browser) mask(text string) string {
	if b.o.Masker == nil || text == "" {
		return text
	}
	text, _ = b.o.Masker.Mask(text)
	return text
}

// maskURL hides what is secret in a URL: user and password, the values of named parameters, also in its fragment, and
// known shapes. Of a data or blob URL only the beginning is left.
func (b *Browser) maskURL(raw string) string {
	if scheme, rest, ok := strings.Cut(raw, ":"); ok && (scheme == "data" || scheme == "javascript") {
		kind, _, _ := strings.Cut(rest, ",")
		return scheme + ":" + kind[:min(len(kind), 40)] + ",…"
	}
	u, err := url.Parse(raw)
	if err != nil {
		return b.mask(raw[:min(len(raw), 2000)])
	}
	if u.User != nil {
		u.User = nil
	}
	clean := u.String()
	if u.RawQuery != "" {
		clean = strings.Replace(clean, "?"+u.RawQuery, "?"+b.maskQuery(u.RawQuery), 1)
	}
	if head, fragment, ok := strings.Cut(clean, "#"); ok && strings.Contains(fragment, "=") {
		route, query, routed := strings.Cut(fragment, "?") // #/path?name=value of single-page applications
		if routed {
			fragment = route + "?" + b.maskQuery(query)
		} else {
			fragment = b.maskQuery(fragment)
		}
		clean = head + "#" + fragment
	}
	clean = b.mask(clean)
	if len(clean) > maxURL {
		clean = strings.ToValidUTF8(clean[:maxURL], "")
	}
	return clean
}

// maxURL is how much of a URL is kept.
const maxURL = 4000

func (b *Browser) maskQuery(query string) string {
	names := b.parameters()
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			continue
		}
		plain, err := url.QueryUnescape(name)
		if err != nil {
			plain = name
		}
		if slices.Contains(names, strings.ToLower(plain)) {
			parts[i] = name + "=" + masked
		}
	}
	return strings.Join(parts, "&")
}

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
	case "blob":
		return b.private(u.Opaque)
	case "http", "https", "ws", "wss", "ftp":
		host, path := strings.ToLower(u.Hostname()), u.EscapedPath()
		return slices.ContainsFunc(b.o.Exclude, func(pattern string) bool { return excludes(pattern, host, u.Port(), path) })
	case "about", "data", "file", "filesystem", "javascript":
		return false
	case "chrome", "edge", "brave":
		return !slices.Contains([]string{"newtab", "new-tab-page", "new-tab-page-third-party"}, u.Host)
	case "chrome-error":
		return false
	}
	return true
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
