package accessibility

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkPressed takes the time from a press to its element with all ancestors, over every spot of a form.
func BenchmarkPressed(b *testing.B) {
	for name, form := range forms {
		b.Run(name, func(b *testing.B) {
			d := startDesktop(b).accessible()
			e := d.elements()
			app := d.form(form.script, form.env...)
			at := d.window(form.title, app.pid())
			d.ready(e, at, form.spots[0])
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				s := form.spots[i%len(form.spots)]
				began := time.Now()
				got, err := e.At(b.Context(), at.Window.Bounds.X+s.x, at.Window.Bounds.Y+s.y, at)
				took = append(took, time.Since(began))
				if err != nil || got.Name != s.name {
					b.Fatalf("%s %q, %v; want %q", got.Role, got.Name, err, s.name)
				}
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")
		})
	}
}
