package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Phones is how the door for phones on the same network stands.
type Phones struct {
	On          bool     `json:"on"`
	Addresses   []string `json:"addresses"`
	Fingerprint string   `json:"fingerprint"`
	Devices     []Phone  `json:"devices"`
	Problem     *struct {
		Text string `json:"text"`
	} `json:"problem,omitempty"`
}

// Phone is a paired phone.
type Phone struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Operator string    `json:"operator"`
	PairedAt time.Time `json:"paired_at"`
	LastSeen time.Time `json:"last_seen"`

	Unconfirmed bool `json:"unconfirmed,omitempty"` // see human.Device
}

// Pairing is what one phone is paired with, once. Its URL is a secret.
type Pairing struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Phones returns how the door for phones stands.
func (c *Client) Phones(ctx context.Context) (p Phones, err error) {
	_, err = c.call(ctx, http.MethodGet, "/api/phone", nil, &p)
	return p, err
}

// LetPhonesIn opens or closes it.
func (c *Client) LetPhonesIn(ctx context.Context, on bool) (p Phones, err error) {
	_, err = c.call(ctx, http.MethodPut, "/api/phone", map[string]bool{"on": on}, &p)
	return p, err
}

// PairPhone makes a one-time code for a phone.
func (c *Client) PairPhone(ctx context.Context) (p Pairing, err error) {
	_, err = c.call(ctx, http.MethodPost, "/api/phone/pairing", struct{}{}, &p)
	return p, err
}

// UnpairPhone ends a phone's sessions and forgets it.
func (c *Client) UnpairPhone(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, "/api/phone/devices/"+url.PathEscape(id), nil, nil)
	return err
}

// ConfirmPhone lets a phone in again whose list was changed while Deskbell did not run.
func (c *Client) ConfirmPhone(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodPost, "/api/phone/devices/"+url.PathEscape(id)+"/confirm", struct{}{}, nil)
	return err
}
