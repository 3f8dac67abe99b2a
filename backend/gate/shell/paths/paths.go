// Package paths says what kind of place a path is, by the path alone: the project, the system's folders, where secrets are kept, what runs
// by itself. Nothing here looks at a disk, and all of it can be used at once by many. Paths have slashes.
package paths

import (
	_ "embed" // the places
	"path"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
)

// A Place is what kind of place a path is in.
type Place uint8

// Places, in the order of how grave it is to touch them; Rank has the two that stand elsewhere.
const (
	InProject Place = iota
	InTemp
	NullDevice
	Outside   // somewhere else on the machine that is no system folder
	Unknown   // not known before it runs
	EnvFile   // .env and the like: settings with secrets, in a project
	Secret    // keys, tokens, keychains
	Start     // what runs by itself later: shell start files, cron, units, hooks
	System    // /etc, /usr and the like
	Hook      // settings by which agents' clients start the gatekeeper, and its program
	Gate      // the gatekeeper's own files
	Root      // the working tree itself, or what holds it
	GitDir    // .git
	Home      // a home folder itself
	Slash     // /, or everything in it
	RawDevice // a disk as it is
)

// Rank is how grave it is to touch a place.
func (p Place) Rank() int {
	switch p {
	case NullDevice:
		return -1
	case Gate:
		return int(RawDevice) + 1
	}
	return int(p)
}

// ProjectDir stands for the working tree where the caller gave none.
const ProjectDir = "/\x01project"

//go:embed places.txt
var placesText string

