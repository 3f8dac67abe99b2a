//go:build linux

// Command inputreader reads pointer and keys for the bench, which compares readers with each other: ours, and
// the hook library read the usual way. It says "ready", and when its input ends writes what it got, one
// event on a line: what, when it was read, and when it says it happened, in nanoseconds of CLOCK_MONOTONIC.
// The hook library's End crashes: the bench kills this process.
//
//	inputreader ours|hook|hook1
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"time"

	hook "github.com/robotn/gohook"
	"golang.org/x/sys/unix"

	"deskbell/backend/human"
	"deskbell/backend/platform/x11"
)

// A line is one event: "m X Y" for a move, "d C" and "u C" for a key with the character C.
type line struct {
	what     string
	read, at int64
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: inputreader ours|hook|hook1")
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	var lines []line
	switch os.Args[1] {
	case "ours":
		lines = ours(ended)
	case "hook":
		lines = hooked(hook.Start(), ended)
	case "hook1": // asks each millisecond instead of each 50th
		lines = hooked(hook.Start(1), ended)
	default:
		log.Fatalf("no reader %q", os.Args[1])
	}
	out := bufio.NewWriter(os.Stdout)
	for _, l := range lines {
		fmt.Fprintf(out, "%d %d %s\n", l.read, l.at, l.what)
	}
	fmt.Fprintln(out, "end")
	_ = out.Flush()
	select {} // until it is killed
}

func now() (time.Time, int64) {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // fails for unknown clocks only
	return time.Now(), t.Nano()
}

func ours(ended <-chan struct{}) []line {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-ended; cancel() }()
	lines := make([]line, 0, 1<<18)
	_, err := x11.NewInput("", now).Run(ctx, func() { fmt.Println("ready") }, func(e human.RecordedEvent) {
		_, read := now()
		l := line{read: read, at: e.At}
		switch e.Type {
		case human.PointerMoved:
			l.what = "m " + strconv.Itoa(e.X) + " " + strconv.Itoa(e.Y)
		case human.KeyDown:
			l.what = "d " + e.Key
		case human.KeyUp:
			l.what = "u " + e.Key
		}
		lines = append(lines, l)
	})
	if err != nil {
		log.Fatal(err)
	}
	return lines
}

func hooked(events <-chan hook.Event, ended <-chan struct{}) []line {
	lines := make([]line, 0, 1<<18)
	for {
		select {
		case <-ended:
			return lines
		case e := <-events:
			wall, read := now()
			l := line{read: read, at: read - int64(wall.Sub(e.When))}
			switch e.Kind {
			case hook.HookEnabled:
				fmt.Println("ready")
				continue
			case hook.MouseMove, hook.MouseDrag:
				l.what = "m " + strconv.Itoa(int(e.X)) + " " + strconv.Itoa(int(e.Y))
			case hook.KeyDown: // pressed; KeyHold is that it typed something
				l.what = "d " + string(rune(e.Rawcode))
			case hook.KeyUp:
				l.what = "u " + string(rune(e.Rawcode))
			default:
				continue
			}
			lines = append(lines, l)
		}
	}
}
