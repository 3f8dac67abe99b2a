package backups

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// How much a difference shows.
const (
	maxShown    = 200       // files
	maxDiff     = 256 << 10 // bytes of all diffs
	maxCompared = 1 << 20   // bytes of a file, each way
)

// Difference says what a call would change: what file tools and patches would write, as a unified diff; what would be
// deleted, file by file, what is in no commit first; what git would throw away, as a diff from the commit to the working
// tree. It blocks while it reads.
func (s *Store) Difference(ctx context.Context, call gate.Call, v human.Verdict) (service.Difference, error) {
	d := &differ{store: s, left: maxDiff, gone: map[string]bool{}}
	if edits := gate.Edits(call); len(edits) > 0 {
		d.edits(edits)
	} else if err := d.effects(ctx, call, v); err != nil {
		return service.Difference{}, err
	}
	if err := d.deletions(ctx); err != nil {
		return service.Difference{}, err
	}
	if len(d.out.Files) > maxShown {
		d.out.More += len(d.out.Files) - maxShown
		d.out.Files = d.out.Files[:maxShown]
	}
	for i := range d.out.Files {
		d.out.Files[i].Path = human.OneLine(d.out.Files[i].Path, 1000)
	}
	d.out.Text = strings.Join(d.notes, "\n")
	return d.out, nil
}

type differ struct {
	store *Store
	out   service.Difference
	notes []string
	left  int             // bytes of diff that still go in
	gone  map[string]bool // paths that are deleted, with what is below
}

func (d *differ) note(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); len(d.notes) < 20 && !slices.Contains(d.notes, s) {
		d.notes = append(d.notes, s)
	}
}

// A version is a file before or after.
type version struct {
	there  bool
	text   string
	size   int64
	opaque string // why its text is not known
}

func load(name string) version {
	real, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return version{}
	}
	if err != nil {
		return version{there: true, opaque: "It cannot be read."}
	}
	info, err := os.Lstat(real)
	if err != nil || !info.Mode().IsRegular() {
		return version{there: true, opaque: "It is no plain file."}
	}
	v := version{there: true, size: info.Size()}
	if v.size > maxCompared {
		v.opaque = "It is too large to be compared."
		return v
	}
	f, err := open(real)
	if err != nil {
		v.opaque = "It cannot be read."
		return v
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxCompared))
	if err != nil {
		v.opaque = "It cannot be read."
		return v
	}
	return v.with(string(data))
}

func (v version) with(text string) version {
	v.there, v.text, v.size, v.opaque = true, text, int64(len(text)), ""
	switch {
	case len(text) > maxCompared:
		v.opaque = "It is too large to be compared."
	case strings.ContainsRune(text, 0) || !utf8.ValidString(text):
		v.opaque = "It is a binary file."
	}
	if v.opaque != "" {
		v.text = ""
	}
	return v
}

// edits tells what a file tool or a patch would make of files.
func (d *differ) edits(edits []gate.Edit) {
	var order []string
	before, after, from := map[string]version{}, map[string]version{}, map[string]string{}
	see := func(name string) version {
		if _, ok := before[name]; !ok {
			order = append(order, name)
			before[name] = load(name)
			after[name] = before[name]
		}
		return after[name]
	}
	for _, e := range edits {
		name := filepath.FromSlash(e.Path)
		if !filepath.IsAbs(name) {
			d.note("%s: which file that is, is not known.", human.OneLine(e.Path, 200))
			continue
		}
		if e.Delete {
			d.gone[name] = true
			continue
		}
		v := see(name)
		switch {
		case e.Content != nil:
			v = v.with(*e.Content)
		case e.MoveTo != "":
		case v.opaque != "":
		case e.Old == "":
			d.note("%s: where in the file the text goes is known only when the call runs; it is shown at its end.", human.OneLine(name, 200))
			v = v.with(joined(v.text, e.New))
		case !strings.Contains(v.text, e.Old):
			d.note("%s: the text that would be replaced is not in the file.", human.OneLine(name, 200))
		case e.All:
			v = v.with(strings.ReplaceAll(v.text, e.Old, e.New))
		default:
			v = v.with(strings.Replace(v.text, e.Old, e.New, 1))
		}
		after[name] = v
		if e.MoveTo == "" {
			continue
		}
		to := filepath.FromSlash(e.MoveTo)
		if !filepath.IsAbs(to) {
			d.note("%s: where it would be moved to is not known.", human.OneLine(name, 200))
			continue
		}
		see(to)
		after[to], after[name], from[to] = v, version{}, name
	}
	moved := map[string]bool{}
	for to, old := range from {
		moved[old] = !before[to].there
	}
	for _, name := range order {
		old, now := before[name], after[name]
		f := service.FileDifference{Path: name, What: "changed"}
		was := from[name]
		switch {
		case was != "" && !old.there:
			f.What, f.Path, old = "moved", was+" → "+name, before[was]
		case moved[name] && !now.there:
			continue // told with where it goes
		case !old.there && !now.there:
			continue
		case !old.there:
			f.What = "added"
		case !now.there:
			f.What = "deleted"
		}
		f.Files, f.Bytes = 1, now.size
		f.Diff = d.diff(name, old, now)
		if f.What == "changed" && f.Diff == "" && old.text == now.text && old.opaque == "" && now.opaque == "" {
			d.note("%s: nothing would change.", human.OneLine(name, 200))
			continue
		}
		d.out.Files = append(d.out.Files, f)
	}
}

