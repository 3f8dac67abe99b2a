package shell

import (
	"net/url"
	"path"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/human"
)

// place is what kind of place a path is in.
type place uint8

const (
	inProject place = iota
	inTemp
	nullDevice
	outside     // somewhere else on the machine that is no system folder
	unknownSpot // not known before it runs
	envFile     // .env and the like: settings with secrets, in a project
	secretSpot  // keys, tokens, keychains
	startSpot   // what runs by itself later: shell start files, cron, units, hooks
	systemSpot  // /etc, /usr and the like
	hookSpot    // settings by which agents' clients start the gatekeeper, and its program
	gateSpot    // the gatekeeper's own files
	projectRoot // the working tree itself, or what holds it
	gitDir
	homeSpot // a home folder itself
	rootSpot // /, or everything in it
	rawDevice
)

// projectDir stands for the working tree where the caller gave none.
const projectDir = "/\x01project"

var systemDirs = []string{
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin", "/srv",
	"/sys", "/usr", "/var", "/Applications", "/Library", "/System", "/private/etc", "/private/var", "/cores", "/nix",
}

// Places under a home that start by themselves, and that hold secrets.
var (
	startFiles = lazy.Set(".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout " +
		".kshrc .cshrc .tcshrc .xinitrc .xprofile .xsession .inputrc .vimrc .gitconfig .npmrc .pypirc .netrc .tmux.conf .pam_environment .envrc")
	startDirs = []string{
		"/.config/autostart/", "/.config/systemd/", "/.config/fish/", "/Library/LaunchAgents/", "/Library/LaunchDaemons/",
		"/.git/hooks/", "/.husky/", "/etc/cron", "/var/spool/cron", "/etc/systemd/", "/etc/init.d/", "/etc/profile", "/.config/environment.d/",
		"/etc/ld.so.preload", "/etc/rc.local", "/etc/sudoers", "/etc/pam.d/", "/.claude/settings", "/.claude/hooks", "/.codex/config", "/.codex/hooks", "/.gemini/settings", "/.cursor/hooks", "/.qwen/settings", "/.copilot/settings", "/.copilot/hooks", "/.copilot/mcp-config", "/.github/hooks/", "/.claude.json", "/.cursor/permissions", "/.opencode/plugin", "/opencode/plugin", "/.vscode/tasks.json",
		"/.mcp.json", "/.cursor/mcp.json", "/.vscode/mcp.json", "/.gemini/mcp", "/mcp_config.json", "/claude_desktop_config.json", "/.ssh/config", "/.ssh/rc", "/.config/git/", "/.config/nvim/init", "/.vim/plugin/", "/.config/pip/", "/.pip/",
		"/.m2/settings.xml", "/.gradle/init", "/.yarnrc", "/sitecustomize.py", "/usercustomize.py", "/.config/containers/", "/.config/hypr/", "/.config/i3/", "/.config/sway/", "/.xsessionrc", "/.direnvrc",
		"/.local/share/applications/", "/.config/mimeapps.list", "/.local/share/dbus-1/", "/.config/gtk-3.0/", "/.config/gtk-4.0/", "/.gdbinit", "/.lesskey",
	}
	secretNames = lazy.Set("id_rsa id_dsa id_ecdsa id_ed25519 .netrc _netrc .pgpass .git-credentials .npmrc .pypirc .htpasswd .my.cnf " +
		"credentials.json secrets.json secrets.yml secrets.yaml service-account.json serviceaccount.json kubeconfig master.key .vault-token .dockercfg " +
		"wallet.dat key3.db key4.db logins.json keystore.jks authinfo .authinfo shadow gshadow sudoers .bash_history .zsh_history .python_history .psql_history .mysql_history " +
		".credentials.json .boto .s3cfg .databrickscfg .mylogin.cnf .passwd-s3fs oauth_creds.json")
	secretParts = []string{
		"/.ssh/", "/.aws/", "/.gnupg/", "/.kube/config", "/.docker/config.json", "/.config/gcloud/", "/.azure/", "/.config/gh/hosts", "/.password-store/",
		"/.local/share/keyrings/", "/Library/Keychains/", "/.config/op/", "/.mozilla/firefox/", "/.config/google-chrome/", "/.config/chromium/",
		"/.config/rclone/", "/.terraform.d/credentials", "/.cargo/credentials", "/.gem/credentials", "/.config/hub", "/.config/stripe", "/.config/doctl", "/.oci/", "/.bitcoin/", "/.ethereum/", "/.electrum/",
		"/.codex/auth", "/.config/github-copilot/", "/.local/share/opencode/auth", "/.config/goose/secrets", "/.config/composer/auth", "/.composer/auth", "/.fly/config", "/.local/share/com.vercel.cli/auth", "/.config/netlify/", "/.wrangler/", "/.config/.wrangler/",
		"/.pulumi/credentials", "/.railway/config", "/.supabase/access-token", "/.nuget/nuget/", "/.m2/settings-security", "/.gradle/gradle.properties", "/.bundle/config", "/.sbt/.credentials", "/.ivy2/.credentials", "/.kaggle/", "/.huggingface/token", "/.cache/huggingface/token",
		"/.config/sops/age/", "/.config/containers/auth", "/.snowsql/", "/.snowflake/", "/.config/helm/registry",
		"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssl/private", "/run/secrets/", "/var/run/secrets/", "/.deskbell/", "/proc/self/environ", "/etc/krb5.keytab",
	}
	secretEndings = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".ovpn", ".asc.key", ".tfstate"}
	gateParts     = []string{"/deskbell/gate.toml", "/.deskbell/", "/.local/share/deskbell", "/.config/deskbell", "/application support/deskbell", "/appdata/roaming/deskbell", "/appdata/local/deskbell"} // in lower case
	// Settings by which agents' clients start hooks, in a home and in projects, and the folders that they are in.
	hookSettings = []string{"/.claude/settings.json", "/.claude/settings.local.json", "/.codex/hooks.json", "/.codex/config.toml", "/.gemini/settings.json", "/.gemini/trustedfolders.json", "/.qwen/settings.json", "/.copilot/settings.json", "/.copilot/hooks/deskbell.json", "/.github/hooks/deskbell.json", "/.cursor/hooks.json",
		"/.config/opencode/plugins/deskbell.js", "/.opencode/plugins/deskbell.js"}
	tempDirs = []string{"/tmp/", "/var/tmp/", "/private/tmp/", "/private/var/folders/", "/var/folders/", "/dev/shm/"}
	remade   = lazy.Set("node_modules dist build out target __pycache__ .pytest_cache .mypy_cache .ruff_cache .cache coverage .next .nuxt .turbo .parcel-cache .gradle .tox .venv venv .eggs htmlcov .nyc_output tmp bin obj .coverage")
)

