// Command bench measures Deskbell and prints the tables of docs/development/measurements.md. Rates are compared with
// single durable SQLite commits made in the same run, because the machines it runs on are shared: the
// ratios are what holds.
//
//	go run ./build/bench -bin build/bin/deskbell [-only rings,plain,latency,million,memory,start,pictures,recorder,input,browser,procedure,hook]
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

	_ "modernc.org/sqlite" // for the single commits that requests are compared with

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
)

var (
	bin      = flag.String("bin", "build/bin/deskbell", "the program to measure")
	only     = flag.String("only", "rings,plain,latency,million,memory,start,pictures,recorder,input,browser,procedure,hook", "which parts to run")
	seconds  = flag.Duration("for", 4*time.Second, "how long each rate is measured")
	idleTime = flag.Duration("idle", time.Minute, "how long the idle program is watched")
	million  = flag.Int("operations", 1_000_000, "how many operations the large file has")
	standing = flag.Int("standing", 100_000, "how many open requests the memory is measured with")
	keep     = flag.String("keep", "", "a folder to keep the large file in, so that a second run need not make it again")
)

func main() {
	flag.Parse()
	log.SetFlags(0)
	parts := map[string]func(context.Context) error{"rings": rings, "plain": plain, plainServer: servesPlainly, "latency": latency, "million": largeFile, "memory": memory, "start": start, "pictures": takePictures, "recorder": recorder, "input": inputs, "browser": browsers, "procedure": procedures, "hook": hooks}
	for _, name := range strings.Split(*only, ",") {
		part, ok := parts[name]
		if !ok {
			log.Fatalf("no part %q; there are rings, plain, latency, million, memory, start, pictures, recorder, input, browser, procedure, hook", name)
		}
		if err := part(context.Background()); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

// turns is how often rings and single commits take turns in a row's measurement.
const turns = 4

// A load is work that many workers do at once, and how to end it.
type load struct {
	work func(worker int) error
	end  func()
}

// rings measures how many rings a second are durable. Each row takes turns with single durable commits,
// so that a neighbour's load falls on both.
func rings(ctx context.Context) error {
	fmt.Printf("\n## Durable rings per second\n\n| | rings | single commits beside them | ratio |\n| --- | --- | --- | --- |\n")
	for _, way := range []struct {
		name string
		open func(ctx context.Context, agents int) (load, error)
	}{{"in process", inProcess}, {"over REST", overREST}} {
		for _, agents := range []int{1, 16, 64} {
			ours, theirs, err := sideBySide(ctx, agents, way.open)
			if err != nil {
				return err
			}
			fmt.Printf("| %s, %d agents | %.0f | %.0f | **%.1f** |\n", way.name, agents, ours, theirs, ours/theirs)
		}
	}
	return nil
}

// sideBySide returns the rates, per second, of requests from many agents and of single durable commits from
// one connection, measured in turns.
func sideBySide(ctx context.Context, agents int, open func(context.Context, int) (load, error)) (ours, theirs float64, err error) {
	single, err := singleCommits()
	if err != nil {
		return 0, 0, err
	}
	defer single.end()
	many, err := open(ctx, agents)
	if err != nil {
		return 0, 0, err
	}
	defer many.end()
	for range turns {
		a, err := rate(1, single.work)
		if err != nil {
			return 0, 0, err
		}
		b, err := rate(agents, many.work)
		if err != nil {
			return 0, 0, err
		}
		theirs, ours = theirs+a/turns, ours+b/turns
	}
	return ours, theirs, nil
}

// singleCommits are one-row transactions with the journal's own settings.
func singleCommits() (load, error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return load{}, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "single.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return load{}, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)"); err != nil {
		return load{}, err
	}
	insert, err := db.Prepare("INSERT INTO t (body) VALUES (?)")
	if err != nil {
		return load{}, err
	}
	body := strings.Repeat("x", 300)
	return load{
		work: func(int) error { _, err := insert.Exec(body); return err },
		end:  func() { _ = db.Close(); _ = os.RemoveAll(dir) },
	}, nil
}

// rate calls work from n goroutines for one turn, after a short warm-up, and returns calls per second.
func rate(n int, work func(worker int) error) (float64, error) {
	var count atomic.Int64
	var failed atomic.Pointer[error]
	turn := *seconds / turns
	warm := time.Now().Add(turn / 8)
	end := warm.Add(turn)
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

func inProcess(ctx context.Context, _ int) (load, error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return load{}, err
	}
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return load{}, err
	}
	q := queue.New(store, store, queue.Options{MaxPending: 1 << 30})
	if err := q.Load(ctx); err != nil {
		return load{}, err
	}
	return load{
		work: func(w int) error {
			_, _, err := q.Ring(ctx, human.Request{
				Kind: human.Approve, Description: "Roll out api 2.14.0 to production", AgentID: fmt.Sprint("agent-", w),
				Details: []byte(`{"action":"kubectl apply -f prod-deployment.yaml","risk_level":"high","impact":"Updates 5 services"}`),
				Timeout: 300, Priority: human.DefaultPriority,
			}, false)
			return err
		},
		end: func() { _ = store.Close(); _ = os.RemoveAll(dir) },
	}, nil
}

// percentiles prints a row of p50, p99 and the worst of what was measured.
func percentiles(what string, took []time.Duration) {
	slices.Sort(took)
	at := func(p float64) time.Duration { return took[min(len(took)-1, int(p*float64(len(took))))] }
	fmt.Printf("| %s | %s | %s | %s | %d |\n", what, ms(at(0.50)), ms(at(0.99)), ms(took[len(took)-1]), len(took))
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
