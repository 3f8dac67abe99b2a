//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"deskbell/backend/human"
)

// recorder measures what recording costs while a person works: the pointer moves at 125 Hz and presses a
// button of a GTK 3 application each second. It needs a window manager, which it starts.
func recorder(ctx context.Context) error {
	if os.Getenv("DISPLAY") == "" {
		return errors.New("there is no display; `make bench` brings one")
	}
	s, err := serve()
	if err != nil {
		return err
	}
	defer s.stop()
	for _, program := range [][]string{{"openbox"}, {"build/e2e/testdata/apps/form.gtk3.py", filepath.Join(s.dir, "form.json"), s.dir}} {
		cmd := exec.CommandContext(ctx, program[0], program[1:]...)
		if err := cmd.Start(); err != nil {
			return err
		}
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		time.Sleep(3 * time.Second) // until it has drawn itself
	}
	key, err := s.key("agent")
	if err != nil {
		return err
	}
	var op human.Operation
	if err := s.call(key, "POST", "/api/human/invoke", map[string]any{"action_type": "desktop", "description": "work"}, &op); err != nil {
		return err
	}
	if err := s.call(s.token, "POST", "/api/human/claim", map[string]any{"operation_id": op.ID}, nil); err != nil {
		return err
	}
	before, err := workFor(s)
	if err != nil {
		return err
	}
	var rec human.Recording
	if err := s.call(s.token, "POST", "/api/recordings", map[string]any{"operation_id": op.ID}, &rec); err != nil {
		return err
	}
	during, err := workFor(s)
	if err != nil {
		return err
	}
	if err := s.call(s.token, "POST", "/api/recordings/"+string(rec.ID)+"/stop", nil, &rec); err != nil {
		return err
	}
	var looked []time.Duration
	pressed := map[uint64]int64{}
	for after := uint64(0); ; {
		var page struct{ Events []human.RecordedEvent }
		if err := s.call(s.token, "GET", fmt.Sprintf("/api/recordings/%s/events?after=%d&limit=10000", rec.ID, after), nil, &page); err != nil {
			return err
		}
		if len(page.Events) == 0 {
			break
		}
		for _, e := range page.Events {
			switch e.Type {
			case human.PointerDown:
				pressed[e.Seq] = e.At
			case human.ElementSeen:
				looked = append(looked, time.Duration(e.At-pressed[e.CausedBy]))
			default:
			}
			after = e.Seq
		}
	}
	minutes := time.Duration(rec.Elapsed).Minutes()
	fmt.Printf("\n## What recording costs\n\nThe pointer at 125 Hz and a click a second for %v, in a GTK 3 form on %d by %d pixels.\n\n", workTime, rec.Screens[0].W, rec.Screens[0].H)
	fmt.Printf("| | |\n| --- | --- |\n| CPU of `deskbell serve`, recording | %.1f %% of a core |\n| CPU of it, not recording | %.1f %% |\n", during, before)
	fmt.Printf("| on disk | %.2f MB a minute |\n| events, pictures (equal ones) | %d, %d (%d) |\n| lost | %d, complete: %t |\n",
		float64(rec.Bytes)/1e6/minutes, rec.Counts.Events, rec.Counts.Pictures, rec.Counts.Equal, rec.Counts.Lost, rec.Complete)
	fmt.Printf("\n| | p50 | p99 | worst | of |\n| --- | --- | --- | --- | --- |\n")
	percentiles("press, to the element known", looked)
	return nil
}

const workTime = time.Minute

// workFor works for workTime and returns how much of a core, in percent, the server used meanwhile.
func workFor(s *server) (percent float64, err error) {
	x, err := xgb.NewConn()
	if err != nil {
		return 0, err
	}
	defer x.Close()
	if err := xtest.Init(x); err != nil {
		return 0, err
	}
	root := xproto.Setup(x).DefaultScreen(x).Root
	out, err := exec.Command("xdotool", "search", "--onlyvisible", "--name", "^Form GTK 3$").Output()
	if err != nil {
		return 0, fmt.Errorf("the form's window: %w", err)
	}
	id, err := strconv.ParseUint(strings.Fields(string(out))[0], 10, 32)
	if err != nil {
		return 0, err
	}
	at, err := xproto.TranslateCoordinates(x, xproto.Window(id), root, 0, 0).Reply()
	if err != nil {
		return 0, err
	}
	fake := func(kind, detail byte, px, py int16) error {
		return xtest.FakeInputChecked(x, kind, detail, 0, root, px, py, 0).Check()
	}
	used, err := cpuOf(s.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	tick := time.NewTicker(time.Second / 125)
	defer tick.Stop()
	for n := 0; time.Since(began) < workTime; n++ {
		<-tick.C
		// Round and round over the form's buttons and fields.
		px, py := at.DstX+int16(40+n*3%480), at.DstY+int16(60+n*2%300)
		if err := fake(xproto.MotionNotify, 0, px, py); err != nil {
			return 0, err
		}
		if n%125 == 124 {
			if err := errors.Join(fake(xproto.ButtonPress, 1, px, py), fake(xproto.ButtonRelease, 1, px, py)); err != nil {
				return 0, err
			}
		}
	}
	took := time.Since(began)
	now, err := cpuOf(s.cmd.Process.Pid)
	return float64(now-used) / float64(took) * 100, err
}
