package receipt

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
)

func TestVerifyDecidesAsThePublishedTrustReceiptsSay(t *testing.T) {
	type vector struct {
		ID           string
		Expect       struct{ Valid bool }
		Receipt      json.RawMessage `json:"trust_receipt"`
		Verification json.RawMessage
		Opts         struct{ Now time.Time } `json:"verify_opts"`
	}
	for _, v := range vectors[vector](t, "trust-receipts.json") {
		var trust struct {
			Trust
			LogPublicKey string `json:"log_public_key"`
		}
		var r Receipt
		if err := json.Unmarshal(v.Verification, &trust); err != nil {
			t.Fatal(v.ID, err)
		}
		_ = json.Unmarshal(v.Receipt, &r) // some are no receipts
		if r.LogProof != nil {
			trust.LogKeys = map[string]string{r.LogProof.Checkpoint.LogKeyID: trust.LogPublicKey}
		}
		trust.Now = v.Opts.Now
		report := Verify(v.Receipt, trust.Trust)
		// The one thing we leave out: the first tree, which had no domains. It is accepted on request only, and we make none.
		if v.ID == "accept_legacy_v1_when_opted_in" {
			v.Expect.Valid = false
		}
		if report.Authorizes != v.Expect.Valid {
			t.Errorf("%s: %+v", v.ID, report.Checks)
		}
		for _, c := range report.Checks {
			if !c.OK && c.Name != checkFormat && c.Said.Code == "" { // what a library says of a format is English
				t.Errorf("%s: %q can be said in English only", v.ID, c.Detail)
			}
		}
		if failed := failedChecks(report); v.ID == "reject_signed_denial_as_authorization" && (!report.Authentic || failed != checkApproved) {
			t.Errorf("%s: a signed denial is authentic and approves nothing, got %s", v.ID, failed)
		}
	}
}

func failedChecks(r Verification) string {
	var names []string
	for _, c := range r.Checks {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestAPasskeysAssertionIsTakenAsThePublishedSignoffsSay(t *testing.T) {
	type vector struct {
		ID      string
		Expect  struct{ Valid bool }
		RPID    string   `json:"rp_id"`
		Origins []string `json:"allowed_origins"`
		Key     string   `json:"approver_public_key"`
		Signoff struct {
			Context  json.RawMessage
			WebAuthn Assertion
		}
	}
	for _, v := range vectors[vector](t, "signoffs.json") {
		c, err := Canonical(v.Signoff.Context)
		if err == nil {
			err = checkAssertion(v.Signoff.WebAuthn, hashOf(c), v.Key, v.RPID, v.Origins)
		}
		if (err == nil) != v.Expect.Valid {
			t.Errorf("%s: %v", v.ID, err)
		}
	}
}

// The older envelope EP-RECEIPT-v1 is another format; its canonical JSON, signatures and trees are the same.
func TestSignaturesAndTreesAreThoseOfThePublishedEnvelopes(t *testing.T) {
	type vector struct {
		ID     string
		Expect struct{ Valid bool }
		Key    string          `json:"public_key"`
		Doc    json.RawMessage `json:"document"`
	}
	for _, v := range vectors[vector](t, "receipts.json") {
		var doc struct {
			Version   string `json:"@version"`
			Payload   json.RawMessage
			Signature struct{ Value string }
			Anchor    *struct {
				Alg   string
				Leaf  string `json:"leaf_hash"`
				Proof []Step `json:"merkle_proof"`
				Root  string `json:"merkle_root"`
			}
		}
		valid := json.Unmarshal(v.Doc, &doc) == nil && doc.Version == "EP-RECEIPT-v1"
		b, err := Canonical(doc.Payload)
		key, err2 := parsePublic(v.Key)
		signature, err3 := parseBase64(doc.Signature.Value)
		valid = valid && errors.Join(err, err2, err3) == nil && ed25519.Verify(key.(ed25519.PublicKey), b, signature)
		if valid && doc.Anchor != nil {
			root, err := rootOf(leafHash(b), doc.Anchor.Proof)
			valid = err == nil && doc.Anchor.Alg == merkleAlg && doc.Anchor.Leaf == leafHash(b) && root == doc.Anchor.Root
		}
		if valid != v.Expect.Valid {
			t.Errorf("%s is %t", v.ID, valid)
		}
	}
}

// keyOf is a key of a server, the same for the same seed.
func keyOf(seed byte) *Key {
	return NewKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)))
}

func trusting(key *Key) Trust {
	return Trust{LogKeys: map[string]string{key.ID: PublicText(key.Public())}}
}

