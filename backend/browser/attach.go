package browser

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"deskbell/backend/human"
)

const attachHint = "Start the browser with --remote-debugging-port=9222 and a profile of its own, or allow it in chrome://inspect/#remote-debugging."

// attach connects to a browser that runs. Only one of this machine: whoever has its debugging port can read all of
// it, and what goes over a network there is not encrypted.
func attach(ctx context.Context, address string) (chromedp.Transport, error) {
	host, path, err := loopback(address)
	if err != nil {
		return nil, err
	}
	if path == "" {
		if path, err = socketPath(ctx, host); err != nil {
			return nil, err
		}
	}
	dialing, cancel := context.WithTimeout(ctx, startWithin) // a browser may ask its user first
	defer cancel()
	transport, err := remote.DialContext(dialing, "ws://"+host+path)
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "The browser at %s does not let Deskbell attach. %s", host, attachHint)
	}
	return transport, nil
}

// loopback takes an address apart: host and port, and the path of a WebSocket where it names one.
func loopback(address string) (host, path string, err error) {
	raw := address
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Port() == "" || (u.Scheme != "http" && u.Scheme != "ws") || u.User != nil {
		return "", "", human.BadField("attach", "the address of a debugging port is needed, such as http://127.0.0.1:9222, not %q", address)
	}
	name := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(name); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", "", human.BadField("attach", "only a browser on this machine can be attached to: 127.0.0.1, localhost or [::1], not %q", u.Hostname())
	}
	if strings.HasPrefix(u.Path, "/devtools/browser") {
		path = u.Path
	}
	return u.Host, path, nil
}

// socketPath asks the browser for the path of its WebSocket. One that was allowed in chrome://inspect gives none.
func socketPath(ctx context.Context, host string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/json/version", nil)
	if err != nil {
		return "", human.Wrap(human.Invalid, err, "This is not the address of a browser: %s", host)
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true}, // through no proxy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", human.Wrap(human.Unavailable, err, "No browser can be attached to at %s. %s", host, attachHint)
	}
	defer func() { _ = answer.Body.Close() }()
	var got struct {
		Socket string `json:"webSocketDebuggerUrl"`
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if answer.StatusCode == http.StatusNotFound {
		return "/devtools/browser", nil
	}
	if err != nil || json.Unmarshal(raw, &got) != nil {
		return "", human.Wrap(human.Unavailable, err, "What answers at %s is not a browser. %s", host, attachHint)
	}
	socket, err := url.Parse(got.Socket)
	if err != nil || !strings.HasPrefix(socket.Path, "/devtools/browser") {
		return "", human.Wrap(human.Unavailable, err, "What answers at %s is not a browser. %s", host, attachHint)
	}
	return socket.Path, nil
}
