package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/human"
)

// The film of a page is rrweb's, in one more world: what that does wrong does not touch what is recorded by
// itself. In it rrweb sees what is in the page, not what the page's scripts do beside it: rules that they insert into
// style sheets and values that they set in fields are missing.
const filmWorld = worldName + "Film" // and the name of its binding

//go:embed film.js
var filmScript string

const (
	filmPiece = 256 << 10 // characters that a page sends at once
	filmEvent = 8 << 20   // of one event; the first one is the page as a whole
	filmPage  = 64 << 20  // of one page
	filmRate  = 2 << 20   // bytes of all pages, each second
	filmBurst = 64 << 20
)

// filmSource is the script that films a page, given rrweb's.
func filmSource(rrweb string, config pageConfig) (string, error) {
	config.Parameters = append(slices.Clone(secretParameters), config.Parameters...)
	settings, err := json.Marshal(config)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("(%s)(globalThis.%s,\n(%s)(%s), function () {\n%s\n;return rrweb.record},\n{piece: %d, event: %d, film: %d});",
		expression(filmScript), filmWorld, expression(pageSecrets), settings, rrweb, filmPiece, filmEvent, filmPage), nil
}

// A film puts together what the pages of one tab send.
type film struct {
	t      *tab
	worlds map[string]*reel // by session and execution context

	mu    sync.Mutex
	ready []human.RecordedEvent // not masked yet, in order
	busy  bool
}

// A reel is what one document sends.
type reel struct {
	frame string
	doc   string
	n     int
	next  int
	text  strings.Builder
}

type filmMessage struct {
	Doc    string `json:"d"`
	N      int    `json:"n"`
	I      int    `json:"i"`
	Of     int    `json:"of"`
	Text   string `json:"s"`
	Lost   int    `json:"lost"`
	Failed string `json:"failed"`
}

// event takes what concerns films. Called where events are handled.
func (f *film) event(session, method string, params json.RawMessage) {
	switch method {
	case "Runtime.executionContextCreated":
		var p struct {
			Context struct {
				ID   int64  `json:"id"`
				Name string `json:"name"`
				Aux  struct {
					Frame string `json:"frameId"`
				} `json:"auxData"`
			} `json:"context"`
		}
		if json.Unmarshal(params, &p) == nil && p.Context.Name == filmWorld {
			f.worlds[worldKey(session, p.Context.ID)] = &reel{frame: p.Context.Aux.Frame}
		}
	case "Runtime.executionContextDestroyed":
		var p struct {
			ID int64 `json:"executionContextId"`
		}
		if json.Unmarshal(params, &p) == nil {
			delete(f.worlds, worldKey(session, p.ID))
		}
	case "Runtime.executionContextsCleared":
		for key := range f.worlds {
			if strings.HasPrefix(key, session+" ") {
				delete(f.worlds, key)
			}
		}
	case "Runtime.bindingCalled":
		var p struct {
			Name    string `json:"name"`
			Payload string `json:"payload"`
			ID      int64  `json:"executionContextId"`
		}
		if json.Unmarshal(params, &p) == nil && p.Name == filmWorld {
			f.piece(f.worlds[worldKey(session, p.ID)], p.Payload)
		}
	}
}

func worldKey(session string, id int64) string { return fmt.Sprint(session, " ", id) }

// piece takes a part of an event, or all of it.
func (f *film) piece(r *reel, payload string) {
	b := f.t.b
	var m filmMessage
	if r == nil || len(payload) > 8*filmPiece || json.Unmarshal([]byte(payload), &m) != nil {
		return
	}
	at := f.t.frames[r.frame]
	if at == nil || f.t.shields(at) {
		return
	}
	now := b.now()
	switch {
	case m.Failed != "":
		b.log.Warn("a page cannot be filmed", "err", cut(m.Failed, 300))
		b.shared.film.lose(now)
		return
	case m.Lost > 0:
		b.shared.film.lose(now)
		return
	case m.I == 0:
		r.doc, r.n, r.next = m.Doc, m.N, 0
		r.text.Reset()
	}
	if m.Doc != r.doc || m.N != r.n || m.I != r.next || m.I >= m.Of || m.Of > filmEvent/filmPiece+1 || r.text.Len()+len(m.Text) > 4*filmEvent {
		return
	}
	r.next++
	r.text.WriteString(m.Text)
	if r.next < m.Of {
		return
	}
	text := r.text.String()
	r.text = strings.Builder{}
	if !b.shared.film.pass(now, float64(len(text))) {
		return
	}
	page := f.t.pageOf(at)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = append(f.ready, human.RecordedEvent{At: now, Type: human.PageDOM, Browsing: human.Browsing{Page: &page, DOM: json.RawMessage(text)}})
	if f.busy {
		return
	}
	f.busy = true
	f.t.do(f.deliver)
}

// deliver masks what is ready and lets it go, in order.
func (f *film) deliver(context.Context) {
	for {
		f.mu.Lock()
		if len(f.ready) == 0 {
			f.busy = false
			f.mu.Unlock()
			return
		}
		e := f.ready[0]
		f.ready = f.ready[1:]
		f.mu.Unlock()
		var ok bool
		if e.DOM, ok = f.t.b.maskJSON(e.DOM); ok {
			f.t.b.emit(e)
		}
	}
}

// maskJSON hides known shapes of secrets in all texts of a JSON value; false where it is none.
func (b *Browser) maskJSON(raw json.RawMessage) (json.RawMessage, bool) {
	var value any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, false
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, false
	}
	if b.o.Masker == nil {
		return raw, true
	}
	var all []string
	walk(value, func(s string) string { all = append(all, s); return s })
	if _, found := b.o.Masker.Mask(strings.Join(all, "\n")); !found {
		return raw, true // as mostly: this is quicker than to look at each text
	}
	clean, err := json.Marshal(walk(value, b.mask))
	return clean, err == nil
}

// walk replaces all texts of a decoded JSON value but its styles and pictures.
func walk(value any, text func(string) string) any {
	switch v := value.(type) {
	case string:
		if strings.HasPrefix(v, "data:") {
			return v
		}
		return text(v)
	case []any:
		for i := range v {
			v[i] = walk(v[i], text)
		}
	case map[string]any:
		for k, inner := range v {
			if k != "_cssText" && k != "cssText" {
				v[k] = walk(inner, text)
			}
		}
	}
	return value
}
