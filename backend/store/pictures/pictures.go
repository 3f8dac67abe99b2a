// Package pictures keeps the pictures of recordings in files named by their content, and writes them as PNG
// and JPEG for people. It implements record.Pictures.
//
// A picture is taken several times a minute and differs from the one before in a few windows at most. So a
// file has either the whole picture or what changed against another one, compressed by zstd at its fastest:
// PNG takes ten times as long for a file little smaller.
package pictures

import (
	"bytes"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/store/disk"
)

// Store keeps pictures under a data folder. It is safe for concurrent use.
type Store struct {
	dir   string
	mu    sync.Mutex
	cache *list.List // of *cached, the last used first
}

var _ record.Pictures = (*Store)(nil)

// New keeps pictures in DIR/recordings/RECORDING/pictures. Nothing is made before the first picture.
func New(dir string) *Store {
	return &Store{dir: filepath.Join(dir, "recordings"), cache: list.New()}
}

const (
	magic     = "DbP1"
	headSize  = 4 + 4*4 + 8 + 2 + 4 // magic; width, height, x, y; scale; depth; number of rectangles
	idSize    = sha256.Size
	maxSide   = 1 << 16
	maxPixels = 1 << 27 // a desktop of sixteen 4K displays; a file that says more is damaged
	maxDepth  = 64      // files read for one picture at most
	maxRects  = 1 << 16
	cacheSize = 3 // pictures in memory for reading: neighbors are read one after the other
)

// packing keeps to windows of 1 MiB, which processors hold close by, and has every frame say how large it is.
var packing = []zstd.EOption{
	zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true),
	zstd.WithWindowSize(1 << 20), zstd.WithSingleSegment(true),
}

// Encoders and decoders are safe for concurrent use in this way; their only error is a wrong option.
var (
	packer, _   = zstd.NewWriter(nil, packing...)
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(4*maxPixels))
)

var (
	recordingName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)
	pictureName   = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// folder is where a recording's pictures are. Ids come from outside: they must not lead elsewhere.
func (s *Store) folder(id human.RecordingID) (string, error) {
	if !recordingName.MatchString(string(id)) {
		return "", human.Errorf(human.NotFound, "no recording %.40q", id)
	}
	return filepath.Join(s.dir, string(id), "pictures"), nil
}

// A rect is a part of a picture, in its pixels.
type rect struct{ x, y, w, h int }

// A file is what stands in one.
type file struct {
	record.Frame // without Pix and At
	depth        int
	base         string // the picture it changes; "" when it is whole
	rects        []rect
	pixels       []byte // of the rectangles, one after the other
	packed       []byte // pixels, until inflate
	size         int    // of pixels
	path         string // where it was read
}

// A sum is of one band of a picture.
type sum = [sha256.Size]byte

// sumBand hashes one band of tileH rows: of what changes, only the bands it is in are hashed anew.
func sumBand(f *record.Frame, band int) sum {
	return sha256.Sum256(f.Pix[4*f.W*tileH*band : 4*f.W*min(f.H, tileH*(band+1))])
}

// bands is how many a picture has.
func bands(f *record.Frame) int { return (f.H + tileH - 1) / tileH }

// identify is the id of a picture: SHA-256 over where it is, its size, and the SHA-256 of each of its bands.
func identify(f *record.Frame, sums []sum) string {
	var head [24]byte
	for i, v := range []int{f.W, f.H, f.X, f.Y} {
		binary.LittleEndian.PutUint32(head[4*i:], uint32(int32(v)))
	}
	binary.LittleEndian.PutUint64(head[16:], math.Float64bits(f.Scale))
	all := sha256.New()
	all.Write(head[:])
	for _, s := range sums {
		all.Write(s[:])
	}
	return hex.EncodeToString(all.Sum(nil))
}

// identified is the id of a picture of which nothing is known.
func identified(f *record.Frame) string {
	sums := make([]sum, bands(f))
	for i := range sums {
		sums[i] = sumBand(f, i)
	}
	return identify(f, sums)
}

