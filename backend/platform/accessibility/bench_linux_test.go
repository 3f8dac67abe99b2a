package accessibility

import (
	"image"
	"slices"
	"testing"
	"time"
)

// BenchmarkPressed takes the time from a press to its element with all ancestors, over every spot of a form.
func BenchmarkPressed(b *testing.B) {
	for name, form := range forms {
		b.Run(name, func(b *testing.B) {
			d := startAccessible(b)
			e := d.elements()
			f := d.show(e, form)
			points := make([]image.Point, len(form.spots))
			for i, s := range form.spots {
				points[i].X, points[i].Y = f.point(s)
			}
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				s, p := form.spots[i%len(form.spots)], points[i%len(form.spots)]
				began := time.Now()
				got, err := e.At(b.Context(), p.X, p.Y, f.at)
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
