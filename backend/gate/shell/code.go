package shell

import (
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/inline"
	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/gate/shell/recipes"
	"deskbell/backend/human"
)

var shells = lazy.Set("sh bash zsh dash ksh ash fish rbash mksh yash csh tcsh pwsh-sh")

func isShell(language string) bool { return language == "" || shells()[language] }

// What code may name without doing anything but compute and print.
var (
	pureModules = lazy.Set("json sys re math string itertools functools collections datetime time random statistics textwrap pprint ast base64 hashlib hmac struct " +
		"decimal fractions operator enum typing dataclasses copy heapq bisect uuid unicodedata calendar locale platform inspect keyword " +
		"html urllib.parse csv io binascii zlib secrets numbers cmath difflib string inspect types contextlib abc sysconfig site util path querystring url assert buffer os.path set pp bigdecimal digest POSIX " +
		"List::Util Data::Dumper strict warnings utf8 tomllib configparser importlib.metadata __future__ colorsys graphlib zoneinfo")
	runsCommands = lazy.Pattern(`\b(os\.(system|popen|exec\w*|spawn\w*|posix_spawn\w*|startfile)|subprocess|commands\.getoutput|getstatusoutput|pty\.spawn|child_process|execSync|execFileSync|execFile|spawnSync|spawn|Deno\.(run|Command)|Bun\.spawn\w*|Bun\.\$|system|popen\w*|shell_exec|passthru|proc_open|pcntl_exec|exec|qx|IO\.popen|Open3|Kernel\.(system|exec|spawn)|Process\.spawn|os\.execute|io\.popen|syscall|fork|forkpty|run_command|ProcessBuilder|Runtime\.getRuntime|getRuntime|Command::new|StartProcess|execv\w*|execl\w*|posix_spawn\w*|NSTask|asyncio\.create_subprocess_\w+|create_subprocess_\w+|win32api|ShellExecute\w*|expect_exec|sh\.\w+|pexpect|fabric|invoke\.run|vim\.fn\.system)\b`)
	deletesFiles = lazy.Pattern(`\b(shutil\.rmtree|rmtree|os\.(remove|unlink|rmdir|removedirs|truncate)|fs\.\w*[tT]runcate\w*|File\.truncate|ftruncate|\w*\.?unlink(Sync)?|rm(Sync|dir|dirSync)?|FileUtils\.(rm\w*|remove\w*)|(File|Dir|Pathname)\.(delete|unlink|rmdir|rmtree)|rimraf|del_tree|remove_tree|removeSync|emptyDir\w*|rm_rf|rm_r|rm_f|remove_entry\w*|fs\.rm\w*|unlink|rmdir|Deno\.remove\w*|Remove-Item|os\.remove|file\.remove|os\.RemoveAll|os\.Remove|os\.Truncate|remove_dir\w*|remove_file|remove_all|DeleteFile\w*|deleteIfExists|deleteRecursively|Files\.delete|send2trash)\b`)
	deletesHome  = lazy.Pattern(`\b(rmtree|remove_tree|rm_rf|rm_r|rmSync|rmdirSync|removeSync|rimraf|removeItem\w*|remove_entry\w*|RemoveAll|rm|rmdir|delete\w*|remove)\s*\(?\s*(os\.path\.expanduser\(\s*["']~["']\s*\)|(\w+\.)?Path\.home\(\)|(\w+|require\(["'](node:)?os["']\))\.homedir\(\)|process\.env\.HOME|process\.env\[["']HOME["']\]|os\.environ\[["']HOME["']\]|os\.(getenv|environ\.get)\(["']HOME["']\)|Dir\.home|ENV\[["']HOME["']\]|\$ENV\{["']?HOME["']?\}|getenv\(["']HOME["']\)|\$_SERVER\[["']HOME["']\])\s*([,);]|$)`)
	writesBare   = lazy.Pattern(`\b(File\.(write|rename|symlink|chmod|link)|IO\.write|FileUtils\.\w+|rename|chmod|chown|symlink|link|utime)\s+[\w"'$(:]`)
	writesFiles  = lazy.Pattern(`\b(write_text|write_bytes|writeFile(Sync)?|appendFile(Sync)?|createWriteStream|file_put_contents|fwrite|File\.(write|open|new|rename|symlink|chmod)|IO\.write|shutil\.(move|copy\w*|chown)|os\.(rename|replace|chmod|chown|link|symlink|makedirs|mkdir|putenv|setuid)|copyfile|renameSync|copyFileSync|mkdirSync|chmodSync|Deno\.write\w*|FileUtils\.\w+|\.touch|\.rename|\.mkdir|\.chmod|symlinkSync|truncate(Sync)?|io\.open|dump|to_csv|savez?|to_json|writelines|write)\s*\(`)
	opensToWrite = lazy.Pattern(`\bopen\s*\(\s*[^)]*?,\s*(mode\s*=\s*)?["'][rbt]*[wax+][rbt+]*["']|open\s*\(?[^;]*["']\s*>{1,2}|Path\([^)]*\)\.open\(\s*["'][wax]`)
	readsFiles   = lazy.Pattern(`\b(open|read_text|read_bytes|readFile(Sync)?|createReadStream|file_get_contents|File\.(read|readlines|foreach|open)|IO\.read\w*|readlines|os\.(listdir|walk|scandir|stat|getenv|environ|getcwd|path)|glob|Path|Dir|readdir(Sync)?|process\.(env|cwd|argv|version\w*|platform|exit|stdout|stdin)|require|existsSync|statSync|slurp|load|read_csv|File)\b`)
	talksNet     = lazy.Pattern(`\b(requests|urllib\d?(\.request)?|httpx|aiohttp|http\.client|httplib|socket|ftplib|smtplib|paramiko|telnetlib|XMLHttpRequest|fetch|axios|got|net\.(connect|createConnection|Socket)|https?\.(get|request)|Net::HTTP|open-uri|URI\.open|LWP|IO::Socket|TCPSocket|curl_\w+|fsockopen|WebSocket|dgram|boto3|websockets)\b`)
	sendsNet     = lazy.Pattern(`\b(requests|httpx|axios|session|client|s)\.(post|put|patch|delete|request)\b|\burlopen\s*\([^)]*data\s*=|method\s*:\s*["'](POST|PUT|PATCH|DELETE)|\b(sendall|sendto|sendmail)\b|Net::HTTP\.post|http\.client|\bsocket\b|IO::Socket|TCPSocket|fsockopen`)
	losesNet     = lazy.Pattern(`(?i)\.(delete|destroy|drop|remove|purge|truncate|cancel|deregister|revoke)\w*\s*\(|method\s*:\s*["']DELETE`)
	signals      = lazy.Pattern(`\bos\.kill(pg)?\b|\bprocess\.kill\b|\bProcess\.kill\b|\bkill\s+(9|['"]?(KILL|TERM))`)
	exfil        = lazy.Pattern(`\b(os\.environ|process\.env|ENV)\b`)
	importsAny   = lazy.Pattern(`(?m)\b(?:import|from|require|use)\b[ (]*["']?([A-Za-z_][\w.:/]*)((?:\s*,\s*[A-Za-z_][\w.]*)*)`)
	emptiesFile  = lazy.Pattern(`\bopen\s*\([^)]*["']w[bt]?["'][^)]*\)\s*\.\s*(close|truncate)`)
	decodesText  = lazy.Pattern(`\b(b64decode|b32decode|decode_base64|Base64\.\w*decode\w*|base64_decode|atob|unhexlify|fromhex|codecs\.decode|decodebytes|gzinflate|uudecode|unpack)\b|["'](base64|hex|rot13)["']|pack\s*\(?\s*["']H`)
	queries      = lazy.Pattern(`(?i)\b(execute\w*|query\w*|exec|cursor|raw|sql|prepare|run|do)\s*\(`)
	opensURL     = lazy.Pattern(`\b(file_get_contents|fopen|copy|readfile|open|get|getstore|simplexml_load_file)\b`)
	socketsOf    = lazy.Pattern(`(?i)\b(socket|fsockopen|TCPSocket|TCPServer|net\.(connect|createConnection|Socket|Dial)|IO::Socket|pfsockopen|stream_socket_client)\b`)
	shellNames   = lazy.Pattern(`\b((ba|z|da|k|c)?sh|cmd(\.exe)?|powershell)\b`)
	importsCode  = lazy.Pattern("\\b(import|from)\\s*\\(?\\s*[\"'`](data|https?|blob):") // code in an address
	fetchesCode  = lazy.Pattern(`(?s)\b(exec|eval|compile|instance_eval|Function)\s*\(?.{0,200}(urlopen|requests\.get|httpx\.get|URI\.open|Net::HTTP|fetch\s*\(|urllib)|(urlopen|requests\.get|fetch|https?\.get|URI\.open)\b.{0,400}\b(exec|eval|instance_eval|Function)\s*[()]`)
)

