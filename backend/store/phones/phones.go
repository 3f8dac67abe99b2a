// Package phones keeps what an operator's phones need of a data folder: the certificate that Deskbell shows them, and which of them
// are paired, under a seal. It keeps no secret of a phone.
package phones

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

// Names of files in the data folder. Only their owner may read them.
const (
	CertificateFile = "phone.pem"
	DevicesFile     = "phones.json"
	SealFile        = "phones.key" // another key after each change, so that an older list has no whole seal either
)

// Lives of a certificate: browsers take none that is longer, and a new one is made early enough.
const (
	certificateLife = 397 * 24 * time.Hour
	renewed         = 30 * 24 * time.Hour // before its end
)

// A Store is that of one data folder. Its methods are not to be called at the same time.
type Store struct {
	dir string
	now func() time.Time
}

// New makes the store of a data folder. Nothing is read or written yet.
func New(dir string, now func() time.Time) *Store { return &Store{dir, now} }

// sealed is the list as it is kept.
type sealed struct {
	Seal    []byte         `json:"seal"` // HMAC-SHA-256 of the list as compact JSON
	Devices []human.Device `json:"devices"`
}

func sealOf(key []byte, list []human.Device) ([]byte, error) {
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write(raw)
	return h.Sum(nil), nil
}

// Devices returns the paired devices, and whether they are as SaveDevices left them: who changes the list, and neither reads the key of
// its seal nor makes another, is seen. None where there is no file; an Unavailable error where one cannot be read.
func (s *Store) Devices() (list []human.Device, whole bool, err error) {
	path := filepath.Join(s.dir, DevicesFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	var kept sealed
	if err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if err != nil {
		return nil, false, human.Wrap(human.Unavailable, err, "the list of paired phones, %s, cannot be read: %v; move it away and pair them again", path, err)
	}
	keyFile := filepath.Join(s.dir, SealFile)
	key, err := os.ReadFile(keyFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, human.Wrap(human.Unavailable, err, "%s cannot be read; check its permissions", keyFile)
	}
	seal, err := sealOf(key, kept.Devices)
	return kept.Devices, len(key) > 0 && hmac.Equal(seal, kept.Seal), err
}

// SaveDevices keeps them in place of those that were kept, under a new seal. After a crash between its two files Devices says that the
// list is not whole.
func (s *Store) SaveDevices(list []human.Device) error {
	key := make([]byte, sha256.Size)
	rand.Read(key)
	seal, err := sealOf(key, list)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(sealed{seal, list}, "", "  ")
	if err != nil {
		return err
	}
	if _, err := disk.Replace(filepath.Join(s.dir, SealFile), bytes.NewReader(key), 0o600); err != nil {
		return err
	}
	_, err = disk.Replace(filepath.Join(s.dir, DevicesFile), bytes.NewReader(raw), 0o600)
	return err
}

// Certificate returns the certificate for hosts, which are names and IP addresses. It is made where there is none, where hosts were
// added to it, and before it ends; its key stays the same. An Unavailable error where it cannot be read or written.
func (s *Store) Certificate(hosts []string) (tls.Certificate, error) {
	path := filepath.Join(s.dir, CertificateFile)
	raw, err := os.ReadFile(path)
	var found tls.Certificate
	if err == nil {
		found, err = tls.X509KeyPair(raw, raw)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, human.Wrap(human.Unavailable, err, "the certificate for phones, %s, cannot be used: %v; move it away and Deskbell makes another", path, err)
	}
	var key *ecdsa.PrivateKey
	if err == nil {
		key, _ = found.PrivateKey.(*ecdsa.PrivateKey)
	}
	if key != nil && s.covers(found.Leaf, hosts) {
		return found, nil
	}
	if key == nil {
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return found, err
		}
	}
	if raw, err = s.make(key, hosts); err != nil {
		return found, err
	}
	if _, err := disk.Replace(path, bytes.NewReader(raw), 0o600); err != nil {
		return found, human.Wrap(human.Unavailable, err, "the certificate for phones, %s, cannot be written: %v", path, err)
	}
	return tls.X509KeyPair(raw, raw)
}

func (s *Store) covers(c *x509.Certificate, hosts []string) bool {
	now := s.now()
	return now.Add(renewed).Before(c.NotAfter) && !now.Before(c.NotBefore) &&
		!slices.ContainsFunc(hosts, func(h string) bool { return c.VerifyHostname(bracketed(h)) != nil })
}

// bracketed is a host as Certificate.VerifyHostname takes it.
func bracketed(host string) string {
	if net.ParseIP(host) != nil {
		return "[" + host + "]"
	}
	return host
}

// make signs a certificate with its own key. It is none that could sign others.
func (s *Store) make(key *ecdsa.PrivateKey, hosts []string) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := s.now()
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Deskbell"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife - time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...), nil
}
