package mcpproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// JSON-RPC's own error codes, and ours for a server that cannot be reached and a call that is refused and was to become a
// task.
const (
	parseError     = -32700
	invalidRequest = -32600
	invalidParams  = -32602
	internalError  = -32603
	unreachable    = -32000
	refusedTask    = -32000
)

const (
	callMethod = "tools/call"
	versionKey = "io.modelcontextprotocol/protocolVersion"
)

// A message is one JSON-RPC message, or a batch of them, as it came.
type message struct {
	raw    []byte    // without the end of its line
	end    []byte    // of its line, where it came in one
	batch  []message // nil where it is no batch
	method string    // empty for answers
	id     json.RawMessage
	params json.RawMessage
	call   *call // of a tools/call that can be judged
	err    *malformed
}

// A call is what a message of tools/call asks for.
type call struct {
	name     string
	args     json.RawMessage // nil where there are none
	from, to int             // of the arguments in message.raw; equal where there are none, and then where they would go
	comma    bool            // the place where they would go needs one after it
	state    json.RawMessage // of a call that goes on after the server asked for input
	modern   bool            // of protocol version 2026-07-28 or later
	task     bool            // its client waits for a task, and takes no result
}

// malformed says why a message is not let through; it is for the client.
type malformed struct {
	code int
	text string
}

// isRequest says whether an answer is due.
func (m message) isRequest() bool { return m.method != "" && m.id != nil }

// args are those of a call, nil where there are none or it is no call.
func (m message) args() json.RawMessage {
	if m.call == nil {
		return nil
	}
	return m.call.args
}

// token is that of a request's progress; nil where the client takes none.
func (m message) token() json.RawMessage {
	from, to, ok := within(m.params, "_meta", "progressToken")
	if !ok || m.params[from] != '"' && m.params[from] != '-' && (m.params[from] < '0' || m.params[from] > '9') {
		return nil
	}
	return m.params[from:to]
}

// clientName is what a client calls itself, in initialize or, of the newer protocol, in each request; empty where it does not.
func clientName(m message) string {
	for _, path := range [][]string{{"clientInfo", "name"}, {"_meta", "io.modelcontextprotocol/clientInfo", "name"}} {
		if from, to, ok := within(m.params, path...); ok && m.isRequest() {
			return stringOf(m.params[from:to])
		}
	}
	return ""
}

// requests are the keys of the ids of those that it is or holds.
func (m message) requests() (ids []string) {
	for _, one := range append([]message{m}, m.batch...) {
		if one.isRequest() {
			ids = append(ids, key(one.id))
		}
	}
	return ids
}

// gated says whether it is, or holds, a call that is to be judged or blocked.
func (m message) gated() bool {
	if m.err != nil || m.call != nil {
		return true
	}
	for _, one := range m.batch {
		if one.gated() {
			return true
		}
	}
	return false
}

// read reads what a client sent, a line or the body of a request. What a server might read as something else than we do is
// malformed: then nothing of it is let through. raw is kept.
func read(raw []byte) message {
	m := message{raw: raw}
	text := bytes.TrimSpace(raw)
	if len(text) == 0 {
		return m
	}
	switch {
	case !utf8.Valid(raw):
		m.err = &malformed{parseError, "this is not UTF-8"}
		return m
	case !json.Valid(raw):
		m.err = &malformed{parseError, "this is not one JSON value"}
		return m
	}
	switch text[0] {
	case '{':
		m.object(space(raw, 0))
	case '[':
		m.batch = []message{}
		for _, v := range elements(text) {
			one := message{raw: text[v.from:v.to]}
			switch one.raw[0] {
			case '{':
				one.object(0)
			case '[':
				m.err = &malformed{invalidRequest, "a batch within a batch is not let through"}
			}
			m.batch = append(m.batch, one)
		}
	}
	return m
}

