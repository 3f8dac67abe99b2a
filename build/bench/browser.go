package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"deskbell/backend/browser"
	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/store/pictures"
)

// A way is one Chromium with a page in it, recorded in some way or in none.
type way struct {
	name                     string
	recorded, pictures, film bool
	tab                      context.Context
	loads                    []time.Duration
	spent                    figures // by the script, all turns together
	events                   atomic.Uint64
	heap                     int64
	end                      []func()
}

// figures are what the page's own process says it has done.
type figures struct {
	task, script     time.Duration
	layouts, recalcs float64
}

const (
	loadTurns   = 9
	scriptTurns = 2
	interacts   = 1000
	hourOf      = 10 // scripts: about as much as a person does in an hour
)

// browsers measures what recording costs the pages of a browser: Chromiums, alike but for the recorder, load a
// page with a table of 5,000 rows and are worked in, in turns.
func browsers(ctx context.Context) error {
	_, version, file, err := browser.Find("")
	if err != nil {
		return err
	}
	script, err := os.ReadFile("frontend/dist/rrweb-record.js")
	if err != nil {
		return fmt.Errorf("the console is not built: %w", err)
	}
	site, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(bigPage), ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(site) }() // ends with Close
	defer server.Close()
	address := "http://" + site.Addr().String() + "/"

	plain, bare := &way{name: "without"}, &way{name: "recorded, without pictures", recorded: true}
	recorded, filmed := &way{name: "recorded", recorded: true, pictures: true}, &way{name: "recorded, filmed by rrweb", recorded: true, pictures: true, film: true}
	ways := []*way{plain, bare, recorded, filmed}
	for _, w := range ways {
		defer w.close()
		if err := w.open(ctx, file, string(script)); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	for range loadTurns {
		for _, w := range ways {
			took, err := w.load(address)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			w.loads = append(w.loads, took)
		}
	}
	for range scriptTurns {
		for _, w := range ways {
			if err := w.work(); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	fmt.Printf("\n## Recording a browser\n\nChromium %s, headless, a page with a table of 5,000 rows; %d loads and %d times %d interactions, in turns.\n\n", version, loadTurns, scriptTurns, interacts)
	fmt.Printf("| | load, p50 | of without | task time an interaction | over without | layouts an interaction | events |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	base := median(plain.loads)
	each := func(w *way) time.Duration { return w.spent.task / (scriptTurns * interacts) }
	for _, w := range ways {
		fmt.Printf("| %s | %s | %.3f | %.3f ms | %+.3f ms | %.2f | %d |\n", w.name, ms(median(w.loads)), float64(median(w.loads))/float64(base),
			each(w).Seconds()*1e3, (each(w)-each(plain)).Seconds()*1e3, w.spent.layouts/(scriptTurns*interacts), w.events.Load())
	}
	for _, w := range []*way{plain, recorded} {
		for range hourOf - scriptTurns {
			if err := w.work(); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
		if w.heap, err = w.memory(); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	runtime.GC()
	var ours runtime.MemStats
	runtime.ReadMemStats(&ours)
	fmt.Printf("\nMemory after %d interactions: the page's script heap %.1f MB without and %.1f MB recorded; of this program, all recorders together, %.1f MB.\n",
		hourOf*interacts, float64(plain.heap)/1e6, float64(recorded.heap)/1e6, float64(ours.HeapAlloc)/1e6)
	return nil
}

// open starts a Chromium with an empty tab, and the recorder on it.
func (w *way) open(ctx context.Context, file, rrweb string) error {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return err
	}
	w.end = append(w.end, func() { _ = os.RemoveAll(dir) }) // a folder for temporary files
	args := []string{"--headless=new", "--remote-debugging-port=0", "--user-data-dir=" + dir, "--no-first-run", "--window-size=1280,900", "--disable-gpu",
		"--disable-frame-rate-limit", "--disable-gpu-vsync"} // an input waits for a frame
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command(file, append(args, "about:blank")...)
	if err := cmd.Start(); err != nil {
		return err
	}
	w.end = append(w.end, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	port := ""
	for deadline := time.Now().Add(20 * time.Second); port == ""; time.Sleep(50 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(dir, "DevToolsActivePort")); err == nil {
			port, _, _ = strings.Cut(string(b), "\n")
		}
		if time.Now().After(deadline) {
			return errors.New("the browser did not open its port")
		}
	}
	address := "http://127.0.0.1:" + port
	if w.recorded {
		if err := w.record(ctx, address, rrweb); err != nil {
			return err
		}
	}
	all, cancel := remote.NewAllocator(ctx, address)
	w.end = append(w.end, cancel)
	tab, cancel := chromedp.NewContext(all)
	w.end = append(w.end, cancel)
	w.tab = tab
	// Time of the processor, not of the clock: that the other Chromiums and this program wait for it does not count.
	_, err = chromedp.Call(tab, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	return err
}

// record attaches the recorder.
func (w *way) record(ctx context.Context, address, rrweb string) error {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return err
	}
	writer, err := pictures.New(dir).Writer("rec_bench")
	if err != nil {
		return err
	}
	began := time.Now()
	clock := func() (time.Time, int64) { return time.Now(), int64(time.Since(began)) }
	album := make(chan struct{}, 1)
	keep := func(f *record.Frame) (string, error) {
		album <- struct{}{} // a writer is not for concurrent use
		defer func() { <-album }()
		id, _, _, err := writer.Put(f)
		return id, err
	}
	if !w.pictures {
		keep = nil
	}
	b := browser.New(browser.Options{
		Clock: clock, RRWeb: func() (string, error) { return rrweb, nil },
	}, human.BrowserOptions{Attach: address, DOM: w.film}, keep)
	ctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := b.Run(ctx, func() { close(ready) }, func(human.RecordedEvent) { w.events.Add(1) })
		ended <- err
	}()
	w.end = append(w.end, func() {
		cancel()
		if err := <-ended; err != nil {
			log.Print(err)
		}
		_ = writer.Close()
		_ = os.RemoveAll(dir)
	})
	select {
	case <-ready:
		return nil
	case err := <-ended:
		ended <- err
		return fmt.Errorf("the recorder did not begin: %w", err)
	}
}

func (w *way) close() {
	for i := len(w.end) - 1; i >= 0; i-- {
		w.end[i]()
	}
}

// load loads the page and returns what the page itself says that took.
func (w *way) load(address string) (time.Duration, error) {
	if err := chromedp.Do(w.tab, chromedp.Navigate(address)); err != nil {
		return 0, err
	}
	took, err := chromedp.Run(w.tab, chromedp.Evaluate[float64](`performance.getEntriesByType("navigation")[0].loadEventEnd`))
	return time.Duration(took * float64(time.Millisecond)), err
}

// work clicks 300 cells, types 600 letters and turns the wheel 100 times.
func (w *way) work() error {
	before, err := w.figures()
	if err != nil {
		return err
	}
	for i := range interacts {
		switch {
		case i%10 < 3:
			err = w.click(100+float64(i%7)*20, 120+float64(i%23)*20)
		case i%10 == 9:
			_, err = chromedp.Call(w.tab, input.DispatchMouseEvent, input.DispatchMouseEventParams{
				Type: input.DispatchMouseEventTypeMouseWheel, X: 300, Y: 400, DeltaX: 0.01 /* 0 would not be sent */, DeltaY: float64(120 - 240*(i/10%2)),
			})
		case i%10 == 3:
			err = w.click(100, 30) // the field
			if err == nil {
				err = w.letter("a")
			}
		default:
			err = w.letter(string(rune('a' + i%26)))
		}
		if err != nil {
			return err
		}
	}
	after, err := w.figures()
	w.spent.task += after.task - before.task
	w.spent.script += after.script - before.script
	w.spent.layouts += after.layouts - before.layouts
	w.spent.recalcs += after.recalcs - before.recalcs
	return err
}

func (w *way) click(x, y float64) error {
	for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMouseMoved, input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
		p := input.DispatchMouseEventParams{Type: kind, X: x, Y: y}
		if kind != input.DispatchMouseEventTypeMouseMoved {
			p.Button, p.ClickCount = input.MouseButtonLeft, 1
		}
		if _, err := chromedp.Call(w.tab, input.DispatchMouseEvent, p); err != nil {
			return err
		}
	}
	return nil
}

func (w *way) letter(c string) error {
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		p := input.DispatchKeyEventParams{Type: kind, Key: c}
		if kind == input.DispatchKeyEventTypeKeyDown {
			p.Text = c
		}
		if _, err := chromedp.Call(w.tab, input.DispatchKeyEvent, p); err != nil {
			return err
		}
	}
	return nil
}

func (w *way) figures() (f figures, err error) {
	metrics, err := chromedp.Call(w.tab, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		return f, err
	}
	for _, m := range metrics.Metrics {
		switch m.Name {
		case "TaskDuration":
			f.task = time.Duration(m.Value * float64(time.Second))
		case "ScriptDuration":
			f.script = time.Duration(m.Value * float64(time.Second))
		case "LayoutCount":
			f.layouts = m.Value
		case "RecalcStyleCount":
			f.recalcs = m.Value
		}
	}
	return f, nil
}

// memory is the page's script heap after its garbage was collected, in bytes.
func (w *way) memory() (int64, error) {
	if _, err := chromedp.Call(w.tab, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
		return 0, err
	}
	metrics, err := chromedp.Call(w.tab, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		return 0, err
	}
	for _, m := range metrics.Metrics {
		if m.Name == "JSHeapUsedSize" {
			return int64(m.Value), nil
		}
	}
	return 0, errors.New("the page does not say how large its heap is")
}

func bigPage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	var b strings.Builder
	b.WriteString(`<!doctype html><title>Prices</title><style>td{padding:2px 8px}input{position:fixed;top:16px;left:16px;width:300px}table{margin-top:60px}</style><input aria-label="Filter"><table>`)
	for i := range 5000 {
		fmt.Fprintf(&b, `<tr data-row="%d"><td>Item %d</td><td>%d.%02d</td><td><a href="#%d">Details</a></td><td><button>Order</button></td></tr>`, i, i, i%97, i%100, i)
	}
	b.WriteString(`</table>`)
	_, _ = w.Write([]byte(b.String())) // whom it was for has gone
}

func median(all []time.Duration) time.Duration { return slices.Sorted(slices.Values(all))[len(all)/2] }
