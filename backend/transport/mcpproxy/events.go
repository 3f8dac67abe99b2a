package mcpproxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// An event is one of a stream of server-sent events.
type event struct {
	kind, id string
	data     []byte
	retry    time.Duration // how long to wait before coming back, where the server says so
	seen     bool          // it has an id
}

// events reads a stream of server-sent events.
type events struct{ *bufio.Reader }

func newEvents(r io.Reader) events { return events{bufio.NewReaderSize(r, 64<<10)} }

// next returns the next event; io.EOF at the end, where what is not whole does not count.
func (s events) next() (event, error) {
	var e event
	some, data := false, [][]byte(nil)
	size := 0
	for {
		line, err := s.line()
		if err != nil {
			return e, err
		}
		if size += len(line); size > maxMessage {
			return e, errTooLong
		}
		if len(line) == 0 {
			if some {
				e.data = bytes.Join(data, []byte("\n"))
				return e, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		some = some || len(name) > 0
		switch string(name) {
		case "event":
			e.kind = string(value)
		case "data":
			data = append(data, value)
		case "id":
			e.id, e.seen = string(value), true
		case "retry":
			if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 {
				e.retry = time.Duration(min(ms, 60_000)) * time.Millisecond
			}
		}
	}
}

// line returns the next line without its end, which is LF, CR LF or CR.
func (s events) line() ([]byte, error) {
	var line []byte
	for {
		part, err := s.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxMessage {
			return nil, errTooLong
		}
		if err == nil {
			return bytes.TrimRight(line, "\r\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// write is an event with a message, which has no line ends.
func asEvent(message []byte) []byte {
	out := make([]byte, 0, len(message)+32)
	out = append(out, "event: message\ndata: "...)
	out = append(out, message...)
	return append(out, "\n\n"...)
}
