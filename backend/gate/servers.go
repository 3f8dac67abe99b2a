package gate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell"
	"deskbell/backend/human"
)

// elsewhere says whether a tool that is called as those for files are works on another machine's.
func elsewhere(tool string) bool {
	for _, w := range nameWords(serverName(tool) + " " + strings.TrimSuffix(tool, toolName(tool))) {
		if remote.has(w) {
			return true
		}
	}
	return false
}

var remote = wordSet("github gitlab bitbucket gitea drive gdrive googledrive s3 gcs azure blob dropbox onedrive sharepoint box notion confluence jira linear slack discord ftp sftp ssh webdav nextcloud airtable sheets gsheets gmail " +
	"outlook email mail supabase firebase cloudflare vercel netlify huggingface hf wordpress shopify stripe asana trello hubspot salesforce zendesk obsidian mongo mongodb redis elasticsearch kafka")

// Words of tools' names.
var (
	destroyWords = wordSet("delete remove drop destroy purge clear reset kill terminate revoke truncate erase wipe cancel force uninstall unpublish deprovision rollback flush empty nuke detach disable deactivate prune evict " +
		"drain trash del rm unlink overwrite shutdown factory format")
	writeWords  = wordSet("write save create edit append put export download update move copy rename replace")
	costWords   = wordSet("pay purchase buy charge refund transfer checkout payout withdraw subscribe bid trade donate payment tip topup invest")
	outWords    = wordSet("deploy publish release promote broadcast tweet production prod")
	secretWords = wordSet("secret secrets password passwords credential credentials apikey apikeys privatekey passphrase")
	changeWords = wordSet("create update set add insert put post send write edit modify patch push merge move rename copy upload import enable approve assign invite share start stop restart scale apply register sync submit reply comment " +
		"react upsert save replace grant run exec execute eval evaluate invoke spawn launch make build install upgrade book schedule close open lock unlock mark star fork trigger append download export record")
	lookWords = wordSet("get list read search find describe show view query fetch lookup count check inspect resolve status browser take explain analyze analyse validate verify ping whoami summarize compare diff preview calculate compute " +
		"convert parse translate info help echo")
	keepers    = wordSet("1password onepassword vault bitwarden lastpass keepass keychain dashlane doppler infisical passbolt secretmanager secretsmanager keyvault") // servers of secrets
	settles    = wordSet("issue issues incident incidents alert alerts conflict conflicts thread threads ticket tickets error errors comment comments discussion discussions conversation conversations all finding findings")
	firstLooks = wordSet("query fetch browser take") // that may do more than look
)

// grade is how grave a tool is by the words of a name. Words that say that it looks count only where no other says more.
func grade(words []string) (human.Risk, string) {
	has := func(s wordSet) bool { return slices.ContainsFunc(words, s.has) }
	pair := func(a, b string) bool {
		for i := 1; i < len(words); i++ {
			if words[i-1] == a && strings.TrimSuffix(words[i], "s") == b {
				return true
			}
		}
		return false
	}
	switch {
	case len(words) == 0:
		return human.MediumRisk, "mcp.unknown"
	case has(destroyWords):
		return human.HighRisk, "mcp.destroys"
	case has(costWords):
		return human.HighRisk, "mcp.costs"
	case has(outWords):
		return human.HighRisk, "mcp.publishes"
	case has(secretWords) || pair("api", "key") || pair("private", "key") || pair("access", "token"):
		return human.HighRisk, "mcp.secrets"
	case has(changeWords), slices.Contains(words, "resolve") && has(settles):
		return human.MediumRisk, "mcp.unknown"
	case firstLooks.has(words[0]):
		return human.MediumRisk, "mcp.looks"
	case lookWords.has(words[0]) || lookWords.has(words[len(words)-1]):
		return human.LowRisk, "mcp.looks"
	}
	return human.MediumRisk, "mcp.unknown"
}

var gradeVerbs = map[string]human.EffectVerb{"mcp.costs": human.CostEffect, "mcp.secrets": human.CredentialAccess, "mcp.publishes": human.NetworkWrite}

