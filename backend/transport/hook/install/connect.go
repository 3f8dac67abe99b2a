package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"deskbell/backend/human"
)

// A Setup is what connecting writes of Deskbell into a client's settings.
type Setup struct {
	Server func(client string) []string // the program and the arguments that serve MCP for it
	Hook   Command
}

// A Connection is a client, and the changes that connecting it or taking it apart makes.
type Connection struct {
	human.AgentClient
	plans []Plan
}

// ClientIDs are the names of all clients that Deskbell can be connected to.
func ClientIDs() []string {
	ids := make([]string, len(clients))
	for i, c := range clients {
		ids[i] = c.id
	}
	return ids
}

// file is what connecting changes in one settings file.
type file struct {
	path     string
	settings []*setting
	target   *target // whose entries are in it, too
}

// files are the settings files of a client.
func (c *client) files(at Place) []file {
	var out []file
	of := func(path string) *file {
		i := slices.IndexFunc(out, func(f file) bool { return f.path == path })
		if i < 0 {
			i, out = len(out), append(out, file{path: path})
		}
		return &out[i]
	}
	for _, s := range c.settings {
		f := of(s.file(at))
		f.settings = append(f.settings, s)
	}
	if c.hook {
		t := targets[c.id]
		of(t.path(at)).target = &t
	}
	return out
}

// connected says whether a settings file of a client has settings of ours in it, besides a hook.
func connected(id string, at Place, path string, text []byte) bool {
	c := find(id)
	if c == nil || at.Dir != "" {
		return false
	}
	root, err := parse(text)
	for _, f := range c.files(at) {
		for _, s := range f.settings {
			if f.path == path && err == nil {
				if _, i := s.find(text, root); i >= 0 {
					return true
				}
			}
		}
	}
	return false
}

// Connect looks at a client, and plans to connect it. Errors are of package human; those of its files are in the Problem of what
// it returns.
func Connect(id string, at Place, s Setup) (Connection, error) { return connection(id, at, s, false) }

// Disconnect plans to take all that is Deskbell's out of a client's settings, its hook included.
func Disconnect(id string, at Place, s Setup) (Connection, error) {
	return connection(id, at, s, true)
}

func connection(id string, at Place, s Setup, undo bool) (Connection, error) {
	c := find(id)
	if c == nil {
		return Connection{}, human.NoClient(id, ClientIDs())
	}
	out := Connection{AgentClient: human.AgentClient{ID: c.id, Name: c.name, Next: c.next.Text, SaidNext: &c.next, Changes: []human.ClientChange{}}}
	out.Gives = human.ClientGives{Tools: true, Hook: c.hook, Permission: c.permits()}
	out.Program, out.Found = c.found(at)
	out.Version = versionOf(out.Program)
	sum := sha256.New()
	ours, wanted := false, false
	for _, f := range c.files(at) {
		plan, there, err := f.plan(c.id, at, s, undo)
		if err != nil {
			out.State, out.Problem, out.Next, out.SaidNext = human.ClientTrouble, human.SafeText(err), "", nil
			var ours *human.Error
			if errors.As(err, &ours) {
				out.SaidProblem = &ours.Said
			}
			return out, nil
		}
		ours = ours || there
		if !plan.Changes() {
			continue
		}
		wanted = true
		out.plans = append(out.plans, plan)
		out.Changes = append(out.Changes, human.ClientChange{File: plan.Path, What: f.what(), Diff: plan.Diff()})
		fmt.Fprintf(sum, "%q %q %q\n", plan.Path, plan.before, plan.after)
	}
	out.Hash, out.Undo = hex.EncodeToString(sum.Sum(nil)), ours
	switch {
	case ours && !wanted && !undo:
		out.State, out.Key, out.Written = human.ClientConnected, c.id, c.written(at, s)
		if c.hook {
			if state, err := Look(c.id, at, s.Hook); err == nil && state.Problem != "" {
				out.Problem, out.SaidProblem = state.Problem, &state.Said
			}
		}
	case ours:
		out.State = human.ClientChanged
	case out.Found:
		out.State = human.ClientReady
	default:
		out.State = human.ClientAbsent
	}
	return out, nil
}

// written are the changes that taking Deskbell out would make, the other way round. What cannot be read now is left out.
func (c *client) written(at Place, s Setup) (all []human.ClientChange) {
	for _, f := range c.files(at) {
		undo, there, err := f.plan(c.id, at, s, true)
		if err != nil || !there || !undo.Changes() {
			continue
		}
		put := Plan{Path: undo.Path, before: undo.after, after: undo.before}
		all = append(all, human.ClientChange{File: put.Path, What: f.what(), Diff: put.Diff()})
	}
	return all
}

