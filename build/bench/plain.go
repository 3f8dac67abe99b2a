package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// plain measures requests over REST, what a processor spends on each, and the memory with many open requests, beside the plainest server
// that keeps what it acknowledges: one durable row for each call, and nothing else. They take turns.
func plain(ctx context.Context) error {
	fmt.Printf("\n## Beside a plain server that commits one row for each call\n\n| | requests a second, ours | plain | ratio | processor for each, ours, µs | plain | ratio |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, agents := range []int{1, 16, 64} {
		if err := plainTurns(agents); err != nil {
			return err
		}
	}
	fmt.Printf("\n| | memory with none, MiB | with %d, MiB | beyond none |\n| --- | --- | --- | --- |\n", *standing)
	for _, way := range []struct {
		name string
		open func() (*server, error)
	}{{"ours", func() (*server, error) {
		return serve(fmt.Sprintf("DESKBELL_HUMAN_MAX_PENDING_REQUESTS=%d", *standing))
	}}, {"plain", servePlainly}} {
		var used [2]int64
		for i, n := range []int{0, *standing} {
			s, err := way.open()
			if err != nil {
				return err
			}
			key, err := s.keyOrNone("bench")
			if err == nil && n > 0 {
				err = many(64, n, func(int) error { return s.call(key, "POST", "/api/human/invoke", invocation, nil) })
			}
			var r rest
			if err == nil {
				r, err = restOf(ctx, s.cmd.Process.Pid, *idleTime)
			}
			s.stop()
			if err != nil {
				return err
			}
			used[i] = r.memory
		}
		fmt.Printf("| %s | %d | %d | %d |\n", way.name, used[0]>>20, used[1]>>20, (used[1]-used[0])>>20)
	}
	return nil
}

func plainTurns(agents int) error {
	var rates [2]float64
	var spent, done [2]float64
	var servers [2]*server
	var keys [2]string
	for i, open := range []func() (*server, error){func() (*server, error) { return serve(manyPending) }, servePlainly} {
		s, err := open()
		if err != nil {
			return err
		}
		defer s.stop()
		servers[i] = s
		if keys[i], err = s.keyOrNone("bench"); err != nil {
			return err
		}
	}
	for range turns {
		for i, s := range servers {
			before, err := cpuOf(s.cmd.Process.Pid)
			if err != nil {
				return err
			}
			calls := make([]int, agents)
			r, err := rate(agents, func(w int) error {
				calls[w]++
				return s.call(keys[i], "POST", "/api/human/invoke", invocation, nil)
			})
			if err != nil {
				return err
			}
			after, err := cpuOf(s.cmd.Process.Pid)
			if err != nil {
				return err
			}
			rates[i] += r / turns
			spent[i] += float64((after - before).Microseconds())
			for _, n := range calls {
				done[i] += float64(n)
			}
		}
	}
	each := [2]float64{spent[0] / done[0], spent[1] / done[1]}
	fmt.Printf("| %d agents | %.0f | %.0f | **%.2f** | %.0f | %.0f | **%.1f** |\n", agents, rates[0], rates[1], rates[0]/rates[1], each[0], each[1], each[0]/each[1])
	return nil
}

// keyOrNone makes an agent's key; the plain server has none.
func (s *server) keyOrNone(name string) (string, error) {
	if s.token == "" {
		return "", nil
	}
	return s.key(name)
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
