//go:build linux

package desktoptest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"
)

// A pointer is a mouse of a compositor that takes virtual ones (zwlr_virtual_pointer_manager_v1). It speaks Wayland's
// wire format itself, because no packaged program keeps such a mouse plugged in between two clicks.
type pointer struct {
	conn net.Conn
	w, h int // of all outputs together, in logical pixels
}

// Objects of the connection: the display is always 1, the others are given here.
const (
	wlDisplay = iota + 1
	wlRegistry
	wlCallback
	wlManager
	wlPointer
)

// Codes of the kernel.
const (
	leftButton  = 0x110
	rightButton = 0x111
)

// plugIn plugs a mouse in.
func plugIn(socket string, w, h int) (*pointer, error) {
	conn, err := net.DialTimeout("unix", socket, Patience)
	if err != nil {
		return nil, err
	}
	p := &pointer{conn: conn, w: w, h: h}
	if err := p.bind(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(socket), err)
	}
	return p, nil
}

func (p *pointer) bind() error {
	const manager = "zwlr_virtual_pointer_manager_v1"
	if err := p.send(wlDisplay, 1, uint32(wlRegistry)); err != nil { // get_registry
		return err
	}
	if err := p.send(wlDisplay, 0, uint32(wlCallback)); err != nil { // sync
		return err
	}
	for {
		object, code, body, err := p.receive()
		switch {
		case err != nil:
			return err
		case object == wlCallback:
			return fmt.Errorf("the compositor takes no virtual mouse")
		case object != wlRegistry || code != 0:
			continue
		}
		name, length := binary.NativeEndian.Uint32(body), binary.NativeEndian.Uint32(body[4:])
		if string(body[8:8+length-1]) != manager {
			continue
		}
		if err := p.send(wlRegistry, 0, name, manager, uint32(1), uint32(wlManager)); err != nil { // bind
			return err
		}
		if err := p.send(wlManager, 0, uint32(0), uint32(wlPointer)); err != nil { // create_virtual_pointer
			return err
		}
		go func() { _, _ = io.Copy(io.Discard, p.conn) }() // until it is closed
		return nil
	}
}

// move puts the pointer at a place of all outputs together.
func (p *pointer) move(x, y int) error {
	if err := p.send(wlPointer, 1, now(), uint32(x), uint32(y), uint32(p.w), uint32(p.h)); err != nil { // motion_absolute
		return err
	}
	return p.send(wlPointer, 4) // frame
}

// press presses a button, or lets it go.
func (p *pointer) press(button uint32, down bool) error {
	state := uint32(0)
	if down {
		state = 1
	}
	if err := p.send(wlPointer, 2, now(), button, state); err != nil {
		return err
	}
	return p.send(wlPointer, 4)
}

func now() uint32 { return uint32(time.Now().UnixMilli()) }

// send writes a request with numbers and texts as arguments.
func (p *pointer) send(object, code uint32, args ...any) error {
	var body bytes.Buffer
	number := func(n uint32) { body.Write(binary.NativeEndian.AppendUint32(nil, n)) }
	for _, arg := range args {
		switch v := arg.(type) {
		case uint32:
			number(v)
		case string:
			number(uint32(len(v) + 1))
			body.WriteString(v)
			body.Write(make([]byte, 4-len(v)%4))
		}
	}
	head := binary.NativeEndian.AppendUint32(nil, object)
	head = binary.NativeEndian.AppendUint32(head, uint32(8+body.Len())<<16|code)
	_, err := p.conn.Write(append(head, body.Bytes()...))
	return err
}

func (p *pointer) receive() (object, code uint32, body []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(p.conn, head[:]); err != nil {
		return 0, 0, nil, err
	}
	object, code = binary.NativeEndian.Uint32(head[:]), binary.NativeEndian.Uint32(head[4:])
	body = make([]byte, code>>16-8)
	_, err = io.ReadFull(p.conn, body)
	return object, code & 0xffff, body, err
}
