package team

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

// How a file is encrypted: 32 random bytes, then chunks of 64 KiB by AES-256-GCM, with a key made by HKDF-SHA-256 of the team's key, those bytes
// and what the file is for. A nonce is a chunk's number and whether it is the last: the STREAM construction (Hoang, Reyhanitabar,
// Rogaway, Vizár 2015), as in age. So no chunk can be changed, left out, moved, or taken from another file.
const (
	saltSize  = 32
	chunkSize = 64 << 10
	tagSize   = 16
	sealInfo  = "deskbell: a file of a team, 1\x00"
)

// errSealed says that what was read is not what was sealed for this, with this key.
var errSealed = errors.New("the file cannot be decrypted")

// A stream is chunks on their way through an AEAD.
type stream struct {
	from *bufio.Reader
	turn func(out, nonce, chunk []byte) ([]byte, error)
	in   []byte // room for a chunk
	out  []byte // what is to be read, of buf
	buf  []byte
	n    uint64
	err  error
}

func newStream(from io.Reader, size int, turn func(out, nonce, chunk []byte) ([]byte, error)) *stream {
	return &stream{from: bufio.NewReaderSize(from, size), turn: turn, in: make([]byte, size)}
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.out) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.next()
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

// next turns a chunk.
func (s *stream) next() {
	n, err := io.ReadFull(s.from, s.in)
	if err == nil {
		_, err = s.from.Peek(1)
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		s.err = err
		return
	}
	nonce := make([]byte, 12)
	binary.BigEndian.PutUint64(nonce[3:], s.n)
	if s.n++; err != nil {
		nonce[11] = 1
		s.err = io.EOF
	}
	out, err := s.turn(s.buf[:0], nonce, s.in[:n])
	if err != nil {
		s.err = err
		return
	}
	s.out, s.buf = out, out
}

// seal encrypts as it is read.
func seal(key []byte, about string, plain io.Reader) (io.Reader, error) {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	aead, err := aeadOf(key, salt, about)
	if err != nil {
		return nil, err
	}
	s := newStream(plain, chunkSize, func(out, nonce, chunk []byte) ([]byte, error) { return aead.Seal(out, nonce, chunk, nil), nil })
	s.out = salt
	return s, nil
}

// open decrypts as it is read; errSealed where that cannot be.
func open(key []byte, about string, sealed io.Reader) (io.Reader, error) {
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(sealed, salt); err != nil {
		return nil, errors.Join(errSealed, err)
	}
	aead, err := aeadOf(key, salt, about)
	if err != nil {
		return nil, err
	}
	return newStream(sealed, chunkSize+tagSize, func(out, nonce, chunk []byte) ([]byte, error) {
		plain, err := aead.Open(out, nonce, chunk, nil)
		if err != nil {
			return nil, errSealed
		}
		return plain, nil
	}), nil
}

func aeadOf(key, salt []byte, about string) (cipher.AEAD, error) {
	if len(key) != 32 {
		return nil, errors.New("the team's key is missing")
	}
	own, err := hkdf.Key(sha256.New, key, salt, sealInfo+about, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(own)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
