package phones

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deskbell/backend/human"
)

func TestCertificate(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	s := New(t.TempDir(), func() time.Time { return now })
	first, err := s.Certificate([]string{"studio.local", "192.168.1.20", "fd00::20"})
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"studio.local", "192.168.1.20", "[fd00::20]"} {
		if err := first.Leaf.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	if first.Leaf.IsCA || first.Leaf.NotAfter.Sub(first.Leaf.NotBefore) > 398*24*time.Hour {
		t.Errorf("a certificate that phones would not take: %v", first.Leaf.NotAfter)
	}
	info, err := os.Stat(filepath.Join(s.dir, CertificateFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	same := func(hosts []string, certificate, key bool) {
		t.Helper()
		next, err := s.Certificate(hosts)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(next.Leaf.Raw, first.Leaf.Raw) != certificate || bytes.Equal(next.Leaf.RawSubjectPublicKeyInfo, first.Leaf.RawSubjectPublicKeyInfo) != key {
			t.Errorf("for %v: same certificate wanted %v, same key %v", hosts, certificate, key)
		}
	}
	same([]string{"192.168.1.20"}, true, true)
	same([]string{"192.168.1.21"}, false, true)
	first, err = s.Certificate([]string{"192.168.1.21"})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(certificateLife - renewed)
	same([]string{"192.168.1.21"}, false, true)
	if err := os.WriteFile(filepath.Join(s.dir, CertificateFile), []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Certificate(nil); human.KindOf(err) != human.Unavailable {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestDevices(t *testing.T) {
	s := New(t.TempDir(), time.Now)
	if list, whole, err := s.Devices(); err != nil || !whole || len(list) != 0 {
		t.Errorf("of a new folder: %v, %v", list, err)
	}
	one := human.Device{ID: "ph_1", Name: "Ada's phone", Operator: "ada", PairedAt: time.Now().UTC().Truncate(time.Second), Hash: "ab"}
	save := func(list ...human.Device) []byte {
		t.Helper()
		if err := s.SaveDevices(list); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(s.dir, DevicesFile))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	older := save(one)
	if list, whole, err := s.Devices(); err != nil || !whole || len(list) != 1 || list[0] != one {
		t.Errorf("read %v, %v, %v", list, whole, err)
	}
	for _, name := range []string{DevicesFile, SealFile} {
		if info, err := os.Stat(filepath.Join(s.dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
	two := one
	two.ID, two.Hash = "ph_2", "cd"
	newer := save(one, two)
	for name, raw := range map[string][]byte{
		"another hash": bytes.Replace(newer, []byte(`"cd"`), []byte(`"ce"`), 1), "an older list": older, "no seal": []byte(`{"devices":[{"id":"ph_3","hash":"ef"}]}`),
	} {
		write(t, s, DevicesFile, raw)
		if list, whole, err := s.Devices(); err != nil || whole || len(list) == 0 {
			t.Errorf("%s: %v, whole %v, %v", name, list, whole, err)
		}
	}
	write(t, s, DevicesFile, newer)
	if _, whole, err := s.Devices(); err != nil || !whole {
		t.Errorf("put back: whole %v, %v", whole, err)
	}
	write(t, s, SealFile, nil)
	if _, whole, err := s.Devices(); err != nil || whole {
		t.Errorf("without a key: whole %v, %v", whole, err)
	}
	write(t, s, DevicesFile, []byte("{"))
	if _, _, err := s.Devices(); human.KindOf(err) != human.Unavailable {
		t.Errorf("a damaged file: %v", err)
	}
}

func write(t *testing.T, s *Store, name string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}
