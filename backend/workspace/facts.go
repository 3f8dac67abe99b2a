// Package workspace looks at where a call of a tool would run: what is at a path and where else its contents are, and how
// the working tree stands. It looks only at what it is asked about, for a bounded time, and it runs nothing of what it
// looks at; see Repo. What it does not know for sure it says cautiously.
package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

const (
	// looking is how long one call is looked into, in all, and as long again for reading what the verdict rests on: what git takes
	// on a busy machine must not make those files look changed. After it the answers are the cautious ones, and a person is asked
	// about what git would have told; that costs them more than this.
	looking = time.Second
	// maxEntries is how many files and folders below a path are counted.
	maxEntries = 100_000
	// maxText is the longest script that is read, in bytes.
	maxText = 64 << 10
	// maxAsked is how many files of a folder are asked about, whether the session made them.
	maxAsked = 200
)

// A Facts is the evidence about one call. It is for one goroutine at a time, and for one call: what it found once it does
// not look for again.
type Facts struct {
	ctx  context.Context
	call gate.Call
	made func(abs string) bool
	left time.Duration // for looking
	rest time.Duration // for reading what the verdict rests on
	now  func() time.Time

	files   map[string]gate.FileState
	below   map[string]below
	repos   map[string]*Repo // by folder; nil for none
	asked   map[*Repo]int
	views   map[*Repo]*gitView // nil where only git knows
	all     map[*Repo]everything
	clean   *bool
	pushed  *bool
	session *Sessions // may be nil
	ours    map[string]bool
	links   map[string][]string
	guarded map[string]os.FileInfo
	server  *string

	rests []string            // paths of files that the verdict rests on
	read  map[string]contents // of files, by path: what is judged is what was read once
}

// New returns the evidence for a call. made says whether the call's session made the file at an absolute path; it may be
// nil. Nothing is looked at before it is asked about.
func New(ctx context.Context, call gate.Call, made func(abs string) bool) *Facts {
	return Within(ctx, call, made, looking)
}

// In is the evidence with what earlier calls of the call's session made.
func (g *Facts) In(s *Sessions) *Facts {
	g.session = s
	return g
}

// Within is New with how long is looked at most; as long again is read what the verdict rests on.
func Within(ctx context.Context, call gate.Call, made func(string) bool, most time.Duration) *Facts {
	if made == nil {
		made = func(string) bool { return false }
	}
	return &Facts{ctx: ctx, call: call, made: made, left: most, rest: most, now: time.Now, files: map[string]gate.FileState{}, below: map[string]below{}, repos: map[string]*Repo{}, asked: map[*Repo]int{}, views: map[*Repo]*gitView{}, all: map[*Repo]everything{}, ours: map[string]bool{}, links: map[string][]string{}, read: map[string]contents{}}
}

// look runs f with what is left of the time.
func (g *Facts) look(f func(ctx context.Context)) { g.spend(&g.left, f) }

func (g *Facts) spend(left *time.Duration, f func(ctx context.Context)) {
	if *left <= 0 {
		return
	}
	start := g.now()
	ctx, cancel := context.WithTimeout(g.ctx, *left)
	defer cancel()
	f(ctx)
	*left -= g.now().Sub(start)
}

// File says what is known about the file or folder at an absolute path. A symbolic link at its end counts as the link and
// as what it leads to, whichever there is more to lose of, since deleting takes the one and writing the other.
func (g *Facts) File(abs string) gate.FileState {
	if state, ok := g.files[abs]; ok {
		return state
	}
	state := gate.NotKnown
	if !filepath.IsAbs(abs) {
		return state
	}
	if _, err := os.Lstat(abs); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // which costs next to nothing
		state = gate.Absent
	} else {
		g.look(func(ctx context.Context) { state = g.file(ctx, abs) })
		if state == gate.NotKnown {
			state = gate.Unseen
		}
	}
	g.files[abs] = state
	return state
}