var netModules = lazy.Set("http https http2 net tls dgram dns axios node-fetch got undici ws request")

// What runs text as code, or reaches what is not named, in each language.
var evaluates = map[string]lazy.Regexp{
	"python":     lazy.Pattern(`\b(eval|exec|compile|execfile|runpy|importlib|import_module|getattr|attrgetter|methodcaller|ctypes|cffi|marshal|pickle|cPickle|dill|shelve|globals|vars|locals|setattr|dlopen|builtins|load_module|SourceFileLoader|codeop|InteractiveInterpreter)\b|__\w+__`),
	"javascript": lazy.Pattern(`\b(eval|Function|vm\.\w+|runInThisContext|runInNewContext|process\.binding|process\.dlopen|dlopen|constructor|mainModule|_load|Reflect\.\w+|WebAssembly|FFI|createRequire)\b|\bimport\s*\(\s*[^")'\x60\s]|\brequire\s*\(\s*[^")'\x60\s]|\]\s*\(|\bglobalThis\s*\[|\bprocess\s*\[|\bglobal\s*\[`),
	"ruby":       lazy.Pattern(`\b(eval|instance_eval|class_eval|module_eval|instance_exec|send|__send__|public_send|method|const_get|define_method|load|Fiddle|DL|Marshal|binding|YAML\.(unsafe_)?load)\b`),
	"perl":       lazy.Pattern(`\beval\b|\bdo\s+["'$]|\brequire\s+\$|&\{|&\$|->\$|\bDynaLoader\b|\bsyscall\b|\bs/[^/]*/[^/]*/\w*e`),
	"php":        lazy.Pattern(`\b(eval|assert|create_function|require_once|require|include|include_once|base64_decode|str_rot13|gzinflate|call_user_func\w*|array_map|preg_replace_callback|unserialize|dl|FFI|ReflectionFunction|usort|register_shutdown_function|mb_ereg_replace)\b|\$\w+\s*\(|\}\s*\(|\]\s*\(|""\s*\)\s*\(`),
	"lua":        lazy.Pattern(`\b(load|loadstring|dofile|loadfile|require|package\.loadlib|debug\.\w+|ffi|_G|_ENV)\b`),
	"go":         lazy.Pattern(`\b(plugin|syscall|unsafe|cgo)\b|//go:linkname`),
	"rust":       lazy.Pattern(`\b(unsafe|libloading|asm!|include!)`),
	"compiled":   lazy.Pattern(`\b(dlopen|mprotect|asm|__asm__|ScriptEngine\w*|defineClass|forName|unsafe|DllImport|Assembly\.Load)\b`),
}

