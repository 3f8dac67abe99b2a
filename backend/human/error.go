package human

import "errors"

// ErrorKind is what a face needs to pick a status; the zero ErrorKind is a bug in ours.
type ErrorKind uint8

// The kinds of errors. Transports map them to HTTP statuses, JSON-RPC codes and exit codes.
const (
	_            ErrorKind = iota
	Invalid                // the request itself is wrong; sending it again changes nothing
	NotFound               // no such thing, or not the caller's
	Conflict               // the thing changed, or ended, before this request came
	Denied                 // the caller may not do this
	Exhausted              // a limit is reached; it says which
	Internal               // our fault, or the machine's (a full disk)
	Unavailable            // not now: shutting down, or switched off in the settings
	Unauthorized           // no key, a wrong one, or a revoked one
)

// An Error is safe to show: Msg is for people and says what, where and what to do; Err stays in the log.
type Error struct {
	Kind  ErrorKind
	Field string // the request's field at fault, in wire spelling, or empty
	Msg   string // in English: what Said says, after the field
	Said  Sentence
	Err   error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Msg + ": " + e.Err.Error()
	}
	return e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error of a kind, whose sentence has a code (Sayf).
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	said := Sayf(format, args...)
	return &Error{Kind: kind, Msg: said.Text, Said: said}
}

// BadField makes an Invalid error that names the field at fault.
func BadField(field, format string, args ...any) *Error {
	e := Errorf(Invalid, format, args...)
	e.Field, e.Msg = field, field+": "+e.Msg
	return e
}

// Wrap makes an Error of a kind around a cause that is for the log, not for the caller.
func Wrap(kind ErrorKind, err error, format string, args ...any) *Error {
	e := Errorf(kind, format, args...)
	e.Err = err
	return e
}

// KindOf returns the kind of the first Error in err's chain; Internal for any other error.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// SafeText returns what may be shown of err: the Msg of the first Error in its chain, or a plain
// sentence that gives nothing away.
func SafeText(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Msg
	}
	return "something went wrong inside Deskbell; its log has the details"
}

// Inner stands for an error among the arguments of another error's format: it is shown as SafeText says it, and clients can
// say it in their own language.
type Inner struct{ Err error }

func (i Inner) String() string { return SafeText(i.Err) }
