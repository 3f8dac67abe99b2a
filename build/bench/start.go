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
// be used, which is when its page has shown a request as a card and noted so in the delivery ledger; and the memory and processor
// time of all its processes when nothing happens. It starts hidden: a console in front shows no card.
func start(ctx context.Context) error {
	if os.Getenv("DISPLAY") == "" {
		return errors.New("there is no display; `make bench` brings one")
	}
	const runs = 5
	var usable []time.Duration
	var window rest
	for n := range runs {
		idle := time.Duration(0)
		if n == runs-1 {
			idle = *idleTime
		}
		took, r, err := startOnce(ctx, idle)
		if err != nil {
			return err
		}
		usable, window = append(usable, took), r
	}
	fmt.Printf("\n## Start, and rest\n\n| | p50 | p99 | worst | of |\n| --- | --- | --- | --- | --- |\n")
	percentiles("start to usable window", usable)
	s, err := serve()
	if err != nil {
		return err
	}
	defer s.stop()
	server, err := restOf(ctx, s.cmd.Process.Pid, *idleTime)
	if err != nil {
		return err
	}
	fmt.Printf("\n| idle for %v, all processes | memory (proportional set size), MiB | processor time, ms a minute |\n| --- | --- | --- |\n", *idleTime)
	fmt.Printf("| the window | %d | %.0f |\n| `deskbell serve` | %d | %.0f |\n", window.memory>>20, window.load, server.memory>>20, server.load)
	return nil
}

// rest is what a process and its descendants use while nothing happens: bytes, and milliseconds of processor time a minute.
type rest struct {
	memory int64
	load   float64
}

// restOf waits until start-up is over, and then for a time; the memory is that at its end.
func restOf(ctx context.Context, pid int, idle time.Duration) (r rest, err error) {
	time.Sleep(3 * time.Second)
	all, err := family(pid)
	if err != nil {
		return r, err
	}
	before, err := cpuOfAll(all)
	if err != nil || idle == 0 {
		return r, err
	}
	select {
	case <-time.After(idle):
	case <-ctx.Done():
		return r, ctx.Err()
	}
	after, err := cpuOfAll(all)
	if err != nil {
		return r, err
	}
	r.load = float64((after - before).Milliseconds()) / idle.Minutes()
	for _, p := range all {
		memory, err := memoryOf(p)
		if err != nil {
			return r, err
		}
		r.memory += memory
	}
	return r, nil
}

func cpuOfAll(pids []int) (sum time.Duration, err error) {
	for _, p := range pids {
		used, err := cpuOf(p)
		if err != nil {
			return 0, fmt.Errorf("a process ended while it was measured: %w", err)
		}
		sum += used
	}
	return sum, nil
}

// cpuOf is the processor time a process has used.
func cpuOf(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * (time.Second / 100), errors.Join(err1, err2) // USER_HZ is 100 on every Linux
}

// startOnce is how long one start takes, and what the window uses idle for a time afterwards.
func startOnce(ctx context.Context, idle time.Duration) (time.Duration, rest, error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return 0, rest{}, err
	}
	defer os.RemoveAll(dir)
	first, err := serveIn(dir) // makes the database and a key, so that the request below can be the first thing
	if err != nil {
		return 0, rest{}, err
	}
	key, err := first.key("bench")
	first.end()
	if err != nil {
		return 0, rest{}, err
	}
	s := &server{dir: dir}
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second+idle)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, *bin, "--data", dir, "--addr", "127.0.0.1:0", "--hidden")
	cmd.Stderr = &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, rest{}, err
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
			return 0, rest{}, fmt.Errorf("the program did not start: %w: %s", err, said.String())
		}
	}
	if err := s.call(key, "POST", "/api/human/invoke", invocation, nil); err != nil {
		return 0, rest{}, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "deskbell.db")+"?mode=ro")
	if err != nil {
		return 0, rest{}, err
	}
	defer db.Close()
	for shown := 0; shown == 0; {
		if err := pause(ctx); err != nil {
			return 0, rest{}, fmt.Errorf("the window never showed the request: %w: %s", err, said.String())
		}
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM journal WHERE type = 'shown'").Scan(&shown); err != nil {
			return 0, rest{}, err
		}
	}
	took := time.Since(began)
	r, err := restOf(ctx, cmd.Process.Pid, idle)
	return took, r, err
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(5 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// memoryOf is the proportional set size of a process, in bytes.
func memoryOf(pid int) (int64, error) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(rollup)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("process %d has no proportional set size", pid)
}

// family is a process and all its descendants.
func family(pid int) ([]int, error) {
	all := []int{pid}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil, err
	}
	for _, file := range threads {
		children, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			n, err := strconv.Atoi(child)
			if err != nil {
				return nil, err
			}
			more, err := family(n)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	return all, nil
}
