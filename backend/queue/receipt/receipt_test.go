package receipt

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"deskbell/backend/human"
)

// vectors reads a file of the draft's published test vectors.
func vectors[T any](t testing.TB, name string) []T {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Count   int `json:"count"`
		Vectors []T `json:"vectors"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if file.Count == 0 || len(file.Vectors) != file.Count {
		t.Fatalf("%s has %d vectors, and says %d", name, len(file.Vectors), file.Count)
	}
	return file.Vectors
}

func TestCanonicalIsThatOfThePublishedVectors(t *testing.T) {
	type vector struct {
		ID     string
		Expect struct{ Valid bool }
		Given  struct {
			Text   string `json:"input_json"`
			Digest string `json:"expected_digest"`
		} `json:"canonicalization"`
	}
	for _, v := range vectors[vector](t, "canonicalization.json") {
		got, err := Canonical([]byte(v.Given.Text))
		if (err == nil) != v.Expect.Valid {
			t.Errorf("%s: %v", v.ID, err)
		} else if err == nil && hashOf(got) != hashPrefix+v.Given.Digest {
			t.Errorf("%s: %s is not the canonical form", v.ID, got)
		}
	}
}

// What is written without sorting is in order, whatever a name or a text has.
func TestWhatIsWrittenIsCanonical(t *testing.T) {
	key := keyOf(1)
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.Bool().Draw(t, "plain") // needs no care, all of it
		text := func(of string) string {
			if plain {
				return rapid.StringMatching(`[ -~]*`).Draw(t, of)
			}
			return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a<b>&c", "\u2028", "\x01\b\f\x7f", "安娜", `"\`, "\xff"})).Draw(t, of)
		}
		c := Context{Initiator: text("initiator"), Approver: text("approver"), Nonce: text("nonce"), RequiredApprovals: 2, Means: human.ByPIN}
		r := Receipt{
			ReceiptID: text("id"), Action: Action{Initiator: c.Initiator, Target: Target{"deskbell", text("resource")}}, Contexts: []Context{c},
			Signoffs:          []Signoff{{Signature: "s", WebAuthn: &Assertion{"a", text("client"), "s"}}},
			LogProof:          &LogProof{InclusionPath: []Step{{"h", "left"}}, Checkpoint: Checkpoint{LogKeyID: key.ID}},
			ApproverKeyProofs: []KeyProof{{LogKeyID: key.ID, Key: KeyEntry{ApproverID: text("owner"), ValidFrom: madeAt}}},
		}
		for _, v := range []any{r, c, policy{PolicyID: "p", Operators: []string{text("operator")}}, map[string]string{text("name"): "x", "z": "y", "Z": text("value")}} {
			got, err := canonical(v)
			raw, _ := json.Marshal(v)
			want := jsontext.Value(raw)
			if err2 := want.Canonicalize(); err != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s, %v\n%s, %v", got, err, want, err2)
			}
		}
	})
}

var (
	madeAt = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	nonce  = bytes.Repeat([]byte{7}, MinNonce)
	anna   = human.Actor{Role: human.Operator, Name: "anna"}
)

// asked is an operation as it stands before its answer.
func asked(t testing.TB, k human.Kind, details string) human.Operation {
	t.Helper()
	op, err := human.Operation{ID: "op_1"}.Apply(human.Event{Type: human.Invoked, At: madeAt, By: human.Actor{Role: human.Agent, Name: "bot"},
		Request: &human.Request{Kind: k, Description: "push", Details: json.RawMessage(details), AgentID: "bot"}})
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func TestAContextDependsOnEverythingTheAnswerIsAbout(t *testing.T) {
	op := asked(t, human.Approve, `{"action":"git push --force"}`)
	made := func(op human.Operation, by human.Actor, a human.Answer, means human.Means, at time.Time, nonce []byte) string {
		t.Helper()
		c, err := NewContext(op, by, "", a, means, at, nonce)
		if err != nil {
			t.Fatal(err)
		}
		h, err := c.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	yes := human.Answer{Decision: human.Approved}
	is := made(op, anna, yes, human.ByPasskey, madeAt, nonce)
	if again := made(op, anna, yes, human.ByPasskey, madeAt, nonce); again != is {
		t.Error("the same answer has two contexts")
	}
	other := op
	other.ID = "op_2"
	for name, differs := range map[string]string{
		"operation": made(other, anna, yes, human.ByPasskey, madeAt, nonce),
		"arguments": made(asked(t, human.Approve, `{"action":"git push"}`), anna, yes, human.ByPasskey, madeAt, nonce),
		"details":   made(asked(t, human.Approve, `{"action":"git push --force","impact":"none"}`), anna, yes, human.ByPasskey, madeAt, nonce),
		"operator":  made(op, human.Actor{Role: human.Operator, Name: "ben"}, yes, human.ByPasskey, madeAt, nonce),
		"decision":  made(op, anna, human.Answer{Decision: human.Refused}, human.ByPasskey, madeAt, nonce),
		"words":     made(op, anna, human.Answer{Decision: human.Approved, HumanInput: "but gently"}, human.ByPasskey, madeAt, nonce),
		"fields":    made(op, anna, human.Answer{Decision: human.Approved, Fields: map[string]string{"a": "b"}}, human.ByPasskey, madeAt, nonce),
		"means":     made(op, anna, yes, human.ByPIN, madeAt, nonce),
		"time":      made(op, anna, yes, human.ByPasskey, madeAt.Add(time.Second), nonce),
		"nonce":     made(op, anna, yes, human.ByPasskey, madeAt, bytes.Repeat([]byte{8}, MinNonce)),
	} {
		if differs == is {
			t.Errorf("another %s gives the same context", name)
		}
	}
}

func TestAContextNeedsANonceAndAnAnswerThatFits(t *testing.T) {
	op := asked(t, human.Approve, `{"action":"ls"}`)
	if _, err := NewContext(op, anna, "", human.Answer{Decision: human.Approved}, "", madeAt, nonce[:MinNonce-1]); err == nil {
		t.Error("a short nonce was taken")
	}
	if _, err := NewContext(op, anna, "", human.Answer{HumanInput: "yes"}, "", madeAt, nonce); human.KindOf(err) != human.Invalid {
		t.Errorf("an approval without a decision gave %v", err)
	}
	c, err := NewContext(op, anna, Declined, human.Answer{HumanInput: "not mine"}, "", madeAt, nonce)
	if err != nil || c.Decision != Declined || c.Means != BySession {
		t.Errorf("declining gave %+v, %v", c, err)
	}
}
