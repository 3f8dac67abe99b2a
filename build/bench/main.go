// Command bench measures Deskbell and prints the tables of docs/performance.md. Rates are compared with
// single durable SQLite commits made in the same run, because the machines it runs on are shared: the
// ratios are what holds.
//
//	go run ./build/bench -bin build/bin/deskbell [-only rings,latency,million,start]
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // for the single commits that everything is compared with

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/sqlite"
)

var (
	bin     = flag.String("bin", "build/bin/deskbell", "the program to measure")
	only    = flag.String("only", "rings,latency,million,start", "which parts to run")
	seconds = flag.Duration("for", 4*time.Second, "how long each rate is measured")
	million = flag.Int("operations", 1_000_000, "how many operations the large file has")
	keep    = flag.String("keep", "", "a folder to keep the large file in, so that a second run need not make it again")
)

func main() {
	flag.Parse()
	log.SetFlags(0)
	parts := map[string]func(context.Context) error{"rings": rings, "latency": latency, "million": largeFile, "start": start}
	for _, name := range strings.Split(*only, ",") {
		part, ok := parts[name]
		if !ok {
			log.Fatalf("no part %q; there are rings, latency, million, start", name)
		}
		if err := part(context.Background()); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

// rings measures how many rings a second are durable, beside single durable commits.
func rings(ctx context.Context) error {
	single, err := singleCommits()
	if err != nil {
		return err
	}
	fmt.Printf("\n## Durable rings per second\n\n| | per second | times a single commit |\n| --- | --- | --- |\n")
	row := func(what string, rate float64) { fmt.Printf("| %s | %.0f | %.1f |\n", what, rate, rate/single) }
	row("single durable SQLite commits, one connection", single)
	for _, agents := range []int{1, 16, 64} {
		rate, err := ringsInProcess(ctx, agents)
		if err != nil {
			return err
		}
		row(fmt.Sprintf("rings in process, %d agents", agents), rate)
	}
	for _, agents := range []int{1, 16, 64} {
		rate, err := ringsOverREST(agents)
		if err != nil {
			return err
		}
		row(fmt.Sprintf("rings over REST, %d agents", agents), rate)
	}
	again, err := singleCommits()
	if err != nil {
		return err
	}
	row("single durable SQLite commits, once more at the end", again)
	return nil
}

// singleCommits is the rate of one-row transactions with the journal's own settings.
func singleCommits() (float64, error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "single.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)"); err != nil {
		return 0, err
	}
	insert, err := db.Prepare("INSERT INTO t (body) VALUES (?)")
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	body := strings.Repeat("x", 300)
	return rate(1, func(int) error { _, err := insert.Exec(body); return err })
}

// rate calls work from n goroutines for the measured time, after a short warm-up, and returns calls per second.
func rate(n int, work func(worker int) error) (float64, error) {
	var count atomic.Int64
	var failed atomic.Pointer[error]
	warm, end := time.Now().Add(*seconds/8), time.Now().Add(*seconds/8+*seconds)
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() {
			for now := time.Now(); now.Before(end) && failed.Load() == nil; now = time.Now() {
				if err := work(w); err != nil {
					failed.Store(&err)
					return
				}
				if now.After(warm) {
					count.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(count.Load()) / time.Since(warm).Seconds(), nil
}

func ringsInProcess(ctx context.Context, agents int) (float64, error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return 0, err
	}
	defer store.Close()
	q := queue.New(store, store, queue.Options{MaxPending: 1 << 30})
	if err := q.Load(ctx); err != nil {
		return 0, err
	}
	return rate(agents, func(w int) error {
		_, _, err := q.Ring(ctx, human.Request{
			Kind: human.Approve, Description: "Roll out api 2.14.0 to production", AgentID: fmt.Sprint("agent-", w),
			Details: []byte(`{"action":"kubectl apply -f prod-deployment.yaml","risk_level":"high","impact":"Updates 5 services"}`),
			Timeout: 300, Priority: human.DefaultPriority,
		}, false)
		return err
	})
}

// percentiles prints a row of p50, p99 and the worst of what was measured.
func percentiles(what string, took []time.Duration) {
	slices.Sort(took)
	at := func(p float64) time.Duration { return took[min(len(took)-1, int(p*float64(len(took))))] }
	fmt.Printf("| %s | %s | %s | %s | %d |\n", what, ms(at(0.50)), ms(at(0.99)), ms(took[len(took)-1]), len(took))
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
