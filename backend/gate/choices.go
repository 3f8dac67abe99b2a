package gate

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/sql"
	"deskbell/backend/human"
)

// finish tells how a verdict that has its decision is said and asked: Reason, Form, Input and Choices.
func finish(call Call, v *human.Verdict, evidence Evidence) {
	v.Said = reason(*v)
	v.Reason, v.Form, v.Input, v.Choices = human.TextOf(v.Said), "", nil, choices(call, *v, evidence)
	if v.Decision != human.Ask {
		return
	}
	v.Form = human.Confirm
	if slices.ContainsFunc(v.Choices, func(c human.Choice) bool {
		return c.Action == human.ChooseBackup || c.Action == human.ChooseDifference || c.Action == human.ChooseInstead
	}) {
		v.Form = human.Select
	}
	for _, e := range v.Effects {
		if mustBeTyped(e) {
			name := nameOf(e, call)
			v.Form = human.Enter
			v.Input = &human.Input{Prompt: human.Say("type_it", "must", name).Text, Code: "type_it", Placeholder: name, Must: name}
			return
		}
	}
}

// mustBeTyped says whether a click is not enough for an effect: nobody can undo it, and it takes more than a file.
func mustBeTyped(e human.Effect) bool {
	if e.Risk != human.CriticalRisk || e.Reversibility != human.Irreversible {
		return false
	}
	switch e.Blast {
	case human.ProjectBlast, human.SharedBlast, human.ProductionBlast, human.PublicBlast:
		return true
	}
	return e.Verb == human.FilesystemDelete || e.Verb == human.FilesystemWrite
}

// Options whose value is where something is, not what it is.
var whereOptions = map[string]bool{
	"--region": true, "--profile": true, "-n": true, "--namespace": true, "--context": true, "--kube-context": true, "--project": true, "-o": true, "--output": true, "--timeout": true,
	"--grace-period": true, "--zone": true, "-g": true, "--resource-group": true, "--query": true, "-h": true, "--host": true, "-p": true, "--port": true, "-U": true, "--user": true, "--location": true,
	"--subscription": true, "--kubeconfig": true, "--endpoint-url": true, "--account": true, "--cascade": true, "--wait": true,
}

// nameOf is what has to be typed: the name of what would be destroyed, as the call has it.
func nameOf(e human.Effect, call Call) string {
	fit := func(s string) bool {
		return s != "" && len(s) <= 80 && !disguised(s) && !strings.ContainsAny(s, "\n\t…\u00a0")
	}
	if e.Target != "" {
		if base := path.Base(e.Target); fit(base) && base != "." && base != "/" {
			return base
		}
	}
	name := ""
	words := strings.Fields(strings.Trim(e.Resource, "…"))
	for i, w := range words {
		_, value, isSet := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "-") && !isSet, i > 0 && whereOptions[words[i-1]], i == 0 && len(words) > 1:
			continue
		case strings.HasPrefix(w, "-"):
			if option, _, _ := strings.Cut(w, "="); whereOptions[option] {
				continue
			}
			w = value
		}
		w = strings.Trim(w, `"'`+"`;()[]")
		if !fit(w) {
			continue
		}
		if e.Verb == human.NetworkWrite { // a host, rather than its port
			if _, host, is := strings.Cut(w, "://"); is {
				w, _, _ = strings.Cut(host, "/")
			}
			if strings.Contains(name, ".") && (!strings.Contains(w, ".") || strings.ContainsAny(w, "/@")) {
				continue
			}
		}
		name = w
		if slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(w), notWord), isProduction) {
			return w
		}
	}
	if name == "" {
		name = toolName(call.Tool)
	}
	if !fit(name) {
		name = "do it"
	}
	return name
}

// far says whether an effect is on the files of another machine, of which nothing can be copied or shown here.
func far(e human.Effect) bool {
	switch e.Verb {
	case human.FilesystemDelete, human.FilesystemWrite, human.GitDiscard:
		return !e.Blast.Near()
	}
	return false
}

