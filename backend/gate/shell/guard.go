package shell

import (
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// Programs that put files somewhere else, by verbs of theirs.
var (
	uploads     = lazy.Set("gsutil aws gcloud azcopy az rclone mc s3cmd s5cmd b2 gh glab croc ffsend transfersh transfer wormhole magic-wormhole termbin pastebinit gist ix sprunge ipfs dropbox gdrive restic borg kopia")
	uploadVerbs = lazy.Set("cp copy mv move sync rsync upload put create send add share backup new upload-batch rclone push save")
	stoppers    = lazy.Set("kill pkill killall xkill skill systemctl launchctl service rc-service taskkill snap brew apt apt-get npm")
)

// guards looks at a command once its effects are known: whether it sends the secrets it reads, or stops the gatekeeper.
// from is how many effects there were before it.
func (w *walker) guards(c *cmd, secrets, from int) {
	if !onlyText()[c.name] {
		for _, a := range c.args {
			if a.Taint&arg.FromSecret != 0 && addressesBy(a.Text) {
				w.leak(w.shown(c))
				return
			}
		}
	}
	if uploads()[c.name] && w.secrets > secrets {
		for i, a := range c.args {
			if uploadVerbs()[a.Text] {
				for j, x := range c.args[i+1:] {
					p, _ := w.placeOf(x, w.dir)
					last := i+1+j == len(c.args)-1 && j > 0 // where it goes to
					if (p == paths.Secret || p == paths.EnvFile) && !last && !strings.Contains(x.Text, "://") {
						w.leak(w.shown(c))
						return
					}
				}
			}
		}
	}
	if stoppers()[c.name] {
		for _, a := range c.args {
			if !strings.Contains(strings.ToLower(a.Text), "deskbell") {
				continue
			}
			for _, e := range w.effects[min(from, len(w.effects)):] {
				if e.Risk.Level() >= human.MediumRisk.Level() {
					w.tampers(w.shown(c))
					return
				}
			}
		}
	}
}

// tampers is a command that would change or stop the gatekeeper itself.
func (w *walker) tampers(what string) {
	w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: what, Certainty: human.Certain, Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "floor.gatekeeper"})
}

// onlyText are commands for which an address is only text.
var onlyText = lazy.Set("echo printf export declare typeset local readonly test [ [[ read set true : cat grep sed awk jq git")

// addressesBy says whether an address is put together from what is not known: in its host, path or query. What stands before
// the @ proves who one is.
func addressesBy(s string) bool {
	_, rest, ok := strings.Cut(s, "://")
	if !ok || !strings.HasPrefix(s, "http") {
		return false
	}
	if at := strings.IndexByte(rest, '@'); at >= 0 && !strings.ContainsAny(rest[:at], "/?#") {
		rest = rest[at+1:]
	}
	return strings.Contains(rest, arg.Unknown)
}
