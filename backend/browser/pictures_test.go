package browser

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// at is the color of a picture at a point of the page, in CSS pixels: red, green and blue.
func at(f record.Frame, x, y int) [3]byte {
	i := 4 * (int(float64(y)*f.Scale)*f.W + int(float64(x)*f.Scale))
	return [3]byte{f.Pix[i+2], f.Pix[i+1], f.Pix[i]}
}

func like(a, b [3]byte) bool {
	for i := range a {
		if math.Abs(float64(a[i])-float64(b[i])) > 40 {
			return false
		}
	}
	return true
}

var (
	red   = [3]byte{255, 0, 0}
	blue  = [3]byte{0, 0, 255}
	green = [3]byte{0, 128, 0}
	black = [3]byte{0, 0, 0}
	white = [3]byte{255, 255, 255}
)

// shown waits for a picture of an action.
func (v *visit) shown(ref uint64, when string) (human.RecordedEvent, record.Frame) {
	v.Helper()
	e := v.wait(fmt.Sprint("the picture from ", when, " of ", ref), func(e human.RecordedEvent) bool {
		return e.Type == human.PictureTaken && e.Cause == ref && e.When == when
	})
	return e, v.picture(e.Picture)
}

// pressed clicks, and returns the press that was recorded.
func (v *visit) pressed(x, y float64) human.RecordedEvent {
	v.Helper()
	before := len(v.of(human.PagePress))
	v.click(x, y)
	var all []human.RecordedEvent
	v.until("the press", func() bool { all = v.of(human.PagePress); return len(all) > before })
	return all[before]
}

// look waits until the last picture is as it should be: a person looks before they click.
func (v *visit) look(is func(record.Frame) bool) {
	v.Helper()
	v.until("a picture as it is", func() bool {
		ss := v.b.front().sources.screenshots
		s := ss.seen(math.MaxInt64)
		if s == nil || s.data == "" {
			return false
		}
		f, err := ss.develop(s)
		return err == nil && is(*f)
	})
}

func TestPicturesFromBeforeAndAfter(t *testing.T) {
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{"/": `<style>body { margin: 0; background: white }
		button { position: absolute; left: 0; top: 0; width: 200px; height: 200px; border: 0; background: red }</style>
		<button onmousedown="this.style.background = colours.shift()"></button><script>colours = ['blue', 'green', 'red', 'blue']</script>`}))
	colours := [][3]byte{red, blue, green, red, blue}
	// One change at a time, and then nothing: the last picture has to be right, and to stay so.
	for i := range 4 {
		v.look(func(f record.Frame) bool { return like(at(f, 100, 100), colours[i]) })
		press := v.pressed(100, 100)
		before, was := v.shown(press.Ref, "before")
		after, is := v.shown(press.Ref, "after")
		if got := at(was, 100, 100); !like(got, colours[i]) || !like(at(was, 400, 100), white) {
			t.Errorf("%d: before it the button was %v; want %v", i, got, colours[i])
		}
		if got := at(is, 100, 100); !like(got, colours[i+1]) {
			t.Errorf("%d: after it the button is %v; want %v", i, got, colours[i+1])
		}
		if before.At > press.At || after.At < before.At || before.Page == nil || before.Page.W != 1000 || was.W != int(1000*was.Scale) {
			t.Errorf("%d: press at %d, before %+v, after %+v", i, press.At, before, after)
		}
	}
}

func TestThePictureFromBeforeOfAPageThatMoves(t *testing.T) {
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{"/": `<style>body { margin: 0 }</style>
		<div id=d style="position: absolute; width: 100%; height: 300px; background: red"></div><canvas id=c width=300 height=300 style="margin-top: 300px"></canvas>
		<script>
		(function draw(n) { const x = c.getContext('2d'); x.fillStyle = 'hsl(' + n + ',90%,50%)'; x.fillRect(0, 0, 300, 300); requestAnimationFrame(() => draw(n + 3)) })(0)
		addEventListener('mousedown', () => d.style.background = 'blue')</script>`}))
	v.look(func(f record.Frame) bool { return like(at(f, 100, 100), red) })
	press := v.pressed(100, 100)
	_, was := v.shown(press.Ref, "before")
	_, is := v.shown(press.Ref, "after")
	if !like(at(was, 100, 100), red) || !like(at(is, 100, 100), blue) {
		t.Errorf("before %v, after %v; want red, then blue", at(was, 100, 100), at(is, 100, 100))
	}
	l := v.b.front().sources.screenshots
	l.mu.Lock()
	taken := len(l.shots)
	l.mu.Unlock()
	if most := int(kept/int64(between))*3 + 3; taken > most {
		t.Errorf("%d pictures are kept of an animation; want at most %d", taken, most)
	}
}