// choices are the answers offered for what is asked or refused. Every command among them passes the gate at a lower risk.
func choices(call Call, v human.Verdict, evidence Evidence) []human.Choice {
	if v.Decision == human.Allow {
		return nil
	}
	var out []human.Choice
	if v.Decision == human.Ask {
		out = append(out, choice(human.ChooseAllow, "choice_allow"))
		if !v.HardLimit && slices.ContainsFunc(v.Effects, canBeCopied) && !slices.ContainsFunc(v.Effects, far) {
			out = append(out, choice(human.ChooseBackup, "choice_backup"))
		}
		if slices.ContainsFunc(v.Effects, canBeShown) && !slices.ContainsFunc(v.Effects, far) {
			out = append(out, choice(human.ChooseDifference, "choice_difference"))
		}
	}
	if command, why := alternative(call, v, evidence); command != "" {
		other := choice(human.ChooseInstead, why)
		other.Command = command
		out = append(out, other)
	}
	if v.Decision == human.Ask {
		if raw := bytes.TrimSpace(call.Args); len(raw) > 0 && raw[0] == '{' && len(raw) <= MaxArgs && json.Valid(raw) {
			out = append(out, choice(human.ChooseChange, "choice_change"))
		}
	}
	deny := choice(human.ChooseDeny, "choice_deny")
	deny.Default = true
	return append(out, deny)
}

func choice(action human.ChoiceAction, does human.Code) human.Choice {
	return human.Choice{Action: action, Label: human.Say("label_" + human.Code(action)).Text, Description: human.Say(does).Text, Code: does}
}

// canBeCopied says whether a copy keeps what an effect would take away.
func canBeCopied(e human.Effect) bool {
	switch e.Verb {
	case human.FilesystemDelete:
		return placed(e.Target) && e.Certainty == human.Certain
	case human.FilesystemWrite:
		return placed(e.Target) && e.Certainty == human.Certain && e.Risk.Level() >= human.LowRisk.Level()
	case human.GitDiscard:
		for _, other := range []string{"git.stash", "git.branch", "git.reflog", "git.update-ref", "git.tag", "git.worktree"} {
			if strings.HasPrefix(e.Rule, other) {
				return false
			}
		}
		return true
	}
	return false
}

// placed says whether a path is absolute, on whichever system.
func placed(path string) bool {
	return strings.HasPrefix(path, "/") || len(path) > 2 && path[1] == ':'
}

// canBeShown says whether there is a difference to show.
func canBeShown(e human.Effect) bool {
	switch e.Verb {
	case human.FilesystemDelete, human.FilesystemWrite:
		return e.Target != "" && e.Risk != human.NoRisk
	case human.GitDiscard:
		return true
	}
	return false
}

// maxPlain is the longest command that another is sought for.
const maxPlain = 2000

// alternative is a command, or a query where the tool takes those, that does nearly the same with less at stake: at most
// low risk, and less than the call's.
func alternative(call Call, v human.Verdict, evidence Evidence) (command string, why human.Code) {
	if k := kindOf(call.Tool); k != shellTool && k != sqlTool || v.Risk.Level() <= human.LowRisk.Level() || len(call.Args) > MaxArgs {
		return "", ""
	}
	f, ok := parseFields(call.Args)
	if !ok {
		return "", ""
	}
	var field string
	var offers []offer
	if kindOf(call.Tool) == shellTool {
		for _, n := range commandFields {
			if text := f.one(n); text != "" {
				field, offers = n, instead(text, v)
				break
			}
		}
	}
	if kindOf(call.Tool) == sqlTool {
		for _, n := range queryFields {
			if text := f.one(n); text != "" && len(text) <= maxPlain {
				if q := sql.Count(text, sql.DialectOf(call.Tool)); q != "" {
					field, offers = n, []offer{{q, "way_count_rows"}}
				}
				break
			}
		}
	}
	for _, o := range offers {
		other, ok := withField(call, field, o.command)
		if !ok {
			return "", ""
		}
		worst, floor := human.NoRisk, false
		for _, e := range effects(other, evidence) {
			production(&e)
			floor = floor || e.HardLimit
			if e.Risk.Level() > worst.Level() {
				worst = e.Risk
			}
		}
		if !floor && worst.Level() <= human.LowRisk.Level() && worst.Level() < v.Risk.Level() {
			return o.command, o.why
		}
	}
	return "", ""
}

// withField is the call with another text under the field of that plain name.
func withField(call Call, name, text string) (Call, bool) {
	var args map[string]any
	if json.Unmarshal(call.Args, &args) != nil {
		return call, false
	}
	done := false
	for k := range args {
		if plainName(k) == name {
			args[k], done = text, true
		}
	}
	raw, err := json.Marshal(args)
	call.Args = raw
	return call, done && err == nil
}

