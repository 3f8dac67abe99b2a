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
		name, text, joined := strings.Cut(a.Text, "=")
		v := arg.Word{Text: text, Taint: a.Taint, Quoted: true}
		if !joined && i+1 < len(c.args) {
			v = c.args[i+1]
		}
		short := len(name) > 1 && name[1] != '-'
		if short && name[:2] == "-o" && !joined && len(name) > 2 && strings.IndexByte("/~.", name[2]) >= 0 { // 7z -o/etc
			name, v = "-o", arg.Word{Text: a.Text[2:], Taint: a.Taint, Quoted: true}
		}
		if !joined { // -B/tmp/x, -logger:/tmp/x
			if at := strings.IndexAny(name, "/~"); at > 1 {
				name, v = strings.TrimRight(name[:at], ":"), arg.Word{Text: name[at:], Taint: a.Taint, Quoted: true}
			}
		}
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
		name, text, joined := strings.Cut(a.Text, "=")
		v := arg.Word{Text: text, Taint: a.Taint, Quoted: true}
		switch at := strings.IndexAny(name, "/~"); {
		case joined:
		case at > 1: // -B/tmp/x, -logger:/tmp/x
			name, v.Text = strings.TrimRight(name[:at], ":"), name[at:]
		case i+1 < len(c.args) && !strings.HasPrefix(c.args[i+1].Text, "-"):
			v = c.args[i+1]
		}
		if key, value, setting := strings.Cut(v.Text, "="); setting && len(name) == 2 { // -C linker=/tmp/x
			name, v.Text = key, value
		}
		switch {
		case len(name) > 2:
			w.loads(settingName(name), v, c.name+".loads")
		case len(name) == 2 && strings.Contains(shortLoads[c.name], name):
			w.loads("config", v, c.name+".loads")
		}
	}
}

// settingName is what -Dname=value and its like set, else the option's name.
func settingName(option string) string {
	if len(option) > 3 && option[1] != '-' && strings.IndexByte("DPX", option[1]) >= 0 {
		return option[2:]
	}
	return option
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
