package x11

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"deskbell/backend/human"
)

// A wire is a connection to an X server whose answers and events are read as they come. RECORD answers one
// request with many replies, and XInput's events are longer than 32 bytes: xgb can read neither.
type wire struct {
	conn   net.Conn
	root   uint32
	nextID uint32 // of the resources this client makes
	step   uint32
	seq    uint16 // of the last request
	frames chan []byte
	woken  func([]byte) // called by the reader for each GenericEvent, which is not put into frames; nil: they are
	pile   bool         // frames are piled up instead, so that the reader never waits: see piled
	mu     sync.Mutex
	heap   [][]byte
	more   chan struct{} // there is something piled up; closed at the end
	err    error         // why frames was closed; read it afterwards
	done   chan struct{}
	wg     sync.WaitGroup
}

// Core requests and what they answer with, from the X Window System Protocol.
const (
	opCreateWindow   = 1
	opDestroyWindow  = 4
	opChangeProperty = 18
	opGetInputFocus  = 43
	opQueryExtension = 98

	frameError   = 0
	frameReply   = 1
	frameGeneric = 35 // GenericEvent: has a length of its own, as a reply
)

// maxFrame is more than any answer this client asks for; a longer one is not the X protocol.
const maxFrame = 16 << 20

// dial connects to a display; to the one of DISPLAY when it is empty. ctx bounds the connecting alone.
func dial(ctx context.Context, display string) (*wire, error) {
	return dialAs(ctx, display, false, nil)
}

// dialAs is dial, with pile and woken set.
func dialAs(ctx context.Context, display string, pile bool, woken func([]byte)) (*wire, error) {
	if display == "" {
		display = os.Getenv("DISPLAY")
	}
	network, address, number, err := parseDisplay(display)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil && network == "unix" && strings.HasPrefix(address, "/tmp/.X11-unix/") {
		// A sandbox may lack the socket's folder and still share the abstract name.
		if c, e := d.DialContext(ctx, "unix", "@"+address); e == nil {
			conn, err = c, nil
		}
	}
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the X server %s cannot be reached; is DISPLAY right?", display)
	}
	w := &wire{conn: conn, pile: pile, woken: woken, more: make(chan struct{}, 1), frames: make(chan []byte, 256), done: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	r := bufio.NewReaderSize(conn, 64<<10)
	err = w.handshake(r, number)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	w.wg.Go(func() { w.read(r) })
	return w, nil
}

// close ends the connection and waits for its reader.
func (w *wire) close() {
	close(w.done)
	_ = w.conn.Close()
	w.wg.Wait()
}

func (w *wire) read(r io.Reader) {
	defer close(w.frames)
	defer close(w.more)
	for {
		f, err := readFrame(r)
		if err != nil {
			w.err = err
			return
		}
		if f[0] == frameGeneric && w.woken != nil {
			w.woken(f)
			continue
		}
		if w.pile {
			w.mu.Lock()
			w.heap = append(w.heap, f)
			w.mu.Unlock()
			select {
			case w.more <- struct{}{}:
			default:
			}
			continue
		}
		select {
		case w.frames <- f:
		case <-w.done:
			return
		}
	}
}

// piled takes what has piled up. A server that finds a socket full throws RECORD's data away, without a word:
// a few hundred events are enough for that, so that they must be read whatever else there is to do.
func (w *wire) piled() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	frames := w.heap
	w.heap = nil
	return frames
}

// readFrame reads one reply, error or event with all that belongs to it.
func readFrame(r io.Reader) ([]byte, error) {
	head := make([]byte, 32)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	if head[0] != frameReply && head[0]&127 != frameGeneric {
		return head, nil
	}
	more := uint64(binary.LittleEndian.Uint32(head[4:])) * 4
	if more > maxFrame {
		return nil, fmt.Errorf("an answer of %d bytes: this is not the X protocol", more)
	}
	f := make([]byte, 32+more)
	copy(f, head)
	_, err := io.ReadFull(r, f[32:])
	return f, err
}