// What names that look like those of the machinery may be used for without running anything.
var plainNames = lazy.Set("__name__ __main__ __version__ __file__ __doc__ __init__ __str__ __repr__ __enter__ __exit__ __len__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __iter__ __next__ __all__ __future__ __call__ " +
	"__getitem__ __setitem__ __delitem__ __contains__ __post_init__ __annotations__ __slots__ __add__ __sub__ __mul__ __truediv__ __bool__ __int__ __float__ __index__ __aenter__ __aexit__ __new__ __author__ __email__ __license__ __copyright__ __date__ __debug__ __path__ __package__ __title__ __summary__ __url__ __setup__")

// evaluatesIn is what code names that evaluates code; empty where it names nothing of the kind.
func evaluatesIn(language, bare string) string {
	p, ok := evaluates[language]
	if !ok {
		for _, name := range []string{"python", "javascript", "php"} {
			if m := evaluates[name].FindString(bare); m != "" && !plainNames()[m] {
				return m
			}
		}
		return ""
	}
	if language == "python" {
		bare = strings.ReplaceAll(bare, "re.compile", "re.pattern")
		bare = strings.ReplaceAll(bare, "importlib.metadata", "metadata")
	}
	for _, m := range p.FindAllStringSubmatch(bare, 200) {
		if !plainNames()[m[0]] {
			return m[0]
		}
	}
	return ""
}

// The languages of which enough is known to say that code only computes.
var (
	wellKnown = lazy.Set("python javascript ruby perl php awk")
	compiled  = lazy.Set("go rust compiled")
)

// code judges code in a programming language. It is no parser of those languages: it looks for what does something, takes
// every text in the code for what that is done to, and calls the code harmless only when all that it names is.
func (w *walker) code(language string, v arg.Word) { w.judge(language, v, true) }

// source judges code that becomes part of a project, and runs with the rest of it. What it loads from there cannot be proved,
// so that it is only looked through for what does something.
func (w *walker) source(language string, v arg.Word) { w.judge(language, v, false) }

