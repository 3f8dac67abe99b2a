package hub

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
	"deskbell/backend/store/team"
)

// Files of a hub's folder.
const (
	keysFile    = "keys.json" // all private keys of the hub
	teamKeyFile = "team.key"  // the team's own key, which the hub needs for links only
	lockFile    = "lock"      // held by the hub that runs
	addressFile = "hub.json"  // where the hub that runs is reached
)

// keys are the private keys of a hub. The hubs of a cluster have the same.
type keys struct {
	Team     string // the team's name
	Operator string // seeds of nkeys
	System   string
	Account  string
	Roles    map[team.Role]string
	CA       []byte // a certificate, in DER
	CAKey    []byte // in PKCS 8

	teamKey string // base64url
}

// MakeKeys makes the keys of a team in a folder, where there are none: the hubs of a cluster share them.
func MakeKeys(dir, team string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return human.Wrap(human.Unavailable, err, "the hub's folder cannot be made: %v", err)
	}
	_, err := loadKeys(dir, team, time.Now())
	return err
}

// keysOf reads the keys of a hub whose folder is dir, from the folder from if that is given. Only a hub's own folder gets new ones: a hub
// that made keys where others' should be would be one of no cluster.
func keysOf(dir, from, name string, now time.Time) (*keys, error) {
	if from == "" {
		return loadKeys(dir, name, now)
	}
	if _, err := os.Stat(filepath.Join(from, keysFile)); err != nil {
		return nil, human.Wrap(human.Invalid, err, "the team's keys are not in %s; `deskbell hub keys` makes them", from)
	}
	return loadKeys(from, name, now)
}

// loadKeys reads the keys of a folder, or makes them there.
func loadKeys(dir, name string, now time.Time) (*keys, error) {
	raw, err := os.ReadFile(filepath.Join(dir, keysFile))
	if errors.Is(err, fs.ErrNotExist) {
		return makeKeys(dir, name, now)
	}
	k := &keys{}
	if err == nil {
		err = json.Unmarshal(raw, k)
	}
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "the hub's keys cannot be read")
	}
	teamKey, err := os.ReadFile(filepath.Join(dir, teamKeyFile))
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "the team's key cannot be read; it belongs beside the hub's other keys")
	}
	k.teamKey = string(bytes.TrimSpace(teamKey))
	return k, nil
}

func makeKeys(dir, name string, now time.Time) (*keys, error) {
	if name == "" {
		return nil, human.BadField("team", "is empty; the first start of a hub needs the team's name")
	}
	var all error
	seed := func(make func() (nkeys.KeyPair, error)) string {
		pair, err := make()
		if err != nil {
			all = errors.Join(all, err)
			return ""
		}
		raw, err := pair.Seed()
		all = errors.Join(all, err)
		return string(raw)
	}
	k := &keys{
		Team: name, Operator: seed(nkeys.CreateOperator), System: seed(nkeys.CreateAccount), Account: seed(nkeys.CreateAccount),
		Roles: map[team.Role]string{}, teamKey: secret(),
	}
	for _, r := range team.Roles {
		k.Roles[r] = seed(nkeys.CreateAccount)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err == nil {
		k.CAKey, err = x509.MarshalPKCS8PrivateKey(key)
	}
	if err == nil {
		k.CA, err = x509.CreateCertificate(rand.Reader, authority(name, now), authority(name, now), key.Public(), key)
	}
	var raw []byte
	if err == nil {
		raw, err = json.Marshal(k)
	}
	// The keys are written last: where they are, all is.
	if err = errors.Join(all, err); err == nil {
		_, err = disk.Replace(filepath.Join(dir, teamKeyFile), bytes.NewReader([]byte(k.teamKey+"\n")), 0o600)
	}
	if err == nil {
		_, err = disk.Replace(filepath.Join(dir, keysFile), bytes.NewReader(raw), 0o600)
	}
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "the hub's keys cannot be made")
	}
	return k, nil
}

// secret is 32 random bytes, as they stand in links.
func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// The certificates begin a day ago, for clocks that differ.
func authority(name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Deskbell hub of " + name}, NotBefore: now.Add(-24 * time.Hour), NotAfter: now.AddDate(20, 0, 0),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
}

