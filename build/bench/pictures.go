//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kbinani/screenshot"

	"deskbell/backend/platform/x11"
	"deskbell/backend/record"
	"deskbell/backend/store/pictures"
)

// takePictures measures taking and storing a picture of a busy screen, and the plain way in turns with it: the
// library's CaptureRect and PNG.
func takePictures(ctx context.Context) error {
	if os.Getenv("DISPLAY") == "" {
		return errors.New("there is no display; `make bench` brings one")
	}
	end, err := busyScreen(ctx)
	if err != nil {
		return err
	}
	defer end()
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store := pictures.New(dir)
	writer, err := store.Writer(recording)
	if err != nil {
		return err
	}
	defer writer.Close()
	screen := x11.NewScreen("", func() (time.Time, int64) { return time.Now(), time.Now().UnixNano() })
	defer screen.Close()

	ways, size, err := waysOfTaking(ctx, dir, screen, writer)
	if err != nil {
		return err
	}
	const rounds = 31
	for round := range rounds {
		for i := range ways {
			way := &ways[i]
			if way.before != nil {
				if err := way.before(); err != nil {
					return err
				}
			}
			began := time.Now()
			n, err := way.do(round)
			if err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
			way.took = append(way.took, time.Since(began))
			way.bytes += n
		}
	}
	fmt.Printf("\n## Pictures of %d by %d pixels\n\n| | p50 | p99 | worst | of |\n| --- | --- | --- | --- | --- |\n", size.Dx(), size.Dy())
	for _, way := range ways {
		percentiles(way.name, way.took) // sorts them
	}
	fmt.Printf("\n| | bytes each |\n| --- | --- |\n")
	for _, way := range ways {
		fmt.Printf("| %s | %d |\n", way.name, way.bytes/rounds)
	}
	p50 := func(way int) float64 { return float64(ways[way].took[rounds/2]) }
	fmt.Printf("\nAt p50 a whole picture is taken and stored **%.1f times** as fast as by CaptureRect and PNG, %.1f times as by its fastest.\n", p50(0)/p50(2), p50(1)/p50(2))
	return nil
}

// A pictureWay is one of taking, storing or reading a picture, and what was measured of it.
type pictureWay struct {
	name   string
	before func() error // what is not measured
	do     func(round int) (bytes int64, err error)
	took   []time.Duration
	bytes  int64
}

// waysOfTaking are the ways that are compared, the library's first.
func waysOfTaking(ctx context.Context, dir string, screen record.Screen, writer record.PictureWriter) (ways []pictureWay, size image.Rectangle, err error) {
	var f record.Frame
	if err := screen.Grab(ctx, &f); err != nil {
		return nil, size, err
	}
	size = image.Rect(0, 0, f.W, f.H)
	var ids []string
	put := func() (int64, error) {
		id, _, n, err := writer.Put(&f)
		ids = append(ids, id)
		return n, err
	}
	plain := func(level png.CompressionLevel) func(int) (int64, error) {
		return func(int) (int64, error) {
			img, err := screenshot.CaptureRect(size)
			if err != nil {
				return 0, err
			}
			var b bytes.Buffer
			err = (&png.Encoder{CompressionLevel: level}).Encode(&b, img)
			return int64(b.Len()), err
		}
	}
	return []pictureWay{
		{name: "CaptureRect and PNG", do: plain(png.DefaultCompression)},
		{name: "CaptureRect and PNG at its fastest", do: plain(png.BestSpeed)},
		{name: "ours, taken and stored whole", do: func(round int) (int64, error) {
			if err := screen.Grab(ctx, &f); err != nil {
				return 0, err
			}
			f.X = round + 1 // as from another place of the desktop, so that it is new and no change of the last
			return put()
		}},
		{name: "ours, taken and stored where a line of text has changed", do: func(round int) (int64, error) {
			if err := screen.Grab(ctx, &f); err != nil {
				return 0, err
			}
			f.X = round + 1
			for y := 100 + 16*round; y < 112+16*round; y++ {
				for x := 50; x < 350; x++ {
					f.Pix[4*(y*f.W+x)] ^= byte(x * y)
				}
			}
			return put()
		}},
		{name: "ours, taken and equal to the last", do: func(int) (int64, error) { return taken(ctx, screen, &f, writer) }, before: func() error { // the last one stored is one that was changed by hand
			if err := screen.Grab(ctx, &f); err != nil {
				return err
			}
			_, err := put()
			return err
		}},
		{name: "a stored one read, made 320 pixels wide, as PNG", do: func(round int) (int64, error) {
			fresh := pictures.New(dir) // which has nothing in memory
			got, err := fresh.Read(ctx, recording, ids[(7*round)%len(ids)])
			if err != nil {
				return 0, err
			}
			var n counter
			err = pictures.Encode(&n, got, "png", 320)
			return int64(n), err
		}},
	}, size, nil
}

const recording = "rec_bench"

func taken(ctx context.Context, screen record.Screen, f *record.Frame, w record.PictureWriter) (int64, error) {
	if err := screen.Grab(ctx, f); err != nil {
		return 0, err
	}
	_, fresh, n, err := w.Put(f)
	if err == nil && fresh {
		err = errors.New("the screen has changed by itself")
	}
	return n, err
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

// busyScreen shows a page in a browser that is full of text, with a few pictures.
func busyScreen(ctx context.Context) (end func(), err error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return nil, err
	}
	var page strings.Builder
	page.WriteString(`<!doctype html><meta charset="utf-8"><body style="margin:0;columns:4;column-gap:8px;font:11px sans-serif;overflow:hidden">`)
	for _, pattern := range []string{"docs/images/*.png", "README.md", "docs/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("no %s here: run this in the project's folder (%v)", pattern, err)
		}
		for _, file := range files {
			path, err := filepath.Abs(file)
			if err != nil {
				return nil, err
			}
			if strings.HasSuffix(file, ".png") {
				fmt.Fprintf(&page, `<img src="file://%s" style="width:100%%">`, html.EscapeString(path))
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			for i, line := range strings.Split(string(text), "\n") {
				fmt.Fprintf(&page, `<div style="color:hsl(%d,60%%,30%%)">%s</div>`, i*37%360, html.EscapeString(line))
			}
		}
	}
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(page.String()), 0o600); err != nil {
		return nil, err
	}
	browser := exec.CommandContext(ctx, "chromium", "--no-sandbox", "--no-first-run", "--kiosk", "--window-position=0,0", "--window-size=1440,900", "--user-data-dir="+dir, "file://"+file)
	if err := browser.Start(); err != nil {
		return nil, err
	}
	time.Sleep(8 * time.Second) // until it has drawn itself
	return func() {
		_ = browser.Process.Signal(os.Interrupt) // so that it ends its own processes
		_ = browser.Wait()
		_ = os.RemoveAll(dir)
	}, nil
}
