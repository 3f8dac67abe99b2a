package browser

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
)

const (
	maxOpen   = 2000 // requests of one tab that have no answer yet
	maxHeader = 500  // bytes of a header's value
	maxWord   = 100  // bytes of a method, a protocol, a media type
)

// The headers that are recorded: they say what was negotiated, and nothing of who asked.
var (
	askedHeaders = set("accept", "accept-encoding", "accept-language", "cache-control", "content-length", "content-type",
		"pragma", "range", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "upgrade-insecure-requests", "x-requested-with")
	answeredHeaders = set("accept-ranges", "access-control-allow-origin", "age", "allow", "alt-svc", "cache-control",
		"content-encoding", "content-language", "content-length", "content-range", "content-type", "date", "expires",
		"last-modified", "location", "pragma", "retry-after", "server", "transfer-encoding", "vary", "x-content-type-options",
		"x-frame-options")
)

func set(names ...string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, n := range names {
		s[n] = true
	}
	return s
}

// traffic puts together what DevTools' Network domain reports of the requests of one tab, its frames and workers. It
// never sees a body, and of headers keeps those on the lists. It is safe for concurrent use.
type traffic struct {
	answers bool                // only of requests that change something
	url     func(string) string // masks an address
	text    func(string) string // masks known shapes
	done    func(session, frame string, r human.WebRequest)
	lost    func() // one was given up, because too many wait

	mu   sync.Mutex
	open map[string]*exchange
	age  []string // keys of open, and of some that are gone, oldest first
}

// An exchange is a request that is not over.
type exchange struct {
	human.WebRequest
	session, frame string
	began          float64 // seconds on the browser's monotonic clock
}

// What is read of a response; and so on below.
type answerInfo struct {
	Status      float64                    `json:"status"`
	Headers     map[string]json.RawMessage `json:"headers"`
	MimeType    string                     `json:"mimeType"`
	Protocol    string                     `json:"protocol"`
	FromDisk    bool                       `json:"fromDiskCache"`
	FromEarlier bool                       `json:"fromPrefetchCache"`
	Size        float64                    `json:"encodedDataLength"`
	Timing      *struct {
		RequestTime float64 `json:"requestTime"`       // seconds, monotonic
		HeadersEnd  float64 `json:"receiveHeadersEnd"` // ms after it
	} `json:"timing"`
}

type requestInfo struct {
	RequestID string  `json:"requestId"`
	FrameID   string  `json:"frameId"`
	Type      string  `json:"type"`
	At        float64 `json:"timestamp"`
	WallTime  float64 `json:"wallTime"`
	URL       string  `json:"url"` // of a web socket
	Request   struct {
		URL     string                     `json:"url"`
		Method  string                     `json:"method"`
		Headers map[string]json.RawMessage `json:"headers"`
	} `json:"request"`
	Redirect *answerInfo `json:"redirectResponse"`
	Response *answerInfo `json:"response"`
	Size     float64     `json:"encodedDataLength"`
	Error    string      `json:"errorText"`
	Blocked  string      `json:"blockedReason"`
	CORS     *struct {
		Error string `json:"corsError"`
	} `json:"corsErrorStatus"`
	Message string `json:"errorMessage"` // of a web socket
}

