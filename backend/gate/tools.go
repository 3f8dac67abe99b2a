package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"path/filepath"
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
	talkTool    // tells or asks the person, plans, or asks another agent, whose own calls are judged; the client's own, never a server's
	typeTool    // types into a program that runs already
	stopTool    // stops what the agent itself started
	memoryTool  // keeps what later sessions read
	laterTool   // sets up what runs by itself
	batchTool   // holds calls of other tools
	screenTool  // sees, and moves the pointer and keys of, a screen
	installTool // of packages, of a manager that the call names or not
)

// The tools of well-known agents, in lower case and without anything between words. What is written here is what they do;
// a tool of another server under the same name is still judged by its arguments.
var tools = []struct {
	kind  kind
	names wordSet
}{
	{shellTool, "bash shell sh zsh terminal runshellcommand runcommand runterminalcmd runterminalcommand executecommand shellexecute execute exec command localshell shellcommand runinterminal execcommand cmdrun " +
		"bashcommand runbash startprocess containerexec executebash executeshellcommand shellexec runshell terminalexecute bashtool unifiedexec"},
	{windowsTool, "powershell pwsh cmd cmdexe runpowershell powershellcommand runpowershellcommand executepowershell invokeexpression"},
	{readTool, "read readfile view viewfile cat openfile getfile fsread readtextfile readmediafile readmultiplefiles readmanyfiles notebookread viewimage readnotebook readimage " +
		"readfilecontent readlints readpdf reapply"},
	{writeTool, "write writefile createfile create fswrite savefile newfile writetextfile appendfile createdirectory mkdir createfolder makedirectory writetofile saveas writemultiplefiles appendtofile"},
	{editTool, "edit editfile multiedit strreplace replace strreplaceeditor strreplacebasededittool updatefile searchreplace notebookedit editnotebook patchfile insertedit inserteditintofile editblock " +
		"texteditor replaceinfile insertcontent searchandreplace fileedit"},
	{deleteTool, "delete deletefile removefile remove rm unlink deletedirectory removedirectory deletefolder rmdir erasefile trash"},
	{moveTool, "move movefile rename renamefile mv copyfile copy cp movedirectory copydirectory"},
	{patchTool, "applypatch patch applydiff"},
	{listTool, "ls list listdir listdirectory glob grep search searchfiles greps grepsearch filesearch codebasesearch findfiles directorytree getfileinfo listalloweddirectories searchfilecontent listdirectorywithsizes " +
		"listfiles globfilesearch grepfiles semanticsearch tree searchcode searchinfiles ripgrep stat lsp startsearch"},
	{fetchTool, "webfetch fetch websearch fetchurl browse googlewebsearch readurl geturl httpget websearchrequest codesearch searchweb downloadpage fetchwebpage fetchcontent"},
	{httpTool, "http httprequest request apirequest curl post put httppost httpput httpdelete httppatch makerequest sendrequest"},
	{sqlTool, "sql query executesql runsql runquery executequery sqlquery readquery writequery createtable execsql executestatement executesqlquery mysqlquery pgquery postgresquery runselectquery " +
		"databasequery querydatabase executewritequery executereadquery applymigration"},
	{codeTool, "python runpython pythonexec javascript node runcode executecode codeinterpreter evaluate repl runpythoncode executepython runjavascript pythoninterpreter jsrepl executecell runcell insertexecutecodecell " +
		"runnode evaluatejavascript executejavascript"},
	{talkTool, "todowrite todoread task agent plan updateplan think askuserquestion exitplanmode enterplanmode writetodos finalanswer taskoutput taskcreate taskget taskupdate tasklist skill slashcommand " +
		"listmcpresourcestool readmcpresourcetool listmcpresources readmcpresource listmcpresourcetemplates listmcpresourcetemplatestool toolsearch mcpsearch requestuserinput spawnagent sendinput wait waitagent closeagent resumeagent " +
		"askuser activateskill codebaseinvestigator delegatetoagent completetask clihelp getinternaldocs question todo planenter planexit askquestion switchmode creatediagram sequentialthinking " +
		"bashoutput readbackgroundoutput listbackgroundprocesses readprocessoutput getcurrenttime converttime sendmessage attemptcompletion askfollowupquestion newtask getgoal updategoal creategoal " +
		"updatetopic invokeagent reportfindings clocksleep collaborationspawnagent collaborationwaitagent collaborationsendmessage collaborationfollowuptask collaborationlistagents collaborationinterruptagent " +
		"multiagentv1spawnagent multiagentv1waitagent multiagentv1sendinput multiagentv1closeagent multiagentv1resumeagent " +
		"getusertask invalid monitor readdiagnostics getdiagnostics diagnostics fetchrules jsreplreset listsessions listprocesses tooluse getterminaloutput testsynctool"},
	{typeTool, "writestdin interactwithprocess sendtoterminal sendkeys terminalinput"},
	{stopTool, "killshell killbash taskstop forceterminate stopprocess killterminal"},
	{memoryTool, "savememory updatememory memory remember"},
	{laterTool, "croncreate schedulewakeup createscheduledtask scheduletask remotetrigger createautomation"},
	{batchTool, "batch parallel multitoolusef multitooluseparallel callmcptool calltool usemcptool executetool invoketool"},
	{screenTool, "computer computeruse computer20250124 computer20251124 click leftclick typetext desktopclick desktopscreenshot capturescreen screencapture screenshotdesktop takedesktopscreenshot"},
	{installTool, "installpackage installpackages addpackage adddependency uninstallpackage removepackage installdependencies updatepackage installpythonpackages"},
}

