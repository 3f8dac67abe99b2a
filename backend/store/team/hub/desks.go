package hub

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// NATS' permissions say what a desk may publish, and nothing about where it has the server publish for it: a message that a desk
// stored comes back to the subject that the desk names for the answer, which may be another desk's, or a key that only leads change. So
// the desks' connections come in here. Every subject for answers has to be an inbox, which no stream stores. Nor do permissions say what a
// header does: one deletes all that is in a bucket.

// inbox is what all subjects for answers begin with (team.Inbox).
const inbox = "_INBOX."

// lastWords is how long a desk may take to read why its connection ends.
const lastWords = 5 * time.Second

// Limits of what is read at once, in bytes.
const (
	maxLine = 16 << 10
	maxLook = 64 << 10 // headers, and requests for consumers
)

// admit takes the desks' connections until ctx ends, and waits for their end.
func (h *Hub) admit(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	defer context.AfterFunc(ctx, func() { _ = h.desks.Close() })()
	for {
		conn, err := h.desks.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			h.o.Log.Warn("a connection was not taken", "err", err)
			select { // such as without a file descriptor left
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		all.Go(func() {
			if err := h.connect(ctx, conn.(*tls.Conn)); err != nil && ctx.Err() == nil {
				h.o.Log.Warn("a desk's connection was ended", "from", conn.RemoteAddr().String(), "err", err)
			}
		})
	}
}

// connect passes between a desk and the server until one of them ends, or ctx.
func (h *Hub) connect(ctx context.Context, desk *tls.Conn) error {
	defer func() { _ = desk.Close() }()
	shake, cancel := context.WithTimeout(ctx, 10*time.Second)
	err := desk.HandshakeContext(shake)
	cancel()
	if err != nil {
		h.o.Log.Debug("a connection has no TLS", "from", desk.RemoteAddr().String(), "err", err)
		return nil
	}
	inside, err := h.server.InProcessConn()
	if err != nil {
		return err
	}
	end := func() { _ = errors.Join(inside.Close(), desk.Close()) }
	defer context.AfterFunc(ctx, end)()
	var answers sync.WaitGroup
	answers.Go(func() {
		_, _ = io.Copy(desk, inside) // either has gone
		end()
	})
	err = pass(inside, bufio.NewReaderSize(desk, maxLine))
	_ = inside.Close()
	_ = desk.SetWriteDeadline(time.Now().Add(lastWords)) // the server may have said why, such as that it was removed
	answers.Wait()
	var lost net.Error
	if errors.As(err, &lost) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// pass hands on what a desk sends until it ends or does what none may. What the server gets is written here, operation by operation, so
// that it reads nothing else than was checked.
func pass(to io.Writer, desk *bufio.Reader) error {
	out := bufio.NewWriterSize(to, 64<<10)
	for {
		if desk.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		line, err := desk.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
		if bytes.IndexByte(line, '\r') >= 0 {
			return errors.New("a line has no proper end")
		}
		op, rest, _ := bytes.Cut(line, []byte(" "))
		switch string(op) {
		case "PUB", "HPUB":
			if err := passMessage(out, desk, string(op), bytes.Fields(rest)); err != nil {
				return err
			}
		case "CONNECT", "PING", "PONG", "SUB", "UNSUB":
			_, _ = out.Write(line) // Flush has the error
			_, _ = out.WriteString("\r\n")
		default:
			return fmt.Errorf("%.20q is no operation of a desk", op)
		}
	}
}

// passMessage hands on a message: its subject, perhaps where the answer goes, of an HPUB the size of its headers, and its whole size.
func passMessage(out *bufio.Writer, desk *bufio.Reader, op string, args [][]byte) error {
	sizes := len(op) - len("PUB") + 1
	if n := len(args) - sizes; n != 1 && n != 2 {
		return errors.New("a message has not what it needs")
	}
	if reply := args[1]; len(args) == sizes+2 && !bytes.HasPrefix(reply, []byte(inbox)) {
		return fmt.Errorf("an answer is to go to %.100q, which is no inbox", reply)
	}
	size, err := strconv.ParseUint(string(args[len(args)-1]), 10, 31)
	if err != nil || size > maxPayload {
		return errors.New("a message is too large")
	}
	subject := args[0]
	asks := bytes.HasPrefix(subject, []byte("$JS.API.CONSUMER.CREATE.")) || bytes.HasPrefix(subject, []byte("$JS.API.CONSUMER.DURABLE."))
	headers, err := strconv.ParseUint(string(args[len(args)-sizes]), 10, 31)
	if err != nil || headers > size {
		return errors.New("a message has no proper size")
	}
	if op == "PUB" {
		headers = 0
	}
	_, _ = out.WriteString(op) // Flush has the error
	for _, arg := range args {
		_ = out.WriteByte(' ')
		_, _ = out.Write(arg)
	}
	_, _ = out.WriteString("\r\n")
	look := headers
	if asks {
		look = size
	}
	if look > maxLook {
		return errors.New("headers, or a request for a consumer, are too large")
	}
	head := make([]byte, look)
	if _, err := io.ReadFull(desk, head); err != nil {
		return err
	}
	if err := checkHeaders(head[:headers]); err != nil {
		return err
	}
	if asks {
		if err := checkConsumer(head[headers:]); err != nil {
			return err
		}
	}
	_, _ = out.Write(head)
	if _, err := io.CopyN(out, desk, int64(size-look)); err != nil {
		return err
	}
	var end [2]byte
	if _, err := io.ReadFull(desk, end[:]); err != nil {
		return err
	}
	if string(end[:]) != "\r\n" {
		return errors.New("a message has no proper end")
	}
	_, err = out.Write(end[:])
	return err
}

// checkHeaders lets a value take the place of those before it under the same key, as NATS' clients have it, and not of a whole bucket.
func checkHeaders(headers []byte) error {
	rest := bytes.ToLower(headers)
	for {
		_, after, found := bytes.Cut(rest, []byte("nats-rollup"))
		if !found {
			return nil
		}
		value, _, _ := bytes.Cut(after, []byte("\r\n"))
		if value = bytes.TrimLeft(value, ": "); string(value) != "sub" {
			return errors.New("a message is to take the place of a whole bucket")
		}
		rest = after
	}
}

// checkConsumer reads a request for a consumer as the server does: one that is pushed goes to an inbox.
func checkConsumer(body []byte) error {
	var q server.CreateConsumerRequest
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return fmt.Errorf("a request for a consumer cannot be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) { // the server would read a second value over the first
		return errors.New("a request for a consumer has more than one value")
	}
	if to := q.Config.DeliverSubject; to != "" && !bytes.HasPrefix([]byte(to), []byte(inbox)) {
		return fmt.Errorf("a consumer is to push to %.100q, which is no inbox", to)
	}
	return nil
}
