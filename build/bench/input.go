//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
	"golang.org/x/sys/unix"
)

var quick = flag.Bool("quick", false, "a short run of the recorder's input: 5 s of each load")

// An injection is one event that was made: what, and for every tenth when, by the server's own clock: not
// before from and not after to.
type injection struct {
	what     string
	from, to int64 // nanoseconds of CLOCK_MONOTONIC, in whole milliseconds; 0 where the server was not asked
}

const askEvery = 10

// inputs makes pointer and key events and has them read by our reader and by the hook library, both at
// once, each in a process of its own. Time stamps are compared with the server's own time, which it is asked
// for right before and after every tenth event. The others' delays are counted from the time that our reader has of them,
// the server's, as that comparison shows: a server that had to wait for a processor is not the readers' fault,
// and asking it for anything makes it hand over to the readers what it has for them.
func inputs(ctx context.Context) error {
	if os.Getenv("DISPLAY") == "" {
		return errors.New("there is no display; `make bench` brings one")
	}
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	reader := filepath.Join(dir, "inputreader")
	if out, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", reader, "./build/bench/inputreader").CombinedOutput(); err != nil {
		return fmt.Errorf("the readers do not build: %w\n%s", err, out)
	}
	fmt.Printf("\n## The recorder's input, beside the hook library\n\n| load | reader | events | lost | out of order | delay p50 | delay p99 | time stamp off by, p99 | CPU |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, load := range []struct {
		name string
		rate int
		keys bool
		runs time.Duration
	}{
		{"2,000 moves a second", 2000, false, time.Minute},
		{"1,000 a second, moves and keys", 1000, true, time.Minute},
		{"125 moves a second", 125, false, 20 * time.Second},
	} {
		if *quick {
			load.runs = 5 * time.Second
		}
		if err := inputLoad(ctx, reader, load.name, load.rate, load.keys, load.runs); err != nil {
			return err
		}
	}
	return nil
}

func inputLoad(ctx context.Context, reader, name string, rate int, keys bool, runs time.Duration) error {
	var readers []*readerProcess
	defer func() {
		for _, r := range readers {
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
		}
	}()
	for _, kind := range []string{"ours", "hook", "hook1"} {
		r, err := startReader(ctx, reader, kind)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		readers = append(readers, r)
	}
	sent, err := inject(rate, keys, runs)
	if err != nil {
		return err
	}
	began := map[int]int64{} // when an event happened, by its place in sent
	for i, label := range []string{"**ours**", "hook library", "hook library, polled each ms"} {
		r := readers[i]
		cpu, err := cpuOf(r.cmd.Process.Pid)
		if err != nil {
			return err
		}
		got, err := r.collect()
		if err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
		m := match(sent, got, began)
		fmt.Printf("| %s, %v | %s | %d | %d | %d | %s | %s | %s | %.2f s |\n", name, runs, label, len(sent), m.lost, m.disordered,
			ms(quantile(m.delays, 0.5)), ms(quantile(m.delays, 0.99)), ms(quantile(m.errors, 0.99)), cpu.Seconds())
	}
	return nil
}

// inject makes events through XTEST at a rate, and waits until the last has gone through. No two moves go
// to the same place; keys go round the letters.
func inject(rate int, keys bool, runs time.Duration) ([]injection, error) {
	c, err := xgb.NewConn()
	if err != nil {
		return nil, err
	}
	defer c.Close() // may be called twice
	if err := xtest.Init(c); err != nil {
		return nil, err
	}
	letters, err := letterKeys(c)
	if err != nil {
		return nil, err
	}
	screen := xproto.Setup(c).DefaultScreen(c)
	root := screen.Root
	window, err := xproto.NewWindowId(c)
	if err != nil {
		return nil, err
	}
	if err := xproto.CreateWindowChecked(c, screen.RootDepth, window, root, 0, 0, 1, 1, 0, xproto.WindowClassInputOutput, screen.RootVisual,
		xproto.CwEventMask, []uint32{xproto.EventMaskPropertyChange}).Check(); err != nil {
		return nil, err
	}
	told := make(chan []uint32, 1)
	go func() {
		var times []uint32
		for {
			e, err := c.WaitForEvent()
			if e == nil && err == nil {
				told <- times
				return
			}
			if p, ok := e.(xproto.PropertyNotifyEvent); ok {
				times = append(times, uint32(p.Time))
			}
		}
	}()
	count := int(runs.Seconds() * float64(rate))
	sent := make([]injection, 0, count)
	begin := time.Now()
	for i := range count {
		if wait := time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(rate))); wait > 0 {
			time.Sleep(wait)
		}
		ask := func() {
			if i%askEvery == 0 {
				xproto.ChangeProperty(c, xproto.PropModeAppend, window, xproto.AtomWmName, xproto.AtomString, 8, 0, nil)
			}
		}
		ask()
		var n injection
		key := letters[i/4%len(letters)]
		switch {
		case keys && i%4 == 1:
			n.what = "d " + string(key.letter)
			xtest.FakeInput(c, xproto.KeyPress, byte(key.code), 0, root, 0, 0, 0)
		case keys && i%4 == 3:
			n.what = "u " + string(key.letter)
			xtest.FakeInput(c, xproto.KeyRelease, byte(key.code), 0, root, 0, 0, 0)
		default:
			x, y := 1+i%1000, 1+i/1000%700
			n.what = "m " + strconv.Itoa(x) + " " + strconv.Itoa(y)
			xtest.FakeInput(c, xproto.MotionNotify, 0, 0, root, int16(x), int16(y), 0)
		}
		ask()
		sent = append(sent, n)
	}
	if _, err = xproto.GetInputFocus(c).Reply(); err != nil {
		return nil, err
	}
	time.Sleep(time.Second) // for readers that poll
	c.Close()
	times := <-told
	if len(times) != 2*((count+askEvery-1)/askEvery) {
		return nil, fmt.Errorf("the server told its time %d times for %d events", len(times), count)
	}
	now := monotonicNow() / 1e6
	at := func(t uint32) int64 { return (now + int64(int32(t-uint32(now)))) * 1e6 }
	for i := 0; i < len(times); i += 2 {
		n := &sent[i/2*askEvery]
		n.from, n.to = at(times[i]), at(times[i+1])
	}
	return sent, nil
}