// caches are folders that tools fill by themselves and fill again, where no commit holds them. Builds are not among them:
// one may be the only copy of what was released.
var caches = lazy.Set("node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .cache .turbo .parcel-cache .nyc_output .tox .eggs htmlcov .next .nuxt .svelte-kit .vite .eslintcache .angular")

// quietDevices hold no files: terminals, cameras, sound.
var quietDevices = lazy.Set("full ptmx pts console video snd dsp audio fuse kvm dri net lp usblp log hwrng rtc midi nvidia nvidiactl ppp vhost-net")

// resolve makes a path absolute and clean without looking at a disk. Unknown parts stay; ok is false where they make the
// place of the path unknown.
func (w *walker) resolve(v arg.Word, cwd string) (abs string, ok bool) {
	s := v.Text
	if rest, is := strings.CutPrefix(s, "file://"); is {
		s = strings.TrimPrefix(rest, "localhost")
		if plain, err := url.PathUnescape(s); err == nil {
			s = plain
		}
	}
	if s == "~" || strings.HasPrefix(s, "~/") {
		s = w.home + s[1:]
	} else if strings.HasPrefix(s, "~") && !v.Quoted {
		s = "/home/" + s[1:]
	}
	if strings.HasPrefix(s, arg.Unknown) {
		return s, false
	}
	if onDrive(s) {
		root := strings.ReplaceAll(w.root, `\`, "/")
		if plain := strings.ReplaceAll(s, `\`, "/"); onDrive(w.root) && strings.HasPrefix(strings.ToLower(plain)+"/", strings.ToLower(root)+"/") {
			s = w.root + plain[len(root):]
			return path.Clean(s), true
		}
		if s = winPath(s).Text; strings.HasPrefix(s, arg.Unknown) {
			return s, false
		}
	}
	if !strings.HasPrefix(s, "/") {
		if strings.HasPrefix(cwd, arg.Unknown) {
			return s, false
		}
		s = cwd + "/" + s
	}
	// An unknown part can hold anything, "..", too; what follows it says little about where it leads.
	if i := strings.Index(s, arg.Unknown); i >= 0 {
		head := path.Clean(s[:i] + "x")
		return path.Dir(head) + "/" + strings.ReplaceAll(s[i:], "/", "∕"), true
	}
	s = path.Clean(s)
	if strings.HasPrefix(s, "/proc/") {
		s = behindProc(s, cwd)
	}
	return s, true
}

// behindProc is a path behind the links by which a process names its folder and its root.
func behindProc(s, cwd string) string {
	process, rest, _ := strings.Cut(s[len("/proc/"):], "/")
	name, rest, _ := strings.Cut(rest, "/")
	switch {
	case name == "root":
		return path.Clean("/" + rest)
	case name == "cwd" && (process == "self" || process == "thread-self") && !strings.HasPrefix(cwd, arg.Unknown):
		return path.Join(cwd, rest)
	}
	return s
}

// onDrive says whether a path is one of Windows that begins with a drive, or with another machine.
func onDrive(s string) bool {
	if len(s) > 2 && s[1] == ':' && (s[2] == '/' || s[2] == '\\') {
		return s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z'
	}
	return strings.HasPrefix(s, `\\`)
}

// placeOf says what kind of place a path is: as it is written, or as where it leads, if that is graver.
func (w *walker) placeOf(v arg.Word, cwd string) (place, string) {
	p, shown := w.spotOf(v, cwd)
	for _, real := range w.leads(v, cwd, true) {
		if other, _ := w.spotOf(real, cwd); other.rank() > p.rank() {
			p = other
		}
	}
	return p, shown
}

// rank is how grave it is to touch a place.
func (p place) rank() int {
	switch p {
	case nullDevice:
		return -1
	case gateSpot:
		return int(rawDevice) + 1
	}
	return int(p)
}

// A spot is a place that a path names or leads to.
type spot struct {
	place
	target string
}

// spots are the places of a path, as it is written and as where it leads. Without last, a link at its end is not followed.
func (w *walker) spots(v arg.Word, last bool) []spot {
	var out []spot
	for _, cwd := range w.cwds() {
		p, target := w.spotOf(v, cwd)
		out = append(out, spot{p, target})
		for _, real := range w.leads(v, cwd, last) {
			if p, there := w.spotOf(real, cwd); there != target {
				out = append(out, spot{p, there})
			}
		}
	}
	return out
}

// spotOf says what kind of place a path is, as it is written.
func (w *walker) spotOf(v arg.Word, cwd string) (place, string) {
	s := v.Text
	switch s {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/stdin", "/dev/zero", "/dev/random", "/dev/urandom", "-", "NUL", "nul":
		return nullDevice, s
	}
	for _, open := range []string{"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"} { // what was opened was judged then
		if n, ok := strings.CutPrefix(s, open); ok && !strings.Contains(n, "/") {
			return nullDevice, s
		}
	}
	abs, ok := w.resolve(v, cwd)
	if !ok {
		return unknownSpot, strings.ReplaceAll(abs, arg.Unknown, "…")
	}
	shown := strings.ReplaceAll(abs, arg.Unknown, "…")
	base := path.Base(abs)
	switch {
	case abs == "/" || abs == "/*" || abs == "/." || v.Glob && path.Dir(abs) == "/" && strings.Trim(base, "*?[].!{}") == "":
		return rootSpot, shown
	case strings.HasPrefix(abs, "/dev/"):
		if strings.HasPrefix(abs, "/dev/shm/") {
			return inTemp, shown
		}
		if name, _, _ := strings.Cut(abs[len("/dev/"):], "/"); quietDevices()[strings.TrimRight(name, "0123456789")] || strings.HasPrefix(name, "tty") || strings.HasPrefix(name, "cu.") {
			return outside, shown
		}
		if strings.HasPrefix(abs, "/dev/pts") || strings.HasPrefix(abs, "/dev/tcp/") || strings.HasPrefix(abs, "/dev/udp/") {
			return outside, shown
		}
		return rawDevice, shown
	case w.isHome(abs):
		return homeSpot, shown
	}
	if p := w.ownSpot(abs, v.Glob); p != inProject {
		return p, shown
	}
	if abs == w.root || strings.HasPrefix(w.root, abs+"/") && w.root != projectDir || abs == w.root+"/*" || abs == w.root+"/.*" {
		return projectRoot, shown
	}
	if strings.Contains(abs+"/", "/.git/") {
		if strings.Contains(abs+"/", "/.git/hooks/") {
			return startSpot, shown
		}
		return gitDir, shown
	}
	if rest, ok := strings.CutPrefix(abs, "/proc/"); ok && (strings.HasSuffix(rest, "environ") || strings.HasSuffix(rest, "/mem") || strings.Contains(rest, "/fd/")) {
		return secretSpot, shown // of another process
	}
	if p := secretPlace(abs); p != inProject {
		return p, shown
	}
	for _, p := range startDirs {
		if strings.Contains(abs+"/", p) {
			return startSpot, shown
		}
	}
	if startFiles()[base] && !strings.HasPrefix(abs, w.root+"/") {
		return startSpot, shown
	}
	if strings.HasPrefix(abs, w.root+"/") {
		return inProject, shown
	}
	for _, t := range tempDirs {
		if strings.HasPrefix(abs, t) {
			if strings.Trim(base, "*?[].") == "" && path.Dir(abs)+"/" == t {
				return outside, shown // everybody's temporary files
			}
			return inTemp, shown
		}
	}
	for _, d := range systemDirs {
		if abs == d || strings.HasPrefix(abs, d+"/") {
			return systemSpot, shown
		}
	}
	if strings.Count(abs, "/") == 1 {
		return systemSpot, shown // a folder right under the root
	}
	return outside, shown
}

// isHome says whether abs is a home folder or everything in one.
func (w *walker) isHome(abs string) bool {
	abs = strings.TrimSuffix(strings.TrimSuffix(abs, "/*"), "/.*")
	if abs == w.home || abs == "/root" || abs == "/home" || abs == "/Users" {
		return true
	}
	dir := path.Dir(abs)
	return dir == "/home" || dir == "/Users"
}

// deleting is the effect of deleting what is at a path.
func (w *walker) deleting(v arg.Word, recursive bool, rule string) {
	for _, s := range w.spots(v, strings.HasSuffix(v.Text, "/")) {
		p, target := s.place, s.target
		e := human.Effect{Verb: human.FilesystemDelete, Resource: v.Shown(), Target: target, Rule: rule, Certainty: human.Certain, Reversibility: human.Irreversible, Blast: human.FileBlast}
		if v.Glob {
			e.Certainty = human.Likely
		}
		switch p {
		case nullDevice:
			e.Risk, e.Blast = human.HighRisk, human.MachineBlast
		case rootSpot, homeSpot:
			e.Risk, e.Blast, e.HardLimit = human.CriticalRisk, human.MachineBlast, recursive
		case rawDevice:
			e.Risk, e.Blast, e.HardLimit = human.CriticalRisk, human.MachineBlast, true
		case gateSpot, hookSpot:
			e.Risk, e.HardLimit = human.CriticalRisk, true
		case projectRoot:
			e.Risk, e.Blast, e.HardLimit = human.HighRisk, human.ProjectBlast, recursive
			if recursive {
				e.Risk = human.CriticalRisk
			}
		case systemSpot, startSpot, secretSpot:
			e.Risk, e.Blast = human.HighRisk, human.MachineBlast
			if recursive {
				e.Risk = human.CriticalRisk
			}
		case gitDir:
			e.Risk, e.Blast = human.HighRisk, human.ProjectBlast
			if recursive {
				e.Risk = human.CriticalRisk
			}
		case unknownSpot:
			e.Risk, e.Certainty = human.HighRisk, human.Possible
		case inTemp:
			e.Risk = human.MediumRisk
			if s := strings.TrimPrefix(v.Text, madeTemp); len(s) < len(v.Text) && s != "/" && !v.Glob {
				e.Risk = human.LowRisk // this script made it
			}
		case envFile, outside:
			e.Risk = human.HighRisk
		case inProject:
			e.Risk = human.MediumRisk
			if recursive || v.Glob {
				e.Risk, e.Blast = human.HighRisk, human.ProjectBlast
			}
		}
		if p == inTemp || p == inProject && remade()[path.Base(target)] {
			e.Reversibility = human.Costly
		}
		if recursive && (w.holdsGuard(target, v.Glob) || holdsHooks(target)) {
			e.Risk, e.Blast, e.HardLimit, e.Reversibility = human.CriticalRisk, human.MachineBlast, true, human.Irreversible
		}
		w.emit(w.proven(e, recursive))
	}
}

// holdsGuard says whether the gatekeeper's own folder is at a path, or below it.
func (w *walker) holdsGuard(target string, glob bool) bool {
	for at := w.guard; len(at) > 1; at = path.Dir(at) {
		if matches, err := path.Match(target, at); at == target || glob && matches && err == nil {
			return true
		}
	}
	return false
}

// proven lowers the risk of deleting or overwriting where evidence shows that nothing is lost.
func (w *walker) proven(e human.Effect, recursive bool) human.Effect {
	if e.HardLimit || w.evidence == nil || e.Target == "" || e.Certainty == human.Possible || e.Risk == human.CriticalRisk {
		return e
	}
	if strings.ContainsAny(e.Target, "*?[…") {
		return e
	}
	switch state := w.evidence.File(e.Target); state {
	case Absent:
		if e.Verb == human.FilesystemDelete && !recursive {
			e.Risk = human.LowRisk
		}
	case MadeHere:
		e.Risk, e.Reversibility = human.LowRisk, human.Costly
	case Committed, Ignored:
		if e.Risk == human.HighRisk || e.Risk == human.MediumRisk {
			e.Risk, e.Reversibility = human.LowRisk, human.Reversible
			if base := path.Base(e.Target); recursive && !caches()[base] && (state == Committed || !remade()[base] || base == "tmp") {
				e.Risk = human.MediumRisk
			}
		}
	}
	return e
}

// change is what becomes of what a file held before it is written.
type change uint8

const (
	edits change = iota
	replaces
	empties
)

// writing is the effect of writing a file, of whatever tool.
func (w *walker) writing(v arg.Word, rule string) { w.writes(v, rule, edits) }

// replacing is that of writing it anew: what it held is gone.
func (w *walker) replacing(v arg.Word, rule string) { w.writes(v, rule, replaces) }

// emptying is that of leaving it with nothing in it.
func (w *walker) emptying(v arg.Word, rule string) { w.writes(v, rule, empties) }

func (w *walker) writes(v arg.Word, rule string, how change) {
	w.connects(v)
	for _, s := range w.spots(v, !w.replacesLinks) {
		p, target := s.place, s.target
		e := human.Effect{Verb: human.FilesystemWrite, Resource: v.Shown(), Target: target, Rule: rule, Certainty: human.Certain, Reversibility: human.Costly, Blast: human.FileBlast, Risk: human.LowRisk}
		switch p {
		case nullDevice:
			continue
		case inProject, inTemp:
			if v.Glob {
				e.Certainty = human.Likely
			}
		case outside:
			e.Risk = human.MediumRisk
			if strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/") {
				e.Verb, e.Blast, e.Risk = human.NetworkWrite, human.PublicBlast, human.HighRisk
			}
		case unknownSpot:
			e.Risk, e.Certainty = human.MediumRisk, human.Possible
		case envFile:
			e.Risk = human.MediumRisk
			e.Blast = human.ProjectBlast
			if w.evidence != nil && !v.Glob && w.evidence.File(target) == Absent {
				e.Risk = human.LowRisk // nothing to lose
			}
		case secretSpot:
			e.Risk, e.Blast = human.HighRisk, human.MachineBlast
			if strings.HasSuffix(target, "/authorized_keys") {
				e.Verb = human.PersistenceEffect
			}
		case startSpot:
			e.Verb, e.Risk, e.Blast = human.PersistenceEffect, human.HighRisk, human.MachineBlast
		case systemSpot, rootSpot, homeSpot:
			e.Risk, e.Blast = human.HighRisk, human.MachineBlast
		case projectRoot:
			e.Risk = human.LowRisk
		case gitDir:
			e.Risk, e.Blast = human.HighRisk, human.ProjectBlast
		case gateSpot, hookSpot:
			e.Verb, e.Risk, e.Blast, e.HardLimit = human.SecurityWeakening, human.CriticalRisk, human.MachineBlast, true
		case rawDevice:
			e.Risk, e.Blast, e.HardLimit, e.Reversibility = human.CriticalRisk, human.MachineBlast, true, human.Irreversible
		}
		if how != edits && e.Verb == human.FilesystemWrite && p != projectRoot && p != inTemp {
			e = w.lost(e, how, v)
		}
		w.emit(e)
	}
}

// lost raises the risk of writing a file anew by what that removes.
func (w *walker) lost(e human.Effect, how change, v arg.Word) human.Effect {
	state := NotKnown
	if _, ok := w.file(v); ok {
		state = MadeHere
	} else if w.evidence != nil && !strings.ContainsAny(e.Target, "*?[…") {
		state = w.evidence.File(e.Target)
	}
	risk := human.NoRisk
	switch {
	case state == Precious && how == empties:
		risk = human.HighRisk
	case state == Precious, state == Unseen, state == NotKnown && how == empties && !strings.HasSuffix(e.Target, ".log"):
		risk = human.MediumRisk
	default:
		return e
	}
	e.Reversibility = human.Irreversible
	if risk.Level() > e.Risk.Level() {
		e.Risk = risk
	}
	return e
}

// reading notes when what is read is where secrets are kept. It returns where the text comes from.
func (w *walker) reading(v arg.Word, rule string) arg.Taint {
	var t arg.Taint
	w.connects(v)
	for _, s := range w.spots(v, true) {
		p, target := s.place, s.target
		if w.watcher != nil {
			w.watcher.Read(strings.ReplaceAll(target, projectDir, "."))
		}
		e := human.Effect{Verb: human.CredentialAccess, Resource: v.Shown(), Target: target, Rule: rule, Certainty: human.Certain, Reversibility: human.Irreversible, Blast: human.MachineBlast}
		switch p {
		case secretSpot:
			e.Risk = human.HighRisk
		case envFile:
			e.Risk = human.MediumRisk
		case gateSpot:
			if e.Risk = human.MediumRisk; !strings.Contains(target+"/", "/.deskbell/") || w.guard != "" && strings.HasPrefix(target, w.guard) {
				e.Risk, e.HardLimit, e.Rule = human.CriticalRisk, true, "floor.own_folder" // of a project's own file every agent may know
			}
		case rawDevice:
			e.Risk = human.HighRisk // every file on it
		default:
			t |= arg.FromFile
			continue
		}
		t |= arg.FromSecret
		w.emit(e)
	}
	return t
}

// connects looks for Deskbell's own API in a name that a shell connects to.
func (w *walker) connects(v arg.Word) {
	if isSocket(v.Text) && len(w.reached(v.Text, true)) > 0 {
		w.tampers(v.Shown())
	}
}