func (g *Facts) file(ctx context.Context, abs string) gate.FileState {
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return gate.NotKnown
	}
	place := filepath.Join(dir, filepath.Base(abs))
	state := g.state(ctx, place)
	if info, err := os.Lstat(place); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return state
	}
	target, err := filepath.EvalSymlinks(place)
	if errors.Is(err, fs.ErrNotExist) {
		return state
	}
	if err != nil {
		return gate.NotKnown
	}
	if other := g.state(ctx, target); other == gate.NotKnown || other == gate.Precious {
		return other
	}
	return state
}

// state is what is known of a path without symbolic links, but perhaps of one at its end.
func (g *Facts) state(ctx context.Context, place string) gate.FileState {
	info, err := os.Lstat(place)
	if err != nil {
		return gate.NotKnown
	}
	b := g.walk(ctx, place)
	switch {
	case b.cut:
		return gate.NotKnown
	case b.repository || b.special:
		return gate.Precious
	case info.IsDir() && b.Files == 0:
		return gate.Absent
	}
	if repo := g.repo(filepath.Dir(place)); repo != nil {
		return g.tracked(ctx, repo, place, b)
	}
	if g.allMade(place, b.names) {
		return gate.MadeHere
	}
	return gate.Precious
}

// allMade says whether the session made every file of a list; names that were not kept were not made.
func (g *Facts) allMade(place string, names []string) bool {
	if len(names) == 0 || len(names) > maxAsked {
		return false
	}
	for _, name := range names {
		if !g.made(filepath.Join(place, name)) {
			return false
		}
	}
	return true
}

// tracked is what git knows of a path.
func (g *Facts) tracked(ctx context.Context, repo *Repo, place string, b below) gate.FileState {
	rel, err := filepath.Rel(repo.Top(), place)
	if err != nil || !filepath.IsLocal(rel) {
		return gate.NotKnown
	}
	rel = filepath.ToSlash(rel)
	if inGit(rel) {
		return gate.Precious
	}
	held, changes, err := g.known(ctx, repo, rel)
	if err != nil {
		return gate.NotKnown
	}
	if !sound(held) {
		return gate.Precious
	}
	var loose []string
	for _, c := range changes {
		switch c.Kind {
		case Untracked, Changed: // a changed one is the session's if it was as the commit has it before
			loose = append(loose, c.Path)
		case Ignored:
			if !remade(c.Path) {
				return gate.Precious
			}
		default:
			return gate.Precious
		}
	}
	switch {
	case len(loose) > 0:
		if g.allMade(repo.Top(), loose) {
			return gate.MadeHere
		}
		return gate.Precious
	case len(held) > 0:
		return gate.Committed
	case len(changes) > 0:
		return gate.Ignored
	}
	return gate.NotKnown // there are files, and git names none of them
}

// view is what is read of a repository without git, once for the call.
func (g *Facts) view(ctx context.Context, repo *Repo) *gitView {
	v, ok := g.views[repo]
	if !ok {
		var kept *indexes
		if g.session != nil {
			kept = &g.session.indexes
		}
		v = repo.view(ctx, kept)
		g.views[repo] = v
	}
	return v
}

// known is what git says of a path. It is asked only about what is not read without it; then the third path of a repository has it
// say all of it at once.
func (g *Facts) known(ctx context.Context, repo *Repo, rel string) ([]entry, []Change, error) {
	if v := g.view(ctx, repo); v != nil && rel != "." {
		if e, ok := v.known(ctx, rel); ok {
			return e.held, e.changes, nil
		}
	}
	if g.asked[repo]++; g.asked[repo] < 3 {
		one := repo.everything(ctx, true, rel)
		return one.held, one.changes, one.err
	}
	all, ok := g.all[repo]
	if !ok {
		all = repo.everything(ctx, true)
		g.all[repo] = all
	}
	var held []entry
	for _, e := range all.held {
		if e.path == rel || strings.HasPrefix(e.path, rel+"/") {
			held = append(held, e)
		}
	}
	var changes []Change
	for _, c := range all.changes {
		if strings.TrimSuffix(c.Path, "/") == rel || strings.HasPrefix(c.Path, rel+"/") || strings.HasSuffix(c.Path, "/") && strings.HasPrefix(rel, c.Path) {
			changes = append(changes, c)
		}
	}
	return held, changes, all.err
}