// judge judges code; doubted says whether what cannot be proved is asked about.
func (w *walker) judge(language string, v arg.Word, doubted bool) {
	if w.depth >= maxDepth || len(v.Text) > MaxScript || !w.step(len(v.Text)/4+4) {
		w.opaque("shell.too_deep", "thing_code_deep")
		return
	}
	if isShell(language) {
		w.script(v.Text, language, nil, stream{})
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	defer w.deeper(language, v.Text)()
	if v.Taint&arg.FromNetwork != 0 {
		w.emit(unnamed("thing_downloaded", human.Effect{Verb: human.LangExec, Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "floor.download_run"}))
	}
	if w.proved(language, v, doubted) {
		return
	}
	text, secrets := v.Text, w.secrets
	bare, literals := strip(text, language)
	if language == "python" {
		bare = strings.ReplaceAll(bare, "platform.system", "platform.name")
	}
	emit := func(verb human.EffectVerb, risk human.Risk, rule, what string) {
		e := commands.Defaults[verb]
		e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = verb, risk, "code."+rule, clip(what), human.Likely
		w.emit(e)
	}
	harmless := language != "python" || !w.magics(text)
	if !v.Known() {
		emit(human.LangExec, human.HighRisk, "built", v.Shown())
		harmless = false
	}
	ran := runsCommands.FindString(bare)
	if ran == "" && (language == "ruby" || language == "perl" || language == "php") && strings.Contains(bare, "`") {
		ran = "`"
	}
	if ran == "" && strings.Contains(bare, "Bun.$") {
		ran = "Bun.$"
	}
	if ran == "exec" && language == "python" {
		ran = ""
	}
	if ran == "exec" && language == "javascript" && !strings.Contains(bare, "child_process") && !strings.Contains(text, "child_process") {
		ran = "" // a regular expression's
	}
	if ran == "" && strings.Contains(text, "child_process") || strings.Contains(text, "subprocess") && ran == "" {
		ran = "child_process"
	}
	if ran != "" {
		harmless = false
		emit(human.LangExec, human.MediumRisk, "runs_commands", ran)
		if m := decodesText.FindString(text); m != "" {
			emit(human.ObfuscatedEffect, human.HighRisk, "runs_decoded", m)
		}
		w.commandsIn(bare, text, literals)
	}
	if deletesHome.MatchString(text) {
		w.deleting(arg.Known("~"), true, "code.deletes")
	}
	gone := deletesFiles.FindString(bare)
	if gone == "" && language == "perl" && strings.Contains(bare, "truncate") {
		gone = "truncate"
	}
	if m := gone; m != "" && (m != "rm" || ran == "") {
		harmless = false
		named := false
		for _, l := range literals {
			if l != "" && len(l) < 300 && !strings.ContainsAny(l, "\n(){}") && l != "fs" && l != "fs/promises" && l != "fileutils" && l != "path" && l != "shutil" && l != "os" {
				w.deleting(arg.Known(l), true, "code.deletes")
				named = true
			}
		}
		if !named {
			emit(human.FilesystemDelete, human.HighRisk, "deletes", m)
		} else {
			emit(human.FilesystemDelete, human.HighRisk, "deletes", text)
		}
	}
	calls := writesFiles.FindString(bare)
	if calls == "" && (language == "ruby" || language == "perl") {
		calls = writesBare.FindString(bare) // which need no brackets
	}
	if m := calls; m != "" && !strings.HasPrefix(m, "write") || opensToWrite.MatchString(text) || strings.HasPrefix(m, "writ") && (strings.Contains(bare, "open") || m != "write(" || strings.Contains(bare, "fs.")) {
		harmless = false
		emit(human.FilesystemWrite, human.LowRisk, "writes", m)
		for _, l := range literals {
			if len(l) > 1 && couldBePath(l) && (strings.HasPrefix(l, "/") || strings.HasPrefix(l, "~") || strings.HasPrefix(l, ".")) {
				w.writing(arg.Known(l), "code.writes")
			} else if couldBePath(l) {
				if p, _ := w.placeOf(arg.Known(l), w.dir); p == paths.Gate || p == paths.Hook {
					w.writing(arg.Known(l), "code.writes")
				}
			}
		}
	}
	if strings.Contains(bare, "symlink") || strings.Contains(bare, "link(") || strings.Contains(bare, "linkSync") {
		for i := 1; i < len(literals); i++ {
			w.link(arg.Known(literals[i]), arg.Known(literals[i-1]), true)
		}
	}
	if path := strings.Join(literals, "/"); w.guarded(path) && !slices.ContainsFunc(literals, w.guarded) && (readsFiles.MatchString(bare) || calls != "" || gone != "") {
		w.tampers(clip(text)) // put together from parts
	}
	for _, l := range literals {
		first, _, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch {
		case sqlVerbs()[strings.ToUpper(first)] && strings.ContainsRune(l, ' ') && queries.MatchString(bare):
			harmless = false
			w.query(&cmd{name: "sql"}, arg.Known(l), false)
		case language == "perl" && (strings.HasPrefix(l, "|") || strings.HasSuffix(l, "|")) && strings.Contains(bare, "open"):
			harmless = false
			w.script(strings.Trim(l, "| "), "sh", nil, stream{})
			emit(human.LangExec, human.MediumRisk, "runs_commands", l)
		}
	}
	secret := w.secrets > secrets
	if exfil.MatchString(bare) || strings.Contains(bare, "getenv") {
		for _, l := range literals {
			w.ownToken(l)
		}
	}
	for _, l := range literals {
		if couldBePath(l) || paths.SecretNames()[l] {
			secret = w.reading(arg.Known(l), "code.reads")&arg.FromSecret != 0 || secret
		}
	}
	secret = w.joinedSecret(text, literals) || secret
	m := talksNet.FindString(bare)
	for _, l := range literals {
		if m == "" && (netModules()[strings.TrimPrefix(l, "node:")] && strings.Contains(bare, "require") || (strings.HasPrefix(l, "http://") || strings.HasPrefix(l, "https://") || strings.HasPrefix(l, "ftp://")) && opensURL.MatchString(bare)) {
			m = l
		}
	}
	if m != "" {
		harmless = false
		if sendsNet.MatchString(text) {
			emit(human.NetworkWrite, human.MediumRisk, "sends", m)
		} else {
			emit(human.NetworkRead, human.LowRisk, "fetches", m)
		}
		if secret {
			w.leak(clip(text))
		} else if exfil.MatchString(bare) && sendsNet.MatchString(text) {
			emit(human.NetworkWrite, human.HighRisk, "sends_environment", m)
		}
		if fetchesCode.MatchString(text) {
			w.emit(unnamed("thing_downloaded", human.Effect{Verb: human.LangExec, Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "floor.download_run"}))
		}
	}
	if ran != "" && socketsOf.MatchString(bare) && shellNames.MatchString(text) {
		w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: clip(text), Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.PublicBlast, Rule: "code.gives_shell"})
	}
	if losesNet.MatchString(bare) && !strings.Contains(bare, "list.remove") {
		harmless = false
		emit(human.ServiceEffect, human.HighRisk, "destroys", losesNet.FindString(bare))
	}
	evaluated := evaluatesIn(language, bare)
	if evaluated == "" && language == "javascript" {
		evaluated = importsCode.FindString(text)
	}
	if evaluated != "" {
		harmless = false
		emit(human.ObfuscatedEffect, human.HighRisk, "evaluates", evaluated)
		for _, l := range literals {
			if strings.ContainsAny(l, "(`") && len(l) < 4000 {
				w.code(language, arg.Known(l))
			}
		}
	}
	if m := signals.FindString(bare); m != "" {
		harmless = false
		emit(human.ProcessSignal, human.MediumRisk, "signals", m)
	}
	if language == "python" && emptiesFile.MatchString(text) {
		harmless = false
		for _, l := range literals {
			if couldBePath(l) {
				w.emptying(arg.Known(l), "code.empties")
			}
		}
	}
	pure := harmless
	if m := readsFiles.FindString(bare); harmless && m != "" && m != "require" {
		emit(human.FilesystemRead, human.NoRisk, "reads", m)
	}
	unknownModule := ""
	if harmless {
		for _, m := range importsAny.FindAllStringSubmatch(text, -1) {
			for _, mod := range append([]string{m[1]}, strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' })...) {
				mod = strings.TrimPrefix(mod, "node:")
				if !pureModules()[mod] && !pureModules()[strings.Split(mod, ".")[0]] && mod != "os" && mod != "pathlib" && mod != "glob" && mod != "fs" && mod != "sqlite3" {
					unknownModule = mod
				}
			}
		}
	}
	if !pure || unknownModule != "" || strings.Contains(text, "/inet/") {
		w.reachesInCode(text)
	}
	switch {
	case unknownModule != "":
		emit(human.LangExec, human.LowRisk, "imports", unknownModule)
	case pure && compiled()[language]:
		emit(human.LangExec, human.LowRisk, "computes", text)
	case pure && !wellKnown()[language]:
		// Of these languages too little is known to call code harmless.
		if _, rest, ok := strings.Cut(text, "do shell script"); ok {
			w.commandsIn(rest, text, literals)
		}
		emit(human.LangExec, human.MediumRisk, "little_known", text)
	case pure:
		emit(human.LangExec, human.NoRisk, "computes", text)
	}
}

