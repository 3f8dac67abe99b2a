package browser

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

const (
	maxLine = 4000 // bytes of a line of the console
	maxArgs = 20   // values of one line
)

// addresses are those in a text.
var addresses = regexp.MustCompile(`(?:https?|wss?|ftp)://[^\s"'<>()\[\]{}\x60]+`)

type callStack struct {
	Frames []struct {
		URL  string `json:"url"`
		Line int    `json:"lineNumber"` // from 0
	} `json:"callFrames"`
}

// A consoleValue is a value as DevTools describes it: a string as itself, an object in words.
type consoleValue struct {
	Type        string          `json:"type"`
	Value       json.RawMessage `json:"value"`
	Description string          `json:"description"`
}

func (v consoleValue) String() string {
	var text string
	switch {
	case json.Unmarshal(v.Value, &text) == nil && v.Type == "string":
		return text
	case v.Description != "":
		return v.Description
	case len(v.Value) > 0:
		return string(v.Value)
	}
	return v.Type
}

// A complaint is an error or warning with the execution context it is of, 0 where that is not known, and when it
// was made, in ms since 1970.
type complaint struct {
	line    human.ConsoleLine
	context int64
	at      float64
}

// complains reads an error or warning out of an event; false where it is none.
func complains(method string, params json.RawMessage) (complaint, bool) {
	switch method {
	case "Runtime.exceptionThrown":
		var p struct {
			At      float64 `json:"timestamp"`
			Details struct {
				Context   int64         `json:"executionContextId"`
				Text      string        `json:"text"`
				URL       string        `json:"url"`
				Line      int           `json:"lineNumber"` // from 0
				Exception *consoleValue `json:"exception"`
				Stack     *callStack    `json:"stackTrace"`
			} `json:"exceptionDetails"`
		}
		d := &p.Details
		if json.Unmarshal(params, &p) != nil || d.Text == "" && d.Exception == nil {
			return complaint{}, false
		}
		line := human.ConsoleLine{Level: "error", Text: d.Text, URL: d.URL, Line: d.Line + 1}
		if d.Exception != nil {
			line.Text += " " + d.Exception.String()
		}
		if line.URL == "" {
			line.URL, line.Line = where(d.Stack)
		}
		return complaint{line, d.Context, p.At}, true
	case "Runtime.consoleAPICalled":
		var p struct {
			At      float64        `json:"timestamp"`
			Type    string         `json:"type"`
			Context int64          `json:"executionContextId"`
			Args    []consoleValue `json:"args"`
			Stack   *callStack     `json:"stackTrace"`
		}
		if json.Unmarshal(params, &p) != nil {
			return complaint{}, false
		}
		var line human.ConsoleLine
		switch p.Type {
		case "error":
			line.Level = "error"
		case "assert":
			line.Level, line.Text = "error", "Assertion failed: "
		case "warning":
			line.Level = "warning"
		default:
			return complaint{}, false
		}
		var words []string
		for _, a := range p.Args[:min(len(p.Args), maxArgs)] {
			words = append(words, a.String())
		}
		if more := len(p.Args) - maxArgs; more > 0 {
			words = append(words, "… and "+strconv.Itoa(more)+" more values")
		}
		line.Text += strings.Join(words, " ")
		line.URL, line.Line = where(p.Stack)
		return complaint{line, p.Context, p.At}, true
	case "Log.entryAdded":
		var p struct {
			Entry struct {
				At    float64 `json:"timestamp"`
				Level string  `json:"level"`
				Text  string  `json:"text"`
				URL   string  `json:"url"`
				Line  *int    `json:"lineNumber"` // from 0
			} `json:"entry"`
		}
		if json.Unmarshal(params, &p) != nil || p.Entry.Level != "error" && p.Entry.Level != "warning" {
			return complaint{}, false
		}
		line := human.ConsoleLine{Level: p.Entry.Level, Text: p.Entry.Text, URL: p.Entry.URL}
		if p.Entry.Line != nil {
			line.Line = *p.Entry.Line + 1
		}
		return complaint{line, 0, p.Entry.At}, true
	}
	return complaint{}, false
}

func where(s *callStack) (url string, line int) {
	if s == nil || len(s.Frames) == 0 {
		return "", 0
	}
	return s.Frames[0].URL, s.Frames[0].Line + 1
}

// hushed is the line as it may be stored: masked and bounded.
func (b *Browser) hushed(line human.ConsoleLine) human.ConsoleLine {
	line.Text = b.maskAddresses(cut(strings.TrimSpace(line.Text), maxLine))
	if line.URL != "" {
		line.URL = b.maskURL(line.URL)
	}
	return line
}

// maskAddresses masks a text, and what is secret in the addresses in it.
func (b *Browser) maskAddresses(text string) string {
	if strings.Contains(text, "://") {
		text = addresses.ReplaceAllStringFunc(text, b.maskURL)
	}
	return b.mask(text)
}
