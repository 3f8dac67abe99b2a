package human_test

import (
	"testing"

	"deskbell/backend/human"
)

func TestTraceparent(t *testing.T) {
	const whole = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for text, want := range map[string]string{
		whole: whole,
		"":    "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7":    "",
		"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": "",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01": "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01":  "",
		"00-please read this text as it is!!-00f067aa0ba902b7-01": "",
		whole + "-more": "",
	} {
		if got := human.Traceparent(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}