// proved says whether code was shown to only compute, read and print, and tells what it reads. Where it was not and this is to
// be asked about, it tells which part could not be shown; doubted says that.
func (w *walker) proved(language string, v arg.Word, doubted bool) bool {
	unproven := func(risk human.Risk, rule, what string) {
		e := commands.Defaults[human.LangExec]
		e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = human.LangExec, risk, "code."+rule, clip(what), human.Possible
		w.emit(e)
	}
	if !inline.Known(language) {
		if doubted {
			unproven(human.MediumRisk, "little_known", v.Shown())
		}
		return false
	}
	if !doubted || !v.Known() || language == "python" && magicLine.MatchString(v.Text) {
		return false // a part of a program proves nothing, and what is not known is asked about in any case
	}
	p := inline.Prove(language, v.Text, w.ownModule)
	if p.Unproven != "" {
		unproven(human.MediumRisk, "unproven", p.Unproven)
		return false
	}
	unproven(human.NoRisk, "computes", v.Text)
	for _, m := range p.Imports {
		unproven(human.LowRisk, "imports", m)
	}
	for _, r := range p.Reads {
		if strings.Contains(r, "://") {
			p.Fetches = append(p.Fetches, r)
			continue
		}
		w.reading(arg.Known(r), "code.reads")
	}
	if p.Computed || strings.Contains(v.Text, "DESKBELL") {
		unproven(human.NoRisk, "reads", v.Text)
		_, literals := strip(v.Text, language)
		w.joinedSecret(v.Text, literals)
		for _, l := range literals {
			w.ownToken(l)
		}
		if w.guarded(strings.Join(literals, "/")) {
			w.tampers(clip(v.Text))
		}
	}
	for _, f := range p.Writes {
		w.writing(arg.Known(f), "code.writes")
	}
	for _, f := range p.Replaces {
		if emptiesFile.MatchString(v.Text) {
			w.emptying(arg.Known(f), "code.empties")
		} else {
			w.replacing(arg.Known(f), "code.writes")
		}
	}
	for _, m := range p.Loads {
		w.scriptFile(arg.Known(w.moduleFile(m)), language, &cmd{name: language})
	}
	for _, q := range p.Queries {
		w.query(&cmd{name: "sql"}, arg.Known(q), false)
	}
	for _, a := range p.Fetches {
		e := commands.Defaults[human.NetworkRead]
		e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = human.NetworkRead, human.LowRisk, "code.fetches", clip(a), human.Likely
		w.emit(e)
		w.tellsKeys(a)
	}
	if len(p.Fetches) > 0 {
		w.reachesInCode(v.Text)
	}
	return true
}

