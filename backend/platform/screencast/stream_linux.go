package screencast

// #cgo LDFLAGS: -ldl -lpthread
// #include <stdlib.h>
// #include "pipewire_linux.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loadable says why pictures cannot be received through PipeWire; nil: they can.
func loadable() error {
	if why := C.pipewire_load(); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}

// A stream is the pictures of one window or monitor. It is safe for concurrent use, but for close.
type stream struct {
	c    *C.stream
	wake *os.File // an eventfd
	news chan struct{}
	done chan struct{}
}

// openStream receives the pictures of a node over a connection to PipeWire, whose descriptor it takes.
func openStream(connection int, node uint32) (*stream, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(connection)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	s := &stream{wake: os.NewFile(uintptr(fd), "pictures"), news: make(chan struct{}, 1), done: make(chan struct{})}
	if s.c = C.stream_open(C.int(connection), C.uint32_t(node), C.int(fd)); s.c == nil {
		_ = s.wake.Close()
		return nil, errors.New("PipeWire takes no connection")
	}
	go s.listen()
	return s, nil
}

// listen hands on that something is new until the stream is closed.
func (s *stream) listen() {
	defer close(s.done)
	var n [8]byte
	for {
		if _, err := s.wake.Read(n[:]); err != nil {
			return
		}
		select {
		case s.news <- struct{}{}:
		default:
		}
	}
}

// count is how many pictures came so far.
func (s *stream) count() uint64 {
	_, _, n := s.size()
	return n
}

func (s *stream) size() (w, h int, count uint64) {
	var cw, ch C.int
	var n C.uint64_t
	C.stream_picture(s.c, &cw, &ch, &n)
	return int(cw), int(ch), uint64(n)
}

// picture copies the newest picture into pix, whose memory it uses where there is enough. There is none before the first.
func (s *stream) picture(pix []byte) (_ []byte, w, h int, ok bool) {
	for range 3 { // it may change its size in between
		w, h, _ = s.size()
		if w == 0 || h == 0 {
			return pix, 0, 0, false
		}
		if size := 4 * w * h; cap(pix) < size {
			pix = make([]byte, size)
		} else {
			pix = pix[:size]
		}
		if C.stream_copy(s.c, (*C.uint8_t)(unsafe.Pointer(&pix[0])), C.int(w), C.int(h)) != 0 {
			return pix, w, h, true
		}
	}
	return pix, 0, 0, false
}

// ended says why no picture comes any more; nil: they do.
func (s *stream) ended() error {
	var why [200]C.char
	if C.stream_ended(s.c, &why[0], C.int(len(why))) == 0 {
		return nil
	}
	return errors.New(C.GoString(&why[0]))
}

func (s *stream) close() {
	C.stream_close(s.c)
	_ = s.wake.Close()
	<-s.done
}
