package shell

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// usualServer is where Deskbell's API listens unless its settings say otherwise.
var usualServer = address{host: "127.0.0.1", port: 7717}

// An address is where a text leads: a host and a port as they are written, and what follows.
type address struct {
	host, rest string
	port       int
}

// servers are the addresses that Deskbell's API may be at.
func (w *walker) servers() []address {
	if w.api == nil {
		w.api = []address{usualServer}
		if w.world != nil {
			if host, port, ok := hostPort(w.world.Server()); ok && (host != usualServer.host || port != usualServer.port) {
				w.api = append(w.api, address{host: host, port: port})
			}
		}
	}
	return w.api
}

func hostPort(s string) (host string, port int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", 0, false
	}
	port, err := strconv.Atoi(s[i+1:])
	return strings.Trim(s[:i], "[]"), port, err == nil && port > 0
}

// loopback says whether a host is this machine, however it is written: 127.1, 0x7f.1, 2130706433, ::1, localhost, nothing.
func loopback(host string) bool {
	host = strings.ToLower(strings.TrimRight(strings.Trim(host, "[]"), "."))
	host, _, _ = strings.Cut(host, "%")
	switch {
	case host == "", host == "localhost", strings.HasSuffix(host, ".localhost"), host == "localhost.localdomain", host == "ip6-localhost", host == "ip6-loopback", host == "localhost4", host == "localhost6":
		return true
	case strings.Contains(host, ":"):
		a, err := netip.ParseAddr(host)
		return err == nil && (a.Unmap().IsLoopback() || a.IsUnspecified())
	}
	// inet_aton: one to four numbers, of base 8, 10 or 16; the last fills what is left.
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return false
	}
	var all uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 64)
		if err != nil || strings.Contains(p, "_") || strings.HasPrefix(p, "0b") || strings.HasPrefix(p, "0o") {
			return false
		}
		if i == len(parts)-1 {
			all = all<<(8*(5-len(parts))) | n
		} else {
			all = all<<8 | n
		}
	}
	return all>>24 == 127 || all == 0
}

