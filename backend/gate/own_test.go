package gate_test

import (
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// machine is a world with one Deskbell on it.
type machine struct {
	world
	programs []string // files that are Deskbell's, whatever their names
	server   string
	links    map[string]string   // those that are there
	fits     map[string][]string // what fits a pattern
	made     map[string]string   // by the session
	servers  []string            // names of MCP servers that are Deskbell's
}

func (m machine) Ours(file string) bool      { return slices.Contains(m.programs, file) }
func (m machine) Server() string             { return m.server }
func (m machine) OurServer(name string) bool { return slices.Contains(m.servers, name) }
func (m machine) Runs(abs string) bool {
	return abs == "/usr/bin/deskbell-hook" || abs == "/opt/bell/deskbell-hook"
}
func (m machine) Linked(from, to string) { m.made[from] = to }
func (m machine) Real(abs string, pattern bool) []string {
	all := []string{abs}
	if pattern && m.fits[abs] != nil {
		all = slices.Clone(m.fits[abs])
	}
	for i, one := range all {
		for range 5 {
			for _, links := range []map[string]string{m.links, m.made} {
				for from, to := range links {
					if one == from || strings.HasPrefix(one, from+"/") {
						one = to + one[len(from):]
					}
				}
			}
		}
		all[i] = one
	}
	return all
}
func (m machine) Text(abs string) (string, bool) { return m.world.Text(abs) }
func (m machine) File(abs string) gate.FileState {
	if state, ok := m.world[abs]; ok {
		return state
	}
	return gate.Absent
}

const guard = "/home/ada/.local/share/deskbell"

func here() machine {
	return machine{programs: []string{"/usr/bin/deskbell", "/opt/bell/db", "/home/ada/p/tool", "db"}, server: "127.0.0.1:41873", made: map[string]string{}}
}

func atHome(c gate.Call) gate.Call {
	c.Cwd, c.Root, c.Home, c.Guard = "/home/ada/p", "/home/ada/p", "/home/ada", guard
	return c
}

// What an operator does with Deskbell's program, and what chooses another folder for it.
var (
	operators = []string{
		"answer op_1 --approve", "answer op_1 --text yes --digest sha256:1", "login 123456", "login", "invite Mei", "keys add x", "keys revoke x", "serve --json --allow-remote", "serve --json --allow-host x",
		"serve --json --addr 0.0.0.0:1", "serve --code-fd 3 --json", "serve --json --set server.allow_remote=true", "serve", "hook install claude-code --uninstall", "hook install claude-code --yes", "hook uninstall claude-code",
		"plan confirm s_1 --confirm", "plan change s_1 --tasks t", "plan resume s_1", "plan presets add f", "model set-key", "record start op_1", "recordings delete r", "inbox --code 123456", "plan list --code 1", "recordings export r --code 1",
		"ring hello --data /tmp/x", "ring hello --config /tmp/c.toml", "wait op_1 --data=/tmp/x", "new-command", "ring hello --new-flag", "hook claude-code", "mcp-proxy -- deskbell answer op_1", "mcp-proxy --name x -- rm -rf ~",
		"agent run --mcp 'deskbell answer op_1' task",
	}
	agents = []string{
		"ring hello", "ring -t approve --json 'may I?'", "wait op_1 --for 5", "reply op_1 text", "cancel op_1 --reason x", "plan submit - --wait", "plan begin s_1 t_1", "plan show s_1", "version", "help answer", "keys list", "gate check 'ls -l'",
		"hook status --json", "serve --json", "doctor --json", "mcp --agent x", "config --json", "inbox --json", "backups list", "openapi", "plan presets --json", "ring hello --data " + guard,
	}
	programs = []string{"deskbell", "/usr/bin/deskbell", "/usr/local/bin/deskbell", "/opt/bell/db", "./tool", "db", "/home/ada/p/tool", "../p/tool", "$HOME/p/tool", "'desk'bell", `d\eskbell`, "${x:-deskbell}", "Deskbell", "/Applications/Deskbell.app/Contents/MacOS/Deskbell"}
)

// shuffled puts the options of a command in another order, each with its value, and other options before or behind them.
func shuffled(r *rand.Rand, command string) string {
	head, rest, _ := strings.Cut(command, " ")
	words := strings.Fields(rest)
	if strings.ContainsAny(command, "'") || strings.Contains(command, "--mcp") || strings.Contains(command, " -- ") {
		return command
	}
	var options, others []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case strings.HasPrefix(w, "-") && !strings.Contains(w, "=") && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") && w != "--json" && w != "--approve" && w != "--confirm" && w != "--uninstall" && w != "--yes" && w != "--wait" && w != "--allow-remote" && w != "--new-flag":
			if strings.HasPrefix(w, "--") && r.IntN(2) == 0 {
				options = append(options, w+"="+words[i+1])
			} else {
				options = append(options, w+" "+words[i+1])
			}
			i++
		case strings.HasPrefix(w, "-") && w != "-":
			options = append(options, w)
		default:
			others = append(others, w)
		}
	}
	// The subcommand's second word stays in front.
	n := 0
	if two := " " + head + " "; strings.Contains(" plan keys hook model record recordings gate backups agent ", two) && len(others) > 0 {
		n = 1
		if others[0] == "presets" && len(others) > 1 {
			n = 2
		}
	}
	tail := append(slices.Clone(others[n:]), options...)
	r.Shuffle(len(tail), func(i, j int) { tail[i], tail[j] = tail[j], tail[i] })
	return strings.Join(append(append([]string{head}, others[:n]...), tail...), " ")
}

