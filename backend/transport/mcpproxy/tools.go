package mcpproxy

import (
	"encoding/json"
	"sync"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// A book remembers what a server said about its tools, as the client was last told it: the operator is shown what the model
// was shown. It is safe for concurrent use; the zero book is empty.
type book struct {
	mu    sync.Mutex
	tools map[string]tool
	first map[string]string // what was said of each tool at first; it is not forgotten with a list
}

// maxFirst is how many tools' first descriptions are remembered.
const maxFirst = 10_000

type tool struct {
	about       string
	schema      json.RawMessage
	annotations human.Annotations
	was         json.RawMessage // what was said at first, where it is something else
}

// A list is a page of tools; first says that it is the first one, with which older ones are forgotten.
func (b *book) list(result []byte, first bool) {
	var page struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(result, &page) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if first || b.tools == nil {
		b.tools = map[string]tool{}
	}
	if b.first == nil {
		b.first = map[string]string{}
	}
	for _, raw := range page.Tools {
		// Each part by itself: one that is of another type than expected takes no other with it.
		var t struct {
			Name, Description, InputSchema, Annotations json.RawMessage
		}
		if json.Unmarshal(raw, &t) != nil {
			continue
		}
		var it tool
		_ = json.Unmarshal(t.Description, &it.about)
		if json.Unmarshal(t.Annotations, &it.annotations) != nil {
			it.annotations = human.Annotations{}
		}
		if len(t.InputSchema) > 0 && t.InputSchema[0] == '{' {
			it.schema = t.InputSchema
		}
		name := stringOf(t.Name)
		now := gate.Definition(gate.Call{About: it.about, Schema: it.schema, Annotations: it.annotations})
		if first, is := b.first[name]; !is && len(b.first) < maxFirst {
			b.first[name] = now
		} else if first != now && first != "" {
			it.was = json.RawMessage(first)
		}
		b.tools[name] = it
	}
}

func (b *book) get(name string) tool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tools[name]
}

// watches are requests whose answers are to be looked at as they pass: by the key of their id. It is safe for concurrent
// use; the zero value watches nothing.
type watches struct {
	mu  sync.Mutex
	all map[string]func(result []byte)
}

// of notes which answers to look at, before a message continues. asked are the questions of its calls, by the keys of their
// ids.
func (w *watches) of(d *checker, m message, asked map[string]question) {
	for _, one := range append([]message{m}, m.batch...) {
		if !one.isRequest() {
			continue
		}
		switch one.method {
		case "tools/list":
			w.add(one.id, func(result []byte) { d.tools.list(result, !hasCursor(one.params)) })
		case callMethod:
			if q, ok := asked[key(one.id)]; ok {
				w.add(one.id, func(result []byte) { d.goesOn(one, q, result) })
			}
		}
	}
}

func hasCursor(params []byte) bool {
	var p struct {
		Cursor *string `json:"cursor"`
	}
	return json.Unmarshal(params, &p) == nil && p.Cursor != nil
}

func (w *watches) add(id json.RawMessage, look func([]byte)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[string]func([]byte){}
	}
	w.all[key(id)] = look
}

// see is look for what passes in any case.
func (w *watches) see(raw []byte) []byte {
	w.look(raw)
	return raw
}

func (w *watches) forget(id json.RawMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, key(id))
}

// look looks at what a server sent, before the client sees it.
func (w *watches) look(raw []byte) {
	w.mu.Lock()
	idle := len(w.all) == 0
	w.mu.Unlock()
	if idle || !json.Valid(raw) {
		return
	}
	at := space(raw, 0)
	if at == len(raw) {
		return
	}
	one := raw[at:]
	switch one[0] {
	case '{':
		w.answer(one)
	case '[':
		for _, e := range elements(one) {
			if one[e.from] == '{' {
				w.answer(one[e.from:e.to])
			}
		}
	}
}

func (w *watches) answer(raw []byte) {
	var id, result []byte
	for _, f := range members(raw) {
		switch f.key {
		case "method":
			return // a request of the server's own
		case "id":
			id = raw[f.from:f.to]
		case "result":
			result = raw[f.from:f.to]
		}
	}
	if id == nil {
		return
	}
	w.mu.Lock()
	look := w.all[key(id)]
	delete(w.all, key(id))
	w.mu.Unlock()
	if look != nil && result != nil {
		look(result)
	}
}