// places are the words of the file by their kinds. A "\ " in a word is a space.
var places = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.SplitSeq(placesText, "\n") {
		kind, words, _ := strings.Cut(line, " ")
		if kind == "" || kind == "#" {
			continue
		}
		list := all[kind]
		if list == nil {
			list = make([]string, 0, 160)
		}
		for word := range strings.SplitSeq(words, " ") {
			if last := len(list) - 1; last >= 0 && strings.HasSuffix(list[last], `\`) {
				list[last] = strings.TrimSuffix(list[last], `\`) + " " + word
			} else if word != "" {
				list = append(list, word)
			}
		}
		all[kind] = list
	}
	return all
})

func names(kind string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := make(map[string]bool, len(places()[kind]))
		for _, name := range places()[kind] {
			set[name] = true
		}
		return set
	})
}

var (
	// SecretNames are names of files that hold secrets.
	SecretNames = names("secret-file")
	// StartNames are names of files that shells and other programs read when they start.
	StartNames = names("start-file")
	// Remade are names of folders that a build or a test makes again.
	Remade = lazy.Set("node_modules dist build out target __pycache__ .pytest_cache .mypy_cache .ruff_cache .cache coverage .next .nuxt .turbo .parcel-cache .gradle .tox .venv venv .eggs htmlcov .nyc_output tmp bin obj .coverage")
	// Caches are folders that tools fill by themselves and fill again, where no commit holds them. Builds are not among them:
	// one may be the only copy of what was released.
	Caches = lazy.Set("node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .cache .turbo .parcel-cache .nyc_output .tox .eggs htmlcov .next .nuxt .svelte-kit .vite .eslintcache .angular")

	quietDevices = lazy.Set("full ptmx pts console video snd dsp audio fuse kvm dri net lp usblp log hwrng rtc midi nvidia nvidiactl ppp vhost-net")
	tempDirs     = []string{"/tmp/", "/var/tmp/", "/private/tmp/", "/private/var/folders/", "/var/folders/", "/dev/shm/"}
	systemDirs   = []string{
		"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin", "/srv",
		"/sys", "/usr", "/var", "/Applications", "/Library", "/System", "/private/etc", "/private/var", "/cores", "/nix",
	}
	// GateParts are parts of the paths of Deskbell's own folders, in lower case.
	GateParts = []string{"/deskbell/gate.toml", "/.deskbell/", "/.local/share/deskbell", "/.config/deskbell", "/application support/deskbell", "/appdata/roaming/deskbell", "/appdata/local/deskbell"}
)

// HookSettings are the ends of paths, in lower case, of settings by which agents' clients start hooks.
func HookSettings() []string { return places()["hook-setting"] }

// Of is what kind of place an absolute, clean path is. home and root are the user's folder and the working tree, which may be empty;
// glob says that the path is a pattern. Deskbell's own files are not told apart.
func Of(abs, home, root string, glob bool) Place {
	base := path.Base(abs)
	switch {
	case abs == "/" || abs == "/*" || abs == "/." || glob && path.Dir(abs) == "/" && strings.Trim(base, "*?[].!{}") == "":
		return Slash
	case strings.HasPrefix(abs, "/dev/"):
		return device(abs)
	case isHome(abs, home):
		return Home
	case abs == root || strings.HasPrefix(root, abs+"/") && root != ProjectDir || abs == root+"/*" || abs == root+"/.*":
		return Root
	case strings.Contains(abs+"/", "/.git/hooks/"):
		return Start
	case strings.Contains(abs+"/", "/.git/"):
		return GitDir
	}
	if rest, ok := strings.CutPrefix(abs, "/proc/"); ok && (strings.HasSuffix(rest, "environ") || strings.HasSuffix(rest, "/mem") || strings.Contains(rest, "/fd/")) {
		return Secret // of another process
	}
	if p := secret(abs); p != InProject {
		return p
	}
	within := strings.HasPrefix(abs, root+"/")
	switch {
	case holds(abs, "start-path"), StartNames()[base] && !within:
		return Start
	case within:
		return InProject
	}
	return elsewhere(abs, base)
}

// elsewhere is a place of the machine that is nothing of the user's.
func elsewhere(abs, base string) Place {
	for _, t := range tempDirs {
		switch {
		case !strings.HasPrefix(abs, t):
		case strings.Trim(base, "*?[].") == "" && path.Dir(abs)+"/" == t:
			return Outside // the temporary files of all users
		default:
			return InTemp
		}
	}
	for _, d := range systemDirs {
		if abs == d || strings.HasPrefix(abs, d+"/") {
			return System
		}
	}
	if strings.Count(abs, "/") == 1 {
		return System // a folder right under the root
	}
	return Outside
}

func device(abs string) Place {
	name, _, _ := strings.Cut(abs[len("/dev/"):], "/")
	switch {
	case name == "shm" && abs != "/dev/shm":
		return InTemp
	case quietDevices()[strings.TrimRight(name, "0123456789")], strings.HasPrefix(name, "tty"), strings.HasPrefix(name, "cu."), strings.HasPrefix(name, "pts"), name == "tcp", name == "udp":
		return Outside
	}
	return RawDevice
}

// isHome says whether abs is a home folder or everything in one.
func isHome(abs, home string) bool {
	abs = strings.TrimSuffix(strings.TrimSuffix(abs, "/*"), "/.*")
	if abs == home || abs == "/root" || abs == "/home" || abs == "/Users" {
		return true
	}
	dir := path.Dir(abs)
	return dir == "/home" || dir == "/Users"
}

func holds(abs, kind string) bool {
	return slices.ContainsFunc(places()[kind], func(p string) bool { return strings.Contains(abs+"/", p) })
}

// secret is Secret or EnvFile where a path is that of secrets by its name, else InProject.
func secret(abs string) Place {
	base := path.Base(abs)
	if !strings.HasSuffix(abs, ".pub") && base != "known_hosts" {
		for _, p := range places()["secret-path"] {
			if strings.Contains(abs+"/", p) && (p != "/.ssh/" || base != "config") {
				return Secret
			}
		}
	}
	if SecretNames()[base] {
		return Secret
	}
	for _, e := range places()["secret-ending"] {
		if strings.HasSuffix(base, e) && len(base) > len(e) && !strings.Contains(base, "pub") && !strings.HasPrefix(base, "cert") && base != "ca.pem" {
			return Secret
		}
	}
	if (base == ".env" || strings.HasPrefix(base, ".env.")) && !strings.HasSuffix(base, ".example") && !strings.HasSuffix(base, ".sample") && !strings.HasSuffix(base, ".template") {
		return EnvFile
	}
	return InProject
}

// HoldsSecrets says whether an absolute path is that of a file or folder of secrets by its name: keys, tokens, histories of shells, settings
// such as .env.
func HoldsSecrets(abs string) bool { return secret(abs) != InProject }

// SecretPlaces are files and folders in which secrets are kept, below a home and elsewhere on the machine. Of some only
// the beginning of the name is known.
func SecretPlaces(home string) []string {
	var all []string
	for _, p := range places()["secret-path"] {
		if strings.HasPrefix(p, "/etc/") || strings.HasPrefix(p, "/run/") || strings.HasPrefix(p, "/var/") {
			all = append(all, strings.TrimSuffix(p, "/"))
		} else if !strings.HasPrefix(p, "/proc/") {
			all = append(all, home+strings.TrimSuffix(p, "/"))
		}
	}
	for name := range SecretNames() {
		all = append(all, home+"/"+name)
	}
	slices.Sort(all)
	return all
}

// RunsByItself says whether what an absolute path holds is run later without being asked for, or says
// what runs: hooks of git, settings of agents and editors, start files of shells.
func RunsByItself(abs string) bool {
	return holds(abs, "start-path") || holds(abs, "hook-setting") || StartNames()[path.Base(abs)]
}

// Fits says whether a pattern is of a path or of something below it.
func Fits(pattern, full string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	have, want := strings.Split(pattern, "/"), strings.Split(full, "/")
	for i, w := range want {
		if i >= len(have) {
			return false
		}
		if have[i] == "**" {
			return true
		}
		if ok, err := path.Match(have[i], w); !ok || err != nil {
			return false
		}
	}
	return true
}

// HoldsHooks says whether clients' settings for hooks are below a folder.
func HoldsHooks(dir string) bool {
	switch path.Base(dir) {
	case ".claude", ".codex", ".gemini", ".cursor", ".opencode", "opencode", ".copilot", ".qwen":
		return !strings.Contains(dir, "/node_modules/")
	}
	return false
}

// BehindProc is a path below /proc/ behind the links by which a process names its folder and its root.
func BehindProc(s, cwd string) string {
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

// OnDrive says whether a path is one of Windows that begins with a drive, or with another machine.
func OnDrive(s string) bool {
	if len(s) > 2 && s[1] == ':' && (s[2] == '/' || s[2] == '\\') {
		return s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z'
	}
	return strings.HasPrefix(s, `\\`)
}
