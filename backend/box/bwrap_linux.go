package box

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
	"deskbell/backend/platform/confine"
)

// program is bubblewrap's. It is looked for where systems install it, not in a PATH that others may have set.
var program = func() string {
	for _, path := range []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// Available says why there is no box here, in a sentence that says what to do; nil where there is one. It tries it, which
// takes a moment.
func Available() error {
	bwrap := program()
	switch {
	case bwrap == "":
		return human.Errorf(human.Unavailable, "a box needs bubblewrap: install it (on Debian and Ubuntu: apt install bubblewrap)")
	case confine.LandlockABI() == 0:
		return human.Errorf(human.Unavailable, "a box needs Landlock, which this kernel has not: start Linux 5.13 or later, with landlock in its parameter lsm=")
	case !confine.FiltersCalls():
		return human.Errorf(human.Unavailable, "a box needs a kernel that filters system calls (seccomp), on amd64, arm64 or riscv64")
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	args := append(slices.Clone(apart), "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "/proc/self/exe", "--version")
	cmd := exec.CommandContext(ctx, bwrap, args...)
	cmd.Env = []string{}
	said, err := cmd.CombinedOutput()
	if err != nil {
		why := strings.TrimSpace(string(bytes.ToValidUTF8(said, nil)))
		return human.Errorf(human.Unavailable, "a box needs user namespaces, and bubblewrap cannot make one (%s): allow them with sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0", human.Shorten(why, 200))
	}
	return nil
}

// Version is what a box is made of, with bubblewrap's version where it says one.
func Version() string {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	said, err := exec.CommandContext(ctx, program(), "--version").Output() // "bubblewrap 0.11.0"
	line := "bubblewrap"
	if err == nil {
		line = human.OneLine(strings.TrimSpace(string(said)), 60)
	}
	return line + ", Landlock, seccomp"
}

// apart are the options that part a box from the system.
var apart = []string{"--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"}

// What of a home the box can read: what tools are installed in, and what they load, without what they may keep tokens in.
// Caches are not: those that are written are the box's own.
var tools = strings.Fields(`.asdf .bun .cabal/bin .cabal/packages .cabal/store .cargo/bin .cargo/env .cargo/git .cargo/registry .deno
	.dotnet/dotnet .dotnet/host .dotnet/packs .dotnet/sdk .dotnet/shared .dotnet/tools .ghcup .gradle/caches .gradle/jdks .gradle/wrapper .hex/packages .jdks
	.julia/artifacts .julia/bin .julia/juliaup .julia/packages .linuxbrew .local/bin .local/lib .local/share/fnm .local/share/man .local/share/mise
	.local/share/pipx .local/share/pnpm .local/share/rtx .local/share/uv .local/share/virtualenvs .m2/repository .m2/wrapper .mix .npm .nvm .opam
	.pub-cache .pyenv .rbenv .rustup .rvm .sdkman .stack .volta .yarn .nix-profile .gitconfig .config/git/attributes .config/git/config .config/git/ignore go sdk`)

// Variables that every command gets, where they are set.
var variables = strings.Fields(`PATH LANG LANGUAGE TERM COLORTERM NO_COLOR COLUMNS LINES TZ USER LOGNAME SHELL EDITOR CI
	GOROOT GOPATH GOFLAGS GOTOOLCHAIN GOPRIVATE CARGO_HOME RUSTUP_HOME JAVA_HOME NVM_DIR NVM_BIN VOLTA_HOME PYENV_ROOT PYENV_VERSION VIRTUAL_ENV
	CONDA_PREFIX NODE_ENV NODE_PATH BUN_INSTALL DENO_INSTALL PNPM_HOME CC CXX CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS`)

// A view is what bubblewrap is to show.
type view struct {
	*Box
	args     []string
	writable []string
	revealed []string // what is shown of what is covered
}

func (v *view) add(args ...string) { v.args = append(v.args, args...) }

// scratch is a folder for temporary files, of a size.
func (v *view) scratch(path string, size int64, perms string) {
	v.add("--perms", perms, "--size", strconv.FormatInt(size, 10), "--tmpfs", path)
	v.writable = append(v.writable, path)
}

// hide puts nothing over what is at a path, where the box has it.
func (v *view) hide(path string) {
	if !v.visible(path) && !slices.ContainsFunc(v.revealed, func(r string) bool { return within(path, r) }) {
		return
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case info.IsDir():
		v.add("--perms", "0755", "--size", "65536", "--tmpfs", path, "--remount-ro", path)
	default:
		v.add("--ro-bind", "/dev/null", path)
	}
}

// show lets what is at a path be read where a folder of its own hides it.
func (v *view) show(path string) {
	if real, err := filepath.EvalSymlinks(path); err == nil && !v.visible(path) {
		v.add("--ro-bind", real, path)
		v.revealed = append(v.revealed, path)
	}
}

// visible says whether nothing hides a path.
func (v *view) visible(path string) bool {
	return !slices.ContainsFunc(v.covered(), func(c string) bool { return within(path, c) })
}

// covered are the folders that the box has its own of, or nothing.
func (v *view) covered() []string {
	all := []string{"/home", "/root", v.account, v.home, "/tmp", "/var/tmp", "/run", "/mnt", "/media", "/srv", "/dev", "/proc"}
	slices.Sort(all) // those around others first
	return slices.Compact(all)
}

// bubblewrapped are the arguments for bubblewrap, and the folders that can be written.
func (b *Box) bubblewrapped() (args, writable []string) {
	v := &view{Box: b}
	v.add(apart...)
	// bubblewrap leaves /proc/sys as it is where it takes it for read-only, which it is not for root.
	v.add("--ro-bind", "/", "/", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev", "--info-fd", strconv.Itoa(infoFD))
	part := b.options.Limits.Memory / 4
	v.scratch("/dev/shm", part, "1777")
	v.add("--remount-ro", "/dev")
	for _, path := range v.covered() {
		switch real, err := filepath.EvalSymlinks(path); {
		case path == v.home:
			v.scratch(path, part, "0700")
		case path == "/dev" || path == "/proc" || err != nil || real != path:
		case path == "/tmp" || path == "/var/tmp":
			v.scratch(path, part, "1777")
		default: // bubblewrap makes the ways to what is shown of it
			v.add("--perms", "0755", "--size", "1048576", "--tmpfs", path)
		}
	}
	for _, path := range b.shown() {
		v.show(path)
	}
	if common := commonGit(b.Root); common != "" {
		v.show(common)
	}
	for _, path := range b.secrets() {
		v.hide(path)
	}
	v.add("--bind", b.tree(), b.Root, "--chdir", b.Folder)
	v.writable = append(v.writable, b.Root)
	for _, pair := range b.environment() {
		name, value, _ := strings.Cut(pair, "=")
		v.add("--setenv", name, value)
	}
	v.add("--", "/proc/self/fd/"+strconv.Itoa(programFD), entrant)
	return v.args, v.writable
}

// shown are the files and folders of tools, and those that the operator names, but for the project.
func (b *Box) shown() []string {
	var all []string
	for _, t := range tools {
		all = append(all, filepath.Join(b.home, t))
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if dir = filepath.Clean(dir); filepath.Base(dir) == "bin" && b.ofATool(filepath.Dir(dir)) {
			dir = filepath.Dir(dir) // and the libraries beside
		}
		all = append(all, dir)
	}
	for _, name := range []string{"GOROOT", "GOPATH", "JAVA_HOME", "NVM_DIR", "CARGO_HOME", "RUSTUP_HOME", "VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(name); filepath.IsAbs(dir) {
			all = append(all, filepath.Clean(dir))
		}
	}
	all = slices.DeleteFunc(all, func(path string) bool { // a folder around a home is none of a tool's
		return within(b.home, path) || within("/home", path) || within("/tmp", path) || paths.HoldsSecrets(path)
	})
	all = append(all, b.options.Shown...)
	all = slices.DeleteFunc(all, func(path string) bool { return within(path, b.Root) })
	slices.Sort(all)
	return slices.Compact(all)
}

// ofATool says whether a folder with a folder of programs is that of one tool, as ~/.nvm/versions/node/v20 and ~/miniconda3 are,
// and ~/.local and ~/.cargo are not.
func (b *Box) ofATool(dir string) bool {
	rel, err := filepath.Rel(b.home, dir)
	return err == nil && within(dir, b.home) && rel != "." && (rel[0] != '.' || strings.Contains(rel, "/"))
}

// secrets are the places of secrets there are in what the box shows, as the gatekeeper knows them, and what is hidden besides.
func (b *Box) secrets() []string {
	var all []string
	for _, place := range paths.SecretPlaces(b.home) {
		found, _ := filepath.Glob(place + "*")
		for _, path := range found {
			if paths.HoldsSecrets(path) && !b.named(path) {
				all = append(all, path)
			}
		}
	}
	for _, path := range b.shown() {
		for _, deep := range []string{"", "/*", "/*/*", "/.*", "/*/.*"} {
			found, _ := filepath.Glob(path + deep)
			for _, path := range found {
				if paths.HoldsSecrets(path) && !b.named(path) {
					all = append(all, path)
				}
			}
		}
	}
	all = append(all, b.options.Hidden...)
	all = append(all, b.options.Boxes)
	all = slices.DeleteFunc(all, func(path string) bool {
		return within(path, b.Root) || within(b.Root, path) || within(path, "/run") || within(path, "/var/run")
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// named says whether the operator lets a path be read, and not only a home around it.
func (b *Box) named(path string) bool {
	return slices.ContainsFunc(b.options.Shown, func(s string) bool { return within(path, s) && !within(b.home, s) })
}

// environment is that of the command.
func (b *Box) environment() []string {
	env := []string{"HOME=" + b.home, "TMPDIR=/tmp", "DESKBELL_BOX=1", "GIT_OPTIONAL_LOCKS=0"}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if slices.Contains(variables, name) || strings.HasPrefix(name, "LC_") || slices.Contains(b.options.Variables, name) {
			env = append(env, pair)
		}
	}
	return env
}