// event takes an event of the Network domain; others are passed over, as is what makes no sense.
func (n *traffic) event(session, method string, params json.RawMessage) {
	switch method {
	case "Network.requestWillBeSent", "Network.requestServedFromCache", "Network.responseReceived", "Network.loadingFinished",
		"Network.loadingFailed", "Network.webSocketCreated", "Network.webSocketWillSendHandshakeRequest",
		"Network.webSocketHandshakeResponseReceived", "Network.webSocketFrameError", "Network.webSocketClosed":
	default:
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers && len(n.open) == 0 && (method != "Network.requestWillBeSent" || bytes.Contains(params, []byte(`"method":"GET"`))) {
		return // nearly all are such, and reading them costs
	}
	var p requestInfo
	if json.Unmarshal(params, &p) != nil || p.RequestID == "" {
		return
	}
	key := session + " " + p.RequestID
	if method == "Network.requestWillBeSent" {
		if before := n.open[key]; before != nil && p.Redirect != nil {
			before.answered(n, p.Redirect, p.At)
			n.end(key, p.At, p.Redirect.Size)
		}
		if !strings.HasPrefix(p.Request.URL, "data:") { // these ask nobody, and are bodies themselves
			n.begin(key, session, &p)
		}
		return
	}
	if method == "Network.webSocketCreated" {
		p.Type, p.Request.URL, p.Request.Method = "websocket", p.URL, "GET"
		n.begin(key, session, &p)
		return
	}
	x := n.open[key]
	if x == nil {
		return
	}
	switch method {
	case "Network.requestServedFromCache":
		x.FromCache = true
	case "Network.responseReceived":
		if p.Type != "" {
			x.Kind = kindOf(p.Type)
		}
		if p.Response != nil {
			x.answered(n, p.Response, p.At)
		}
	case "Network.loadingFinished":
		n.end(key, p.At, p.Size)
	case "Network.loadingFailed":
		switch {
		case p.CORS != nil && p.CORS.Error != "":
			x.Failed = "CORS: " + p.CORS.Error
		case p.Blocked != "":
			x.Failed = "blocked: " + p.Blocked
		default:
			x.Failed = p.Error
		}
		n.end(key, p.At, 0)
	case "Network.webSocketWillSendHandshakeRequest":
		x.started(p.WallTime, p.At)
		x.Asked = n.headers(p.Request.Headers, askedHeaders)
	case "Network.webSocketHandshakeResponseReceived":
		if p.Response != nil {
			x.answered(n, p.Response, p.At)
		}
		n.end(key, p.At, 0) // what follows is content
	case "Network.webSocketFrameError":
		x.Failed = p.Message
		n.end(key, p.At, 0)
	case "Network.webSocketClosed":
		x.Failed = "closed before it was open"
		n.end(key, p.At, 0)
	}
}

func (n *traffic) begin(key, session string, p *requestInfo) {
	if n.open == nil {
		n.open = map[string]*exchange{}
	}
	for len(n.open) >= maxOpen && len(n.age) > 0 {
		if _, ok := n.open[n.age[0]]; ok {
			delete(n.open, n.age[0])
			n.lost()
		}
		n.age = n.age[1:]
	}
	x := &exchange{session: session, frame: p.FrameID}
	x.Method = human.OneLine(p.Request.Method, maxWord)
	if n.answers && !x.Changes() {
		return
	}
	x.URL, x.Kind = n.url(p.Request.URL), kindOf(p.Type)
	x.Asked = n.headers(p.Request.Headers, askedHeaders)
	x.started(p.WallTime, p.At)
	n.open[key] = x
	n.age = append(n.age, key)
	if len(n.age) > 4*maxOpen {
		n.age = slices.DeleteFunc(n.age, func(k string) bool { return n.open[k] == nil })
	}
}

// started sets when a request began: by the time of day, in seconds since 1970, and the browser's own clock.
func (x *exchange) started(wall, mono float64) {
	if wall > 0 && wall < 1e11 {
		x.At = time.UnixMicro(int64(wall * 1e6)).UTC()
	}
	x.began = mono
}

// answered sets what a response says.
func (x *exchange) answered(n *traffic, a *answerInfo, at float64) {
	if a.Status > 0 && a.Status < 1000 {
		x.Status = int(a.Status)
	}
	x.Type, x.Protocol = human.OneLine(a.MimeType, maxWord), human.OneLine(a.Protocol, maxWord)
	x.FromCache = x.FromCache || a.FromDisk || a.FromEarlier
	x.Answered = n.headers(a.Headers, answeredHeaders)
	if t := a.Timing; t != nil && t.HeadersEnd > 0 {
		at = t.RequestTime + t.HeadersEnd/1000
	}
	x.Wait = spent(x.began, at)
}

// end is the end of a request, after that many bytes.
func (n *traffic) end(key string, at, size float64) {
	x := n.open[key]
	delete(n.open, key)
	x.Took = max(spent(x.began, at), x.Wait)
	if size > 0 && size < math.MaxInt64/2 && !x.FromCache {
		x.Size = int64(size)
	}
	x.Failed = human.OneLine(x.Failed, 2*maxWord)
	n.done(x.session, x.frame, x.WebRequest)
}

// close ends those that are still open, in the order they began.
func (n *traffic) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, key := range n.age {
		if x := n.open[key]; x != nil {
			if x.Status == 0 {
				x.Failed = "no answer when the recording or the page ended"
			}
			n.end(key, x.began, 0)
		}
	}
	n.age = nil
}

// headers keeps those on a list, masked.
func (n *traffic) headers(all map[string]json.RawMessage, list map[string]bool) map[string]string {
	var kept map[string]string
	for name, raw := range all {
		name = strings.ToLower(name)
		var value string
		if !list[name] || json.Unmarshal(raw, &value) != nil {
			continue
		}
		if name == "location" {
			value = n.url(value)
		} else {
			value = n.text(value)
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[name] = human.OneLine(value, maxHeader)
	}
	return kept
}

// spent is the time between two of the browser's times, in ns.
func spent(from, to float64) int64 {
	if d := to - from; d > 0 && d < 1e6 {
		return int64(d * 1e9)
	}
	return 0
}

func kindOf(resource string) string { return strings.ToLower(human.OneLine(resource, maxWord)) }
