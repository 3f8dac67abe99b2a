package gate

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"
)

// An Edit is one thing that a call of a file tool, or a patch, would do to a file. Which fields are set says what:
// Delete, MoveTo, Content (the whole file as it will be), or Old and New (a part of it). New without Old is text that goes
// in somewhere: the call alone does not tell where.
type Edit struct {
	Path    string // absolute where the call's folder is known
	Content *string
	Old     string
	New     string
	All     bool   // every occurrence of Old, not only the first
	Delete  bool   // a folder with all that is in it, too
	MoveTo  string // as Path; comes after the other edits of the same file
}

// maxEdits is how many edits of one call are told.
const maxEdits = 2000

// Edits says what a call would write, in the order in which it would: of the file tools and patches of the agents that are
// known, and of MCP's file servers. It is nil for other tools, for commands, and where the call can be read in two ways. It
// does not block, and looks at no file.
func Edits(call Call) []Edit {
	if len(call.Args) > MaxArgs {
		return nil
	}
	f, ok := parseFields(call.Args)
	if !ok || f.yes("dryrun") {
		return nil
	}
	for _, values := range f {
		if len(values) > 1 {
			return nil
		}
	}
	at := place(call, f, nil)
	abs := func(p string) string { return resolve(p, at.Cwd, at.Home) }
	p := abs(f.one(pathFields...))
	var out []Edit
	switch kindOf(call.Tool) {
	case writeTool, editTool:
		if p == "" || readsOnly(f) || makesFolder(call.Tool) {
			return nil
		}
		out = writes(p, f)
	case deleteTool:
		for _, p := range f.all(pathFields...) {
			out = append(out, Edit{Path: abs(p), Delete: true})
		}
	case moveTool:
		from, to := f.all(fromFields...), f.all(toFields...)
		if len(from) == 0 || len(to) == 0 || copies(call.Tool) {
			return nil
		}
		out = []Edit{{Path: abs(from[0]), MoveTo: abs(to[0])}}
	case patchTool:
		for _, e := range patched(f.one(patchFields...), p) {
			e.Path = abs(e.Path)
			if e.MoveTo != "" {
				e.MoveTo = abs(e.MoveTo)
			}
			out = append(out, e)
		}
	}
	return out[:min(len(out), maxEdits)]
}

var (
	fromFields  = []string{"source", "from", "src", "oldpath", "sourcepath", "path"}
	toFields    = []string{"destination", "to", "dest", "dst", "newpath", "destinationpath", "target", "newname"}
	patchFields = []string{"patch", "patchtext", "diff", "input", "command", "content", "changes"}
	oldFields   = []string{"oldstring", "oldstr", "oldtext", "search", "oldcontent", "find"}
	newFields   = []string{"newstring", "newstr", "newtext", "replace", "newcontent", "replacement"}
	bodyFields  = []string{"content", "contents", "filetext", "text", "data"}
)

func resolve(p, cwd, home string) string {
	p = strings.TrimPrefix(p, "file://")
	switch {
	case p == "":
		return ""
	case (p == "~" || strings.HasPrefix(p, "~/")) && home != "":
		return path.Join(home, p[1:])
	case strings.HasPrefix(p, "/"):
		return path.Clean(p)
	case cwd != "" && !strings.HasPrefix(p, "~"):
		return path.Join(cwd, p)
	}
	return p
}

// readsOnly is for the tools with a field that says what to do.
func readsOnly(f fields) bool { return f.one("command") == "view" }

func makesFolder(tool string) bool { return strings.Contains(plainName(tool), "dir") }

func copies(tool string) bool {
	n := plainName(toolName(tool))
	return strings.HasPrefix(n, "c")
}

func writes(p string, f fields) []Edit {
	if list, ok := f["edits"]; ok {
		return editList(p, list[0])
	}
	old, hasOld := f.text(oldFields...)
	with, hasNew := f.text(newFields...)
	switch {
	case hasOld && old == "" && hasNew:
		return []Edit{{Path: p, Content: &with}} // makes the file
	case hasOld:
		return []Edit{{Path: p, Old: old, New: with, All: f.yes("replaceall", "allowmultiple") || several(f)}}
	}
	if body, ok := f.text(bodyFields...); ok {
		if f.yes("append") || strings.HasPrefix(f.one("mode"), "a") {
			return []Edit{{Path: p, New: body}}
		}
		return []Edit{{Path: p, Content: &body}}
	}
	// A cell of a notebook, lines put in, or a sketch that another model works out.
	if body, ok := f.text("newsource", "inserttext", "codeedit", "newstr"); ok {
		return []Edit{{Path: p, New: body}}
	}
	return nil
}

func editList(p string, list any) []Edit {
	var out []Edit
	items, _ := list.([]any)
	for _, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return nil
		}
		f := fields{}
		for k, v := range m {
			f[plainName(k)] = append(f[plainName(k)], v)
		}
		old, hasOld := f.text(oldFields...)
		with, hasNew := f.text(newFields...)
		if !hasOld || !hasNew {
			return nil
		}
		if old == "" && len(out) == 0 {
			out = append(out, Edit{Path: p, Content: &with})
			continue
		}
		out = append(out, Edit{Path: p, Old: old, New: with, All: f.yes("replaceall", "allowmultiple")})
	}
	return out
}

// text is the text under the first of the names that is there, were it empty.
func (f fields) text(list ...string) (string, bool) {
	for _, n := range list {
		for _, v := range f[n] {
			if s, ok := v.(string); ok {
				return s, true
			}
		}
	}
	return "", false
}

