package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// kept is a keychain.
type kept struct{ key string }

func (k *kept) Find(context.Context) (string, error) {
	if k.key == "" {
		return "", human.Errorf(human.NotFound, "there is no key for model.example")
	}
	return "keychain", nil
}

func (k *kept) Set(_ context.Context, key string) error {
	if strings.Contains(key, " ") {
		return human.BadField("key", "it has a space")
	}
	k.key = key
	return nil
}

func (k *kept) Remove(context.Context) error {
	if k.key == "" {
		return human.Errorf(human.NotFound, "the keychain has no key for model.example")
	}
	k.key = ""
	return nil
}

// A model's key goes from standard input into the keychain, and nowhere else.
func TestAModelsKey(t *testing.T) {
	t.Setenv("DESKBELL_DATA", t.TempDir())
	keys := &kept{}
	program := Program{Version: "test", Model: func(Place) (Model, error) { return Model{"test-model", "model.example", keys}, nil }}
	run := func(code int, in string, want string, args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		if got := Execute(t.Context(), program, append([]string{"model"}, args...), strings.NewReader(in), &out, &errs); got != code {
			t.Errorf("model %v: exit code %d, want %d: %s", args, got, code, errs.String())
		}
		if said := out.String() + errs.String(); !strings.Contains(said, want) || strings.Contains(said, "sk-1234") {
			t.Errorf("model %v says %q", args, said)
		}
	}
	run(exitYes, "", "there is no key for model.example")
	run(exitError, "a b\n", "it has a space", "set-key")
	run(exitYes, "  sk-1234\nrest", "is in the keychain", "set-key")
	if keys.key != "sk-1234" {
		t.Errorf("kept %q", keys.key)
	}
	run(exitYes, "", "test-model at model.example\nThe key is in keychain.")
	run(exitYes, "", `{"model":"test-model","host":"model.example","key_from":"keychain"}`, "--json")
	run(exitYes, "", "", "remove-key")
	run(exitError, "", "has no key", "remove-key")
}