// unknownEffects judges a tool that nothing is known of: by its name, by what its arguments say and hold, and by what its
// server says of it, as far as that makes it graver.
func unknownEffects(call Call, f fields, at shell.Place) []human.Effect {
	words := nameWords(toolName(call.Tool))
	risk, id := grade(words)
	if id == "mcp.looks" && words[0] != "list" && slices.ContainsFunc(nameWords(serverName(call.Tool)), keepers.has) {
		risk, id = human.HighRisk, "mcp.secrets"
	}
	if reads(call.Tool, words) {
		risk = human.NoRisk
	}
	told := properties(call.Schema)
	for name, p := range told { // what holds where a call does not say otherwise
		if s, ok := p.Default.(string); ok && !f.has(name) {
			f = maps.Clone(f)
			f[name] = []any{s}
		}
	}
	doing := f.all("action", "operation", "op", "method", "verb", "mode", "subcommand", "type")
	for _, a := range doing {
		if r, rule := grade(nameWords(a)); r.Level() > risk.Level() && rule != "mcp.looks" && len(a) < 40 {
			risk, id = r, rule
		}
	}
	blast := human.SharedBlast
	if id == "mcp.looks" {
		blast = human.MachineBlast
	}
	verb := gradeVerbs[id]
	if verb == "" {
		verb = human.UnknownEffect
	}
	e := effect(verb, risk, blast, id, call.Tool)
	if n := f.one("name", "id", "title", "resource", "project", "repo", "environment", "env", "database", "cluster"); n != "" {
		e.Resource = clip(call.Tool + " " + n)
	}
	out := []human.Effect{e}
	if r := described(call.About); r != human.NoRisk {
		out = append(out, effect(human.UnknownEffect, r, human.SharedBlast, "mcp.described", call.Tool))
	}
	if p := codeHost(words, f); p != nil && onCodeHost(call.Tool) {
		out = append(out, shell.LowerArgs(p, at)...)
	}
	return append(out, held(call, f, told, at)...)
}

func onCodeHost(tool string) bool {
	return slices.ContainsFunc(nameWords(serverName(tool)), func(w string) bool { return w == "github" || w == "gitlab" })
}

// codeHost is the command that a tool of a code host's server does the same as.
func codeHost(words []string, f fields) []string {
	branch := f.one("branch", "base", "ref")
	if branch == "" {
		branch = "HEAD"
	}
	name := f.one("repo", "repository", "name")
	var out []string
	switch strings.Join(words, "_") {
	case "delete_repository":
		out = []string{"gh", "repo", "delete", name, "--yes"}
	case "create_repository":
		out = []string{"gh", "repo", "create", name}
	case "fork_repository":
		out = []string{"gh", "repo", "fork", name}
	case "merge_pull_request":
		out = []string{"gh", "pr", "merge"}
	case "create_issue", "issue_write":
		out = []string{"gh", "issue", "create"}
	case "create_pull_request":
		out = []string{"gh", "pr", "create"}
	case "add_issue_comment":
		out = []string{"gh", "issue", "comment", "1"}
	case "run_workflow", "actions_run_trigger":
		out = []string{"gh", "workflow", "run"}
	case "push_files", "create_or_update_file", "delete_file", "update_file":
		out = []string{"git", "push", "origin", branch}
	}
	if slices.ContainsFunc(out, func(s string) bool { return strings.HasPrefix(s, "-") && s != "--yes" }) {
		return nil
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// reads says whether a tool of a code host's server only reads what gh would, without a risk.
func reads(tool string, words []string) bool {
	if !onCodeHost(tool) || len(words) < 2 {
		return false
	}
	risk, id := grade(words)
	return id == "mcp.looks" && risk == human.LowRisk
}

// described is how grave a tool is by its own words. They may only tighten.
func described(about string) human.Risk {
	about = strings.ToLower(about)
	for _, s := range []string{"permanently", "irreversib", "cannot be undone", "can't be undone", "deletes ", "destroys ", "wipes ", "drops ", "destructive", "dangerous", "charges ", "pays ", "transfers money"} {
		if strings.Contains(about, s) && !strings.Contains(about, "not "+s) && !strings.Contains(about, "non-"+s) {
			return human.HighRisk
		}
	}
	for _, s := range []string{"shell command", "runs a command", "execute", "arbitrary", "modifies", "sends ", "creates ", "writes ", "overwrit", "updates "} {
		if strings.Contains(about, s) {
			return human.MediumRisk
		}
	}
	return human.NoRisk
}

// A property is what a schema says of an argument.
type property struct {
	Description string `json:"description"`
	Format      string `json:"format"`
	Default     any    `json:"default"`
}

// properties are those of a schema, by the plain form of their names.
func properties(schema json.RawMessage) map[string]property {
	if len(schema) == 0 || len(schema) > MaxArgs {
		return nil
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	out := map[string]property{}
	for name, raw := range s.Properties {
		var p property
		if json.Unmarshal(raw, &p) == nil {
			out[plainName(name)] = p
		}
	}
	return out
}

// means says what kind of thing an argument is by what its schema says of it.
func (p property) means() kind {
	d := strings.ToLower(p.Description)
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(d, s) })
	}
	switch {
	case has("shell command", "bash command", "command to run", "command to execute", "command line", "terminal command", "command that"):
		return shellTool
	case has("powershell"):
		return windowsTool
	case has("sql query", "sql statement", "sql to", "sql command"):
		return sqlTool
	case has("javascript", "python code", "code to run", "code to execute", "script to run", "script to execute"):
		return codeTool
	case has("file path", "path to", "filepath", "absolute path", "path of the file", "filename", "directory"):
		return readTool
	}
	return unknownTool
}

