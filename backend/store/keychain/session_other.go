//go:build !linux

package keychain

import (
	"context"
	"errors"

	"github.com/zalando/go-keyring"

	"deskbell/backend/human"
)

func (s Session) get(ctx context.Context) (string, error) {
	token, err := do(ctx, func() (string, error) { return keyring.Get(service, s.user()) })
	if errors.Is(err, keyring.ErrNotFound) {
		return "", human.Wrap(human.NotFound, err, "no session is kept for this terminal")
	}
	return token, err
}

func (s Session) set(ctx context.Context, token string) error {
	_, err := do(ctx, func() (string, error) { return "", keep(s.user(), token) })
	return err
}

func (s Session) remove(ctx context.Context) error {
	_, err := do(ctx, func() (string, error) { return "", keyring.Delete(service, s.user()) })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}
