package api

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

const benchRing = `{"action_type":"approve","description":"Deploy the new version to staging?","details":{"action":"make deploy ENV=staging","risk_level":"medium","impact":"staging restarts","rollback_plan":"make rollback"}}`

// BenchmarkInvoke rings over HTTP, from 64 clients that keep their connections.
func BenchmarkInvoke(b *testing.B) {
	h := openFixture(b, func(_ *Deps, q *queue.Options) { q.MaxPending = 1 << 30 })
	key := h.agent("bot")
	h.clients(b, 64, func() *http.Request {
		r, err := http.NewRequest("POST", h.url+"/api/human/invoke", bytes.NewReader([]byte(benchRing)))
		if err != nil {
			panic(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		return r
	}, http.StatusCreated)
}

// BenchmarkGet reads one operation the same way: what HTTP costs without a commit.
func BenchmarkGet(b *testing.B) {
	h := openFixture(b, nil)
	key := h.agent("bot")
	op := h.ring(key, "x")
	h.clients(b, 64, func() *http.Request {
		r, err := http.NewRequest("GET", h.url+"/api/human/operations/"+string(op.ID), nil)
		if err != nil {
			panic(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		return r
	}, http.StatusOK)
}

// BenchmarkCommit appends one event at a time, each durable before the next: what a queue without
// batches would do.
func BenchmarkCommit(b *testing.B) {
	h := openFixture(b, func(_ *Deps, q *queue.Options) { q.MaxPending = 1 << 30 })
	for b.Loop() {
		_, _, err := h.queue.Ring(b.Context(), human.Request{Kind: human.Approve, Description: "Deploy?", AgentID: "bot", Priority: 5}, false)
		must(b, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}

// clients makes b.N requests from n clients at once.
func (h *fixture) clients(b *testing.B, n int, make func() *http.Request, want int) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range n {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				answer, err := h.http.Do(make())
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				if answer.StatusCode != want {
					b.Errorf("status %d", answer.StatusCode)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}