// numeric says whether a host is an address and no name.
func numeric(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// addresses finds hosts with one of the ports in a text: http://127.1:7717/x, /dev/tcp/localhost/7717, TCP:[::1]:7717.
func addresses(text string, ports []address) []address {
	var out []address
	if strings.Contains(text, "%") {
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
	}
	for _, p := range ports {
		digits := strconv.Itoa(p.port)
		for at := 0; len(out) < 50; {
			i := strings.Index(text[at:], digits)
			if i < 0 {
				break
			}
			i += at
			at = i + len(digits)
			if at < len(text) && text[at] >= '0' && text[at] <= '9' {
				continue
			}
			begin := i
			for begin > 0 && text[begin-1] == '0' {
				begin--
			}
			if begin == 0 || strings.IndexByte(":/,", text[begin-1]) < 0 {
				continue
			}
			host := text[:begin-1]
			if strings.HasSuffix(host, "]") {
				host = host[strings.LastIndexByte(host, '[')+1:]
			} else {
				host = host[strings.LastIndexFunc(host, notHost)+1:]
			}
			if before := text[:begin-1-len(host)]; text[begin-1] == '/' && !strings.HasSuffix(before, "tcp/") && !strings.HasSuffix(before, "udp/") && !strings.HasSuffix(before, "/0/") {
				continue // a path that has the number in it; /dev/tcp/HOST/PORT and awk's /inet/tcp/0/HOST/PORT are others
			}
			rest := text[at:]
			if end := strings.IndexAny(rest, "\"'` \t\n)<>"); end >= 0 {
				rest = rest[:end]
			}
			out = append(out, address{host: host, port: p.port, rest: rest})
		}
	}
	return out
}

func notHost(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
}

// reached are the addresses of Deskbell's API in a text. With named, a name that may be this machine's counts as well.
func (w *walker) reached(text string, named bool) []address {
	if !strings.ContainsAny(text, "0123456789") {
		return nil
	}
	return slices.DeleteFunc(addresses(text, w.servers()), func(a address) bool {
		if loopback(a.host) {
			return strings.HasPrefix(a.rest, ":") && a.host != "" // a port of a container, behind an address of this machine
		}
		own := slices.ContainsFunc(w.servers(), func(s address) bool { return s.port == a.port && strings.EqualFold(s.host, a.host) })
		return !own && (!named || numeric(a.host) && !private(a.host) || onlyDigits(a.host) || a.port == 80 || a.port == 443)
	})
}

func private(host string) bool {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && (a.IsPrivate() || a.IsLinkLocalUnicast())
}

func onlyDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Request returns the effects of a request of Deskbell's own API; nil where the address is another's.
func Request(method, target string, at Place) []human.Effect {
	w := newWalker(at)
	for _, a := range w.reached(target, true) {
		w.asks(method, a, target)
	}
	if len(w.effects) == 0 && ownPath(target) {
		w.tampers(target)
	}
	return w.effects
}

// asks judges a request of Deskbell's own API: what an agent's key is for is the table's, all else is an operator's.
func (w *walker) asks(method string, a address, shown string) {
	s := commands.Of("deskbell-api")
	if r := s.Route(method, a.rest); r != nil {
		for _, e := range r.Effects {
			e.Effect.Rule, e.Effect.Resource = r.ID, clip(shown)
			w.emit(e.Effect)
		}
		return
	}
	w.tampers(shown)
}

// Paths that no other program's API has.
var ownPaths = []string{"/api/gate/", "/api/human/", "/api/session/codes", "/api/plan-presets"}

// ownPath says whether an address of this machine, or one that is not known, has a path of an operator's calls.
func ownPath(target string) bool {
	i := -1
	for _, p := range ownPaths {
		if i = strings.Index(target, p); i >= 0 {
			break
		}
	}
	if i < 0 {
		return false
	}
	host := target[:i]
	if _, after, ok := strings.Cut(host, "://"); ok {
		host = after
	}
	if !strings.HasPrefix(host, "[") || strings.Contains(host, "]:") {
		if j := strings.LastIndexByte(host, ':'); j >= 0 {
			host = host[:j]
		}
	}
	if !loopback(host) && !strings.Contains(host, arg.Unknown) {
		return false
	}
	return commands.Of("deskbell-api").Route("", target[i:]) == nil
}

// Effects of commands that cannot reach an address which stands among their arguments.
var staysHere = map[human.EffectVerb]bool{
	human.FilesystemRead: true, human.FilesystemWrite: true, human.FilesystemDelete: true, human.GitRead: true, human.GitWrite: true, human.GitDiscard: true, human.CredentialAccess: true, human.ProcessSignal: true,
}

// callsOf says of effects whether one is a call over the network, whether one could be, and whether one hands its arguments on.
func callsOf(effects []human.Effect) (named, calls, given bool) {
	for _, e := range effects {
		named = named || e.Verb == human.NetworkRead || e.Verb == human.NetworkWrite
		calls = calls || !staysHere[e.Verb]
		given = given || !staysHere[e.Verb] && e.Verb != human.PackageRun
	}
	return named, calls, given
}

// reaches looks for Deskbell's own API, and for its folder, among the arguments of a command; from is how many effects there
// were before it, asked how many requests.
func (w *walker) reaches(c *cmd, from, asked int) {
	if c.name == ownName || c.name == hookName {
		return
	}
	named, calls, given := callsOf(w.effects[min(from, len(w.effects)):])
	if !calls && !named {
		return
	}
	var found []address
	allowed, socket := true, false
	method := methodOf(c)
	for i, a := range c.args {
		if languages[c.name] != "" && strings.ContainsAny(a.Text, "(=") {
			continue // code, which was looked through as such
		}
		socket = socket || given && (w.guarded(a.Text) || w.partGuarded(a.Text))
		here := w.reached(a.Text, named)
		if len(here) == 0 && onlyDigits(a.Text) && len(a.Text) > 1 && named {
			here = w.apartWords(c, i)
		}
		here = slices.DeleteFunc(here, func(x address) bool { return slices.Contains(w.called[asked:], x) }) // by the command that this one runs
		for _, x := range here {
			allowed = allowed && requests()[c.name] && strings.HasSuffix(a.Text, x.rest) && commands.Of("deskbell-api").Route(method, x.rest) != nil
		}
		found = append(found, here...)
		if len(here) == 0 && ownPath(a.Text) {
			found, allowed = append(found, address{}), false
		}
	}
	switch {
	case len(found) == 0 && !socket:
	case allowed && !socket:
		for _, x := range found {
			w.asks(method, x, w.shown(c))
			w.called = append(w.called, x)
		}
	default:
		w.tampers(w.shown(c))
	}
}

// guarded says whether a path of Deskbell's own folder is in a text, be it behind words of a program's own: UNIX-CONNECT:/path.
func (w *walker) guarded(text string) bool {
	if w.guard != "" && strings.Contains(text+"/", w.guard+"/") {
		return true
	}
	text = strings.ToLower(text) + "/"
	return slices.ContainsFunc(paths.GateParts, func(p string) bool { return strings.Contains(text, p) })
}

// partGuarded says whether a part of a text leads there by a link: DIR:/x.
func (w *walker) partGuarded(text string) bool {
	if len(w.links) == 0 && w.world == nil || !strings.Contains(text, "/") || len(text) > 1000 || strings.Contains(text, "://") {
		return false
	}
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r == ':' || r == ',' || r == '=' }), func(part string) bool {
		p, _ := w.placeOf(arg.Word{Text: part, Quoted: true}, w.dir)
		return p == paths.Gate
	})
}

