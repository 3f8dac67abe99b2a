// Package settings reads Deskbell's settings: one TOML file, overridden by the environment, overridden by
// flags. Every setting is declared once, in Table. A file with an unknown key or a wrong value is an error
// that names the file, the line, the key and what is allowed; there are no half-read settings.
package settings

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/queue/outbox"
	"deskbell/backend/summary"
)

// A Setting is one line of Table.
type Setting struct {
	Key      string   // "section.name", as in the file
	Default  any      // bool, int, string or []string; it also fixes the type
	Doc      string   // one or two sentences
	Unit     string   // of a number
	Allowed  []string // the only texts allowed; none: any
	Min, Max int      // of a number
	Env      string   // the variable; "" is DESKBELL_ and the key in capitals
	Flag     string   // the flag, without dashes; "" has none but --set
	Restart  bool     // a change counts from the next start on

	check func(any) error
	bind  func(*Settings) any // where the value lives: a pointer to Default's type
}

// Type is the name of the setting's type: boolean, integer, text or list.
func (s Setting) Type() string {
	switch s.Default.(type) {
	case bool:
		return "boolean"
	case int:
		return "integer"
	case []string:
		return "list"
	}
	return "text"
}

// Variable is the environment variable that overrides the file.
func (s Setting) Variable() string {
	if s.Env != "" {
		return s.Env
	}
	return "DESKBELL_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// wrong says what values are allowed, and which was found.
func (s Setting) wrong(found string) error {
	switch {
	case len(s.Allowed) > 0:
		return human.Errorf(human.Invalid, "it must be one of %s, not %s", strings.Join(s.Allowed, ", "), found)
	case s.Type() == "boolean":
		return human.Errorf(human.Invalid, "it must be true or false, not %s", found)
	case s.Type() == "integer" && s.Unit != "":
		return human.Errorf(human.Invalid, "it must be a whole number from %d to %d (%s), not %s", s.Min, s.Max, human.Word(s.Unit), found)
	case s.Type() == "integer":
		return human.Errorf(human.Invalid, "it must be a whole number from %d to %d, not %s", s.Min, s.Max, found)
	case s.Type() == "list":
		return human.Errorf(human.Invalid, "it must be a list of texts, not %s", found)
	}
	return human.Errorf(human.Invalid, "it must be a text, not %s", found)
}

// find returns the setting with that key, or nil.
func find(key string) *Setting {
	i := slices.IndexFunc(Table, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		return nil
	}
	return &Table[i]
}

// unknown says that there is no such key, and the nearest there is.
func unknown(key string) error {
	best, distance := "", 4
	for _, s := range Table {
		if d := human.Distance(key, s.Key); d < distance {
			best, distance = s.Key, d
		}
	}
	if best != "" {
		return human.Errorf(human.Invalid, "there is no setting %q; did you mean %q?", key, best)
	}
	return human.Errorf(human.Invalid, "there is no setting %q; `deskbell config` lists them", key)
}

// coerce turns a decoded TOML or JSON value into the setting's type, checked.
func (s Setting) coerce(v any) (any, error) {
	wrong := s.wrong(describe(v))
	var out any
	switch s.Default.(type) {
	case bool:
		b, ok := v.(bool)
		if !ok {
			return nil, wrong
		}
		out = b
	case int:
		switch n := v.(type) {
		case int64:
			out = int(n)
		case float64:
			if n != float64(int(n)) {
				return nil, wrong
			}
			out = int(n)
		default:
			return nil, wrong
		}
		if n := out.(int); n < s.Min || n > s.Max {
			return nil, wrong
		}
	case string:
		t, ok := v.(string)
		if !ok || (len(s.Allowed) > 0 && !slices.Contains(s.Allowed, t)) {
			return nil, wrong
		}
		out = t
	case []string:
		items, ok := v.([]any)
		if !ok {
			return nil, wrong
		}
		list := make([]string, 0, len(items))
		for _, item := range items {
			t, ok := item.(string)
			if !ok {
				return nil, wrong
			}
			list = append(list, t)
		}
		out = list
	}
	if s.check != nil {
		if err := s.check(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parse turns the text of a variable or a flag into the setting's type, checked. A list is separated by commas.
func (s Setting) parse(text string) (any, error) {
	wrong := s.wrong(strconv.Quote(text))
	switch s.Default.(type) {
	case bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, wrong
		}
		return s.coerce(b)
	case int:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, wrong
		}
		return s.coerce(n)
	case []string:
		items := []any{}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return s.coerce(items)
	}
	return s.coerce(text)
}

func describe(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	case nil:
		return "nothing"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return fmt.Sprintf("%v", v)
}

// store puts a checked value where the setting lives.
func (s Setting) store(into *Settings, v any) {
	switch p := s.bind(into).(type) {
	case *bool:
		*p = v.(bool)
	case *int:
		*p = v.(int)
	case *string:
		*p = v.(string)
	case *[]string:
		*p = slices.Clone(v.([]string))
	}
}

// load reads a value from where the setting lives.
func (s Setting) load(from *Settings) any {
	switch p := s.bind(from).(type) {
	case *bool:
		return *p
	case *int:
		return *p
	case *string:
		return *p
	case *[]string:
		return append([]string{}, *p...)
	}
	return nil
}

func checkAddr(v any) error {
	host, port, err := net.SplitHostPort(v.(string))
	if err != nil {
		return human.Errorf(human.Invalid, "it must be host:port, such as %s, not %q", DefaultAddr, v)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return human.Errorf(human.Invalid, "the port must be a number from 0 to 65535, not %q", port)
	} else if n == 0 && host == "" {
		return human.Errorf(human.Invalid, "it must be host:port, such as %s, not %q", DefaultAddr, v)
	}
	return nil
}

func checkHosts(v any) error {
	for _, h := range v.([]string) {
		if h == "" || strings.ContainsAny(h, "/ ,*") || !utf8.ValidString(h) {
			return human.Errorf(human.Invalid, "%q is not the name of a host; give it without scheme, path or wildcard", h)
		}
	}
	return nil
}

func checkFolders(v any) error {
	for _, f := range v.([]string) {
		if !utf8.ValidString(f) || !filepath.IsAbs(f) && f != "~" && !strings.HasPrefix(f, "~/") {
			return human.Errorf(human.Invalid, "%q is not an absolute path; begin it at the root, or with ~/", f)
		}
	}
	return nil
}

func checkFolder(v any) error {
	if v.(string) == "" {
		return nil
	}
	return checkFolders([]string{v.(string)})
}

// checkClock takes a time of day.
func checkClock(v any) error {
	if _, err := time.Parse("15:04", v.(string)); err != nil {
		return human.Errorf(human.Invalid, "it must be a time of day such as 03:00")
	}
	return nil
}

// checkWebhook takes an address without anything secret in it: https, or http on this machine.
func checkWebhook(v any) error {
	text := v.(string)
	if text == "" {
		return nil
	}
	u, err := url.Parse(strings.ReplaceAll(text, outbox.SecretPlace, "secret"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" || strings.Contains(u.Host, "secret") {
		return human.Errorf(human.Invalid, "it must be an address such as https://example.org/hook, without a user or a fragment")
	}
	return checkEncrypted(u)
}

// checkEncrypted takes http on this machine only.
func checkEncrypted(u *url.URL) error {
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return human.Errorf(human.Invalid, "it must begin with https:// unless it is on this machine")
	}
	return nil
}

// checkCollector takes what checkBaseURL does, http on this machine only.
func checkCollector(v any) error {
	if err := checkBaseURL(v); err != nil {
		return err
	}
	u, err := url.Parse(v.(string))
	if err != nil {
		return err
	}
	return checkEncrypted(u)
}

func checkWebhookBody(v any) error {
	if v.(string) == "" {
		return nil
	}
	return outbox.CheckBody(v.(string))
}

func checkRules(v any) error {
	for _, text := range v.([]string) {
		if _, err := summary.ParseRule(text); err != nil {
			return err
		}
	}
	return nil
}

// checkBaseURL takes an address of http or https without anything secret in it.
func checkBaseURL(v any) error {
	text := v.(string)
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return human.Errorf(human.Invalid, "it must be an address such as https://example.org/v1, without a user, a query or a fragment")
	}
	return nil
}

func checkName(v any) error {
	name := v.(string)
	switch {
	case strings.TrimSpace(name) == "":
		return human.Errorf(human.Invalid, "it must not be empty")
	case len(name) > 100 || !utf8.ValidString(name):
		return human.Errorf(human.Invalid, "it must be at most 100 bytes of UTF-8")
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }):
		return human.Errorf(human.Invalid, "it must not have control characters")
	}
	return nil
}