// An offer is a command to run in place of another.
type offer struct {
	command string
	why     human.Code
}

// instead lists commands that do nearly the same with less at stake; the gate judges them before one is offered.
func instead(command string, v human.Verdict) []offer {
	command = strings.TrimSpace(command)
	if len(command) > maxPlain || strings.ContainsAny(command, ";&<>$`\n\\") {
		return nil
	}
	if from, to, piped := strings.Cut(command, "|"); piped {
		if !strings.HasPrefix(to, "|") && !strings.Contains(to, "|") {
			return []offer{{strings.TrimSpace(from), "way_look_passed"}}
		}
		return nil
	}
	if strings.ContainsAny(command, `'"`) {
		return nil
	}
	w := strings.Fields(command)
	if len(w) == 0 {
		return nil
	}
	if len(w) > 1 && (w[0] == "sudo" || w[0] == "doas") && !strings.HasPrefix(w[1], "-") {
		bare := strings.Join(w[1:], " ")
		return append([]offer{{bare, "way_without_rights"}}, instead(bare, v)...)
	}
	is := func(words ...string) bool { return len(w) >= len(words) && slices.Equal(w[:len(words)], words) }
	plus := func(n int, add ...string) string { return strings.Join(slices.Insert(slices.Clone(w), n, add...), " ") }
	without := func(drop func(string) bool) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(w), drop), " ")
	}
	last := w[len(w)-1]
	plain := ""
	for _, x := range w[1:] {
		if !strings.HasPrefix(x, "-") {
			plain = x
		}
	}
	const would human.Code = "way_dry_run"
	switch {
	case is("rm"), is("rmdir"), is("shred"), is("unlink"):
		return removals(w, v)
	case is("git", "push"):
		return []offer{{without(func(s string) bool { return s == "--force" || s == "-f" }), "way_push_no_force"}, {plus(2, "--dry-run"), would}}
	case is("git", "clean"):
		return []offer{{strings.Join(append([]string{"git", "clean", "-n"}, dropFlag(w[2:], 'f')...), " "), "way_list_deleted"}, {"git clean -n", "way_list_deleted"}}
	case is("git", "reset"), is("git", "checkout"), is("git", "restore"), is("git", "switch"):
		return []offer{{"git stash push --include-untracked", "way_stash"}, {"git diff HEAD", "way_show_lost"}}
	case is("git", "stash"):
		return []offer{{"git stash list", "way_list_stashed"}}
	case is("git", "branch"):
		return []offer{{"git log --oneline -20 " + plain, "way_show_commits"}}
	case is("git", "rebase"), is("git", "filter-branch"), is("git", "filter-repo"):
		return []offer{{"git branch before-rewriting", "way_keep_commits"}}
	case is("find"):
		if i := slices.IndexFunc(w, func(s string) bool {
			return s == "-delete" || s == "-exec" || s == "-execdir" || s == "-ok"
		}); i > 0 {
			return []offer{{strings.Join(append(slices.Clone(w[:i]), "-print"), " "), "way_list_found"}}
		}
	case is("terraform", "destroy"), is("tofu", "destroy"):
		return []offer{{w[0] + " plan -destroy", "way_show_destroyed"}}
	case is("terraform", "apply"), is("tofu", "apply"):
		return []offer{{w[0] + " plan", "way_show_changes"}}
	case is("pulumi", "up"), is("pulumi", "destroy"):
		return []offer{{"pulumi preview", "way_show_changes"}}
	case is("kubectl", "delete"), is("kubectl", "apply"), is("kubectl", "create"), is("kubectl", "scale"), is("kubectl", "patch"):
		return []offer{{plus(len(w), "--dry-run=server"), "way_cluster_check"}, {"kubectl get " + strings.Join(w[2:], " "), "way_look"}}
	case is("kubectl", "rollout"), is("kubectl", "drain"), is("kubectl", "cordon"):
		return []offer{{"kubectl get nodes,pods", "way_look_running"}}
	case is("helm", "upgrade"), is("helm", "install"), is("helm", "uninstall"), is("helm", "delete"):
		return []offer{{plus(len(w), "--dry-run"), would}, {"helm status " + plain, "way_look"}}
	case is("aws", "s3"):
		for _, x := range w {
			if strings.HasPrefix(x, "s3://") {
				return []offer{{plus(len(w), "--dryrun"), would}, {"aws s3 ls " + x, "way_list_there"}}
			}
		}
	case is("aws", "ec2"):
		return []offer{{plus(len(w), "--dry-run"), "way_check"}}
	case is("npm", "publish"):
		return []offer{{"npm pack --dry-run", "way_show_published"}}
	case is("cargo", "publish"):
		return []offer{{plus(len(w), "--dry-run"), "way_show_published"}, {"cargo package --list", "way_list_published"}}
	case is("npm", "install"), is("npm", "i"), is("npm", "add"):
		return []offer{{"npm view " + last, "way_look_package"}}
	case is("pip", "install"), is("pip3", "install"):
		return []offer{{"pip index versions " + last, "way_look_package"}}
	case is("apt"), is("apt-get"):
		return []offer{{"apt-get --simulate " + strings.Join(w[1:], " "), would}, {"apt-cache show " + plain, "way_look_package"}}
	case is("brew"):
		return []offer{{"brew info " + plain, "way_look_package"}}
	case is("docker", "system", "prune"):
		return []offer{{"docker system df", "way_show_room"}}
	case is("docker", "volume"), is("docker", "network"), is("docker", "image"), is("docker", "container"):
		return []offer{{"docker " + w[1] + " inspect " + plain, "way_look"}, {"docker " + w[1] + " ls", "way_list"}}
	case is("docker", "rm"), is("docker", "stop"), is("docker", "kill"), is("docker", "rmi"):
		return []offer{{"docker inspect " + plain, "way_look"}}
	case is("docker", "compose", "down"), is("docker-compose", "down"):
		return []offer{{"docker compose stop", "way_stop_keep"}, {"docker compose ps", "way_look_running"}}
	case is("rsync"):
		return []offer{{plus(1, "--dry-run"), would}}
	case is("kill"), is("pkill"), is("killall"):
		if w[0] == "kill" {
			return []offer{{"ps -p " + last, "way_look_process"}}
		}
		return []offer{{"pgrep -a " + last, "way_list_processes"}}
	case is("systemctl"), is("service"):
		return []offer{{"systemctl status " + last, "way_look_service"}}
	case is("chmod"), is("chown"), is("chgrp"):
		return []offer{{"ls -la " + last, "way_look_rights"}}
	case is("mkfs"), is("dd"), is("wipefs"), strings.HasPrefix(w[0], "mkfs."):
		return []offer{{"lsblk", "way_list_disks"}}
	case is("dropdb"), is("createdb"):
		return []offer{{"psql -l", "way_list_databases"}}
	case is("redis-cli"):
		return []offer{{"redis-cli dbsize", "way_count_keys"}}
	case is("gh"):
		if len(w) > 3 {
			return []offer{{"gh " + w[1] + " view " + w[3], "way_look"}}
		}
	case is("ansible-playbook"):
		return []offer{{plus(len(w), "--check"), would}}
	case is("make"):
		return []offer{{plus(1, "-n"), "way_print_commands"}}
	case is("crontab"):
		return []offer{{"crontab -l", "way_list_set_up"}}
	}
	return nil
}

// removals are the parts of a deletion that have less at stake, or a look at what would go.
func removals(w []string, v human.Verdict) []offer {
	risky := map[string]bool{}
	for _, e := range v.Effects {
		if e.Risk.Level() > human.LowRisk.Level() {
			risky[e.Resource] = true
		}
	}
	keep, names, end := w[:1:1], []string{}, false
	for _, x := range w[1:] {
		switch {
		case !end && strings.HasPrefix(x, "-"):
			end = x == "--"
			keep = append(keep, x)
		case !risky[x]:
			keep = append(keep, x)
			names = append(names, x)
		}
	}
	var out []offer
	if len(names) > 0 {
		out = append(out, offer{strings.Join(keep, " "), "way_only_regained"})
	}
	for _, x := range w[1:] {
		if !strings.HasPrefix(x, "-") {
			return append(out, offer{"ls -la " + x, "way_list_deleted"})
		}
	}
	return out
}

func dropFlag(words []string, flag rune) []string {
	var out []string
	for _, w := range words {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") {
			w = strings.ReplaceAll(w, string(flag), "")
		}
		if w != "-" && w != "--force" {
			out = append(out, w)
		}
	}
	return out
}