const (
	maxHeld = 300 // texts of a call that are looked at
	maxNest = 6
)

// held are the effects of what a call's arguments hold, wherever they stand: commands, code, queries, paths, addresses.
func held(call Call, f fields, told map[string]property, at shell.Place) []human.Effect {
	words := nameWords(toolName(call.Tool))
	h := &holder{
		tool: call.Tool, fields: f, at: at, left: maxHeld, away: elsewhere(call.Tool),
		writes: slices.ContainsFunc(words, writeWords.has), deletes: slices.ContainsFunc(words, destroyWords.has),
	}
	for _, k := range slices.Sorted(maps.Keys(f)) {
		for _, v := range f[k] {
			h.value(k, v, told[k], 0)
		}
	}
	if h.left < 0 {
		h.add(opaque("tool.too_many", "thing_args_more")...)
	}
	return h.out
}

// commandsHeld are the effects of the commands that the arguments of a harmless tool hold. Those of its client are no shell's.
func commandsHeld(call Call, f fields, at shell.Place) []human.Effect {
	if name := plainName(toolName(call.Tool)); name == "slashcommand" || name == "skill" || name == "activateskill" {
		return nil
	}
	h := &holder{tool: call.Tool, fields: f, at: at, left: maxHeld, commands: true}
	for _, k := range slices.Sorted(maps.Keys(f)) {
		for _, v := range f[k] {
			h.value(k, v, property{}, 0)
		}
	}
	return h.out
}

// Names of arguments that hold a command.
const heldCommands = wordSet("command cmd shell bash commandline shellcommand exec execute commands cmds script argv powershell")

// A holder collects the effects of what a call's arguments hold.
type holder struct {
	commands        bool // looks for these only
	tool            string
	fields          fields
	at              shell.Place
	left            int  // texts that are still looked at
	away            bool // its files are on another machine
	writes, deletes bool // by the tool's name
	out             []human.Effect
}

func (h *holder) add(effects ...human.Effect) { h.out = append(h.out, effects...) }

// value looks at an argument, and at what it holds.
func (h *holder) value(key string, v any, p property, deep int) {
	if deep > maxNest || h.left < 0 {
		h.left = -1
		return
	}
	switch v := v.(type) {
	case string:
		h.text(key, v, p)
	case []any:
		if key == "command" || key == "cmd" || key == "argv" {
			if args := (fields{key: {v}}).all(key); len(args) > 0 && len(args) == len(v) {
				h.add(shell.LowerArgs(args, h.at)...)
				return
			}
		}
		for _, x := range v {
			h.value(key, x, p, deep+1)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			h.value(plainName(k), v[k], property{}, deep+1)
		}
	}
}

