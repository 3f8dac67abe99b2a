// Serve runs a server that speaks as the providers of models do, for trying Deskbell without one, and for tests in any
// language:
//
//	go run ./backend/llm/llmtest/serve -addr 127.0.0.1:0 -behave rate-limited,right
//	go run ./backend/llm/llmtest/serve -addr 127.0.0.1:0 -script script.json
//
// It prints its address, {"url": "http://127.0.0.1:PORT", "key": "...", "model": "..."}, on one line, and then a line
// for each request on standard error. Clients of Anthropic's Messages take the address as their base URL, clients of
// OpenAI's chat completions the address and "/v1"; both may stream or not. Requests are checked as the real servers
// check them, and answered with status 400 where those would. Of Anthropic's protocol it speaks version 2023-06-01, as do
// the SDKs for Go and Python; that for TypeScript does up to 0.x.
//
// With -behave it answers requests for one answer of a given shape, as summarizers and the gatekeeper make them (a schema,
// or one tool that has to be called). With -script it answers conversations as well, of which each step of the script is
// one answer. A script for "look for the folder's tests, run them, say what came of it":
//
//	{"steps": [
//	  {"when": {"says": "run the tests"},
//	   "take": {"dir": "in the folder (\\S+)"},
//	   "text": "I look for them first.",
//	   "calls": [{"name": "list_files", "args": {"path": "${dir}"}},
//	             {"name": "read_file", "args": {"path": "${dir}/go.mod"}}]},
//	  {"do": "overloaded"},
//	  {"when": {"result": "main_test.go"},
//	   "calls": [{"name": "shell", "args": {"command": "go test ./..."}}]},
//	  {"when": {"result": "FAIL"}, "text": "One test fails."}
//	]}
//
// A request is answered by the first step that is not used up and whose "when" holds; without "when" that is each in its
// turn. Where there is none the request gets status 400. A step has:
//
//	when         all that is given has to hold; texts have to stand in what is named, as they are:
//	               says      what the user said since the model's last words
//	               result    the results of tools since then
//	               first     the first message of the user: tells conversations apart
//	               anywhere  the conversation
//	               system    the system prompt
//	               tool      name of a tool that is on offer
//	               provider  anthropic or openai
//	times        how many requests it answers; 1 without, and negative for all that come
//	text         what the model says
//	calls        tools it calls: name, args (an object) or args_text (as it is, for arguments that are no JSON), and id,
//	             where it matters
//	thinking     what it thinks before: has to come back with the results of the calls, as with models that think
//	redacted     thoughts that only the server could read, likewise; of Anthropic's protocol
//	take         names for what regular expressions find last in the conversation: ${NAME} in text and calls is then
//	             their first group
//	do           right (as without), slow, rate-limited (429, with a pause of 2 s), rate-limited-long, no-credit,
//	             overloaded (529 or 503), overloaded-midway (an error among the events), bad-gateway, denied,
//	             unknown-model, too-long, cut (the connection breaks in the middle), short, stall, silent, pings,
//	             truncated (by the limit of tokens), `refusal`, huge, page, elsewhere
//	wait_ms      before the answer begins
//	pace_ms      between two of its pieces, where it is streamed
//	tokens_in, tokens_out  what it says it used
//
// With -script, GET /script says how it stands: {"left": [steps, from 1, that have not answered what they are for],
// "wrong": [what was wrong with requests with errors], "requests": [all others, as they were understood]}. PUT
// /script puts another script in its place.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"deskbell/backend/llm/llmtest"
)

func main() {
	names := make([]string, len(llmtest.Behaviours))
	for i, b := range llmtest.Behaviours {
		names[i] = string(b)
	}
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	behave := flag.String("behave", "right", "what to do with each request for one answer in turn, the last for ever, with commas between: "+strings.Join(names, ", "))
	script := flag.String("script", "", "file with the script of a conversation")
	pace := flag.Duration("pace", 200*time.Millisecond, "between two pieces of a slow answer")
	flag.Parse()
	var next []llmtest.Behavior
	for name := range strings.SplitSeq(*behave, ",") {
		b := llmtest.Behavior(strings.TrimSpace(name))
		if !slices.Contains(llmtest.Behaviours, b) {
			log.Fatalf("there is no behavior %q; there are %s", b, strings.Join(names, ", "))
		}
		next = append(next, b)
	}
	log.SetOutput(os.Stderr)
	state := &state{Server: llmtest.New(next...)}
	state.Pace = *pace
	state.Wrong = state.refused
	if *script != "" {
		if err := state.open(*script); err != nil {
			log.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	said, err := json.Marshal(map[string]string{"url": "http://" + l.Addr().String(), "key": llmtest.Key, "model": llmtest.Model})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(said))
	log.Fatal(http.Serve(l, state.handler()))
}

// state is the server with what was wrong so far.
type state struct {
	*llmtest.Server
	mu    sync.Mutex
	wrong []string
}

func (s *state) refused(problem string) {
	log.Printf("wrong request: %s", problem)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, problem)
}

func (s *state) open(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	read, err := llmtest.Load(f)
	if err == nil {
		s.Script(read.Steps...)
	}
	return err
}

func (s *state) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /script", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		wrong := append([]string{}, s.wrong...)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"left": s.Left(), "wrong": wrong, "requests": s.Requests()}) // the client may have gone
	})
	mux.HandleFunc("PUT /script", func(w http.ResponseWriter, r *http.Request) {
		read, err := llmtest.Load(http.MaxBytesReader(w, r.Body, 8<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.Script(read.Steps...)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		log.Printf("%s %s", r.Method, r.URL.Path)
		s.ServeHTTP(w, r)
	})
	return mux
}
