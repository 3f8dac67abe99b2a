package keychain

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/human"
)

// Of keyrings(7): keys in memory that end with the machine, or after a time.
const (
	keyType  = "user"
	keyLife  = 24 * 60 * 60 // seconds, as long as a session lasts without a call
	keyPerms = 0x3f3f0000   // everything for the user's own programs, with whatever keyring they were started
	longKey  = 4096
)

func (s Session) find() (int, error) {
	id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, keyType, service+" "+s.user(), 0)
	switch {
	case errors.Is(err, unix.ENOKEY) || errors.Is(err, unix.EKEYEXPIRED) || errors.Is(err, unix.EKEYREVOKED):
		return 0, human.Wrap(human.NotFound, err, "no session is kept for this terminal")
	case err != nil: // as in many containers
		return 0, human.Wrap(human.Unavailable, err, "the kernel keeps no keys here")
	}
	return id, nil
}

func (s Session) get(context.Context) (string, error) {
	id, err := s.find()
	if err != nil {
		return "", err
	}
	token := make([]byte, longKey)
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, token, 0)
	if err != nil || n > len(token) {
		return "", human.Wrap(human.Unavailable, err, "the session in the kernel's keyring cannot be read")
	}
	_, _ = unix.KeyctlInt(unix.KEYCTL_SET_TIMEOUT, id, keyLife, 0, 0) // else it ends earlier
	return string(token[:n]), nil
}

func (s Session) set(ctx context.Context, token string) error {
	id, err := addKey(ctx, service+" "+s.user(), token)
	if err == nil {
		err = unix.KeyctlSetperm(id, keyPerms)
	}
	if err == nil {
		_, err = unix.KeyctlInt(unix.KEYCTL_SET_TIMEOUT, id, keyLife, 0, 0)
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "the kernel keeps no keys here")
	}
	return nil
}

// addKey adds a key. A user may have 200, and terminals end without a word: where there are too many, the sessions of all other
// terminals are forgotten, and those ask for a code again.
func addKey(ctx context.Context, name, token string) (int, error) {
	add := func() (int, error) { return unix.AddKey(keyType, name, []byte(token), unix.KEY_SPEC_USER_KEYRING) }
	id, err := add()
	if !errors.Is(err, unix.EDQUOT) {
		return id, err
	}
	forgetSessions()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for tick := time.NewTicker(5 * time.Millisecond); ; { // the kernel makes room a moment later
		if id, err = add(); !errors.Is(err, unix.EDQUOT) {
			return id, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, err
		}
	}
}

// forgetSessions takes all sessions out of the user's keyring.
func forgetSessions() {
	ids := make([]byte, 1<<16) // of four bytes each
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, unix.KEY_SPEC_USER_KEYRING, ids, 0)
	if err != nil {
		return
	}
	for ids = ids[:min(n, len(ids))]; len(ids) >= 4; ids = ids[4:] {
		id := int(int32(binary.NativeEndian.Uint32(ids)))
		about, err := unix.KeyctlString(unix.KEYCTL_DESCRIBE, id) // type;user;group;permissions;name
		if parts := strings.SplitN(about, ";", 5); err == nil && len(parts) == 5 && strings.HasPrefix(parts[4], service+" session ") {
			_, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0)
		}
	}
}

func (s Session) remove(context.Context) error {
	id, err := s.find()
	if human.KindOf(err) == human.NotFound {
		return nil
	}
	if err == nil {
		_, err = unix.KeyctlInt(unix.KEYCTL_REVOKE, id, 0, 0, 0)
	}
	return err
}
