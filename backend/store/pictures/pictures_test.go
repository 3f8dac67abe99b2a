package pictures

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // to read what was encoded
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/recordtest"
)

const rec = human.RecordingID("rec_1")

func newFrame(w, h int) *record.Frame {
	f := &record.Frame{W: w, H: h, Scale: 1, Pix: make([]byte, 4*w*h)}
	for i := range f.Pix {
		f.Pix[i] = byte(i >> 4)
	}
	return f
}

func open(t testing.TB) (*Store, record.PictureWriter, string) {
	t.Helper()
	dir := t.TempDir()
	s := New(dir)
	w, err := s.Writer(rec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, w, filepath.Join(dir, "recordings", string(rec), "pictures")
}

func put(t testing.TB, w record.PictureWriter, f *record.Frame) (id string, fresh bool, n int64) {
	t.Helper()
	id, fresh, n, err := w.Put(f)
	if err != nil {
		t.Fatal(err)
	}
	if fresh != (n > 0) {
		t.Errorf("fresh %t, and %d bytes", fresh, n)
	}
	return id, fresh, n
}

// same says whether a picture reads as it was taken, but for the bytes that mean nothing.
func same(a, b *record.Frame) bool {
	if a.W != b.W || a.H != b.H || a.X != b.X || a.Y != b.Y || a.Scale != b.Scale || len(a.Pix) != len(b.Pix) {
		return false
	}
	return equalPixels(a.Pix, b.Pix)
}

func TestEqualPicturesAreStoredOnce(t *testing.T) {
	s, w, dir := open(t)
	a := newFrame(200, 100)
	first, fresh, _ := put(t, w, a)
	if !fresh {
		t.Error("the first picture is not new")
	}
	b := clone(a)
	for i := 3; i < len(b.Pix); i += 4 {
		b.Pix[i] ^= 0x5a // X leaves what it likes in there
	}
	if id, fresh, _ := put(t, w, b); id != first || fresh {
		t.Errorf("an equal picture is %s, new %t", id, fresh)
	}
	b.Black(human.Bounds{X: 10, Y: 10, W: 30, H: 5})
	second, fresh, n := put(t, w, b)
	if second == first || !fresh || n > 2000 {
		t.Errorf("a changed picture is %s, new %t, %d bytes", second, fresh, n)
	}
	if id, fresh, _ := put(t, w, a); id != first || fresh {
		t.Errorf("the first picture again is %s, new %t", id, fresh)
	}
	moved := clone(a)
	moved.X = -200
	if id, fresh, _ := put(t, w, moved); id == first || !fresh {
		t.Error("the same pixels elsewhere are the same picture")
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Errorf("%d files, %v, want 3", len(files), err)
	}
	for id, want := range map[string]*record.Frame{first: a, second: b} {
		if got, err := s.Read(t.Context(), rec, id); err != nil || !same(got, want) {
			t.Errorf("%s reads otherwise: %v", id, err)
		}
	}
}

// Whatever is put is read back, by this store and by another that begins with the files.
func TestAnythingPutIsReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		s := New(dir)
		w, err := s.Writer(rec)
		if err != nil {
			t.Fatal(err)
		}
		put := map[string]*record.Frame{}
		f := newFrame(rapid.IntRange(1, 200).Draw(rt, "w"), rapid.IntRange(1, 100).Draw(rt, "h"))
		for range rapid.IntRange(1, 90).Draw(rt, "pictures") {
			switch rapid.IntRange(0, 9).Draw(rt, "change") {
			case 0:
				f = newFrame(rapid.IntRange(1, 200).Draw(rt, "w"), rapid.IntRange(1, 100).Draw(rt, "h"))
				f.X, f.Y, f.Scale = rapid.IntRange(-500, 500).Draw(rt, "x"), rapid.IntRange(-500, 500).Draw(rt, "y"), 1.5
			case 1: // all of it
				random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
				for i := range f.Pix {
					f.Pix[i] = byte(random.Uint32())
				}
			case 2: // as it was
			default:
				x, y := rapid.IntRange(0, f.W-1).Draw(rt, "x"), rapid.IntRange(0, f.H-1).Draw(rt, "y")
				b := human.Bounds{X: f.X + x*2/3, Y: f.Y + y*2/3, W: 1 + x/3, H: 1 + y/3}
				f.Fill(b, byte(x), byte(y), rapid.Byte().Draw(rt, "red"))
			}
			id, _, _, err := w.Put(f)
			if err != nil {
				rt.Fatal(err)
			}
			put[id] = clone(f)
		}
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		for _, store := range []*Store{s, New(dir)} {
			for id, want := range put {
				if got, err := store.Read(t.Context(), rec, id); err != nil || !same(got, want) {
					rt.Fatalf("%s reads otherwise: %v", id, err)
				}
			}
		}
	})
}