// everything is what git says of paths, or of a whole working tree.
type everything struct {
	held    []entry
	changes []Change
	err     error
}

// everything asks git for both at once: most of the time goes into starting it.
func (r *Repo) everything(ctx context.Context, ignored bool, paths ...string) everything {
	r.config(ctx)
	var e everything
	var other error
	var both sync.WaitGroup
	both.Go(func() { e.held, e.err = r.held(ctx, paths...) })
	e.changes, other = r.Changes(ctx, ignored, paths...)
	both.Wait()
	e.err = errors.Join(e.err, other)
	return e
}

func inGit(rel string) bool {
	for part := range strings.SplitSeq(rel, "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}

// Folders and files that tools make again. What version control ignores beside these is often dear: settings with keys,
// notes, databases.
var (
	outputs = words("node_modules dist build out target __pycache__ .pytest_cache .mypy_cache .ruff_cache .cache .parcel-cache .turbo .next .nuxt .svelte-kit .angular coverage htmlcov .nyc_output .gradle .tox .nox .eggs .venv venv bin obj bower_components .terraform _build cmake-build-debug cmake-build-release deriveddata .dart_tool .vite .output storybook-static test-results playwright-report")
	endings = words(".o .a .so .obj .lib .dll .dylib .exe .class .pyc .pyo .tmp .log .gcda .gcno .d .rlib .rmeta .tsbuildinfo .test .out .coverage .prof .swp .map")
)

// words are made into a set at their first use: a hook's call seldom needs one.
func words(s string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		m := map[string]bool{}
		for _, w := range strings.Fields(s) {
			m[w] = true
		}
		return m
	})
}

// remade says whether a path's name is that of what tools make again.
func remade(rel string) bool {
	rel = strings.ToLower(strings.TrimSuffix(rel, "/"))
	for part := range strings.SplitSeq(rel, "/") {
		if outputs()[part] || strings.HasSuffix(part, ".egg-info") {
			return true
		}
	}
	return endings()[filepath.Ext(rel)]
}

// Text returns the contents of a regular file of at most 64 KiB at an absolute path, where they are text.
func (g *Facts) Text(abs string) (text string, ok bool) {
	text = g.contents(abs).text
	return text, text != ""
}

// Clean says whether the working tree that the call runs in has nothing that no commit holds; what git ignores does not
// count, but a submodule does, since no one looks into it.
func (g *Facts) Clean() bool {
	if g.clean == nil {
		is := false
		g.look(func(ctx context.Context) { is = g.isClean(ctx) })
		g.clean = &is
	}
	return *g.clean
}

func (g *Facts) isClean(ctx context.Context) bool {
	repo := g.here()
	if repo == nil {
		return false
	}
	if commit, _ := repo.Head(); commit == "" {
		return false
	}
	if v := g.view(ctx, repo); v != nil {
		if is, ok := v.clean(ctx); ok {
			return is
		}
	}
	all := repo.everything(ctx, false)
	return all.err == nil && len(all.changes) == 0 && sound(all.held)
}

// Pushed says whether every commit of the branch is at its remote, as far as the last fetch or push knows.
func (g *Facts) Pushed() bool {
	if g.pushed == nil {
		is := false
		g.look(func(ctx context.Context) { is = g.isPushed(ctx) })
		g.pushed = &is
	}
	return *g.pushed
}

func (g *Facts) isPushed(ctx context.Context) bool {
	repo := g.here()
	if repo == nil {
		return false
	}
	commit, branch := repo.Head()
	if commit == "" || branch == "" {
		return false
	}
	there := repo.Upstream(ctx, branch)
	if there == commit || there == "" {
		return there != ""
	}
	_, err := repo.Git(ctx, nil, "", "merge-base", "--is-ancestor", commit, there)
	return err == nil
}

