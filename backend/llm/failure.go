package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// What ends a request before its time.
var (
	errStalled = errors.New("nothing came for a while")
	errSlow    = errors.New("it took too long")
	errHuge    = errors.New("the answer is too long")
	errCut     = errors.New("the answer broke off")
)

// A failure is a request that brought no answer. It is an error by its status alone until failed gives it words.
type failure struct {
	status  int           // HTTP's
	code    string        // the provider's own word for it
	message string        // the provider's; never shown as it is
	wait    time.Duration // the pause it asks for
	again   bool          // another try may work
	form    bool          // it may be the form of answer that it does not take
	err     *human.Error
}

func (f *failure) Error() string { return "HTTP status " + strconv.Itoa(f.status) }

// failureOf reads an answer with an error status.
func failureOf(status int, h http.Header, body []byte) *failure {
	f := &failure{status: status, wait: waitFor(h)}
	f.code, f.message = errorIn(body)
	f.judge()
	if h.Get("X-Should-Retry") == "false" {
		f.again = false
	}
	return f
}

// failureIn reads an error that came in the middle of an answer, where no status can be sent any more.
func failureIn(data []byte) *failure {
	f := &failure{status: http.StatusInternalServerError}
	f.code, f.message = errorIn(data)
	switch f.code {
	case "overloaded_error":
		f.status = 529
	case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota":
		f.status = http.StatusTooManyRequests
	case "authentication_error", "invalid_api_key":
		f.status = http.StatusUnauthorized
	case "permission_error":
		f.status = http.StatusForbidden
	case "billing_error":
		f.status = http.StatusPaymentRequired
	case "not_found_error":
		f.status = http.StatusNotFound
	case "request_too_large":
		f.status = http.StatusRequestEntityTooLarge
	case "invalid_request_error", "context_length_exceeded":
		f.status = http.StatusBadRequest
	}
	f.judge()
	return f
}

func (f *failure) judge() {
	switch s := f.status; {
	case s == http.StatusTooManyRequests:
		f.again = f.code != "insufficient_quota" && f.code != "billing_error"
	case s == http.StatusRequestTimeout || s == http.StatusConflict:
		f.again = true
	case s == http.StatusNotImplemented:
		f.form = true
	case s >= 500:
		f.again = true
	case s == http.StatusBadRequest || s == http.StatusUnprocessableEntity:
		// Each server words it differently; another form costs one more request that fails fast.
		f.form = true
	}
	if f.long() {
		f.form, f.again = false, false
	}
}

// saysLong is how servers word it that a request is longer than the model takes; only some have a code for it.
var saysLong = regexp.MustCompile(`(?i)prompt is too long|input is too long|maximum context length|range of input length|` +
	`context (length|window|size)[^.]{0,60}exceed|exceed[^.]{0,80}context|too many (input |prompt )?tokens`)

// long says whether the request is longer than the model takes.
func (f *failure) long() bool {
	switch f.status {
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return f.code == "context_length_exceeded" || f.code == "exceed_context_size_error" || saysLong.MatchString(f.message)
	}
	return false
}

// errorIn reads the shapes in which errors come: {"error":{"type":...,"code":...,"message":...}},
// {"error":"..."}, {"message":"..."} and {"detail":...}.
func errorIn(body []byte) (code, message string) {
	var outer struct {
		Error, Message, Detail, Code, Type json.RawMessage
	}
	if json.Unmarshal(body, &outer) != nil {
		return "", ""
	}
	text := func(raws ...json.RawMessage) string {
		for _, raw := range raws {
			var s string
			if json.Unmarshal(raw, &s) == nil && s != "" {
				return s
			}
		}
		return ""
	}
	var inner struct {
		Code, Type, Message json.RawMessage
	}
	if json.Unmarshal(outer.Error, &inner) == nil {
		return text(inner.Code, inner.Type), text(inner.Message)
	}
	return text(outer.Code, outer.Type), text(outer.Error, outer.Message, outer.Detail)
}

