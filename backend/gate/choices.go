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

// mustBeTyped says whether a click is not enough for an effect: no one can undo it, and it takes more than a file.
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

// choices are the answers offered for a call that is asked about or blocked. Every command among them has a lower risk by
// this same engine.
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

// canBeCopied says whether a copy keeps what an effect would remove.
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
	without := func(drop func(string) bool) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(w), drop), " ")
	}
	switch {
	case begins(w, "rm|rmdir|shred|unlink"):
		return removals(w, v)
	case begins(w, "git push"):
		return []offer{{without(func(s string) bool { return s == "--force" || s == "-f" }), "way_push_no_force"}, {filled("{0} {1} --dry-run {2:}", w), "way_dry_run"}}
	case begins(w, "git clean"):
		return []offer{{strings.Join(append([]string{"git", "clean", "-n"}, dropFlag(w[2:], 'f')...), " "), "way_list_deleted"}, {"git clean -n", "way_list_deleted"}}
	case begins(w, "find"):
		if i := slices.IndexFunc(w, wordSet("-delete -exec -execdir -ok").has); i > 0 {
			return []offer{{strings.Join(w[:i], " ") + " -print", "way_list_found"}}
		}
		return nil
	case begins(w, "aws s3"):
		if i := slices.IndexFunc(w, func(s string) bool { return strings.HasPrefix(s, "s3://") }); i > 0 {
			return []offer{{command + " --dryrun", "way_dry_run"}, {"aws s3 ls " + w[i], "way_list_there"}}
		}
		return nil
	case begins(w, "gh") && len(w) < 4:
		return nil
	case strings.HasPrefix(w[0], "mkfs."):
		return []offer{{"lsblk", "way_list_disks"}}
	}
	var out []offer
	for _, way := range ways {
		if begins(w, way.commands) {
			for _, o := range way.offers {
				out = append(out, offer{filled(o.command, w), o.why})
			}
			break
		}
	}
	return out
}

// begins says whether a command begins as one of some do, which stand between bars.
func begins(w []string, commands string) bool {
	for c := range strings.SplitSeq(commands, "|") {
		if words := strings.Fields(c); len(w) >= len(words) && slices.Equal(w[:len(words)], words) {
			return true
		}
	}
	return false
}

// filled is a command of ways with the words of another: {0} and {1} are its first two, {1:} and {2:} those from there on, {3} the
// fourth, {all} is all of it, {last} its last word, and {plain} its last that is no option.
func filled(command string, w []string) string {
	plain := ""
	for _, x := range w[1:] {
		if !strings.HasPrefix(x, "-") {
			plain = x
		}
	}
	from := func(n int) string { return strings.Join(w[min(n, len(w)):], " ") }
	only := func(n int) string { return strings.Join(w[min(n, len(w)):min(n+1, len(w))], " ") }
	filled := strings.NewReplacer("{all}", from(0), "{0}", w[0], "{1}", only(1), "{3}", only(3), "{1:}", from(1), "{2:}", from(2), "{last}", w[len(w)-1], "{plain}", plain).Replace(command)
	return strings.Join(strings.Fields(filled), " ")
}

// ways are commands that do nearly the same as others with less at stake, the best first; filled tells what stands in braces.
var ways = []struct {
	commands string
	offers   []offer
}{
	{"git reset|git checkout|git restore|git switch", []offer{{"git stash push --include-untracked", "way_stash"}, {"git diff HEAD", "way_show_lost"}}},
	{"git stash", []offer{{"git stash list", "way_list_stashed"}}},
	{"git branch", []offer{{"git log --oneline -20 {plain}", "way_show_commits"}}},
	{"git rebase|git filter-branch|git filter-repo", []offer{{"git branch before-rewriting", "way_keep_commits"}}},
	{"terraform destroy|tofu destroy", []offer{{"{0} plan -destroy", "way_show_destroyed"}}},
	{"terraform apply|tofu apply", []offer{{"{0} plan", "way_show_changes"}}},
	{"pulumi up|pulumi destroy", []offer{{"pulumi preview", "way_show_changes"}}},
	{"kubectl delete|kubectl apply|kubectl create|kubectl scale|kubectl patch", []offer{{"{all} --dry-run=server", "way_cluster_check"}, {"kubectl get {2:}", "way_look"}}},
	{"kubectl rollout|kubectl drain|kubectl cordon", []offer{{"kubectl get nodes,pods", "way_look_running"}}},
	{"helm upgrade|helm install|helm uninstall|helm delete", []offer{{"{all} --dry-run", "way_dry_run"}, {"helm status {plain}", "way_look"}}},
	{"aws ec2", []offer{{"{all} --dry-run", "way_check"}}},
	{"npm publish", []offer{{"npm pack --dry-run", "way_show_published"}}},
	{"cargo publish", []offer{{"{all} --dry-run", "way_show_published"}, {"cargo package --list", "way_list_published"}}},
	{"npm install|npm i|npm add", []offer{{"npm view {last}", "way_look_package"}}},
	{"pip install|pip3 install", []offer{{"pip index versions {last}", "way_look_package"}}},
	{"apt|apt-get", []offer{{"apt-get --simulate {1:}", "way_dry_run"}, {"apt-cache show {plain}", "way_look_package"}}},
	{"brew", []offer{{"brew info {plain}", "way_look_package"}}},
	{"docker system prune", []offer{{"docker system df", "way_show_room"}}},
	{"docker volume|docker network|docker image|docker container", []offer{{"docker {1} inspect {plain}", "way_look"}, {"docker {1} ls", "way_list"}}},
	{"docker rm|docker stop|docker kill|docker rmi", []offer{{"docker inspect {plain}", "way_look"}}},
	{"docker compose down|docker-compose down", []offer{{"docker compose stop", "way_stop_keep"}, {"docker compose ps", "way_look_running"}}},
	{"rsync", []offer{{"rsync --dry-run {1:}", "way_dry_run"}}},
	{"kill", []offer{{"ps -p {last}", "way_look_process"}}},
	{"pkill|killall", []offer{{"pgrep -a {last}", "way_list_processes"}}},
	{"systemctl|service", []offer{{"systemctl status {last}", "way_look_service"}}},
	{"chmod|chown|chgrp", []offer{{"ls -la {last}", "way_look_rights"}}},
	{"mkfs|dd|wipefs", []offer{{"lsblk", "way_list_disks"}}},
	{"dropdb|createdb", []offer{{"psql -l", "way_list_databases"}}},
	{"redis-cli", []offer{{"redis-cli dbsize", "way_count_keys"}}},
	{"gh", []offer{{"gh {1} view {3}", "way_look"}}},
	{"ansible-playbook", []offer{{"{all} --check", "way_dry_run"}}},
	{"make", []offer{{"make -n {1:}", "way_print_commands"}}},
	{"crontab", []offer{{"crontab -l", "way_list_set_up"}}},
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
