package term

import "bytes"

// Bytes of ECMA-48 and xterm's control sequences.
const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
)

// longestString is how much of a control string is looked at; of a longer one nothing is passed on.
const longestString = 64 << 10

// A filter parts what a terminal prints into what is passed on and control strings (OSC, DCS, APC, PM, SOS), wherever reads
// cut them. As in xterm, a string ends with BEL or ESC \, and another ESC, CAN or SUB drops it: so an open string that a
// program left behind swallows no string after it.
type filter struct {
	state filterState
	kind  byte // the one after ESC that began the string
	held  []byte
	long  bool // more than longestString: dropped
}

type filterState uint8

const (
	ground filterState = iota
	escaped
	inString
	stringEscaped
)

// feed passes bytes on in order. str is called with the kind and body of each whole control string.
func (f *filter) feed(in []byte, pass func([]byte), str func(kind byte, body []byte)) {
	for len(in) > 0 {
		switch f.state {
		case ground:
			i := bytes.IndexByte(in, esc)
			if i < 0 {
				pass(in)
				return
			}
			if i > 0 {
				pass(in[:i])
			}
			f.state, in = escaped, in[i+1:]
		case escaped:
			switch c := in[0]; c {
			case ']', 'P', '_', '^', 'X':
				f.state, f.kind, f.held, f.long = inString, c, f.held[:0], false
			case esc:
			default:
				f.state = ground
				pass([]byte{esc, c})
			}
			in = in[1:]
		case inString:
			i := bytes.IndexFunc(in, func(r rune) bool { return r == bel || r == esc || r == can || r == sub })
			f.hold(in[:max(i, 0)])
			if i < 0 {
				f.hold(in)
				return
			}
			switch in[i] {
			case bel:
				if f.kind != ']' {
					f.hold(in[i : i+1])
					break
				}
				f.end(str)
			case esc:
				f.state = stringEscaped
			default:
				f.state = ground
			}
			in = in[i+1:]
		case stringEscaped:
			if in[0] == '\\' {
				f.end(str)
				in = in[1:]
			} else {
				f.state = escaped
			}
		}
	}
}

func (f *filter) hold(b []byte) {
	if f.long = f.long || len(f.held)+len(b) > longestString; !f.long {
		f.held = append(f.held, b...)
	}
}

func (f *filter) end(str func(byte, []byte)) {
	f.state = ground
	if !f.long {
		str(f.kind, f.held)
	}
}
