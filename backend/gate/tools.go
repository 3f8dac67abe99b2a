package gate

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/shell"
	"deskbell/backend/gate/sql"
	"deskbell/backend/human"
)

// kind is what a tool does, by the name that its clients know it under.
type kind uint8

const (
	unknownTool kind = iota
	shellTool
	argvTool
	windowsTool
	readTool
	writeTool
	editTool
	deleteTool
	moveTool
	patchTool
	listTool
	fetchTool
	httpTool
	sqlTool
	codeTool
	talkTool // tells or asks the person, plans
)

func names(s string) []string { return strings.Fields(s) }

// The tools of well-known agents, in lower case and without anything between words. What is written here is what they do;
// a tool of another server under the same name is judged by its arguments all the same.
var tools = func() map[string]kind {
	m := map[string]kind{}
	for k, list := range map[kind][]string{
		shellTool:   names("bash shell sh zsh terminal runshellcommand runcommand runterminalcmd executecommand shellexecute execute exec command localshell shellcommand runinterminal execcommand cmdrun bashcommand runbash"),
		windowsTool: names("powershell pwsh cmd cmdexe runpowershell"),
		readTool:    names("read readfile view viewfile cat openfile getfile fsread readtextfile readmediafile readmultiplefiles readmanyfiles notebookread viewimage"),
		writeTool:   names("write writefile createfile create fswrite savefile newfile write2 writetextfile appendfile createdirectory mkdir"),
		editTool:    names("edit editfile multiedit strreplace replace strreplaceeditor strreplacebasededittool updatefile searchreplace notebookedit editnotebook patchfile insertedit inserteditintofile"),
		deleteTool:  names("delete deletefile removefile remove rm unlink deletedirectory removedirectory deletefolder rmdir"),
		moveTool:    names("move movefile rename renamefile mv copyfile copy cp"),
		patchTool:   names("applypatch patch applydiff"),
		listTool:    names("ls list listdir listdirectory glob grep search searchfiles greps grepsearch filesearch codebasesearch findfiles directorytree getfileinfo listalloweddirectories searchfilecontent"),
		fetchTool:   names("webfetch fetch websearch fetchurl browse googlewebsearch readurl geturl httpget"),
		httpTool:    names("http httprequest request apirequest curl post put"),
		sqlTool:     names("sql query executesql runsql runquery executequery sqlquery readquery writequery"),
		codeTool:    names("python runpython pythonexec javascript node runcode executecode codeinterpreter evaluate repl"),
		talkTool:    names("todowrite todoread task plan updateplan think askuserquestion exitplanmode writetodos savememory finalanswer"),
	} {
		for _, n := range list {
			m[n] = k
		}
	}
	return m
}()

func kindOf(tool string) kind { return tools[plainName(toolName(tool))] }

// toolName is a tool's own name, without its server's.
func toolName(name string) string {
	if strings.HasPrefix(name, "mcp__") { // mcp__server__tool
		if i := strings.LastIndex(name, "__"); i > 4 {
			name = name[i+2:]
		}
	}
	if i := strings.LastIndexAny(name, "./:"); i >= 0 {
		name = name[i+1:]
	}
	return name
}

func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 32
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// fields are the arguments by the plain form of their names; two that have the same name are both there.
type fields map[string][]any

func parseFields(raw json.RawMessage) (fields, bool) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return fields{}, true
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	// Token by token: a field that stands there twice must not hide the other.
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, false
	}
	f := fields{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, false
		}
		name := plainName(key.(string))
		f[name] = append(f[name], v)
	}
	_, err = d.Token()
	return f, err == nil
}

// all returns the texts under any of the names; what is no text is left out.
func (f fields) all(list ...string) []string {
	var out []string
	for _, n := range list {
		for _, v := range f[n] {
			switch v := v.(type) {
			case string:
				out = append(out, v)
			case []any:
				for _, x := range v {
					if s, ok := x.(string); ok {
						out = append(out, s)
					}
				}
			}
		}
	}
	return out
}

func (f fields) one(list ...string) string {
	for _, n := range list {
		for _, v := range f[n] {
			if s, ok := v.(string); ok && s != "" {
				return s
			}
		}
	}
	return ""
}

func (f fields) has(list ...string) bool {
	for _, n := range list {
		if len(f[n]) > 0 {
			return true
		}
	}
	return false
}

