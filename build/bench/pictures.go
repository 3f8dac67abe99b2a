package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/kbinani/screenshot"

	"deskbell/backend/pictures"
	"deskbell/backend/record"
	"deskbell/backend/x11"
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
	const recording = "rec_bench"
	store := pictures.New(dir)
	writer, err := store.Writer(recording)
	if err != nil {
		return err
	}
	defer writer.Close()
	screen := x11.NewScreen("", func() (time.Time, int64) { return time.Now(), time.Now().UnixNano() })
	defer screen.Close()

	var f record.Frame
	if err := screen.Grab(ctx, &f); err != nil {
		return err
	}
	whole := image.Rect(0, 0, f.W, f.H)
	ids := make([]string, 0, 64)
	put := func() (int64, error) {
		id, _, n, err := writer.Put(&f)
		ids = append(ids, id)
		return n, err
	}
	plain := func(level png.CompressionLevel) func(int) (int64, error) {
		return func(int) (int64, error) {
			img, err := screenshot.CaptureRect(whole)
			if err != nil {
				return 0, err
			}
			var b bytes.Buffer
			err = (&png.Encoder{CompressionLevel: level}).Encode(&b, img)
			return int64(b.Len()), err
		}
	}
	ways := []struct {
		name  string
		do    func(round int) (int64, error)
		took  []time.Duration
		bytes int64
	}{
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
		{name: "ours, taken and equal to the last", do: func(int) (int64, error) {
			n, _, err := taken(ctx, screen, &f, writer)
			return n, err
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
	}
	const rounds = 15
	for round := range rounds {
		for i := range ways {
			way := &ways[i]
			if i == 4 { // the last one stored is one that was changed by hand
				if err := screen.Grab(ctx, &f); err != nil {
					return err
				}
				if _, err := put(); err != nil {
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
	fmt.Printf("\n## Pictures of %d by %d pixels\n\n| | p50 | p99 | worst | of |\n| --- | --- | --- | --- | --- |\n", f.W, f.H)
	for _, way := range ways {
		percentiles(way.name, way.took) // sorts them
	}
	fmt.Printf("\n| | bytes each |\n| --- | --- |\n")
	for _, way := range ways {
		fmt.Printf("| %s | %d |\n", way.name, way.bytes/rounds)
	}
	p50 := func(way int) float64 { return float64(ways[way].took[rounds/2]) }
	fmt.Printf("\nAt p50 a whole picture is taken and stored **%.1f times** as fast as by CaptureRect and PNG, **%.1f times** as by its fastest.\n", p50(0)/p50(2), p50(1)/p50(2))
	return nil
}

func taken(ctx context.Context, screen record.Screen, f *record.Frame, w record.PictureWriter) (int64, bool, error) {
	if err := screen.Grab(ctx, f); err != nil {
		return 0, false, err
	}
	_, fresh, n, err := w.Put(f)
	if err == nil && fresh {
		err = errors.New("the screen has changed by itself")
	}
	return n, fresh, err
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

var _ io.Writer = (*counter)(nil)

// busyScreen shows two terminals full of text, and what could be a photograph beside them.
func busyScreen(ctx context.Context) (end func(), err error) {
	c, err := xgb.NewConn()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	root := xproto.Setup(c).DefaultScreen(c).Root
	gc, err := xproto.NewGcontextId(c)
	if err != nil {
		return nil, err
	}
	xproto.CreateGC(c, gc, xproto.Drawable(root), 0, nil)
	random := rand.New(rand.NewPCG(1, 2))
	const wide, high, step = 620, 440, 40 // rows in steps: a request has a greatest length
	for top := 0; top < high; top += step {
		var rows []byte
		for y := top; y < top+step; y++ {
			for x := range wide {
				grain := random.IntN(9)
				rows = append(rows, byte(x/3+grain), byte(y/2+grain), byte((x+y)/5+grain), 0)
			}
		}
		if err := xproto.PutImageChecked(c, xproto.ImageFormatZPixmap, xproto.Drawable(root), gc, wide, step, 780, int16(400+top), 0, 24, rows).Check(); err != nil {
			return nil, err
		}
	}
	var started []*exec.Cmd
	end = func() {
		for _, cmd := range started {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	for _, at := range []string{"110x60+20+20", "100x24+780+20"} {
		terminal := exec.CommandContext(ctx, "xterm", "-geometry", at, "-e", "sh", "-c", "printf '\\033[?25l'; cat README.md docs/*.md; exec sleep 1000")
		if err := terminal.Start(); err != nil {
			end()
			return nil, err
		}
		started = append(started, terminal)
	}
	time.Sleep(3 * time.Second) // until they have drawn themselves
	return end, nil
}
