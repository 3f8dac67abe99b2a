package api

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/transport/telemetry"
)

// BenchmarkRing reports the processor time of a durable ring, all threads and the system's part included, in microseconds.
// 64 agents ring at once; what rings leave to do behind their acknowledgment counts, too. "over REST" contains its clients;
// "with metrics" is the same with metrics counted meanwhile; "HTTP alone" is what they and net/http cost for a call of the same size that does nothing.
//
//	go test -run - -bench Ring -benchtime 20000x -count 5 ./backend/transport/api
func BenchmarkRing(b *testing.B) {
	const agents = 64
	many := func(_ *Deps, q *queue.Options) { q.MaxPending = 1 << 30 }
	b.Run("in process", func(b *testing.B) {
		h := openFixture(b, many)
		each(b, h, agents, func(agent int) func() error {
			name := fmt.Sprint("agent-", agent)
			return func() error {
				_, _, err := h.queue.Ring(context.Background(), human.Request{
					Kind: human.Approve, Description: "Deploy the new version to staging?", AgentID: name,
					Details: []byte(`{"action":"make deploy ENV=staging","risk_level":"medium","impact":"staging restarts","rollback_plan":"make rollback"}`),
					Timeout: 300, Priority: human.DefaultPriority,
				}, false)
				return err
			}
		})
	})
	overREST := func(b *testing.B, h *fixture) {
		keys := make([]string, agents)
		for i := range keys {
			keys[i] = h.agent(fmt.Sprint("agent-", i))
		}
		each(b, h, agents, func(agent int) func() error { return invoker(b, h.url, keys[agent], 201) })
	}
	b.Run("over REST", func(b *testing.B) { overREST(b, openFixture(b, many)) })
	b.Run("with metrics", func(b *testing.B) {
		m := telemetry.NewMetrics(telemetry.Server{Version: "1.2.3", Log: slog.Default(), Now: time.Now})
		h := openFixtureOn(b, many, m.Journal)
		ctx, stop := context.WithCancel(b.Context())
		var following sync.WaitGroup
		following.Go(func() {
			if err := m.Run(ctx, h.queue, human.Actor{Role: human.Operator, Name: "ada"}, 0); err != nil {
				b.Error(err)
			}
		})
		overREST(b, h)
		stop()
		following.Wait()
	})
	b.Run("HTTP alone", func(b *testing.B) {
		body := strings.Repeat("x", 700)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, body)
		}))
		defer server.Close()
		each(b, nil, agents, func(int) func() error { return invoker(b, server.URL, strings.Repeat("k", 44), 200) })
	})
}

// invoker returns a call of POST /api/human/invoke on a connection of its own, that costs next to nothing but the
// system's part.
func invoker(b *testing.B, url, key string, want int) func() error {
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	must(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	request := fmt.Appendf(nil, "POST /api/human/invoke HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		host, key, len(benchRing), benchRing)
	answer := bufio.NewReader(conn)
	return func() error {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		status, err := answer.ReadSlice('\n')
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(status, fmt.Appendf(nil, "HTTP/1.1 %d ", want)) {
			return fmt.Errorf("%s, want %d", status, want)
		}
		length := 0
		for {
			line, err := answer.ReadSlice('\n')
			if err != nil {
				return err
			}
			if line = bytes.TrimSpace(line); len(line) == 0 {
				break
			}
			if value, is := bytes.CutPrefix(line, []byte("Content-Length: ")); is {
				if length, err = strconv.Atoi(string(value)); err != nil {
					return err
				}
			}
		}
		_, err = answer.Discard(length)
		return err
	}
}

// each makes b.N calls by n callers at once; caller makes the function that the callers each repeat. A search of h at the
// end waits for what the calls left to do.
func each(b *testing.B, h *fixture, n int, caller func(int) func() error) {
	calls := make([]func() error, n)
	for i := range calls {
		calls[i] = caller(i)
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu(b)
	for _, call := range calls {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if h != nil {
		_, err := h.store.List(b.Context(), queue.Filter{Text: "nowhere"})
		must(b, err)
	}
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}

// cpu is the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