// permits says whether the client can be told to call Deskbell's tools without its own question.
func (c *client) permits() bool {
	for _, s := range c.settings {
		switch v := s.value(nil).(type) {
		case stdio:
			if v.Trust {
				return true
			}
		case map[string]any:
			if v["default_tools_approval_mode"] != nil {
				return true
			}
		}
		if s.what == "permission" {
			return true
		}
	}
	return false
}

func (f file) what() []string {
	var out []string
	for _, s := range f.settings {
		if !slices.Contains(out, s.what) {
			out = append(out, s.what)
		}
		if v, is := s.value(nil).(stdio); is && v.Trust || filepath.Ext(f.path) == ".toml" {
			out = append(out, "permission")
		}
	}
	switch {
	case f.target != nil && f.target.entries == nil:
		out = append(out, "file")
	case f.target != nil:
		out = append(out, "hook")
	}
	return out
}

// plan is the change of the file; there says whether something of ours is in it now.
func (f file) plan(id string, at Place, s Setup, undo bool) (p Plan, there bool, err error) {
	if f.target != nil && f.target.entries == nil { // a file of its own
		if undo {
			p, err = Uninstall(id, at)
		} else {
			p, err = Install(id, at, s.Hook)
		}
		return p, p.before != nil, err
	}
	p = Plan{Client: id, Path: f.path}
	fail := func(err error) (Plan, bool, error) {
		var ours *human.Error
		if errors.As(err, &ours) {
			return Plan{}, false, human.Wrap(ours.Kind, err, "%s cannot be changed: %s", f.path, ours.Msg)
		}
		return Plan{}, false, human.Wrap(human.Unavailable, err, "%s cannot be changed: %v", f.path, err)
	}
	if p.before, err = read(f.path); err != nil {
		return fail(err)
	}
	if p.backup, err = read(f.path + backupEnding); err != nil {
		return fail(err)
	}
	if filepath.Ext(f.path) == ".toml" {
		there, err = f.tables(&p, s.Server(id), undo)
	} else {
		there, err = f.entries(&p, id, s, undo)
	}
	if err != nil {
		return fail(err)
	}
	if p.keep != nil || p.backup != nil {
		p.Backup = f.path + backupEnding
	}
	if undo {
		p.keep, p.drop = nil, p.Backup != "" && bytes.Equal(p.after, p.backup)
	}
	return p, there, nil
}

// entries fills a plan for a file in JSON.
func (f file) entries(p *Plan, id string, s Setup, undo bool) (there bool, err error) {
	var all, want []entry
	if f.target != nil {
		limit := s.Hook
		was := content{hooks: true, without: p.before}
		if len(bytes.TrimSpace(p.before)) > 0 {
			if _, err := was.takeOne(); err != nil {
				return false, err
			}
		}
		if limit.Limit <= 0 {
			limit.Limit = limitOf(was.command) // as `hook install --timeout` set it
		}
		all = append(append(all, f.target.needs...), f.target.entries(Command{}, runtime.GOOS)...)
		want = append(append(want, f.target.needs...), f.target.entries(limit, runtime.GOOS)...)
	}
	for _, set := range f.settings {
		e := entry{set: set, value: compact(set.value(s.Server(id)))}
		all = append(all, e)
		if !set.soft || set.fits(p.before) {
			want = append(want, e)
		}
	}
	was := content{text: p.before, settings: f.settings, hooks: f.target != nil}
	if err := was.split(p.backup, all); err != nil {
		return false, err
	}
	if p.keep = was.without; undo {
		p.after = was.without
		return len(was.ours) > 0, nil
	}
	if was.has(want) {
		p.after, p.keep = p.before, nil
		return true, nil
	}
	p.after, err = insert(was.without, want)
	return len(was.ours) > 0, err
}

