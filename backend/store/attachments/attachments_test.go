package attachments_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"deskbell/backend/human"
	"deskbell/backend/store/attachments"
)

var (
	bot   = human.Actor{Role: human.Agent, Name: "bot"}
	other = human.Actor{Role: human.Agent, Name: "other"}
	ada   = human.Actor{Role: human.Operator, Name: "ada"}
)

const secret = "AKIA-EXAMPLE-SECRET"

// A rig is a store with a clock of its own, that knows one secret.
type rig struct {
	*attachments.Store
	t   *testing.T
	dir string
	now time.Time
}

func open(t *testing.T, quota int64) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), now: time.Now()}
	r.Store = attachments.New(r.dir, attachments.Options{
		Quota: func() int64 { return quota }, Now: func() time.Time { return r.now },
		Mask: func(text string) (string, int) {
			return strings.ReplaceAll(text, secret, "•••"), strings.Count(text, secret)
		},
	})
	return r
}

func (r *rig) put(by human.Actor, name string, data []byte) human.Attachment {
	r.t.Helper()
	a, err := r.Put(r.t.Context(), by, name, data)
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

func (r *rig) read(id human.AttachmentID) []byte {
	r.t.Helper()
	data, err := r.Read(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}

// notStored checks that a file is not stored, and says why.
func (r *rig) notStored(by human.Actor, name string, data []byte, why string) {
	r.t.Helper()
	a, err := r.Put(r.t.Context(), by, name, data)
	if err == nil || !strings.Contains(err.Error(), why) {
		r.t.Errorf("%s was stored as %+v, %v; want an error with %q", name, a, err, why)
	}
}

func picture(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(x * 7), uint8(y * 5), uint8(x ^ y), 255})
		}
	}
	return img
}

func encoded(t *testing.T, format string, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, picture(w, h))
	case "jpeg":
		err = jpeg.Encode(&b, picture(w, h), nil)
	case "gif":
		err = gif.Encode(&b, picture(w, h), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The type is what the bytes are, whatever the name says; what browsers would run is text or a download.
func TestTypes(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	for _, tt := range []struct {
		name  string
		data  []byte
		media string
	}{
		{"a.txt", encoded(t, "png", 3, 2), "image/png"},
		{"a.png", encoded(t, "jpeg", 3, 2), "image/jpeg"},
		{"a.exe", encoded(t, "gif", 3, 2), "image/gif"},
		{"page.png", []byte("<!DOCTYPE html><script>alert(1)</script>"), "text/plain"},
		{"a.svg", []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), "text/plain"},
		{"notes.md", []byte("# Über\n\tline\x1b[0m\r\n"), "text/plain"},
		{"report.png", []byte("%PDF-1.7\n"), "application/pdf"},
		{"setup.txt", []byte("MZ\x90\x00\x03\x00\x00\x00"), "application/octet-stream"},
		{"a.zip", []byte("PK\x03\x04\x14\x00\x00\x00"), "application/octet-stream"},
		{"latin1.txt", []byte("caf\xe9"), "application/octet-stream"},
	} {
		if a := r.put(bot, tt.name, tt.data); a.Media != tt.media || a.Name != tt.name || a.Size != int64(len(tt.data)) {
			t.Errorf("%s is %+v, want %s", tt.name, a, tt.media)
		}
	}
	if a := r.put(bot, "x", encoded(t, "png", 30, 20)); a.Width != 30 || a.Height != 20 {
		t.Errorf("its size is %+v", a)
	}
}