func (f fields) yes(list ...string) bool {
	for _, n := range list {
		for _, v := range f[n] {
			if v == true || v == "true" {
				return true
			}
		}
	}
	return false
}

var (
	pathFields    = []string{"path", "filepath", "file", "filename", "absolutepath", "targetfile", "notebookpath", "uri", "relativepath", "paths", "files", "directory", "dirpath", "dir", "folder", "target"}
	commandFields = []string{"command", "cmd", "script", "commandline", "bash", "shell", "input", "code"}
)

func place(call Call, f fields, evidence Evidence) shell.Place {
	at := shell.Place{Cwd: call.Cwd, Root: call.Root, Home: call.Home, Evidence: evidence}
	if at.Root == "" {
		at.Root = call.Cwd
	}
	if dir := f.one("cwd", "workdir", "workingdirectory", "dir", "directory", "currentdir"); dir != "" {
		switch {
		case strings.HasPrefix(dir, "/"):
			at.Cwd = path.Clean(dir)
		case at.Cwd != "":
			at.Cwd = path.Join(at.Cwd, dir)
		}
	}
	return at
}

func opaque(id, why string) []human.Effect {
	return []human.Effect{{Verb: human.UnknownEffect, Resource: why, Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: id}}
}

// effects lowers a call.
func effects(call Call, evidence Evidence) []human.Effect {
	if len(call.Args) > MaxArgs {
		return opaque("tool.too_large", "arguments that are too long to be looked through")
	}
	f, ok := parseFields(call.Args)
	if !ok {
		return opaque("tool.unreadable", "arguments that are no JSON object")
	}
	out := toolEffects(call, f, evidence)
	if hidden := f.all(append(slices.Clone(commandFields), pathFields...)...); slices.ContainsFunc(hidden, disguised) {
		out = append(out, effect(human.ObfuscatedEffect, human.HighRisk, human.MachineBlast, "text.disguised", "characters that are not what they seem"))
	}
	return append(out, annotated(call)...)
}

// annotated is what the server's own hints add. They only tighten: a tool that calls itself read-only is believed by nobody.
func annotated(call Call) []human.Effect {
	a := call.Annotations
	var out []human.Effect
	if a.Destructive != nil && *a.Destructive && (a.ReadOnly == nil || !*a.ReadOnly) {
		out = append(out, effect(human.UnknownEffect, human.HighRisk, human.SharedBlast, "mcp.destructive", call.Tool))
	}
	if a.ReadOnly != nil && !*a.ReadOnly {
		out = append(out, effect(human.UnknownEffect, human.LowRisk, human.ProjectBlast, "mcp.changes", call.Tool))
	}
	return out
}

func toolEffects(call Call, f fields, evidence Evidence) []human.Effect {
	at := place(call, f, evidence)
	paths := f.all(pathFields...)
	each := func(list []string, one func(string) []human.Effect) []human.Effect {
		var out []human.Effect
		for i, p := range list {
			if i == 100 {
				return append(out, opaque("tool.too_many", "too many paths to be told one by one")...)
			}
			out = append(out, one(strings.TrimPrefix(p, "file://"))...)
		}
		if len(out) == 0 {
			return opaque("tool.no_path", "a file that is not named")
		}
		return out
	}
	write := func(p string) []human.Effect { return shell.Writing(p, at) }
	k := kindOf(call.Tool)
	switch k {
	case shellTool:
		return commandEffects(call, f, at)
	case windowsTool:
		if c := f.one(commandFields...); c != "" {
			return shell.Windows(c, at)
		}
		return opaque("tool.no_command", "a command that is not there")
	case readTool, listTool:
		if k == listTool && len(paths) == 0 {
			paths = []string{"."}
		}
		return each(paths, func(p string) []human.Effect { return shell.Reading(p, at) })
	case writeTool, editTool:
		if k == editTool && readsOnly(f) {
			return each(paths, func(p string) []human.Effect { return shell.Reading(p, at) })
		}
		out := each(paths, write)
		// A script that is written is judged when it is run; what runs by itself, by its place, above.
		return out
	case deleteTool:
		recursive := f.yes("recursive", "force") || strings.Contains(plainName(call.Tool), "dir") || strings.Contains(plainName(call.Tool), "folder")
		return each(paths, func(p string) []human.Effect { return shell.Deleting(p, recursive, at) })
	case moveTool:
		from, to := f.all(fromFields...), f.all(toFields...)
		if len(from) == 0 || len(to) == 0 {
			return opaque("tool.no_path", "a file that is not named")
		}
		name := "mv"
		if strings.HasPrefix(plainName(call.Tool), "c") {
			name = "cp"
		}
		return shell.LowerArgs([]string{name, "--", from[0], to[0]}, at)
	case patchTool:
		return patchEffects(f, at, paths)
	case fetchTool:
		return requestEffects("GET", f)
	case httpTool:
		return requestEffects(f.one("method", "verb"), f)
	case sqlTool:
		return sqlEffects(f.one("sql", "query", "statement", "text"))
	case codeTool:
		language := "python"
		if n := plainName(call.Tool); strings.Contains(n, "javascript") || strings.Contains(n, "node") {
			language = "javascript"
		}
		if l := f.one("language", "lang"); l != "" {
			language = strings.ToLower(l)
		}
		if c := f.one("code", "script", "source", "input"); c != "" {
			return shell.Code(language, c, at)
		}
		return opaque("tool.no_code", "code that is not there")
	case talkTool:
		return []human.Effect{effect(human.FilesystemRead, human.NoRisk, human.FileBlast, "tool.talks", call.Tool)}
	}
	return unknownEffects(call, f, at)
}

