package gate

import (
	"maps"
	"slices"
	"strings"

	"deskbell/backend/gate/shell"
	"deskbell/backend/human"
)

// A wordSet is words with a space between them. It needs no making: a program that judges one call looks into few.
type wordSet string

func (s wordSet) has(word string) bool {
	if word == "" || strings.Contains(word, " ") {
		return false
	}
	for from := 0; ; {
		i := strings.Index(string(s[from:]), word)
		if i < 0 {
			return false
		}
		i += from
		from = i + len(word)
		if (i == 0 || s[i-1] == ' ') && (from == len(s) || s[from] == ' ') {
			return true
		}
	}
}

var (
	// Programs that servers offer the commands of.
	programs = wordSet("kubectl helm terraform tofu terragrunt pulumi docker podman aws gcloud az gh glab git npm pnpm yarn pip pip3 uv cargo brew apt conda poetry gem composer systemctl ansible flyctl heroku " +
		"vercel netlify wrangler doctl istioctl argocd flux oc psql mysql sqlite3 redis")
	// Words around a program's name that say no more than that it is run.
	runsIt = wordSet("run execute exec call command commands cli use tool invoke cmd")
	// Subcommands of git that are two words.
	hyphened = wordSet("cherry-pick filter-branch update-ref symbolic-ref ls-files rev-parse show-ref ls-remote rev-list cat-file fast-import")
	// Tools of git's servers, by the subcommand that they are.
	gitTools = map[string][]string{
		"create-branch": {"branch"}, "new-branch": {"branch"}, "delete-branch": {"branch", "-D"}, "diff-unstaged": {"diff"}, "diff-staged": {"diff"}, "diff-files": {"diff"},
	}
	// Tools of git's servers that change nothing.
	looksAround = wordSet("list-branches list-repositories set-working-dir clear-working-dir")
	// Names of tools that take a subcommand for an argument.
	anyOf = []string{"generic", "raw", "any", "custom", "passthrough", "do", "api"}
	// What says how a command is meant; it is judged with it and without, for a tool need not take it.
	modeFields = []string{"subcommand", "mode", "action", "operation", "verb"}
	// What a command is about, in the order in which it would stand.
	aboutFields = []string{"resourcetype", "kind", "resource", "remote", "remotename", "release", "releasename", "podname", "chart", "name", "resourcename", "branch", "branchname", "startpoint", "ref", "target", "commit", "revision", "tag", "tagname",
		"container", "containerid", "containername", "image", "imagename", "volume", "volumename", "network", "package", "packagename", "packages", "path", "paths", "file", "files", "filename", "manifest", "url", "repository", "repo", "bucket", "host"}
	// Switches that make a command do more. Those that make it do less are not believed: a tool need not heed them.
	switchFields = map[string]string{
		"force": "--force", "hard": "--hard", "delete": "--delete", "prune": "--prune", "all": "--all", "mirror": "--mirror", "recursive": "--recursive", "purge": "--purge", "autoapprove": "-auto-approve", "privileged": "--privileged",
		"destroy": "-destroy", "amend": "--amend", "forcewithlease": "--force-with-lease", "noverify": "--no-verify", "volumes": "--volumes", "allnamespaces": "--all-namespaces", "global": "--global",
	}
)

// A program is a command that a tool stands for: in other words what it does, so that it is judged as that.
type program struct {
	scripts []string
	args    [][]string
	odd     bool // a value reads as an option
}

// maxWords is how many words a command that a tool stands for may have.
const maxWords = 500

func (p program) effects(at shell.Place) []human.Effect {
	var out []human.Effect
	for _, s := range p.scripts {
		out = append(out, shell.Lower(s, at)...)
	}
	for _, a := range p.args {
		if len(a) > maxWords {
			return append(out, opaque("tool.too_many", "thing_words")...)
		}
		out = append(out, shell.LowerArgs(a, at)...)
	}
	if p.odd {
		out = append(out, unnamed(human.UnknownEffect, human.MediumRisk, human.MachineBlast, "tool.option", "thing_option"))
	}
	return out
}

// programCall is the command that a call of a server's tool stands for: kubectl_delete, call_aws, pods_delete of a cluster's
// server, remove_container of Docker's.
func programCall(tool string, f fields) (program, bool) {
	words := nameWords(toolName(tool))
	server := nameWords(serverName(tool))
	served := func(parts ...string) bool {
		return slices.ContainsFunc(server, func(w string) bool {
			return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(w, p) })
		})
	}
	bare := slices.DeleteFunc(slices.Clone(words), runsIt.has)
	switch {
	case len(words) == 0:
		return program{}, false
	// kubectl, run_kubectl, kubectl_command; but kubectl_exec is a subcommand.
	case len(bare) == 1 && programs.has(bare[0]) && (len(words) == 1 || words[0] != bare[0] || strings.HasPrefix(words[len(words)-1], "c")) && kindOf(tool) == unknownTool:
		return commandLine(bare[0], f)
	case len(bare) == 0 && len(server) > 0 && programs.has(server[len(server)-1]) && kindOf(tool) == unknownTool:
		return commandLine(server[len(server)-1], f)
	case slices.Equal(words, []string{"use", "aws"}):
		return commandLine("aws", f)
	case len(words) > 1 && programs.has(words[0]):
		return subcommand(words[0], words[1:], f), true
	case served("kube", "k8s", "openshift") && len(words) > 1:
		return cluster(words, f)
	case served("docker", "podman") && len(words) > 1:
		return containers(words, f)
	}
	return program{}, false
}

