package agent

import (
	"errors"

	"deskbell/backend/human"
)

// An Order is a line that a host writes to a process of an agent: a message to answer, or one to answer no more.
type Order struct {
	N       int     `json:"n"`
	Message Message `json:"message,omitzero"`
	Cancel  bool    `json:"cancel,omitempty"` // of the order N
}

// A Return is a line that the process writes back: first one without N, once it can take orders, then one for each order.
type Return struct {
	N        int       `json:"n,omitempty"`
	Response *Response `json:"response,omitempty"`
	Error    *Fault    `json:"error,omitempty"`

	Gone bool `json:"-"` // the process has ended without an answer
}

// A Fault is a human.Error without its cause.
type Fault struct {
	Kind  human.ErrorKind `json:"kind"`
	Field string          `json:"field,omitempty"`
	Msg   string          `json:"message"`
	Said  human.Sentence  `json:"said"`
}

// FaultOf is what an error says.
func FaultOf(err error) *Fault {
	var e *human.Error
	if !errors.As(err, &e) {
		e = human.Wrap(human.Internal, err, "the agent failed; see Deskbell's log")
	}
	return &Fault{e.Kind, e.Field, e.Msg, e.Said}
}

// Err is the fault as an error.
func (f Fault) Err() error {
	return &human.Error{Kind: f.Kind, Field: f.Field, Msg: f.Msg, Said: f.Said}
}