// maxNested is how deep the brackets of a call's arguments may be nested.
const maxNested = 100

// nested is how deep brackets of JSON are nested.
func nested(raw []byte) int {
	deep, most := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			deep++
			most = max(most, deep)
		case '}', ']':
			deep--
		}
	}
	return most
}

// maxName is the longest name of a tool that is looked at, in bytes.
const maxName = 200

// kindOf is the kind of a tool by its own name, or by the end of a name that begins with its server's.
func kindOf(tool string) kind {
	if len(tool) > maxName {
		return unknownTool
	}
	name := toolName(tool)
	if k := kindNamed(plainName(name)); k == talkTool && !ofClient(tool) {
		return unknownTool
	} else if k != unknownTool {
		return k
	}
	words := nameWords(name)
	for i := 1; i < len(words)-1; i++ { // two words at the least: many tools end in one that says little
		k := kindNamed(strings.Join(words[i:], ""))
		if k != unknownTool && k != talkTool && (k == shellTool || k == codeTool || k == sqlTool || !slices.ContainsFunc(words[:i], func(w string) bool { return !here.has(w) })) {
			return k
		}
	}
	if len(words) > 1 {
		switch last := words[len(words)-1]; last {
		case "bash", "shell", "terminal", "powershell", "pwsh", "sql", "python":
			return kindNamed(last)
		}
	}
	return unknownTool
}

// clientSpaces are what clients write before the names of their own tools; any other word there is a server's name.
const clientSpaces = wordSet("functions multitooluse collaboration multiagentv1 defaultapi clock")

// ofClient says whether a tool is its client's own, by its name.
func ofClient(tool string) bool {
	server := serverName(tool)
	return server == "" || !strings.HasPrefix(tool, "mcp__") && clientSpaces.has(plainName(server))
}

func kindNamed(name string) kind {
	for _, t := range tools {
		if t.names.has(name) {
			return t.kind
		}
	}
	return unknownTool
}

// here are words that a tool's name may begin with without saying that it works on anything but this machine.
const here = wordSet("filesystem files file fs local developer desktop commander mcp server functions default core builtin tools text editor system workspace project ide claude codex gemini cursor opencode")

// toolName is a tool's own name, without its server's: mcp__server__tool, server__tool, server.tool.
func toolName(name string) string {
	if i := strings.LastIndex(name, "__"); i > 0 && i+2 < len(name) {
		name = name[i+2:]
	}
	if i := strings.LastIndexAny(name, "./:"); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	return strings.TrimLeft(name, "_")
}

// serverName is what stands before a tool's own name, in lower case.
func serverName(name string) string {
	own := toolName(name)
	return strings.ToLower(strings.TrimPrefix(strings.TrimSuffix(name, own), "mcp__"))
}

// nameWords are the words of a name, in lower case: delete_file, deleteFile, Delete-File.
func nameWords(name string) []string {
	var out []string
	start := 0
	cut := func(end int) {
		if end > start {
			out = append(out, strings.ToLower(name[start:end]))
		}
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c < 0x80:
			cut(i)
			start = i + 1
		case i > start && c >= 'A' && c <= 'Z' && (name[i-1] >= 'a' && name[i-1] <= 'z' || i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z' && name[i-1] >= 'A' && name[i-1] <= 'Z'):
			cut(i)
			start = i
		}
	}
	cut(len(name))
	return out
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
	pathFields = []string{"path", "filepath", "file", "filename", "absolutepath", "targetfile", "notebookpath", "uri", "relativepath", "relativeworkspacepath", "paths", "files", "filepaths", "directory", "targetdirectory",
		"dirpath", "directorypath", "dir", "folder", "folderpath", "target", "include"}
	commandFields = []string{"command", "cmd", "script", "commandline", "bash", "shell", "input", "code"}
	queryFields   = []string{"sql", "query", "statement", "text", "sqlquery", "querystring", "statements", "queries"}
	codeFields    = []string{"code", "script", "source", "input", "function", "expression", "cellsource", "command"}
)