// pack appends the bytes of a file.
func pack(b []byte, f *file) []byte {
	b = append(b, magic...)
	for _, v := range []int{f.W, f.H, f.X, f.Y} {
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
	}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f.Scale))
	b = binary.LittleEndian.AppendUint16(b, uint16(f.depth))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.rects)))
	if f.depth > 0 {
		base, _ := hex.DecodeString(f.base) // made by identify
		b = append(b, base...)
	}
	for _, r := range f.rects {
		for _, v := range []int{r.x, r.y, r.w, r.h} {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	if f.depth == 0 {
		// Whole pictures are rare and large: S2 takes a third of the time for a fifth more.
		b = slices.Grow(b, s2.MaxEncodedLen(len(f.pixels)))
		return b[:len(b)+len(s2.Encode(b[len(b):cap(b)], f.pixels))]
	}
	return packer.EncodeAll(f.pixels, b)
}

var errDamaged = errors.New("damaged")

// unpack is pack backwards, but for the pixels: inflate makes those.
func unpack(b []byte) (*file, error) {
	if len(b) < headSize || string(b[:4]) != magic {
		return nil, errDamaged
	}
	word := func(at int) int { return int(int32(binary.LittleEndian.Uint32(b[at:]))) }
	f := &file{Frame: record.Frame{W: word(4), H: word(8), X: word(12), Y: word(16), Scale: math.Float64frombits(binary.LittleEndian.Uint64(b[20:]))}}
	f.depth = int(binary.LittleEndian.Uint16(b[28:]))
	count := word(30)
	if f.W < 1 || f.H < 1 || f.W > maxSide || f.H > maxSide || f.W*f.H > maxPixels || f.depth > maxDepth || count < 0 || count > maxRects {
		return nil, errDamaged
	}
	at := headSize
	if f.depth > 0 {
		if len(b) < at+idSize {
			return nil, errDamaged
		}
		f.base = hex.EncodeToString(b[at : at+idSize])
		at += idSize
	}
	if len(b) < at+16*count {
		return nil, errDamaged
	}
	for range count {
		r := rect{word(at), word(at + 4), word(at + 8), word(at + 12)}
		if r.x < 0 || r.y < 0 || r.w < 1 || r.h < 1 || r.x+r.w > f.W || r.y+r.h > f.H {
			return nil, errDamaged
		}
		f.size += 4 * r.w * r.h
		if f.size > 4*f.W*f.H {
			return nil, errDamaged // they do not overlap, so they are no more than the picture
		}
		f.rects = append(f.rects, r)
		at += 16
	}
	f.packed = b[at:]
	return f, nil
}

// inflate makes the pixels. It takes no more memory than the rectangles' size asks for, whatever the file says.
func (f *file) inflate() error {
	if f.depth == 0 {
		if n, err := s2.DecodedLen(f.packed); err != nil || n != f.size {
			return errDamaged
		}
		var err error
		if f.pixels, err = s2.Decode(make([]byte, f.size), f.packed); err != nil {
			return errDamaged
		}
		return nil
	}
	var head zstd.Header
	if err := head.Decode(f.packed); err != nil || !head.HasFCS || head.FrameContentSize != uint64(f.size) {
		return errDamaged
	}
	var err error
	if f.pixels, err = unpacker.DecodeAll(f.packed, make([]byte, 0, f.size)); err != nil || len(f.pixels) != f.size {
		return errDamaged
	}
	return nil
}

// apply draws the file's rectangles into a picture of its size.
func (f *file) apply(pix []byte) {
	from := f.pixels
	for _, r := range f.rects {
		for y := r.y; y < r.y+r.h; y++ {
			n := copy(pix[4*(y*f.W+r.x):][:4*r.w], from)
			from = from[n:]
		}
	}
}

// Read implements record.Pictures. The frame is the caller's.
func (s *Store) Read(ctx context.Context, id human.RecordingID, picture string) (*record.Frame, error) {
	dir, err := s.folder(id)
	if err != nil {
		return nil, err
	}
	if !pictureName.MatchString(picture) {
		return nil, human.Errorf(human.NotFound, "recording %s has no picture %.80q", id, picture)
	}
	var chain []*file // from the picture to what it stands on
	var frame *record.Frame
	for next := picture; frame == nil; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if frame = s.cached(dir, next); frame != nil {
			break
		}
		path := filepath.Join(dir, next)
		b, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && next == picture:
			return nil, human.Errorf(human.NotFound, "recording %s has no picture %s", id, picture)
		case err != nil:
			return nil, human.Wrap(human.Internal, err, "the picture in %s cannot be read", path)
		}
		f, err := unpack(b)
		if err != nil || len(chain) > 0 && (f.depth >= chain[len(chain)-1].depth || f.W != chain[0].W || f.H != chain[0].H) {
			return nil, damaged(path)
		}
		f.path = path
		chain = append(chain, f)
		if f.depth == 0 {
			if f.size != 4*f.W*f.H || f.inflate() != nil {
				return nil, damaged(path)
			}
			frame = &record.Frame{Pix: f.pixels}
		}
		next = f.base
	}
	for _, f := range slices.Backward(chain) {
		if f.depth == 0 {
			continue
		}
		if len(frame.Pix) != 4*f.W*f.H || f.inflate() != nil {
			return nil, damaged(f.path)
		}
		f.apply(frame.Pix)
		f.pixels = nil // one at a time in memory
	}
	if len(chain) > 0 {
		f := chain[0]
		frame.X, frame.Y, frame.W, frame.H, frame.Scale = f.X, f.Y, f.W, f.H, f.Scale
		if identified(frame) != picture {
			return nil, damaged(filepath.Join(dir, picture))
		}
		s.remember(dir, picture, frame)
	}
	return frame, nil
}

