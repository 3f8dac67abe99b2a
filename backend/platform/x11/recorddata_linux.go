package x11

import "encoding/binary"

// Kinds of core events, and of RECORD's replies (Record extension protocol, 6).
const (
	keyPress      = 2
	keyRelease    = 3
	buttonPress   = 4
	buttonRelease = 5
	motionNotify  = 6

	fromServer  = 0
	startOfData = 4
	endOfData   = 5
)

// A rawInput is an event as the server has it.
type rawInput struct {
	kind    byte
	code    byte // of the key or button
	time    uint32
	x, y    int
	state   uint16 // modifiers and buttons before it, and the keyboard's group
	repeats bool   // a press that follows its own release in the same moment: auto repeat
}

// parseRecord reads a frame of the connection that RECORD's data comes on; more is false when it is the
// last. What is no pointer or key event is skipped, and so are a rest that is no whole event, and what the
// server sends to every connection (MappingNotify).
func parseRecord(f []byte) (raws []rawInput, more bool) {
	if len(f) < 32 || f[0] == frameError || f[0] == frameReply && f[1] == endOfData {
		return nil, false
	}
	if f[0] != frameReply || f[1] != fromServer {
		return nil, true
	}
	for f = f[32:]; len(f) >= 32; f = f[32:] {
		kind := f[0] & 127
		if kind < keyPress || kind > motionNotify {
			continue
		}
		r := rawInput{
			kind: kind, code: f[1], time: binary.LittleEndian.Uint32(f[4:]),
			x: int(int16(binary.LittleEndian.Uint16(f[20:]))), y: int(int16(binary.LittleEndian.Uint16(f[22:]))),
			state: binary.LittleEndian.Uint16(f[28:]),
		}
		// Some servers say of auto repeat: released and pressed at once. That is one event here. Others say
		// pressed, again and again.
		if n := len(raws); kind == keyPress && n > 0 && raws[n-1].kind == keyRelease && raws[n-1].code == r.code && raws[n-1].time == r.time {
			r.repeats = true
			raws[n-1] = r
			continue
		}
		raws = append(raws, r)
	}
	return raws, true
}
