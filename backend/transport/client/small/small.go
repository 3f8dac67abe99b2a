// Package small calls Deskbell's API for a program that is started for every call of a tool. It speaks HTTP/1.0 itself: with
// net/http such a program takes a fifth to a third longer from its start to its answer, and is half as large again.
package small

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/human"
)

const (
	dialTime   = 2 * time.Second
	mostAnswer = 16 << 20 // bytes
)

// ErrNobody is in the error of a call that reached no server.
var ErrNobody = errors.New("no server listens there")

// Socket is the path of the Unix socket that an address names, such as unix:/home/me/deskbell.sock.
func Socket(address string) (path string, is bool) { return strings.CutPrefix(address, "unix:") }

// Post posts JSON to a path of the server at url, such as http://127.0.0.1:7717 or a Socket, with a key, and returns the answer. Its
// errors are of package human, Unavailable where no whole answer came. What the server itself says is never Unavailable: it
// is there.
func Post(ctx context.Context, url, key, path string, body []byte) ([]byte, error) {
	network, address := "tcp", "localhost"
	target, is := Socket(url)
	if is {
		network = "unix"
	} else {
		var plain bool
		if address, plain = strings.CutPrefix(strings.TrimRight(url, "/"), "http://"); !plain || strings.ContainsAny(address, "/ \r\n") {
			return nil, human.Errorf(human.Unavailable, "Deskbell listens on %q, which its hook cannot call", url)
		}
		target = address
		if _, _, err := net.SplitHostPort(address); err != nil {
			target = net.JoinHostPort(strings.Trim(address, "[]"), "80")
		}
	}
	dialer := net.Dialer{Timeout: dialTime, KeepAlive: -1}
	conn, err := dialer.DialContext(ctx, network, target)
	if err != nil {
		if ctx.Err() != nil {
			return nil, human.Wrap(human.Unavailable, err, "Deskbell at %s did not answer in time", url)
		}
		return nil, errors.Join(human.Wrap(human.Unavailable, err, "no Deskbell answers at %s", url), ErrNobody)
	}
	defer conn.Close() //nolint:errcheck // what counts was read
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	// In HTTP/1.0 the end of the connection is the end of the answer.
	head := "POST " + path + " HTTP/1.0\r\nHost: " + address + "\r\nAuthorization: Bearer " + key + "\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
	_, sendErr := conn.Write(append([]byte(head), body...))
	status, answer, err := readAnswer(conn)
	if err != nil { // else the server may have answered before it had read everything
		return nil, human.Wrap(human.Unavailable, errors.Join(sendErr, err), "Deskbell at %s stopped before it answered (a question that it had begun to ask by then is kept, and is there again when Deskbell runs)", url)
	}
	if status < 300 {
		return answer, nil
	}
	err = Problem(status, answer)
	if human.KindOf(err) == human.Unavailable {
		return nil, human.Errorf(human.Internal, "%s", human.SafeText(err))
	}
	return nil, err
}

// readAnswer reads a whole answer.
func readAnswer(conn io.Reader) (status int, body []byte, err error) {
	r := bufio.NewReaderSize(io.LimitReader(conn, mostAnswer), 8<<10)
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, nil, err
	}
	if parts := strings.Fields(line); len(parts) >= 2 && strings.HasPrefix(parts[0], "HTTP/1.") {
		status, err = strconv.Atoi(parts[1])
	}
	if status < 200 || err != nil {
		return 0, nil, fmt.Errorf("it answers %q", line)
	}
	length := -1
	for {
		if line, err = r.ReadString('\n'); err != nil {
			return 0, nil, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return 0, nil, err
			}
		}
	}
	body, err = io.ReadAll(r)
	if err == nil && length >= 0 && len(body) != length {
		err = io.ErrUnexpectedEOF
	}
	return status, body, err
}