// A picture that was being taken when the button was pressed may show what came of it.
func TestThePictureFromBeforeIsOfBefore(t *testing.T) {
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{"/": `<style>body { margin: 0; background: red }</style>
		<script>colours = ['blue', 'green', 'black', 'white', 'red', 'blue']; addEventListener('mousedown', () => document.body.style.background = colours.shift())</script>`}))
	colours := [][3]byte{red, blue, green, black, white, red, blue}
	l := v.b.front().sources.screenshots
	ctx, stop := context.WithCancel(t.Context())
	var taking sync.WaitGroup
	taking.Go(func() {
		for ctx.Err() == nil {
			l.work.Lock()
			l.refresh(ctx)
			l.work.Unlock()
		}
	})
	t.Cleanup(func() { stop(); taking.Wait() })
	for i, next := range colours[1:] {
		v.look(func(f record.Frame) bool { return like(at(f, 100, 100), colours[i]) })
		press := v.pressed(100, 100)
		before, was := v.shown(press.Ref, "before")
		if like(at(was, 100, 100), next) || before.At > press.At {
			t.Errorf("the picture from before the press at %d is of %d, and shows what came of it", press.At, before.At)
		}
	}
}

func TestSecretFieldsAreBlackInPictures(t *testing.T) {
	for _, scale := range []string{"1", "1.5"} {
		t.Run("scale "+scale, func(t *testing.T) { secretFields(t, scale) })
	}
}

func secretFields(t *testing.T, scale string) {
	field := `<style>body { margin: 0; background: white } input { position: absolute; left: 20px; top: %dpx; width: 200px; height: 40px; border: 0; padding: 0; background: red }</style>`
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{
		"/": fmt.Sprintf(field, 20) + `<input id=p type=password value=hunter2-3f9a><input style="left: 400px" value=open>
			<iframe style="position: absolute; left: 50px; top: 100px; width: 300px; height: 100px; border: 5px solid" src="/inner"></iframe>
			<iframe id=f style="position: absolute; left: 500px; top: 100px; width: 300px; height: 100px; border: 0"></iframe>
			<div id=host style="position: absolute; left: 0; top: 300px"></div>
			<script>f.src = location.href.replace('127.0.0.1', 'other.example') + 'inner'
			host.attachShadow({mode: 'open'}).innerHTML = '<input autocomplete=one-time-code style="width: 200px; height: 40px; background: red; border: 0" value=123456>'</script>`,
		"/inner": fmt.Sprintf(field, 10) + `<input type=password value=hunter2-3f9a>`,
	}), func(o *Options) { o.Args = append(o.Args, "--force-device-scale-factor="+scale) })
	v.until("the frames are there", func() bool {
		all := v.b.front().places()
		return len(all) == 3 && !slices.ContainsFunc(all, func(p place) bool { return p.contextID == 0 })
	})
	look := func(what string) {
		t.Helper()
		v.look(func(f record.Frame) bool { return like(at(f, 500, 40), red) && at(f, 620, 130) == black })
		press := v.pressed(900, 600)
		for _, when := range []string{"before", "after"} {
			_, f := v.shown(press.Ref, when)
			if got := fmt.Sprint(f.Scale); got != scale {
				t.Errorf("%s, %s: %s pixels to one of the page's; want %s", what, when, got, scale)
			}
			for where, p := range map[string][2]int{
				"the page's": {120, 40}, "the frame's": {50 + 5 + 120, 100 + 5 + 30}, "the frame's of another site": {500 + 120, 100 + 30}, "the shadow root's": {100, 320},
			} {
				if got := at(f, p[0], p[1]); got != black {
					t.Errorf("%s, %s: %s field is %v; want black", what, when, where, got)
				}
			}
			if got := at(f, 500, 40); !like(got, red) {
				t.Errorf("%s, %s: the ordinary field is %v", what, when, got)
			}
		}
	}
	look("as they are")
	v.run(`p.type = 'text'`)
	look("switched to text")
}

