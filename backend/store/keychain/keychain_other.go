//go:build !linux

package keychain

import "context"

// reachable says whether there is a keychain; macOS and Windows always have one.
func reachable(context.Context) error { return nil }
