package x11

import (
	"context"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// Core requests of what windows say of themselves.
const (
	opChangeAttributes = 2
	opGetAttributes    = 3
	opGetGeometry      = 14
	opQueryTree        = 15
	opInternAtom       = 16
	opDeleteProperty   = 19
	opGetProperty      = 20
	opConvertSelection = 24
	opQueryPointer     = 38
	opTranslate        = 40
)

// Events of the core protocol.
const (
	eventEnterNotify     = 7
	eventFocusIn         = 9
	eventFocusOut        = 10
	eventCreate          = 16
	eventDestroy         = 17
	eventUnmap           = 18
	eventMap             = 19
	eventReparent        = 21
	eventConfigure       = 22
	eventProperty        = 28
	eventSelectionNotify = 31
)

// Event masks of the core protocol.
const (
	maskEnterWindow  = 1 << 4
	maskStructure    = 1 << 17
	maskSubstructure = 1 << 19
	maskFocusChange  = 1 << 21
	maskProperty     = 1 << 22
)

// Atoms that every server has.
const (
	atomAny      = 0
	atomAtom     = 4
	atomInteger  = 19
	atomString   = 31
	atomWMName   = 39
	atomWMClass  = 67
	noWindow     = 0
	pointerRoot  = 1
	mapViewable  = 2
	classInput   = 2 // InputOnly
	maxTitle     = 4096
	maxWindowIDs = 4096
)

// request1 is a request whose body is these words.
func request1(opcode, detail byte, words ...uint32) []byte {
	req := make([]byte, 4, 4+4*len(words))
	req[0], req[1] = opcode, detail
	for _, w := range words {
		req = binary.LittleEndian.AppendUint32(req, w)
	}
	return req
}

// getProperty asks for at most size bytes of a property.
func getProperty(window, property uint32, size uint32) []byte {
	return request1(opGetProperty, 0, window, property, atomAny, 0, (size+3)/4)
}

// A property is what getProperty was answered.
type property struct {
	format byte // bits of an item; 0 where there is no property
	kind   uint32
	data   []byte
	more   bool // it was longer than asked for
}

func propertyOf(f []byte) property {
	if len(f) < 32 {
		return property{}
	}
	p := property{format: f[1], kind: binary.LittleEndian.Uint32(f[8:]), more: binary.LittleEndian.Uint32(f[12:]) > 0}
	n := uint64(binary.LittleEndian.Uint32(f[16:])) * uint64(p.format/8)
	if n > uint64(len(f)-32) {
		return property{}
	}
	p.data = f[32 : 32+n]
	return p
}

// words are the items of a property of 32 bits.
func (p property) words() []uint32 {
	if p.format != 32 {
		return nil
	}
	return wordsOf(p.data)
}

func wordsOf(b []byte) []uint32 {
	words := make([]uint32, 0, len(b)/4)
	for ; len(b) >= 4; b = b[4:] {
		words = append(words, binary.LittleEndian.Uint32(b))
	}
	return words
}

// word is the first of them, 0 without.
func (p property) word() uint32 {
	if w := p.words(); len(w) > 0 {
		return w[0]
	}
	return 0
}

// text is a property's text. Programs put UTF-8 into properties that are Latin-1 by their type (ICCCM 2.7.1):
// what is UTF-8 is taken for that.
func (p property) text() string {
	if p.format != 8 {
		return ""
	}
	s := strings.TrimRight(string(p.data), "\x00")
	for i := 0; p.more && i < utf8.UTFMax && s != "" && !utf8.ValidString(s); i++ {
		s = s[:len(s)-1] // the character that was cut through
	}
	// Compound text may switch to UTF-8 for a stretch (extended segments of the X Consortium's standard).
	s = strings.NewReplacer("\x1b%G", "", "\x1b%@", "").Replace(s)
	if utf8.ValidString(s) {
		return s
	}
	if p.kind != atomString {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// atoms asks for the numbers of names, in this order.
func (w *wire) atoms(ctx context.Context, names ...string) ([]uint32, error) {
	reqs := make([][]byte, len(names))
	for i, name := range names {
		reqs[i] = request1(opInternAtom, 0, uint32(len(name)))
		reqs[i] = append(reqs[i], name...)
		for len(reqs[i])%4 != 0 {
			reqs[i] = append(reqs[i], 0)
		}
	}
	replies, err := w.batch(ctx, reqs, nil)
	if err != nil {
		return nil, err
	}
	atoms := make([]uint32, len(names))
	for i, f := range replies {
		if f != nil {
			atoms[i] = binary.LittleEndian.Uint32(f[8:])
		}
	}
	return atoms, nil
}

// selectEvents asks for events of a window, for this connection alone.
func (w *wire) selectEvents(window, mask uint32) error {
	_, err := w.send(request1(opChangeAttributes, 0, window, 1<<11, mask))
	return err
}
