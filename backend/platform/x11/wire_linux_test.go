package x11

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
)

func TestParseDisplay(t *testing.T) {
	for display, want := range map[string]string{
		":0":                  "unix /tmp/.X11-unix/X0 0",
		":12.1":               "unix /tmp/.X11-unix/X12 12",
		"unix:3":              "unix /tmp/.X11-unix/X3 3",
		"/run/user/1000/x:5":  "unix /run/user/1000/x:5 5",
		"localhost:10.0":      "tcp localhost:6010 10",
		"tcp/desk.example:1":  "tcp desk.example:6001 1",
		"[::1]:2":             "tcp [::1]:6002 2",
		"":                    "unavailable",
		"nonsense":            "invalid",
		":":                   "invalid",
		":-1":                 "invalid",
		":60000":              "invalid",
		":99999999999999":     "invalid",
		"desk.example:1.2.3:": "invalid",
	} {
		network, address, number, err := parseDisplay(display)
		got := fmt.Sprintf("%s %s %s", network, address, number)
		switch {
		case err == nil:
		case human.KindOf(err) == human.Unavailable:
			got = "unavailable"
		case human.KindOf(err) == human.Invalid:
			got = "invalid"
		default:
			t.Errorf("%q: %v", display, err)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", display, got, want)
		}
	}
}

// entry is one of the authority file.
func entry(family uint16, parts ...string) []byte {
	b := binary.BigEndian.AppendUint16(nil, family)
	for _, p := range parts {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(p))), p...)
	}
	return b
}

// A server that wants a key lets us in with the right one only.
func TestAuthority(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	const local, wild = 256, 0xffff
	right, wrong := strings.Repeat("k", 16), strings.Repeat("w", 16)
	file := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(file, entry(wild, "", "", "MIT-MAGIC-COOKIE-1", right), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newFixture(t, "-auth", file)
	number := strings.TrimPrefix(d.Display, ":")
	for name, tt := range map[string]struct {
		file []byte
		in   bool
	}{
		"for any host and display":       {entry(wild, "", "", "MIT-MAGIC-COOKIE-1", right), true},
		"for this host and display":      {entry(local, host, number, "MIT-MAGIC-COOKIE-1", right), true},
		"after entries of others":        {slices.Concat(entry(local, host, "777", "MIT-MAGIC-COOKIE-1", wrong), entry(local, "elsewhere", number, "MIT-MAGIC-COOKIE-1", wrong), entry(wild, "", number, "XDM-AUTHORIZATION-1", wrong), entry(local, host, number, "MIT-MAGIC-COOKIE-1", right)), true},
		"a wrong key":                    {entry(wild, "", "", "MIT-MAGIC-COOKIE-1", wrong), false},
		"none":                           {nil, false},
		"cut off in the middle of a key": {entry(wild, "", "", "MIT-MAGIC-COOKIE-1", right)[:30], false},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "ours")
			if err := os.WriteFile(file, tt.file, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("XAUTHORITY", file)
			w, err := dial(t.Context(), d.Display)
			if (err == nil) != tt.in {
				t.Errorf("dial: %v", err)
			}
			if err == nil {
				w.close()
			} else if human.KindOf(err) != human.Denied {
				t.Errorf("a refusal is Denied, not %v", err)
			}
		})
	}
}

// A server that says nothing holds no one up longer than its context.
func TestServerIsMute(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "x:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := dial(ctx, l.Addr().String()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("dial: %v", err)
	}
}

func TestTimeline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		server := rapid.Uint32().Draw(t, "server's time")
		base := 1e6 * rapid.Int64Range(-1<<40, 1<<40).Draw(t, "our clock is ahead, ms")
		ago := rapid.Int64Range(0, math.MaxInt32).Draw(t, "ms before now") // 24.8 days
		now := int64(server)*1e6 + base + 300_000
		clock := func() (time.Time, int64) { return time.Time{}, now }
		line := newTimeline(clock, []reading{{server: server, before: now - 1e6, after: now, system: int64(server)*1e6 + 300_000}})
		if !line.shared {
			t.Fatal("the server runs on our clock, and that was not seen")
		}
		if got, want := line.at(server-uint32(ago)), now-300_000-ago*1e6; got != want {
			t.Fatalf("%d ms ago is %v off", ago, time.Duration(got-want))
		}
		if got := line.at(server + 5); got > now {
			t.Fatalf("an event %v in the future", time.Duration(got-now))
		}
		// One that does not run on our clock is met within half of the way there and back.
		line = newTimeline(clock, []reading{
			{server: server - 4, before: now - 9e6, after: now, system: 1e15 + int64(server)*1e6},
			{server: server, before: now - 1e6, after: now, system: 1e15 + int64(server)*1e6},
		})
		if off := line.at(server-uint32(ago)) - (now - ago*1e6); line.shared || off < -1e6 || off > 1e6 {
			t.Fatalf("shared %v, off %v", line.shared, time.Duration(off))
		}
	})
}