// What is too large for its type, empty, damaged, or a bomb is not stored, and nothing is left of it.
func TestRefused(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	for _, by := range []human.Actor{bot, ada} {
		r.notStored(by, "long.txt", bytes.Repeat([]byte("a"), 1_000_001), "the limit for text/plain is 1000000")
		r.notStored(by, "a.zip", append([]byte("PK\x03\x04"), make([]byte, 5_000_000)...), "the limit for application/octet-stream is 5000000")
		r.notStored(by, "a.pdf", append([]byte("%PDF-1.7\n"), make([]byte, 10_000_000)...), "the limit for application/pdf is 10000000")
		r.notStored(by, "none", nil, "is empty")
		r.notStored(by, "cut.png", encoded(t, "png", 30, 20)[:20], "cannot be read")
		r.notStored(by, "lies.gif", []byte("GIF89a"), "cannot be read")
		bomb := encoded(t, "png", 30, 20)
		binary.BigEndian.PutUint32(bomb[16:], 60_000)
		binary.BigEndian.PutUint32(bomb[20:], 60_000)
		binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
		r.notStored(by, "bomb.png", bomb, "has 60000 by 60000 pixels")
	}
	if entries, err := os.ReadDir(filepath.Join(r.dir, "attachments")); err == nil && len(entries) > 0 {
		t.Errorf("left: %v", entries)
	}
}

// Names lead nowhere and show what they are.
func TestNames(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	for sent, want := range map[string]string{
		"../../etc/passwd":                "passwd",
		`C:\Users\ada\plan.txt`:           "plan.txt",
		"photo\u202egnp.exe":              "photognp.exe",
		"a\x00b\nc.txt":                   "abc.txt",
		"..":                              "file",
		"":                                "file",
		"/":                               "file",
		"a\xff.txt":                       "a.txt",
		"con\"<b>.txt":                    "con__b_.txt",
		"报告.pdf":                          "报告.pdf",
		strings.Repeat("x", 300) + ".txt": strings.Repeat("x", 115) + "….txt",
		"trailing. . ":                    "trailing",
		"key " + secret + ".txt":          "key " + secret + ".txt",
		"a\u200b\u00a0b\u2028c.txt":       "a_b_c.txt",
	} {
		if a := r.put(bot, sent, []byte("x")); a.Name != want {
			t.Errorf("%q is called %q, want %q", sent, a.Name, want)
		}
	}
	if a := r.put(ada, "key "+secret+".txt", []byte("x")); a.Name != "key •••.txt" {
		t.Errorf("an operator's file is called %q", a.Name)
	}
}

// Texts of operators are masked before they are stored, in UTF-16 too; agents' are kept as they are.
func TestSecrets(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	text := "key=" + secret + "\nagain " + secret + "\n"
	var wide []byte
	for _, u := range utf16.Encode([]rune(text)) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	for name, data := range map[string][]byte{"a.txt": []byte(text), "wide.txt": append([]byte{0xff, 0xfe}, wide...)} {
		a := r.put(ada, name, data)
		if a.Check != human.CheckMasked || a.Masked != 2 || a.Media != "text/plain" || string(r.read(a.ID)) != "key=•••\nagain •••\n" || a.Size != int64(len(r.read(a.ID))) {
			t.Errorf("%s: %+v, %q", name, a, r.read(a.ID))
		}
	}
	if a := r.put(ada, "b.txt", []byte("nothing")); a.Check != human.CheckClean || a.Masked != 0 {
		t.Errorf("%+v", a)
	}
	if a := r.put(ada, "c.bin", []byte{0, 1, 2}); a.Check != human.CheckNotMade {
		t.Errorf("%+v", a)
	}
	if a := r.put(bot, "a.txt", []byte(text)); a.Check != human.CheckNotMade || string(r.read(a.ID)) != text {
		t.Errorf("an agent's: %+v", a)
	}
	_ = filepath.WalkDir(r.dir, func(path string, e os.DirEntry, err error) error {
		if data, _ := os.ReadFile(path); err == nil && !e.IsDir() && bytes.Contains(data, []byte(secret)) && !strings.Contains(path, string(human.AttachmentOf([]byte(text)))[4:]) {
			t.Errorf("%s has the secret", path)
		}
		return nil
	})
}