// send sends a request whose length it fills in, and returns its number. Requests are a multiple of 4 bytes.
func (w *wire) send(req []byte) (uint16, error) {
	binary.LittleEndian.PutUint16(req[2:], uint16(len(req)/4))
	w.seq++
	_, err := w.conn.Write(req)
	return w.seq, err
}

// call sends a request and waits for its reply. Other frames that come first are given to event.
func (w *wire) call(ctx context.Context, req []byte, event func([]byte)) ([]byte, error) {
	seq, err := w.send(req)
	if err != nil {
		return nil, err
	}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case f, ok := <-w.frames:
			switch {
			case !ok:
				return nil, w.err
			case binary.LittleEndian.Uint16(f[2:]) == seq && f[0] == frameReply:
				return f, nil
			case binary.LittleEndian.Uint16(f[2:]) == seq && f[0] == frameError:
				return nil, fmt.Errorf("the X server rejects request %d.%d with error %d", req[0], req[1], f[1])
			case event != nil:
				event(f)
			}
		}
	}
}

// batch sends requests that all have replies, at once, and waits for these; an entry is nil where the server
// answered with an error: the window is gone. Other frames that come between are given to event.
func (w *wire) batch(ctx context.Context, reqs [][]byte, event func([]byte)) ([][]byte, error) {
	if len(reqs) == 0 {
		return nil, nil
	}
	first := w.seq + 1
	var all []byte
	for _, req := range reqs {
		binary.LittleEndian.PutUint16(req[2:], uint16(len(req)/4))
		all = append(all, req...)
	}
	w.seq += uint16(len(reqs))
	if _, err := w.conn.Write(all); err != nil {
		return nil, err
	}
	replies := make([][]byte, len(reqs))
	for left := len(reqs); left > 0; {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case f, ok := <-w.frames:
			if !ok {
				return nil, w.err
			}
			i := int(binary.LittleEndian.Uint16(f[2:]) - first)
			switch {
			case f[0] == frameReply && i < len(reqs):
				replies[i] = f
				left--
			case f[0] == frameError && i < len(reqs):
				left--
			case event != nil:
				event(f)
			}
		}
	}
	return replies, nil
}

// extension asks for an extension; opcode is 0 where the server has none of that name.
func (w *wire) extension(ctx context.Context, name string) (opcode, firstEvent byte, err error) {
	req := make([]byte, 8+(len(name)+3)/4*4)
	req[0] = opQueryExtension
	binary.LittleEndian.PutUint16(req[4:], uint16(len(name)))
	copy(req[8:], name)
	f, err := w.call(ctx, req, nil)
	if err != nil || f[8] == 0 {
		return 0, 0, err
	}
	return f[9], f[10], nil
}

func (w *wire) newID() uint32 {
	w.nextID += w.step
	return w.nextID
}

