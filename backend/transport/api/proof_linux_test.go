package api

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate/callers"
	"deskbell/backend/human"
	"deskbell/backend/platform/processes"
	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
)

// BenchmarkProof reports what it costs to look who calls (caller) and to make a receipt (receipt): microseconds of processor time
// of the whole process, system's part included (cpu), and of waiting for the reply (wait). Four servers take turns, alike but that
// one does neither, one each, and one both; a figure is the median over the turns of the difference to the server that does
// neither. An operation is one turn:
//
//	go test -run - -bench Proof -benchtime 40x ./backend/transport/api
func BenchmarkProof(b *testing.B) {
	const deploy = `{"tool":"bash","args":{"command":"git status"},"cwd":"/","session_id":"s"}`
	agents := func(path, body string, status int) func(*prover) (func(), error) {
		return func(p *prover) (func(), error) { return p.call(p.key, path, body, status), nil }
	}
	verdict := func(p *prover) (func(), error) {
		op, _, err := p.queue.Ring(context.Background(), human.Request{
			Kind: human.Approve, AgentID: "bot", Description: "Deploy the new version to staging?",
			Details: []byte(`{"action":"make deploy ENV=staging","risk_level":"medium","impact":"staging restarts","rollback_plan":"make rollback"}`),
			Timeout: 300, Priority: human.DefaultPriority,
		}, false)
		return p.call(p.op, "/api/human/complete", idBody(op.ID, `,"decision":"approve","digest":"`+op.Digest+`"`), 200), err
	}
	for _, act := range []struct {
		name  string
		agent bool // calls, and not an operator
		fresh bool // each call has a connection of its own, over the socket, as of a program that just began; else one over TCP
		make  func(*prover) (do func(), err error)
	}{
		{"ring", true, false, agents("/api/human/invoke", benchRing, 201)},
		{"ring by a new process", true, true, agents("/api/human/invoke", benchRing, 201)},
		{"verdict by the gatekeeper for a hook", true, true, agents("/api/gate/evaluate", deploy, 200)},
		{"verdict by the operator", false, false, verdict},
		{"verdict by the operator from a new process", false, true, verdict},
	} {
		b.Run(act.name, func(b *testing.B) {
			const calls = 20
			servers := map[string]*prover{}
			for _, name := range provers {
				servers[name] = openProver(b, name, act.agent, act.fresh)
			}
			cpus, waits := map[string][]float64{}, map[string][]float64{}
			for turn := range b.N {
				var used, waited [len(provers)]float64
				for i := range provers {
					at := (i + turn) % len(provers)
					p := servers[provers[at]]
					var todo [calls]func()
					for j := range todo {
						do, err := act.make(p)
						must(b, err)
						todo[j] = do
					}
					took := make([]float64, calls)
					before := cpu(b)
					for j, do := range todo {
						began := time.Now()
						do()
						took[j] = float64(time.Since(began).Nanoseconds()) / 1000
					}
					used[at] = float64((cpu(b) - before).Nanoseconds()) / 1000 / calls
					waited[at] = median(took)
				}
				for i, name := range provers[1:] {
					cpus[name], waits[name] = append(cpus[name], used[i+1]-used[0]), append(waits[name], waited[i+1]-waited[0])
				}
				cpus[provers[0]], waits[provers[0]] = append(cpus[provers[0]], used[0]), append(waits[provers[0]], waited[0])
			}
			b.ReportMetric(0, "ns/op")
			for _, name := range provers {
				b.ReportMetric(median(cpus[name]), name+"-cpu-µs")
				b.ReportMetric(median(waits[name]), name+"-wait-µs")
			}
		})
	}
}

// provers are the four servers; the figures of the first are its own.
var provers = [...]string{"neither", "caller", "receipt", "both"}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// A prover is a server and a client of it.
type prover struct {
	*fixture
	key  string
	dial func() net.Conn
	conn net.Conn // nil: each call has its own
}

func openProver(b *testing.B, name string, agent, fresh bool) *prover {
	seen := &seen{pid: os.Getpid()}
	p := &prover{fixture: openFixture(b, func(d *Deps, o *queue.Options) {
		o.MaxPending = 1 << 30
		if name == "neither" || name == "caller" {
			o.Receipts = nil
		}
		if name == "neither" || name == "receipt" {
			return
		}
		var err error
		d.Callers, err = callers.New(b.Context(), callers.Deps{
			Processes: seen, Store: d.Keys.(*sqlite.Store).Attempts(), Self: -1, Mask: strings.ToLower, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Load: func() ([]byte, error) { return nil, os.ErrNotExist }, Save: func([]byte) error { return nil },
			NewID: func(prefix string) string { return prefix + rand.Text() },
		})
		must(b, err)
	})}
	p.key = p.agent("bot")
	socket, err := ListenSocket(filepath.Join(b.TempDir(), "s"))
	must(b, err)
	server := &http.Server{Handler: p.Server, ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		return p.withCaller(ctx, &connection{Conn: c})
	}}
	ended := make(chan error)
	go func() { ended <- server.Serve(socket) }()
	b.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			b.Error(err)
		}
	})
	p.dial = func() net.Conn {
		c, err := net.Dial("unix", socket.Addr().String())
		must(b, err)
		return c
	}
	if agent && fresh {
		p.call(p.key, "/api/gate/evaluate", `{"tool":"bash","args":{"command":"ls"}}`, 200)() // from here on this process is an agent's
		// And calls come from one that a shell began which it started, as of a hook.
		hook := exec.Command("/bin/sh", "-c", "cat; true")
		in, err := hook.StdinPipe()
		must(b, err)
		must(b, hook.Start())
		b.Cleanup(func() {
			_ = in.Close()
			_ = hook.Wait()
		})
		seen.pid = childOf(b, hook.Process.Pid)
	}
	if !fresh {
		p.conn, err = net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		must(b, err)
		b.Cleanup(func() { _ = p.conn.Close() })
		token := p.op
		if agent {
			token = p.key
		}
		p.call(token, "/api/human/operations?limit=1", "", 200)()
	}
	return p
}

// childOf is the process that another one started; it may be about to.
func childOf(b *testing.B, parent int) int {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
		must(b, err)
		var child int
		if _, err := fmt.Sscan(string(text), &child); err == nil {
			return child
		}
	}
	b.Fatal("the shell started nothing")
	return 0
}

// seen are the processes of this machine. What calls over a socket is seen as the process pid, as costly as it is.
type seen struct {
	processes.System
	pid int
}

func (s *seen) PeerID(conn net.Conn) (int, error) {
	if _, err := s.System.PeerID(conn); err != nil {
		return 0, err
	}
	return s.pid, nil
}

// call returns a call that has been written, but for sending it.
func (p *prover) call(token, path, body string, want int) func() {
	method := "POST"
	if body == "" {
		method = "GET"
	}
	request := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, strings.TrimPrefix(p.url, "http://"), token, len(body), body)
	return func() {
		conn := p.conn
		if conn == nil {
			conn = p.dial()
			defer conn.Close()
		}
		_, err := conn.Write(request)
		must(p.t, err)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		must(p.t, err)
		text, err := io.ReadAll(answer.Body)
		must(p.t, err)
		if answer.StatusCode != want {
			p.t.Fatalf("%s: %d %s", path, answer.StatusCode, text)
		}
	}
}
