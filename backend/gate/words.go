package gate

import (
	"strings"

	"deskbell/backend/gate/shell"
	"deskbell/backend/human"
)

var sentences = map[human.EffectVerb]string{
	human.FilesystemRead:      "Reads",
	human.FilesystemWrite:     "Writes",
	human.FilesystemDelete:    "Deletes",
	human.GitRead:             "Reads the repository",
	human.GitWrite:            "Changes the repository",
	human.GitDiscard:          "Throws away work that no commit holds",
	human.GitRemoteWrite:      "Pushes to a remote repository",
	human.GitHistoryRewrite:   "Rewrites or deletes history",
	human.NetworkRead:         "Reads from the network",
	human.NetworkWrite:        "Sends to the network",
	human.PackageInstall:      "Installs packages",
	human.PackageRun:          "Runs a program of the project or of a package",
	human.LangExec:            "Runs code",
	human.ProcessSignal:       "Stops or signals processes",
	human.ContainerEffect:     "Changes containers",
	human.ServiceEffect:       "Changes a service",
	human.DatabaseEffect:      "Works on a database",
	human.CredentialAccess:    "Reads secrets",
	human.PersistenceEffect:   "Sets up what runs by itself later",
	human.PrivilegeEscalation: "Acts with more rights",
	human.SecurityWeakening:   "Weakens protections",
	human.CostEffect:          "Costs money",
	human.ObfuscatedEffect:    "Hides what it does",
	human.UnknownEffect:       "Does something that is not known",
}

// words says an effect in a sentence.
func words(e human.Effect) string {
	s := sentences[e.Verb]
	if s == "" {
		s = sentences[human.UnknownEffect]
	}
	if e.Resource != "" {
		s += ": " + visible(e.Resource)
	}
	if e.Target != "" && e.Target != e.Resource && !strings.HasSuffix(e.Target, "/"+e.Resource) {
		s += " (" + visible(e.Target) + ")"
	}
	return s
}

// visible shows characters that would not be seen, or would turn the text around, by their numbers.
func visible(s string) string {
	if !disguised(s) {
		return strings.NewReplacer("\n", "⏎", "\r", "", "\t", " ").Replace(s)
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("⏎")
		case r < 0x20 || r == 0x7f || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0xfeff || r == 0xad || r >= 0xe0000:
			b.WriteString("<U+")
			const digits = "0123456789ABCDEF"
			for shift := 16; shift >= 0; shift -= 4 {
				if n := r >> shift; n > 0 || shift <= 12 {
					b.WriteByte(digits[n&15])
				}
			}
			b.WriteString(">")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func reason(v human.Verdict) string {
	if v.Risk == human.NoRisk {
		return "It only looks."
	}
	worst := v.Effects[0]
	switch v.Decision {
	case human.Deny:
		return worst.Words + ". That is never done."
	case human.Ask:
		if worst.Certainty == human.Possible {
			return worst.Words + ". What it does is known only when it runs."
		}
		return worst.Words + "."
	}
	return worst.Words + ", which the policy lets through."
}

// choices are the answers offered for what is asked. Every command among them passes the gate at a lower risk.
func choices(call Call, v human.Verdict, evidence Evidence) []human.Choice {
	if v.Decision == human.Allow {
		return nil
	}
	var out []human.Choice
	if v.Decision == human.Ask {
		allow := human.Choice{Action: human.ChooseAllow, Label: "Allow once", Description: "Run exactly this call."}
		for _, e := range v.Effects {
			if (e.Verb == human.FilesystemDelete || e.Verb == human.GitDiscard || e.Verb == human.FilesystemWrite && e.Risk.Level() >= human.MediumRisk.Level()) && e.Certainty == human.Certain && !e.Floor {
				out = append(out, human.Choice{Action: human.ChooseBackup, Label: "Back up first", Description: "Make a copy, check it, then run exactly this call."})
				break
			}
		}
		for _, e := range v.Effects {
			if e.Verb == human.FilesystemWrite || e.Verb == human.GitDiscard {
				out = append(out, human.Choice{Action: human.ChooseDifference, Label: "Show the difference", Description: "Show what would change, and ask again."})
				break
			}
		}
		out = append([]human.Choice{allow}, out...)
	}
	if command, at := commandOf(call); command != "" {
		at.Evidence = evidence
		if instead, why := better(command, v); instead != "" {
			worst := human.NoRisk
			for _, e := range shell.Lower(instead, at) {
				if e.Risk.Level() > worst.Level() {
					worst = e.Risk
				}
			}
			if worst.Level() < v.Risk.Level() {
				out = append(out, human.Choice{Action: human.ChooseInstead, Label: "Offer another command", Description: why, Command: instead})
			}
		}
	}
	return append(out, human.Choice{Action: human.ChooseDeny, Label: "Refuse", Description: "The call does not run.", Default: true})
}

// better is a command that does nearly the same with less at stake.
func better(command string, v human.Verdict) (instead, why string) {
	fields := strings.Fields(command)
	has := func(words ...string) bool {
		return len(fields) >= len(words) && strings.Join(fields[:len(words)], " ") == strings.Join(words, " ")
	}
	plain := !strings.ContainsAny(command, "|;&<>$`\n'\"\\")
	switch {
	case !plain:
		return "", ""
	case has("git", "push") && len(v.Effects) > 0 && v.Effects[0].Verb == human.GitHistoryRewrite:
		return "git push --dry-run", "Show what a push would do."
	case has("git", "clean"):
		return "git clean -n", "List what it would delete."
	case has("git", "reset"), has("git", "checkout"), has("git", "restore"):
		return "git stash push --include-untracked", "Put the changes aside, where they can be had back."
	case has("rm"):
		for _, f := range fields[1:] {
			if !strings.HasPrefix(f, "-") {
				return "ls -la " + f, "List what it would delete."
			}
		}
	case has("terraform", "apply"), has("terraform", "destroy"):
		return "terraform plan", "Show what it would change."
	case has("kubectl", "delete"), has("kubectl", "apply"):
		return command + " --dry-run=server", "Let the cluster check it, without doing it."
	case has("helm", "upgrade"), has("helm", "install"):
		return command + " --dry-run", "Show what it would change."
	case has("npm", "publish"):
		return "npm pack --dry-run", "Show what would be published."
	}
	return "", ""
}
