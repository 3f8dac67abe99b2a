package shell

import (
	"net/url"
	"path"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/human"
)

// curl and wget read from the network, write files, and send.
func curl(w *walker, c *cmd) (stream, bool) {
	s := commands.Of("curl")
	o, _ := commands.Parse(c.args, s.Values, s.Long, false)
	secret := false
	for i, a := range c.args {
		data := ""
		if i > 0 && (c.args[i-1].Text == "-H" || c.args[i-1].Text == "--header") && a.Taint&arg.FromSecret != 0 {
			// A header that says who one is may hold a secret; another tells it to whoever is there.
			name, _, _ := strings.Cut(strings.ToLower(a.Text), ":")
			if !authHeader.MatchString(name) {
				w.simple(c, human.NetworkWrite, human.MediumRisk, "secret_header")
			}
		}
		switch {
		case i > 0 && isCurlData(c.args[i-1].Text):
			data = a.Text
		case strings.HasPrefix(a.Text, "--") && strings.Contains(a.Text, "=") && isCurlData(a.Text[:strings.IndexByte(a.Text, '=')]):
			data = a.Text[strings.IndexByte(a.Text, '=')+1:]
		case len(a.Text) > 2 && (strings.HasPrefix(a.Text, "-d") || strings.HasPrefix(a.Text, "-F") || strings.HasPrefix(a.Text, "-T")) && a.Text[1] != '-':
			data = a.Text[2:]
		case strings.HasPrefix(a.Text, "http://") || strings.HasPrefix(a.Text, "https://") || strings.HasPrefix(a.Text, "ftp://"):
			if a.Taint&arg.FromSecret != 0 && !a.Known() {
				secret = true
			}
			continue
		default:
			continue
		}
		if a.Taint&arg.FromSecret != 0 {
			secret = true
		}
		file := data
		if k := strings.LastIndexAny(data, "@<"); k >= 0 {
			file = data[k+1:]
			file, _, _ = strings.Cut(file, ";")
			if file == "-" && c.in.taint&arg.FromSecret != 0 {
				secret = true
			}
		} else if !strings.HasPrefix(a.Text, "-T") && (i == 0 || c.args[i-1].Text != "-T" && c.args[i-1].Text != "--upload-file") {
			continue
		}
		if f, ok := w.file(arg.Word{Text: file}); ok && f.taint&arg.FromSecret != 0 {
			secret = true
		}
		if w.reading(arg.Word{Text: file, Quoted: true}, "curl.reads")&arg.FromSecret != 0 {
			secret = true
		}
		if file == "." || file == "-" && c.in.taint&arg.FromSecret != 0 {
			secret = secret || c.in.taint&arg.FromSecret != 0
		}
	}
	if secret {
		w.leak(w.shown(c))
	}
	for _, v := range []string{"-o", "--output", "-O", "--remote-name", "-K", "--config"} {
		if f, ok := o.Flags[v]; ok && f.Text != "" && (v == "-o" || v == "--output") {
			w.replacing(f, "curl.writes")
			w.keep(f, stream{taint: arg.FromNetwork})
		}
	}
	if v, ok := o.Flags["--output-dir"]; ok {
		w.outside(v, "curl.writes")
	}
	if o.Has("-O", "--remote-name", "--remote-name-all") {
		for _, u := range o.Words {
			name := path.Base(strings.SplitN(u.Text, "?", 2)[0])
			w.keep(arg.Known(name), stream{taint: arg.FromNetwork})
		}
	}
	w.rules(s, &o, c, true)
	w.destructiveURL(c, &o)
	return handled(stream{taint: arg.FromNetwork})
}

// control are ports of this machine behind which programs run what they are sent, or hold what many use: Docker, etcd,
// Kubernetes, Consul, Vault, Nomad, Elasticsearch, a browser's own tools, Jupyter.
var control = lazy.Set("2375 2376 2377 2379 2380 4243 4646 6443 8001 8200 8500 8888 9200 9222 9229 10250")

var keyServers = lazy.Pattern(`(?i)^(\w+://)?(169\.254\.169\.254|169\.254\.170\.(2|23)|\[?fd00:ec2::(254|23)\]?|100\.100\.100\.200|metadata\.google\.internal|metadata\.goog|metadata\.azure\.(com|internal)|instance-data)([:/?]|$)`)

// tellsKeys notes an address at which a cloud gives a machine its keys. Sources: the instance metadata services of AWS, Google
// Cloud, Azure and Alibaba Cloud.
func (w *walker) tellsKeys(address string) {
	if keyServers.MatchString(address) {
		w.emit(human.Effect{Verb: human.CredentialAccess, Resource: clip(address), Risk: human.HighRisk, Certainty: human.Likely, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "net.instance_keys"})
	}
}