// has says whether what is ours in a file is what is wanted, in whatever place and order.
func (c *content) has(want []entry) bool {
	left := slices.Clone(c.ours)
	for _, w := range want {
		if w.event == "version" {
			continue
		}
		i := slices.IndexFunc(left, func(e entry) bool { return e.same(w) && sameJSON(e.value, w.value) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return len(left) == 0
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && string(compact(x)) == string(compact(y))
}

// tables fills a plan for a file in TOML.
func (f file) tables(p *Plan, program []string, undo bool) (there bool, err error) {
	set := f.settings[0]
	table := set.table(program)
	without, held, err := set.withoutTable(p.before)
	if err != nil {
		return false, err
	}
	there = held != nil
	if p.before == nil {
		without = nil
	}
	for _, was := range [][]byte{p.backup, nil} { // as it was before, to the byte, where no one has changed it since
		if again, err := appendTable(was, table); there && err == nil && bytes.Equal(again, p.before) {
			without = was
			break
		}
	}
	if p.keep = without; undo {
		p.after = without
		return there, nil
	}
	if there && sameJSON(compact(held), compact(set.value(program))) {
		p.after, p.keep = p.before, nil
		return true, nil
	}
	p.after, err = appendTable(without, table)
	return there, err
}

// Apply makes the changes, all or none. When a file was changed since they were planned, the error is Conflict.
func (c Connection) Apply() error {
	for i, p := range c.plans {
		if err := p.Apply(); err != nil {
			for _, done := range slices.Backward(c.plans[:i]) {
				done.before, done.after, done.keep, done.drop = done.after, done.before, nil, false
				err = errors.Join(err, done.Apply())
			}
			return err
		}
	}
	return nil
}

// Started is the command by which a client's settings start Deskbell's MCP server, with its environment. The error is NotFound where
// they have none.
func Started(id string, at Place) (program, env []string, err error) {
	c := find(id)
	if c == nil {
		return nil, nil, human.NoClient(id, ClientIDs())
	}
	set := c.settings[0]
	path := set.file(at)
	text, err := read(path)
	if err != nil {
		return nil, nil, human.Wrap(human.Unavailable, err, "%s cannot be read: %v", path, err)
	}
	var raw []byte
	if filepath.Ext(path) == ".toml" {
		_, held, err := set.withoutTable(text)
		if err != nil {
			return nil, nil, err
		}
		raw = compact(held)
	} else if len(bytes.TrimSpace(text)) > 0 {
		root, err := parse(text)
		if err != nil {
			return nil, nil, err
		}
		if in, i := set.find(text, root); i >= 0 {
			raw = text[in.values[i].start:in.values[i].end]
		}
	}
	var said struct {
		Command     any
		Args        []string
		Env         map[string]string
		Environment map[string]string
	}
	if err := decode(raw, &said); err != nil || said.Command == nil {
		return nil, nil, human.Wrap(human.NotFound, err, "Deskbell is not in %s", path)
	}
	switch c := said.Command.(type) {
	case string:
		program = append(program, c)
	case []any:
		for _, word := range c {
			program = append(program, fmt.Sprint(word))
		}
	}
	for _, vars := range []map[string]string{said.Env, said.Environment} {
		for name, value := range vars {
			env = append(env, name+"="+value)
		}
	}
	return append(program, said.Args...), env, nil
}

// Snippet is what a person puts into a client's settings by hand: its file, and the text.
func Snippet(id string, at Place, program []string) (path, text string, err error) {
	c := find(id)
	if c == nil {
		return "", "", human.NoClient(id, ClientIDs())
	}
	set := c.settings[0]
	if path = set.file(at); filepath.Ext(path) == ".toml" {
		return path, string(set.table(program)), nil
	}
	raw, err := place([]byte("{\n}\n"), node{kind: '{', end: 3, comma: -1}, set.at, set.name, compact(set.value(program)))
	return path, string(raw), err
}

// found is where a client's program is, and whether it is on this machine at all.
func (c *client) found(at Place) (program string, found bool) {
	for _, name := range c.programs {
		if path := lookFor(name, at); path != "" {
			return path, true
		}
	}
	for _, dir := range c.folders(at) {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			return "", true
		}
	}
	return "", false
}

// lookFor finds a program on the path, and in the places where installers put programs: a window that was started by a desktop has
// a short path.
func lookFor(name string, at Place) string {
	dirs := filepath.SplitList(at.Env("PATH"))
	endings := []string{""}
	if at.system() == "windows" {
		endings = []string{".exe", ".cmd", ".bat"}
		dirs = append(dirs, filepath.Join(at.Env("APPDATA"), "npm"), filepath.Join(at.Env("LOCALAPPDATA"), "Programs", name, "bin"), filepath.Join(at.Home, ".local", "bin"))
	} else {
		for _, dir := range []string{".local/bin", "bin", ".npm-global/bin", ".bun/bin", "." + name + "/bin", "." + name + "/local", ".volta/bin", "go/bin"} {
			dirs = append(dirs, filepath.Join(at.Home, dir))
		}
		nodes, _ := filepath.Glob(filepath.Join(at.Home, ".nvm/versions/node/*/bin")) // the pattern is good
		dirs = append(append(dirs, nodes...), "/usr/local/bin", "/opt/homebrew/bin", "/snap/bin", "/usr/bin")
	}
	for _, dir := range dirs {
		for _, ending := range endings {
			path := filepath.Join(dir, name+ending)
			info, err := os.Stat(path)
			if filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() && (at.system() == "windows" || info.Mode()&0o111 != 0) {
				return path
			}
		}
	}
	return ""
}

// versionOf is the version of a program that is in a package of npm; empty for others.
func versionOf(program string) string {
	if program == "" {
		return ""
	}
	path, err := filepath.EvalSymlinks(program)
	for range 4 {
		path = filepath.Dir(path)
		text, missing := os.ReadFile(filepath.Join(path, "package.json"))
		if err != nil || missing != nil {
			continue
		}
		var p struct{ Version string }
		if json.Unmarshal(text, &p) == nil {
			return p.Version
		}
	}
	return ""
}