func place(call Call, f fields, evidence Evidence) shell.Place {
	at := shell.Place{Cwd: call.Cwd, Root: call.Root, Home: call.Home, Guard: call.Guard, Evidence: evidence}
	if t, ok := evidence.(*traced); ok {
		at.Evidence, at.Watcher = t.Evidence, t
	}
	if at.Root == "" {
		at.Root = call.Cwd
	}
	where := []string{"cwd", "workdir", "workingdirectory", "currentdir"}
	if k := kindOf(call.Tool); k == shellTool || k == windowsTool || k == argvTool {
		where = append(where, "dir", "directory", "dirpath")
	}
	if dir := f.one(where...); dir != "" {
		switch {
		case strings.HasPrefix(dir, "/"):
			at.Cwd = path.Clean(dir)
		case at.Cwd != "":
			at.Cwd = path.Join(at.Cwd, dir)
		}
	}
	return at
}

func opaque(id string, why human.Code) []human.Effect {
	return []human.Effect{{Verb: human.UnknownEffect, Resource: human.Say(why).Text, Thing: why, Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: id}}
}

// effects lowers a call.
func effects(call Call, evidence Evidence) []human.Effect {
	if len(call.Args) > MaxArgs {
		return opaque("tool.too_large", "thing_args_long")
	}
	if nested(call.Args) > maxNested {
		return opaque("tool.too_deep", "thing_args_deep")
	}
	if len(call.Tool) > maxName {
		return opaque("tool.long_name", "thing_long_name")
	}
	f, ok := parseFields(call.Args)
	if !ok {
		return opaque("tool.unreadable", "thing_no_object")
	}
	out := toolEffects(call, f, evidence)
	for _, values := range f {
		if len(values) > 1 {
			out = append(out, unnamed(human.ObfuscatedEffect, human.HighRisk, human.MachineBlast, "tool.twice", "thing_twice"))
			break
		}
	}
	named := append(f.all(pathFields...), append(f.all(fromFields...), f.all(toFields...)...)...)
	out = append(out, lookalikes(f.all(commandFields...), named)...)
	return append(out, annotated(call, out)...)
}

// lookalikes are the effects of texts that are not what they seem, of commands and of names of files.
func lookalikes(commands, named []string) []human.Effect {
	var out []human.Effect
	if slices.ContainsFunc(commands, disguised) || slices.ContainsFunc(named, disguised) {
		out = append(out, unnamed(human.ObfuscatedEffect, human.HighRisk, human.MachineBlast, "text.disguised", "thing_disguised"))
	}
	odd := func(s string) bool { return strings.ContainsAny(s, oddSpaces) }
	first := slices.IndexFunc(commands, func(s string) bool { return s != "" })
	if first >= 0 && odd(commands[first]) || slices.ContainsFunc(named, odd) {
		out = append(out, unnamed(human.ObfuscatedEffect, human.MediumRisk, human.MachineBlast, "text.lookalike", "thing_lookalike"))
	}
	return out
}

// Spaces that look like the plain one and are another character.
const oddSpaces = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f"

// annotated is what the server's own hints add. They only tighten: a tool that calls itself read-only is believed by no one.
// Where it is known what a tool does, that counts, and no hint of its server.
func annotated(call Call, found []human.Effect) []human.Effect {
	a := call.Annotations
	known := kindOf(call.Tool) != unknownTool
	looks := !slices.ContainsFunc(found, func(e human.Effect) bool { return e.Risk != human.NoRisk })
	var out []human.Effect
	if a.Destructive != nil && *a.Destructive && (a.ReadOnly == nil || !*a.ReadOnly) {
		switch {
		case !known:
			out = append(out, effect(human.UnknownEffect, human.HighRisk, human.SharedBlast, "mcp.destructive", call.Tool))
		case looks:
			out = append(out, effect(human.UnknownEffect, human.MediumRisk, human.MachineBlast, "mcp.destructive", call.Tool))
		}
	}
	if a.ReadOnly != nil && !*a.ReadOnly && looks {
		out = append(out, effect(human.UnknownEffect, human.LowRisk, human.ProjectBlast, "mcp.changes", call.Tool))
	}
	if a.OpenWorld != nil && *a.OpenWorld && !known {
		out = append(out, effect(human.NetworkRead, human.LowRisk, human.SharedBlast, "mcp.open_world", call.Tool))
	}
	return out
}