// receipts are those of n answers, the third a denial, and the log after them.
func receipts(t testing.TB, key *Key, n int) (all []Receipt) {
	t.Helper()
	m := Maker{Key: func() *Key { return key }}
	var log Log
	var link Link
	for i := range n {
		op := asked(t, human.Approve, `{"action":"git push --force"}`)
		a := human.Answer{Decision: human.Approved}
		if i == 2 {
			a.Decision = human.Refused
		}
		e := human.Event{Type: human.Finished, At: madeAt.Add(time.Duration(i) * time.Second), By: anna, Answer: &a}
		r, err := m.Make(t.Context(), op, 2, e, nil)
		if err != nil {
			t.Fatal(err)
		}
		link = link.Next(uint64(i+1), 2, []byte(r.ReceiptID))
		var proof LogProof
		if log, proof, err = log.Append(leafOf(t, r), key, uint64(i+1), link); err != nil {
			t.Fatal(err)
		}
		r.LogProof = &proof
		all = append(all, r)
		if resumed := ResumeLog(proof); !reflect.DeepEqual(resumed, log) {
			t.Fatalf("after %d receipts the log resumes as %+v, and is %+v", i+1, resumed, log)
		}
	}
	return all
}

func TestEveryReceiptOfALogVerifies(t *testing.T) {
	key := keyOf(1)
	all := receipts(t, key, 21)
	for i, r := range all {
		report := Verify(encoded(t, r), trusting(key))
		if report.Authorizes != (i != 2) || !report.Authentic || report.Position != uint64(i+1) {
			t.Errorf("receipt %d: %+v", i+1, report)
		}
		if i > 0 && r.LogProof.Checkpoint.PrevReceiptHash != all[i-1].LogProof.LeafHash {
			t.Errorf("receipt %d does not name the one before it", i+1)
		}
	}
	if r := Verify(encoded(t, all[0]), trusting(keyOf(2))); r.Authentic || failedChecks(r) != "signoff_signatures checkpoint_signature approved" {
		t.Errorf("with another server's key: %s", failedChecks(r))
	}
	r := Verify(encoded(t, all[0]), Trust{LogKeys: trusting(key).LogKeys, Audience: "urn:deskbell:agent:other"})
	if failedChecks(r) != checkAudience {
		t.Errorf("for another audience: %s", failedChecks(r))
	}
}

func encoded(t testing.TB, r Receipt) []byte {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Each value of a receipt in turn is another one, and then is gone.
func TestAReceiptWithAnythingChangedIsNotAuthentic(t *testing.T) {
	key := keyOf(1)
	all := receipts(t, key, 6)
	var tree any
	if err := json.Unmarshal(encoded(t, all[5]), &tree); err != nil {
		t.Fatal(err)
	}
	count := 0
	forEach(tree, "", func(path string, set func(any), value any) {
		for _, other := range []any{another(value), nil} {
			set(other)
			raw, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			if leave := path == "/log_proof/leaf_hash" && other == nil; !leave && Verify(raw, trusting(key)).Authentic { // it says nothing new
				t.Errorf("%s is %v, and the receipt is authentic", path, other)
			}
			set(value)
			count++
		}
	})
	if count < 80 {
		t.Errorf("only %d changes were tried", count)
	}
	raw, _ := json.Marshal(tree)
	if !Verify(raw, trusting(key)).Authorizes {
		t.Error("what was changed and changed back does not verify")
	}
}

func another(v any) any {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, hashPrefix) {
			return hashOf([]byte(v))
		}
		return v + "x"
	case float64:
		return v + 1
	}
	return "x"
}

func forEach(v any, path string, each func(path string, set func(any), value any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			each(path+"/"+name, func(value any) { v[name] = value }, v[name])
			forEach(v[name], path+"/"+name, each)
		}
	case []any:
		for i := range v {
			each(fmt.Sprintf("%s/%d", path, i), func(value any) { v[i] = value }, v[i])
			forEach(v[i], fmt.Sprintf("%s/%d", path, i), each)
		}
	}
}

func leafOf(tb testing.TB, r Receipt) string {
	tb.Helper()
	raw, err := r.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	leaf, err := Leaf(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return leaf
}

func BenchmarkReceipt(b *testing.B) {
	key := keyOf(1)
	m := Maker{Key: func() *Key { return key }}
	op := asked(b, human.Approve, `{"action":"git push --force"}`)
	e := human.Event{Type: human.Finished, At: madeAt, By: anna, Answer: &human.Answer{Decision: human.Approved}}
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Make(b.Context(), op, 2, e, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	r, err := m.Make(b.Context(), op, 2, e, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("add to the log", func(b *testing.B) {
		var log Log
		for b.Loop() {
			if log, _, err = log.Append(leafOf(b, r), key, 1, Link{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("link of the journal", func(b *testing.B) {
		column := bytes.Repeat([]byte("x"), 1024)
		var link Link
		for b.Loop() {
			link = link.Next(1, 2, column)
		}
	})
}