// toItself says whether a request is to servers of this machine alone, which a session mostly started itself.
func toItself(c *cmd, o *commands.Options) bool {
	if !requests()[c.name] || len(o.Words) == 0 || c.in.taint&arg.FromSecret != 0 || o.Has("-x", "--proxy", "--resolve", "--connect-to", "-K", "--config", "--url", "--unix-socket", "--socks5", "--socks5-hostname", "--preproxy") {
		return false
	}
	for _, v := range o.Words {
		s := v.Text
		switch {
		case strings.HasPrefix(s, ":"): // of HTTPie
			s = "http://localhost" + s
		case !strings.Contains(s, "://"):
			s = "http://" + s
		}
		u, err := url.Parse(strings.ReplaceAll(s, arg.Unknown, "x"))
		if err != nil || v.Taint&arg.FromSecret != 0 || u.Scheme != "http" && u.Scheme != "https" ||
			u.Hostname() == "" || !loopback(u.Hostname()) || control()[u.Port()] || strings.Contains(u.Host, "x") {
			return false
		}
	}
	return true
}

var authHeader = lazy.Pattern(`auth|token|key|cookie|secret|session|password|credential`)

func isCurlData(flag string) bool {
	switch flag {
	case "-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "-F", "--form", "--form-string", "-T", "--upload-file", "--json", "--post-file", "--post-data", "--body-file", "--body-data":
		return true
	}
	return false
}

// destructiveURL looks for what the request asks the other side to do, in its path and in its body.
func (w *walker) destructiveURL(c *cmd, o *commands.Options) {
	method := ""
	for _, n := range []string{"-X", "--request", "--method"} {
		if v, ok := o.Flags[n]; ok {
			method = strings.ToUpper(v.Text)
		}
	}
	body := false
	for f := range o.Flags {
		if isCurlData(f) {
			body = true
		}
	}
	if method == "" && !body || method == "GET" || method == "HEAD" || method == "OPTIONS" {
		return
	}
	for _, a := range c.args {
		l := strings.ToLower(a.Text)
		for _, word := range []string{"delete", "destroy", "purge", "/drop", "terminate", "_close", "truncate", "wipe", "shutdown", "revoke", "remove", "reset", "cancel", "uninstall", "unregister", "archive"} {
			if strings.Contains(l, word) {
				w.simple(c, human.ServiceEffect, human.HighRisk, "asks_to_destroy")
				return
			}
		}
	}
}

func wget(w *walker, c *cmd) (stream, bool) {
	s := commands.Of("wget")
	o, _ := commands.Parse(c.args, s.Values, s.Long, false)
	for _, n := range []string{"--post-file", "--body-file"} {
		if v, ok := o.Flags[n]; ok {
			if w.reading(v, "wget.reads")&arg.FromSecret != 0 {
				w.leak(w.shown(c))
			}
		}
	}
	for _, a := range c.args {
		if a.Taint&arg.FromSecret != 0 && !a.Known() {
			w.leak(w.shown(c))
		}
	}
	if v, ok := o.Flags["--use-askpass"]; ok {
		w.script(v.Text, "sh", nil, stream{})
	}
	toStdout := false
	for _, n := range []string{"-O", "--output-document"} {
		if v, ok := o.Flags[n]; ok {
			if v.Text == "-" || v.Text == "/dev/stdout" {
				toStdout = true
			} else {
				w.replacing(v, "wget.writes")
				w.keep(v, stream{taint: arg.FromNetwork})
			}
		}
	}
	if !toStdout {
		for _, u := range o.Words {
			w.keep(arg.Known(path.Base(strings.SplitN(u.Text, "?", 2)[0])), stream{taint: arg.FromNetwork})
		}
	}
	w.rules(s, &o, c, true)
	if toStdout {
		w.emit(human.Effect{Verb: human.NetworkRead, Resource: w.shown(c), Risk: human.NoRisk, Blast: human.MachineBlast, Rule: "wget.prints"})
	}
	return handled(stream{taint: arg.FromNetwork})
}

func httpie(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-o --output -a --auth -A --auth-type --session --timeout --verify --cert -p --print --style -s --pretty"), false, false)
	method := "GET"
	body := c.in.open
	for i, v := range o.Words {
		if i == 0 && v.Text == strings.ToUpper(v.Text) && !strings.ContainsAny(v.Text, ":/.") {
			method = v.Text
			continue
		}
		if i > 0 && (strings.Contains(v.Text, "=") && !strings.Contains(v.Text, "==") || strings.Contains(v.Text, "@")) && !strings.HasPrefix(v.Text, "http") && !strings.HasPrefix(v.Text, ":") {
			body = true
			if k := strings.IndexByte(v.Text, '@'); k >= 0 {
				if w.reading(arg.Word{Text: v.Text[k+1:], Quoted: true}, "http.reads")&arg.FromSecret != 0 {
					w.leak(w.shown(c))
				}
			}
		}
	}
	w.request(c, method, body)
	if v, ok := o.Flags["-o"]; ok {
		w.writing(v, "http.writes")
		w.keep(v, stream{taint: arg.FromNetwork})
	} else if o.Has("-d", "--download") {
		w.simple(c, human.FilesystemWrite, human.LowRisk, "downloads")
	}
	return handled(stream{taint: arg.FromNetwork})
}

