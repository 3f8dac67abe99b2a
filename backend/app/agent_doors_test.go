//go:build linux

package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/agent"
	"deskbell/backend/human"
	"deskbell/backend/llm/llmtest"
	"deskbell/backend/transport/api"
)

// assistants is the program with the tools of the example agents, built once.
var assistants = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "assistants")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "assistants")
	out, err := exec.Command("go", "build", "-o", path, "deskbell/docs/examples/go/assistants").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// A remark is a message of the seeds' dialogs, and what becomes of it.
type remark struct {
	message string
	status  agent.Status
	answer  string
}

// The dialogs of the seeds in which it takes more than one turn, word by word.
var dialogs = map[string][]remark{
	"navigation": {{"我想去个地方", agent.WaitingInput, "好的，请问您想去哪里？"}, {"去故宫", agent.Done, "已开始导航到故宫。"}},
	"music": {
		{"播放音乐", agent.WaitingInput, "好的，请问想听什么歌？"}, {"周杰伦的", agent.WaitingInput, "好的，想听周杰伦的哪首歌？"},
		{"晴天", agent.Done, "正在播放周杰伦的《晴天》。"},
	},
	"car": {{"打开车窗", agent.WaitingInput, "好的，请问是哪个车窗？"}, {"主驾驶", agent.Done, "主驾驶车窗已打开。"}},
}

// did is what the tool of each dialog is called with at last.
var did = map[string]string{
	"navigation": `search_location {"query":"故宫"}`, "music": `play_music {"artist":"周杰伦","song":"晴天"}`, "car": `control_window {"action":"open","window":"driver"}`,
}

// A roomful is a workplace with the example agents, whose model plays the dialogs.
type roomful struct {
	*workplace
	env   []string
	flags []string
	home  string // where tools run
	away  func() // ends the operator's attendance
}

func newRoomful(t *testing.T, closed bool, slow func(message string), flags ...string) *roomful {
	t.Helper()
	program, err := assistants()
	if err != nil {
		t.Fatal(err)
	}
	h := &roomful{workplace: &workplace{dir: t.TempDir(), provider: "openai"}, home: t.TempDir(), flags: flags}
	text, err := os.ReadFile("../../docs/examples/agents/agents.toml")
	if err != nil {
		t.Fatal(err)
	}
	declaration := strings.ReplaceAll(strings.ReplaceAll(string(text), "./assistants", program), "\n\n[[agent.tools]]", "\nfolder = "+strconv.Quote(h.home)+"\n\n[[agent.tools]]")
	if closed {
		declaration = strings.Replace(declaration, "categories = [\"vehicle\"]\nopen = true", "categories = [\"vehicle\"]", 1)
	}
	writeFile(t, filepath.Join(h.dir, "agents.toml"), declaration)
	h.models, h.modelURL = llmtest.Start(t)
	h.modelURL += "/v1"
	h.env = []string{
		"DESKBELL_MODEL_PROVIDER=openai", "DESKBELL_MODEL_NAME=" + llmtest.Model, "DESKBELL_MODEL_BASE_URL=" + h.modelURL, "DESKBELL_MODEL_KEY=" + llmtest.Key,
	}
	h.open(t)
	h.key = key(t, h.dir, "worker")
	h.script(func(_ string, q llmtest.Request) llmtest.Answer {
		last := q.Turns[len(q.Turns)-1]
		message := last.Text
		for i := len(q.Turns) - 1; i >= 0 && message == ""; i-- {
			if q.Turns[i].Role == agent.User {
				message = q.Turns[i].Text
			}
		}
		if slow != nil {
			slow(message)
		}
		for name, all := range dialogs {
			for i, s := range all {
				if s.message != message {
					continue
				}
				ended := len(last.Results) > 0
				tool, args, _ := strings.Cut(did[name], " ")
				switch {
				case i < len(all)-1, ended:
					return llmtest.Answer{Text: s.answer}
				}
				return llmtest.Answer{Calls: []llmtest.Call{{Name: "mcp__" + name + "__" + tool, Args: json.RawMessage(args)}}}
			}
		}
		return llmtest.Answer{Text: "I do not know " + message}
	})
	return h
}

// open starts the server, and an operator who allows everything.
func (h *roomful) open(t *testing.T) {
	t.Helper()
	h.server = serve(t, h.dir, h.env, h.flags...)
	h.boss = operator(t, h.server.url, h.server.code)
	if h.away != nil {
		h.away()
	}
	h.away = h.attend(t, func(op human.Operation) {
		if op.Kind == human.Permission {
			h.judge(t, op, human.ChooseAllow)
		}
	})
}

