package browser

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// framed are pages that hold one another: c.test in b.test in a.test, and every other kind of frame.
func framedSite(t *testing.T) (pages map[string]string) {
	t.Helper()
	return map[string]string{
		"/": `<title>Frames</title><body style="margin:20px">
			<iframe id=same src="/same" style="width:300px;height:120px;border:3px solid;padding:4px"></iframe>
			<iframe id=cross src="http://b.test:PORT/cross" style="width:400px;height:220px"></iframe>
			<iframe id=doc srcdoc="<button>in srcdoc</button>" style="width:200px;height:80px"></iframe>
			<iframe id=blank src="about:blank" style="width:200px;height:80px"></iframe>
			<iframe id=sandbox sandbox src="/plain?sandbox" style="width:200px;height:80px"></iframe>
			<iframe id=scripts sandbox="allow-scripts" src="/plain?scripts" style="width:200px;height:80px"></iframe>
			<script>document.getElementById('blank').contentDocument.body.innerHTML = '<button>in blank</button>'</script>`,
		"/same":  `<body style="margin:9px"><button>in same</button><iframe src="/plain?nested" style="width:150px;height:60px"></iframe>`,
		"/cross": `<body style="margin:15px"><button>in cross</button><iframe src="http://c.test:PORT/plain?deep" style="width:150px;height:60px"></iframe><iframe src="http://a.test:PORT/plain?back" style="width:150px;height:60px"></iframe>`,
		"/plain": `<body style="margin:5px"><button>in plain</button>`,
	}
}

func TestEveryFrameIsHeard(t *testing.T) {
	site := serve(t, framedSite(t), nil)
	address := strings.Replace(site.URL, "127.0.0.1", "a.test", 1)
	r := run(t, headless(t), human.BrowserOptions{URL: address + "/", Profile: "throwaway"})
	tab := r.at("/")
	for ending, want := range map[string]struct {
		path []int
		url  string
	}{
		"/same":                  {[]int{0}, address + "/same"},
		"/plain?nested":          {[]int{0, 0}, address + "/plain?nested"},
		"b.test:PORT/cross":      {[]int{1}, ""},
		"c.test:PORT/plain?deep": {[]int{1, 0}, ""},
		"a.test:PORT/plain?back": {[]int{1, 1}, ""},
		"about:srcdoc":           {[]int{2}, "about:srcdoc"},
		"about:blank":            {[]int{3}, "about:blank"},
		"/plain?sandbox":         {[]int{4}, ""},
		"/plain?scripts":         {[]int{5}, ""},
	} {
		ending = strings.ReplaceAll(ending, "PORT", site.URL[strings.LastIndex(site.URL, ":")+1:])
		in := r.frame(tab, ending)
		x, y := r.click(tab, in, "button")
		for _, kind := range []human.RecordedType{human.PagePress, human.PageClick} {
			e := r.wait(kind, func(e human.RecordedEvent) bool { return slices.Equal(e.Page.Frame, want.path) })
			if math.Abs(float64(e.X)-x) > 1.6 || math.Abs(float64(e.Y)-y) > 1.6 {
				t.Errorf("%s of %s is at %d,%d, want %.1f,%.1f", kind, ending, e.X, e.Y, x, y)
			}
			if e.Element == nil || !strings.HasPrefix(e.Element.Name, "in ") {
				t.Errorf("%s of %s has the element %+v", kind, ending, e.Element)
			}
			if !strings.HasSuffix(e.Page.FrameURL, ending) || want.url != "" && e.Page.FrameURL != want.url {
				t.Errorf("%s of %s is in a frame at %s", kind, ending, e.Page.FrameURL)
			}
			if e.Page.URL != address+"/" || e.Page.Title != "Frames" {
				t.Errorf("%s of %s is on page %s %q", kind, ending, e.Page.URL, e.Page.Title)
			}
		}
	}
	if t.Failed() {
		t.Log(describe(r.all()))
	}
}

func TestPlacesOfFramesAreThoseOnTheScreen(t *testing.T) {
	site := serve(t, framedSite(t), nil)
	address := strings.Replace(site.URL, "127.0.0.1", "a.test", 1)
	r := run(t, headless(t), human.BrowserOptions{URL: address + "/", Profile: "throwaway"})
	tab := r.at("/")
	deep := r.frame(tab, "/plain?deep")
	// The page of b.test adds 15 px of margin and 2 px of border; what is before it on its line is a button.
	var outer, inner [2]float64
	r.js(tab, r.top(tab), `(() => { const b = document.getElementById('cross').getBoundingClientRect(); return [b.x + 2, b.y + 2] })()`, &outer)
	r.js(tab, r.frame(tab, "/cross"), `(() => { const b = document.querySelector('iframe').getBoundingClientRect(); return [b.x + 2, b.y + 2] })()`, &inner)
	x, y, err := tab.locate(context.Background(), deep.id)
	if err != nil || math.Abs(x-outer[0]-inner[0]) > 0.6 || math.Abs(y-outer[1]-inner[1]) > 0.6 {
		t.Errorf("the frame is at %.1f,%.1f (%v), want %.1f,%.1f", x, y, err, outer[0]+inner[0], outer[1]+inner[1])
	}
	nested := r.frame(tab, "/plain?nested")
	r.js(tab, r.top(tab), `(() => { const b = document.getElementById('same').getBoundingClientRect(); return [b.x + 7, b.y + 7] })()`, &outer)
	r.js(tab, r.frame(tab, "/same"), `(() => { const b = document.querySelector('iframe').getBoundingClientRect(); return [b.x + 2, b.y + 2] })()`, &inner)
	x, y, err = tab.locate(context.Background(), nested.id)
	if err != nil || math.Abs(x-outer[0]-inner[0]) > 0.6 || math.Abs(y-outer[1]-inner[1]) > 0.6 {
		t.Errorf("the nested frame is at %.1f,%.1f (%v), want %.1f,%.1f", x, y, err, outer[0]+inner[0], outer[1]+inner[1])
	}
}