func toolEffects(call Call, f fields, evidence Evidence) []human.Effect {
	at := place(call, f, evidence)
	if own(call.Tool, at) {
		return ownEffects(call, f, at)
	}
	if argv, ok := programCall(call.Tool, f); ok {
		return argv.effects(at)
	}
	if acts, ok := pageActions[pageAction(call.Tool)]; ok {
		return acts(call, f, at)
	}
	switch k := kindOf(call.Tool); k {
	case shellTool:
		out := commandEffects(call, f, at)
		if p, ok := serverProgram(call.Tool, f); ok {
			out = append(out, p.effects(at)...)
		}
		return out
	case windowsTool:
		var out []human.Effect
		for _, c := range f.all(commandFields...) {
			out = append(out, shell.Windows(c, at)...)
		}
		if len(out) == 0 {
			return opaque("tool.no_command", "thing_no_command")
		}
		return out
	case readTool, listTool, writeTool, editTool, deleteTool, moveTool, patchTool:
		if !elsewhere(call.Tool) {
			return fileEffects(k, call, f, at)
		}
	case fetchTool:
		return append(requestEffects("GET", f, at), besides(f, at)...)
	case httpTool:
		method := f.one("method", "verb", "httpmethod")
		if n := plainName(toolName(call.Tool)); method == "" {
			for _, m := range []string{"post", "put", "patch", "delete"} {
				if strings.HasSuffix(n, m) {
					method = m
				}
			}
		}
		if !f.has("url", "uri", "href", "endpoint", "urls") {
			return opaque("http.no_address", "thing_http_no_address")
		}
		return requestEffects(method, f, at)
	case sqlTool:
		return append(queryEffects(call.Tool, f.all(queryFields...)), filesIn(f.all(queryFields...), at)...)
	case codeTool:
		return codeEffects(call.Tool, f, at)
	case talkTool:
		return append(commandsHeld(call, f, at), effect(human.FilesystemRead, human.NoRisk, human.FileBlast, "tool.talks", call.Tool))
	case typeTool:
		return typed(f, at)
	case stopTool:
		return append(commandsHeld(call, f, at), unnamed(human.ProcessSignal, human.LowRisk, human.FileBlast, "tool.stops", "thing_started"))
	case memoryTool:
		return append(commandsHeld(call, f, at), unnamed(human.FilesystemWrite, human.LowRisk, human.MachineBlast, "tool.remembers", "thing_remembers"))
	case laterTool:
		return append(held(call, f, nil, at), effect(human.PersistenceEffect, human.MediumRisk, human.MachineBlast, "tool.later", call.Tool))
	case batchTool:
		return batchEffects(call, f, evidence)
	case screenTool:
		return screenEffects(f, at)
	case installTool:
		return installs(call.Tool, f, at)
	}
	return unknownEffects(call, f, at)
}

// ownEffects are those of a tool of Deskbell's own: it reads the files whose paths are attached, or given to a procedure.
func ownEffects(call Call, f fields, at shell.Place) []human.Effect {
	out := []human.Effect{effect(human.FilesystemRead, human.NoRisk, human.FileBlast, "tool.own", call.Tool)}
	paths := f.all("attachments")
	if strings.Contains(call.Tool, ownProcedure) {
		for _, values := range f {
			for _, v := range values {
				if p, is := v.(string); is && (filepath.IsAbs(p) || strings.HasPrefix(p, "~/")) {
					paths = append(paths, p)
				}
			}
		}
	}
	for _, v := range f["attachments"] {
		list, _ := v.([]any)
		for _, x := range list {
			file, _ := x.(map[string]any)
			for k, path := range file {
				if p, is := path.(string); is && plainName(k) == "path" {
					paths = append(paths, p)
				}
			}
		}
	}
	slices.Sort(paths)
	for i, p := range paths {
		if i == maxBatch {
			return append(out, opaque("tool.too_many", "thing_paths")...)
		}
		out = append(out, shell.Reading(p, at)...)
	}
	return out
}

// ownTools are those of Deskbell's own MCP server, beside its procedures. A request to the operator is not to be asked about first.
const ownTools = wordSet("human permission confirm_plan")

// ownProcedure begins the names of the tools that operators taught.
const ownProcedure = "procedure_"

