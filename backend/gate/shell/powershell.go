package shell

import (
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// Windows returns the effects of a PowerShell or cmd command. It is no parser of either: it takes text apart at what
// separates commands in both, looks into brackets, and judges each command by its name and its arguments.
func Windows(text string, at Place) []human.Effect {
	w := newWalker(at)
	w.windows(text)
	return w.done()
}

// winShell is cmd, with /c and a command.
func winShell(w *walker, c *cmd) (stream, bool) {
	for i, a := range c.args {
		switch strings.ToLower(a.Text) {
		case "/c", "/k", "/r", "//c":
			w.windows(arg.Joined(c.args[i+1:]).Text)
			return handled(stream{taint: arg.MadeHere})
		}
	}
	w.simple(c, human.LangExec, human.MediumRisk, "interactive")
	return handled(stream{taint: arg.MadeHere})
}

// What cmdlets and commands of cmd do, in lower case. A name in none of these is looked for among the programs.
var (
	winLooks = lazy.Set("get-childitem gci dir ls get-content gc type cat get-location pwd gl get-item gi get-itemproperty get-process gps ps tasklist get-service gsv " +
		"select-object select where-object where ? foreach-object % sort-object sort group-object measure-object measure format-table ft format-list fl format-wide out-string out-host out-null " +
		"write-host write-output echo write-verbose test-path resolve-path split-path join-path get-command gcm get-help help get-member gm get-date get-host get-history get-variable get-alias " +
		"compare-object diff convertto-json convertfrom-json convertto-csv import-csv convertfrom-csv select-string sls findstr find more ver vol hostname whoami systeminfo ipconfig ping " +
		"tracert nslookup netstat arp where.exe tree fc comp set-location sl cd chdir push-location pop-location pushd popd cls clear-host get-filehash get-acl test-connection test-netconnection " +
		"get-eventlog get-winevent get-ciminstance get-wmiobject get-module get-psdrive get-random start-sleep rem title color path date time if for exit return param function else foreach while try catch " +
		"get-netipaddress get-nettcpconnection get-disk get-volume get-partition get-computerinfo get-culture get-uiculture get-executionpolicy get-timezone chcp prompt measure-command read-host new-object write-error write-warning")
	winReads   = lazy.Set("get-content gc type cat more select-string sls findstr import-csv get-filehash copy-item cpi cp copy")
	winWrites  = lazy.Set("set-content sc add-content ac out-file new-item ni md mkdir copy-item cpi cp copy xcopy robocopy move-item mi mv move rename-item rni ren rename export-csv export-clixml tee-object tee expand-archive compress-archive clear-content clc set-item si")
	winDeletes = lazy.Set("remove-item ri rm rmdir rd del erase remove-itemproperty rp")
	winFetches = lazy.Set("invoke-webrequest iwr curl wget invoke-restmethod irm start-bitstransfer bitsadmin certutil")
	winRuns    = lazy.Set("invoke-expression iex")
	winHigh    = map[string]human.EffectVerb{
		"stop-computer": human.ServiceEffect, "restart-computer": human.ServiceEffect, "shutdown": human.ServiceEffect, "stop-service": human.ServiceEffect, "spsv": human.ServiceEffect, "set-service": human.ServiceEffect, "remove-service": human.ServiceEffect,
		"set-executionpolicy": human.SecurityWeakening, "set-mppreference": human.SecurityWeakening, "add-mppreference": human.SecurityWeakening, "disable-windowsoptionalfeature": human.SecurityWeakening, "netsh": human.SecurityWeakening, "set-netfirewallprofile": human.SecurityWeakening, "new-netfirewallrule": human.SecurityWeakening, "auditpol": human.SecurityWeakening, "wevtutil": human.SecurityWeakening, "clear-eventlog": human.SecurityWeakening, "icacls": human.SecurityWeakening, "takeown": human.SecurityWeakening, "set-acl": human.SecurityWeakening,
		"schtasks": human.PersistenceEffect, "register-scheduledtask": human.PersistenceEffect, "new-service": human.PersistenceEffect, "sc.exe": human.PersistenceEffect, "reg": human.PersistenceEffect, "set-itemproperty": human.PersistenceEffect, "new-itemproperty": human.PersistenceEffect, "setx": human.PersistenceEffect,
		"runas": human.PrivilegeEscalation, "new-localuser": human.PrivilegeEscalation, "add-localgroupmember": human.PrivilegeEscalation, "net": human.PrivilegeEscalation, "remove-localuser": human.PrivilegeEscalation,
		"get-credential": human.CredentialAccess, "get-secret": human.CredentialAccess, "convertfrom-securestring": human.CredentialAccess, "cmdkey": human.CredentialAccess, "mimikatz": human.CredentialAccess,
		"wmic": human.ServiceEffect, "invoke-wmimethod": human.LangExec, "invoke-command": human.LangExec, "icm": human.LangExec, "enter-pssession": human.LangExec, "rundll32": human.LangExec, "regsvr32": human.LangExec, "mshta": human.LangExec, "cscript": human.LangExec, "wscript": human.LangExec, "add-type": human.LangExec,
	}
	winServices  = lazy.Set("delete stop create config failure pause sdset start")
	winHardLimit = lazy.Set("format format-volume clear-disk initialize-disk remove-partition diskpart bcdedit vssadmin wbadmin cipher format.com")
)

func (w *walker) windows(text string) {
	if len(text) > MaxScript || w.depth >= maxDepth || marks(text) > maxMarks || !w.step(len(text)/16+1) {
		w.opaque("shell.too_deep", "thing_commands_deep")
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	whole := strings.ToLower(text)
	downloads, runs := strings.Contains(whole, "downloadstring") || strings.Contains(whole, "downloadfile"), false
	if m := winMethods.FindString(text); m != "" {
		w.simple(&cmd{name: "windows", args: []arg.Word{arg.Known(clip(text))}}, human.LangExec, human.HighRisk, "method")
	} else if winCallsUnknown(text) {
		w.simple(&cmd{name: "windows", args: []arg.Word{arg.Known(clip(text))}}, human.LangExec, human.MediumRisk, "method")
	}
	runsOwn := false
	for _, command := range winSplit(text) {
		if !w.step(4) {
			return
		}
		words := winWords(command)
		if len(words) > 0 && (words[0] == "&" || words[0] == ".") && (len(words) == 1 || strings.HasPrefix(words[1], "$")) {
			w.unseen(arg.Word{Text: command, Quoted: true}, "windows.runs_unknown")
		}
		for len(words) > 0 && (words[0] == "&" || words[0] == "." || strings.HasSuffix(words[0], "=") || words[0] == "=" || strings.HasPrefix(words[0], "$") && len(words) > 1 && (words[1] == "=" || words[1] == "+=")) {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		name := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(words[0], ".exe"), ".EXE"))
		if i := strings.LastIndexAny(name, `\/`); i >= 0 && strings.Contains(name, "system32") {
			name = name[i+1:]
		}
		lower := strings.ToLower(command)
		downloads = downloads || winFetches()[name]
		from, asked := len(w.effects), len(w.called)
		w.winCommand(name, words, command, lower)
		w.reaches(winArgs(name, words[1:]), from, asked)
		if i := slices.IndexFunc(words, func(word string) bool { return winOwn(word) != "" }); i >= 0 && !winLooks()[name] {
			c := winArgs("", words[i+1:])
			runsOwn = true
			w.run(append([]arg.Word{arg.Known(winOwn(words[i]))}, c.args...), stream{})
		}
		runs = runs || winRuns()[name] || strings.Contains(lower, "scriptblock]::create")
		if downloads && runs {
			w.emit(human.Effect{Verb: human.LangExec, Resource: clip(text), Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "floor.download_run"})
		}
	}
	w.ownInWindows(text, runsOwn)
	if strings.Contains(whole, "net.") || strings.Contains(whole, "webclient") {
		w.reachesInCode(text)
	}
}

// winArgs is a command with its words as arguments; PowerShell puts commas between those of a list.
func winArgs(name string, words []string) *cmd {
	c := &cmd{name: name}
	for _, word := range words {
		for one := range strings.SplitSeq(word, ",") {
			if one = strings.Trim(one, "\"'()@"); one != "" && !strings.EqualFold(one, "-argumentlist") {
				c.args = append(c.args, arg.Known(one))
			}
		}
	}
	return c
}

// winOwn is which of Deskbell's programs a word of a command names.
func winOwn(word string) string {
	word = strings.Trim(word, "\"'")
	return ownProgram(word[strings.LastIndexAny(word, `/\`)+1:])
}

// A call of a method, of an object or, after its type, of a class.
var winCall = lazy.Pattern(`(?i)(?:\[([\w.]+)\]\s*::|[)\]}"'\x60]\.|\$[\w:]+(?:\.\w+|\[[^\]]*\])*\.)\s*(\w+)\s*\(`)

// Methods that look or reckon whatever they are of, and classes that have no others.
var (
	winLookMethods = lazy.Set("tostring split trim trimstart trimend replace substring startswith endswith contains indexof lastindexof toupper tolower toupperinvariant tolowerinvariant padleft padright " +
		"gettype gethashcode equals compareto match matches ismatch join concat isnullorempty isnullorwhitespace adddays addhours addminutes addseconds addmonths addyears subtract tolocaltime touniversaltime " +
		"containskey containsvalue getenumerator toarray count where foreach insert remove add length tostringarray parse tryparse parseexact compare ceiling exists getvalue getnames getfiles getdirectories " +
		"enumeratefiles getfilename getfilenamewithoutextension getdirectoryname getextension getfullpath combine getrelativepath ispathrooted gettemppath getenvironmentvariable getenvironmentvariables getfolderpath " +
		"tochararray tobase64string getbytes getstring tocharstring sort reverse first last sum max min")
	winLookTypes = lazy.Set("math system.math string system.string int long double decimal char bool datetime system.datetime datetimeoffset timespan system.timespan guid system.guid version system.version regex " +
		"system.text.regularexpressions.regex io.path system.io.path text.encoding system.text.encoding convert system.convert stringcomparison array linq.enumerable system.linq.enumerable bitconverter system.bitconverter uri system.uri")
)

// winCallsUnknown says whether text calls a method of which nothing is known.
func winCallsUnknown(text string) bool {
	for _, m := range winCall.FindAllStringSubmatch(text, -1) {
		if !winLookMethods()[strings.ToLower(m[2])] && !winLookTypes()[strings.ToLower(m[1])] {
			return true
		}
	}
	return false
}

// Drives of PowerShell on which a change lasts, or is one of what later commands do.
var winLasting = lazy.Pattern(`(?i)^["']?(?:microsoft\.powershell\.core\\)?(?:hklm|hkcu|hkcr|hku|hkcc|registry|function|alias|wsman|cert):|^["']?env:(?:path|psmodulepath)\b`)

// What methods of objects do that is more than to look, whatever object they are of.
var winMethods = lazy.Pattern(`(?i)\.(delete|moveto|copyto|kill|invoke\w*|writeall\w*|terminate|deletesubkey\w*|deletevalue|setaccesscontrol|truncate|shutdown|reboot|format|change|stopservice|remove\w*all)\s*\(|::\s*(delete|move|copy|writeall\w*|kill|start|create|load\w*)\s*\(`)

// Those of them that ForEach-Object calls by their name.
var winMembers = lazy.Set("delete moveto kill terminate stop invoke truncate shutdown deletevalue")

// Words of cmd and PowerShell that another command follows.
var winLeads = lazy.Set("if for do else then foreach foreach-object % call return try catch finally while measure-command start-job sajb & ?")

// winActs says whether a name is that of a command that does something grave.
func winActs(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	return winDeletes()[name] || winHardLimit()[name] || winRuns()[name] || winHigh[name] != "" || winFetches()[name] || winWrites()[name]
}

func (w *walker) winCommand(name string, words []string, command, lower string) {
	c := &cmd{name: "windows", args: []arg.Word{arg.Known(command)}}
	var files []arg.Word
	recursive := false
	for i, a := range words[1:] {
		l := strings.ToLower(a)
		switch {
		case strings.HasPrefix(l, "-rec") || l == "/s" || l == "-r" || l == "/q/s" || l == "/s/q" || strings.HasPrefix(a, "-") && strings.Contains(l, "rf"):
			recursive = true
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "/") && len(a) <= 3 && len(a) > 1 || a == "|" || strings.HasPrefix(a, "{"):
		case i > 0 && (strings.EqualFold(words[i], "-value") || strings.EqualFold(words[i], "-itemtype") || strings.EqualFold(words[i], "-type") || strings.EqualFold(words[i], "-encoding") || strings.EqualFold(words[i], "-erroraction")):
		default:
			files = append(files, winPath(a))
		}
	}
	if (name == "%" || name == "foreach-object") && len(words) > 1 && winMembers()[strings.ToLower(words[len(words)-1])] {
		w.simple(c, human.LangExec, human.HighRisk, "method")
	}
	if winLeads()[name] {
		for i, a := range words[1:] {
			if winActs(a) {
				rest := words[i+1:]
				w.winCommand(strings.TrimSuffix(strings.ToLower(a), ".exe"), rest, strings.Join(rest, " "), strings.ToLower(strings.Join(rest, " ")))
				break
			}
		}
	}
	if (winWrites()[name] || winDeletes()[name]) && slices.ContainsFunc(words[1:], winLasting.MatchString) {
		w.simple(c, human.PersistenceEffect, human.HighRisk, "changes")
		return
	}
	if winReads()[name] {
		for _, p := range files {
			if q, _ := w.placeOf(p, w.dir); q == paths.Gate {
				w.reading(p, "windows.reads")
			}
		}
	}
	switch {
	case name == "sc" && len(words) > 1 && winServices()[strings.ToLower(words[1])]:
		w.simple(c, human.ServiceEffect, human.HighRisk, "changes")
	case name == "wsl":
		rest := words[1:]
		for len(rest) > 0 && (rest[0] == "-e" || rest[0] == "--exec" || rest[0] == "--" || rest[0] == "--shell-type" || rest[0] == "~") {
			rest = rest[1:]
		}
		switch {
		case len(rest) == 0 || rest[0] == "-l" || rest[0] == "--list" || rest[0] == "--status" || rest[0] == "--version":
			w.simple(c, human.LangExec, human.LowRisk, "shell")
		case strings.HasPrefix(rest[0], "--un") || strings.HasPrefix(rest[0], "--shut") || strings.HasPrefix(rest[0], "--ter"):
			w.simple(c, human.ServiceEffect, human.HighRisk, "changes")
		case strings.HasPrefix(rest[0], "-"):
			w.simple(c, human.UnknownEffect, human.MediumRisk, "unknown")
		default:
			w.script(strings.Join(rest, " "), "bash", nil, stream{})
		}
	case name == "forfiles":
		for i, a := range words {
			if strings.EqualFold(a, "/c") && i+1 < len(words) {
				w.windows(words[i+1])
			}
		}
		w.simple(c, human.LangExec, human.MediumRisk, "runs")
	case winHardLimit()[name] && (name != "cipher" || strings.Contains(lower, "/w")):
		w.emit(human.Effect{Verb: human.FilesystemDelete, Resource: clip(command), Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "windows.disk"})
	case winDeletes()[name]:
		if strings.Contains(lower, "-whatif") {
			w.simple(c, human.FilesystemRead, human.NoRisk, "looks")
			return
		}
		for _, p := range files {
			w.deleting(p, recursive, "windows.deletes")
		}
		if len(files) == 0 {
			w.simple(c, human.FilesystemDelete, human.HighRisk, "deletes")
		}
	case winRuns()[name]:
		w.simple(c, human.LangExec, human.HighRisk, "runs_text")
		for _, p := range words[1:] {
			w.windows(strings.Trim(p, `"'()`))
		}
	case winFetches()[name]:
		method := ""
		for i, a := range words {
			if strings.EqualFold(a, "-method") && i+1 < len(words) {
				method = words[i+1]
			}
			if strings.EqualFold(a, "-outfile") && i+1 < len(words) {
				w.writing(winPath(words[i+1]), "windows.writes")
			}
		}
		if name == "start-bitstransfer" && len(files) > 1 {
			w.writing(files[len(files)-1], "windows.writes")
		}
		w.request(c, method, strings.Contains(lower, "-body") || strings.Contains(lower, "-infile"))
		if name == "certutil" && strings.Contains(lower, "decode") {
			w.simple(c, human.ObfuscatedEffect, human.HighRisk, "decodes")
		}
		if (name == "certutil" || name == "bitsadmin") && strings.Contains(lower, "://") && len(files) > 0 {
			w.replacing(files[len(files)-1], "windows.writes")
			w.simple(c, human.FilesystemWrite, human.MediumRisk, "downloads") // by what is there for something else
		}
	case winWrites()[name]:
		if name == "new-item" || len(files) < 2 || strings.Contains(name, "content") || name == "out-file" {
			for _, p := range files[:min(1, len(files))] {
				w.writing(p, "windows.writes")
			}
		} else {
			w.reading(files[0], "windows.reads")
			to := files[len(files)-1]
			switch {
			case strings.HasPrefix(name, "ren") || name == "rni":
				w.writing(files[0], "windows.writes")
			case strings.HasPrefix(name, "m"):
				w.writing(files[0], "windows.writes")
				w.writing(to, "windows.writes")
			case strings.EqualFold(files[0].Text, "nul"):
				w.emptying(to, "windows.empties")
			default:
				w.writing(to, "windows.writes")
			}
		}
		if strings.Contains(lower, "/mir") || strings.Contains(lower, "/purge") {
			w.simple(c, human.FilesystemDelete, human.HighRisk, "mirrors")
		}
		if len(files) == 0 || strings.HasPrefix(name, "clear") || name == "clc" {
			w.simple(c, human.FilesystemWrite, human.MediumRisk, "writes")
		}
	case winHigh[name] != "":
		risk := human.HighRisk
		for _, looking := range []string{" query", "/query", " show", " start", " view", " list", " get", "/list", " user", " use"} {
			if strings.HasSuffix(lower, looking) || strings.Contains(lower, looking+" ") && (looking == " query" || looking == "/query" || looking == " show" || looking == " get" || looking == "/list") {
				risk = human.LowRisk
			}
		}
		w.simple(c, winHigh[name], risk, "changes")
	case name == "stop-process" || name == "spps" || name == "taskkill" || name == "kill":
		w.simple(c, human.ProcessSignal, human.MediumRisk, "stops")
	case name == "start-process" || name == "start" || name == "saps":
		if strings.Contains(lower, "runas") {
			w.simple(c, human.PrivilegeEscalation, human.HighRisk, "as_administrator")
		}
		w.simple(c, human.LangExec, human.MediumRisk, "starts")
	case name == "powershell" || name == "pwsh" || name == "cmd":
		w.winStarts(c, name, words[1:])
	case winNumber.MatchString(name):
		w.simple(c, human.LangExec, human.NoRisk, "expression")
	case winLooks()[name] || strings.HasPrefix(name, "get-") || strings.HasPrefix(name, "test-") || strings.HasPrefix(name, "measure-") || strings.HasPrefix(name, "select-") || strings.HasPrefix(name, "convertto-") || strings.HasPrefix(name, "convertfrom-"):
		for _, p := range files {
			w.reading(p, "windows.reads")
		}
		w.simple(c, human.FilesystemRead, human.NoRisk, "looks")
	case strings.HasPrefix(name, "$") || strings.HasPrefix(name, "[") || strings.HasPrefix(name, "'") || strings.HasPrefix(name, "\""):
		risk := human.LowRisk
		if strings.HasPrefix(name, "$") && !strings.ContainsAny(command, "([=") {
			risk = human.NoRisk // a variable, a comparison
		}
		if strings.Contains(lower, "delete(") || strings.Contains(lower, "::writeall") || strings.Contains(lower, "invoke(") || strings.Contains(lower, "frombase64string") || strings.Contains(lower, "reflection") || strings.Contains(lower, "start(") || strings.HasPrefix(name, "&") {
			risk = human.HighRisk
		}
		w.simple(c, human.LangExec, risk, "expression")
	case strings.HasPrefix(name, "remove-") || strings.HasPrefix(name, "clear-") || strings.HasPrefix(name, "disable-") || strings.HasPrefix(name, "uninstall-") || strings.HasPrefix(name, "stop-") || strings.HasPrefix(name, "reset-"):
		w.simple(c, human.ServiceEffect, human.HighRisk, "destroys")
	case handlers()[name] != nil || commands.Of(name) != nil:
		args := make([]arg.Word, len(words))
		for i, a := range words {
			args[i] = arg.Known(a)
		}
		args[0] = arg.Known(name)
		w.run(args, stream{})
	default:
		w.simple(c, human.UnknownEffect, human.MediumRisk, "unknown")
	}
	if i := strings.IndexByte(command, '>'); i >= 0 && !strings.ContainsAny(command[:i], `"'`) {
		if to := strings.Fields(strings.TrimLeft(command[i:], "> ")); len(to) > 0 && !strings.HasPrefix(to[0], "&") && !strings.EqualFold(to[0], "$null") {
			switch {
			case strings.HasPrefix(command[i:], ">>"):
				w.writing(winPath(to[0]), "windows.redirect")
			case name == "type" && len(words) > 1 && strings.EqualFold(words[1], "nul") || name == "break" || name == "rem":
				w.emptying(winPath(to[0]), "windows.redirect_empties")
			default:
				w.replacing(winPath(to[0]), "windows.redirect")
			}
		}
	}
}

// Options of PowerShell with a value, and those that make it say something and end.
var (
	winValued = lazy.Set("-executionpolicy -ep -ex -exec -windowstyle -w -version -v -psconsolefile -outputformat -of -inputformat -if -workingdirectory -wd -configurationname -configurationfile -custompipename -settingsfile")
	winTells  = lazy.Set("-help -? /? -h --version --help")
)

// winStarts is a shell of Windows that is started: with a command, with a script, or to read commands from its input.
func (w *walker) winStarts(c *cmd, name string, args []string) {
	fed := true
	for i := 0; i < len(args); i++ {
		l := strings.ToLower(args[i])
		switch {
		case l == "-":
			w.simple(c, human.LangExec, human.HighRisk, "runs_text")
		case l == "/c" || l == "/k" || l == "-c" || strings.HasPrefix(l, "-com"):
			w.windows(strings.Trim(strings.Join(args[i+1:], " "), `"'`))
			if len(args) == i+1 || args[i+1] == "-" {
				w.simple(c, human.LangExec, human.HighRisk, "runs_text")
			}
			i, fed = len(args), false
		case l == "-file" || l == "-f" || name == "pwsh" && !strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "/"):
			w.simple(c, human.LangExec, human.MediumRisk, "script_file")
			i, fed = len(args), false
		case winValued()[l]:
			i++
			fed = fed && !strings.HasPrefix(l, "-v")
		case winTells()[l]:
			fed = false
		case strings.HasPrefix(l, "-e"):
			w.simple(c, human.ObfuscatedEffect, human.HighRisk, "encoded")
		case name == "powershell" && !strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "/"):
			w.windows(strings.Trim(strings.Join(args[i:], " "), `"'`))
			i, fed = len(args), false
		}
	}
	if fed {
		w.simple(c, human.LangExec, human.MediumRisk, "interactive")
		return
	}
	w.simple(c, human.LangExec, human.LowRisk, "shell")
}

// winNumber is a number, or a range of them, of which an expression is.
var winNumber = lazy.Pattern(`^\d+(?:\.\d+)?(?:[kmgt]b)?(?:\.\.\d+)?$`)

// winPath makes a path of Windows one that the places know: a drive is the root, the system's folders are under /usr.
func winPath(s string) arg.Word {
	s = strings.ReplaceAll(strings.Trim(s, `"'`), `\`, "/")
	l := strings.ToLower(s)
	for _, home := range []string{"$env:userprofile", "%userprofile%", "$home", "$env:homepath", "%homepath%"} {
		if strings.HasPrefix(l, home) {
			return arg.Word{Text: "~" + s[len(home):]}
		}
	}
	for _, data := range []string{"$env:localappdata", "%localappdata%", "$env:appdata", "%appdata%"} {
		if strings.HasPrefix(l, data) {
			folder := "/AppData/Local"
			if !strings.Contains(data, "local") {
				folder = "/AppData/Roaming"
			}
			return arg.Word{Text: "~" + folder + s[len(data):], Glob: strings.Contains(s, "*")}
		}
	}
	for _, temp := range []string{"$env:temp", "%temp%", "$env:tmp", "%tmp%"} {
		if strings.HasPrefix(l, temp) {
			return arg.Word{Text: "/tmp" + s[len(temp):], Glob: strings.Contains(s, "*")}
		}
	}
	for _, sys := range []string{"$env:windir", "%windir%", "$env:systemroot", "%systemroot%", "c:/windows", "$env:programfiles", "c:/program files", "c:/programdata", "%programfiles%"} {
		if strings.HasPrefix(l, sys) {
			return arg.Word{Text: "/usr/lib/windows"}
		}
	}
	for _, drive := range []string{"$env:systemdrive", "%systemdrive%"} {
		if strings.HasPrefix(l, drive) {
			s = "/" + s[len(drive):]
			l = s
		}
	}
	if len(s) >= 2 && s[1] == ':' {
		s = "/" + strings.TrimLeft(s[2:], "/")
		if strings.HasPrefix(strings.ToLower(s), "/users/") {
			s = "/home/" + s[len("/users/"):]
		}
	}
	if strings.HasPrefix(s, "$") || strings.HasPrefix(s, "%") {
		s = arg.Unknown
	}
	return arg.Word{Text: s, Glob: strings.Contains(s, "*")}
}

// What follows the end of a bracket or a text without being a command: members and indexes, the last of which may be called.
var winMember = lazy.Pattern(`^(?:\.[A-Za-z_]\w*|\[[-\d., $\w]*\])+`)

// Before a bracket, what makes it one of a method's arguments; in it, an argument that is none but itself.
var (
	winCalled  = lazy.Pattern(`(?:[)\]}"']|\$[\w:]+)(?:\.\w+)+$|::\s*\w+$`)
	winLiteral = lazy.Pattern(`^\s*(?:(?:"[^"]*"|'[^']*'|-?\d[\w.]*|\$[\w:.]+|\[[\w.]+\])\s*,?\s*)+$`)
	winOfText  = lazy.Pattern(`^\s*(?:"[^"]*"|'[^']*')\.[A-Za-z_]\w*\s*$`)
)

// winMembersMost is how many bytes before a bracket are looked at for the method that it calls, so that long text costs no more than
// its length. A longer name counts as unknown.
const winMembersMost = 256

// winSplit takes text apart at what separates commands, brackets among it, but not within quotes. Members of what a bracket
// holds, and texts and numbers that a method is called with, are no commands.
func winSplit(text string) []string {
	var out []string
	begin := 0
	called := false
	cut := func(end, next int, open bool) {
		piece := text[begin:end]
		if (!called || !winLiteral.MatchString(piece)) && (!open || !winOfText.MatchString(piece)) {
			out = append(out, piece)
		}
		called = open && winCalled.MatchString(text[max(0, end-winMembersMost):end])
		begin = next
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"' || c == '\'':
			end, inner := winQuoted(text, i)
			out = append(out, inner...)
			i = end
		case c == '&' && i > 0 && text[i-1] == '>':
			// 2>&1
		case c == '&' && i+1 < len(text) && text[i+1] == '&':
			cut(i, i+2, false)
			i++
		case c == ')' || c == '}':
			cut(i, i+1, false)
			if m := winMember.FindString(text[i+1:]); m != "" {
				i += len(m)
				begin = i + 1
			}
		case c == ';' || c == '|' || c == '\n' || c == '(' || c == '{' || c == '&' && strings.TrimSpace(text[begin:i]) != "":
			cut(i, i+1, c == '(')
		case c == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\n'):
			end := len(text)
			if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
				end = i + n
			}
			cut(i, end, false)
			i = end
		}
	}
	cut(len(text), len(text), false)
	return out
}

// winQuoted returns where the text in quotes that begins at begin ends, and the commands in brackets that are run for it.
func winQuoted(text string, begin int) (end int, inner []string) {
	quote := text[begin]
	for i := begin + 1; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return i, inner
		case quote == '"' && strings.HasPrefix(text[i:], "$("):
			if n := strings.IndexByte(text[i:], ')'); n > 0 {
				inner = append(inner, text[i+2:i+n])
			}
		}
	}
	return len(text), inner
}

func winWords(s string) []string {
	var out []string
	var cur strings.Builder
	var quote byte
	has := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
				continue
			}
			cur.WriteByte(c)
		case c == '"' || c == '\'':
			quote, has = c, true
		case c == '`' || c == '^': // escapes, put anywhere to hide a name
		case c == ' ' || c == '\t' || c == '\r' || c == ',':
			if has || cur.Len() > 0 {
				out = append(out, cur.String())
				cur.Reset()
				has = false
			}
		default:
			cur.WriteByte(c)
		}
	}
	if has || cur.Len() > 0 {
		out = append(out, cur.String())
	}
	return out
}