// handshake opens the conversation: Connection Setup of the X Window System Protocol.
func (w *wire) handshake(r io.Reader, display string) error {
	name, key := authority(w.conn, display)
	req := []byte{'l', 0, 11, 0, 0, 0, byte(len(name)), 0, byte(len(key)), 0, 0, 0}
	for _, part := range []string{name, key} {
		req = append(req, part...)
		for len(req)%4 != 0 {
			req = append(req, 0)
		}
	}
	if _, err := w.conn.Write(req); err != nil {
		return human.Wrap(human.Unavailable, err, "the X server closed the connection")
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil {
		return human.Wrap(human.Unavailable, err, "the X server does not answer")
	}
	body := make([]byte, 4*int(binary.LittleEndian.Uint16(head[6:])))
	if _, err := io.ReadFull(r, body); err != nil {
		return human.Wrap(human.Unavailable, err, "the X server does not answer")
	}
	if head[0] != 1 {
		reason := body[:min(int(head[1]), len(body))]
		return human.Errorf(human.Denied, "the X server rejected the connection: %s; is XAUTHORITY right?", strings.TrimSpace(string(reason)))
	}
	return w.setup(body)
}

// setup takes from the server's greeting what this client needs.
func (w *wire) setup(body []byte) error {
	if len(body) < 32 {
		return errors.New("the X server's greeting is too short")
	}
	base, mask := binary.LittleEndian.Uint32(body[4:]), binary.LittleEndian.Uint32(body[8:])
	vendor, formats := int(binary.LittleEndian.Uint16(body[16:])), int(body[21])
	screen := 32 + (vendor+3)/4*4 + 8*formats
	if len(body) < screen+4 || mask == 0 {
		return errors.New("the X server's greeting is too short")
	}
	w.root = binary.LittleEndian.Uint32(body[screen:])
	w.nextID, w.step = base, mask&-mask
	return nil
}

// parseDisplay takes a display's name apart: [protocol/][host]:number[.screen], or the path of a socket.
func parseDisplay(display string) (network, address, number string, err error) {
	host, rest, ok := cutLast(display, ":")
	number, _, _ = strings.Cut(rest, ".")
	n, e := strconv.ParseUint(number, 10, 16)
	switch {
	case display == "":
		return "", "", "", human.Errorf(human.Unavailable, "there is no display: DISPLAY is not set")
	case !ok || e != nil || n > 65535-6000:
		return "", "", "", human.Errorf(human.Invalid, "%q is not the name of a display; one looks like :0", display)
	case filepath.IsAbs(host):
		return "unix", host + ":" + number, number, nil
	}
	if protocol, h, ok := strings.Cut(host, "/"); ok {
		network, host = protocol, h
	}
	if network == "unix" || host == "" || host == "unix" {
		return "unix", "/tmp/.X11-unix/X" + number, number, nil
	}
	if network == "" {
		network = "tcp"
	}
	return network, net.JoinHostPort(strings.Trim(host, "[]"), strconv.FormatUint(6000+n, 10)), number, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// authority finds the key for a display in the file of XAUTHORITY (Xau(3)); none where there is none: a
// server may let us in without.
func authority(conn net.Conn, display string) (name, key string) {
	const cookie = "MIT-MAGIC-COOKIE-1"
	file := os.Getenv("XAUTHORITY")
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", ""
		}
		file = filepath.Join(home, ".Xauthority")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", ""
	}
	host, _ := os.Hostname()
	for len(b) > 0 {
		var family uint16
		var parts [4]string // address, display, name of the protocol, key
		if family, parts, b, err = authorityEntry(b); err != nil {
			return "", ""
		}
		if parts[2] == cookie && len(parts[3]) <= 255 && (parts[1] == "" || parts[1] == display) && forHost(family, parts[0], host, conn) {
			return cookie, parts[3]
		}
	}
	return "", ""
}

func authorityEntry(b []byte) (family uint16, parts [4]string, rest []byte, err error) {
	short := errors.New("the entry is incomplete")
	if len(b) < 2 {
		return 0, parts, nil, short
	}
	family, b = binary.BigEndian.Uint16(b), b[2:]
	for i := range parts {
		if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
			return 0, parts, nil, short
		}
		n := int(binary.BigEndian.Uint16(b))
		parts[i], b = string(b[2:2+n]), b[2+n:]
	}
	return family, parts, b, nil
}

// forHost says whether an entry of the authority file is for the machine we are connected to.
func forHost(family uint16, address, host string, conn net.Conn) bool {
	const internet, internet6, local, wild = 0, 6, 256, 0xffff
	switch family {
	case wild:
		return true
	case local:
		remote, tcp := conn.RemoteAddr().(*net.TCPAddr)
		return address == host && (!tcp || remote.IP.IsLoopback())
	case internet, internet6:
		remote, tcp := conn.RemoteAddr().(*net.TCPAddr)
		return tcp && remote.IP.Equal(net.IP(address))
	}
	return false
}