// own says whether a tool is of Deskbell's own MCP server: of one that the client's settings start it for. What a server calls
// itself says nothing.
func own(tool string, at shell.Place) bool {
	world := shell.WorldOf(at.Evidence)
	if world == nil {
		return false
	}
	names := string(ownTools)
	if i := strings.Index(tool, ownProcedure); i >= 0 {
		names += " " + tool[i:]
	}
	for name := range strings.FieldsSeq(names) {
		server, is := strings.CutSuffix(strings.TrimPrefix(tool, "mcp__"), name)
		if server = strings.TrimRight(server, "_./:-"); is && server != "" && len(server)+len(name) < len(tool) {
			return world.OurServer(server)
		}
	}
	return false
}

// fileEffects are those of a tool for files.
func fileEffects(k kind, call Call, f fields, at shell.Place) []human.Effect {
	paths := f.all(pathFields...)
	each := func(one func(string) []human.Effect) []human.Effect {
		var out []human.Effect
		for i, p := range paths {
			if i == 100 {
				return append(out, opaque("tool.too_many", "thing_paths")...)
			}
			out = append(out, one(strings.TrimPrefix(p, "file://"))...)
		}
		if len(out) == 0 {
			return opaque("tool.no_path", "thing_no_file")
		}
		return out
	}
	read := func(p string) []human.Effect { return shell.Reading(p, at) }
	name := plainName(call.Tool)
	switch k {
	case writeTool, editTool:
		if readsOnly(f) {
			return each(read)
		}
		// A script that is written is judged when it is run; what runs by itself, by its place.
		if k == writeTool && f.has("content", "contents", "text", "filetext", "data") && !strings.Contains(name, "append") && !f.yes("append") && f.one("mode") != "append" {
			empty := f.one("content", "contents", "text", "filetext", "data") == ""
			return each(func(p string) []human.Effect { return shell.Replacing(p, empty, at) })
		}
		return each(func(p string) []human.Effect { return shell.Writing(p, at) })
	case deleteTool:
		recursive := f.yes("recursive", "force") || strings.Contains(name, "dir") || strings.Contains(name, "folder")
		return each(func(p string) []human.Effect { return deleting(p, recursive, at) })
	case moveTool:
		from, to := f.all(fromFields...), f.all(toFields...)
		if len(from) == 0 || len(to) == 0 {
			return opaque("tool.no_path", "thing_no_file")
		}
		program := "mv"
		if copies(call.Tool) {
			program = "cp"
		}
		return shell.LowerArgs(append(append([]string{program, "--"}, from...), to[len(to)-1]), at)
	case patchTool:
		return patchEffects(f, at, paths)
	}
	if k == listTool && len(paths) == 0 {
		paths = []string{"."}
	}
	return append(each(read), besides(f, at)...)
}

// besides are the effects of a command that a tool is given which by its name only looks.
func besides(f fields, at shell.Place) []human.Effect {
	var out []human.Effect
	for _, text := range f.all("command", "cmd", "commandline", "exec", "execute", "shell", "bash", "script") {
		if strings.TrimSpace(text) != "" {
			out = append(out, shell.Lower(text, at)...)
		}
	}
	return out
}

// filesIn are the files that queries read as tables.
func filesIn(texts []string, at shell.Place) []human.Effect {
	var out []human.Effect
	for _, text := range texts {
		for _, p := range sql.Files(text) {
			out = append(out, shell.Reading(p, at)...)
		}
	}
	return out
}

// deleting are the effects of a tool that deletes what is at a path. Its name does not say whether it deletes folders, so
// for a hard limit it does.
func deleting(p string, recursive bool, at shell.Place) []human.Effect {
	if all := shell.Deleting(p, true, at); recursive || slices.ContainsFunc(all, func(e human.Effect) bool { return e.HardLimit }) {
		return all
	}
	return shell.Deleting(p, false, at)
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
						return opaque("tool.unreadable", "thing_no_texts")
					}
					args = append(args, s)
				}
				out = append(out, shell.LowerArgs(args, at)...)
			default:
				return opaque("tool.unreadable", "thing_no_text")
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
		for _, key := range slices.Sorted(maps.Keys(vars)) {
			if s, ok := vars[key].(string); ok {
				out = append(out, shell.LowerArgs([]string{"env", key + "=" + s, "true"}, at)...)
			}
		}
	}
	if len(out) == 0 {
		return opaque("tool.no_command", "thing_no_command")
	}
	return out
}