// ran are the calls that the tools have noted.
func (h *roomful) ran(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.home, "assistants.json"))
	if err != nil {
		return nil
	}
	var list []struct {
		Tool string
		Args json.RawMessage
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		var short bytes.Buffer
		if err := json.Compact(&short, one.Args); err != nil {
			t.Fatal(err)
		}
		all = append(all, one.Tool+" "+short.String())
	}
	return all
}

// A door sends a message, and returns what became of it.
type door func(t *testing.T, h *roomful, name, message, session string) agent.Response

func byREST(t *testing.T, c *caller, name, message, session string) (r agent.Response) {
	t.Helper()
	c.good(t, "POST", "/api/agent/"+name+"/messages", object{"message": message, "session_id": session}, &r)
	return r
}

var doors = map[string]door{
	"terminal": func(t *testing.T, h *roomful, name, message, session string) agent.Response {
		args := []string{"chat", "--json", "--agent", name}
		if session != "" {
			args = append(args, "--session", session)
		}
		w := h.agentWith(t, h.home, "", append(args, message)...)
		<-w.ended
		return decode[agent.Response](t, w.out.String())
	},
	"console": func(t *testing.T, h *roomful, name, message, session string) agent.Response {
		return byREST(t, h.boss, name, message, session)
	},
	"REST": func(t *testing.T, h *roomful, name, message, session string) agent.Response {
		return byREST(t, newCaller(t, h.server.url, h.key), name, message, session)
	},
	"MCP": func(t *testing.T, h *roomful, name, message, session string) agent.Response {
		client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil)
		s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.server.url + "/mcp", HTTPClient: &http.Client{Transport: bearing{h.key}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		args := object{"agent": name, "message": message}
		if session != "" {
			args["session_id"] = session
		}
		for {
			result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "message_agent", Arguments: args})
			if err != nil || result.IsError {
				t.Fatalf("%+v, %v", result, err)
			}
			text, err := json.Marshal(result.StructuredContent)
			if err != nil {
				t.Fatal(err)
			}
			if r := decode[agent.Response](t, string(text)); r.Status != agent.Working {
				return r
			} else {
				args["session_id"] = r.SessionID
			}
		}
	},
}

// bearing adds a key to requests.
type bearing struct{ key string }

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return http.DefaultTransport.RoundTrip(r)
}

// M1, M2, M5: the seeds' dialogs, word by word, through every door.
func TestDialoguesThroughEveryDoor(t *testing.T) {
	t.Parallel()
	for name, send := range doors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newRoomful(t, false, nil)
			for who, all := range dialogs {
				session := ""
				for i, s := range all {
					r := send(t, h, who, s.message, session)
					if r.Agent != who || r.Query != s.message || r.Status != s.status || r.Message != s.answer || r.SessionID == "" || session != "" && r.SessionID != session ||
						(r.Status == agent.WaitingInput) != (r.Prompt == s.answer) || len(r.Data.History) < 2*i+2 {
						t.Errorf("%s, %s: %+v", who, s.message, r)
					}
					session = r.SessionID
				}
				if all := h.ran(t); len(all) == 0 || all[len(all)-1] != did[who] {
					t.Errorf("%s ran %q", who, all)
				}
			}
			// A conversation that one door began, another continues.
			first := send(t, h, "music", "播放音乐", "")
			if first.SessionID == "" {
				t.Fatalf("%+v", first)
			}
			if r := byREST(t, h.boss, "music", "晴天", first.SessionID); r.Status != agent.Done || r.Message != "正在播放周杰伦的《晴天》。" {
				t.Errorf("continued in the console: %+v", r)
			}
			var list api.RunList
			h.boss.good(t, "GET", "/api/agent/conversations", nil, &list)
			if len(list.Runs) != 4 || list.Runs[0].Agent == "" {
				t.Errorf("%d conversations: %+v", len(list.Runs), list.Runs)
			}
			var log agent.RunUpdates
			h.boss.good(t, "GET", "/api/agent/conversations/"+first.SessionID, nil, &log)
			var types []string
			for _, u := range log.Updates {
				types = append(types, string(u.Type))
			}
			if got := strings.Join(types, " "); got != "user_message conversational_response user_message task_init sub_task_result conversational_response" {
				t.Errorf("the conversation tells %s", got)
			}
		})
	}
}

