package small

import (
	"encoding/json"
	"strings"

	"deskbell/backend/human"
)

// Problem reads a problem document (RFC 9457), the answer with an HTTP status, as the error it tells of.
func Problem(status int, data []byte) error {
	var p struct {
		Detail string
		Kind   string
		Errors []struct{ Location string }
	}
	if json.Unmarshal(data, &p) != nil || p.Detail == "" {
		kind := human.Invalid
		switch {
		case status >= 502 && status <= 504:
			kind = human.Unavailable
		case status >= 500:
			kind = human.Internal
		}
		return human.Errorf(kind, "something that is not Deskbell answered with %d", status)
	}
	e := &human.Error{Kind: kindOf(p.Kind), Msg: p.Detail}
	if len(p.Errors) > 0 {
		_, e.Field, _ = strings.Cut(p.Errors[0].Location, ".")
	}
	return e
}

func kindOf(name string) human.ErrorKind {
	switch name {
	case "not_found":
		return human.NotFound
	case "conflict":
		return human.Conflict
	case "denied":
		return human.Denied
	case "exhausted":
		return human.Exhausted
	case "internal":
		return human.Internal
	case "unavailable":
		return human.Unavailable
	case "unauthorized":
		return human.Unauthorized
	}
	return human.Invalid
}
