// Serve runs a server that speaks as the providers of models do, for trying Deskbell without one:
//
//	go run ./backend/llm/llmtest/serve -addr 127.0.0.1:0 -behave rate-limited,right
//
// It prints its address, {"url": "http://127.0.0.1:PORT", "key": "...", "model": "..."}, on one line, and then a line
// for each request on standard error.
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
	"time"

	"deskbell/backend/llm/llmtest"
)

func main() {
	names := make([]string, len(llmtest.Behaviours))
	for i, b := range llmtest.Behaviours {
		names[i] = string(b)
	}
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	behave := flag.String("behave", "right", "what to do with each request in turn, the last for ever, with commas between: "+strings.Join(names, ", "))
	pace := flag.Duration("pace", 200*time.Millisecond, "between two pieces of a slow answer")
	flag.Parse()
	var next []llmtest.Behaviour
	for name := range strings.SplitSeq(*behave, ",") {
		b := llmtest.Behaviour(strings.TrimSpace(name))
		if !slices.Contains(llmtest.Behaviours, b) {
			log.Fatalf("there is no behaviour %q; there are %s", b, strings.Join(names, ", "))
		}
		next = append(next, b)
	}
	s := llmtest.New(next...)
	s.Pace = *pace
	s.Wrong = func(problem string) { log.Printf("wrong request: %s", problem) }
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	said, err := json.Marshal(map[string]string{"url": "http://" + l.Addr().String(), "key": llmtest.Key, "model": llmtest.Model})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(said))
	log.SetOutput(os.Stderr)
	log.Fatal(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.Printf("%s %s", r.Method, r.URL.Path)
		s.ServeHTTP(w, r)
	})))
}