// serverProgram is the command that a tool for any command stands for where its server is a program's: execute of terraform's,
// run of redis'.
func serverProgram(tool string, f fields) (program, bool) {
	server := nameWords(serverName(tool))
	if len(server) == 0 || !programs.has(server[len(server)-1]) {
		return program{}, false
	}
	name := server[len(server)-1]
	if name == "redis" {
		name = "redis-cli"
	}
	return commandLine(name, f)
}

// commandLine is for tools that take the rest of a command line.
func commandLine(name string, f fields) (program, bool) {
	if service, op := f.one("servicename", "service"), f.one("operationname", "operation"); name == "aws" && service != "" && op != "" {
		return program{args: [][]string{{"aws", service, strings.Join(nameWords(op), "-")}}}, true
	}
	var out program
	for _, n := range []string{"command", "clicommand", "cmd", "commandline", "subcommand", "args", "arguments", "argv", "input"} {
		for _, v := range f[n] {
			switch v := v.(type) {
			case string:
				if first, _, _ := strings.Cut(strings.TrimSpace(v), " "); first != name {
					v = name + " " + v
				}
				out.scripts = append(out.scripts, v)
			case []any:
				args := []string{name}
				for i, x := range v {
					s, ok := x.(string)
					if !ok {
						return program{}, false
					}
					if i > 0 || s != name {
						args = append(args, s)
					}
				}
				out.args = append(out.args, args)
			}
		}
	}
	if len(out.scripts)+len(out.args) == 0 {
		return program{}, false
	}
	// In more fields than one, a command may be put together from them.
	if rest, odd := about(f); len(rest) > 0 && len(out.scripts) > 0 {
		out.args = append(out.args, append(strings.Fields(out.scripts[0]), rest...))
		out.odd = odd
	}
	if len(out.scripts) > 0 && len(out.args) > 0 {
		out.args = append(out.args, append(strings.Fields(out.scripts[0]), out.args[0][1:]...))
	}
	return out, true
}

// subcommand is for tools that are called as a subcommand is.
func subcommand(name string, sub []string, f fields) program {
	if name == "git" {
		joined := strings.Join(sub, "-")
		if hyphened.has(joined) {
			sub = []string{joined}
		} else if words, ok := gitTools[joined]; ok {
			sub = words
		}
		if looksAround.has(joined) {
			return program{args: [][]string{{"git", "status"}}}
		}
	}
	if slices.Contains(anyOf, strings.Join(sub, "-")) { // kubectl_generic: the subcommand is an argument
		if words := strings.Fields(f.one("command", "subcommand", "verb", "operation")); len(words) > 0 && !strings.HasPrefix(words[0], "-") {
			sub, f = words, maps.Clone(f)
			delete(f, "command")
		}
	}
	base := append([]string{name}, sub...)
	rest, odd := about(f)
	if name == "kubectl" && sub[0] == "get" {
		rest = append(rest, "-o", "yaml") // such tools give all of it
	}
	if m := f.one("message", "commitmessage"); m != "" && name == "git" {
		base = append(base, "-m", m)
	}
	out := program{args: [][]string{append(slices.Clone(base), rest...)}, odd: odd}
	for _, mode := range f.all(modeFields...) {
		switch {
		case strings.HasPrefix(mode, "-"):
			out.odd = true
			continue
		case name != "git":
		case mode == "delete" && sub[0] == "branch":
			mode = "-D"
		case mode == "delete" && sub[0] == "tag":
			mode = "-d"
		case slices.Contains(sub, "reset"):
			mode = "--" + mode
		}
		out.args = append(out.args, append(append(slices.Clone(base), mode), rest...))
	}
	if command := f.all("command", "cmd"); len(command) > 0 { // kubectl_exec, docker_exec
		with := append(slices.Clone(base), rest...)
		if name == "kubectl" {
			with = append(with, "--")
		}
		out.args = append(out.args, append(with, inShell(command)...))
	}
	return out
}

// inShell is a command as it runs: one text is a shell's.
func inShell(command []string) []string {
	if len(command) == 1 {
		return []string{"sh", "-c", command[0]}
	}
	return command
}

// about are the words of what a call is about.
func about(f fields) (words []string, odd bool) {
	for _, n := range slices.Sorted(maps.Keys(switchFields)) {
		if f.yes(n) {
			words = append(words, switchFields[n])
		}
	}
	for _, n := range []string{"namespace", "context"} {
		if v := f.one(n); v != "" && !strings.HasPrefix(v, "-") {
			words = append(words, "--"+n+"="+v)
		}
	}
	for _, v := range f.all("volumes", "mounts", "volumemounts", "binds") {
		words = append(words, "-v", v)
	}
	for _, n := range aboutFields {
		for _, v := range f.all(n) {
			if n == "kind" || n == "resourcetype" || n == "resource" {
				v = strings.ToLower(v)
			}
			switch {
			case v == "":
			case strings.HasPrefix(v, "-"):
				odd = true
			case len(words) < 200:
				words = append(words, v)
			}
		}
	}
	return words, odd
}