func TestReadingWhileItIsWritten(t *testing.T) {
	s, w, _ := open(t)
	ids := make(chan string, 100)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for id := range ids {
				if _, err := s.Read(t.Context(), rec, id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	f := newFrame(300, 200)
	for i := range 100 {
		f.Fill(human.Bounds{X: i, Y: i, W: 20, H: 20}, byte(i), 0, 0)
		id, _, _ := put(t, w, f)
		ids <- id
	}
	close(ids)
	readers.Wait()
}

func TestDamageIsNamed(t *testing.T) {
	s, w, dir := open(t)
	f := newFrame(200, 100)
	first, _, _ := put(t, w, f)
	f.Black(human.Bounds{X: 50, Y: 50, W: 20, H: 20})
	second, _, _ := put(t, w, f)
	path := filepath.Join(dir, first)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"cut off":         whole[:len(whole)/2],
		"empty":           {},
		"another's":       []byte("\x89PNG\r\n\x1a\n and so on, for as long as a header is and longer"),
		"a flipped bit":   append(append([]byte{}, whole[:len(whole)-9]...), append([]byte{whole[len(whole)-9] ^ 4}, whole[len(whole)-8:]...)...),
		"a huge size":     append([]byte(magic+"\xff\xff\x00\x00\xff\xff\x00\x00"), whole[12:]...),
		"another picture": nil,
	} {
		if bad == nil {
			if bad, err = os.ReadFile(filepath.Join(dir, second)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{first, second} {
			if _, err := New(s.dir[:len(s.dir)-len("/recordings")]).Read(t.Context(), rec, id); human.KindOf(err) != human.Internal || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s: reading %s: %v", name, id, err)
			}
		}
	}
}

func TestNoSuchPicture(t *testing.T) {
	s, _, _ := open(t)
	for _, id := range []string{"", "x", "../../../etc/passwd", strings.Repeat("0", 64), strings.Repeat("0", 63) + "/"} {
		if _, err := s.Read(t.Context(), rec, id); human.KindOf(err) != human.NotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []human.RecordingID{"", "..", "a/b", "rec_none"} {
		if _, err := s.Read(t.Context(), id, strings.Repeat("0", 64)); human.KindOf(err) != human.NotFound {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := s.Writer(id); id != "rec_none" && err == nil {
			t.Errorf("%q may be written", id)
		}
	}
}

func TestDeleteLeavesNothing(t *testing.T) {
	s, w, dir := open(t)
	id, _, _ := put(t, w, newFrame(100, 100))
	kept, err := os.Open(filepath.Join(dir, id)) // still readable once it has no name
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(dir)); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
	left := make([]byte, 1<<20)
	n, _ := kept.Read(left)
	if n == 0 || len(bytes.Trim(left[:n], "\x00")) != 0 {
		t.Errorf("%d bytes are left, not all of them zeros", n)
	}
	if _, err := s.Read(t.Context(), rec, id); human.KindOf(err) != human.NotFound {
		t.Errorf("it is still there: %v", err)
	}
	if err := s.Delete(t.Context(), rec); err != nil {
		t.Errorf("deleting nothing: %v", err)
	}
}

// A process that is killed while it writes leaves every picture readable whose Put had returned.
func TestKilledWhileWriting(t *testing.T) {
	const folder = "DESKBELL_TEST_PICTURES"
	if dir := os.Getenv(folder); dir != "" { // the process that is killed
		w, err := New(dir).Writer(rec)
		if err != nil {
			t.Fatal(err)
		}
		f := busy()
		for i := 0; ; i++ {
			f.Fill(human.Bounds{X: i % 1400, Y: i % 800, W: 40, H: 40}, byte(i), byte(i>>8), 0)
			if i%10 == 9 {
				f.X++ // a whole one
			}
			id, _, _, err := w.Put(f)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println(id)
		}
	}
	dir := t.TempDir()
	for _, after := range []int{3, 20, 41} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledWhileWriting$")
		cmd.Env = append(os.Environ(), folder+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if ids = append(ids, lines.Text()); len(ids) == after {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait()
		if len(ids) < after {
			t.Fatalf("it stored %d pictures, want %d", len(ids), after)
		}
		s := New(dir)
		for _, id := range ids {
			if !pictureName.MatchString(id) {
				continue // cut off by the kill
			}
			if _, err := s.Read(t.Context(), rec, id); err != nil {
				t.Errorf("after %d: %v", after, err)
			}
		}
	}
}

// A process that is killed leaves a file .part… at most, and the next one continues.
func TestAKilledWriterLeavesReadablePictures(t *testing.T) {
	s, w, dir := open(t)
	f := newFrame(100, 100)
	id, _, _ := put(t, w, f)
	if err := os.WriteFile(filepath.Join(dir, ".part"), []byte(magic), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := s.Writer(rec)
	if err != nil {
		t.Fatal(err)
	}
	f.Black(human.Bounds{W: 10, H: 10})
	next, _, _ := put(t, again, f)
	for _, id := range []string{id, next} {
		if _, err := New(filepath.Dir(s.dir)).Read(t.Context(), rec, id); err != nil {
			t.Error(err)
		}
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// A browser and the desktop that are recorded together write into one folder at once.
func TestTwoWritersOfOneRecording(t *testing.T) {
	s, w, _ := open(t)
	other, err := s.Writer(rec)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([][]string, 2)
	var writing sync.WaitGroup
	for i, w := range []record.PictureWriter{w, other} {
		writing.Go(func() {
			for n := range 200 {
				f := newFrame(64+i, 32)
				f.Fill(human.Bounds{W: 64, H: 32}, byte(n), byte(i), 1)
				id, _, _, err := w.Put(f)
				if err != nil {
					t.Error(err)
					return
				}
				ids[i] = append(ids[i], id)
			}
		})
	}
	writing.Wait()
	for i, all := range ids {
		for n, id := range all {
			if f, err := s.Read(t.Context(), rec, id); err != nil || f.W != 64+i {
				t.Fatalf("picture %d of writer %d: %v, %v", n, i, f, err)
			}
		}
	}
}

func TestEncode(t *testing.T) {
	f := newFrame(400, 300)
	f.Fill(human.Bounds{W: 400, H: 300}, 10, 120, 250)
	for _, format := range []string{"png", "jpeg"} {
		for width, want := range map[int]image.Point{0: {400, 300}, 100: {100, 75}, 1000: {400, 300}, 1: {1, 1}} {
			var b bytes.Buffer
			if err := Encode(&b, f, format, width); err != nil {
				t.Fatal(err)
			}
			img, is, err := image.Decode(&b)
			if err != nil || is != format || img.Bounds().Size() != want {
				t.Fatalf("%s at %d: %s, %v, %v", format, width, is, img.Bounds(), err)
			}
			r, g, blue, _ := img.At(0, 0).RGBA()
			if r>>8 < 245 || g>>8 < 115 || g>>8 > 125 || blue>>8 > 15 {
				t.Errorf("%s at %d: the colour is %d %d %d", format, width, r>>8, g>>8, blue>>8)
			}
		}
	}
	if err := Encode(new(bytes.Buffer), f, "gif", 0); human.KindOf(err) != human.Invalid {
		t.Errorf("gif: %v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	whole := newFrame(70, 40)
	file := file{Frame: *whole, rects: []rect{{0, 0, 70, 40}}, pixels: whole.Pix}
	f.Add(pack(nil, &file))
	file.depth, file.base, file.rects, file.pixels = 1, strings.Repeat("ab", 32), []rect{{64, 32, 6, 8}}, make([]byte, 4*6*8)
	f.Add(pack(nil, &file))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := unpack(b)
		if err != nil || got.inflate() != nil {
			return
		}
		if len(got.pixels) > 4*got.W*got.H || got.depth > 0 && len(got.base) != 64 {
			t.Fatalf("%d pixels, depth %d, base %q", len(got.pixels)/4, got.depth, got.base)
		}
		if got.W*got.H < 1<<20 {
			got.apply(make([]byte, 4*got.W*got.H))
		}
	})
}

// busy is a picture like a full desktop: text everywhere, some of it a photograph.
func busy() *record.Frame {
	f := newFrame(1440, 900)
	random := rand.New(rand.NewPCG(1, 2))
	f.Fill(human.Bounds{W: 1440, H: 900}, 250, 250, 250)
	for range 20_000 { // strokes of letters
		f.Fill(human.Bounds{X: random.IntN(1440), Y: random.IntN(900)/14*14 + random.IntN(9), W: 1 + random.IntN(4), H: 1 + random.IntN(6)},
			byte(random.IntN(90)), byte(random.IntN(90)), byte(random.IntN(90)))
	}
	for y := 500; y < 800; y++ {
		for x := 900; x < 1300; x++ {
			f.Fill(human.Bounds{X: x, Y: y, W: 1, H: 1}, byte(x+random.IntN(9)), byte(y+random.IntN(9)), byte(x+y))
		}
	}
	return f
}

func BenchmarkPut(b *testing.B) {
	f := busy()
	for name, change := range map[string]func(i int){
		"whole": func(i int) { f.Fill(human.Bounds{Y: 0, W: 1440, H: 900}, byte(i), byte(i>>8), byte(i>>16)); f.X = i },
		"typed": func(i int) { f.Fill(human.Bounds{X: 300 + i%500, Y: 300, W: 2, H: 12}, byte(i), byte(i>>8), 0) },
		"equal": func(int) {},
	} {
		b.Run(name, func(b *testing.B) {
			_, w, _ := open(b)
			if name == "whole" {
				f = busy()
				change = func(i int) { f.X = i } // every picture is a new one, as busy as the first
			}
			var bytes int64
			for i := range b.N {
				change(i)
				_, _, n := put(b, w, f)
				bytes += n
			}
			b.ReportMetric(float64(bytes)/float64(b.N), "file-B/op")
		})
	}
	b.Run("png", func(b *testing.B) { // what PNG would cost
		var size int64
		for range b.N {
			var buf bytes.Buffer
			if err := png.Encode(&buf, Image(f)); err != nil {
				b.Fatal(err)
			}
			size += int64(buf.Len())
		}
		b.ReportMetric(float64(size)/float64(b.N), "file-B/op")
	})
}

func TestPicturesConform(t *testing.T) {
	recordtest.Pictures(t, func(_ testing.TB, dir string) record.Pictures { return New(dir) })
}
