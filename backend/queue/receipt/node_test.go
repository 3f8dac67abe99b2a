package receipt

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// program is the second implementation: the one that docs/receipts.md gives to its readers.
func program(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "receipts.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```js\n")
	code, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("docs/receipts.md has no program")
	}
	file := filepath.Join(t.TempDir(), "check.mjs")
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// node runs the program on a receipt; it returns what it printed, and whether it found the receipt good.
func node(t *testing.T, program string, receipt []byte, trust Trust) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	keys, err := json.Marshal(trust)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"receipt.json": receipt, "keys.json": keys} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("node", program, filepath.Join(dir, "receipt.json"), filepath.Join(dir, "keys.json")).CombinedOutput()
	if !strings.Contains(string(out), "the log is signed") {
		t.Fatalf("node: %v\n%s", err, out)
	}
	return string(out), err == nil
}

// signs is an operator's passkey in software.
func signs(t testing.TB, key *ecdsa.PrivateKey, c Context, flags byte) json.RawMessage {
	t.Helper()
	hash, err := c.Hash()
	if err != nil {
		t.Fatal(err)
	}
	sum, _ := parseHash(hash)
	b64 := base64.RawURLEncoding.EncodeToString
	client := []byte(`{"type":"webauthn.get","challenge":"` + b64(sum) + `","origin":"http://localhost:7717"}`)
	rp := sha256.Sum256([]byte("localhost"))
	data := append(rp[:], flags, 0, 0, 0, 1)
	ofClient := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte{}, data...), ofClient[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"id": "cred1", "response": map[string]string{
		"authenticatorData": b64(data), "clientDataJSON": b64(client), "signature": b64(signature),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// confirmed is a receipt of an answer that a passkey confirmed, in a log of its own, and the passkey as it is trusted.
func confirmed(t testing.TB, server *Key, flags byte, change func(*human.Event)) (Receipt, KeyEntry, error) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	entry := KeyEntry{PublicKey: base64.RawURLEncoding.EncodeToString(der)}
	op := asked(t, human.Approve, `{"action":"git push --force"}`)
	answer := human.Answer{Decision: human.Approved}
	c, err := NewContext(op, anna, "", answer, human.ByPasskey, madeAt, nonce)
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	e := human.Event{Type: human.Finished, At: madeAt, By: anna, Answer: &answer,
		Proof: &human.Proof{Means: human.ByPasskey, At: madeAt, Context: text, Assertion: signs(t, key, c, flags)}}
	if change != nil {
		change(&e)
	}
	m := Maker{Key: func() *Key { return server }, Passkey: func(context.Context, human.Actor, string) (KeyEntry, error) { return entry, nil }}
	r, err := m.Make(t.Context(), op, 2, e, nil)
	if err != nil {
		return r, entry, err
	}
	_, proof, err := Log{}.Append(leafOf(t, r), server, 1, Link{})
	if err != nil {
		t.Fatal(err)
	}
	r.LogProof = &proof
	entry.KeyClass, entry.ApproverID = classPasskey, operatorID(anna.Name)
	return r, entry, nil
}

func TestAPasskeysAnswerIsOfClassA(t *testing.T) {
	server := keyOf(1)
	r, entry, err := confirmed(t, server, userPresent|userVerified, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := Verify(encoded(t, r), trusting(server))
	if !v.Authorizes || v.Signers[0].KeyClass != classPasskey {
		t.Errorf("%+v", v)
	}
	pinned := trusting(server)
	pinned.ApproverKeys = map[string]KeyEntry{r.Signoffs[0].ApproverKeyID: entry}
	if v := Verify(encoded(t, r), pinned); !v.Authorizes {
		t.Errorf("with the passkey known: %+v", v.Checks)
	}
	_, other, _ := confirmed(t, server, userPresent|userVerified, nil)
	pinned.ApproverKeys[r.Signoffs[0].ApproverKeyID] = other
	if v := Verify(encoded(t, r), pinned); v.Authentic {
		t.Error("the receipt's own word for the passkey counts more than what the verifier knows")
	}
	r.ApproverKeyProofs = nil
	if v := Verify(encoded(t, r), trusting(server)); v.Authentic {
		t.Error("a passkey that nobody vouches for was taken")
	}
	if r, _, err := confirmed(t, server, userPresent, nil); err != nil || r.Signoffs[0].KeyClass != classServer || !Verify(encoded(t, r), trusting(server)).Authorizes {
		t.Errorf("without verifying its user: %+v, %v", r.Signoffs, err)
	}
}

func TestAPasskeyConfirmsThisAnswerOnly(t *testing.T) {
	for name, change := range map[string]func(*human.Event){
		"another decision": func(e *human.Event) { e.Answer = &human.Answer{Decision: human.Refused} },
		"other words":      func(e *human.Event) { e.Answer = &human.Answer{Decision: human.Approved, HumanInput: "x"} },
		"another operator": func(e *human.Event) { e.By.Name = "ben" },
		"too late":         func(e *human.Event) { e.At = e.At.Add(validity + 1) },
		"too early":        func(e *human.Event) { e.At = e.At.Add(-1) },
	} {
		if _, _, err := confirmed(t, keyOf(1), userPresent|userVerified, change); human.KindOf(err) != human.Conflict {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two implementations agree on every receipt, good or not.
func TestTheProgramOfTheDocumentsAgrees(t *testing.T) {
	check, server := program(t), keyOf(1)
	all := receipts(t, server, 6)
	a, _, err := confirmed(t, server, userPresent|userVerified, nil)
	if err != nil {
		t.Fatal(err)
	}
	agree := func(name string, raw []byte, trust Trust) {
		t.Helper()
		out, good := node(t, check, raw, trust)
		if ours := Verify(raw, trust); good != ours.Authorizes {
			t.Errorf("%s: node says %t, we say %t\n%s%+v", name, good, ours.Authorizes, out, ours.Checks)
		}
	}
	agree("the first", encoded(t, all[0]), trusting(server))
	agree("the sixth", encoded(t, all[5]), trusting(server))
	agree("a denial", encoded(t, all[2]), trusting(server))
	agree("a passkey's", encoded(t, a), trusting(server))
	agree("another server's", encoded(t, all[0]), trusting(keyOf(2)))
	for name, change := range map[string]func(r *Receipt){
		"the action":    func(r *Receipt) { r.Action.Parameters.Digest = hashOf(nil) },
		"the decision":  func(r *Receipt) { r.Contexts[0].Decision = Denied },
		"the signature": func(r *Receipt) { r.Signoffs[0].Signature = all[0].Signoffs[0].Signature },
		"the time":      func(r *Receipt) { r.Consumption.CommittedAt = timeText(madeAt.Add(10 * validity)) },
		"the root":      func(r *Receipt) { r.LogProof.Checkpoint.RootHash = hashOf(nil) },
	} {
		r := all[5]
		r.Contexts, r.Signoffs = append([]Context{}, r.Contexts...), append([]Signoff{}, r.Signoffs...)
		proof := *r.LogProof
		r.LogProof = &proof
		change(&r)
		agree("a change of "+name, encoded(t, r), trusting(server))
	}
}