func damaged(path string) error {
	return human.Errorf(human.Internal, "the picture in %s is damaged; the recording is readable without it", path)
}

// cached is a picture in memory for reading.
type cached struct {
	path  string
	frame *record.Frame
}

// cached returns a copy of a picture that was read lately; nil without.
func (s *Store) cached(dir, picture string) *record.Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := s.cache.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*cached); c.path == filepath.Join(dir, picture) {
			s.cache.MoveToFront(e)
			return clone(c.frame)
		}
	}
	return nil
}

func (s *Store) remember(dir, picture string, f *record.Frame) {
	c := &cached{filepath.Join(dir, picture), clone(f)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache.PushFront(c)
	if s.cache.Len() > cacheSize {
		s.cache.Remove(s.cache.Back())
	}
}

func clone(f *record.Frame) *record.Frame {
	c := *f
	c.Pix = bytes.Clone(f.Pix)
	return &c
}

// Delete implements record.Pictures. Files are overwritten with zeros before they are removed. That there are
// none is no error.
func (s *Store) Delete(ctx context.Context, id human.RecordingID) error {
	dir, err := s.folder(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	for e := s.cache.Front(); e != nil; {
		next := e.Next()
		if strings.HasPrefix(e.Value.(*cached).path, dir) {
			s.cache.Remove(e)
		}
		e = next
	}
	s.mu.Unlock()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if err = errors.Join(err, ctx.Err()); err != nil {
			break
		}
		err = erase(filepath.Join(dir, e.Name()))
	}
	if err == nil {
		err = os.RemoveAll(filepath.Dir(dir))
	}
	if err != nil {
		return human.Wrap(human.Internal, err, "the pictures of recording %s in %s cannot all be deleted", id, dir)
	}
	return nil
}

// Bytes implements retention.Sizes: pictures, and what else is in the folder of a recording.
func (s *Store) Bytes(id human.RecordingID) (bytes int64, err error) {
	dir, err := s.folder(id)
	if err != nil {
		return 0, err
	}
	err = filepath.WalkDir(filepath.Dir(dir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return bytes, nil // there are none, or they are being deleted
	}
	if err != nil {
		return 0, human.Wrap(human.Internal, err, "the pictures in %s cannot be counted", dir)
	}
	return bytes, nil
}

func erase(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = io.CopyN(f, zeros{}, info.Size())
	}
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(path))
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A writer stores one recording's pictures.
type writer struct {
	store     *Store
	recording human.RecordingID

	dir    string
	last   record.Frame // the picture stored last, its fourth bytes 0xff
	seen   []byte       // its pixels as they came: what has not changed is then the same bytes
	sums   []sum        // of last's bands
	id     string       // of last; "" where it is not stored
	depth  map[string]int
	fresh  []string // files that Sync has not seen
	dirty  bool     // the folder's entries are not synced
	packed []byte   // memory for a file
}

// Writer implements record.Pictures.
func (s *Store) Writer(id human.RecordingID) (record.PictureWriter, error) {
	dir, err := s.folder(id)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, human.Wrap(human.Unavailable, err, "pictures cannot be stored in %s; check its permissions and the disk", dir)
	}
	return &writer{store: s, recording: id, dir: dir, depth: map[string]int{}}, nil
}

