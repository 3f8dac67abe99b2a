package record_test

import (
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

func TestBlackCoversItsBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		x, y  int
		scale float64
		black human.Bounds
		want  [4]int // the black pixels: from x, y to x, y
	}{
		"inside":            {0, 0, 1, human.Bounds{X: 2, Y: 3, W: 4, H: 5}, [4]int{2, 3, 6, 8}},
		"a negative origin": {-10, -5, 1, human.Bounds{X: -8, Y: -4, W: 3, H: 2}, [4]int{2, 1, 5, 3}},
		"two to a unit":     {0, 0, 2, human.Bounds{X: 1, Y: 1, W: 3, H: 2}, [4]int{2, 2, 8, 6}},
		"half a pixel":      {0, 0, 1.5, human.Bounds{X: 1, Y: 1, W: 1, H: 1}, [4]int{1, 1, 3, 3}},
		"over the edges":    {0, 0, 1, human.Bounds{X: -5, Y: 8, W: 100, H: 100}, [4]int{0, 8, 16, 12}},
		"beside it":         {0, 0, 1, human.Bounds{X: 40, Y: 0, W: 5, H: 5}, [4]int{}},
		"a huge one":        {0, 0, 1, human.Bounds{X: -1 << 40, Y: -1 << 40, W: 1 << 41, H: 1 << 41}, [4]int{0, 0, 16, 12}},
	} {
		f := &record.Frame{X: tt.x, Y: tt.y, W: 16, H: 12, Scale: tt.scale, Pix: make([]byte, 4*16*12)}
		for i := range f.Pix {
			f.Pix[i] = 0xff
		}
		f.Black(tt.black)
		for y := range f.H {
			for x := range f.W {
				inside := x >= tt.want[0] && y >= tt.want[1] && x < tt.want[2] && y < tt.want[3]
				if black := f.Pix[4*(y*f.W+x)] == 0; black != inside {
					t.Errorf("%s: the pixel at %d, %d is black: %t", name, x, y, black)
				}
			}
		}
	}
}