// patchEffects are those of a patch. Every line that some tool might take for the name of a file is taken for one, wherever
// it stands, and so is all that Edits makes of the patch: what is shown as a file too many harms less than one too few.
func patchEffects(f fields, at shell.Place, paths []string) []human.Effect {
	p := &patchFiles{at: at, told: map[string]bool{}}
	list := strings.Split(strings.Join(f.all(patchFields...), "\n"), "\n")
	for i, line := range list {
		if len(p.out) > 300 {
			return append(p.out, opaque("tool.too_many", "thing_files")...)
		}
		p.line(strings.TrimSuffix(line, "\r"), list[i+1:])
	}
	for _, path := range paths {
		p.writes(path)
	}
	for _, text := range f.all(patchFields...) {
		for _, e := range patched(text, "") {
			if e.Delete {
				p.deletes(e.Path)
				continue
			}
			p.writes(e.Path)
			if e.MoveTo != "" {
				p.writes(e.MoveTo)
			}
		}
	}
	if mostSevere(p.out) == 0 {
		p.out = append(p.out, opaque("tool.no_path", "thing_patch_none")...)
	}
	return append(p.out, lookalikes(nil, p.named)...)
}

// A patchFiles collects the effects of a patch, each of a file once.
type patchFiles struct {
	at    shell.Place
	out   []human.Effect
	named []string
	told  map[string]bool
}

func (p *patchFiles) once(what, path string, effects func(string) []human.Effect) {
	switch {
	case path == "/dev/null" || p.told[what+path]:
	case path == "":
		p.out = append(append(p.out, opaque("tool.no_path", "thing_patch_some")...), effects(path)...)
	default:
		p.out, p.named = append(p.out, effects(path)...), append(p.named, path)
	}
	p.told[what+path] = true
}

func (p *patchFiles) writes(path string) { p.once("w", path, p.writing) }

func (p *patchFiles) deletes(path string) { p.once("d", path, p.deleting) }

func (p *patchFiles) writing(path string) []human.Effect { return shell.Writing(path, p.at) }

func (p *patchFiles) deleting(path string) []human.Effect { return deleting(path, false, p.at) }

// unified is for the names of a unified diff: Git and patch -p1 take the first folder of one away, whatever it is called.
func unified(effects func(string) []human.Effect) func(string) []human.Effect {
	return func(path string) []human.Effect {
		found := effects(path)
		if _, rest, _ := strings.Cut(path, "/"); rest != "" {
			if shorter := effects(rest); mostSevere(shorter) > mostSevere(found) {
				found = append(found, shorter...)
			}
		}
		return found
	}
}

// line looks for names of files in a line, which others follow.
func (p *patchFiles) line(line string, rest []string) {
	if own := strings.TrimSpace(line); strings.HasPrefix(own, "*** ") {
		for _, head := range []string{"*** Update File:", "*** Add File:", "*** Move to:"} {
			if path, ok := strings.CutPrefix(own, head); ok {
				p.writes(strings.TrimSpace(path))
			}
		}
		if path, ok := strings.CutPrefix(own, "*** Delete File:"); ok {
			p.deletes(strings.TrimSpace(path))
		}
		return
	}
	if path, ok := strings.CutPrefix(line, "--- "); ok && len(rest) > 0 && strings.HasPrefix(rest[0], "+++ ") {
		if side(rest[0][4:]) == "/dev/null" {
			p.once("d", side(path), unified(p.deleting))
		} else {
			p.once("w", side(path), unified(p.writing))
		}
	}
	if path, ok := strings.CutPrefix(line, "+++ "); ok {
		p.once("w", side(path), unified(p.writing))
	}
	if names, ok := strings.CutPrefix(line, "diff --git "); ok { // it may be all that names a file: of a change of its mode, or of an empty one
		if a, b := sides(names); deleted(rest) {
			p.deletes(a)
		} else {
			p.writes(b)
		}
	}
	for _, head := range []string{"rename from ", "rename to ", "copy to "} {
		if path, ok := strings.CutPrefix(line, head); ok {
			p.writes(unquoted(path))
		}
	}
	if strings.HasPrefix(line, "new file mode 120000") || strings.HasPrefix(line, "new mode 120000") {
		p.once("l", line, func(string) []human.Effect {
			return []human.Effect{unnamed(human.FilesystemWrite, human.MediumRisk, human.MachineBlast, "patch.link", "thing_link")}
		})
	}
	if path, ok := strings.CutPrefix(line, "copy from "); ok {
		p.once("r", unquoted(path), func(path string) []human.Effect { return shell.Reading(path, p.at) })
	}
}

// mostSevere is the level of the most severe of some effects.
func mostSevere(effects []human.Effect) int {
	level := 0
	for _, e := range effects {
		level = max(level, e.Risk.Level())
	}
	return level
}