func TestTimelineBeginsAnew(t *testing.T) {
	const before = math.MaxUint32 - 1000 // ms, one second before the server's time begins anew
	var passed int64
	clock := func() (time.Time, int64) { return time.Time{}, before*1e6 + passed }
	line := newTimeline(clock, []reading{{server: before, before: before * 1e6, after: before * 1e6, system: before * 1e6}})
	for ; passed < 2e9; passed += 1e7 {
		_, now := clock()
		if got := line.at(uint32((before*1e6 + passed) / 1e6)); got != now {
			t.Fatalf("%v after: %v off", time.Duration(passed), time.Duration(got-now))
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	whole := make([]byte, 32+2*32)
	whole[0] = frameReply
	whole[32], whole[33] = keyRelease, 38
	whole[64], whole[65] = keyPress, 38
	f.Add(whole)
	f.Add(whole[:40])
	f.Add([]byte{frameReply, endOfData})
	f.Fuzz(func(t *testing.T, b []byte) {
		raws, more := parseRecord(b)
		if !more && len(raws) > 0 {
			t.Error("events after the end")
		}
		if len(raws) > max(0, len(b)-32)/32 {
			t.Errorf("%d events in %d bytes", len(raws), len(b))
		}
		for _, r := range raws {
			if r.kind < keyPress || r.kind > motionNotify || r.repeats && r.kind != keyPress {
				t.Errorf("%+v", r)
			}
		}
	})
}

// Whatever is written as RECORD writes it is read the same.
func TestParseRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frame := make([]byte, 32)
		frame[0] = frameReply
		var want []rawInput
		for i := range rapid.IntRange(0, 40).Draw(t, "events") {
			kind := rapid.ByteRange(0, 127).Draw(t, "kind")
			r := rawInput{
				kind: kind, code: rapid.Byte().Draw(t, "code"), time: uint32(i), x: int(rapid.Int16().Draw(t, "x")), y: int(rapid.Int16().Draw(t, "y")),
				state: rapid.Uint16().Draw(t, "state"),
			}
			e := make([]byte, 32)
			e[0], e[1] = r.kind, r.code
			binary.LittleEndian.PutUint32(e[4:], r.time)
			binary.LittleEndian.PutUint16(e[20:], uint16(r.x))
			binary.LittleEndian.PutUint16(e[22:], uint16(r.y))
			binary.LittleEndian.PutUint16(e[28:], r.state)
			frame = append(frame, e...)
			if kind >= keyPress && kind <= motionNotify {
				want = append(want, r)
			}
		}
		got, more := parseRecord(frame)
		if !more || !slices.Equal(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func FuzzParseKeymap(f *testing.F) {
	d := newFixture(f)
	d.Do("setxkbmap", "de")
	w, err := dial(f.Context(), d.Display)
	if err != nil {
		f.Fatal(err)
	}
	opcode, _, err := w.extension(f.Context(), "XKEYBOARD")
	if err != nil {
		f.Fatal(err)
	}
	if _, err := w.call(f.Context(), []byte{opcode, 0, 0, 0, 1, 0, 0, 0}, nil); err != nil {
		f.Fatal(err)
	}
	req := make([]byte, 28)
	req[0], req[1], req[5], req[6] = opcode, 8, 1, 7
	b, err := w.call(f.Context(), req, nil)
	if err != nil {
		f.Fatal(err)
	}
	w.close()
	f.Add(b, byte(codeQ), uint16(0x80))
	f.Add(b[:200], byte(0), uint16(0xffff))
	f.Fuzz(func(t *testing.T, b []byte, code byte, state uint16) {
		m, err := parseKeymap(b)
		if err != nil {
			return
		}
		var typing typist
		typing.press(m, code, state)
		typing.release(m, code, state)
		m.modifiers(state)
	})
}

func FuzzReadFrame(f *testing.F) {
	f.Add(append([]byte{frameReply, 0, 0, 0, 1, 0, 0, 0}, make([]byte, 28)...))
	f.Add(bytes.Repeat([]byte{frameGeneric}, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		frame, err := readFrame(r)
		if err == nil && (len(frame) < 32 || !bytes.Equal(frame, b[:len(frame)])) {
			t.Errorf("read %d bytes of %d", len(frame), len(b))
		}
		if rest, _ := io.ReadAll(r); err == nil && len(rest)+len(frame) != len(b) {
			t.Error("bytes are gone")
		}
	})
}

func FuzzProperty(f *testing.F) {
	f.Add(append([]byte{frameReply, 8, 0, 0, 0, 0, 0, 0, 31, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0}, make([]byte, 16)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := propertyOf(b)
		p.words()
		if s := p.text(); strings.ToValidUTF8(s, "") != s {
			t.Errorf("%q is no UTF-8", s)
		}
	})
}