// FileCounts says how much there is at an absolute path, and where else it is kept.
func (g *Facts) FileCounts(abs string) human.FileCounts {
	var c human.FileCounts
	switch g.File(abs) {
	case gate.Absent:
		c.Kept = human.KeptAbsent
	case gate.Precious:
		c.Kept = human.KeptNowhere
	case gate.MadeHere:
		c.Kept = human.KeptMadeHere
	case gate.Committed:
		c.Kept = human.KeptCommitted
	case gate.Ignored:
		c.Kept = human.KeptIgnored
	}
	g.look(func(ctx context.Context) {
		if !filepath.IsAbs(abs) {
			return
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
		if err != nil {
			return
		}
		b := g.walk(ctx, filepath.Join(dir, filepath.Base(abs)))
		c.Files, c.Bytes = b.Files, b.Bytes
	})
	return c
}

// Project says what is known of the working tree that the call runs in.
func (g *Facts) Project() human.ProjectInfo {
	root := g.call.Root
	if g.call.Cwd != "" {
		root = cmp.Or(Root(g.call.Cwd), root)
	}
	if root == "" {
		return human.ProjectInfo{}
	}
	p := human.ProjectInfo{Name: shown(filepath.Base(root)), Root: root}
	repo := g.here()
	if repo == nil {
		g.look(func(ctx context.Context) {
			if real, err := filepath.EvalSymlinks(root); err == nil {
				p.Files = g.walk(ctx, real).Files
			}
		})
		return p
	}
	p.Git = true
	_, branch := repo.Head()
	p.Branch = shown(branch)
	p.Clean, p.Pushed = g.Clean(), g.Pushed()
	g.look(func(ctx context.Context) {
		if v := g.view(ctx, repo); v != nil {
			p.Files = len(v.index.entries)
		} else if held, err := repo.held(ctx); err == nil {
			p.Files = len(held)
		}
	})
	return p
}

// shown is a name that others chose, without characters that are not seen or turn the text around.
func shown(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	return human.OneLine(name, 200)
}

// here is the repository that the call runs in.
func (g *Facts) here() *Repo {
	if g.call.Cwd != "" {
		return g.repo(g.call.Cwd)
	}
	if g.call.Root != "" {
		return g.repo(g.call.Root)
	}
	return nil
}

func (g *Facts) repo(dir string) *Repo {
	repo, ok := g.repos[dir]
	if !ok {
		var err error
		if repo, err = Open(dir); err != nil {
			repo = nil
		}
		for _, known := range g.repos { // what was read of its settings is read once
			if known != nil && repo != nil && known.top == repo.top {
				repo = known
			}
		}
		g.repos[dir] = repo
	}
	return repo
}

// below is what there is at a path.
type below struct {
	human.FileCounts
	names      []string // of its files, from the path on, as many as are asked about and one more; of a file: empty text
	repository bool     // there is a repository in it
	special    bool     // it is itself no file, folder or link
	cut        bool     // there is more than was looked at, or it could not be read
}

// walk looks at everything below a path, and follows no links.
func (g *Facts) walk(ctx context.Context, place string) below {
	if b, ok := g.below[place]; ok {
		return b
	}
	var b below
	n := 0
	err := filepath.WalkDir(place, func(name string, d fs.DirEntry, err error) error {
		if n++; n > maxEntries || n%64 == 0 && ctx.Err() != nil {
			return errEnough
		}
		if err != nil && name != place && errors.Is(err, fs.ErrNotExist) {
			return nil // gone while we looked
		}
		if err != nil {
			return err
		}
		if name != place && strings.EqualFold(d.Name(), ".git") {
			b.repository = true
		}
		switch {
		case d.IsDir():
			return nil
		case d.Type()&^fs.ModeSymlink != 0:
			b.special = b.special || name == place
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		b.Files++
		b.Bytes += info.Size()
		if len(b.names) <= maxAsked {
			rel, err := filepath.Rel(place, name)
			if err != nil {
				return err
			}
			b.names = append(b.names, rel)
		}
		return nil
	})
	b.cut = err != nil
	g.below[place] = b
	return b
}

var errEnough = errors.New("enough")

// A Change is one thing in which a working tree differs from its commit.
type Change struct {
	Kind ChangeKind
	Path string // from the root of the working tree, with slashes; of Untracked and Ignored it may be a folder, with a slash at its end
}

// ChangeKind is how a working tree differs.
type ChangeKind uint8

// The kinds of changes.
const (
	Changed   ChangeKind = iota // tracked, and not as it is in the commit; perhaps deleted
	Unmerged                    // in the middle of a merge
	Untracked                   // in no commit
	Ignored                     // so, and git ignores it
)

// Changes lists what differs from the commit that is checked out, at paths from the root of the working tree, or everywhere.
// It does not look into submodules.
func (r *Repo) Changes(ctx context.Context, ignored bool, paths ...string) ([]Change, error) {
	args := []string{"status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty"}
	if ignored {
		args = append(args, "--ignored=matching")
	}
	out, err := r.Git(ctx, nil, "", append(append(args, "--"), paths...)...)
	if err != nil {
		return nil, err
	}
	var list []Change
	for line := range bytes.SplitSeq(out, []byte{0}) {
		if len(line) == 0 {
			continue
		}
		c, before := Change{Kind: Changed}, 0
		switch line[0] {
		case '1':
			before = 8
		case 'u':
			c.Kind, before = Unmerged, 10
		case '?':
			c.Kind, before = Untracked, 1
		case '!':
			c.Kind, before = Ignored, 1
		default:
			return nil, errors.New("git status says something new: " + human.OneLine(string(line), 80))
		}
		parts := bytes.SplitN(line, []byte{' '}, before+1)
		if len(parts) != before+1 {
			return nil, errors.New("git status says something new: " + human.OneLine(string(line), 80))
		}
		c.Path = string(parts[before])
		list = append(list, c)
	}
	return list, nil
}

// Differing lists what the working tree holds that its commit does not: tracked files that differ from it, be they marked
// as unchanged, and files that are in no commit, those that git ignores among them where ignored is set. Paths are from the
// root, with slashes; a loose one with a slash at its end is a folder. The error is ErrMerging in the middle of a merge.
func (r *Repo) Differing(ctx context.Context, ignored bool) (tracked, loose []string, err error) {
	changes, err := r.Changes(ctx, ignored)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range changes {
		switch c.Kind {
		case Unmerged:
			return nil, nil, ErrMerging
		case Changed:
			tracked = append(tracked, c.Path)
		default:
			loose = append(loose, c.Path)
		}
	}
	held, err := r.held(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range held {
		if info, err := os.Lstat(filepath.Join(r.top, filepath.FromSlash(e.path))); !e.plain && err == nil && !info.IsDir() && !slices.Contains(tracked, e.path) {
			tracked = append(tracked, e.path)
		}
	}
	return tracked, loose, nil
}

// ErrMerging is for a working tree in the middle of a merge.
var ErrMerging = errors.New("in the middle of a merge")

// An entry is a tracked file.
type entry struct {
	path  string
	plain bool // git tells its changes: see sound
}

// sound says that git tells all changes of these: none is marked as unchanged whatever it holds, none is a submodule, and
// none is in the middle of a merge.
func sound(held []entry) bool {
	return !slices.ContainsFunc(held, func(e entry) bool { return !e.plain })
}

// held lists the tracked files at paths, or all.
func (r *Repo) held(ctx context.Context, paths ...string) ([]entry, error) {
	out, err := r.Git(ctx, nil, "", append([]string{"ls-files", "-v", "-z", "--stage", "--"}, paths...)...)
	if err != nil {
		return nil, err
	}
	var list []entry
	for line := range bytes.SplitSeq(out, []byte{0}) {
		// H 100644 HASH 0<tab>PATH; 160000 is a submodule.
		if head, name, ok := bytes.Cut(line, []byte{'\t'}); ok {
			list = append(list, entry{string(name), bytes.HasPrefix(head, []byte("H 1")) && !bytes.HasPrefix(head, []byte("H 16")) && bytes.HasSuffix(head, []byte(" 0"))})
		}
	}
	return list, nil
}
