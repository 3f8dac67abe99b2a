package shell

import (
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
)

// Options that mean the same in every program that has them: what they hold is run, or is where output goes. What is written
// of a program need not name them.
var (
	runOptions   = lazy.Set("--pager --editor --wrapper -wrapper --askpass --rsh --launcher --post-renderer --to-command --compress-program --use-compress-program")
	runEndings   = []string{"-command", "-cmd", "-hook", "-exec", "-pager", "-editor", "-wrapper", "-shell", "-launcher"}
	writeOptions = lazy.Set("--output --out --outfile --outdir --out-dir --out-file --output-dir --output-file --output-directory --output-path --result-file --log-file --logfile --dest --dest-dir --destination --target-dir " +
		"--target-directory --directory-prefix --save --save-to --save-path --export-path --report-file --output-document --download-dir --download-path --extract-to --extract-dir --dump-file --outputfile --report-path --pidfile --pid-file -out -outdir -output")
	// Of these only what begins like a command that matters is taken for one.
	commandOptions = lazy.Set("--command --exec --run --cmd --extcmd --scripts --shell --script --parameters --on-change --on-event")
	noRunner       = lazy.Set("never always auto none off on true false cat less more most bat delta vim vi nano nvim emacs code builtin ssh gzip pigz zstd xz bzip2 default")
)

// telling goes through the options of a command for what it runs by them and where it writes to. A place of the project says
// nothing: the command's own description says where the program writes, if that matters.
func (w *walker) telling(c *cmd) {
	for i, a := range c.args {
		if i > 200 {
			return
		}
		if len(a.Text) < 2 || a.Text[0] != '-' {
			continue
		}
		if a.Text == "--" {
			return
		}
		name, v := valueOf(c.args, i)
		short := len(name) > 1 && name[1] != '-'
		switch {
		case v.Text == "" || strings.HasPrefix(v.Text, "-"):
		case runOptions()[name] || !short && runsByEnding(name):
			w.runsByOption(name, v)
		case commandOptions()[name] && strings.ContainsRune(v.Text, ' ') && begins(v):
			if s := commands.Of(c.name); c.name != "git" && (s == nil || !s.Runs(true)) {
				w.script(trimList(v.Text), "sh", nil, c.in)
			}
		case strings.HasPrefix(name, "--on-"): // aria2c --on-download-complete
			w.script(v.Text, "sh", nil, stream{})
		case writeOptions()[name] || name == "-o" && !mountOptions()[c.name] && strings.ContainsAny(v.Text[:1], "/~."):
			w.outside(v, c.name+".output")
		}
	}
}

// loading goes through the options of a command for code that it loads by them.
func (w *walker) loading(c *cmd) {
	for i, a := range c.args[:min(len(c.args), 200)] {
		if len(a.Text) < 2 || a.Text[0] != '-' || a.Text == "--" {
			continue
		}
		name, v := valueOf(c.args, i)
		if key, value, setting := strings.Cut(v.Text, "="); setting && len(name) == 2 { // -C linker=/tmp/x
			name, v.Text = key, value
		}
		if p, _ := w.placeOf(v, w.dir); p == paths.Start && v.Text != "" && !readOptions()[name] && !starts()[c.name] {
			w.writing(v, c.name+".elsewhere")
		}
		switch {
		case len(name) > 2:
			w.loads(settingName(name), v, c.name+".loads")
		case len(name) == 2 && strings.Contains(shortLoads[c.name], name):
			w.loads("config", v, c.name+".loads")
		}
	}
}

var (
	// readOptions are options that name a file to be read.
	readOptions = lazy.Set("-f -c -F -i -e -m --file --config --config-file --rcfile --init-file --include --exclude --body-file --cacert --key --from-file --env-file --message --data --header -H -d")
	starts      = lazy.Set("grep egrep fgrep rg sed awk diff git bash zsh sh find ls test [ ssh scp rsync sudo env source .")
)

// settingName is what -Dname=value and its like set, else the option's name.
func settingName(option string) string {
	if len(option) > 3 && option[1] != '-' && strings.IndexByte("DPX", option[1]) >= 0 {
		return option[2:]
	}
	return option
}

// valueOf is an option and its value, which follows "=" or the option, or is the path that is written right behind it: -B/tmp/x,
// -logger:/tmp/x.
func valueOf(args []arg.Word, i int) (string, arg.Word) {
	a := args[i]
	name, text, joined := strings.Cut(a.Text, "=")
	v := arg.Word{Text: text, Taint: a.Taint, Quoted: true}
	switch at := strings.IndexAny(name, "/~"); {
	case joined:
	case len(name) > 3 && name[:3] == "-o.": // 7z -o../x
		name, v.Text = "-o", name[2:]
	case at > 1:
		name, v.Text = strings.TrimRight(name[:at], ":"), name[at:]
	case i+1 < len(args) && !strings.HasPrefix(args[i+1].Text, "-"):
		v = args[i+1]
	}
	return name, v
}

func (w *walker) runsByOption(name string, v arg.Word) {
	text := strings.TrimLeft(v.Text, "|! ")
	sure := runOptions()[name]
	switch first, rest, _ := strings.Cut(text, " "); {
	case noRunner()[first] && !strings.ContainsAny(rest, ";|&$`<>(") || !v.Known():
	case sure:
		w.script(text, "sh", nil, stream{})
	case strings.ContainsAny(text, " /;|&$`"): // else a name, perhaps of no program
		w.doubtful(func() { w.script(text, "sh", nil, stream{}) })
	}
}

// mountOptions are programs whose -o is no place to write to.
var mountOptions = lazy.Set("mount umount sshfs ssh scp sftp ps grep rg egrep fgrep zgrep zpool zfs useradd set shopt find test ld sort openssl ip iptables netstat lsof")

func runsByEnding(name string) bool {
	for _, end := range runEndings {
		if strings.HasSuffix(name, end) && len(name) > len(end)+2 {
			return true
		}
	}
	return false
}

// outside is writing, where that is no place of the project's.
func (w *walker) outside(v arg.Word, rule string) {
	for _, cwd := range w.cwds() {
		switch p, target := w.placeOf(v, cwd); p {
		case paths.InProject, paths.InTemp, paths.NullDevice, paths.Unknown, paths.Root, paths.EnvFile:
			continue
		case paths.System:
			if target == "/tmp" || target == "/var/tmp" {
				continue
			}
		case paths.Secret:
			if strings.HasPrefix(target, w.root+"/") { // a key that is made here
				continue
			}
		}
		w.writing(v, rule)
		return
	}
}

// fed is what a shell gets that something else writes to: whatever comes is run.
func fed(t arg.Taint) stream { return stream{open: true, taint: t | arg.MadeHere} }

// mirrored is a folder that becomes as another is: what it held and the other has not is gone.
func (w *walker) mirrored(to arg.Word, rule string) {
	for _, cwd := range w.cwds() {
		switch p, target := w.placeOf(to, cwd); {
		case p > paths.EnvFile && p != paths.Unknown, w.holdsGuard(target, to.Glob):
			w.deleting(to, true, rule)
			return
		}
	}
}