// waitFor is the pause a server asks for; 0 for none.
func waitFor(h http.Header) time.Duration {
	const most = 365 * 24 * time.Hour
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, float64(most/time.Millisecond)) * float64(time.Millisecond))
	}
	said := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(said, 64); err == nil && s > 0 {
		return time.Duration(min(s, most.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(said); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// unreachable is the failure of a request that no whole answer came to.
func (m *line) unreachable(err error) *failure {
	host, say := m.info.Host, ""
	f := &failure{again: true}
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.Is(err, errStalled):
		say = fmt.Sprintf("%s stopped in the middle of its answer: nothing came for %d seconds", host, idle/time.Second)
	case errors.Is(err, errSlow):
		f.again = false // it had its time
		say = fmt.Sprintf("%s had not finished its answer after %d minutes", host, longest/time.Minute)
	case errors.Is(err, errCut):
		say = fmt.Sprintf("the connection to %s broke off in the middle of its answer", host)
	case errors.Is(err, errHuge):
		f.again = false
		f.err = human.Errorf(human.Invalid, "%s answered with more than %d MB, the most allowed", host, mostBytes>>20)
	case errors.As(err, &dns):
		say = fmt.Sprintf("there is no machine called %s: check model.base_url and the network", host)
	case errors.As(err, &op) && op.Op == "dial":
		say = fmt.Sprintf("nothing answers at %s: is the server running, and the network there?", host)
	case strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "x509: "): // they have no common type
		f.again = false
		say = fmt.Sprintf("%s cannot prove that it is who it says (%s)", host, clean(tail(err), ""))
	default:
		say = fmt.Sprintf("the connection to %s failed (%s)", host, clean(tail(err), ""))
	}
	if f.err == nil {
		f.err = human.Errorf(human.Unavailable, "%s", say)
	}
	return f
}

// tail is the innermost error's text: the outer ones have addresses.
func tail(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// errorOf returns the message for a failure, by its status.
func (m *line) errorOf(f *failure, key string) *human.Error {
	host, said := m.info.Host, ""
	if text := clean(f.message, key); text != "" {
		said = ": " + text
	}
	switch s := f.status; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		// What it says is left out: some repeat parts of the key.
		return human.Errorf(human.Denied, "%s does not accept the key: set one with access to %s", host, m.info.Name)
	case s == http.StatusPaymentRequired || f.code == "insufficient_quota" || f.code == "billing_error":
		return human.Errorf(human.Exhausted, "the account at %s has no credit left%s", host, said)
	case s == http.StatusTooManyRequests && f.wait > longestWait:
		return human.Errorf(human.Exhausted, "%s accepts no more requests for %s", host, f.wait.Round(time.Second))
	case s == http.StatusTooManyRequests:
		return human.Errorf(human.Exhausted, "%s accepts no more requests for now%s", host, said)
	case s == http.StatusNotFound:
		return human.Errorf(human.Invalid, "%s does not know the model %s, or model.base_url is not its address for requests%s", host, m.info.Name, said)
	case f.long():
		return human.Wrap(human.Exhausted, agent.ErrTooLong, "the request is too long for %s: %s%s", m.info.Name, m.long, said)
	case s >= 300 && s < 400:
		return human.Errorf(human.Invalid, "%s redirects to another address: set model.base_url to that address", host)
	case s == http.StatusOK:
		return human.Errorf(human.Invalid, "%s does not speak the protocol of %s: check model.base_url and model.provider", host, m.info.Provider)
	case s >= 500 && s != http.StatusNotImplemented || f.again:
		return human.Errorf(human.Unavailable, "%s cannot answer now (%d)%s", host, s, said)
	default:
		return human.Errorf(human.Invalid, "%s does not accept the request (%d)%s", host, s, said)
	}
}

// clean makes what a server said fit for a message: one line, short, without the key and without characters that
// show as something else.
func clean(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "•••")
	}
	text = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	return human.OneLine(strings.Join(strings.Fields(text), " "), 200)
}
