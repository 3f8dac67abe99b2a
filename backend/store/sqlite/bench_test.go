package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"testing"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
)

// BenchmarkRings compares what group commit is for: rings by 1, 16 and 64 callers against a journal row
// stored alone, one durable transaction each on one connection. The four take turns, so that a disk or a
// processor that others use slows them all alike; the figures are medians over the turns:
//
//	go test -run - -bench Rings -benchtime 20x ./backend/store/sqlite
func BenchmarkRings(b *testing.B) {
	db, err := connect(filepath.Join(b.TempDir(), "single.db"), 1, "journal_mode(WAL)", "synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE journal (seq INTEGER PRIMARY KEY, id TEXT, payload TEXT)`); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare(`INSERT INTO journal (id, payload) VALUES (?, ?)`)
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close()
	var r row
	err = r.encode(human.Entry{ID: "op_1", Version: 1, Event: ring("Please look at the failing deployment of the billing service")})
	if err != nil {
		b.Fatal(err)
	}
	s := openJournal(b, b.TempDir())
	defer s.Close()

	callers := []int{1, 16, 64}
	rates := map[int][]float64{}
	ratios := map[int][]float64{}
	for turn := range b.N {
		const singles = 200
		start := time.Now()
		for i := range singles {
			if _, err := insert.Exec(fmt.Sprintf("op_%026d", i), r.payload); err != nil {
				b.Fatal(err)
			}
		}
		single := singles / time.Since(start).Seconds()
		rates[0] = append(rates[0], single)
		for _, c := range callers {
			n := 100 + 30*c
			rate := float64(n) / journaltest.Rings(b, s, c, fmt.Sprintf("op_%d_%d", turn, c), n).Seconds()
			rates[c] = append(rates[c], rate)
			ratios[c] = append(ratios[c], rate/single)
		}
	}
	median := func(of []float64) float64 { slices.Sort(of); return of[len(of)/2] }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(rates[0]), "single/s")
	for _, c := range callers {
		b.ReportMetric(median(rates[c]), fmt.Sprintf("by%d/s", c))
		b.ReportMetric(median(ratios[c]), fmt.Sprintf("by%d:single", c))
	}
}