// ownModule says whether a module of Python is a file of the project.
func (w *walker) ownModule(m string) bool { return w.moduleFile(m) != "" }

// moduleFile is the file of a module of the project; empty where there is none.
func (w *walker) moduleFile(m string) string {
	if strings.HasPrefix(m, ".") { // of Node
		if path.Ext(m) == "" {
			m += ".js"
		}
		return m
	}
	base := strings.ReplaceAll(m, ".", "/")
	for _, file := range []string{base + ".py", base + "/__init__.py", "src/" + base + ".py", "src/" + base + "/__init__.py"} {
		v := arg.Known(file)
		if _, ok := w.file(v); ok {
			return file
		}
		p, target := w.placeOf(v, w.dir)
		if w.evidence != nil && p == paths.InProject {
			if _, ok := w.evidence.Text(target); ok {
				return file
			}
		}
	}
	return ""
}

var namesHome = lazy.Pattern(`(?i)\b(home|homedir|expanduser|getenv|environ|ENV)\b`)

// joinedSecret says whether code that names the home puts the place of a secret together from its texts.
func (w *walker) joinedSecret(text string, literals []string) bool {
	if !namesHome.MatchString(text) || len(literals) > 100 {
		return false
	}
	for i, l := range literals {
		for _, tail := range []string{"", "/" + strings.Join(literals[i+1:min(i+2, len(literals))], ""), "/" + strings.Join(literals[i+1:min(i+3, len(literals))], "/")} {
			one := strings.Trim(l, "/") + tail
			if p, _ := w.placeOf(arg.Known("~/"+one), w.dir); p == paths.Secret && len(one) < 200 && one != "" {
				w.reading(arg.Known("~/"+one), "code.reads")
				return true
			}
		}
	}
	return false
}

var magicLine = lazy.Pattern(`(?m)^[ \t]*(?:[\w, ]+=[ \t]*)?(!{1,2}|%{1,2}[a-z_]+)(.*)$`)

