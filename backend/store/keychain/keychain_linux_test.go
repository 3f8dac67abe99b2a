package keychain

import (
	"bufio"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"deskbell/backend/human"
)

// The library keeps one connection for the process, so all tests share one bus. It is none of the developer's.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "keys") // a socket's path is short
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		for _, v := range []string{Variable, "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"} {
			os.Unsetenv(v)
		}
		os.Setenv("XDG_RUNTIME_DIR", dir)
		os.Setenv("HOME", dir)
		os.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
		return m.Run()
	}())
}

// bus starts a message bus; dbus-daemon ends with the test.
func bus(t *testing.T) {
	t.Helper()
	dir := os.Getenv("XDG_RUNTIME_DIR")
	config := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(config, []byte(`<busconfig><type>session</type><listen>unix:path=`+dir+`/test-bus</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command("dbus-daemon", "--config-file", config, "--nofork", "--print-address")
	out, err := daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
}

func TestKeychain(t *testing.T) {
	ctx := t.Context()
	lab := Account{Host: "gpu.example:8000"}

	// Without a bus. Nothing starts one.
	if _, _, err := Get(ctx, lab); human.KindOf(err) != human.Unavailable || !strings.Contains(human.SafeText(err), Variable) {
		t.Errorf("%v", err)
	}
	if _, _, err := Get(ctx, Account{Typed: "portal-login"}); human.KindOf(err) != human.Unavailable || !strings.Contains(human.SafeText(err), "DESKBELL_SECRET_PORTAL_LOGIN") {
		t.Errorf("a secret that is typed: %v", err)
	}
	t.Setenv("DESKBELL_SECRET_PORTAL_LOGIN", " two words \n")
	if key, from, err := Get(ctx, Account{Typed: "portal-login"}); err != nil || key != " two words " || from != "DESKBELL_SECRET_PORTAL_LOGIN" {
		t.Errorf("a secret in the environment: %q from %s, %v", key, from, err)
	}
	if key, err := Key(ctx, lab.Host); err != nil || key != "" {
		t.Errorf("%q %v", key, err)
	}
	if _, err := Key(ctx, "api.openai.com"); human.KindOf(err) != human.Unavailable {
		t.Errorf("%v", err)
	}
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" {
		t.Fatalf("a bus was found at %s", a)
	}

	bus(t)
	if err := lab.Set(ctx, "sk-1"); human.KindOf(err) != human.Unavailable || !strings.Contains(err.Error(), "Secret Service") {
		t.Errorf("%v", err)
	}

	s := serve(t)
	t.Run("a Secret Service of the test's own", keeps)
	s.mu.Lock()
	if len(s.items) != 1 { // the one that keeps leaves
		t.Errorf("%v", s.items)
	}
	for _, it := range s.items {
		if it.attributes["service"] != "deskbell" || it.attributes["username"] != "model left.example" {
			t.Errorf("%v", it.attributes)
		}
	}
	s.mu.Unlock()

	t.Run("one that fails", func(t *testing.T) {
		s.fails(true)
		defer s.fails(false)
		if _, _, err := Get(ctx, lab); human.KindOf(err) != human.Unavailable || !strings.Contains(human.SafeText(err), "unlock") {
			t.Errorf("%v", err)
		}
	})
	t.Run("one that waits", func(t *testing.T) {
		hold := make(chan struct{})
		s.holds(hold)
		defer close(hold)
		ctx, stop := context.WithCancel(ctx)
		time.AfterFunc(50*time.Millisecond, stop)
		if _, _, err := Get(ctx, lab); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		s.holds(nil)
	})
	s.leave()

	t.Run("GNOME Keyring", func(t *testing.T) {
		path, err := exec.LookPath("gnome-keyring-daemon")
		if err != nil {
			t.Skip("gnome-keyring is not installed")
		}
		daemon := exec.Command(path, "--foreground", "--unlock", "--components=secrets", "--control-directory="+t.TempDir())
		daemon.Stdin, daemon.Stderr = strings.NewReader("a password of the test"), os.Stderr
		if err := daemon.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = daemon.Process.Kill()
			_ = daemon.Wait()
		})
		for deadline := time.After(30 * time.Second); reachable(ctx) != nil; {
			select {
			case <-deadline:
				t.Fatal("it did not come up")
			case <-time.After(20 * time.Millisecond):
			}
		}
		keeps(t)
	})
}

// keeps holds a keychain against what is expected of all.
func keeps(t *testing.T) {
	ctx := t.Context()
	lab, other := Account{Host: "lab.example:8000"}, Account{Host: "lab.example"}
	get := func(a Account, want, from string) {
		t.Helper()
		if key, at, err := Get(ctx, a); err != nil || key != want || at != from {
			t.Errorf("%q from %s, %v; want %q from %s", key, at, err, want, from)
		}
	}
	none := func(a Account) {
		t.Helper()
		if _, _, err := Get(ctx, a); human.KindOf(err) != human.NotFound || !strings.Contains(err.Error(), a.Host) {
			t.Errorf("%v", err)
		}
		if err := a.Remove(ctx); human.KindOf(err) != human.NotFound {
			t.Errorf("%v", err)
		}
	}
	none(lab)
	if key, err := Key(ctx, lab.Host); err != nil || key != "" {
		t.Errorf("%q %v", key, err)
	}
	if _, err := Key(ctx, "api.anthropic.com"); human.KindOf(err) != human.NotFound || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("%v", err)
	}
	for _, key := range []string{"sk-first", "sk-second"} {
		if err := lab.Set(ctx, " "+key+"\n"); err != nil {
			t.Fatal(err)
		}
		get(lab, key, "keychain")
	}
	none(other) // another port is another server
	if err := lab.Remove(ctx); err != nil {
		t.Error(err)
	}
	none(lab)
	if err := (Account{Host: "left.example"}).Set(ctx, "sk-left"); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"", " ", "two words", "ключ", strings.Repeat("x", 3000)} {
		if err := lab.Set(ctx, key); human.KindOf(err) != human.Invalid {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestVariables(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-a")
	t.Setenv("OPENAI_API_KEY", "sk-o\n")
	for host, want := range map[string]string{"api.anthropic.com": "sk-a", "api.openai.com": "sk-o", "evil.example": "", "api.openai.com.evil.example": "", "localhost:11434": ""} {
		key, err := Key(t.Context(), host)
		if err != nil || key != want {
			t.Errorf("%s: %q %v", host, key, err)
		}
	}
	t.Setenv(Variable, "sk-d")
	for _, host := range []string{"api.anthropic.com", "api.openai.com", "localhost:11434"} {
		if key, from, err := Get(t.Context(), Account{Host: host}); err != nil || key != "sk-d" || from != Variable {
			t.Errorf("%s: %q %v", host, key, err)
		}
	}
}

// A secrets is a small Secret Service: one collection, nothing locked.
// https://specifications.freedesktop.org/secret-service/latest/
type secrets struct {
	bus *dbus.Conn

	mu    sync.Mutex
	hold  chan struct{} // where it is there, answers wait for it
	fail  bool
	next  int
	items map[dbus.ObjectPath]*item
}

type item struct {
	s          *secrets
	path       dbus.ObjectPath
	attributes map[string]string
	secret     secret
}

type secret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

const (
	root  = dbus.ObjectPath("/org/freedesktop/secrets")
	login = root + "/collection/login"
)

func serve(t *testing.T) *secrets {
	t.Helper()
	conn, err := dbus.Connect(os.Getenv("DBUS_SESSION_BUS_ADDRESS"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := &secrets{bus: conn, items: map[dbus.ObjectPath]*item{}}
	for _, one := range []struct {
		v    any
		path dbus.ObjectPath
		name string
	}{{(*keeper)(s), root, "Service"}, {s, login, "Collection"}, {session{}, root + "/session/s1", "Session"}} {
		if err := conn.Export(one.v, one.path, "org.freedesktop.Secret."+one.name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := prop.Export(conn, root, prop.Map{"org.freedesktop.Secret.Service": {"Collections": {Value: []dbus.ObjectPath{login}, Emit: prop.EmitFalse}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName("org.freedesktop.secrets", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *secrets) leave() { _, _ = s.bus.ReleaseName("org.freedesktop.secrets") }

func (s *secrets) fails(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = on
}

func (s *secrets) holds(on chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = on
}

type session struct{}

func (session) Close() *dbus.Error { return nil }

type keeper secrets

func (k *keeper) OpenSession(algorithm string, _ dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	if algorithm != "plain" {
		return dbus.MakeVariant(""), "/", dbus.NewError("org.freedesktop.DBus.Error.NotSupported", nil)
	}
	return dbus.MakeVariant(""), root + "/session/s1", nil
}

func (k *keeper) Unlock(objects []dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	k.mu.Lock()
	hold := k.hold
	k.mu.Unlock()
	if hold != nil {
		<-hold
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail {
		return nil, "/", dbus.NewError("org.freedesktop.Secret.Error.IsLocked", []any{"it is locked"})
	}
	return objects, "/", nil
}

func (s *secrets) SearchItems(attributes map[string]string) ([]dbus.ObjectPath, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []dbus.ObjectPath{}
	for path, it := range s.items {
		if maps.Equal(it.attributes, attributes) {
			found = append(found, path)
		}
	}
	return found, nil
}

func (s *secrets) CreateItem(properties map[string]dbus.Variant, sec secret, replace bool) (dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	attributes, _ := properties["org.freedesktop.Secret.Item.Attributes"].Value().(map[string]string)
	for path, it := range s.items {
		if replace && maps.Equal(it.attributes, attributes) {
			it.secret = sec
			return path, "/", nil
		}
	}
	s.next++
	it := &item{s: s, path: login + "/" + dbus.ObjectPath(rune('a'+s.next)), attributes: attributes, secret: sec}
	s.items[it.path] = it
	if err := s.bus.Export(it, it.path, "org.freedesktop.Secret.Item"); err != nil {
		return "/", "/", dbus.MakeFailedError(err)
	}
	return it.path, "/", nil
}

func (it *item) GetSecret(dbus.ObjectPath) (secret, *dbus.Error) {
	it.s.mu.Lock()
	defer it.s.mu.Unlock()
	return it.secret, nil
}

func (it *item) Delete() (dbus.ObjectPath, *dbus.Error) {
	it.s.mu.Lock()
	defer it.s.mu.Unlock()
	delete(it.s.items, it.path)
	return "/", nil
}