// known says whether a picture is stored and can be read, and how many it stands on. There may be some that an
// earlier writer stored.
func (w *writer) known(id string) (depth int, ok bool) {
	if depth, ok = w.depth[id]; ok {
		return depth, true
	}
	b, err := os.ReadFile(filepath.Join(w.dir, id))
	if err != nil {
		return 0, false
	}
	f, err := unpack(b)
	if err != nil {
		return 0, false
	}
	if _, err := w.store.Read(context.Background(), w.recording, id); err != nil {
		return 0, false
	}
	w.depth[id] = f.depth
	return f.depth, true
}

// Put implements record.PictureWriter. The frame stays as it is.
func (w *writer) Put(f *record.Frame) (id string, fresh bool, n int64, err error) {
	if f.W < 1 || f.H < 1 || f.W > maxSide || f.H > maxSide || f.W*f.H > maxPixels || len(f.Pix) != 4*f.W*f.H {
		return "", false, 0, human.Errorf(human.Invalid, "a picture of %d by %d pixels in %d bytes cannot be stored", f.W, f.H, len(f.Pix))
	}
	same := w.id != "" && w.last.W == f.W && w.last.H == f.H && w.last.X == f.X && w.last.Y == f.Y && w.last.Scale == f.Scale
	var rects []rect
	area := f.W * f.H
	if same {
		if rects, area = w.changes(f); area == 0 {
			return w.id, false, 0, nil
		}
	}
	now := file{Frame: record.Frame{W: f.W, H: f.H, X: f.X, Y: f.Y, Scale: f.Scale}}
	if same && area <= f.W*f.H/2 && w.depth[w.id] < maxDepth {
		now.base, now.depth = w.id, w.depth[w.id]+1
		now.rects, now.pixels = rects, take(f, rects)
		now.apply(w.last.Pix)
		for _, r := range rects {
			for y := r.y; y < r.y+r.h; y++ {
				copy(w.seen[4*(y*f.W+r.x):][:4*r.w], f.Pix[4*(y*f.W+r.x):])
			}
		}
	} else {
		w.seen = append(w.seen[:0], f.Pix...)
		now.rects = []rect{{0, 0, f.W, f.H}}
		now.pixels = opaque(append(w.last.Pix[:0], f.Pix...))
		w.last, w.sums = now.Frame, make([]sum, bands(f))
		w.last.Pix = now.pixels
	}
	w.id = ""
	var changed []int // bands
	for _, r := range now.rects {
		for band := r.y / tileH; band*tileH < r.y+r.h; band++ {
			if !slices.Contains(changed, band) {
				changed = append(changed, band)
			}
		}
	}
	// Hashing and packing take turns of like length, so that they are done at once.
	var hashing sync.WaitGroup
	hashing.Go(func() {
		for _, band := range changed {
			w.sums[band] = sumBand(&w.last, band)
		}
	})
	w.packed = pack(w.packed[:0], &now)
	hashing.Wait()
	id = identify(&w.last, w.sums)
	if _, stored := w.known(id); stored {
		w.id = id
		return id, false, 0, nil
	}
	if err := w.write(id, w.packed); err != nil {
		// Nothing may stand on it.
		return "", false, 0, human.Wrap(human.Internal, err, "a picture cannot be stored in %s; check the space on its disk", w.dir)
	}
	w.id, w.depth[id] = id, now.depth
	return id, true, int64(len(w.packed)), nil
}

// write puts the file in place whole: a process that is killed leaves a name that no picture has. The desktop and a browser that are
// recorded together have a writer each, in the same folder.
func (w *writer) write(id string, b []byte) error {
	f, err := os.CreateTemp(w.dir, ".part")
	if err != nil {
		return err
	}
	path := filepath.Join(w.dir, id)
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	w.fresh = append(w.fresh, path)
	return nil
}