// commandEffects are those of a shell tool: a text, or a list of exact arguments.
func commandEffects(call Call, f fields, at shell.Place) []human.Effect {
	var out []human.Effect
	for _, n := range commandFields {
		for _, v := range f[n] {
			switch v := v.(type) {
			case string:
				if n != "command" && n != "cmd" && f.has("command", "cmd") && !strings.ContainsAny(v, " \n") {
					continue // the name of the shell, beside the command
				}
				out = append(out, shell.Lower(v, at)...)
			case []any:
				var args []string
				for _, x := range v {
					s, ok := x.(string)
					if !ok {
						return opaque("tool.unreadable", "arguments that are no texts")
					}
					args = append(args, s)
				}
				out = append(out, shell.LowerArgs(args, at)...)
			default:
				return opaque("tool.unreadable", "a command that is no text")
			}
		}
	}
	if args := f.all("args", "arguments", "argv"); len(args) > 0 && len(out) > 0 {
		out = append(out, shell.LowerArgs(append(strings.Fields(f.one(commandFields...)), args...), at)...)
	}
	for _, v := range f["env"] {
		vars, ok := v.(map[string]any)
		if !ok {
			continue
		}
		keys := make([]string, 0, len(vars))
		for key := range vars {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if s, ok := vars[key].(string); ok {
				out = append(out, shell.LowerArgs([]string{"env", key + "=" + s, "true"}, at)...)
			}
		}
	}
	if len(out) == 0 {
		return opaque("tool.no_command", "a command that is not there")
	}
	return out
}

func patchEffects(f fields, at shell.Place, paths []string) []human.Effect {
	var out []human.Effect
	text := f.one("patch", "diff", "input", "content", "changes")
	for line := range strings.SplitSeq(text, "\n") {
		if len(out) > 300 {
			return append(out, opaque("tool.too_many", "too many files to be told one by one")...)
		}
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Move to: ", "+++ b/", "+++ "} {
			if p, ok := strings.CutPrefix(line, head); ok {
				p, _, _ = strings.Cut(strings.TrimSpace(p), "\t")
				if p != "/dev/null" {
					out = append(out, shell.Writing(p, at)...)
				}
				break
			}
		}
		if p, ok := strings.CutPrefix(line, "*** Delete File: "); ok {
			out = append(out, shell.Deleting(strings.TrimSpace(p), false, at)...)
		}
		if p, ok := strings.CutPrefix(line, "--- a/"); ok && strings.Contains(text, "+++ /dev/null") {
			out = append(out, shell.Deleting(strings.TrimSpace(p), false, at)...)
		}
	}
	for _, p := range paths {
		out = append(out, shell.Writing(p, at)...)
	}
	if len(out) == 0 {
		return opaque("tool.no_path", "a patch whose files are not named")
	}
	return out
}