// exif is an Exif block that has a place, a text and which way is up.
func exif(up byte) []byte {
	return append([]byte("Exif\x00\x00II\x2a\x00\x08\x00\x00\x00\x02\x00\x12\x01\x03\x00\x01\x00\x00\x00"), append([]byte{up, 0, 0, 0}, []byte("\x25\x88\x04\x00\x01\x00\x00\x00\x26\x00\x00\x00\x00\x00\x00\x00GPS-LATITUDE")...)...)
}

func chunk(kind, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func segment(marker byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2)), body...)
}

// What an operator's image tells beside what it shows is removed, its pixels and which way is up stay; an agent's stays as it is.
func TestImagesTellNoMoreThanTheyShow(t *testing.T) {
	t.Parallel()
	const place = "GPS-LATITUDE"
	withEnd := func(data []byte) []byte { return append(data, "<script>"+place+"</script>"...) }
	p, j, g := encoded(t, "png", 30, 20), encoded(t, "jpeg", 30, 20), encoded(t, "gif", 30, 20)
	images := map[string][]byte{
		"png":  withEnd(slices.Concat(p[:33], chunk("tEXt", "Comment\x00"+place), chunk("eXIf", place), chunk("iTXt", place), p[33:])),
		"jpeg": withEnd(slices.Concat(j[:2], segment(0xe1, exif(6)), segment(0xe1, []byte("http://ns.adobe.com/xap/1.0/\x00"+place)), segment(0xfe, []byte(place)), segment(0xe2, []byte("MPF\x00"+place)), j[2:])),
		"gif":  withEnd(slices.Concat(g[:len(g)-1], []byte("\x21\xfe\x0c"+place+"\x00"), []byte("\x21\xff\x0bXMP DataXMP\x0c"+place+"\x00"), g[len(g)-1:])),
	}
	for format, data := range images {
		r := open(t, 0)
		a := r.put(ada, "photo", data)
		bare := r.read(a.ID)
		if bytes.Contains(bare, []byte(place)) || bytes.Contains(bare, []byte("script")) || a.Size != int64(len(bare)) || a.Width != 30 {
			t.Errorf("%s: %+v\n%q", format, a, bare)
		}
		before, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		after, _, err := image.Decode(bytes.NewReader(bare))
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		for y := range 20 {
			for x := range 30 {
				if before.At(x, y) != after.At(x, y) {
					t.Fatalf("%s: another pixel at %d,%d", format, x, y)
				}
			}
		}
		if up := bytes.Contains(bare, []byte("\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06")); up != (format == "jpeg") {
			t.Errorf("%s says which way is up: %v", format, up)
		}
		if own := r.put(bot, "photo", data); !bytes.Equal(r.read(own.ID), data) {
			t.Errorf("%s: an agent's image was changed", format)
		}
	}
}

func TestWebPTellsNoMoreThanItShows(t *testing.T) {
	t.Parallel()
	const place = "GPS-LATITUDE"
	part := func(kind, body string) string {
		b := string(binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(body)))) + body
		return b + strings.Repeat("\x00", len(body)%2)
	}
	// A lossless picture of one pixel.
	pixel := "\x2f\x00\x00\x00\x00\x07\x10\xfd\x8f\xfe\x07\x22\xa2\xff\x01\x00"
	body := "WEBP" + part("VP8X", "\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00") + part("VP8L", pixel) + part("EXIF", place+"!") + part("XMP ", place)
	data := []byte("RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))) + body)
	r := open(t, 0)
	a := r.put(ada, "x.webp", append(data, place...))
	bare := r.read(a.ID)
	if a.Media != "image/webp" || a.Width != 1 || bytes.Contains(bare, []byte(place)) || bare[20] != 0 || int(binary.LittleEndian.Uint32(bare[4:]))+8 != len(bare) {
		t.Errorf("%+v %q", a, bare)
	}
}