// Sync implements record.PictureWriter.
func (w *writer) Sync() error {
	for len(w.fresh) > 0 {
		if err := syncFile(w.fresh[0]); err != nil {
			return human.Wrap(human.Internal, err, "the pictures in %s may not survive a loss of power", w.dir)
		}
		w.fresh = w.fresh[1:]
		w.dirty = true
	}
	if w.dirty {
		if err := disk.SyncFolder(w.dir); err != nil {
			return human.Wrap(human.Internal, err, "the pictures in %s may not survive a loss of power", w.dir)
		}
		w.dirty = false
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Close implements record.PictureWriter.
func (w *writer) Close() error {
	err := w.Sync()
	w.last, w.sums, w.id, w.packed = record.Frame{}, nil, "", nil
	return err
}

// Tiles are what a picture is compared in.
const tileW, tileH = 64, 32

// changes are the parts of f that differ from the last one, in whole tiles, none of which overlap. The fourth bytes
// of f's pixels do not count. area is how many pixels they have together.
func (w *writer) changes(f *record.Frame) (rects []rect, area int) {
	columns := (f.W + tileW - 1) / tileW
	above := make([]int, columns) // which rectangle ends above each column, and begins there; -1 without
	for i := range above {
		above[i] = -1
	}
	differs := make([]bool, columns)
	for y := 0; y < f.H; y += tileH {
		high := min(tileH, f.H-y)
		for c := range differs {
			x := c * tileW
			differs[c] = w.tileDiffers(f, x, y, min(tileW, f.W-x), high)
		}
		row := make([]int, columns)
		for i := range row {
			row[i] = -1
		}
		for c := 0; c < columns; {
			if !differs[c] {
				c++
				continue
			}
			end := c
			for end < columns && differs[end] {
				end++
			}
			wide := min(end*tileW, f.W) - c*tileW
			area += wide * high
			if up := above[c]; up >= 0 && rects[up].w == wide {
				rects[up].h += high
				row[c] = up
			} else {
				row[c] = len(rects)
				rects = append(rects, rect{c * tileW, y, wide, high})
			}
			c = end
		}
		above = row
	}
	return rects, area
}

func (w *writer) tileDiffers(f *record.Frame, x, y, wide, high int) bool {
	for ; high > 0; high-- {
		at := 4 * (y*f.W + x)
		a, b := w.seen[at:at+4*wide], f.Pix[at:at+4*wide]
		if !bytes.Equal(a, b) {
			if !equalPixels(a, b) {
				return true
			}
			copy(a, b)
		}
		y++
	}
	return false
}

// equalPixels compares without the fourth bytes.
func equalPixels(a, b []byte) bool {
	for len(a) >= 8 {
		if (binary.LittleEndian.Uint64(a)^binary.LittleEndian.Uint64(b))&0x00ffffff00ffffff != 0 {
			return false
		}
		a, b = a[8:], b[8:]
	}
	return len(a) < 4 || (binary.LittleEndian.Uint32(a)^binary.LittleEndian.Uint32(b))&0x00ffffff == 0
}

// take copies the pixels of the rectangles, one after the other, their fourth bytes 0xff.
func take(f *record.Frame, rects []rect) []byte {
	size := 0
	for _, r := range rects {
		size += 4 * r.w * r.h
	}
	pixels := make([]byte, 0, size)
	for _, r := range rects {
		for y := r.y; y < r.y+r.h; y++ {
			pixels = append(pixels, f.Pix[4*(y*f.W+r.x):][:4*r.w]...)
		}
	}
	return opaque(pixels)
}

// opaque sets the fourth bytes of pixels to 0xff.
func opaque(pixels []byte) []byte {
	rest := pixels
	for ; len(rest) >= 8; rest = rest[8:] {
		binary.LittleEndian.PutUint64(rest, binary.LittleEndian.Uint64(rest)|0xff000000ff000000)
	}
	if len(rest) >= 4 {
		rest[3] = 0xff
	}
	return pixels
}
