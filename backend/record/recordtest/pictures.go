package recordtest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Pictures runs the conformance suite. open opens the pictures of a folder; it is called several times for
// the same, as a process that starts again does.
func Pictures(t *testing.T, open func(tb testing.TB, dir string) record.Pictures) {
	picturesAreStored(t, open)
	picturesStay(t, open)
	picturesAreRead(t, open)
	picturesEnd(t, open)
}

const id = human.RecordingID("rec_01jd5v6m6q8n0000000000000a")

func picturesAreStored(t *testing.T, open func(tb testing.TB, dir string) record.Pictures) {
	t.Run("a picture is new once, whatever its fourth bytes are", func(t *testing.T) {
		p := open(t, t.TempDir())
		w := writer(t, p, id)
		f := noise(1, 97, 41)
		first := put(t, w, f, true)
		other := copied(f)
		for i := 3; i < len(other.Pix); i += 4 {
			other.Pix[i]++
		}
		other.At++
		if again := put(t, w, other, false); again != first {
			t.Errorf("the same picture is %s and %s", first, again)
		}
		other.Pix[4*97*41-2]++ // the last pixel's red
		if second := put(t, w, other, true); second == first {
			t.Error("another picture has the same name")
		}
		if again := put(t, w, f, false); again != first {
			t.Errorf("the first one again is %s", again)
		}
		for _, where := range []human.Bounds{{X: -97}, {Y: 1}} {
			moved := copied(f)
			moved.X, moved.Y = where.X, where.Y
			reads(t, p, id, put(t, w, moved, true), moved)
		}
	})
	t.Run("whatever is put is read back, at once and after a start anew", func(t *testing.T) {
		dir := t.TempDir()
		all := map[string]*record.Frame{}
		random := rand.New(rand.NewPCG(3, 4))
		f := noise(2, 200, 120)
		for session := range 3 { // each writer begins where others have stored before
			p := open(t, dir)
			w := writer(t, p, id)
			for i := range 120 {
				switch {
				case i%40 == 39: // a display was plugged in
					f = noise(uint64(i+session), 60+random.IntN(200), 40+random.IntN(120))
					f.X, f.Y, f.Scale = -random.IntN(300), random.IntN(300)-150, 1.25
				case i%13 == 12:
					f = copied(all[one(all, random)]) // as it was once
				default:
					x, y := random.IntN(f.W), random.IntN(f.H)
					for j := y; j < min(f.H, y+1+random.IntN(20)); j++ {
						for k := x; k < min(f.W, x+1+random.IntN(40)); k++ {
							f.Pix[4*(j*f.W+k)+random.IntN(3)] = byte(random.Uint32())
						}
					}
				}
				name, _, _, err := w.Put(f)
				if err != nil {
					t.Fatal(err)
				}
				all[name] = copied(f)
				reads(t, p, id, name, f)
			}
			if err := w.Sync(); err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			for _, p := range []record.Pictures{p, open(t, dir)} {
				for name, want := range all {
					reads(t, p, id, name, want)
				}
			}
		}
	})
}