type letterKey struct {
	letter rune
	code   xproto.Keycode
}

func letterKeys(c *xgb.Conn) ([]letterKey, error) {
	setup := xproto.Setup(c)
	m, err := xproto.GetKeyboardMapping(c, setup.MinKeycode, byte(setup.MaxKeycode-setup.MinKeycode+1)).Reply()
	if err != nil {
		return nil, err
	}
	var keys []letterKey
	for i := 0; i < len(m.Keysyms); i += int(m.KeysymsPerKeycode) {
		if s := m.Keysyms[i]; s >= 'a' && s <= 'z' {
			keys = append(keys, letterKey{rune(s), setup.MinKeycode + xproto.Keycode(i/int(m.KeysymsPerKeycode))})
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the keyboard has no letters")
	}
	return keys, nil
}

// A reading is one event as a reader had it.
type reading struct {
	what     string
	read, at int64
}

// A readerProcess is a running inputreader.
type readerProcess struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Scanner
}

func startReader(ctx context.Context, path, kind string) (*readerProcess, error) {
	r := &readerProcess{cmd: exec.CommandContext(ctx, path, kind)}
	r.cmd.Stderr = io.Discard // the hook library talks
	in, err := r.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.in, r.out = in, bufio.NewScanner(out)
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	for r.out.Scan() {
		if r.out.Text() == "ready" {
			return r, nil
		}
	}
	return nil, errors.New("it does not get ready")
}

// collect ends the reading and returns what was read.
func (r *readerProcess) collect() ([]reading, error) {
	if err := r.in.Close(); err != nil {
		return nil, err
	}
	var got []reading
	for r.out.Scan() {
		if r.out.Text() == "end" {
			return got, nil
		}
		var g reading
		read, rest, _ := strings.Cut(r.out.Text(), " ")
		at, what, _ := strings.Cut(rest, " ")
		var errRead, errAt error
		g.read, errRead = strconv.ParseInt(read, 10, 64)
		g.at, errAt = strconv.ParseInt(at, 10, 64)
		if errRead != nil || errAt != nil {
			continue // the hook library's own words
		}
		g.what = what
		got = append(got, g)
	}
	return nil, errors.New("it died")
}

// matched is how what was read compares with what was made.
type matched struct {
	lost, disordered int
	delays, errors   []time.Duration
}

// match finds for each event that was made the one that was read: of equal ones (keys) the first that is
// left. It is out of order when one that was made before it was read after it. The first call fills began.
func match(sent []injection, got []reading, began map[int]int64) matched {
	first := len(began) == 0
	places := map[string][]int{}
	for i, g := range got {
		places[g.what] = append(places[g.what], i)
	}
	var m matched
	last := -1
	for i, s := range sent {
		p := places[s.what]
		if len(p) == 0 {
			m.lost++
			continue
		}
		places[s.what] = p[1:]
		if p[0] < last {
			m.disordered++
		}
		last = max(last, p[0])
		g := got[p[0]]
		if first {
			began[i] = g.at
		}
		switch at, ok := began[i]; {
		case s.from != 0:
			m.errors = append(m.errors, time.Duration(max(s.from-g.at, g.at-s.to, 0)))
		case ok:
			m.delays = append(m.delays, time.Duration(g.read-at))
		}
	}
	return m
}

// quantile sorts what was measured; 0 when it is nothing.
func quantile(of []time.Duration, p float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[min(len(of)-1, int(p*float64(len(of))))]
}

func monotonicNow() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // fails for unknown clocks only
	return t.Nano()
}
