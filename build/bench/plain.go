package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"deskbell/build/serving"
)

var hld = flag.String("hld", "", "HumanLayer's daemon, to measure beside the others (plain)")

// A rival takes requests over REST and keeps what it acknowledges.
type rival struct {
	name string
	open func(agents int) (*server, error)
	path string
	body func(agent int) any
}

// rivals are Deskbell, the plainest server that keeps what it acknowledges (one durable row for each call, and nothing else), and
// HumanLayer's daemon where there is one.
func rivals() []rival {
	ours := func(int) any { return invocation }
	all := []rival{
		{"Deskbell", func(int) (*server, error) {
			return serve(fmt.Sprintf("DESKBELL_HUMAN_MAX_PENDING_REQUESTS=%d", max(100_000, *standing)))
		}, "/api/human/invoke", ours},
		{"plain", func(int) (*server, error) { return servePlainly() }, "/api/human/invoke", ours},
	}
	if *hld != "" {
		all = append(all, rival{"hld", serveHLD, "/api/v1/approvals", func(agent int) any {
			return map[string]any{"run_id": fmt.Sprint("run-", agent), "tool_name": "Bash", "tool_input": invocation["details"]}
		}})
	}
	return all
}

// plain measures requests over REST, what a processor spends on each, and the memory with many open requests, beside others. They take
// turns.
func plain(ctx context.Context) error {
	fmt.Printf("\n## Beside servers that commit each call by itself\n\n| agents | | requests a second | ours: theirs | processor for each, µs | ours: theirs |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, agents := range []int{1, 16, 64} {
		if err := plainTurns(agents); err != nil {
			return err
		}
	}
	fmt.Printf("\n| | memory with none, MiB | with %d, MiB | beyond none |\n| --- | --- | --- | --- |\n", *standing)
	const agents = 64
	for _, r := range rivals() {
		var used [2]int64
		for i, n := range []int{0, *standing} {
			s, err := r.open(agents)
			if err != nil {
				return err
			}
			key, err := s.keyOrNone("bench")
			if err == nil && n > 0 {
				err = many(agents, n, func(w int) error { return s.call(key, "POST", r.path, r.body(w%agents), nil) })
			}
			var at rest
			if err == nil {
				at, err = restOf(ctx, s.cmd.Process.Pid, *idleTime)
			}
			s.stop()
			if err != nil {
				return err
			}
			used[i] = at.memory
		}
		fmt.Printf("| %s | %d | %d | %d |\n", r.name, used[0]>>20, used[1]>>20, (used[1]-used[0])>>20)
	}
	return nil
}

func plainTurns(agents int) error {
	type standing struct {
		rival
		*server
		key               string
		rate, spent, done float64
	}
	var all []*standing
	for _, r := range rivals() {
		s, err := r.open(agents)
		if err != nil {
			return err
		}
		defer s.stop()
		key, err := s.keyOrNone("bench")
		if err != nil {
			return err
		}
		all = append(all, &standing{rival: r, server: s, key: key})
	}
	for range turns {
		for _, s := range all {
			before, err := cpuOf(s.cmd.Process.Pid)
			if err != nil {
				return err
			}
			calls := make([]int, agents)
			r, err := rate(agents, func(w int) error {
				calls[w]++
				return s.call(s.key, "POST", s.path, s.body(w), nil)
			})
			if err != nil {
				return err
			}
			after, err := cpuOf(s.cmd.Process.Pid)
			if err != nil {
				return err
			}
			s.rate += r / turns
			s.spent += float64((after - before).Microseconds())
			for _, n := range calls {
				s.done += float64(n)
			}
		}
	}
	ours := all[0]
	for _, s := range all {
		fmt.Printf("| %d | %s | %.0f | **%.2f** | %.0f | **%.1f** |\n", agents, s.name, s.rate, ours.rate/s.rate, s.spent/s.done, ours.spent/ours.done/(s.spent/s.done))
	}
	return nil
}

// keyOrNone makes an agent's key; only Deskbell has keys.
func (s *server) keyOrNone(name string) (string, error) {
	if s.token == "" {
		return "", nil
	}
	return s.key(name)
}

// serveHLD starts HumanLayer's daemon, with a session for each agent: it takes approvals only of sessions that it has.
func serveHLD(agents int) (*server, error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "daemon.db")
	s := &server{dir: dir, cmd: exec.Command(*hld)}
	s.URL = fmt.Sprint("http://127.0.0.1:", port)
	s.cmd.Env = append(os.Environ(), "HOME="+dir, "GIN_MODE=release", "HUMANLAYER_DATABASE_PATH="+file,
		"HUMANLAYER_DAEMON_SOCKET="+filepath.Join(dir, "socket"), fmt.Sprint("HUMANLAYER_DAEMON_HTTP_PORT=", port))
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := serving.Until(10*time.Second, "hld", func() bool { return s.call("", "GET", "/api/v1/health", nil, nil) == nil }); err != nil {
		s.stop()
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for i := range agents {
		if _, err := db.Exec(`INSERT INTO sessions (id, run_id, query, status, max_turns) VALUES (?, ?, 'bench', 'running', 0)`,
			fmt.Sprint("session-", i), fmt.Sprint("run-", i)); err != nil {
			s.stop()
			return nil, err
		}
	}
	return s, nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// servePlainly starts the plain server, which is this program once more.
func servePlainly() (*server, error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, cmd: exec.Command(self, "-only", plainServer, "-keep", dir)}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	s.URL = strings.TrimSpace(line)
	return s, err
}

const plainServer = "plain-server"

// servesPlainly is the plain server: it decodes a request, commits it as a row and returns its number.
func servesPlainly(context.Context) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(*keep, "plain.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE requests (id INTEGER PRIMARY KEY, at INTEGER, state TEXT, body TEXT)`); err != nil {
		return err
	}
	insert, err := db.Prepare(`INSERT INTO requests (at, state, body) VALUES (?, 'pending', ?)`)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request map[string]any
		body, err := io.ReadAll(r.Body)
		err = errors.Join(err, json.Unmarshal(body, &request))
		var id int64
		if err == nil {
			var done sql.Result
			if done, err = insert.Exec(time.Now().UnixMicro(), string(body)); err == nil {
				id, err = done.LastInsertId()
			}
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"operation_id": id, "state": "pending"})
	})
	return http.Serve(listener, handler) //nolint:gosec // it is gone when the measurement is
}
