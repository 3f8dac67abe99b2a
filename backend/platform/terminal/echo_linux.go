package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	// maxProcesses bounds the walk through a window's processes.
	maxProcesses = 1024
	// remembered is how long the terminals of a window are known without another walk. Their settings are read
	// each time.
	remembered = time.Second
)

// A Guard implements record.Guard. The zero value is not usable. It is safe for concurrent use.
type Guard struct {
	mu    sync.Mutex
	known map[int]terminals
}

type terminals struct {
	numbers []int
	until   time.Time
}

// New returns a guard.
func New() *Guard { return &Guard{known: map[int]terminals{}} }

// Secret says whether a terminal below the window's process has its echo off while it takes whole lines:
// that is how programs ask for passwords. Shells and editors take single keys and draw what is typed
// themselves, so an echo that is off means nothing there. Of a window with several terminals any one counts. What
// runs on another machine, or asks key by key and draws dots, cannot be told. It takes a few ms and never
// blocks. An error means that it cannot be told.
func (g *Guard) Secret(ctx context.Context, in record.Placed) (bool, error) {
	numbers, err := g.terminals(ctx, in.App.PID)
	if err != nil {
		return false, err
	}
	var trouble error
	for _, n := range numbers {
		hidden, err := hides(n)
		if hidden {
			return true, nil
		}
		trouble = errors.Join(trouble, err)
	}
	if trouble != nil {
		return false, human.Wrap(human.Internal, trouble, "Deskbell cannot find out whether the terminal of %s hides what is typed", name(in))
	}
	return false, nil
}

// Terminal says whether there are terminals below the window's process.
func (g *Guard) Terminal(ctx context.Context, in record.Placed) bool {
	numbers, err := g.terminals(ctx, in.App.PID)
	return err == nil && len(numbers) > 0
}

func name(in record.Placed) string {
	if in.App.Name != "" {
		return in.App.Name
	}
	return "a window"
}

// terminals returns the numbers of the pseudoterminals below a process.
func (g *Guard) terminals(ctx context.Context, pid int) ([]int, error) {
	if pid <= 0 {
		return nil, nil
	}
	now := time.Now()
	g.mu.Lock()
	known, ok := g.known[pid]
	g.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.numbers, nil
	}
	numbers, err := walk(ctx, pid)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for old, t := range g.known {
		if !now.Before(t.until) {
			delete(g.known, old)
		}
	}
	if len(numbers) > 0 { // none yet: a terminal that has just been opened
		g.known[pid] = terminals{numbers, now.Add(remembered)}
	}
	return numbers, nil
}

// walk goes through the processes below one. Those of tmux hang below its server, which hangs below none.
func walk(ctx context.Context, pid int) (numbers []int, err error) {
	queue := []int{pid}
	seen := map[int]bool{pid: true}
	add := func(pids []int) {
		for _, p := range pids {
			if !seen[p] && len(seen) < maxProcesses {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
	// A window's own process has the terminal that it was started from, and so may those below it: that is
	// another window's.
	foreign := -1
	if s, err := stat(pid); err == nil {
		if n, ok := s.terminal(); ok {
			foreign = n
		}
	}
	for len(queue) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := queue[0]
		queue = queue[1:]
		s, err := stat(p)
		if err != nil {
			continue // it has ended
		}
		if n, ok := s.terminal(); ok && n != foreign && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
		add(children(p))
		if s.command == "tmux: client" {
			add(servers())
		}
	}
	return numbers, nil
}

// A status is what /proc/PID/stat says (proc_pid_stat(5)).
type status struct {
	command string
	device  uint64 // of its controlling terminal
}

func stat(pid int) (s status, err error) {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return s, err
	}
	open, shut := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || shut < open {
		return s, fmt.Errorf("process %d: its status is not understood", pid)
	}
	s.command = string(line[open+1 : shut])
	rest := strings.Fields(string(line[shut+1:])) // state ppid pgrp session tty_nr
	if len(rest) < 5 {
		return s, fmt.Errorf("process %d: its status is not understood", pid)
	}
	device, err := strconv.ParseInt(rest[4], 10, 32)
	s.device = uint64(uint32(device))
	return s, err
}

// terminal is the number of the pseudoterminal: majors 136 to 143 (devices.txt of the kernel).
func (s status) terminal() (n int, ok bool) {
	major := s.device >> 8 & 0xff
	minor := s.device&0xff | s.device>>12&0xfff00
	return int((major-136)<<20 | minor), major >= 136 && major <= 143
}

// children of a process: the kernel keeps them by the thread that started them.
func children(pid int) (pids []int) {
	lists, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*/children")) // the pattern is right
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, f := range strings.Fields(string(text)) {
			if p, err := strconv.Atoi(f); err == nil {
				pids = append(pids, p)
			}
		}
	}
	return pids
}

// servers are those of tmux: a client shows what runs below its server.
func servers() (pids []int) {
	entries, _ := os.ReadDir("/proc") // none is as good
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, err := stat(pid); err == nil && s.command == "tmux: server" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// hides reads a pseudoterminal's settings. One that is gone hides nothing.
func hides(number int) (bool, error) {
	path := filepath.Join("/dev/pts", strconv.Itoa(number))
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EIO) || errors.Is(err, unix.ENXIO) {
			return false, nil
		}
		return false, fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		if errors.Is(err, unix.EIO) {
			return false, nil
		}
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return t.Lflag&unix.ICANON != 0 && t.Lflag&unix.ECHO == 0, nil
}

var _ record.Guard = (*Guard)(nil)
