package receiptkeys

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

var at = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

func clock() time.Time { return at }

func TestAKeyIsMadeOnceAndKept(t *testing.T) {
	dir := t.TempDir()
	k, err := Open(dir, clock)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir, clock)
	if err != nil || again.Current().ID != k.Current().ID || !reflect.DeepEqual(again.List(), k.List()) {
		t.Errorf("opened again: %v, %v, was %v", again, err, k.List())
	}
	info, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
}

func TestRotatingKeepsThePublicKeysOnly(t *testing.T) {
	dir := t.TempDir()
	k, err := Open(dir, clock)
	if err != nil {
		t.Fatal(err)
	}
	first := k.Current()
	made, err := k.Rotate()
	if err != nil || made.ID == first.ID || k.Current().ID != made.ID {
		t.Fatalf("rotated to %+v, %v", made, err)
	}
	list, err := Public(dir)
	if err != nil || len(list) != 2 || list[0].ID != first.ID || list[0].RetiredAt == nil || !list[0].RetiredAt.Equal(at) || list[1] != made {
		t.Errorf("the keys are %+v, %v", list, err)
	}
	if again, err := Open(dir, clock); err != nil || again.Current().ID != made.ID {
		t.Errorf("opened again: %v", err)
	}
}

// Who trusts the first key learns of those after it, and of no others.
func TestEachKeyIsSignedByTheOneBefore(t *testing.T) {
	k, err := Open(t.TempDir(), clock)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := k.Rotate(); err != nil {
			t.Fatal(err)
		}
	}
	keys := k.List()
	first := receipt.TrustIn(keys[:1])
	if known := first.Succeed(keys).LogKeys; len(known) != 3 || len(first.LogKeys) != 1 {
		t.Errorf("%d of 3 keys are trusted, %d before", len(known), len(first.LogKeys))
	}
	other, err := Open(t.TempDir(), clock)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*receipt.ServerKey){
		"another key": func(s *receipt.ServerKey) {
			*s = other.List()[0]
			s.After, s.Signature = keys[1].After, keys[1].Signature
		},
		"another text":     func(s *receipt.ServerKey) { s.PublicKey = other.List()[0].PublicKey },
		"another time":     func(s *receipt.ServerKey) { s.MadeAt = s.MadeAt.Add(time.Second) },
		"no signature":     func(s *receipt.ServerKey) { s.Signature = "" },
		"another before":   func(s *receipt.ServerKey) { s.After = other.List()[0].ID },
		"signed by itself": func(s *receipt.ServerKey) { s.After = s.ID },
	} {
		changed := slices.Clone(keys)
		change(&changed[1])
		if known := first.Succeed(changed).LogKeys; len(known) != 1 {
			t.Errorf("%s: %d keys are trusted", name, len(known))
		}
	}
}

func TestADamagedFileIsNotReplaced(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "no key": `{"keys":[]}`, "cut": `{"private_key":"-----BEGIN`} {
		dir := t.TempDir()
		path := filepath.Join(dir, FileName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, clock); human.KindOf(err) != human.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("%s: the file is now %q, %v", name, after, err)
		}
	}
	if list, err := Public(t.TempDir()); err != nil || len(list) != 0 {
		t.Errorf("a folder without keys has %v, %v", list, err)
	}
}
