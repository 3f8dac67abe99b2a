// Package receiptkeys keeps the key by which the server signs receipts, and the public halves of those before it.
package receiptkeys

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/store/disk"
)

// FileName is the name of the file in the data folder. Only its owner may read it.
const FileName = "receipt-keys.json"

// Keys are those of one data folder. They are safe for concurrent use.
type Keys struct {
	path string
	now  func() time.Time

	mu      sync.Mutex
	content content
	current *receipt.Key
}

// content is the file.
type content struct {
	Private string              `json:"private_key"`      // PKCS #8 in PEM, as other programs read it
	Keys    []receipt.ServerKey `json:"keys"`             // the newest last: that of the private key
	Others  []receipt.ServerKey `json:"others,omitempty"` // of the other desks of the team
}

// Open reads the keys of a data folder, and makes the first where there is none. An Unavailable error where the file is damaged
// or cannot be written.
func Open(dir string, now func() time.Time) (*Keys, error) {
	k := &Keys{path: filepath.Join(dir, FileName), now: now}
	err := k.read()
	if errors.Is(err, fs.ErrNotExist) {
		err = k.make()
	}
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the key that signs receipts, %s, cannot be used: %v; restore the file, or move it away and Deskbell makes another key", k.path, err)
	}
	return k, nil
}

// Public reads the public keys of a data folder; none is no error. Nothing is made.
func Public(dir string) ([]receipt.ServerKey, error) {
	k := &Keys{path: filepath.Join(dir, FileName)}
	if err := k.read(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, human.Wrap(human.Unavailable, err, "the keys of receipts in %s cannot be read: %v", k.path, err)
	}
	return k.content.all(), nil
}

// all are the keys of others, and then the own.
func (c content) all() []receipt.ServerKey { return slices.Concat(c.Others, c.Keys) }

func (k *Keys) read() error {
	raw, err := os.ReadFile(k.path)
	if err != nil {
		return err
	}
	var c content
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	block, _ := pem.Decode([]byte(c.Private))
	if block == nil {
		return errors.New("it has no private key")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return err
	}
	private, is := parsed.(ed25519.PrivateKey)
	if !is {
		return fmt.Errorf("its private key is not Ed25519 but %T", parsed)
	}
	current := receipt.NewKey(private)
	if len(c.Keys) == 0 || c.Keys[len(c.Keys)-1].ID != current.ID {
		return errors.New("its last public key is not that of its private key")
	}
	k.content, k.current = c, current
	return nil
}

// make makes a key and keeps it, signed by the one before, of which only the public half is kept.
func (k *Keys) make() error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	made, at := receipt.NewKey(private), k.now().UTC().Truncate(time.Second)
	entry := receipt.ServerKey{ID: made.ID, PublicKey: receipt.PublicText(made.Public()), MadeAt: at}
	keys := slices.Clone(k.content.Keys)
	if n := len(keys); n > 0 {
		keys[n-1].RetiredAt = &at
		if err := k.current.Follow(&entry); err != nil {
			return err
		}
	}
	c := content{
		Private: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		Keys:    append(keys, entry), Others: k.content.Others,
	}
	if err := k.write(c); err != nil {
		return err
	}
	k.current = made
	return nil
}

// write replaces the file.
func (k *Keys) write(c content) error {
	raw, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if _, err := disk.Replace(k.path, bytes.NewReader(append(raw, '\n')), 0o600); err != nil {
		return err
	}
	k.content = c
	return nil
}

// Learn keeps keys of another desk, see receipt.KeysOf. What it had before stays good: it signed with it.
func (k *Keys) Learn(keys []receipt.ServerKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.content
	for _, key := range keys {
		if !slices.ContainsFunc(c.all(), func(known receipt.ServerKey) bool { return known.ID == key.ID }) {
			c.Others = append(slices.Clip(c.Others), key)
		}
	}
	if len(c.Others) == len(k.content.Others) {
		return nil
	}
	return k.write(c)
}

// Own is every key of this server there ever was, the newest last.
func (k *Keys) Own() []receipt.ServerKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.content.Keys)
}

// Current is the key that signs now.
func (k *Keys) Current() *receipt.Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current
}

// List is every key there ever was: those of the other desks of the team, and then the own, the newest last.
func (k *Keys) List() []receipt.ServerKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.content.all()
}

// Rotate makes another key, which signs from now on, and returns it. What the one before signed stays good.
func (k *Keys) Rotate() (receipt.ServerKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.make(); err != nil {
		return receipt.ServerKey{}, human.Wrap(human.Unavailable, err, "the new key could not be saved in %s: %v", k.path, err)
	}
	return k.content.Keys[len(k.content.Keys)-1], nil
}
