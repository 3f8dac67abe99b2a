// Package mirror is the file by which hooks know, while no Deskbell runs, what they must not be looser than: the operator's
// rules that ask and deny, the keys that count, and what is known of MCP servers' tools. Whoever changes one of these in the
// database writes the file, before the change is committed.
//
// The file carries an HMAC whose key is in the data folder, beside it. That tells a damaged file, and one that was copied from
// another folder. It does not stop a program of the same user, which can read the key; so nothing in the file makes a call
// run that would not run without it.
package mirror

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

// The files' names in the data folder.
const (
	Name    = "gate.mirror"
	KeyName = "gate.mirror.key"
)

const (
	format   = 1
	mostFile = 16 << 20
	database = "deskbell.db"
)

// Content is what the file holds.
type Content struct {
	Format int
	Folder string              // the data folder; Write fills it in
	Rules  []human.GateRule    // those that ask or deny
	Keys   map[string]string   // the agents' names, by the SHA-256 of their keys that count, in hex
	Tools  map[string][]string // SHA-256 of the definitions that are known, by agent and tool; see ToolName
}

// ToolName is a tool of an agent's in Content.Tools.
func ToolName(agent, tool string) string { return agent + "\x00" + tool }

// Hash is what Content holds of a key or a definition.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Write replaces the file of a data folder. Where that fails there is none afterwards, which makes hooks block; the error is
// that even this failed, and then the change must not be made.
func Write(dir string, c Content) error {
	err := write(dir, c)
	if err == nil {
		return nil
	}
	if gone := os.Remove(filepath.Join(dir, Name)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		return human.Wrap(human.Unavailable, errors.Join(err, gone), "what hooks know while Deskbell does not run cannot be written; check the disk and the permissions of %s", dir)
	}
	return nil
}

func write(dir string, c Content) error {
	key, err := keyOf(dir, true)
	if err != nil {
		return err
	}
	c.Format = format
	if c.Folder, err = filepath.Abs(dir); err != nil {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	sum := hmac.New(sha256.New, key)
	_, _ = sum.Write(text) // it never fails
	line := append([]byte(hex.EncodeToString(sum.Sum(nil))), '\n')
	_, err = disk.Replace(filepath.Join(dir, Name), bytes.NewReader(append(line, text...)), 0o600)
	return err
}

func keyOf(dir string, create bool) ([]byte, error) {
	name := filepath.Join(dir, KeyName)
	key, err := os.ReadFile(name)
	if err == nil && len(key) == sha256.Size {
		return key, nil
	}
	if !create {
		return nil, errors.Join(err, errors.New("there is no key to check it with"))
	}
	key = []byte(rand.Text() + rand.Text())[:sha256.Size] // 160 bits
	_, err = disk.Replace(name, bytes.NewReader(key), 0o600)
	return key, err
}

// Read returns what the file of a data folder holds. used is false where no Deskbell ever used the folder: then there is
// nothing to know. An error says why the file does not count.
func Read(dir string) (c Content, used bool, err error) {
	info, err := os.Stat(filepath.Join(dir, Name))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, database)); errors.Is(err, fs.ErrNotExist) {
			return c, false, nil
		}
		return c, true, errors.New("there is none")
	}
	if err != nil {
		return c, true, err
	}
	if info.Size() > mostFile {
		return c, true, errors.New("it is too long")
	}
	text, err := os.ReadFile(filepath.Join(dir, Name))
	if err != nil {
		return c, true, err
	}
	key, err := keyOf(dir, false)
	if err != nil {
		return c, true, err
	}
	line, text, _ := bytes.Cut(text, []byte{'\n'})
	given, err := hex.DecodeString(string(line))
	sum := hmac.New(sha256.New, key)
	_, _ = sum.Write(text) // it never fails
	if err != nil || !hmac.Equal(given, sum.Sum(nil)) {
		return c, true, errors.New("it is damaged")
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, true, err
	}
	folder, err := filepath.Abs(dir)
	switch {
	case err != nil:
		return c, true, err
	case c.Format != format:
		return c, true, errors.New("another version of Deskbell wrote it")
	case c.Folder != folder:
		return c, true, errors.New("it is another folder's")
	}
	return c, true, nil
}