// object reads the valid JSON object that begins at a place in the message's bytes.
func (m *message) object(at int) {
	text := m.raw[at:]
	all := members(text)
	calls, params := false, 0
	for _, f := range all {
		value := text[f.from:f.to]
		if fold(f.key) == "method" {
			calls = calls || stringOf(value) == callMethod
		}
		switch f.key {
		case "method":
			m.method = stringOf(value)
		case "id":
			m.id = value
		case "params":
			m.params, params = value, at+f.from
		}
	}
	if !calls {
		return
	}
	// From here on it is a call, or looks like one to a server.
	if err := distinct(all, "jsonrpc", "id", "method", "params"); err != nil {
		m.id = idOf(all, text)
		m.refuse(invalidRequest, err.Error())
		return
	}
	if len(m.id) == 0 || m.id[0] != '"' && m.id[0] != '-' && (m.id[0] < '0' || m.id[0] > '9') {
		m.id = nil
		m.refuse(invalidRequest, "a call must have an id that is a text or a number")
		return
	}
	if len(m.params) == 0 || m.params[0] != '{' {
		m.refuse(invalidParams, "a call must have params")
		return
	}
	if c, err := readCall(m.params, params); err != nil {
		m.refuse(invalidParams, err.Error())
	} else {
		m.call = c
	}
}

func (m *message) refuse(code int, text string) { m.err = &malformed{code, text} }

// readCall reads the params of a call, which begin at a place in its message.
func readCall(params []byte, at int) (*call, error) {
	all := members(params)
	if err := distinct(all, "name", "arguments", "_meta"); err != nil {
		return nil, err
	}
	c := &call{from: at + 1, to: at + 1, comma: len(all) > 0}
	named := false
	for _, f := range all {
		value := params[f.from:f.to]
		switch f.key {
		case "name":
			if value[0] != '"' {
				return nil, fmt.Errorf("a tool's name must be a text")
			}
			c.name, named = stringOf(value), true
		case "arguments":
			if string(value) == "null" {
				c.from, c.to = at+f.from, at+f.to
				continue
			}
			if value[0] != '{' {
				return nil, fmt.Errorf("a call's arguments must be an object")
			}
			if err := distinct(members(value)); err != nil {
				return nil, err
			}
			if key, is := twin(value); is {
				return nil, fmt.Errorf("%q stands there twice", key)
			}
			c.args, c.from, c.to = value, at+f.from, at+f.to
		case "requestState":
			c.state = value
		case "task":
			c.task = true
		case "_meta":
			if value[0] != '{' {
				continue
			}
			for _, f := range members(value) {
				c.modern = c.modern || f.key == versionKey
			}
		}
	}
	if !named || c.name == "" {
		return nil, fmt.Errorf("a call must name its tool")
	}
	return c, nil
}

// withArgs is the message with other arguments, and all else as it was.
func (m message) withArgs(args json.RawMessage) []byte {
	c := m.call
	put := []byte(args)
	if c.from == c.to {
		put = append([]byte(`"arguments":`), args...)
		if c.comma {
			put = append(put, ',')
		}
	}
	out := make([]byte, 0, len(m.raw)+len(put))
	out = append(out, m.raw[:c.from]...)
	out = append(out, put...)
	return append(out, m.raw[c.to:]...)
}

// within is where the value stands that a path of keys leads to in a valid JSON object; false where there is none.
func within(raw []byte, path ...string) (from, to int, ok bool) {
	from, to = space(raw, 0), len(raw)
next:
	for _, name := range path {
		if from == to || raw[from] != '{' {
			return 0, 0, false
		}
		for _, f := range members(raw[from:to]) {
			if f.key == name {
				from, to = from+f.from, from+f.to
				continue next
			}
		}
		return 0, 0, false
	}
	return from, to, true
}

// with is valid JSON with another value at a path, which must be there, and all else as it was.
func with(raw []byte, value []byte, path ...string) []byte {
	from, to, ok := within(raw, path...)
	if !ok {
		return raw
	}
	return slices.Concat(raw[:from], value, raw[to:])
}

// key is what an id is known by: a text and a number are never the same.
func key(id json.RawMessage) string {
	if len(id) > 0 && id[0] == '"' {
		return `"` + stringOf(id)
	}
	if bytes.ContainsAny(id, ".eE") {
		if f, err := strconv.ParseFloat(string(id), 64); err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64) // 1.0 is 1
		}
	}
	return string(id)
}

// cancels is the id of the request that a notification cancels, nil for other messages.
func (m message) cancels() json.RawMessage {
	if m.method != "notifications/cancelled" || len(m.params) == 0 || m.params[0] != '{' {
		return nil
	}
	for _, f := range members(m.params) {
		if f.key == "requestId" {
			return json.RawMessage(m.params[f.from:f.to])
		}
	}
	return nil
}

