package keychain

import "context"

// A Session is where an operator's session is kept for one session of a terminal: in the kernel's keyring on Linux, in the
// credential manager on Windows, both in memory only, and in the keychain on macOS.
type Session struct{ Name string }

func (s Session) user() string { return "session " + s.Name }

// Get returns its token; NotFound where there is none, Unavailable where this system keeps none.
func (s Session) Get(ctx context.Context) (token string, err error) { return s.get(ctx) }

// Set keeps a token in place of one that is there.
func (s Session) Set(ctx context.Context, token string) error { return s.set(ctx, token) }

// Remove deletes the token, if there is one.
func (s Session) Remove(ctx context.Context) error { return s.remove(ctx) }
