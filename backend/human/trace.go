package human

import (
	"encoding/hex"
	"strings"
)

// Traceparent returns a text where it is a traceparent of W3C Trace Context, version 00: lowercase hex, no id all zeros. Else "":
// the specification has a receiver ignore another.
func Traceparent(text string) string {
	parts := strings.Split(text, "-")
	if len(parts) != 4 || parts[0] != "00" || text != strings.ToLower(text) {
		return ""
	}
	for i, size := range []int{1, 16, 8, 1} {
		raw, err := hex.DecodeString(parts[i])
		if err != nil || len(raw) != size || size > 1 && strings.Trim(parts[i], "0") == "" {
			return ""
		}
	}
	return text
}
