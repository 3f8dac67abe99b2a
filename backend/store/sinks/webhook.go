package sinks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/outbox"
)

// mostReply is how much of a reply is read, in bytes.
const mostReply = 16 << 10

// A Webhook is an address that each document is posted to, as JSON. Where the address has no place for the secret, requests are
// signed with it as Standard Webhooks has it (https://www.standardwebhooks.com): the headers webhook-id, webhook-timestamp and
// webhook-signature, which is v1 and the HMAC-SHA256 of ID.TIMESTAMP.BODY. Redirects are not followed.
type Webhook struct {
	URL    string
	Body   string // a template of the body (text/template); empty: the document
	Secret func(ctx context.Context, host string) (string, error)
	Client *http.Client // nil: one of its own
	Now    func() time.Time
}

// Host is where it leads, without what may be secret in its address.
func (w Webhook) Host() string {
	u, err := url.Parse(w.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// Put implements Sink: it is there once the server answers with a status of 200 to 299.
func (w Webhook) Put(ctx context.Context, d outbox.Document, text []byte) error {
	if w.Body != "" {
		var err error
		if text, err = outbox.Body(w.Body, d); err != nil {
			return err
		}
	}
	secret, err := w.Secret(ctx, w.Host())
	if err != nil {
		return err
	}
	address := w.URL
	if strings.Contains(address, outbox.SecretPlace) {
		if secret == "" {
			return human.Errorf(human.NotFound, "the webhook's address has %s, and there is no secret: set it with `deskbell webhook set-secret`", outbox.SecretPlace)
		}
		address = strings.ReplaceAll(address, outbox.SecretPlace, secret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		return human.Errorf(human.Invalid, "the webhook's address is not one") // err may have the secret
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Deskbell")
	id, at := d.ID, strconv.FormatInt(w.Now().Unix(), 10)
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", at)
	if secret != "" && address == w.URL {
		req.Header.Set("webhook-signature", Sign(secret, id, at, text))
	}
	client := *http.DefaultClient
	if w.Client != nil {
		client = *w.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	reply, err := client.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // without the address
		}
		return human.Wrap(human.Unavailable, err, "the webhook at %s was not reached: %v", w.Host(), err)
	}
	defer reply.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(reply.Body, mostReply)) // only to say more
	if reply.StatusCode >= 200 && reply.StatusCode <= 299 {
		return nil
	}
	status := strings.TrimSpace(fmt.Sprintf("%d %s", reply.StatusCode, http.StatusText(reply.StatusCode)))
	if why := human.OneLine(hide(string(said), secret), 200); why != "" {
		return human.Errorf(human.Unavailable, "the webhook at %s answered %s: %s", w.Host(), status, why)
	}
	return human.Errorf(human.Unavailable, "the webhook at %s answered %s", w.Host(), status)
}

func hide(text, secret string) string {
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "…")
}

// Sign is the signature of a body with a secret. One that begins with whsec_ is base64 of its bytes, as Standard Webhooks writes it.
func Sign(secret, id, at string, body []byte) string {
	key := []byte(secret)
	if coded, is := strings.CutPrefix(secret, "whsec_"); is {
		if raw, err := base64.StdEncoding.DecodeString(coded); err == nil {
			key = raw
		}
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, at, body) // a hash never fails
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