var ownWrappers = append([]string{
	"@CMD@", "env @CMD@", "exec -a ls @CMD@", "/lib64/ld-linux-x86-64.so.2 @CMD@", "setsid -f @CMD@", "systemd-run --user @CMD@", "strace -f @CMD@", "echo x | @CMD@", "@CMD@ < /dev/null > /dev/null 2>&1 &",
	"python3 -c 'import os; os.system(\"@CMD@\")'",
}, slices.DeleteFunc(slices.Clone(ownTemplates), func(s string) bool { return strings.HasPrefix(s, "ssh ") })...) // there are other files there

func TestDeskbellsOwnProgram(t *testing.T) {
	const seed = 13
	r := rand.New(rand.NewPCG(seed, seed))
	evidence := here()
	n := 0
	for range 60 {
		for i, of := range [][]string{operators, agents} {
			for _, command := range of {
				name := programs[r.IntN(len(programs))]
				wrapper := ownWrappers[r.IntN(len(ownWrappers))]
				if strings.Contains(wrapper, "\"@CMD@\"") && strings.ContainsAny(name+command, `'$\`) || compound(wrapper) && strings.Contains(name, "$") {
					wrapper = "@CMD@"
				}
				script := quotedFor(wrapper, name+" "+shuffled(r, command))
				v := gate.Judge(atHome(bash(script)), gate.Permissive, evidence)
				n++
				switch {
				case i == 0 && !v.HardLimit:
					t.Errorf("%s: %s %v", script, v.Decision, v.Rules)
				case i == 1 && v.HardLimit && !strings.Contains(wrapper, "curl"):
					t.Errorf("%s: an agent's own is a hard limit: %v", script, v.Rules)
				}
			}
		}
	}
	if n < 1000 {
		t.Error(n)
	}
	for command, want := range map[string]bool{
		"DESKBELL_DATA=/x deskbell ring a": true, "export DESKBELL_DATA=" + guard + "; deskbell ring a": false, "HOME=/tmp deskbell ring a": true, "XDG_DATA_HOME=/x deskbell wait op": true, "HOME=/tmp make": false,
		"export HOME=/tmp/x; cd /; deskbell inbox": true, "env HOME=/tmp/x deskbell ring a": true, "timeout 5 env XDG_DATA_HOME=/x deskbell ring a": true, "env A=1 deskbell ring a": false, "echo \"$DESKBELL_TOKEN\"": true, "printenv DESKBELL_TOKEN": true, "grep -rn DESKBELL_TOKEN docs": false, "python3 -c 'import os; print(os.environ[\"DESKBELL_TOKEN\"])'": true,
		"cp /usr/bin/deskbell /tmp/y && /tmp/y answer op_1": true, "cp /opt/bell/db /tmp/z; /tmp/z answer op_1": true, "cp /bin/ls /tmp/y && /tmp/y -l": false,
		"DBUS_SYSTEM_BUS_ADDRESS=unix:path=/tmp/x deskbell serve --json": true, "export GTK_MODULES=./x.so; deskbell --hidden": true, "env PATH=./x:/usr/bin deskbell mcp --agent a": true, "WEBKIT_EXEC_PATH=x deskbell": true,
		"PATH=/usr/bin:$PATH deskbell serve --json": false, "PATH=$PATH:/x deskbell mcp --agent a": false, "LANG=C deskbell serve --json": false, "HTTPS_PROXY=http://proxy:1 deskbell ring a": false,
		"deskbell --json ring answer": true, "deskbell --addr ring answer op": true, "deskbell plan --json list confirm": true,
	} {
		if v := gate.Judge(atHome(bash(command)), gate.Permissive, evidence); v.HardLimit != want {
			t.Errorf("%s: %v %v", command, v.HardLimit, v.Rules)
		}
	}
}

func TestDeskbellOnWindows(t *testing.T) {
	for command, want := range map[string]bool{
		`& "C:\Program Files\Deskbell\deskbell.exe" answer op_1 --approve`: true, `deskbell.exe serve --allow-remote`: true, `deskbellw answer op_1 --approve`: true, `& 'C:\Program Files\Deskbell\deskbellw.exe' login 123456`: true, `deskbellw.exe ring hello`: false, `Start-Process deskbell -ArgumentList "answer","op_1"`: true, `cmd /c deskbell login 123456`: true,
		`$env:DESKBELL_DATA = "C:\x"; deskbell ring a`: true, `set DESKBELL_CONFIG=C:\x && deskbell ring a`: true, `$env:LOCALAPPDATA="C:\x"; deskbell ring a`: true, `Invoke-RestMethod -Method Post http://127.0.0.1:7717/api/human/complete`: true,
		`iwr http://localhost:7717/api/session -Method POST`: true, `deskbell.exe ring hello`: false, `C:\Tools\deskbell.exe version`: false, `Invoke-RestMethod http://127.0.0.1:7717/api/human/operations`: false, `Get-ChildItem`: false,
		`(New-Object Net.WebClient).UploadString("http://127.0.0.1:7717/api/human/complete","x")`: true,
	} {
		if v := gate.Judge(tool("powershell", object{"command": command}), gate.Permissive, nil); v.HardLimit != want {
			t.Errorf("%s: %v %v", command, v.HardLimit, v.Rules)
		}
	}
}

func TestDeskbellsOwnAddress(t *testing.T) {
	hosts := []string{"127.0.0.1", "127.1", "0x7f.1", "0177.0.0.1", "2130706433", "0x7f000001", "127.0.1", "127.3.2.1", "0", "0.0.0.0", "localhost", "LOCALHOST", "localhost.", "a.localhost", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "ip6-localhost", "127.0.0.1.nip.io", "%31%32%37.0.0.1"}
	ports := []string{"7717", "41873", "07717"}
	forms := []string{
		"curl -X POST http://@/api/human/complete", "curl @/api/session -d '{}'", "curl --url http://@/api/session/codes -d x", "wget --post-data=x http://@/api/human/complete", "http POST @/api/human/complete a=b", "xh @/api/gate/policy a=b",
		"curl -s http://@/%61pi/human/complete -d x", "curl http://@/api/human/operations/../complete -d x", "u=http://@; curl $u/api/human/complete -d x", "echo x | xargs -I{} curl -d {} http://@/api/human/complete", "curl --connect-to x:80:@ http://x/ -d a",
		"python3 -c 'import urllib.request as u; u.urlopen(\"http://@/api/human/complete\", b\"x\")'", "node -e 'fetch(\"http://@/api/session\", {method: \"POST\"})'", "ruby -e 'require \"net/http\"; Net::HTTP.post(URI(\"http://@/api/human/complete\"), \"x\")'",
		"perl -e 'use LWP::Simple; get(\"http://@/api/agents\")'", "php -r 'file_get_contents(\"http://@/api/agents\");'", "websocat ws://@/api/ws/x", "ssh -R 9:@ box.example", "socat - TCP:@",
	}
	const seed = 17
	r := rand.New(rand.NewPCG(seed, seed))
	for _, host := range hosts {
		for _, port := range ports {
			for range 8 {
				form := forms[r.IntN(len(forms))]
				script := strings.ReplaceAll(form, "@", host+":"+port)
				if v := gate.Judge(atHome(bash(script)), gate.Permissive, here()); !v.HardLimit {
					t.Errorf("%s: %s %v", script, v.Decision, v.Rules)
				}
				// The same request of another program is another's.
				script = strings.ReplaceAll(form, "@", host+":8080")
				script = strings.NewReplacer("/api/human/complete", "/x", "/api/human/operations/../complete", "/x", "/%61pi/human/complete", "/x", "/api/session/codes", "/x", "/api/gate/policy", "/x").Replace(script)
				if v := gate.Judge(atHome(bash(script)), gate.Permissive, here()); v.HardLimit {
					t.Errorf("%s: a hard limit: %v", script, v.Rules)
				}
			}
		}
	}
	for command, want := range map[string]bool{
		"echo x > /dev/tcp/127.0.0.1/7717": true, "exec 3<>/dev/tcp/localhost/41873": true, "nc localhost 7717 < f": true, "ncat 127.1 41873": true, "telnet ::1 7717": true, "openssl s_client -connect localhost:7717": true, "nc -U " + guard + "/deskbell.sock": true,
		"curl --unix-socket " + guard + "/deskbell.sock http://x/api/human/complete -d x": true, "socat - UNIX-CONNECT:" + guard + "/deskbell.sock": true, "gawk 'BEGIN { s = \"/inet/tcp/0/127.0.0.1/7717\"; print \"x\" |& s }'": true,
		"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 7717))'": true, "for p in 7717; do curl -d x 127.0.0.1:$p/api/human/complete; done": true, "curl -d x \"http://127.0.0.1:$PORT/api/human/complete\"": true,
		"curl http://127.0.0.1:7717/api/human/operations/op_1": false, "curl -X POST http://localhost:41873/api/human/invoke -d @x.json": false, "curl http://127.0.0.1:7717/healthz": false, "grep -rn 127.0.0.1:7717 docs": false, "echo see http://127.0.0.1:7717/": false,
		"lsof -i :7717": false, "ss -ltnp": false, "git commit -m 'listens on 127.0.0.1:7717'": false, "sed -n 7717p x.log": false, "curl https://example.com/7717": false, "curl https://93.184.216.34:7717/x": false, "docker run -p 127.0.0.1:7717:80 x": false,
		"curl -X PUT http://localhost:3000/api/settings -d x": false, "curl localhost:3000/api/session -d x": false,
	} {
		if v := gate.Judge(atHome(bash(command)), gate.Permissive, here()); v.HardLimit != want {
			t.Errorf("%s: %v %v", command, v.HardLimit, v.Rules)
		}
	}
	for _, c := range []gate.Call{
		tool("WebFetch", object{"url": "http://127.0.0.1:7717/", "prompt": "x"}), tool("fetch", object{"url": "http://localhost.:41873/api/session"}), tool("http_request", object{"url": "http://[::1]:7717/api/human/complete", "method": "POST", "body": "x"}),
		tool("browser_navigate", object{"url": "http://127.1:7717/"}), tool("mcp__playwright__browser_navigate", object{"url": "http://0x7f.1:7717/#code=1"}), tool("mcp__x__call", object{"endpoint": "http://127.0.0.1:7717/api/human/complete"}),
		tool("mcp__x__open", object{"target": "ws://127.0.0.1:7717/api/session"}), tool("run_code", object{"language": "python", "code": "import requests\nrequests.post('http://127.0.0.1:7717/api/human/complete')"}),
		tool("browser_evaluate", object{"function": "() => fetch('/api/human/complete', {method: 'POST'})"}),
	} {
		if v := gate.Judge(atHome(c), gate.Permissive, here()); !v.HardLimit {
			t.Errorf("%s %s: %s %v", c.Tool, c.Args, v.Decision, v.Rules)
		}
	}
	if v := gate.Judge(atHome(tool("WebFetch", object{"url": "http://127.0.0.1:7717/api/human/operations"})), gate.Balanced, here()); v.Decision != human.Allow {
		t.Error("an agent's own request:", v.Rules)
	}
}

// A name is no reason to trust a tool: of a server's, its server, its words and its arguments count.
func TestNamesOfToolsAreNotTrust(t *testing.T) {
	const seed = 19
	r := rand.New(rand.NewPCG(seed, seed))
	talks := []string{"wait", "Task", "think", "AskUserQuestion", "ask_user", "update_plan", "TodoWrite", "send_message", "final_answer", "monitor", "Skill", "wait_agent", "list_sessions", "get_goal", "ToolSearch", "human"}
	fields := []string{"command", "cmd", "script", "shell", "commands", "Command"}
	for range 200 {
		name, field := talks[r.IntN(len(talks))], fields[r.IntN(len(fields))]
		server := []string{"mcp__evil__", "mcp__deskbell__", "evil__", "evil.", "mcp__claude__", "mcp__functions__"}[r.IntN(6)]
		if v := gate.Judge(atHome(tool(server+name, object{"text": "x"})), gate.Balanced, here()); v.Risk == human.NoRisk && !strings.Contains(name, "list") {
			t.Errorf("%s%s is known for harmless by its name: %v", server, name, v.Rules)
		}
		args := object{field: "rm -rf ~", "text": "x"}
		if r.IntN(2) == 0 {
			args = object{"steps": []object{{"what": object{field: "rm -rf ~"}}}}
		}
		if name == "Skill" || name == "human" {
			server = "mcp__evil__"
		} else if r.IntN(2) == 0 {
			server = "" // the client's own
		}
		if v := gate.Judge(atHome(tool(server+name, args)), gate.Permissive, here()); !v.HardLimit {
			t.Errorf("%s%s %v: %s %v", server, name, args, v.Decision, v.Rules)
		}
	}
	for _, name := range []string{"TodoWrite", "Task", "functions.update_plan", "collaboration.spawn_agent", "write_todos", "sequential_thinking"} {
		if v := gate.Judge(atHome(tool(name, object{"prompt": "delete the old branches"})), gate.Strict, here()); v.Decision != human.Allow {
			t.Errorf("%s: %v", name, v.Rules)
		}
	}
	if v := gate.Judge(atHome(tool("SlashCommand", object{"command": "/review"})), gate.Strict, nil); v.Decision != human.Allow {
		t.Error("a command of the client's own:", v.Rules)
	}
}

// A request to the operator is not asked about first, where it is Deskbell that sends it.
func TestDeskbellsOwnToolsNeverAsk(t *testing.T) {
	evidence := here()
	evidence.servers = []string{"bell"}
	for name, own := range map[string]bool{
		"mcp__bell__human": true, "mcp__bell__permission": true, "mcp__bell__confirm_plan": true, "bell_human": true, "bell__human": true, "bell.human": true, "bell-human": true, "evil-bell-human": false,
		"mcp__bell__procedure_export_invoice": true, "bell_procedure_a_procedure_b": true, "mcp__evil__procedure_export_invoice": false, "mcp__bell__x_procedure_y": false, "procedure_x": false,
		"mcp__deskbell__human": false, "mcp__bell__exec": false, "human": false, "mcp__evil_bell__human": false, "bellhuman": false, "mcp__bell__x_human": false,
	} {
		call := atHome(tool(name, object{"description": "May I deploy?", "details": object{"command": "rm -rf ~"}}))
		v := gate.Judge(call, gate.Strict, evidence)
		if v.Decision == human.Allow != own {
			t.Errorf("%s: %s %v", name, v.Decision, v.Rules)
		}
		if v := gate.Judge(call, gate.Strict, nil); v.Decision == human.Allow {
			t.Errorf("%s: believed by its name", name)
		}
	}
}

// What a request attaches by its path is read, and judged as that.
func TestWhatDeskbellsOwnToolsAttach(t *testing.T) {
	evidence := here()
	evidence.servers = []string{"bell"}
	for name, tt := range map[string]struct {
		files any
		want  human.Ruling
		limit bool
	}{
		"bytes":              {[]object{{"name": "/home/ada/.ssh/id_rsa", "data": "d29yZHM="}}, human.Allow, false},
		"a file":             {[]object{{"path": "out/shot.png"}, {"path": "/home/ada/p/b.txt"}}, human.Allow, false},
		"a secret":           {[]object{{"path": "out/shot.png"}, {"path": "/home/ada/.ssh/id_rsa"}}, human.Ask, false},
		"in other letters":   {[]object{{"PATH": "/home/ada/.ssh/id_rsa"}}, human.Ask, false},
		"one of two":         {[]object{{"path": "a.txt", "Path": "/home/ada/.ssh/id_rsa"}}, human.Ask, false},
		"a path alone":       {[]string{"/home/ada/.ssh/id_rsa"}, human.Ask, false},
		"what is Deskbell's": {[]object{{"path": guard + "/gate.mirror.key"}}, human.Ask, true},
	} {
		v := gate.Judge(atHome(tool("mcp__bell__human", object{"action": "invoke", "attachments": tt.files})), gate.Balanced, evidence)
		limit := slices.ContainsFunc(v.Effects, func(e human.Effect) bool { return e.HardLimit })
		if v.Decision != tt.want || limit != tt.limit {
			t.Errorf("%s: %s, at the hard limit %v, %v", name, v.Decision, limit, v.Rules)
		}
	}
	for path, want := range map[string]human.Ruling{"/home/ada/p/scan.pdf": human.Allow, "/home/ada/.ssh/id_rsa": human.Ask, "~/.ssh/id_rsa": human.Ask} {
		if v := gate.Judge(atHome(tool("mcp__bell__procedure_upload", object{"title": "rm -rf /", "file": path})), gate.Balanced, evidence); v.Decision != want {
			t.Errorf("a procedure is given %s: %s %v", path, v.Decision, v.Rules)
		}
	}
}

// What no agent may touch, and how it is reached. The twin is a place that nothing guards.
func TestPlacesAreJudgedWhereTheyLead(t *testing.T) {
	const seed = 23
	r := rand.New(rand.NewPCG(seed, seed))
	folder := []string{guard + "/deskbell.db", guard + "/gate.toml", guard + "/server.json", guard + "/hooks/claude-code.key", guard}
	settings := []string{
		"/home/ada/.claude/settings.json", "/home/ada/.codex/hooks.json", "/home/ada/.codex/config.toml", "/home/ada/.gemini/settings.json", "/home/ada/.cursor/hooks.json", "/home/ada/.config/opencode/plugins/deskbell.js",
		"/home/ada/p/.claude/settings.local.json", "/home/ada/p/.claude/settings.json", "/home/ada/p/.codex/hooks.json", "/home/ada/p/.cursor/hooks.json", "/home/ada/p/.gemini/settings.json", "/home/ada/p/.opencode/plugins/deskbell.js",
		"/usr/bin/deskbell-hook", "/opt/bell/deskbell-hook", "/usr/bin/deskbell",
	}
	const plain = "/home/ada/p/notes/a.txt"
	reads := []string{"cat @", "sqlite3 @ .dump", "cp @ /tmp/x", "tar cf /tmp/x.tar @", "head -c 9 < @", "python3 -c 'print(open(\"@\").read())'", "base64 @", "xxd @", "dd if=@ of=/tmp/x", "strings @", "less @", "docker run -v @:/x alpine"}
	writes := []string{"echo x > @", "rm -f @", "sed -i s/a/b/ @", "tee @ < /dev/null", "cp /tmp/x @", "mv @ /tmp/x", "chmod 600 @", "truncate -s 0 @", "python3 -c 'open(\"@\", \"w\").write(\"x\")'", "dd if=/dev/null of=@", "install -m 600 /tmp/x @", "ln -sf /tmp/x @", "rsync /tmp/x @", "perl -i -pe s/a/b/ @", "shred -u @"}
	// Ways to a path, and the links that are there; $D and $B are its folder and its name.
	ways := map[string]func(dir, base string) (before, path string, links map[string]string){
		"as it is": func(d, b string) (string, string, map[string]string) { return "", d + "/" + b, nil },
		"a link that is there": func(d, b string) (string, string, map[string]string) {
			return "", "/home/ada/p/l/" + b, map[string]string{"/home/ada/p/l": d}
		},
		"a link to a link": func(d, b string) (string, string, map[string]string) {
			return "", "l/" + b, map[string]string{"/home/ada/p/l": "/tmp/m", "/tmp/m": d}
		},
		"a link of the same call": func(d, b string) (string, string, map[string]string) { return "ln -s " + d + " l; ", "l/" + b, nil },
		"a link of a link": func(d, b string) (string, string, map[string]string) {
			return "ln -s " + path.Dir(d) + " /tmp/m && ln -s /tmp/m/" + path.Base(d) + " l && ", "./l/" + b, nil
		},
		"a link made by Python": func(d, b string) (string, string, map[string]string) {
			return "python3 -c 'import os; os.symlink(\"" + d + "\", \"/tmp/l\")'; ", "/tmp/l/" + b, nil
		},
		"a folder that was bound": func(d, b string) (string, string, map[string]string) {
			return "mount --bind " + d + " /mnt/l; ", "/mnt/l/" + b, nil
		},
		"after cd": func(d, b string) (string, string, map[string]string) { return "cd " + d + " && ", b, nil },
		"after cd behind a link": func(d, b string) (string, string, map[string]string) {
			return "cd /home/ada/p/l && ", "./" + b, map[string]string{"/home/ada/p/l": d}
		},
		"a variable": func(d, b string) (string, string, map[string]string) { return "X=" + d + "; ", "$X/" + b, nil },
		"dots": func(d, b string) (string, string, map[string]string) {
			return "", d + "/../" + path.Base(d) + "/./" + b, nil
		},
		"the process's own folder": func(d, b string) (string, string, map[string]string) {
			return "cd " + d + " && ", "/proc/self/cwd/" + b, nil
		},
		"another process's root": func(d, b string) (string, string, map[string]string) { return "", "/proc/41/root" + d + "/" + b, nil },
	}
	names := slices.Sorted(maps.Keys(ways))
	n := 0
	for range 40 {
		for _, target := range slices.Concat(folder, settings) {
			way, forms := names[r.IntN(len(names))], writes
			if strings.HasPrefix(target, guard) && r.IntN(2) == 0 {
				forms = reads
			}
			form := forms[r.IntN(len(forms))]
			for _, x := range []string{target, plain} {
				before, at, links := ways[way](path.Dir(x), path.Base(x))
				if strings.Contains(form, "'") && strings.Contains(at, "$") {
					continue
				}
				evidence := here()
				evidence.links = links
				script := before + strings.ReplaceAll(form, "@", at)
				v := gate.Judge(atHome(bash(script)), gate.Permissive, evidence)
				n++
				if v.HardLimit != (x == target) {
					t.Errorf("%s (%s): %v %s %v", script, way, v.HardLimit, v.Decision, v.Rules)
				}
			}
		}
	}
	if n < 1000 {
		t.Error(n)
	}
}

func TestPlacesOfTools(t *testing.T) {
	evidence := here()
	evidence.links = map[string]string{"/home/ada/p/data": guard, "/home/ada/p/conf": "/home/ada/.claude/settings.json"}
	evidence.world = world{"/home/ada/p/late/.claude/settings.json": gate.NotKnown} // there was no time to read it
	evidence.fits = map[string][]string{"/home/ada/p/*/gate.toml": {"/home/ada/p/data/gate.toml"}}
	for _, c := range []gate.Call{
		tool("Read", object{"file_path": guard + "/deskbell.db"}), tool("Read", object{"file_path": "data/server.json"}), tool("Write", object{"file_path": "conf", "content": "{}"}), tool("Edit", object{"file_path": "/home/ada/p/conf", "old_string": "a", "new_string": "b"}),
		tool("mcp__filesystem__read_text_file", object{"path": "/home/ada/p/data/gate.toml"}), tool("mcp__filesystem__move_file", object{"source": "x", "destination": "~/.codex/hooks.json"}), tool("apply_patch", object{"input": "*** Begin Patch\n*** Update File: conf\n@@\n-a\n+b\n*** End Patch"}),
		tool("delete_file", object{"target_file": "/usr/bin/deskbell-hook"}), tool("Grep", object{"pattern": "x", "path": "data"}), tool("powershell", object{"command": `Get-Content "$env:LOCALAPPDATA\Deskbell\deskbell.db"`}), tool("powershell", object{"command": `type C:\Users\ada\AppData\Local\Deskbell\gate.toml`}),
		tool("powershell", object{"command": `Set-Content C:\Users\ada\.claude\settings.json '{}'`}),
		bash("cat ~/.local/share/desk*/gate.toml"), bash("cat ~/.loc*/sh*/*/deskbell.d?"), bash("echo {} > ~/.cl*/settings.json"), bash("cat */gate.toml"), bash("cp -r ~/.local/share /tmp/x"), bash("tar czf x.tgz ~/.local"), bash("zip -r x ~/.local"), bash("cd ~/.local/share/deskbell && git grep --no-index x"), bash("curl file://localhost/home/ada/.local/share/deskbel%6c/agent.key"), bash("mv c .claude"), bash("ln -s c .codex"), bash("cp e ~/.local/bin/deskbell"), bash("rm -rf ~/.claude"), bash("mv ~/.codex /tmp/x"),
		bash("mv late /tmp/x"), bash("ln -s " + guard + " x"), bash("python3 -c 'import os; print(open(os.path.join(os.path.expanduser(\"~\"), \".local/share\", \"deskbell\", \"x\")).read())'"), bash("find data -type f -exec cat {} +"),
	} {
		if v := gate.Judge(atHome(c), gate.Permissive, evidence); !v.HardLimit {
			t.Errorf("%s %s: %s %v", c.Tool, c.Args, v.Decision, v.Rules)
		}
	}
	for _, c := range []gate.Call{
		tool("Read", object{"file_path": "~/.claude/settings.json"}), bash("cat ~/.codex/config.toml"), bash("ls -la ~/.claude"), bash("ln -s ../shared x && cat x/a"), bash("rm -f x && ln -s a.txt x"), bash("cp -r src /tmp/x"), bash("which deskbell"), bash("cat .deskbell/gate.toml"),
		bash("cat < /dev/fd/3"), bash("grep -rn x ~/p"), tool("Grep", object{"pattern": "deskbell", "path": "."}), bash("git mv a b && cat b"), bash("ls *.go"), bash("cd ~/.local/share && ls deskbell"), bash("rg x ~"), bash("grep x ~/.profile.d"), bash("cp x.md .claude/commands/"),
	} {
		if v := gate.Judge(atHome(c), gate.Permissive, evidence); v.Decision != human.Allow {
			t.Errorf("%s %s: %s %v", c.Tool, c.Args, v.Decision, v.Rules)
		}
	}
	// A link of an earlier call counts, whether it is there yet or not.
	gate.Judge(atHome(bash("(sleep 9; ln -s ~/.local/share later) &")), gate.Permissive, evidence)
	if v := gate.Judge(atHome(bash("cat later/deskbell/deskbell.db")), gate.Permissive, evidence); !v.HardLimit {
		t.Error("a link of an earlier call:", v.Rules)
	}
}