// text looks at a text under the plain form of its argument's name.
func (h *holder) text(key, s string, p property) {
	if h.left--; h.left < 0 || s == "" || h.commands && !heldCommands.has(key) {
		return
	}
	if disguised(s) && (slices.Contains(commandFields, key) || slices.Contains(pathFields, key)) {
		h.add(unnamed(human.ObfuscatedEffect, human.HighRisk, human.MachineBlast, "text.disguised", "thing_disguised"))
	}
	means := p.means()
	switch key {
	case "command", "cmd", "shell", "bash", "commandline", "shellcommand", "exec", "execute", "commands", "cmds":
		means = shellTool
	case "powershell":
		means = windowsTool
	case "script":
		if means != codeTool && means != windowsTool {
			means = shellTool
		}
	case "sql", "statement", "sqlquery":
		means = sqlTool
	case "query":
		if looksLikeSQL(s) {
			h.add(queryEffects(h.tool, []string{s})...)
			h.add(filesIn([]string{s}, h.at)...)
			return
		}
		h.add(otherQuery(s)...)
	case "cypher", "graphql", "gql", "aql", "gremlin", "mongo", "flux", "mutation":
		h.add(otherQuery(s)...)
	case "javascript", "js", "jscode":
		h.add(shell.Code("javascript", s, h.at)...)
		return
	case "python", "pythoncode":
		h.add(shell.Code("python", s, h.at)...)
		return
	case "code":
		means = codeTool
	}
	switch means {
	case shellTool:
		h.add(shell.Lower(s, h.at)...)
	case windowsTool:
		h.add(shell.Windows(s, h.at)...)
	case sqlTool:
		h.add(queryEffects(h.tool, []string{s})...)
	case codeTool:
		h.add(codeEffects(h.tool, fields{"code": {s}, "language": h.fields["language"]}, h.at)...)
	default:
		h.place(key, s, means == readTool)
	}
}

// place looks at a text that is a path or an address, if anything.
func (h *holder) place(key, s string, isPath bool) {
	switch {
	case isPath || slices.Contains(pathFields, key) && key != "include" && !strings.Contains(s, "://"), strings.HasPrefix(s, "file://"):
		if len(s) < 1000 {
			h.file(strings.TrimPrefix(s, "file://"))
		}
	case len(s) < 300 && !strings.ContainsAny(s, " \n") && (strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, ".env")):
		h.add(shell.Reading(s, h.at)...)
	case strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "ws://") || strings.HasPrefix(s, "wss://"):
		if len(s) < 4000 && !strings.ContainsAny(s, " \n") {
			h.add(request(strings.ToUpper(h.fields.one("method", "httpmethod")), s, h.fields.has("body", "data", "json", "payload"), h.at)...)
		}
	}
}

func (h *holder) file(p string) {
	switch {
	case h.away: // a path on another machine, but for what is a secret here
		h.add(slices.DeleteFunc(shell.Reading(p, h.at), func(e human.Effect) bool { return e.Verb != human.CredentialAccess })...)
		return
	case h.deletes:
		h.add(shell.Deleting(p, true, h.at)...)
	case h.writes:
		h.add(shell.Writing(p, h.at)...)
	}
	h.add(shell.Reading(p, h.at)...)
}

var (
	queryLanguage = lazy.Pattern(`(?i)\bmatch\s*\(|\bmerge\s*\(|\bcreate\s*\(|\bcall\s+\w+\.|\bdb\.\w+\.\w+\(|\bg\.[VE]\(|\bmutation\b[^{]*\{|\|>\s*\w+\(|\bfor\s+\w+\s+in\s+\w+`)
	queryLoses    = lazy.Pattern(`(?i)\b(detach\s+delete|delete|remove|drop\w*|delete\w*|remove\w*|truncate|purge)\b`)
	queryChanges  = lazy.Pattern(`(?i)\b(set|merge|create|insert\w*|update\w*|replace\w*|upsert|mutation|addV|addE|property|load\s+csv|to|call)\b\s*[({\w]`)
)

// otherQuery are the effects of a query in a language that is not SQL: Cypher, GraphQL, those of MongoDB, ArangoDB, Gremlin,
// Flux.
func otherQuery(s string) []human.Effect {
	switch {
	case len(s) > maxQuery || !queryLanguage.MatchString(s):
		return nil
	case queryLoses.MatchString(s):
		return []human.Effect{effect(human.DatabaseEffect, human.HighRisk, human.SharedBlast, "query.destroys", s)}
	case queryChanges.MatchString(s):
		return []human.Effect{effect(human.DatabaseEffect, human.MediumRisk, human.SharedBlast, "query.changes", s)}
	}
	return nil
}

const maxQuery = 64 << 10

