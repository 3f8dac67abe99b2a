package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// start measures the window, on the display there is: from the start of the program to a window that can
// be used, which is when its page has shown a request as a card and noted so in the delivery ledger; and the memory of all its
// processes when nothing happens. It starts hidden: a console in front shows no card.
func start(ctx context.Context) error {
	if os.Getenv("DISPLAY") == "" {
		return errors.New("there is no display; `make bench` brings one")
	}
	const runs = 5
	var usable []time.Duration
	var idle int64
	for range runs {
		took, memory, err := startOnce(ctx)
		if err != nil {
			return err
		}
		usable, idle = append(usable, took), memory
	}
	fmt.Printf("\n## Start and memory\n\n| | p50 | p99 | worst | of |\n| --- | --- | --- | --- | --- |\n")
	percentiles("start to usable window", usable)
	fmt.Printf("\nMemory of the window, idle, all processes (proportional set size): %d MiB.\n", idle>>20)
	s, err := serve()
	if err != nil {
		return err
	}
	defer s.stop()
	time.Sleep(2 * time.Second) // until start-up is over
	memory, err := memoryOf(s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Printf("Memory of `deskbell serve`, idle: %d MiB.\n", memory>>20)
	return nil
}

func startOnce(ctx context.Context) (time.Duration, int64, error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	s := &server{dir: dir}
	key, err := s.key("bench") // makes the database, so that the request below can be the first thing
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, *bin, "--data", dir, "--addr", "127.0.0.1:0", "--hidden")
	cmd.Stderr = &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer func() {
		cancel()
		_ = cmd.Wait()
	}()
	for s.URL == "" {
		if b, err := os.ReadFile(filepath.Join(dir, "server.json")); err == nil {
			_ = json.Unmarshal(b, s) // half written: the next look has it whole
		}
		if err := pause(ctx); err != nil {
			return 0, 0, fmt.Errorf("the program did not start: %w: %s", err, said.String())
		}
	}
	if err := s.call(key, "POST", "/api/human/invoke", invocation, nil); err != nil {
		return 0, 0, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "deskbell.db")+"?mode=ro")
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	for shown := 0; shown == 0; {
		if err := pause(ctx); err != nil {
			return 0, 0, fmt.Errorf("the window never showed the request: %w: %s", err, said.String())
		}
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM journal WHERE type = 'shown'").Scan(&shown); err != nil {
			return 0, 0, err
		}
	}
	took := time.Since(began)
	time.Sleep(3 * time.Second) // until start-up is over
	memory, err := memoryOf(cmd.Process.Pid)
	return took, memory, err
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(5 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// memoryOf sums the proportional set sizes, in bytes, of a process and all its descendants.
func memoryOf(pid int) (int64, error) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	var sum int64
	for line := range strings.Lines(string(rollup)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				return 0, err
			}
			sum += kib << 10
		}
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return 0, err
	}
	for _, file := range threads {
		children, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			n, err := strconv.Atoi(child)
			if err != nil {
				return 0, err
			}
			more, err := memoryOf(n)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return 0, err
			}
			sum += more
		}
	}
	return sum, nil
}
