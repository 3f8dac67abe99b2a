// Package keychain keeps the keys of models, and the secrets that procedures type, where the system keeps passwords: the Secret Service on Linux, the
// keychain on macOS, the credential manager on Windows. A key in the environment goes before one that is kept there.
// Keys never stand in Deskbell's own files.
package keychain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/zalando/go-keyring"

	"deskbell/backend/human"
)

// service is what the entries are filed under.
const service = "deskbell"

// longest is how long the system may take; somebody may have to unlock their keychain meanwhile.
const longest = time.Minute

// The environment variables with the key, whatever the model, and with the secret of the webhook.
const (
	Variable        = "DESKBELL_MODEL_KEY"
	WebhookVariable = "DESKBELL_WEBHOOK_SECRET"
	TypedVariable   = "DESKBELL_SECRET_" // and the name of a secret that procedures type, in capitals, with _ for -
)

// own are the providers' own hosts, with the variables that others read keys for them from. Such a key goes nowhere
// else: it was not meant for the server behind another model.base_url.
var own = map[string]string{"api.anthropic.com": "ANTHROPIC_API_KEY", "api.openai.com": "OPENAI_API_KEY"}

// An Account is what a key is for: a server, by host and port, as a model or as a webhook; or, by its name, a secret that procedures
// type. A key that was set for one is not sent to another.
type Account struct {
	Host    string
	Webhook bool
	Typed   string // the name of such a secret; then there is no Host
}

func (a Account) user() string {
	switch {
	case a.Typed != "":
		return "typed " + a.Typed
	case a.Webhook:
		return "webhook " + a.Host
	}
	return "model " + a.Host
}

// variables are those that may have the key, the first that has one wins.
func (a Account) variables() []string {
	switch {
	case a.Typed != "":
		return []string{TypedVariable + strings.ToUpper(strings.ReplaceAll(a.Typed, "-", "_"))}
	case a.Webhook:
		return []string{WebhookVariable}
	}
	if v := own[a.Host]; v != "" {
		return []string{Variable, v}
	}
	return []string{Variable}
}

// Get returns the key of an account and where it was found: a variable's name, or "keychain". NotFound where there is
// none, Unavailable where the system has no keychain or did not answer; both say what to do. It blocks until the
// keychain is unlocked, a minute has passed or ctx ends.
func Get(ctx context.Context, a Account) (key, from string, err error) {
	for _, v := range a.variables() {
		if key := a.trimmed(os.Getenv(v)); key != "" {
			return key, v, nil
		}
	}
	key, err = do(ctx, func() (string, error) { return keyring.Get(service, a.user()) })
	if errors.Is(err, keyring.ErrNotFound) {
		return "", "", human.Errorf(human.NotFound, "there is no key for %s: set one, or the environment variable %s", a.name(), strings.Join(a.variables(), " or "))
	}
	if err != nil && a.Typed != "" {
		err = human.Wrap(human.KindOf(err), err, "the secret %s cannot be read: unlock the keychain, or set the environment variable %s", a.Typed, a.variables()[0])
	}
	if err != nil {
		return "", "", err
	}
	return key, "keychain", nil
}

// Find says where the key of an account is, as Get does.
func (a Account) Find(ctx context.Context) (from string, err error) {
	_, from, err = Get(ctx, a)
	return from, err
}

// Key returns the key for a host. A server that is not a provider's own may need none: without one, or without a keychain,
// the key is then "".
func Key(ctx context.Context, host string) (string, error) {
	return optional(ctx, Account{Host: host}, own[host] != "")
}

// Secret returns the secret of the webhook at a host; "" without one, or without a keychain.
func Secret(ctx context.Context, host string) (string, error) {
	return optional(ctx, Account{Host: host, Webhook: true}, false)
}

func optional(ctx context.Context, a Account, needed bool) (string, error) {
	key, _, err := Get(ctx, a)
	kind := human.KindOf(err)
	if err != nil && !needed && (kind == human.NotFound || kind == human.Unavailable && !errors.Is(err, errLocked)) {
		return "", nil
	}
	return key, err
}

// name is what an account is called.
func (a Account) name() string { return cmp.Or(a.Typed, a.Host) }

// trimmed is a key without the spaces around it; a secret that is typed may have them.
func (a Account) trimmed(key string) string {
	if a.Typed != "" {
		return strings.TrimRight(key, "\r\n")
	}
	return strings.TrimSpace(key)
}

// Set keeps a key in the system's keychain, in place of one that is there. Invalid for what cannot be a key.
func (a Account) Set(ctx context.Context, key string) error {
	key = a.trimmed(key)
	switch {
	case key == "" || len(key) > 2000: // Windows keeps 2,560 bytes
		return human.BadField("key", "a key has 1 to 2000 characters")
	case a.Typed == "" && strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return human.BadField("key", "it has a space or another character that is not allowed in a key")
	}
	_, err := do(ctx, func() (string, error) { return "", keyring.Set(service, a.user(), key) })
	return err
}

// Remove deletes a key from the system's keychain. NotFound where there is none; keys in the environment stay.
func (a Account) Remove(ctx context.Context) error {
	_, err := do(ctx, func() (string, error) { return "", keyring.Delete(service, a.user()) })
	if errors.Is(err, keyring.ErrNotFound) {
		return human.Errorf(human.NotFound, "the keychain has no key for %s", a.name())
	}
	return err
}

// do calls the system's keychain, which takes no context: a call that is given up ends by itself once the person has
// answered the question to unlock the keychain, and its result is lost.
func do(ctx context.Context, call func() (string, error)) (string, error) {
	limited, stop := context.WithTimeout(ctx, longest)
	defer stop()
	if err := reachable(limited); err != nil {
		return "", err
	}
	type result struct {
		key string
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			// The library takes what a Secret Service answers on trust.
			if p := recover(); p != nil {
				done <- result{err: fmt.Errorf("the keychain answered with something else than was asked for: %v", p)}
			}
		}()
		key, err := call()
		done <- result{key, err}
	}()
	select {
	case r := <-done:
		if r.err == nil || errors.Is(r.err, keyring.ErrNotFound) {
			return r.key, r.err
		}
		return "", human.Wrap(human.Unavailable, r.err, "the system's keychain gave no access: unlock it, or set the environment variable %s", Variable)
	case <-limited.Done():
		if err := ctx.Err(); err != nil {
			return "", err
		}
		return "", human.Wrap(human.Unavailable, errLocked, "the system's keychain did not answer within a minute: is it waiting to be unlocked?")
	}
}

var errLocked = errors.New("no answer")
