// Package phones keeps what an operator's phones need of a data folder: the certificate that Deskbell shows them, and which of them
// are paired. It keeps no secret of a phone.
package phones

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
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

// Devices returns the paired devices. None where there is no file; an Unavailable error where it cannot be read.
func (s *Store) Devices() ([]human.Device, error) {
	path := filepath.Join(s.dir, DevicesFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []human.Device
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the list of paired phones, %s, cannot be read: %v; move it away and pair them again", path, err)
	}
	return list, nil
}

// SaveDevices keeps them in place of those that were kept.
func (s *Store) SaveDevices(list []human.Device) error {
	raw, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
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
