package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"deskbell/backend/human"
)

// Bounds of what two implementations write alike (section 13.12 of the draft).
const (
	maxDepth   = 64
	maxInteger = 1<<53 - 1
)

// Canonical is JSON in its canonical form (RFC 8785). An error for what other implementations could read otherwise: a name
// twice in an object, half a surrogate pair, a number that is not an integer of at most 2^53-1, more than 64 levels.
func Canonical(raw []byte) ([]byte, error) {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.ReadToken()
		if err != nil {
			break // the end, or what Canonicalize says
		}
		if d.StackDepth() > maxDepth {
			return nil, human.Errorf(human.Invalid, "there are more than %d levels of JSON", maxDepth)
		}
		if token.Kind() == '0' {
			text := token.String()
			f, err := strconv.ParseFloat(text, 64)
			if err != nil || f != math.Trunc(f) || math.Abs(f) > maxInteger {
				return nil, human.Errorf(human.Invalid, "%s is not an integer of at most 2^53-1", text)
			}
		}
	}
	value := jsontext.Value(bytes.Clone(raw))
	if err := value.Canonicalize(); err != nil {
		return nil, err
	}
	return value, nil
}

// canonical is the canonical form of a value of ours, or of one that was read by Canonical before. The members of our types stand
// in order, so of ASCII that needs no escapes by number, encoding/json writes that form.
func canonical(v any) ([]byte, error) {
	var to bytes.Buffer
	e := json.NewEncoder(&to)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(to.Bytes(), []byte("\n"))
	if !bytes.Contains(raw, []byte(`\u`)) && !slices.ContainsFunc(raw, func(b byte) bool { return b > unicode.MaxASCII }) {
		return raw, nil
	}
	err := (*jsontext.Value)(&raw).Canonicalize()
	return raw, err
}

// A hash is written "sha256:" and 64 hex digits.
const hashPrefix = "sha256:"

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hashPrefix + hex.EncodeToString(sum[:])
}

// hashed is the hash of a value's canonical form.
func hashed(v any) (string, error) {
	b, err := canonical(v)
	return hashOf(b), err
}

var errHash = human.Errorf(human.Invalid, `is not "sha256:" and 64 hex digits`)

func parseHash(text string) ([]byte, error) {
	digits, is := strings.CutPrefix(text, hashPrefix)
	sum, err := hex.DecodeString(digits)
	if !is || err != nil || len(sum) != sha256.Size || digits != strings.ToLower(digits) {
		return nil, errHash
	}
	return sum, nil
}
