package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
)

// startsOf measures how long a server takes from its start to its first answers, in a large file: with the requests that are open in it,
// and with *standing; after a stop, after kill -9 under load, and both with nothing of the files in the system's memory.
func startsOf(ctx context.Context, dir string) error {
	fmt.Printf("\n| start of the server, until /healthz is ok | p50 | p99 | worst | of |\n| --- | --- | --- | --- | --- |\n")
	for open, least := 0, 0; open < *standing; least = *standing {
		var err error
		if open, err = openAtLeast(ctx, dir, least); err != nil {
			return err
		}
		for _, way := range []struct {
			name         string
			killed, cold bool
		}{{"", false, false}, {", cold", false, true}, {", after kill -9", true, false}, {", after kill -9, cold", true, true}} {
			took := make([]time.Duration, 0, 10)
			var log int64
			for range cap(took) {
				if way.killed {
					if log, err = killUnderLoad(dir); err != nil {
						return err
					}
				}
				if way.cold {
					if err := forgetPages(dir); err != nil {
						return err
					}
				}
				begin := time.Now()
				s, err := serveIn(dir, manyPending)
				if err == nil {
					err = s.call("", "GET", "/healthz", nil, nil)
					took = append(took, time.Since(begin))
					s.end()
				}
				if err != nil {
					return err
				}
			}
			what := fmt.Sprintf("%d open%s", open, way.name)
			if way.killed {
				what += fmt.Sprintf(", log of %.1f MB", float64(log)/1e6)
			}
			percentiles(what, took)
		}
	}
	return nil
}

// openAtLeast adds open requests to a file until it has so many, and returns how many are open.
func openAtLeast(ctx context.Context, dir string, least int) (int, error) {
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return 0, err
	}
	defer store.Close()
	q := queue.New(store, store, queue.Options{MaxPending: 1 << 30})
	if err := q.Load(ctx); err != nil {
		return 0, err
	}
	err = many(128, least-q.Pending(), func(i int) error {
		_, _, err := q.Ring(ctx, someRequest(i), false)
		return err
	})
	return q.Pending(), err
}

// killUnderLoad ends a server with kill -9 after a thousand requests that their agent canceled at once, and returns how long its write-ahead
// log is then.
func killUnderLoad(dir string) (int64, error) {
	s, err := serveIn(dir, manyPending)
	if err != nil {
		return 0, err
	}
	key, err := s.key(fmt.Sprint("killed-", time.Now().UnixNano()))
	if err == nil {
		err = many(64, 1000, func(int) error {
			var op struct {
				ID string `json:"operation_id"`
			}
			if err := s.call(key, "POST", "/api/human/invoke", invocation, &op); err != nil {
				return err
			}
			return s.call(key, "POST", "/api/human/cancel", map[string]string{"operation_id": op.ID}, nil)
		})
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(filepath.Join(dir, sqlite.FileName+"-wal"))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