func joined(text, more string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + more
}

// diff compares two versions. Secrets are hidden before, while what they look like is whole.
func (d *differ) diff(name string, old, now version) string {
	if old.opaque != "" || now.opaque != "" {
		if why := cmp.Or(old.opaque, now.opaque); old.there && now.there {
			return fmt.Sprintf("%s %d bytes now, %d bytes then.", why, old.size, now.size)
		} else if old.there {
			return fmt.Sprintf("%s %d bytes.", why, old.size)
		} else {
			return fmt.Sprintf("%s %d bytes.", why, now.size)
		}
	}
	if d.left <= 0 {
		return ""
	}
	a, b := d.store.mask(old.text), d.store.mask(now.text)
	if a == b {
		if old.text != now.text {
			return "Only what is masked as a secret differs."
		}
		return ""
	}
	left, right := "a"+filepath.ToSlash(name), "b"+filepath.ToSlash(name)
	if !old.there {
		left = os.DevNull
	}
	if !now.there {
		right = os.DevNull
	}
	u, err := udiff.ToUnifiedDiff(left, right, a, udiff.Lines(a, b), udiff.DefaultContextLines)
	if err != nil {
		return ""
	}
	dropped := shorten(&u, d.left-len(left)-len(right))
	text := u.String()
	d.left -= len(text)
	if dropped > 0 {
		text += fmt.Sprintf("… %d more lines\n", dropped)
		d.left = 0
		d.note("There is more to compare than is shown.")
	}
	return text
}

// shorten keeps the first lines of a difference, which stays well-formed, and returns how many it dropped. size bounds
// the bytes of those lines.
func shorten(u *udiff.UnifiedDiff, size int) (dropped int) {
	for i, hunk := range u.Hunks {
		for j, line := range hunk.Lines {
			if size -= len(line.Content) + 1; size < 0 {
				dropped += len(hunk.Lines) - j
				hunk.Lines = hunk.Lines[:j]
				break
			}
		}
		if len(hunk.Lines) == 0 {
			for _, rest := range u.Hunks[i+1:] {
				dropped += len(rest.Lines)
			}
			u.Hunks = u.Hunks[:i]
			break
		}
	}
	return dropped
}

// effects tells what a command would change, from its effects alone.
func (d *differ) effects(ctx context.Context, call gate.Call, v human.Verdict) error {
	for _, e := range v.Effects {
		place := filepath.FromSlash(e.Target)
		known := filepath.IsAbs(place) && !strings.Contains(place, "…")
		if (e.Verb == human.FilesystemDelete || e.Verb == human.FilesystemWrite || e.Verb == human.GitDiscard) && !e.Blast.Near() {
			d.note("%s is on another machine, and cannot be seen from here.", human.OneLine(e.Resource, 200))
			continue
		}
		switch e.Verb {
		case human.FilesystemDelete:
			w := wanted{paths: map[string]bool{}}
			if !known || e.Certainty == human.Possible || w.add(place, e.Certainty == human.Certain, true) != nil {
				d.note("What %s stands for is known only when the call runs.", human.OneLine(e.Resource, 200))
			}
			maps.Copy(d.gone, w.paths)
		case human.FilesystemWrite:
			if !known {
				d.note("What %s stands for is known only when the call runs.", human.OneLine(e.Resource, 200))
				continue
			}
			f := service.FileDifference{Path: place, What: "added"}
			if info, err := os.Stat(place); err == nil {
				f.What, f.Bytes = "changed", info.Size()
			}
			f.Files = 1
			d.out.Files = append(d.out.Files, f)
			d.note("What a command writes is known only when it runs.")
		}
	}
	w := wanted{paths: map[string]bool{}}
	if err := d.store.discards(call, v, &w); err != nil {
		d.note("%s", human.SafeText(err))
		return nil
	}
	if w.drops != nil {
		d.note("%d stashes would be thrown away at most.", len(w.drops.Stashes()))
	}
	if w.tree == nil {
		return nil
	}
	tracked, loose, err := w.tree.Differing(ctx, w.ignored)
	if err != nil {
		return noDifference(err)
	}
	if w.loose {
		for _, rel := range loose {
			d.gone[filepath.Join(w.tree.Top(), filepath.FromSlash(rel))] = true
		}
	}
	if !w.changes {
		return nil
	}
	if len(tracked) == 0 {
		d.note("The working tree is as its commit has it.")
	}
	return d.tracked(ctx, w.tree, tracked)
}

func noDifference(err error) error {
	return human.Wrap(human.Conflict, err, "git cannot show what differs; run git status")
}