// cluster is for the servers of clusters: pods_delete, resources_create_or_update, delete_pod.
func cluster(words []string, f fields) (program, bool) {
	verb, kind := "", ""
	for _, w := range words {
		switch w {
		case "list", "get", "describe", "logs", "log", "top", "delete", "exec", "run", "apply", "patch", "scale", "rollout", "restart", "drain", "cordon", "uncordon", "create", "explain", "label", "annotate", "cp", "attach", "install",
			"uninstall", "upgrade", "expose", "edit", "replace", "port":
			if verb == "" {
				verb = w
			}
		case "pod", "pods", "resource", "resources", "namespace", "namespaces", "node", "nodes", "event", "events", "deployment", "deployments", "service", "services", "secret", "secrets", "configmap", "configmaps", "job", "jobs",
			"helm", "configuration", "ingress", "statefulset", "pvc", "projects", "view", "context", "contexts", "or", "update":
			if kind == "" {
				kind = w
			}
		}
	}
	if kind == "configuration" || kind == "context" || kind == "contexts" {
		return program{args: [][]string{{"kubectl", "config", "get-contexts"}}}, verb == "get" || verb == "list" || slices.Contains(words, "view")
	}
	if verb == "" {
		return program{}, false
	}
	rest, odd := about(f)
	name := "kubectl"
	args := []string{verb}
	switch {
	case kind == "helm":
		name = "helm"
	case verb == "list" || verb == "get":
		args = []string{"get"}
	case verb == "log":
		args = []string{"logs"}
	case verb == "create" && slices.Contains(words, "update"):
		args = []string{"apply"}
	case verb == "restart":
		args = []string{"rollout", "restart"}
	}
	if name == "kubectl" && kind != "" && !strings.HasPrefix(kind, "resource") && args[0] != "logs" && args[0] != "exec" && args[0] != "run" {
		args = append(args, strings.TrimSuffix(kind, "s"))
	}
	args = append(append([]string{name}, args...), rest...)
	if verb == "get" && name == "kubectl" {
		args = append(args, "-o", "yaml") // such tools give all of it
	}
	if verb == "exec" {
		args = append(append(args, "--"), inShell(f.all("command", "cmd", "args"))...)
	}
	return program{args: [][]string{args}, odd: odd}, true
}

// containers is for the servers of Docker: remove_container, create-volume.
func containers(words []string, f fields) (program, bool) {
	noun, verb := "", ""
	for _, w := range words {
		switch w {
		case "container", "containers", "image", "images", "volume", "volumes", "network", "networks", "compose", "system":
			noun = strings.TrimSuffix(w, "s")
		case "remove", "delete":
			verb = "rm"
		case "fetch", "get", "view", "logs", "log", "stats", "inspect":
			if verb == "" || w == "logs" {
				verb = w
			}
		default:
			if verb == "" {
				verb = w
			}
		}
	}
	switch verb {
	case "list", "get", "view", "fetch":
		verb = "ls"
	case "recreate":
		verb = "rm"
	case "deploy":
		verb = "up"
	}
	if slices.Contains(words, "logs") {
		verb, noun = "logs", ""
	}
	args := []string{"docker"}
	if noun != "" {
		args = append(args, noun)
	}
	if verb == "" {
		return program{}, false
	}
	rest, odd := about(f)
	args = append(append(args, verb), rest...)
	if verb == "exec" || verb == "run" {
		args = append(args, inShell(f.all("command", "cmd"))...)
	}
	return program{args: [][]string{args}, odd: odd}, true
}

// installs are the effects of a tool that installs packages, or takes them away.
func installs(tool string, f fields, at shell.Place) []human.Effect {
	manager := strings.ToLower(f.one("manager", "packagemanager", "ecosystem", "tool"))
	switch manager {
	case "npm", "pnpm", "yarn", "pip", "pip3", "uv", "cargo", "brew", "apt", "gem", "composer", "conda", "poetry", "go":
	default:
		manager = "npm"
		if strings.Contains(plainName(tool), "python") {
			manager = "pip"
		}
	}
	verb := "install"
	for _, w := range nameWords(tool) {
		if w == "uninstall" || w == "remove" {
			verb = "uninstall"
		}
	}
	args := []string{manager, verb}
	for _, p := range f.all("package", "packagename", "packages", "name", "names", "dependency", "dependencies", "spec") {
		if !strings.HasPrefix(p, "-") && len(args) < 200 {
			args = append(args, p)
		}
	}
	out := shell.LowerArgs(args, at)
	// Whatever the manager makes of it, packages bring code.
	return append(out, effect(human.PackageInstall, human.MediumRisk, human.MachineBlast, "tool.packages", strings.Join(args[2:], " ")))
}
