package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"deskbell/backend/human"
	"deskbell/backend/transport/client/small"
)

// FromNow follows only what is still to come.
const FromNow uint64 = math.MaxUint64

const (
	dialTime = 10 * time.Second
	silence  = 90 * time.Second // of a connection that has broken: the server pings more often
)

// event is an event on the wire.
type event struct {
	Seq         uint64            `json:"seq"`
	Type        human.EventType   `json:"type"`
	At          time.Time         `json:"at"`
	OperationID human.OperationID `json:"operation_id"`
	Version     uint64            `json:"version"`
	By          human.Actor       `json:"by"`
	Data        struct {
		Request *human.Request `json:"request"`
		Text    string         `json:"text"`
		Answer  *human.Answer  `json:"answer"`
		Channel string         `json:"channel"`
		Until   *time.Time     `json:"until"`

		Recording human.RecordingID `json:"recording"`
	} `json:"data"`
}

func (e event) entry() human.Entry {
	return human.Entry{Seq: e.Seq, ID: e.OperationID, Version: e.Version, Event: human.Event{
		Type: e.Type, At: e.At, By: e.By, Request: e.Data.Request, Text: e.Data.Text, Answer: e.Data.Answer, Channel: e.Data.Channel, Until: e.Data.Until,
		Recording: e.Data.Recording,
	}}
}

// Follow yields every event after a seq, those stored and then those to come, in order and without loss.
// A broken connection is made again, from the last event on; only what cannot get better by itself (a
// revoked key, a seq this server never had) is an error, and ends it. It ends without one when ctx does.
func (c *Client) Follow(ctx context.Context, after uint64) iter.Seq2[human.Entry, error] {
	return func(yield func(human.Entry, error) bool) {
		var pause Backoff
		for ctx.Err() == nil {
			more, err := c.follow(ctx, &after, func(e human.Entry) bool {
				pause.Reset()
				return yield(e, nil)
			})
			if !more || ctx.Err() != nil {
				return
			}
			if kind := human.KindOf(err); err != nil && kind != human.Unavailable && kind != human.Internal && kind != human.Exhausted {
				yield(human.Entry{}, err)
				return
			}
			pause.Wait(ctx)
		}
	}
}

// follow reads one connection until it breaks. more is false when yield wants no more.
func (c *Client) follow(ctx context.Context, after *uint64, yield func(human.Entry) bool) (more bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dead := time.AfterFunc(silence, cancel)
	defer dead.Stop()
	at, err := c.server()
	if err != nil {
		return true, err
	}
	conn, err := c.dial(ctx, at, *after, func(context.Context, []byte) bool { dead.Reset(silence); return true })
	if err != nil {
		return true, err
	}
	defer conn.CloseNow() //nolint:errcheck // it may have broken already
	conn.SetReadLimit(maxBytes)
	for {
		_, data, err := conn.Read(ctx)
		dead.Reset(silence)
		if err != nil {
			return true, human.Wrap(human.Unavailable, err, "the connection to %s broke", at)
		}
		var kind struct{ Type string }
		if err := json.Unmarshal(data, &kind); err != nil {
			return true, human.Wrap(human.Internal, err, "%s sent what is not JSON", at)
		}
		switch kind.Type {
		case "human_invocation", "presence", "recording", "recording_gone", "session", "summary", "attempt":
			continue
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			return true, human.Wrap(human.Internal, err, "%s sent an event this version does not know", at)
		}
		if kind.Type == "hello" {
			if *after == FromNow {
				*after = e.Seq
			}
			continue
		}
		*after = e.Seq
		if !yield(e.entry()) {
			_ = conn.Close(websocket.StatusNormalClosure, "") // the server notices either way
			return false, nil
		}
	}
}

func (c *Client) dial(ctx context.Context, at string, after uint64, pinged func(context.Context, []byte) bool) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	path := "/api/ws"
	if after != FromNow {
		path += fmt.Sprintf("?after=%d", after)
	}
	begin, host := base(at)
	conn, answer, err := websocket.Dial(ctx, begin+path, &websocket.DialOptions{
		Host: host, HTTPClient: c.http, HTTPHeader: http.Header{"Authorization": {"Bearer " + c.token}}, Subprotocols: []string{"deskbell"},
		OnPingReceived: pinged,
	})
	if err == nil {
		return conn, nil
	}
	if answer == nil || answer.StatusCode < 400 {
		return nil, away(ctx, at, err)
	}
	data, readErr := io.ReadAll(answer.Body)
	if readErr != nil {
		return nil, away(ctx, at, readErr)
	}
	return nil, small.Problem(answer.StatusCode, data)
}