func TestPicturesGoOnElsewhere(t *testing.T) {
	paint := func(colour string) string { return `<body style="margin: 0; background: ` + colour + `">` }
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{
		"/":      paint("red") + `<script>addEventListener('click', () => open(location.href.replace('127.0.0.1', 'other.example') + 'popup'))</script>`,
		"/popup": paint("blue"), "/next": paint("green"),
	}))
	is := func(colour [3]byte) func(record.Frame) bool {
		return func(f record.Frame) bool { return like(at(f, 50, 50), colour) }
	}
	first := v.b.front()
	v.look(is(red))
	press := v.pressed(50, 50)
	if _, f := v.shown(press.Ref, "before"); !is(red)(f) {
		t.Errorf("before a popup opens: %v", at(f, 50, 50))
	}
	v.until("the popup is in front", func() bool { return v.b.front() != first })
	v.look(is(blue))
	v.run(`location = location.href.replace('other.example', 'third.example').replace('popup', 'next')`)
	v.look(is(green))
	press = v.pressed(60, 60)
	if _, f := v.shown(press.Ref, "after"); !is(green)(f) || press.Page.Target != "t2" {
		t.Errorf("in the popup, at another site: %v of %+v", at(f, 50, 50), press.Page)
	}
	// What has changed in a tab while it was not seen is seen when it is.
	if err := first.conn.call(t.Context(), first.session, "Runtime.evaluate", object{"expression": "document.body.style.background = 'black'"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := first.conn.call(t.Context(), first.session, "Page.bringToFront", nil, nil); err != nil {
		t.Fatal(err)
	}
	v.until("the first tab is in front", func() bool { return v.b.front() == first })
	v.look(is(black))
}

func TestAMovingSecretFieldIsHiddenWhereItWasAndIs(t *testing.T) {
	l := &screenshots{}
	add := func(at int64, frames string, black ...box) {
		l.measured = append(l.measured, measure{at: at, ok: frames != "", frames: frames, w: 100, h: 100, black: black})
	}
	add(10, "a", box{0, 0, 10, 10})
	add(20, "a", box{0, 50, 10, 60})
	add(30, "a", box{0, 50, 10, 60}, box{20, 0, 30, 10})
	add(40, "b")
	add(50, "")
	add(60, "b")
	for name, tt := range map[string]struct {
		from, to int64
		want     []box
		known    bool
	}{
		"nothing is known of before": {5, 20, nil, false},
		"it moved":                   {12, 20, []box{{0, 0, 10, 60}}, true},
		"another came":               {22, 30, []box{{0, 50, 10, 60}, {0, 50, 10, 60}, {20, 0, 30, 10}}, true},
		"another page":               {32, 40, nil, false},
		"it is not known":            {42, 60, nil, false},
		"nothing happened":           {62, 70, []box{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, ok := l.between(tt.from, tt.to)
			if ok != tt.known || !slices.Equal(got, tt.want) {
				t.Errorf("black %v, %v; want %v, %v", got, ok, tt.want, tt.known)
			}
		})
	}
}

func TestPrivatePagesHaveNoPictures(t *testing.T) {
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{
		"/":     `<style>body { margin: 0 }</style><iframe id=f style="position: absolute; left: 100px; top: 100px; width: 300px; height: 300px; border: 0"></iframe><script>f.src = location.href.replace('127.0.0.1', 'private.example') + 'bank'</script>`,
		"/bank": `<body style="background: red">`,
	}), func(o *Options) { o.Exclude = []string{"private.example"} })
	v.until("the frame is there", func() bool {
		return slices.ContainsFunc(v.b.front().places(), func(p place) bool { return p.private && p.contextID != 0 })
	})
	v.look(func(f record.Frame) bool { return at(f, 250, 250) == black })
	press := v.pressed(700, 50)
	_, f := v.shown(press.Ref, "after")
	if got := at(f, 250, 250); got != black {
		t.Errorf("a private frame is %v; want black", got)
	}
	if got := at(f, 50, 50); !like(got, white) {
		t.Errorf("around it there is %v; want white", got)
	}
	v.mu.Lock()
	taken := len(v.frames)
	v.mu.Unlock()
	v.run(`location = location.href.replace('127.0.0.1', 'private.example') + 'bank'`)
	v.until("the private page is there", v.b.front().private)
	v.click(50, 50)
	v.rest(time.Second)
	if s := v.b.front().sources.screenshots.since(t.Context(), 0); s != nil && s.data != "" {
		t.Error("there is a picture of a private page")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if got := len(v.frames); got != taken {
		t.Errorf("%d pictures were stored of a private page", got-taken)
	}
}

func TestDecodingJPEG(t *testing.T) {
	for name, source := range map[string]image.Image{
		"in colour": func() image.Image {
			m := image.NewRGBA(image.Rect(0, 0, 33, 17))
			for y := range 17 {
				for x := range 33 {
					m.Set(x, y, color.RGBA{200, 100, 50, 255})
				}
			}
			return m
		}(),
		"in grey": image.NewGray(image.Rect(0, 0, 33, 17)),
	} {
		t.Run(name, func(t *testing.T) {
			var raw bytes.Buffer
			if err := jpeg.Encode(&raw, source, nil); err != nil {
				t.Fatal(err)
			}
			f, err := decodeJPEG(raw.Bytes())
			if err != nil || f.W != 33 || f.H != 17 || len(f.Pix) != 4*33*17 {
				t.Fatalf("%v, %+v", err, f)
			}
			r, g, b, _ := source.At(20, 10).RGBA()
			if got, want := at(*f, 20, 10), [3]byte{byte(r >> 8), byte(g >> 8), byte(b >> 8)}; !like(got, want) {
				t.Errorf("got %v; want %v", got, want)
			}
			for i := range raw.Len() {
				_, _ = decodeJPEG(raw.Bytes()[:i]) // does not panic
			}
		})
	}
	if _, err := decodeJPEG([]byte("no picture")); err == nil {
		t.Error("no picture was decoded")
	}
}