func checkNames(v any) error {
	for _, name := range v.([]string) {
		if err := checkName(name); err != nil {
			return human.Errorf(human.Invalid, "the name %q is not valid: %s", name, human.Inner{Err: err})
		}
	}
	return nil
}

// account is a user name without Windows' domain.
func account(username string) string {
	return username[strings.LastIndexByte(username, '\\')+1:]
}

// Remote says whether addr can be reached from other machines, as far as its text tells. A host name
// other than localhost counts as remote.
func Remote(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return true
	}
	if strings.EqualFold(host, "localhost") {
		return false
	}
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsLoopback()
}

// together checks what concerns more than one setting.
func (s *Settings) together() error {
	if Remote(s.Server.Addr) && !s.Server.AllowRemote {
		return human.Errorf(human.Invalid,
			"server.addr is %s, which other machines can reach, and Deskbell does not encrypt what it sends; "+
				"use 127.0.0.1 and an SSH tunnel, or set server.allow_remote to true if you mean it", s.Server.Addr)
	}
	return nil
}

// env is os.LookupEnv, in a type of its own so that tests bring their own environment.
type env func() []string

func (e env) lookup(name string) (string, bool) {
	for _, pair := range e() {
		if k, v, ok := strings.Cut(pair, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

var osEnviron env = os.Environ