// requestEffects are those of a request over HTTP, the same as curl's.
func requestEffects(method string, f fields) []human.Effect {
	target := f.one("url", "uri", "href", "endpoint")
	method = strings.ToUpper(method)
	body := f.has("body", "data", "json", "payload", "form")
	host := ""
	if u, err := url.Parse(target); err == nil {
		host = u.Hostname()
		if u.Scheme == "file" {
			return shell.Reading(u.Path, shell.Place{})
		}
	}
	e := effect(human.NetworkRead, human.NoRisk, human.MachineBlast, "http.reads", target)
	e.Target = host
	switch {
	case method == "DELETE":
		e = effect(human.NetworkWrite, human.HighRisk, human.SharedBlast, "http.deletes", method+" "+target)
	case method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "" && !body:
		// The clouds' own address for a machine's credentials.
		if host == "169.254.169.254" || host == "metadata.google.internal" {
			e = effect(human.CredentialAccess, human.HighRisk, human.SharedBlast, "http.metadata", target)
		}
	default:
		e = effect(human.NetworkWrite, human.MediumRisk, human.SharedBlast, "http.sends", method+" "+target)
	}
	e.Target = host
	return []human.Effect{e}
}

func sqlEffects(text string) []human.Effect {
	statements := sql.Split(text)
	if len(statements) == 0 {
		return opaque("sql.empty", "a query that is not there")
	}
	var out []human.Effect
	for i, s := range statements {
		if i == 200 {
			return append(out, opaque("sql.too_many", "too many statements to be told one by one")...)
		}
		risk, id := human.NoRisk, "sql.reads"
		switch s.Kind {
		case sql.Session:
			risk, id = human.LowRisk, "sql.session"
		case sql.Writes:
			risk, id = human.MediumRisk, "sql.writes"
		case sql.Changes:
			risk, id = human.MediumRisk, "sql.changes"
		case sql.Destroys:
			risk, id = human.HighRisk, "sql.destroys"
		case sql.RunsCode:
			risk, id = human.HighRisk, "sql.runs_code"
		case sql.Unknown:
			risk, id = human.MediumRisk, "sql.unknown"
		}
		out = append(out, effect(human.DatabaseEffect, risk, human.SharedBlast, id, s.Verb+" "+s.Object))
	}
	return out
}

// unknownEffects judges a tool that nothing is known of by its name and its arguments.
func unknownEffects(call Call, f fields, at shell.Place) []human.Effect {
	name := call.Tool
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	var out []human.Effect
	word := strings.ToLower(name)
	for i := 1; i < len(name); i++ { // deleteItem
		if name[i] >= 'A' && name[i] <= 'Z' && name[i-1] >= 'a' && name[i-1] <= 'z' {
			word = strings.ToLower(name[:i] + "_" + name[i:])
			break
		}
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(word, "-", "_"), "_")
	switch first {
	case "get", "list", "read", "search", "find", "describe", "show", "view", "query", "fetch", "lookup", "count", "check", "inspect", "resolve", "status", "browser", "take":
		risk := human.LowRisk
		if call.Annotations.ReadOnly != nil && !*call.Annotations.ReadOnly || first == "browser" || first == "take" || first == "query" || first == "fetch" {
			risk = human.MediumRisk
		}
		out = append(out, effect(human.UnknownEffect, risk, human.MachineBlast, "mcp.looks", call.Tool))
	case "delete", "remove", "drop", "destroy", "purge", "clear", "reset", "kill", "terminate", "revoke", "truncate", "erase", "wipe", "cancel", "force", "uninstall":
		out = append(out, effect(human.UnknownEffect, human.HighRisk, human.SharedBlast, "mcp.destroys", call.Tool))
	default:
		out = append(out, effect(human.UnknownEffect, human.MediumRisk, human.SharedBlast, "mcp.unknown", call.Tool))
	}
	for _, c := range f.all("command", "cmd", "script", "shell", "bash", "commandline") {
		out = append(out, shell.Lower(c, at)...)
	}
	for _, q := range f.all("sql", "statement") {
		out = append(out, sqlEffects(q)...)
	}
	for i, p := range f.all(pathFields...) {
		if i > 50 {
			break
		}
		out = append(out, shell.Reading(p, at)...)
	}
	if f.has("url") && f.has("method") {
		out = append(out, requestEffects(f.one("method"), f)...)
	}
	return out
}