// deleted says whether what follows Git's head of a file says that the file goes.
func deleted(list []string) bool {
	for _, line := range list {
		switch {
		case strings.HasPrefix(line, "deleted file mode"):
			return true
		case strings.HasPrefix(line, "old mode"), strings.HasPrefix(line, "new mode"), strings.HasPrefix(line, "similarity "), strings.HasPrefix(line, "index "):
			continue
		}
		return false
	}
	return false
}

// requestEffects are those of a request over HTTP, the same as curl's.
func requestEffects(method string, f fields, at shell.Place) []human.Effect {
	method = strings.ToUpper(method)
	body := f.has("body", "data", "json", "payload", "form", "formdata")
	targets := f.all("url", "uri", "href", "endpoint", "urls")
	if m := overridden(f, targets); m != "" && (method == "" || method == "GET" || method == "POST" || method == "HEAD") {
		method = m
	}
	if len(targets) == 0 { // a search
		return []human.Effect{effect(human.NetworkRead, human.NoRisk, human.MachineBlast, "http.searches", f.one("query", "prompt", "q", "searchterm"))}
	}
	var out []human.Effect
	for i, target := range targets {
		if i == 50 {
			return append(out, opaque("tool.too_many", "thing_addresses")...)
		}
		out = append(out, request(method, target, body, at)...)
	}
	return out
}

// overridden is the method that a request names besides its own, for servers that heed it: in a header, or a field.
func overridden(f fields, targets []string) string {
	for _, n := range []string{"headers", "header", "httpheaders", "requestheaders"} {
		for _, v := range f[n] {
			raw, err := json.Marshal(v)
			if err != nil {
				continue
			}
			words := nameWords(string(raw))
			for i, w := range words {
				if w == "override" && i > 0 && words[i-1] == "method" || w == "method" && i > 1 && words[i-1] == "http" && words[i-2] == "x" {
					for _, m := range words[i+1:] {
						if m != "override" {
							return strings.ToUpper(m)
						}
					}
				}
			}
		}
	}
	for _, target := range targets {
		if u, err := url.Parse(strings.TrimSpace(target)); err == nil {
			if m := u.Query().Get("_method"); m != "" {
				return strings.ToUpper(m)
			}
		}
	}
	return ""
}

func request(method, target string, body bool, at shell.Place) []human.Effect {
	u, err := url.Parse(strings.TrimSpace(target))
	if err != nil {
		return append(opaque("http.unreadable", "thing_http_unreadable"), shell.Request(method, target, at)...)
	}
	asked := method
	if asked == "" && body {
		asked = "POST"
	}
	if own := shell.Request(cmp.Or(asked, "GET"), strings.TrimSpace(target), at); own != nil {
		return own
	}
	host := strings.ToLower(u.Hostname())
	e := effect(human.NetworkRead, human.NoRisk, human.MachineBlast, "http.reads", target)
	switch scheme := strings.ToLower(u.Scheme); {
	case scheme == "file":
		return shell.Reading(u.Path, at)
	case scheme == "javascript" || scheme == "data" && strings.Contains(strings.ToLower(target), "script"):
		return append(shell.Code("javascript", target, at), unnamed(human.LangExec, human.MediumRisk, human.SharedBlast, "page.runs_code", "thing_page_user"))
	case scheme == "chrome" || scheme == "about" && u.Opaque != "blank" || scheme == "edge" || scheme == "view-source":
		e = effect(human.UnknownEffect, human.MediumRisk, human.MachineBlast, "http.browser_page", target)
	case method == "DELETE" || method == "PURGE":
		e = effect(human.NetworkWrite, human.HighRisk, human.SharedBlast, "http.deletes", method+" "+target)
	case method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE" || method == "" && !body:
		// The clouds' own addresses for a machine's credentials.
		if host == "169.254.169.254" || host == "metadata.google.internal" || host == "fd00:ec2::254" || host == "169.254.170.2" || host == "100.100.100.200" {
			e = effect(human.CredentialAccess, human.HighRisk, human.SharedBlast, "http.metadata", target)
		}
	default:
		if method == "" {
			method = "POST"
		}
		e = effect(human.NetworkWrite, human.MediumRisk, human.SharedBlast, "http.sends", method+" "+target)
	}
	e.Target = host
	return []human.Effect{e}
}

