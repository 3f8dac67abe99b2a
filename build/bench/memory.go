package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
)

// memory measures what a server takes with many open requests: one that found them at its start, and one that took
// them, beside one that has none.
func memory(ctx context.Context) error {
	fmt.Printf("\n## Memory with %d open requests\n\n| | start, ms | memory (proportional set size), MiB | beyond an empty server |\n| --- | --- | --- | --- |\n", *standing)
	var empty int64
	row := func(what, dir string, work func(*server) error) error {
		began := time.Now()
		s, err := serveIn(dir, fmt.Sprintf("DESKBELL_HUMAN_MAX_PENDING_REQUESTS=%d", *standing))
		if err != nil {
			return err
		}
		took := time.Since(began)
		defer s.stop()
		if err := work(s); err != nil {
			return err
		}
		for range 10 { // as a console does
			if err := s.call(s.token, "GET", "/api/human/operations?state=open&order=urgent", nil, nil); err != nil {
				return err
			}
		}
		r, err := restOf(ctx, s.cmd.Process.Pid, *idleTime)
		if err != nil {
			return err
		}
		if empty == 0 {
			empty = r.memory
		}
		fmt.Printf("| %s | %d | %d | %d |\n", what, took.Milliseconds(), r.memory>>20, (r.memory-empty)>>20)
		return nil
	}
	nothing := func(*server) error { return nil }
	dirs := [3]string{}
	for i := range dirs {
		var err error
		if dirs[i], err = os.MkdirTemp("", "deskbell-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(dirs[i])
	}
	if err := stand(ctx, dirs[1]); err != nil {
		return err
	}
	if err := row("none", dirs[0], nothing); err != nil {
		return err
	}
	if err := row("found at the start", dirs[1], nothing); err != nil {
		return err
	}
	return row("taken over REST", dirs[2], func(s *server) error {
		key, err := s.key("bench")
		if err != nil {
			return err
		}
		return many(64, *standing, func(int) error { return s.call(key, "POST", "/api/human/invoke", invocation, nil) })
	})
}

// stand fills a folder with open requests of 40 agents.
func stand(ctx context.Context, dir string) error {
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	q := queue.New(store, store, queue.Options{MaxPending: 1 << 30})
	if err := q.Load(ctx); err != nil {
		return err
	}
	return many(128, *standing, func(i int) error {
		_, _, err := q.Ring(ctx, someRequest(i), false)
		return err
	})
}

// many calls work for 1 to n, from several goroutines, until one fails.
func many(workers, n int, work func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= n && failed.Load() == nil; i = int(next.Add(1)) {
				if err := work(i); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