func picturesStay(t *testing.T, open func(tb testing.TB, dir string) record.Pictures) {
	t.Run("a writer leaves what an earlier one stored as it is", func(t *testing.T) {
		dir := t.TempDir()
		frames := make([]*record.Frame, 4)
		for i := range frames {
			frames[i] = noise(7, 200, 120)
			frames[i].Pix[4*i*60] ^= 0xff
		}
		names := make([]string, len(frames))
		w := writer(t, open(t, dir), id)
		for i := range 2 {
			names[i] = put(t, w, frames[i], true)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		p := open(t, dir)
		w = writer(t, p, id)
		names[2] = put(t, w, frames[2], true)
		for i := range 2 {
			if again := put(t, w, frames[i], false); again != names[i] {
				t.Errorf("picture %d is %s now, and was %s", i, again, names[i])
			}
		}
		names[3] = put(t, w, frames[3], true)
		for i, name := range names {
			reads(t, p, id, name, frames[i])
			reads(t, open(t, dir), id, name, frames[i])
		}
	})
}

func picturesAreRead(t *testing.T, open func(tb testing.TB, dir string) record.Pictures) {
	t.Run("what is read is the reader's own", func(t *testing.T) {
		p := open(t, t.TempDir())
		f := noise(3, 50, 30)
		name := put(t, writer(t, p, id), f, true)
		for range 2 {
			got, err := p.Read(t.Context(), id, name)
			if err != nil {
				t.Fatal(err)
			}
			clear(got.Pix)
		}
		reads(t, p, id, name, f)
	})
	t.Run("pictures are read while others are stored", func(t *testing.T) {
		p := open(t, t.TempDir())
		w := writer(t, p, id)
		var readers sync.WaitGroup
		defer readers.Wait()
		f := noise(4, 300, 200)
		for i := range 60 {
			f.Pix[4*(i*300+i)] ^= 0x55
			name, want := put(t, w, f, true), copied(f)
			readers.Go(func() {
				for range 3 {
					if got, err := p.Read(t.Context(), id, name); err != nil || !shows(got, want) {
						t.Errorf("picture %d reads otherwise: %v", i, err)
					}
				}
			})
		}
	})
	t.Run("there is no such picture", func(t *testing.T) {
		dir := t.TempDir()
		p := open(t, dir)
		name := put(t, writer(t, p, id), noise(5, 10, 10), true)
		for _, ask := range []struct {
			id   human.RecordingID
			name string
		}{
			{id, ""}, {id, "."}, {id, "../pictures/" + name}, {id, strings.ToUpper(name)}, {id, name[1:] + "z"}, {id, strings.Repeat("0", len(name))},
			{"", name}, {"rec_other", name}, {"../" + id, name}, {id + "/", name}, {".", name},
		} {
			if _, err := p.Read(t.Context(), ask.id, ask.name); human.KindOf(err) != human.NotFound {
				t.Errorf("recording %q, picture %q: %v", ask.id, ask.name, err)
			}
		}
	})
	t.Run("what cannot be a picture is not stored", func(t *testing.T) {
		p := open(t, t.TempDir())
		w := writer(t, p, id)
		for _, f := range []record.Frame{{}, {W: 10, H: 10}, {W: -1, H: -1, Pix: make([]byte, 4)}, {W: 2, H: 2, Pix: make([]byte, 17)}, {W: 1 << 30, H: 1 << 30}} {
			if _, _, _, err := w.Put(&f); human.KindOf(err) != human.Invalid {
				t.Errorf("%d by %d in %d bytes: %v", f.W, f.H, len(f.Pix), err)
			}
		}
	})
}

func picturesEnd(t *testing.T, open func(tb testing.TB, dir string) record.Pictures) {
	t.Run("a deleted recording has no pictures, and others keep theirs", func(t *testing.T) {
		p := open(t, t.TempDir())
		names := map[human.RecordingID]string{}
		for i, r := range []human.RecordingID{id, id + "x"} {
			w := writer(t, p, r)
			names[r] = put(t, w, noise(uint64(i), 20, 20), true)
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			reads(t, p, r, names[r], noise(uint64(i), 20, 20))
		}
		for range 2 { // a second time there is nothing to delete, which is as good
			if err := p.Delete(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Read(t.Context(), id, names[id]); human.KindOf(err) != human.NotFound {
			t.Errorf("the deleted one: %v", err)
		}
		reads(t, p, id+"x", names[id+"x"], noise(1, 20, 20))
		reads(t, p, id, put(t, writer(t, p, id), noise(0, 20, 20), true), noise(0, 20, 20)) // it may be used anew
	})
	t.Run("an ended context reads nothing", func(t *testing.T) {
		p := open(t, t.TempDir())
		name := put(t, writer(t, p, id), noise(6, 10, 10), true)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Read(ended, id, name); err == nil {
			t.Error("there is a picture")
		}
	})
}

func writer(t *testing.T, p record.Pictures, id human.RecordingID) record.PictureWriter {
	t.Helper()
	w, err := p.Writer(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func put(t *testing.T, w record.PictureWriter, f *record.Frame, fresh bool) string {
	t.Helper()
	before := copied(f)
	id, isFresh, n, err := w.Put(f)
	if err != nil {
		t.Fatal(err)
	}
	if isFresh != fresh || fresh != (n > 0) {
		t.Errorf("the picture is new: %t, in %d bytes", isFresh, n)
	}
	if !bytes.Equal(f.Pix, before.Pix) {
		t.Error("Put changed the picture")
	}
	return id
}

func reads(t *testing.T, p record.Pictures, id human.RecordingID, picture string, want *record.Frame) {
	t.Helper()
	got, err := p.Read(t.Context(), id, picture)
	if err != nil {
		t.Fatal(err)
	}
	if !shows(got, want) {
		t.Fatalf("%s reads as %s, want %s", picture, described(got), described(want))
	}
}

func described(f *record.Frame) string {
	return fmt.Sprintf("%d by %d at %d, %d, scale %v, %d bytes", f.W, f.H, f.X, f.Y, f.Scale, len(f.Pix))
}

// shows says whether two pictures look the same.
func shows(a, b *record.Frame) bool {
	if a.Bounds() != b.Bounds() || a.W != b.W || a.H != b.H || a.Scale != b.Scale || len(a.Pix) != len(b.Pix) {
		return false
	}
	for i := 0; i+4 <= len(a.Pix); i += 4 {
		if [3]byte(a.Pix[i:]) != [3]byte(b.Pix[i:]) {
			return false
		}
	}
	return true
}

func noise(seed uint64, w, h int) *record.Frame {
	f := &record.Frame{W: w, H: h, Scale: 1, Pix: make([]byte, 4*w*h)}
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range f.Pix {
		f.Pix[i] = byte(random.Uint32() >> 24)
	}
	return f
}

func copied(f *record.Frame) *record.Frame {
	c := *f
	c.Pix = bytes.Clone(f.Pix)
	return &c
}

// one is any of the names.
func one(all map[string]*record.Frame, random *rand.Rand) string {
	n := random.IntN(len(all))
	for name := range all {
		if n--; n < 0 {
			return name
		}
	}
	return ""
}
