package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
	"deskbell/backend/store/team"
)

// credentialsFile is where a data folder keeps its desk's credentials.
const credentialsFile = "team.json"

// What a desk sends to join, and gets.
type (
	joinRequest struct {
		Token   string `json:"token"`
		Key     string `json:"key"` // the public half
		Member  string `json:"member,omitempty"`
		Machine string `json:"machine,omitempty"`
	}
	joinReply struct {
		JWT    string    `json:"jwt"`
		URLs   []string  `json:"urls"`
		Team   string    `json:"team"`
		Member string    `json:"member"`
		Desk   string    `json:"desk"`
		Role   team.Role `json:"role"`
	}
	problem struct {
		Kind  human.ErrorKind `json:"kind"`
		Error string          `json:"error"`
	}
)

// Credentials are what a desk has of its team.
type Credentials struct {
	joinReply
	Seed    string `json:"seed"`            // the private half of the desk's key
	CA      string `json:"ca"`              // the hub's, in PEM
	TeamKey []byte `json:"team_key"`        // 32 bytes, by which recordings and files are encrypted
	Rules   string `json:"rules,omitempty"` // the team's, as this desk knew them last
	Seal    string `json:"seal"`            // of Text, by whoever keeps them
}

// Text is everything but the seal.
func (c Credentials) Text() []byte {
	c.Seal = ""
	text, _ := json.Marshal(c) // strings and bytes always can be
	return text
}

// Join makes this a desk of the team that a link is for. member may be empty; otherwise the link has to be for them. The key is made
// here, and its private half is sent to no one. A hub that has not the certificate that the link names gets nothing.
func Join(ctx context.Context, link, member string) (Credentials, error) {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Scheme != "https" || u.Path != "/join" {
		return Credentials{}, human.Errorf(human.Invalid, "this is no link to join a team")
	}
	parts := strings.Split(u.Fragment, ".")
	if len(parts) != 3 {
		return Credentials{}, human.Errorf(human.Invalid, "the link is not whole; copy it again")
	}
	c := Credentials{}
	if c.TeamKey, err = base64.RawURLEncoding.DecodeString(parts[2]); err != nil || len(c.TeamKey) != 32 {
		return Credentials{}, human.Errorf(human.Invalid, "the link is not whole; copy it again")
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return Credentials{}, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return Credentials{}, err
	}
	c.Seed = string(seed)
	q := joinRequest{Token: parts[0], Member: member}
	if q.Key, err = pair.PublicKey(); err != nil {
		return Credentials{}, err
	}
	q.Machine, _ = os.Hostname() // only for people
	body, err := json.Marshal(q)
	if err != nil {
		return Credentials{}, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: pinned(u.Hostname(), parts[1], &c.CA)}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	u.Fragment = ""
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return Credentials{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		if human.KindOf(err) == human.Denied {
			return Credentials{}, err
		}
		return Credentials{}, human.Wrap(human.Unavailable, err, "the hub at %s cannot be reached", u.Host)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return Credentials{}, human.Wrap(human.Unavailable, err, "the hub at %s cannot be reached", u.Host)
	}
	if answer.StatusCode != http.StatusOK {
		var p problem
		if json.Unmarshal(raw, &p) != nil || p.Kind == 0 {
			p = problem{human.Unavailable, answer.Status}
		}
		return Credentials{}, human.Errorf(p.Kind, "the hub says: %s", p.Error)
	}
	if err := json.Unmarshal(raw, &c.joinReply); err != nil {
		return Credentials{}, human.Wrap(human.Unavailable, err, "the hub's answer cannot be read")
	}
	return c, nil
}

// pinned accepts a server whose certificate is for host, and of the CA that has the fingerprint; ca gets that CA.
func pinned(host, print string, ca *string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection verifies, against the one CA
		VerifyConnection: func(s tls.ConnectionState) error {
			for _, c := range s.PeerCertificates[1:] {
				if fingerprint(c.Raw) != print {
					continue
				}
				roots := x509.NewCertPool()
				roots.AddCert(c)
				if _, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
					return human.Wrap(human.Denied, err, "the hub's certificate is not for %s", host)
				}
				*ca = pemOf(c.Raw)
				return nil
			}
			return human.Errorf(human.Denied, "the server at %s is not the hub that the link is for; tell whoever sent the link", host)
		},
	}
}

// Options are how the desk connects to the team: with its key, over TLS to a server of the team's CA, and with an inbox of its own. It
// connects again for as long as it takes.
func (c Credentials) Options() ([]nats.Option, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(c.CA)) {
		return nil, human.Errorf(human.Invalid, "the desk's credentials are damaged; join the team again")
	}
	return []nats.Option{
		nats.Name(c.Desk), nats.UserJWTAndSeed(c.JWT, c.Seed), nats.Secure(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}), nats.TLSHandshakeFirst(),
		nats.CustomInboxPrefix(team.Inbox(c.Desk)), nats.MaxReconnects(-1),
	}, nil
}

// Connect connects the desk to its team; more are options beside Options.
func (c Credentials) Connect(more ...nats.Option) (*nats.Conn, error) {
	options, err := c.Options()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(strings.Join(c.URLs, ","), append(options, more...)...)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return nil, human.Wrap(human.Denied, err, "this desk is not in the team any more")
	case err != nil:
		return nil, human.Wrap(human.Unavailable, err, "the team's hub cannot be reached: %v", err)
	}
	return nc, nil
}

// Save keeps the credentials in a data folder.
func (c Credentials) Save(dir string) error {
	raw, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		_, err = disk.Replace(filepath.Join(dir, credentialsFile), bytes.NewReader(append(raw, '\n')), 0o600)
	}
	if err != nil {
		return human.Wrap(human.Internal, err, "the desk's credentials cannot be written")
	}
	return nil
}

// Remove deletes what Save kept, and what one that was killed left. It blocks until that is on the disk.
func Remove(dir string) error {
	file := filepath.Join(dir, credentialsFile)
	err := disk.Tidy(file)
	if err == nil {
		err = os.Remove(file)
	}
	if err == nil {
		err = disk.SyncFolder(dir)
	}
	if err != nil {
		return human.Wrap(human.Internal, err, "the desk's credentials cannot be deleted")
	}
	return nil
}

// Identity is what no other team has.
func (c Credentials) Identity() string {
	sum := sha256.Sum256([]byte(c.CA))
	return hex.EncodeToString(sum[:])
}

// Load reads what Save kept; NotFound where the desk is in no team.
func Load(dir string) (c Credentials, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, credentialsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c, human.Errorf(human.NotFound, "this desk is in no team")
	}
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return c, human.Wrap(human.Internal, err, "the desk's credentials cannot be read")
	}
	return c, nil
}