// fingerprint is how a link names the CA.
func fingerprint(ca []byte) string {
	sum := sha256.Sum256(ca)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// certificate makes this server's certificate, for as long as it runs. It is also good for localhost, where the hub's commands reach it.
func (k *keys) certificate(hosts []string, now time.Time) (tls.Certificate, error) {
	ca, err := x509.ParseCertificate(k.CA)
	if err != nil {
		return tls.Certificate{}, err
	}
	parent, err := x509.ParsePKCS8PrivateKey(k.CAKey)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, err
	}
	own := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Deskbell hub"}, NotBefore: now.Add(-24 * time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range append([]string{"localhost", "127.0.0.1", "::1"}, hosts...) {
		if ip := net.ParseIP(host); ip != nil {
			own.IPAddresses = append(own.IPAddresses, ip)
		} else {
			own.DNSNames = append(own.DNSNames, host)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, own, ca, key.Public(), parent)
	return tls.Certificate{Certificate: [][]byte{der, k.CA}, PrivateKey: key}, err
}

// pool trusts the hub's CA and no other.
func pool(ca []byte) (*x509.CertPool, error) {
	c, err := x509.ParseCertificate(ca)
	if err != nil {
		return nil, err
	}
	p := x509.NewCertPool()
	p.AddCert(c)
	return p, nil
}

func pemOf(ca []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca}))
}

// public is the public half of a seed.
func public(seed string) (string, error) {
	pair, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return "", err
	}
	return pair.PublicKey()
}

// operatorClaims, systemToken and accountToken are what the server trusts.
func (k *keys) operatorClaims() (*jwt.OperatorClaims, error) {
	operator, err := nkeys.FromSeed([]byte(k.Operator))
	if err != nil {
		return nil, err
	}
	subject, err := operator.PublicKey()
	if err != nil {
		return nil, err
	}
	c := jwt.NewOperatorClaims(subject)
	c.Name = k.Team
	if c.SystemAccount, err = public(k.System); err != nil {
		return nil, err
	}
	token, err := c.Encode(operator)
	if err != nil {
		return nil, err
	}
	return jwt.DecodeOperatorClaims(token)
}

func (k *keys) systemToken() (string, error) {
	operator, err := nkeys.FromSeed([]byte(k.Operator))
	if err != nil {
		return "", err
	}
	subject, err := public(k.System)
	if err != nil {
		return "", err
	}
	c := jwt.NewAccountClaims(subject)
	c.Name = "system"
	return c.Encode(operator)
}

// accountToken describes the team's account: a signing key for each role, whose desks may do what the role may, and keys that are
// revoked. A key is never good again, so that no clock counts.
func (k *keys) accountToken(revoked []string) (string, error) {
	operator, err := nkeys.FromSeed([]byte(k.Operator))
	if err != nil {
		return "", err
	}
	subject, err := public(k.Account)
	if err != nil {
		return "", err
	}
	c := jwt.NewAccountClaims(subject)
	c.Name = k.Team
	c.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	for _, r := range team.Roles {
		scope := jwt.NewUserScope()
		scope.Role = string(r)
		if scope.Key, err = public(k.Roles[r]); err != nil {
			return "", err
		}
		scope.Template.Pub.Allow, scope.Template.Sub.Allow = r.Permissions()
		scope.Template.AllowedConnectionTypes = jwt.StringList{jwt.ConnectionTypeInProcess} // after checks by pass
		c.SigningKeys.AddScopedSigner(scope)
	}
	for _, key := range revoked {
		c.RevokeAt(key, time.Unix(1<<40, 0))
	}
	return c.Encode(operator)
}

// userToken are the credentials of a desk: its key and name, signed with its role's key.
func (k *keys) userToken(key, desk string, r team.Role) (string, error) {
	signer, err := nkeys.FromSeed([]byte(k.Roles[r]))
	if err != nil {
		return "", err
	}
	c := jwt.NewUserClaims(key)
	c.Name = desk
	c.SetScoped(true)
	if c.IssuerAccount, err = public(k.Account); err != nil {
		return "", err
	}
	return c.Encode(signer)
}

// ownToken makes a user of the hub itself in an account, who may do everything there, and its seed.
func ownToken(account string) (token, seed string, err error) {
	signer, err := nkeys.FromSeed([]byte(account))
	if err != nil {
		return "", "", err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", "", err
	}
	raw, err := pair.Seed()
	if err != nil {
		return "", "", err
	}
	subject, err := pair.PublicKey()
	if err != nil {
		return "", "", err
	}
	c := jwt.NewUserClaims(subject)
	c.Name = "hub"
	token, err = c.Encode(signer)
	return token, string(raw), err
}