func looksLikeSQL(s string) bool {
	first, rest, _ := strings.Cut(strings.TrimSpace(strings.ToLower(s)), " ")
	switch first {
	case "select", "insert", "update", "delete", "drop", "alter", "create", "truncate", "with", "merge", "grant", "revoke", "replace", "exec", "call":
		return rest != ""
	}
	return false
}

// pageAction is what a tool does with a page of a browser; empty for other tools.
func pageAction(tool string) string {
	own := strings.ToLower(toolName(tool))
	name := ""
	for _, p := range []string{"browser_", "puppeteer_", "playwright_", "browser-", "chrome_"} {
		if rest, ok := strings.CutPrefix(own, p); ok {
			name = plainName(rest)
		}
	}
	if name == "" {
		for _, s := range []string{"playwright", "puppeteer", "devtools", "chrome", "browser", "stagehand", "selenium"} {
			if strings.Contains(serverName(tool), s) {
				name = plainName(own)
			}
		}
	}
	for _, p := range pages {
		if p.names.has(name) {
			return p.action
		}
	}
	return ""
}

// pages are the names of a browser's tools, by what they do.
var pages = []struct {
	action string
	names  wordSet
}{
	{"look", "snapshot takesnapshot takescreenshot screenshot consolemessages listconsolemessages getconsolemessage networkrequests listnetworkrequests getnetworkrequest waitfor wait waitforselector listpages selectpage closepage close resize " +
		"resizepage hover navigateback navigateforward goback goforward generatelocator verifytextvisible verifyelementvisible verifylistvisible verifyvalue performancestarttrace performancestoptrace performanceanalyzeinsight emulate emulatecpu " +
		"emulatenetwork gettext getvisibletext getvisiblehtml content scroll mousemovexy getpage consolelogs logs tablist tabselect tabclose pdfsave savepdf savaspdf observe extract"},
	{"open", "navigate navigatepage goto newpage tabnew open opentab navigateto visit tabs"},
	{"click", "click doubleclick clickat mouseclickxy drag dragdrop mousedragxy select selectoption check uncheck tap presskey press keypress handledialog act"},
	{"type", "type fill fillform presssequentially input typetext setvalue"},
	{"evaluate", "evaluate evaluatescript runcode executejs executescript injectjs runscript executejavascript"},
	{"upload", "fileupload uploadfile setinputfiles upload"},
	{"install", "install installbrowser"},
}

// The text on the target says what a click or a key does.
var (
	graveClicks = wordSet("delete remove destroy erase wipe pay buy purchase order transfer withdraw deactivate terminate unsubscribe revoke reset drop purge uninstall donate checkout bid format close-account")
	sendClicks  = wordSet("submit send post publish save confirm accept approve agree share invite merge deploy create apply sign login log continue ok yes upload update allow grant install run subscribe reply comment register")
)

