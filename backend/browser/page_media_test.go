package browser

import (
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// TestPageMedia plays a sound by the browser's own controls, with the pointer and with keys (H11).
func TestPageMedia(t *testing.T) {
	c := startChromium(t)
	p := c.open(t, `<title>Player</title><video id=a controls aria-label=Interview style="width: 600px; height: 300px"></video><script>
		// A tone of 60 seconds: a WAV file of 8,000 samples a second.
		const n = 480000, b = new DataView(new ArrayBuffer(44 + n));
		[...'RIFF'].forEach((c, i) => b.setUint8(i, c.charCodeAt(0))); b.setUint32(4, 36 + n, true);
		[...'WAVEfmt '].forEach((c, i) => b.setUint8(8 + i, c.charCodeAt(0))); b.setUint32(16, 16, true); b.setUint16(20, 1, true); b.setUint16(22, 1, true);
		b.setUint32(24, 8000, true); b.setUint32(28, 8000, true); b.setUint16(32, 1, true); b.setUint16(34, 8, true);
		[...'data'].forEach((c, i) => b.setUint8(36 + i, c.charCodeAt(0))); b.setUint32(40, n, true);
		a.src = URL.createObjectURL(new Blob([b], { type: 'audio/wav' }));
	</script>`)
	p.until("the player is ready", func() bool { return p.text("String(a.readyState > 2)") == "true" })
	rest := func() { p.evaluate("new Promise((done) => setTimeout(done, 700))", true, nil) }
	x, y := p.at("#a")
	for _, at := range [][2]float64{{-280, 130}, {-280, 130}, {100, 130}} { // the button at the left of the bar, and two thirds of it
		p.mouse("mouseMoved", x+at[0], y+at[1], nil)
		p.clickAt(x+at[0], y+at[1], "left", 1)
		rest()
	}
	p.run("a.blur(); document.body.addEventListener('keydown', (e) => { if (e.key === 'p') a.play() })")
	p.key("p", 0) // a script plays it
	rest()
	p.evaluate("deskbell.flush()", true, nil)
	var got []string
	for _, e := range p.all() {
		if e.Type == human.PageMedia {
			got = append(got, e.Element.Name+" "+e.Values[0])
		}
	}
	if want := []string{"Interview play", "Interview pause", "Interview seek"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q; %s", got, want, p.text("a.paused + ' ' + a.currentTime"))
	}
	if lines := p.lines(); len(lines) != 4 || !strings.HasPrefix(lines[3], "key p") {
		t.Errorf("%q", lines)
	}
}