// Whoever is killed in the middle of an answer: the process of the agent, the server with it, or the terminal. The same message again
// gets the answer, and nothing that was done is done twice.
func TestKilledInTheMiddleOfAnAnswer(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(t *testing.T, h *roomful, terminal *work){
		"the agent's process": func(t *testing.T, h *roomful, _ *work) {
			for _, pid := range childrenOf(t, h.server.cmd.Process.Pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		},
		"the server":   func(t *testing.T, h *roomful, _ *work) { h.server.kill() },
		"the terminal": func(_ *testing.T, _ *roomful, w *work) { w.kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached, leave := make(chan struct{}), make(chan struct{})
			once := sync.OnceFunc(func() { close(reached) })
			first := true
			var mu sync.Mutex
			h := newRoomful(t, false, func(message string) {
				mu.Lock()
				hold := first && message == "主驾驶"
				if hold {
					first = false
				}
				mu.Unlock()
				if hold {
					once()
					<-leave
				}
			})
			defer close(leave)
			session := byREST(t, h.boss, "car", "打开车窗", "").SessionID
			var w *work
			answered := make(chan agent.Response, 1)
			if name == "the terminal" {
				w = h.agentWith(t, h.home, "", "chat", "--json", "--agent", "car", "--session", session, "主驾驶")
			} else {
				boss := h.boss
				go func() {
					var r agent.Response
					if status, err := boss.call("POST", "/api/agent/car/messages", object{"message": "主驾驶", "session_id": session}, &r); err == nil && status == 200 {
						answered <- r
					}
				}()
			}
			<-reached
			kill(t, h, w)
			if name == "the server" {
				h.open(t)
			}
			var r agent.Response
			if name == "the agent's process" { // it is started again by itself
				select {
				case r = <-answered:
				case <-time.After(time.Minute):
					t.Fatal("no answer")
				}
			} else {
				r = byREST(t, h.boss, "car", "主驾驶", session)
			}
			if r.Status != agent.Done || r.Message != "主驾驶车窗已打开。" {
				t.Errorf("%+v", r)
			}
			if all := h.ran(t); len(all) != 1 || all[0] != did["car"] {
				t.Errorf("ran %q", all)
			}
		})
	}
}

// childrenOf are the processes that a process started.
func childrenOf(t *testing.T, pid int) (all []int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatal("no children are known", err)
	}
	for _, path := range tasks {
		text, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// What an agent's tools start counts as the agent's, though it descends from Deskbell's own process: it cannot do what only a person may.
func TestWhatAHostedAgentStarts(t *testing.T) {
	t.Parallel()
	h := newRoomful(t, false, nil, "--set", "server.check_callers=true")
	var made struct{ Code string }
	h.boss.good(t, "POST", "/api/session/codes", object{}, &made)
	host := strings.TrimPrefix(h.server.url, "http://")
	body := fmt.Sprintf(`{"code":%q}`, made.Code)
	signIn := fmt.Sprintf(`exec 3<>/dev/tcp/%s; printf 'POST /api/session HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' >&3; head -1 <&3`,
		strings.Replace(host, ":", "/", 1), host, len(body), body)
	h.script(func(news string, q llmtest.Request) llmtest.Answer {
		if strings.Contains(news, "HTTP/1.1") {
			return llmtest.Answer{Text: news}
		}
		return calls("shell", object{"command": "bash -c '" + strings.ReplaceAll(signIn, "'", `'\''`) + "'"})
	})
	if r := byREST(t, h.boss, "deskbell-agent", "Sign in.", ""); !strings.Contains(r.Message, "HTTP/1.1 403") {
		t.Errorf("an agent's shell signs in: %s", r.Message)
	}
}

// Other agents talk only with agents that are open to them, in conversations of their own.
func TestAgentsBehindTheDoor(t *testing.T) {
	t.Parallel()
	h := newRoomful(t, true, nil)
	worker := newCaller(t, h.server.url, h.key)
	var list struct{ Agents []struct{ Name string } }
	worker.good(t, "GET", "/api/agent", nil, &list)
	if len(list.Agents) != 2 { // of the three examples, one is not open
		t.Errorf("open to agents: %+v", list)
	}
	h.boss.good(t, "GET", "/api/agent", nil, &list)
	if len(list.Agents) != 4 {
		t.Errorf("all: %+v", list)
	}
	theirs := byREST(t, h.boss, "music", "播放音乐", "").SessionID
	for name, tt := range map[string]struct {
		path   string
		body   object
		status int
	}{
		"not open":             {"car", object{"message": "打开车窗"}, 403},
		"unknown":              {"bus", object{"message": "x"}, 404},
		"another's session":    {"music", object{"message": "晴天", "session_id": theirs}, 404},
		"no session":           {"music", object{"message": "晴天", "session_id": "chat_0"}, 404},
		"empty":                {"music", object{"message": " "}, 422},
		"a session that is no": {"music", object{"message": "晴天", "session_id": "../../x"}, 404},
	} {
		if status, err := worker.call("POST", "/api/agent/"+tt.path+"/messages", tt.body, nil); err != nil || status != tt.status {
			t.Errorf("%s: %d, %v; want %d", name, status, err, tt.status)
		}
	}
}