// magics are the lines of a notebook that are no Python: commands of a shell, and those of IPython. It says whether any does
// more than show.
func (w *walker) magics(text string) bool {
	if !strings.ContainsAny(text, "!%") {
		return false
	}
	c, acts := &cmd{name: "notebook", args: []arg.Word{arg.Known(clip(text))}}, false
	for _, m := range magicLine.FindAllStringSubmatch(text, 100) {
		rest := strings.TrimSpace(m[2])
		words := strings.Fields(rest)
		last := ""
		if len(words) > 0 {
			last = words[len(words)-1]
		}
		did := true
		switch name := strings.TrimLeft(m[1], "%"); {
		case m[1][0] == '!', name == "sx", name == "system", name == "sc":
			w.script(rest, "sh", nil, stream{})
		case name == "bash", name == "sh", name == "script", name == "cmd":
			_, cell, _ := strings.Cut(text, m[1])
			_, cell, _ = strings.Cut(cell, "\n")
			w.script(cell, "sh", nil, stream{})
		case name == "writefile", name == "file", name == "save":
			w.replacing(arg.Known(last), "notebook.writes")
		case name == "run", name == "load":
			if len(words) > 0 {
				w.scriptFile(arg.Known(words[0]), "python", c)
			}
		case name == "load_ext", name == "reload_ext", name == "cython", name == "javascript", name == "js", name == "ruby", name == "perl", name == "sql":
			w.simple(c, human.LangExec, human.MediumRisk, "magic")
		case name == "pip", name == "conda", name == "mamba", name == "uv", name == "rm", name == "mv", name == "cp", name == "rmdir", name == "mkdir", name == "rehashx", name == "env", name == "set_env":
			w.script(name+" "+rest, "sh", nil, stream{})
		default:
			did = false
		}
		acts = acts || did
	}
	return acts
}

// commandsIn gives the shell every text in code that runs commands: alone, and those of a list as one command.
func (w *walker) commandsIn(bare, text string, literals []string) {
	found := false
	for _, l := range literals {
		trimmed := strings.TrimSpace(l)
		if trimmed == "" || trimmed == "child_process" || trimmed == "node:child_process" || len(trimmed) > 8000 {
			continue
		}
		if strings.ContainsAny(trimmed, " \t\n;|&`$(") || len(literals) == 1 {
			w.script(trimmed, "sh", nil, stream{})
			found = true
		}
	}
	// subprocess.run(["rm", "-rf", x])
	for i := range literals {
		base := literals[i]
		if j := strings.LastIndexByte(base, '/'); j >= 0 {
			base = base[j+1:]
		}
		if handlers()[base] == nil && commands.Of(base) == nil {
			continue
		}
		var args []arg.Word
		for _, l := range literals[i:min(len(literals), i+24)] {
			args = append(args, arg.Known(l))
		}
		if base != "test" && base != "utf8" {
			w.run(args, stream{})
			found = true
		}
		break
	}
	if !found {
		w.emit(human.Effect{Verb: human.LangExec, Resource: clip(text), Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "code.runs_unknown"})
	}
	if loc := runsCommands.FindString(text); loc != "" {
		w.rest(text, loc)
	}
}

// rest takes all that follows a call for a command: where quotes within quotes do not pair, its text shows only part of it.
func (w *walker) rest(text, call string) {
	_, rest, _ := strings.Cut(text, call)
	if strings.Count(rest, `"`) <= 2 && strings.Count(rest, `'`) <= 2 && !strings.Contains(rest, `\`) || len(rest) > 8000 {
		return
	}
	rest = strings.Trim(rest, " \t\n()[];{}")
	for _, one := range []string{strings.Trim(rest, "'\"`"), strings.NewReplacer(`\`, "", `"`, " ", `'`, " ", ",", " ").Replace(rest)} {
		// What does not read as a command is only the rest of the code.
		before := w.unsure
		w.unsure = true
		w.script(strings.Trim(one, " ()[]"), "sh", nil, stream{})
		w.unsure = before
	}
}

// strip returns code without its texts and comments, and the texts.
func strip(s, language string) (string, []string) { return stripTo(s, language, 3) }