// Damaged images are stored or are errors; nothing makes the store fall over.
func TestDamagedImages(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	random := rand.New(rand.NewPCG(1, 2))
	for _, format := range []string{"png", "jpeg", "gif"} {
		whole := encoded(t, format, 30, 20)
		for range 500 {
			data := slices.Clone(whole)
			for range 1 + random.IntN(4) {
				data[random.IntN(len(data))] = byte(random.Uint32())
			}
			data = data[:1+random.IntN(len(data))]
			if a, err := r.Put(t.Context(), ada, "x", data); err == nil && a.Picture() {
				_, _ = r.JPEG(t.Context(), a.ID, 10) // an error is as good
			}
		}
	}
}

// The same bytes are stored once; each who sent them has a name of their own for them, and no one else has any.
func TestOnceForAll(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	one, two := r.put(bot, "one.bin", []byte{0, 1}), r.put(ada, "two.bin", []byte{0, 1})
	if one.ID != two.ID || one.ID != human.AttachmentOf([]byte{0, 1}) || one.Name != "one.bin" || two.Name != "two.bin" {
		t.Errorf("%+v, %+v", one, two)
	}
	if a, err := r.Sent(t.Context(), bot, one.ID); err != nil || a != one {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := r.Sent(t.Context(), other, one.ID); human.KindOf(err) != human.NotFound {
		t.Errorf("another agent: %v", err)
	}
	if _, err := r.Keep(t.Context(), other, "op_1", one.ID); human.KindOf(err) != human.NotFound {
		t.Errorf("another agent: %v", err)
	}
	if _, err := r.Sent(t.Context(), human.Actor{Role: human.Operator, Name: "bot"}, one.ID); human.KindOf(err) != human.NotFound {
		t.Errorf("an operator of the agent's name: %v", err)
	}
	for _, id := range []human.AttachmentID{"", "att_", "att_../../../x", human.AttachmentID("att_" + strings.Repeat("g", 64)), one.ID + "/data", "att_" + human.AttachmentID(strings.ToUpper(string(one.ID[4:])))} {
		if _, err := r.Read(t.Context(), id); human.KindOf(err) != human.NotFound {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := r.Named(t.Context(), id); human.KindOf(err) != human.NotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := r.Keep(t.Context(), bot, "../op", one.ID); human.KindOf(err) != human.NotFound {
		t.Errorf("an operation that leads elsewhere: %v", err)
	}
}

// Bytes that were changed on the disk are never given out, and are stored anew when they are sent again.
func TestDamage(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	a := r.put(bot, "x", []byte{0, 1, 2})
	path := filepath.Join(r.dir, "attachments", string(a.ID)[4:], "data")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, bad := range [][]byte{{0, 1, 3}, {0, 1}, {}} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if data, err := r.Read(t.Context(), a.ID); human.KindOf(err) != human.Internal {
			t.Errorf("%v, %v", data, err)
		}
		r.put(bot, "x", []byte{0, 1, 2})
		if !bytes.Equal(r.read(a.ID), []byte{0, 1, 2}) {
			t.Error("still damaged")
		}
	}
}

// What nothing names is removed after a day, and no sooner; what is named stays as long as it is.
func TestPrune(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	loose, kept := r.put(bot, "loose", []byte("loose")), r.put(bot, "kept", []byte("kept"))
	if _, err := r.Keep(t.Context(), bot, "op_1", kept.ID); err != nil {
		t.Fatal(err)
	}
	if ops, err := r.Named(t.Context(), kept.ID); err != nil || len(ops) != 1 || ops[0] != "op_1" {
		t.Errorf("%v, %v", ops, err)
	}
	names := true
	prune := func() {
		t.Helper()
		err := r.Prune(t.Context(), func(_ context.Context, op human.OperationID, id human.AttachmentID) (bool, error) {
			return names && op == "op_1" && id == kept.ID, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	there := func(a human.Attachment) bool { _, err := r.Read(t.Context(), a.ID); return err == nil }
	r.now = r.now.Add(23 * time.Hour)
	if prune(); !there(loose) || !there(kept) {
		t.Error("removed too soon")
	}
	r.now = r.now.Add(2 * time.Hour)
	if prune(); there(loose) || !there(kept) {
		t.Errorf("loose %v, kept %v", there(loose), there(kept))
	}
	failing := r.Prune(t.Context(), func(context.Context, human.OperationID, human.AttachmentID) (bool, error) {
		return false, human.Errorf(human.Internal, "the journal cannot be read")
	})
	if failing == nil || !there(kept) {
		t.Errorf("%v; what may be named was removed: %v", failing, !there(kept))
	}
	names = false
	if prune(); there(kept) {
		t.Error("kept what nothing names")
	}
	if entries, err := os.ReadDir(filepath.Join(r.dir, "attachments")); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// All files share one quota, of which a quarter is the operator's; it is counted anew after a restart.
func TestQuota(t *testing.T) {
	t.Parallel()
	r := open(t, 1000)
	file := func(i int) []byte { return append([]byte{0, byte(i)}, make([]byte, 98)...) }
	for i := range 7 {
		r.put(bot, fmt.Sprint(i), file(i))
	}
	r.notStored(bot, "8", file(8), "limits.attachments_megabytes")
	r.put(bot, "again", file(1)) // takes no more room
	again := attachments.New(r.dir, attachments.Options{Quota: func() int64 { return 1000 }})
	for i := range 3 {
		if _, err := again.Put(t.Context(), ada, "x", file(10+i)); err != nil {
			t.Errorf("the operator's: %v", err)
		}
	}
	if _, err := again.Put(t.Context(), ada, "x", file(20)); human.KindOf(err) != human.Exhausted {
		t.Errorf("more than all: %v", err)
	}
}

func TestJPEG(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	a := r.put(bot, "x", encoded(t, "png", 300, 200))
	for width, want := range map[int]image.Point{150: {150, 100}, 9999: {300, 200}, 1: {1, 1}} {
		data, err := r.JPEG(t.Context(), a.ID, width)
		if err != nil {
			t.Fatal(err)
		}
		if c, format, err := image.DecodeConfig(bytes.NewReader(data)); err != nil || format != "jpeg" || c.Width != want.X || c.Height != want.Y {
			t.Errorf("%d: %s %+v, %v", width, format, c, err)
		}
	}
	if _, err := r.JPEG(t.Context(), r.put(bot, "y", []byte("text")).ID, 100); human.KindOf(err) != human.Invalid {
		t.Error(err)
	}
}

// A file of another desk is named before its bytes are here, and only its own bytes become it.
func TestFetched(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := open(t, 1000)
	data := []byte("from another desk")
	id := human.AttachmentOf(data)
	if err := r.Expect(ctx, "op_1", id); err != nil {
		t.Fatal(err)
	}
	if ops, err := r.Named(ctx, id); err != nil || !slices.Equal(ops, []human.OperationID{"op_1"}) {
		t.Errorf("named by %v, %v", ops, err)
	}
	if _, err := r.Read(ctx, id); human.KindOf(err) != human.NotFound {
		t.Error("bytes that are not here:", err)
	}
	if err := r.Fetched(ctx, id, []byte("something else")); human.KindOf(err) != human.Unavailable {
		t.Error("other bytes:", err)
	}
	if err := r.Fetched(ctx, human.AttachmentOf(make([]byte, 2000)), make([]byte, 2000)); human.KindOf(err) != human.Exhausted {
		t.Error("more than there is room for:", err)
	}
	if err := r.Fetched(ctx, id, data); err != nil || !bytes.Equal(r.read(id), data) {
		t.Error(err)
	}
	for _, bad := range []struct {
		op human.OperationID
		id human.AttachmentID
	}{{"op_1", "att_../../x"}, {"../x", id}} {
		if err := r.Expect(ctx, bad.op, bad.id); human.KindOf(err) != human.NotFound {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	gone := func(op human.OperationID) (bool, error) { return op == "op_1", nil }
	if err := r.Forget(ctx, gone); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "attachments", strings.TrimPrefix(string(id), human.AttachmentPrefix))); !os.IsNotExist(err) {
		t.Error("it outlives its operation:", err)
	}
}