func (w *walker) request(c *cmd, method string, body bool) {
	switch strings.ToUpper(method) {
	case "GET", "HEAD", "OPTIONS", "":
		if body && method == "" {
			w.simple(c, human.NetworkWrite, human.MediumRisk, "sends")
			return
		}
		w.simple(c, human.NetworkRead, human.NoRisk, "reads")
	case "DELETE":
		w.simple(c, human.NetworkWrite, human.HighRisk, "deletes")
	default:
		w.simple(c, human.NetworkWrite, human.MediumRisk, "sends")
	}
}

func netcat(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-e -c -p -s -w -i -q -x -X --exec --sh-exec --proxy"), false, false)
	for _, n := range []string{"-e", "-c", "--exec", "--sh-exec"} {
		if v, ok := o.Flags[n]; ok {
			w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: w.shown(c), Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.PublicBlast, Rule: c.name + ".gives_shell"})
			w.script(v.Text, "sh", nil, stream{})
		}
	}
	for _, v := range o.Words {
		u := strings.ToUpper(v.Text)
		if kind, file, ok := strings.Cut(v.Text, ":"); ok && c.name == "socat" && (kind == "FILE" || kind == "OPEN" || kind == "GOPEN" || kind == "file" || kind == "open") {
			file, _, _ = strings.Cut(file, ",")
			if w.reading(arg.Word{Text: file, Quoted: true}, "socat.reads")&arg.FromSecret != 0 {
				w.leak(w.shown(c))
			}
		}
		if c.name == "socat" && (strings.HasPrefix(u, "EXEC:") || strings.HasPrefix(u, "SYSTEM:") || strings.HasPrefix(u, "SHELL:")) {
			w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: w.shown(c), Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.PublicBlast, Rule: c.name + ".gives_shell"})
			text, _, _ := strings.Cut(v.Text[strings.IndexByte(v.Text, ':')+1:], ",")
			w.script(text, "sh", nil, stream{})
		}
	}
	if c.in.taint&arg.FromSecret != 0 {
		w.leak(w.shown(c))
	}
	if c.in.shell {
		w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: w.shown(c), Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.PublicBlast, Rule: c.name + ".gives_shell"})
	}
	switch {
	case o.Has("-z") && !o.Has("-l"):
		w.simple(c, human.NetworkRead, human.NoRisk, "scans")
	case c.in.known && c.in.open:
		risk := human.MediumRisk
		first := strings.Fields(strings.ToLower(c.in.text))
		if len(first) > 0 {
			switch {
			case first[0] == "show" || first[0] == "stats" || first[0] == "info" || first[0] == "ping" || first[0] == "help" || first[0] == "stat" || first[0] == "ruok":
				risk = human.LowRisk
			case loses(first[0]) || first[0] == "flushall" || first[0] == "flush_all":
				risk = human.HighRisk
			}
		}
		w.simple(c, human.NetworkWrite, risk, "sends")
	default:
		w.simple(c, human.NetworkWrite, human.MediumRisk, "connects")
	}
	return handled(stream{taint: arg.FromNetwork})
}

// auth0 api, gh api and glab api are HTTP requests.
func auth0(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("--tenant -d --data -q --query"), false, false)
	if len(o.Words) > 1 && o.Words[0].Text == "api" {
		method := "GET"
		switch m := strings.ToUpper(o.Words[1].Text); m {
		case "GET", "POST", "PUT", "PATCH", "DELETE":
			method = m
		default:
			if o.Has("-d", "--data") {
				method = "POST"
			}
		}
		w.request(c, method, o.Has("-d", "--data"))
		return handled(stream{})
	}
	return stream{}, false
}

func api(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-X --method -f -F -H --header --field --raw-field --input --jq -q -t --template --hostname -R --repo --cache --preview -p"), false, false)
	if len(o.Words) == 0 || o.Words[0].Text != "api" {
		return stream{}, false
	}
	method := ""
	for _, n := range []string{"-X", "--method"} {
		if v, ok := o.Flags[n]; ok {
			method = v.Text
		}
	}
	fields := o.Has("-f", "-F", "--field", "--raw-field", "--input")
	if method == "" {
		method = "GET"
		if fields {
			method = "POST"
		}
	}
	if len(o.Words) > 1 && o.Words[1].Text == "graphql" {
		text := arg.Joined(c.args).Text
		if strings.Contains(text, "mutation") || !strings.Contains(text, "query") {
			method = "POST"
			if strings.Contains(strings.ToLower(text), "delete") {
				method = "DELETE"
			}
		} else {
			method = "GET"
		}
	}
	w.request(c, method, fields)
	return handled(stream{})
}