// apartWords finds a host and a port that are words of their own: nc localhost 7717, redis-cli -h 127.1 -p 7717.
func (w *walker) apartWords(c *cmd, at int) []address {
	port, err := strconv.Atoi(c.args[at].Text)
	if err != nil || !slices.ContainsFunc(w.servers(), func(s address) bool { return s.port == port }) {
		return nil
	}
	for i, a := range c.args {
		if i != at && a.Text != "" && !strings.HasPrefix(a.Text, "-") && (loopback(a.Text) || w.isServer(a.Text)) {
			return []address{{host: a.Text, port: port}}
		}
	}
	return nil
}

func (w *walker) isServer(host string) bool {
	return slices.ContainsFunc(w.servers(), func(s address) bool { return strings.EqualFold(s.host, host) })
}

// Programs that send the request which their arguments say.
var requests = lazy.Set("curl wget http https xh httpie iwr irm invoke-webrequest invoke-restmethod")

// methodOf is the method of a request.
func methodOf(c *cmd) string {
	method, body := "", false
	for i, a := range c.args {
		name, val, has := strings.Cut(a.Text, "=")
		switch {
		case name == "-X" || name == "--request" || strings.EqualFold(strings.TrimPrefix(name, "-"), "-method") || strings.EqualFold(name, "-method"):
			if !has && i+1 < len(c.args) {
				val = c.args[i+1].Text
			}
			method = val
		case strings.HasPrefix(a.Text, "-X") && len(a.Text) > 2 && a.Text[1] != '-':
			method = strings.TrimPrefix(a.Text[2:], "=")
		case isCurlData(name), strings.EqualFold(name, "-body"), strings.EqualFold(name, "-infile"), strings.HasPrefix(a.Text, "-d") && c.name == "curl", strings.HasPrefix(a.Text, "-F") && c.name == "curl":
			body = true
		case i == 0 && strings.HasPrefix(c.name, "h") && a.Text != "" && strings.Trim(a.Text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
			method = a.Text
		case i > 0 && strings.HasPrefix(c.name, "h") && !strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "=") && !strings.Contains(a.Text, "=="):
			body = true
		}
	}
	switch {
	case method != "":
		return strings.ToUpper(method)
	case body:
		return "POST"
	}
	return "GET"
}

// reachesInCode looks for Deskbell's own API in code that talks to the network, or runs what does.
func (w *walker) reachesInCode(text string) {
	for _, p := range ownPaths {
		if i := strings.Index(text, p); i >= 0 && commands.Of("deskbell-api").Route("", apiPaths.FindString(text[i:])) == nil {
			w.tampers(clip(text))
			return
		}
	}
	here := func(host string) bool { return strings.Contains(text, host) }
	if len(w.reached(text, true)) == 0 && (!w.portIn(text) || !slices.ContainsFunc([]string{"localhost", "127.", "::1", "0.0.0.0"}, here)) {
		return
	}
	paths := apiPaths.FindAllStringSubmatch(text, 50)
	for _, p := range paths {
		if commands.Of("deskbell-api").Route("", p[0]) == nil {
			paths = nil
			break
		}
	}
	if len(paths) == 0 {
		w.tampers(clip(text))
	}
}

var apiPaths = lazy.Pattern(`/api/[\w/{}.$-]*`)

// portIn says whether a number of a text is the API's port.
func (w *walker) portIn(text string) bool {
	return slices.ContainsFunc(w.servers(), func(s address) bool {
		digits := strconv.Itoa(s.port)
		i := strings.Index(text, digits)
		return i >= 0 && (i == 0 || !isDigit(text[i-1])) && (i+len(digits) == len(text) || !isDigit(text[i+len(digits)]))
	})
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
