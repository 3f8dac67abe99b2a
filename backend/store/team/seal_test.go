package team

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"deskbell/backend/human"
)

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// What is sealed is opened with the same key for the same purpose, and nothing else is: not changed, cut short, longer, or put together
// from parts of others.
func TestSeal(t *testing.T) {
	t.Parallel()
	key := randomBytes(32)
	sealed := func(about string, plain []byte) []byte {
		t.Helper()
		s, err := seal(key, about, iotest.HalfReader(bytes.NewReader(plain)))
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	opened := func(key []byte, about string, text []byte) ([]byte, error) {
		o, err := open(key, about, iotest.HalfReader(bytes.NewReader(text)))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(o)
	}
	for _, n := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 3 * chunkSize, 5*chunkSize + 7} {
		plain := randomBytes(n)
		text := sealed("a", plain)
		if got, err := opened(key, "a", text); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes: %d come back, %v", n, len(got), err)
		}
		if n >= 16 && bytes.Contains(text, plain[:16]) {
			t.Errorf("%d bytes can be read as they are", n)
		}
	}
	const chunk = chunkSize + tagSize
	plain := randomBytes(3*chunkSize + 100)
	text, other := sealed("a", plain), sealed("a", randomBytes(3*chunkSize+100))
	at := func(text []byte, i int) []byte { return text[saltSize+i*chunk : min(saltSize+(i+1)*chunk, len(text))] }
	for name, bad := range map[string][]byte{
		"nothing":                   {},
		"a part of its head":        text[:saltSize-1],
		"its head only":             text[:saltSize],
		"without the last chunk":    text[:saltSize+3*chunk],
		"without the last byte":     text[:len(text)-1],
		"with a byte more":          append(slices.Clone(text), 0),
		"with the last chunk twice": append(slices.Clone(text), at(text, 3)...),
		"with two chunks exchanged": slices.Concat(text[:saltSize], at(text, 1), at(text, 0), at(text, 2), at(text, 3)),
		"without a chunk":           slices.Concat(text[:saltSize], at(text, 0), at(text, 2), at(text, 3)),
		"with another's chunk":      slices.Concat(text[:saltSize], at(text, 0), at(other, 1), at(text, 2), at(text, 3)),
		"with another's head":       slices.Concat(other[:saltSize], text[saltSize:]),
	} {
		if got, err := opened(key, "a", bad); !errors.Is(err, errSealed) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for _, i := range []int{0, saltSize - 1, saltSize, saltSize + chunkSize, saltSize + chunk, len(text) - tagSize - 1, len(text) - 1} {
		bad := slices.Clone(text)
		bad[i] ^= 1
		if _, err := opened(key, "a", bad); !errors.Is(err, errSealed) {
			t.Errorf("changed at %d: %v", i, err)
		}
	}
	if _, err := opened(randomBytes(32), "a", text); !errors.Is(err, errSealed) {
		t.Error("another key:", err)
	}
	if _, err := opened(key, "b", text); !errors.Is(err, errSealed) {
		t.Error("another purpose:", err)
	}
	if _, err := seal(nil, "a", bytes.NewReader(plain)); err == nil {
		t.Error("without a key it is sealed")
	}
	broken := errors.New("broken")
	s, err := seal(key, "a", io.MultiReader(bytes.NewReader(plain), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(s); !errors.Is(err, broken) {
		t.Error("what cannot be read is sealed:", err)
	}
}

// A desk gives what it sent itself, with a request or an answer.
func TestWhatADeskMayHave(t *testing.T) {
	t.Parallel()
	const mine, asker, other = "", "Ann=1", "Bob=1"
	file := []human.Attachment{{ID: "att_1"}}
	began := func(desk string, files []human.Attachment) human.Entry {
		return human.Entry{Event: human.Event{Type: human.Invoked, Desk: desk, Request: &human.Request{Attachments: files}}}
	}
	then := func(e human.EventType, desk string) human.Entry {
		return human.Entry{Event: human.Event{Type: e, Desk: desk, Answer: &human.Answer{Files: file}}}
	}
	for name, tt := range map[string]struct {
		entries     []human.Entry
		any, answer bool
	}{
		"no operation":                            {},
		"a file of this desk's request":           {[]human.Entry{began(mine, file)}, true, false},
		"a request without it":                    {[]human.Entry{began(mine, nil)}, false, false},
		"a request of the asker that names it":    {[]human.Entry{began(asker, file)}, false, false},
		"a draft":                                 {[]human.Entry{began(asker, nil), then(human.InputSaved, mine)}, false, false},
		"an answer that is held":                  {[]human.Entry{began(asker, nil), then(human.Held, mine)}, false, false},
		"this desk's answer to the asker":         {[]human.Entry{began(asker, nil), then(human.Finished, mine)}, true, true},
		"this desk's answer to another":           {[]human.Entry{began(other, nil), then(human.Finished, mine)}, true, false},
		"this desk's answer to its own agent":     {[]human.Entry{began(mine, nil), then(human.Finished, mine)}, true, false},
		"an answer of another desk that names it": {[]human.Entry{began(asker, nil), then(human.Finished, other)}, false, false},
		"an answer of the asker's desk that does": {[]human.Entry{began(asker, nil), then(human.Finished, asker)}, false, false},
		"a file of this desk's request, answered": {[]human.Entry{began(mine, file), then(human.Finished, asker)}, true, false},
	} {
		for r, may := range map[Reader]bool{AnyReader: tt.any, AnswerReader: tt.answer, "else": false} {
			err := Ask{Operation: "op_1", Attachment: "att_1"}.May(asker, r, tt.entries)
			if (err == nil) != may || err != nil && human.KindOf(err) != human.Denied {
				t.Errorf("%s, for %s: %v", name, r, err)
			}
			answered := len(tt.entries) > 1 && tt.entries[1].Event.Type == human.Finished
			may = answered && (r == AnyReader || r == AnswerReader && tt.entries[0].Event.Desk == asker)
			if err := (Ask{Operation: "op_1"}).May(asker, r, tt.entries); (err == nil) != may {
				t.Errorf("evidence of %s, for %s: %v", name, r, err)
			}
		}
	}
}