// BenchmarkLists measures first pages and searches over DESKBELL_BENCH_OPERATIONS operations, made in
// DESKBELL_BENCH_DIR unless they are there from the last time. Without the two it does nothing: a million
// take minutes to make and gigabytes to keep.
func BenchmarkLists(b *testing.B) {
	dir := os.Getenv("DESKBELL_BENCH_DIR")
	n, err := strconv.Atoi(os.Getenv("DESKBELL_BENCH_OPERATIONS"))
	if dir == "" || err != nil {
		b.Skip("DESKBELL_BENCH_DIR and DESKBELL_BENCH_OPERATIONS are not set")
	}
	s, err := Open(b.Context(), dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	load(b, s, n)
	for _, tt := range []struct {
		name string
		f    queue.Filter
	}{
		{"newest", queue.Filter{}},
		{"urgent", queue.Filter{Order: queue.Urgent}},
		{"recent", queue.Filter{Order: queue.Recent}},
		{"open, urgent", queue.Filter{Open: true, Order: queue.Urgent}},
		{"open, newest", queue.Filter{Open: true}},
		{"declined, newest", queue.Filter{States: []human.State{human.Declined}}},
		{"declined, recent", queue.Filter{States: []human.State{human.Declined}, Order: queue.Recent}},
		{"completed, recent", queue.Filter{States: []human.State{human.Completed}, Order: queue.Recent}},
		{"busy agent, newest", queue.Filter{AgentID: "agent-1"}},
		{"busy agent, recent", queue.Filter{AgentID: "agent-1", Order: queue.Recent}},
		{"rare agent, recent", queue.Filter{AgentID: "rare", Order: queue.Recent}},
		{"busy agent and rare kind", queue.Filter{AgentID: "agent-1", Kind: human.Desktop}},
		{"busy agent and rare kind, urgent", queue.Filter{AgentID: "agent-1", Kind: human.Desktop, Order: queue.Urgent}},
		{"last hour", queue.Filter{Since: epoch.Add(time.Duration(n)*time.Second - time.Hour)}},
		{"last half, newest", queue.Filter{Since: epoch.Add(time.Duration(n) * time.Second / 2)}},
		{"word in all", queue.Filter{Text: "deployment"}},
		{"letter in all", queue.Filter{Text: "d"}},
		{"prefix of many words", queue.Filter{Text: "word1"}},
		{"rare word", queue.Filter{Text: "unicorn"}},
		{"word of one in a thousand", queue.Filter{Text: "word77"}},
		{"no such word", queue.Filter{Text: "nowhere"}},
		{"two that never meet", queue.Filter{Text: "evenly oddly"}},
		{"Chinese in all", queue.Filter{Text: "请检查部署"}},
		{"Chinese, rare", queue.Filter{Text: "独角兽"}},
		{"Chinese that never meets", queue.Filter{Text: "署检"}},
		{"word in all, busy agent", queue.Filter{Text: "deploy", AgentID: "agent-1"}},
		{"word in all, rare agent", queue.Filter{Text: "deploy", AgentID: "rare"}},
		{"word in all, open", queue.Filter{Text: "deploy", Open: true}},
		{"word in all, declined", queue.Filter{Text: "deploy", States: []human.State{human.Declined}}},
		{"word in all, recent", queue.Filter{Text: "deploy", Order: queue.Recent}},
		{"rare word, recent", queue.Filter{Text: "unicorn", Order: queue.Recent}},
		{"word of one in a thousand, recent", queue.Filter{Text: "word77", Order: queue.Recent}},
		{"word in all, urgent", queue.Filter{Text: "deploy", Order: queue.Urgent}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			var found int
			var slowest time.Duration
			for b.Loop() {
				start := time.Now()
				page, err := s.List(b.Context(), tt.f)
				if err != nil {
					b.Fatal(err)
				}
				found = len(page.Operations)
				slowest = max(slowest, time.Since(start))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
			b.ReportMetric(float64(slowest.Microseconds())/1000, "ms/slowest")
			b.ReportMetric(float64(found), "found")
		})
	}
	b.Run("authenticate", func(b *testing.B) {
		key, err := s.AddKey(b.Context(), "bench", true)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := s.Authenticate(b.Context(), key); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("open operations", func(b *testing.B) {
		for b.Loop() {
			found := 0
			if err := s.Open(b.Context(), func(queue.Standing) error { found++; return nil }); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(found), "found")
		}
	})
}

// load makes n operations, all but the last 500 and a few strays ended.
func load(b *testing.B, s *Store, n int) {
	b.Helper()
	page, err := s.List(b.Context(), queue.Filter{Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	if len(page.Operations) > 0 {
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 128 {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				at := epoch.Add(time.Duration(i) * time.Second)
				agent, kind, parity := fmt.Sprintf("agent-%d", min(i%10, 3)), kind.ForAgents()[i%2], "evenly"
				if i%2 == 1 {
					parity = "oddly"
				}
				if i%(n/20) == 0 {
					agent, kind, parity = "rare", human.Desktop, "unicorn 独角兽"
				}
				text := fmt.Sprintf("deployment of service word%d is %s broken, word%d and word%d 请检查部署 %d", i%1000, parity, i%77, i%5000, i)
				e := ring(text, by(agent), func(r *human.Request) {
					r.Kind, r.Priority = kind, i%10
					r.Details = fmt.Appendf(nil, `{"action":"kubectl rollout undo deployment/%d","risk_level":"medium","rollback_plan":"roll forward again"}`, i)
				})
				e.At = at
				events := []human.Event{e}
				if i <= n-500 && i%(n/50) != 1 {
					end := done("rolled back, all is well")
					end.Answer.KeyFindings = []string{fmt.Sprintf("the account of client%d is paid by the vendor, 账户由供应商支付", i%5000)}
					if i%(n/20) == 7 {
						end.Answer.KeyFindings = append(end.Answer.KeyFindings, "a zebra stands in the deployment")
					}
					if i%(n/200) == 0 {
						end = declined("not now")
					}
					end.At = at.Add(time.Minute)
					events = append(events, end)
				}
				if _, err := s.Append(context.Background(), human.OperationID(fmt.Sprintf("op_%026d", i)), 0, events...); err != nil {
					b.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	const batch = 5000
	for from := 0; from < n; from += batch {
		if err := s.do(b.Context(), func(ctx context.Context, w *writer) error {
			for i := from; i < min(from+batch, n); i++ {
				d := service.Decision{ID: fmt.Sprintf("dec_%d", i), At: epoch.Add(time.Duration(i) * time.Second), Agent: "agent-1", Project: "/home/ann/shop",
					Tool: "Bash", Call: fmt.Sprintf("aws s3 ls s3://bucket%d/logs --page %d", i%3000, i), Decision: human.Allow}
				if i%(n/20) == 7 {
					d.Call = "aws zebra describe"
				}
				data, err := json.Marshal(d)
				if err != nil {
					return err
				}
				if err := w.insertDecision(ctx, d, string(data)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch measures one search over the operations and as many decisions of BenchmarkLists, all groups together:
//
//	DESKBELL_BENCH_DIR=DIR DESKBELL_BENCH_OPERATIONS=1000000 go test -run - -bench Search -timeout 2h ./backend/store/sqlite
func BenchmarkSearch(b *testing.B) {
	dir := os.Getenv("DESKBELL_BENCH_DIR")
	n, err := strconv.Atoi(os.Getenv("DESKBELL_BENCH_OPERATIONS"))
	if dir == "" || err != nil {
		b.Skip("DESKBELL_BENCH_DIR and DESKBELL_BENCH_OPERATIONS are not set")
	}
	s, err := Open(b.Context(), dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	load(b, s, n)
	for _, text := range []string{"d", "a", "deployment", "deployment of service", "word77", "word1", "unicorn", "zebra", "evenly oddly", "client17 vendor", "aws s3", "bucket9",
		"请检查部署", "账户", "独角兽", "署检", "nowhere", "p v a"} {
		b.Run(text, func(b *testing.B) {
			var found int
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				lists, err := s.Search(b.Context(), human.SearchQuery{Text: text, Limit: 5})
				if err != nil {
					b.Fatal(err)
				}
				found = 0
				for _, list := range lists {
					found += list.Count
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			for name, at := range map[string]int{"ms/p50": len(took) / 2, "ms/p99": len(took) * 99 / 100} {
				b.ReportMetric(float64(took[at].Microseconds())/1000, name)
			}
			b.ReportMetric(float64(found), "found")
		})
	}
}

// BenchmarkRemoveRequests measures what retention of words costs among DESKBELL_BENCH_OPERATIONS (100,000): removing the oldest
// hundred, and writing the file anew; no append is answered meanwhile.
func BenchmarkRemoveRequests(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("DESKBELL_BENCH_OPERATIONS"))
	if err != nil {
		n = 100_000
	}
	s, err := Open(b.Context(), b.TempDir(), Options{Key: journaltest.Key})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	load(b, s, n)
	head, err := s.Head(b.Context())
	if err == nil {
		err = s.Outbox().Post(b.Context(), head, "", nil, epoch)
	}
	if err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(s.file)
	if err != nil {
		b.Fatal(err)
	}
	from := 2
	var removing, scrubbing time.Duration
	for b.Loop() {
		var ids []human.OperationID
		for range 100 {
			ids = append(ids, human.OperationID(fmt.Sprintf("op_%026d", from)))
			from++
		}
		start := time.Now()
		if removed, err := s.RemoveRequests(b.Context(), ids, longAfter, longAfter); err != nil || len(removed) < 90 {
			b.Fatal(len(removed), err)
		}
		removing += time.Since(start)
		start = time.Now()
		if err := s.Scrub(b.Context(), func(context.Context, func(human.OperationID) (bool, error)) error { return nil }); err != nil {
			b.Fatal(err)
		}
		scrubbing += time.Since(start)
	}
	b.ReportMetric(float64(removing.Milliseconds())/float64(b.N), "ms/hundred")
	b.ReportMetric(float64(scrubbing.Milliseconds())/float64(b.N), "ms/scrub")
	b.ReportMetric(float64(info.Size())/1e6, "MB")
}
