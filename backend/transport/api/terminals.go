package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"

	"deskbell/backend/human"
	"deskbell/backend/record/term"
)

// TerminalControl is what a page says on the WebSocket of a terminal, besides what is typed.
type TerminalControl struct {
	Type  string `json:"type" enum:"resize,ack"`
	Cols  int    `json:"cols,omitempty" doc:"resize"`
	Rows  int    `json:"rows,omitempty" doc:"resize"`
	Bytes int    `json:"bytes,omitempty" doc:"ack: bytes of output drawn since the last one. No more is sent while 64 KiB are not acknowledged."`
}

type terminalInput struct {
	ID human.OperationID `path:"id" doc:"The operation's id."`
}

func (in *terminalInput) operation() human.OperationID { return in.ID }

type startTerminal struct {
	ID human.OperationID `path:"id" doc:"The operation's id."`
	payload[term.Request]
}

func (in *startTerminal) operation() human.OperationID { return in.ID }

type terminalAnswer = answer[*term.State]

const (
	terminalPath   = "/api/operations/{id}/terminal"
	terminalSocket = terminalPath + "/socket"
)

// isTerminalSocket says whether a path is that of a terminal's WebSocket.
func isTerminalSocket(path string) bool {
	rest, is := strings.CutPrefix(path, "/api/operations/")
	id, is2 := strings.CutSuffix(rest, "/terminal/socket")
	return is && is2 && !strings.Contains(id, "/")
}

func (s *Server) terminals(c catalogue) {
	t := s.deps.Terminals
	add(c, route{http.MethodPost, terminalPath, "startTerminal", "Start the terminal of an operation of kind bash that you have claimed", operators, http.StatusCreated},
		func(ctx context.Context, x *exchange, in *startTerminal) (*terminalAnswer, error) {
			state, err := t.Start(ctx, x.by, in.ID, in.JSON)
			if err != nil {
				return nil, err
			}
			return &terminalAnswer{http.StatusCreated, &state}, nil
		})
	add(c, route{http.MethodGet, terminalPath, "getTerminal", "How the terminal of an operation stands, and what the gatekeeper thinks of the request's commands", operators, 0},
		func(ctx context.Context, x *exchange, in *terminalInput) (*terminalAnswer, error) {
			state, err := t.State(ctx, x.by, in.ID)
			return ok(&state, err)
		})
	add(c, route{http.MethodDelete, terminalPath, "stopTerminal", "End the terminal of an operation, and its recording", operators, 0},
		func(ctx context.Context, x *exchange, in *terminalInput) (*terminalAnswer, error) {
			state, err := t.Stop(ctx, x.by, in.ID)
			return ok(&state, err)
		})
	s.describeTerminal(c)
	s.handler.HandleFunc("GET "+terminalSocket, func(w http.ResponseWriter, r *http.Request) { s.serveTerminal(c, w, r) })
}

// maxTyped bounds one message of a page: a paste, mostly.
const maxTyped = 1 << 20

// Why a terminal's WebSocket ends, beside the session's end.
const (
	terminalEnded = websocket.StatusCode(4000)
	terminalTaken = websocket.StatusCode(4001)
)

// serveTerminal connects a page with a terminal.
func (s *Server) serveTerminal(c catalogue, w http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	id := human.OperationID(r.PathValue("id"))
	err := operators.allows(x.by)
	switch {
	case err != nil:
		s.overstepped(r.Context(), x, id)
	case c.missing != "":
		err = human.Errorf(human.Unavailable, "this Deskbell runs without %s", c.missing)
	default:
		err = upgrades(r)
	}
	var page *term.Connection
	if err == nil {
		page, err = s.deps.Terminals.Connect(r.Context(), x.by, id)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer page.Close()
	s.accept(w, r, x, func(ctx context.Context, cancel context.CancelFunc, conn *websocket.Conn) {
		s.draw(ctx, cancel, conn, x, id, page)
	})
}

// draw sends a page what its terminal prints, until one of them ends.
func (s *Server) draw(ctx context.Context, cancel context.CancelFunc, conn *websocket.Conn, x *exchange, id human.OperationID, page *term.Connection) {
	conn.SetReadLimit(maxTyped)
	k := &socket{Server: s, conn: conn, wire: ctx, x: x, cancel: cancel}
	s.work.Go(func() { k.keepAlive(ctx) })
	s.work.Go(func() {
		defer cancel()
		k.typed(ctx, page)
	})
	for {
		output, event, more := page.Next(ctx)
		if !more {
			break
		}
		var err error
		if event != nil {
			err = k.send(event)
		} else {
			wire, done := context.WithTimeout(ctx, writeTime)
			err = conn.Write(wire, websocket.MessageBinary, output)
			done()
		}
		if err != nil {
			break
		}
	}
	status, reason := terminalEnded, "the terminal has ended"
	if state, err := s.deps.Terminals.State(s.ctx, x.by, id); err == nil && state.Running {
		status, reason = terminalTaken, "another page has taken the terminal"
	}
	if s.ctx.Err() != nil {
		status, reason = websocket.StatusGoingAway, "Deskbell is shutting down"
	}
	_ = conn.Close(status, reason) // a page that has gone needs no farewell
}

// typed passes on what a page sends, until it says no more.
func (k *socket) typed(ctx context.Context, page *term.Connection) {
	for {
		kind, data, err := k.conn.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageBinary {
			page.Write(data)
			continue
		}
		var control TerminalControl
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err = d.Decode(&control); err == nil {
			switch control.Type {
			case "resize":
				err = page.Resize(control.Cols, control.Rows)
			case "ack":
				err = page.Ack(control.Bytes)
			default:
				err = human.BadField("type", "%q is not one of resize, ack", human.OneLine(control.Type, 40))
			}
		}
		if err != nil {
			_ = k.conn.Close(websocket.StatusPolicyViolation, human.Shorten(human.SafeText(err), 100))
			return
		}
	}
}

// describeTerminal puts the WebSocket of terminals and its messages into the description.
func (s *Server) describeTerminal(c catalogue) {
	o := c.api.OpenAPI()
	for _, t := range []reflect.Type{reflect.TypeFor[term.Event](), reflect.TypeFor[TerminalControl]()} {
		o.Components.Schemas.Schema(t, true, "")
	}
	o.AddOperation(&huma.Operation{
		OperationID: "useTerminal", Method: http.MethodGet, Path: terminalSocket, Summary: "Use the terminal of an operation over a WebSocket", Tags: []string{"operations"},
		Description: "For: operator. Binary messages are bytes: output one way, the last of it first, what is typed the other way. Text messages are TerminalEvent one way, " +
			"TerminalControl the other. One page has a terminal at a time; one that it is taken from is closed with 4001, one whose terminal ended with 4000.",
		Parameters: []*huma.Param{{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses:  map[string]*huma.Response{"101": {Description: "A WebSocket."}, "default": c.problem},
	})
}