// stripTo is strip, with code within texts within code as deep as told.
func stripTo(s, language string, deep int) (string, []string) {
	var bare strings.Builder
	var literals []string
	inner := func(code string) {
		if deep > 0 {
			b, l := stripTo(code, language, deep-1)
			code = b
			literals = append(literals, l...)
		}
		bare.WriteString(" " + code + " ")
	}
	slash := language == "javascript" || compiled()[language] || language == "php"
	hash := language != "javascript" && !compiled()[language]
	odd := language == "ruby" || language == "perl" || language == "php"
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case hash && c == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\n' || s[i-1] == ';') && !strings.HasPrefix(s[i:], "#{") && (!odd || plainLine(s, i)):
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case slash && strings.HasPrefix(s[i:], "//") && plainLine(s, i):
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case strings.HasPrefix(s[i:], `"""`) || strings.HasPrefix(s[i:], `'''`):
			q := s[i : i+3]
			end := strings.Index(s[i+3:], q)
			if end < 0 {
				end = len(s) - i - 3
			}
			literals = append(literals, s[i+3:i+3+end])
			bare.WriteString(" \"\" ")
			if in := within(s[i+3:i+3+end], language, c, i > 0 && strings.IndexByte("fFtT", s[i-1]) >= 0 || i > 1 && strings.IndexByte("fFtT", s[i-2]) >= 0); in != "" {
				inner(in)
			}
			i = min(len(s), i+6+end)
		case c == '"' || (c == '\'' || c == '`') && language != "awk":
			j := i + 1
			var lit strings.Builder
			for j < len(s) && s[j] != c {
				if s[j] == '\\' && j+1 < len(s) {
					j++
					switch s[j] {
					case 'n':
						lit.WriteByte('\n')
					case 'x':
						if j+2 < len(s) {
							lit.WriteByte(hexByte(s[j+1 : j+3]))
							j += 2
						}
					default:
						lit.WriteByte(s[j])
					}
					j++
					continue
				}
				lit.WriteByte(s[j])
				j++
			}
			literals = append(literals, strings.ReplaceAll(lit.String(), arg.Unknown, ""))
			if c == '`' && language != "javascript" && language != "go" {
				bare.WriteString(" ` ")
			} else {
				bare.WriteString(`""`)
			}
			// What is put into a text is code: f"{...}", `${...}`, "#{...}", "@{[...]}".
			if in := within(lit.String(), language, c, i > 0 && strings.IndexByte("fFtT", s[i-1]) >= 0 || i > 1 && strings.IndexByte("fFtT", s[i-2]) >= 0); in != "" {
				inner(in)
			}
			i = j + 1
			if len(literals) > 300 {
				literals = literals[:300]
			}
		case strings.HasPrefix(s[i:], "qx") && i+2 < len(s) && strings.IndexByte("{(/[|!", s[i+2]) >= 0 && language == "perl" || strings.HasPrefix(s[i:], "%x") && i+2 < len(s) && strings.IndexByte("{(/[|!", s[i+2]) >= 0 && language == "ruby":
			closing := s[i+2]
			if k := strings.IndexByte("{([", closing); k >= 0 {
				closing = "})]"[k]
			}
			end := strings.IndexByte(s[i+3:], closing)
			if end < 0 {
				end = len(s) - i - 3
			}
			literals = append(literals, s[i+3:i+3+end])
			bare.WriteString(" system ")
			i = min(len(s), i+4+end)
		default:
			bare.WriteByte(c)
			i++
		}
	}
	return bare.String(), literals
}

// within is the code that a text holds, where the language puts values into texts.
func within(s, language string, quote byte, f bool) string {
	var marks []string
	switch {
	case language == "python" && f:
		marks = []string{"{"}
	case language == "javascript" && quote == '`':
		marks = []string{"${"}
	case language == "ruby" && quote != '\'':
		marks = []string{"#{"}
	case language == "perl" && quote != '\'':
		marks = []string{"@{", "${"}
	case language == "php" && quote == '"':
		marks = []string{"${", "{$"}
	default:
		return ""
	}
	var b strings.Builder
	for _, m := range marks {
		for rest, n := s, 0; n < 50; n++ {
			_, after, ok := strings.Cut(rest, m)
			if !ok {
				break
			}
			end := recipes.Closing(after)
			b.WriteString(after[:end] + " ; ")
			rest = after[end:]
		}
	}
	return b.String()
}

// plainLine says whether what stands before i in its line cannot be a pattern or a text of another form, in which what
// looks like a comment is none.
func plainLine(s string, i int) bool {
	line := s[max(0, i-2000):i]
	k := strings.LastIndexByte(line, '\n')
	if k < 0 && i > 2000 {
		return false
	}
	line = line[k+1:]
	return !strings.ContainsAny(line, "/%~\\") && !strings.Contains(line, "q") || strings.TrimSpace(line) == ""
}

func hexByte(s string) byte {
	n := 0
	for i := range len(s) {
		c := s[i] | 0x20
		switch {
		case c >= '0' && c <= '9':
			n = n*16 + int(c-'0')
		case c >= 'a' && c <= 'f':
			n = n*16 + int(c-'a') + 10
		}
	}
	return byte(n)
}