// tracked compares files with what the commit has of them.
func (d *differ) tracked(ctx context.Context, tree Tree, rels []string) error {
	shown := rels[:min(len(rels), maxShown)]
	d.out.More += len(rels) - len(shown)
	if len(shown) == 0 {
		return nil
	}
	out, err := tree.Git(ctx, nil, "", append([]string{"ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD", "--"}, shown...)...)
	if err != nil {
		return noDifference(err)
	}
	old := map[string]version{}
	var ids bytes.Buffer
	var order []string
	for line := range strings.SplitSeq(string(out), "\x00") {
		head, rel, ok := strings.Cut(line, "\t")
		f := strings.Fields(head) // mode, type, id, size
		if !ok || len(f) != 4 || f[1] != "blob" {
			continue
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			return noDifference(err)
		}
		if size > maxCompared || len(order) >= 50 {
			old[rel] = version{there: true, size: size, opaque: "It is not compared."}
			continue
		}
		order = append(order, rel)
		ids.WriteString(f[2] + "\n")
	}
	if len(order) > 0 {
		out, err := tree.Git(ctx, ids.Bytes(), "", "cat-file", "--batch")
		if err != nil {
			return noDifference(err)
		}
		for _, rel := range order {
			head, rest, _ := bytes.Cut(out, []byte("\n"))
			f := strings.Fields(string(head))
			if len(f) != 3 {
				return noDifference(nil)
			}
			n, err := strconv.Atoi(f[2])
			if err != nil || n < 0 || n+1 > len(rest) {
				return noDifference(err)
			}
			old[rel] = version{}.with(string(rest[:n]))
			out = rest[n+1:]
		}
	}
	for _, rel := range shown {
		name := filepath.Join(tree.Top(), filepath.FromSlash(rel))
		was, now := old[rel], now(name)
		f := service.FileDifference{Path: name, What: "changed", Diff: d.diff("/"+rel, was, now)}
		f.Files, f.Bytes, f.Kept = 1, now.size, human.KeptNowhere
		if !now.there {
			f.Kept = human.KeptCommitted
		}
		d.out.Files = append(d.out.Files, f)
	}
	return nil
}

// now is a file as git sees it: of a link, what it says.
func now(name string) version {
	if to, err := os.Readlink(name); err == nil {
		return version{}.with(to)
	}
	return load(name)
}

// deletions lists the files that would be gone, those of which there is no copy first.
func (d *differ) deletions(ctx context.Context) error {
	if len(d.gone) == 0 {
		return nil
	}
	items, err := d.store.survey(ctx, d.gone)
	if human.KindOf(err) == human.Exhausted {
		d.note("More than %d files would be deleted.", d.store.maxFiles)
		return nil
	}
	if err != nil {
		return err
	}
	var list []service.FileDifference
	trees := map[string]*copies{}
	for _, i := range items {
		if i.Mode.IsDir() {
			continue
		}
		f := service.FileDifference{Path: i.Path, What: "deleted"}
		f.Files, f.Bytes, f.Kept = 1, i.Size, d.keptOf(ctx, trees, i.Path)
		list = append(list, f)
	}
	if len(list) == 0 {
		d.note("Nothing is there that would be deleted.")
	}
	worth := []human.Kept{human.KeptNowhere, "", human.KeptIgnored, human.KeptCommitted}
	slices.SortStableFunc(list, func(a, b service.FileDifference) int {
		return slices.Index(worth, a.Kept) - slices.Index(worth, b.Kept)
	})
	d.out.Files = append(d.out.Files, list...)
	return nil
}

// copies is which files of a folder have one in a commit.
type copies struct {
	top             string
	held, different map[string]bool
	known           bool
}

func (d *differ) keptOf(ctx context.Context, trees map[string]*copies, name string) human.Kept {
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return ""
	}
	c, ok := trees[dir]
	if !ok {
		tree, err := d.store.tree(dir)
		if err != nil {
			trees[dir] = nil
			return human.KeptNowhere
		}
		for _, other := range trees {
			if other != nil && other.top == tree.Top() {
				c = other
			}
		}
		if c == nil {
			c = copiesOf(ctx, tree)
		}
		trees[dir] = c
	}
	if c == nil {
		return human.KeptNowhere
	}
	rel, err := filepath.Rel(c.top, filepath.Join(dir, filepath.Base(name)))
	rel = filepath.ToSlash(rel)
	switch {
	case err != nil || !c.known:
		return ""
	case c.different[rel], strings.Contains("/"+rel, "/.git/"):
		return human.KeptNowhere
	case c.held[rel]:
		return human.KeptCommitted
	}
	return human.KeptIgnored
}

func copiesOf(ctx context.Context, tree Tree) *copies {
	c := &copies{top: tree.Top(), held: map[string]bool{}, different: map[string]bool{}}
	tracked, loose, err := tree.Differing(ctx, false)
	if err != nil {
		return c
	}
	out, err := tree.Git(ctx, nil, "", "ls-files", "-z")
	if err != nil {
		return c
	}
	for rel := range strings.SplitSeq(string(out), "\x00") {
		c.held[rel] = true
	}
	for _, rel := range append(tracked, loose...) {
		c.different[rel] = true
	}
	c.known = true
	return c
}