// A member is a part of a JSON object or array, by where its value stands.
type member struct {
	key      string
	from, to int
}

// members are those of a valid JSON object that begins at raw's first byte, in order, twins and all.
func members(raw []byte) (all []member) {
	i := space(raw, 1)
	for i < len(raw) && raw[i] == '"' {
		end := value(raw, i)
		m := member{key: stringOf(raw[i:end])}
		m.from = space(raw, space(raw, end)+1) // past the colon
		m.to = value(raw, m.from)
		all = append(all, m)
		if i = space(raw, m.to); i < len(raw) && raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
	return all
}

// elements are those of a valid JSON array that begins at raw's first byte.
func elements(raw []byte) (all []member) {
	for i := space(raw, 1); i < len(raw) && raw[i] != ']'; {
		m := member{from: i, to: value(raw, i)}
		all = append(all, m)
		if i = space(raw, m.to); i < len(raw) && raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
	return all
}

func space(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\r' || raw[i] == '\n') {
		i++
	}
	return i
}

// value is where the value of valid JSON that begins at i ends.
func value(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i // the end of what a number or a word stands in
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// stringOf is a JSON text's value; empty where it is none.
func stringOf(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// idOf is the id of a message that is blocked, where there is no doubt about it.
func idOf(all []member, raw []byte) (id json.RawMessage) {
	for _, f := range all {
		if fold(f.key) != "id" {
			continue
		}
		if id != nil || f.key != "id" {
			return nil
		}
		id = raw[f.from:f.to]
	}
	if len(id) > 0 && (id[0] == '{' || id[0] == '[') {
		return nil
	}
	return id
}

// distinct says what is wrong where two keys differ in case only, which are one to many servers written in Go, or where
// one of the known keys is written in another case.
func distinct(all []member, known ...string) error {
	seen := make(map[string]bool, len(all))
	for _, f := range all {
		folded := fold(f.key)
		if seen[folded] {
			return fmt.Errorf("%q stands there twice", f.key)
		}
		seen[folded] = true
		for _, k := range known {
			if f.key != k && folded == fold(k) {
				return fmt.Errorf("%q must be written %q", f.key, k)
			}
		}
	}
	return nil
}

// fold is the one of all texts that differ in case only.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return unicode.ToLower(least)
	}, s)
}

// twin finds a key that an object in valid JSON has twice, at any depth.
func twin(raw []byte) (string, bool) {
	var within []map[string]bool // the objects around the place, nil for arrays
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{':
			within = append(within, map[string]bool{})
		case '[':
			within = append(within, nil)
		case '}', ']':
			within = within[:len(within)-1]
		case '"':
			end := value(raw, i)
			if after := space(raw, end); after < len(raw) && raw[after] == ':' {
				keys, key := within[len(within)-1], stringOf(raw[i:end])
				if keys[key] {
					return key, true
				}
				keys[key] = true
			}
			i = end - 1
		}
	}
	return "", false
}

// An answer's parts, in the order they are written.
type (
	rpcError struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	textContent struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	callResult struct {
		ResultType string        `json:"resultType,omitempty"`
		Content    []textContent `json:"content"`
		IsError    bool          `json:"isError"`
	}
	answer struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  *callResult     `json:"result,omitempty"`
		Error   *rpcError       `json:"error,omitempty"`
	}
	progress struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Message  string          `json:"message"`
	}
	notification struct {
		JSONRPC string   `json:"jsonrpc"`
		Method  string   `json:"method"`
		Params  progress `json:"params"`
	}
)

// plain is v as a line of JSON, without its end and without escapes for HTML.
func plain(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only our own types come here
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func failure(id json.RawMessage, code int, text string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	return plain(answer{JSONRPC: "2.0", ID: id, Error: &rpcError{code, text}})
}

// blockedReply answers a call in a way that the model reads.
func blockedReply(m message, text string) []byte {
	if m.call.task {
		return failure(m.id, refusedTask, text)
	}
	r := &callResult{Content: []textContent{{"text", text}}, IsError: true}
	if m.call.modern {
		r.ResultType = "complete"
	}
	return plain(answer{JSONRPC: "2.0", ID: m.id, Result: r})
}
