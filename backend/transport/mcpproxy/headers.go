package mcpproxy

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// nameInHeaders says in a request's headers what its body says, as the newer protocol wants it of a client: the method,
// the name, and those arguments for which the tool's schema names a header.
func nameInHeaders(h http.Header, m message, about func(string) tool) {
	for name := range h {
		if name == "Mcp-Method" || name == "Mcp-Name" || strings.HasPrefix(name, "Mcp-Param-") {
			h.Del(name)
		}
	}
	h.Set("Mcp-Method", m.method)
	var p struct {
		Name, URI *string
		Arguments json.RawMessage
	}
	if json.Unmarshal(m.params, &p) != nil {
		return
	}
	switch m.method {
	case callMethod, "prompts/get":
		if p.Name != nil {
			h.Set("Mcp-Name", headerText(*p.Name))
		}
	case "resources/read":
		if p.URI != nil {
			h.Set("Mcp-Name", headerText(*p.URI))
		}
	}
	if m.method == callMethod && p.Name != nil {
		argumentsInHeaders(h, about(*p.Name).schema, p.Arguments)
	}
}

// argumentsInHeaders goes through a schema's properties, with the arguments that belong to them.
func argumentsInHeaders(h http.Header, schema, args json.RawMessage) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var values map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil || json.Unmarshal(args, &values) != nil {
		return
	}
	for name, property := range s.Properties {
		value, ok := values[name]
		if !ok {
			continue
		}
		var p struct {
			Header string `json:"x-mcp-header"`
		}
		if json.Unmarshal(property, &p) == nil && p.Header != "" {
			if text, ok := headerValue(value); ok {
				h.Set("Mcp-Param-"+p.Header, text)
			}
		}
		argumentsInHeaders(h, property, value)
	}
}

// headerValue is a text, a truth value or a whole number as a header has it.
func headerValue(raw json.RawMessage) (string, bool) {
	switch raw[0] {
	case '"':
		return headerText(stringOf(raw)), true
	case 't', 'f':
		return string(raw), true
	case 'n', '{', '[':
		return "", false
	}
	const safe = 1<<53 - 1 // what every reader of JSON has as a whole number
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != float64(int64(f)) || f > safe || f < -safe {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// headerText is a text in a header: as it is, or in base64 where a header would change it.
func headerText(s string) string {
	wrapped := strings.HasPrefix(s, "=?base64?") && strings.HasSuffix(s, "?=")
	plain := s == strings.TrimSpace(s) && !wrapped
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= 0x20 && s[i] < 0x7f
	}
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}