var pageActions = map[string]func(Call, fields, shell.Place) []human.Effect{
	"look": func(_ Call, f fields, at shell.Place) []human.Effect {
		out := []human.Effect{unnamed(human.NetworkRead, human.NoRisk, human.MachineBlast, "page.looks", "thing_page")}
		for _, p := range f.all("filename", "filepath", "path", "downloadspath", "savepath") {
			out = append(out, shell.Writing(p, at)...)
		}
		return out
	},
	"open": func(_ Call, f fields, at shell.Place) []human.Effect {
		return requestEffects("GET", f, at)
	},
	"click": func(_ Call, f fields, _ shell.Place) []human.Effect { return clicks(f, false) },
	"type": func(_ Call, f fields, at shell.Place) []human.Effect {
		out := clicks(f, true)
		for _, s := range f.all("text", "value", "values") {
			if len(s) < 300 && (strings.HasPrefix(s, "file://") || strings.HasPrefix(s, "~/.") || strings.HasPrefix(s, "/etc/")) {
				out = append(out, shell.Reading(strings.TrimPrefix(s, "file://"), at)...)
			}
		}
		return out
	},
	"evaluate": func(_ Call, f fields, at shell.Place) []human.Effect {
		code := f.all(codeFields...)
		if len(code) == 0 {
			return opaque("tool.no_code", "thing_no_code")
		}
		var out []human.Effect
		for _, c := range code {
			out = append(out, shell.Code("javascript", c, at)...)
			low := strings.ToLower(c)
			if slices.ContainsFunc([]string{"cookie", "localstorage", "sessionstorage", "indexeddb", "password", "credential"}, func(s string) bool { return strings.Contains(low, s) }) {
				risk := human.MediumRisk
				if slices.ContainsFunc([]string{"fetch(", "xmlhttprequest", "sendbeacon", "websocket", "new image", ".src", "location"}, func(s string) bool { return strings.Contains(low, s) }) {
					risk = human.HighRisk
				}
				out = append(out, effect(human.CredentialAccess, risk, human.SharedBlast, "page.secrets", c))
			}
		}
		return append(out, unnamed(human.LangExec, human.MediumRisk, human.SharedBlast, "page.runs_code", "thing_page_user"))
	},
	"upload": func(_ Call, f fields, at shell.Place) []human.Effect {
		var out []human.Effect
		for i, p := range f.all("paths", "filepath", "path", "files", "filepaths", "file") {
			if i == 100 {
				return append(out, opaque("tool.too_many", "thing_files")...)
			}
			for _, e := range shell.LowerArgs([]string{"curl", "-F", "file=@" + p, "https://page.invalid"}, at) {
				if strings.Contains(e.Resource, "file=@") {
					e.Resource, e.Target = clip(p), ""
				}
				out = append(out, e)
			}
		}
		return append(out, effect(human.NetworkWrite, human.MediumRisk, human.SharedBlast, "page.uploads", strings.Join(f.all("paths", "filepath", "path", "files"), " ")))
	},
	"install": func(Call, fields, shell.Place) []human.Effect {
		return []human.Effect{unnamed(human.PackageInstall, human.MediumRisk, human.MachineBlast, "page.installs", "thing_browser")}
	},
}

// clicks are the effects of a click or of typing, by what is written there.
func clicks(f fields, types bool) []human.Effect {
	where := f.all("element", "selector", "label", "name", "instruction", "action", "key", "variable", "title", "target", "startelement", "endelement")
	if !types {
		where = append(where, f.all("text", "value")...)
	}
	for _, list := range [][]any{f["fields"], f["elements"]} {
		for _, v := range list {
			items, _ := v.([]any)
			for _, x := range items {
				if m, ok := x.(map[string]any); ok {
					for _, n := range []string{"name", "element"} {
						if s, ok := m[n].(string); ok {
							where = append(where, s)
						}
					}
				}
			}
		}
	}
	slices.Sort(where)
	shown := strings.Join(where, " ")
	words := nameWords(shown)
	e := effect(human.NetworkWrite, human.LowRisk, human.SharedBlast, "page.clicks", shown)
	e.Certainty = human.Likely
	switch {
	case slices.ContainsFunc(words, graveClicks.has):
		e.Risk, e.Rule, e.Reversibility = human.HighRisk, "page.clicks_grave", human.Irreversible
	case f.yes("submit", "pressenter", "accept"), !types && slices.ContainsFunc(words, func(w string) bool { return sendClicks.has(w) || w == "enter" }):
		e.Risk, e.Rule = human.MediumRisk, "page.sends"
	case !types && len(words) == 0:
		e.Risk, e.Rule = human.MediumRisk, "page.clicks_unseen"
	}
	return []human.Effect{e}
}

// screenEffects are those of a tool that sees the screen, and moves its pointer and keys.
func screenEffects(f fields, at shell.Place) []human.Effect {
	action := plainName(f.one("action", "type"))
	switch action {
	case "screenshot", "zoom": // whatever is on it: codes, what the operator is asked
		return []human.Effect{unnamed(human.CredentialAccess, human.HighRisk, human.MachineBlast, "screen.sees", "thing_screen")}
	case "cursorposition", "mousemove", "wait", "scroll", "move":
		return []human.Effect{unnamed(human.FilesystemRead, human.NoRisk, human.MachineBlast, "screen.looks", "thing_screen")}
	}
	var out []human.Effect
	for _, text := range f.all("text", "keys") {
		out = append(out, shell.Lower(text, at)...)
	}
	e := effect(human.UnknownEffect, human.HighRisk, human.MachineBlast, "screen.acts", strings.TrimSpace(action+" "+strings.Join(f.all("text", "keys"), " ")))
	e.Certainty = human.Possible
	return append(out, e)
}
