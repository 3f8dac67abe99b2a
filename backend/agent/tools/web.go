package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// The bounds of a request.
const (
	requestTime  = 60 * time.Second
	maxAnswer    = 4 << 20 // bytes that are read
	maxRedirects = 5
	maxBody      = 1 << 20 // bytes that are sent
)

// Web makes requests over HTTP. Addresses of this machine and of private networks are refused where Private is not set,
// by what a name stands for at the moment of connecting; the clouds' addresses for credentials always are. No proxy is used:
// behind one nobody could tell where a request goes.
type Web struct {
	Private bool
	Agent   string // the User-Agent
}

// Spec implements agent.Tool.
func (Web) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "http_request", Description: "Make a request over HTTP and return the status and the text of the answer.",
		Schema: schema(
			property{"url", "string", "The address, http or https.", true},
			property{"method", "string", "GET (the default), HEAD, POST, PUT, PATCH, DELETE or OPTIONS.", false},
			property{"headers", "object", "Headers of the request.", false},
			property{"body", "string", "What is sent.", false},
		),
	}
}

// Category implements agent.Tool.
func (Web) Category() agent.Category { return agent.Web }

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// Run implements agent.Tool.
func (w Web) Run(ctx context.Context, raw json.RawMessage) (agent.Output, error) {
	var args struct {
		URL     string            `json:"url"`
		Method  string            `json:"method"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	if err := read(raw, &args); err != nil {
		return failed("%v", err), nil
	}
	method := strings.ToUpper(args.Method)
	if method == "" {
		method = http.MethodGet
		if args.Body != "" {
			method = http.MethodPost // as the gatekeeper takes it
		}
	}
	if !slices.Contains(methods, method) {
		return failed("method must be one of %s", strings.Join(methods, ", ")), nil
	}
	if len(args.Body) > maxBody {
		return failed("body has %d bytes; at the most %d MiB are sent", len(args.Body), maxBody>>20), nil
	}
	u, err := url.Parse(args.URL)
	if err != nil {
		return failed("%q is no address", human.OneLine(args.URL, 200)), nil
	}
	if err := mayAsk(u); err != nil {
		return failed("%v", err), nil
	}
	ctx, stop := context.WithTimeoutCause(ctx, requestTime, errTime)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(args.Body))
	if err != nil {
		return failed("%v", err), nil
	}
	for name, value := range args.Headers {
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer":
			return failed("the header %s cannot be set", name), nil
		}
		req.Header.Set(name, value)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", w.Agent)
	}
	client := w.client()
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return w.failure(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil && len(text) == 0 {
		return w.failure(ctx, err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", human.OneLine(res.Status, 200))
	for _, name := range []string{"Content-Type", "Location", "Retry-After"} {
		if value := res.Header.Get(name); value != "" {
			fmt.Fprintf(&out, "%s: %s\n", name, human.OneLine(value, 1000))
		}
	}
	out.WriteString("\n")
	switch kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); {
	case len(text) == 0:
	case textual(kind, text):
		out.WriteString(bounded(string(text)))
	default:
		fmt.Fprintf(&out, "[%d bytes that are no text]", len(text))
	}
	switch {
	case err != nil:
		fmt.Fprintf(&out, "\n[the answer broke off: %s]", w.words(ctx, err))
	case len(text) == maxAnswer:
		fmt.Fprintf(&out, "\n[only the first %d MiB were read]", maxAnswer>>20)
	}
	return agent.Output{Text: strings.TrimRight(out.String(), "\n"), Failed: res.StatusCode >= 400}, nil
}

func textual(kind string, text []byte) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "xml") || strings.HasSuffix(kind, "javascript") || kind == "application/x-www-form-urlencoded" {
		return true
	}
	return strings.HasPrefix(http.DetectContentType(text), "text/")
}

// mayAsk says why an address is not asked, by how it is written.
func mayAsk(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%s is not http or https", human.OneLine(u.Scheme, 40))
	case u.User != nil:
		return errors.New("a name or a password in an address is not taken; use the header Authorization")
	case u.Hostname() == "":
		return errors.New("the address has no host")
	}
	return nil
}

// client is for one request. It follows redirects of what only reads, and only on the same host: any other address is
// told, so that asking there is a call of its own, which is judged.
func (w Web) client() *http.Client {
	dialer := &net.Dialer{Timeout: 15 * time.Second, Control: func(_, address string, _ syscall.RawConn) error { return w.mayDial(address) }}
	return &http.Client{
		Transport: &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 15 * time.Second, DisableKeepAlives: true, MaxResponseHeaderBytes: 256 << 10},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			first := before[0]
			reads := first.Method == http.MethodGet || first.Method == http.MethodHead
			if !reads || !strings.EqualFold(next.URL.Hostname(), first.URL.Hostname()) || len(before) > maxRedirects || mayAsk(next.URL) != nil || first.URL.Scheme == "https" && next.URL.Scheme != "https" {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// errPrivate is why a connection was not made.
var errPrivate = errors.New("it is an address of this machine or of a private network, which this tool may not ask")

// mayDial is asked with the address that a name was resolved to, just before the connection is made.
func (w Web) mayDial(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return errPrivate
	}
	ip := at.Addr().WithZone("").Unmap()
	switch {
	case ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() || slices.Contains(credentials, ip):
		return errPrivate
	case w.Private:
		return nil
	case !ip.IsGlobalUnicast() || ip.IsLoopback() || ip.IsPrivate() || slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(ip) }):
		return errPrivate
	}
	return nil
}

// credentials are addresses where clouds give a machine its credentials, beside link-local ones.
var credentials = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200")}

// notPublic are networks that are not of the public Internet, by IANA's registries of special-purpose addresses, beside
// those that net/netip knows; and those in which an IPv4 address is wrapped up.
var notPublic = func() (list []netip.Prefix) {
	for _, p := range strings.Fields("0.0.0.0/8 100.64.0.0/10 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 " +
		"::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fec0::/10") {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}()

// failure is the output of a request that got no answer.
func (w Web) failure(ctx context.Context, err error) (agent.Output, error) {
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errTime) {
		return agent.Output{}, ctx.Err()
	}
	return failed("there was no answer: %s", w.words(ctx, err)), nil
}

func (Web) words(ctx context.Context, err error) string {
	if errors.Is(context.Cause(ctx), errTime) {
		return fmt.Sprintf("it took longer than %v", requestTime)
	}
	if errors.Is(err, errPrivate) {
		return errPrivate.Error()
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return human.OneLine(err.Error(), 300)
}
