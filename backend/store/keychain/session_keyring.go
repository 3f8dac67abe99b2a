//go:build !linux && !windows

package keychain

import "github.com/zalando/go-keyring"

func keep(user, token string) error { return keyring.Set(service, user, token) }