func several(f fields) bool {
	for _, v := range f["expectedreplacements"] {
		if n, ok := v.(json.Number); ok && n != "1" && n != "0" {
			return true
		}
	}
	return false
}

// patched reads a patch as Codex and opencode write it, or a unified one; whole is the file that it is for, where it names
// none itself.
func patched(text, whole string) []Edit {
	r := patchReader{path: whole}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if len(r.out) > maxEdits {
			break
		}
		r.line(strings.TrimSuffix(line, "\r"))
	}
	r.flush()
	r.moved()
	return r.out
}

type patchReader struct {
	out          []Edit
	path, moveTo string
	from         string // of a unified patch: the name before
	adds, gone   bool   // the whole file
	hunk         bool
	left, right  int // lines of the hunk to come, of a unified one; -1 where it does not tell
	old, with    []string
}

func (r *patchReader) flush() {
	if (len(r.old) > 0 || len(r.with) > 0 || r.adds) && r.path != "" {
		old, with := lines(r.old), lines(r.with)
		switch {
		case r.adds:
			r.out = append(r.out, Edit{Path: r.path, Content: &with})
		case old != with && !r.gone:
			r.out = append(r.out, Edit{Path: r.path, Old: old, New: with})
		}
	}
	r.old, r.with, r.adds, r.hunk = nil, nil, false, false
}

func (r *patchReader) moved() {
	if r.moveTo != "" && r.moveTo != r.path {
		r.out = append(r.out, Edit{Path: r.path, MoveTo: r.moveTo})
	}
	r.moveTo = ""
}

func lines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}

func (r *patchReader) next(p string) {
	r.flush()
	r.moved()
	r.path, r.gone = p, false
}

func (r *patchReader) line(s string) {
	if r.hunk && (r.left > 0 || r.right > 0) { // what a hunk holds is no head, whatever it looks like
		r.body(s)
		return
	}
	head, rest, _ := strings.Cut(s, ": ")
	switch {
	case head == "*** Add File":
		r.next(strings.TrimSpace(rest))
		r.adds, r.hunk, r.left, r.right = true, true, -1, -1
	case head == "*** Update File":
		r.next(strings.TrimSpace(rest))
		r.hunk, r.left, r.right = true, -1, -1
	case head == "*** Delete File":
		r.next(strings.TrimSpace(rest))
		r.out, r.gone = append(r.out, Edit{Path: r.path, Delete: true}), true
	case head == "*** Move to":
		r.moveTo = strings.TrimSpace(rest)
	case strings.HasPrefix(s, "*** "):
	case strings.HasPrefix(s, "rename from "):
		r.next(unquoted(s[len("rename from "):]))
	case strings.HasPrefix(s, "rename to "):
		r.moveTo = unquoted(s[len("rename to "):])
	case strings.HasPrefix(s, "diff --git "):
		r.next("")
	case strings.HasPrefix(s, "--- ") && (!r.hunk || r.left >= 0):
		r.flush()
		r.from = side(s[4:])
	case strings.HasPrefix(s, "+++ ") && (!r.hunk || r.left >= 0):
		to := side(s[4:])
		switch {
		case to == "/dev/null":
			r.next(r.from)
			r.out, r.gone = append(r.out, Edit{Path: r.path, Delete: true}), true
		case r.moveTo == "":
			r.next(to)
			r.adds = r.from == "/dev/null"
		}
	case strings.HasPrefix(s, "@@"):
		adds := r.adds
		if !adds {
			r.flush()
		}
		r.hunk, r.left, r.right = true, -1, -1
		if strings.HasPrefix(s, "@@ -") {
			r.left, r.right = hunkSize(s)
		}
	case r.hunk:
		r.body(s)
	}
}

func (r *patchReader) body(s string) {
	if s == "" {
		s = " "
	}
	switch s[0] {
	case '+':
		r.with = append(r.with, s[1:])
		r.right--
	case '-':
		r.old = append(r.old, s[1:])
		r.left--
	case ' ':
		r.old, r.with = append(r.old, s[1:]), append(r.with, s[1:])
		r.left--
		r.right--
	}
}

// side is the name of a file in the head of a unified patch.
func side(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = unquoted(s)
	if rest, ok := strings.CutPrefix(s, "a/"); ok {
		return rest
	}
	return strings.TrimPrefix(s, "b/")
}

// unquoted is the name that Git writes in quotes where it holds odd characters.
func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && s[0] == '"' {
		if name, err := strconv.Unquote(s); err == nil {
			return name
		}
	}
	return s
}

// sides are the two names in Git's head of a file, "a/x b/x". Where spaces leave it open where the first one ends, both are
// taken to be the same.
func sides(s string) (before, after string) {
	s = strings.TrimSpace(s)
	if half := len(s) / 2; len(s)%2 == 1 && s[half] == ' ' && side(s[:half]) == side(s[half+1:]) {
		return side(s[:half]), side(s[half+1:])
	}
	if strings.HasPrefix(s, `"`) {
		if q, err := strconv.QuotedPrefix(s); err == nil {
			return side(q), side(s[len(q):])
		}
	}
	a, b, _ := strings.Cut(s, " ")
	return side(a), side(b)
}

// hunkSize reads "@@ -1,3 +1,4 @@".
func hunkSize(s string) (left, right int) {
	words := strings.Fields(s)
	if len(words) < 3 {
		return -1, -1
	}
	size := func(w string) int {
		_, n, has := strings.Cut(w, ",")
		if !has {
			return 1
		}
		total := 0
		for _, c := range n {
			if c < '0' || c > '9' || total > 1<<20 {
				return -1
			}
			total = total*10 + int(c-'0')
		}
		return total
	}
	return size(words[1]), size(words[2])
}