// queryEffects are those of statements that a database is given.
func queryEffects(tool string, texts []string) []human.Effect {
	var out []human.Effect
	dialect := sql.DialectOf(tool)
	for _, text := range texts {
		for _, s := range sql.Read(text, dialect) {
			if len(out) == 200 {
				return append(out, opaque("sql.too_many", "thing_statements")...)
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
			e := effect(human.DatabaseEffect, risk, human.SharedBlast, id, s.Text)
			if s.Kind != sql.Unknown {
				e.Certainty = human.Certain
			}
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return opaque("sql.empty", "thing_no_query")
	}
	return out
}

// codeEffects are those of code in a language that the call names, or its tool's name does.
func codeEffects(tool string, f fields, at shell.Place) []human.Effect {
	language := "python"
	if n := plainName(tool); strings.Contains(n, "javascript") || strings.Contains(n, "node") || strings.Contains(n, "js") {
		language = "javascript"
	}
	if l := f.one("language", "lang", "kernel"); l != "" {
		language = strings.ToLower(l)
	}
	switch language {
	case "js", "typescript", "ts", "nodejs", "node", "deno", "bun":
		language = "javascript"
	case "py", "python3", "ipython":
		language = "python"
	}
	var out []human.Effect
	for _, c := range f.all(codeFields...) {
		switch language {
		case "bash", "sh", "shell", "zsh":
			out = append(out, shell.Lower(c, at)...)
		case "powershell", "pwsh", "cmd", "batch":
			out = append(out, shell.Windows(c, at)...)
		case "sql":
			out = append(out, queryEffects(tool, []string{c})...)
		default:
			out = append(out, shell.Code(language, c, at)...)
		}
	}
	if len(out) == 0 {
		return opaque("tool.no_code", "thing_no_code")
	}
	return out
}

// typed are the effects of what is typed into a program that runs: a shell, for all that is known.
func typed(f fields, at shell.Place) []human.Effect {
	var out []human.Effect
	for _, text := range f.all("chars", "input", "text", "keys", "data", "command") {
		if plain := strings.TrimFunc(text, func(r rune) bool { return r < 0x20 || r == 0x7f || r == ' ' }); plain == "" {
			risk := human.LowRisk
			if text == "" { // only looks whether there is more
				risk = human.NoRisk
			}
			out = append(out, unnamed(human.ProcessSignal, risk, human.FileBlast, "tool.types_nothing", "thing_started"))
			continue
		}
		out = append(out, shell.Lower(strings.TrimRight(text, "\x00\x03\x04"), at)...)
		e := effect(human.LangExec, human.MediumRisk, human.MachineBlast, "tool.types", text)
		e.Certainty = human.Possible
		out = append(out, e)
	}
	if len(out) == 0 {
		return []human.Effect{unnamed(human.ProcessSignal, human.NoRisk, human.FileBlast, "tool.types_nothing", "thing_started")}
	}
	return out
}

// maxBatch is how many calls one call may hold.
const maxBatch = 50

// batchEffects are those of the calls that a call holds.
func batchEffects(call Call, f fields, evidence Evidence) []human.Effect {
	var held []any
	for _, n := range []string{"toolcalls", "calls", "tools", "tooluses", "invocations", "batch", "requests"} {
		for _, v := range f[n] {
			if list, ok := v.([]any); ok {
				held = append(held, list...)
			}
		}
	}
	if len(held) == 0 {
		one := map[string]any{}
		for k, v := range f {
			one[k] = v[len(v)-1]
			if len(v) > 1 {
				return opaque("tool.unreadable", "thing_two_ways")
			}
		}
		held = []any{one}
	}
	if len(held) > maxBatch {
		return opaque("tool.too_many", "thing_calls")
	}
	var out []human.Effect
	for _, v := range held {
		m, ok := v.(map[string]any)
		if !ok {
			return opaque("tool.unreadable", "thing_no_call")
		}
		g := fields{}
		for k, v := range m {
			g[plainName(k)] = append(g[plainName(k)], v)
		}
		inner := Call{Tool: g.one("tool", "toolname", "recipientname", "name"), Cwd: call.Cwd, Root: call.Root, Home: call.Home, Guard: call.Guard}
		if server := g.one("server", "servername", "provider"); server != "" {
			inner.Tool = "mcp__" + server + "__" + inner.Tool
		}
		for _, n := range []string{"parameters", "args", "arguments", "input", "toolinput", "params"} {
			for _, v := range g[n] {
				if text, ok := v.(string); ok {
					inner.Args = json.RawMessage(text)
				} else if raw, err := json.Marshal(v); err == nil {
					inner.Args = raw
				}
			}
		}
		if inner.Tool == "" || kindOf(inner.Tool) == batchTool {
			return opaque("tool.unreadable", "thing_no_tool")
		}
		out = append(out, effects(inner, evidence)...)
	}
	return out
}
