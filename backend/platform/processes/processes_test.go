package processes_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/platform/processes"
)

// call in the environment of this test's program makes it a caller: it connects, says its number and waits for the other end to
// close.
const call = "DESKBELL_TEST_CALL"

func TestMain(m *testing.M) {
	if to := os.Getenv(call); to != "" {
		network, address, _ := strings.Cut(to, " ")
		conn, err := net.Dial(network, address)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Fprintln(conn, os.Getpid())
		_, _ = conn.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// listeners are one of each kind, by the words that call takes.
func listeners(t testing.TB) map[string]net.Listener {
	all := map[string]net.Listener{}
	kinds := [][2]string{{"tcp4", "127.0.0.1:0"}, {"tcp6", "[::1]:0"}, {"tcp", ":0"}}
	if runtime.GOOS != "windows" {
		kinds = append(kinds, [2]string{"unix", filepath.Join(t.TempDir(), "socket")})
	}
	for _, at := range kinds {
		l, err := net.Listen(at[0], at[1])
		if err != nil {
			t.Logf("no %s here: %v", at, err)
			continue
		}
		t.Cleanup(func() { _ = l.Close() })
		address := l.Addr().String()
		if at[0] == "tcp" { // an IPv4 address of a socket of IPv6
			_, port, _ := net.SplitHostPort(address)
			address = "127.0.0.1:" + port
		}
		all[at[0]+" "+address] = l
	}
	if len(all) < 2 {
		t.Fatal("too few kinds of connections to test")
	}
	return all
}

func TestPeer(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for to, l := range listeners(t) {
		ways := map[string][]string{"alone": {self, "x y", "-z"}}
		if runtime.GOOS == "linux" {
			ways["below a shell"] = []string{"/bin/sh", "-c", `"$0" "x y" -z; true`, self}
			ways["in its own session"] = []string{"setsid", "--wait", self, "x y", "-z"}
		}
		for how, args := range ways {
			t.Run(to[:4]+" "+how, func(t *testing.T) {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Env, cmd.Stderr = append(os.Environ(), call+"="+to), os.Stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = cmd.Wait() }()
				conn, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				said, err := bufio.NewReader(conn).ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				p, err := processes.Peer(conn)
				if err != nil {
					if lacks(to[:4]) {
						t.Skip("Wine does not say whose sockets of IPv6 are")
					}
					t.Fatal(err)
				}
				if fmt.Sprintln(p.PID) != said || !strings.EqualFold(p.Program, self) {
					t.Errorf("the caller is %+v, it says it is %s", p, said)
				}
				if p.Args == nil && lacks("arguments") {
					t.Log("not tested: Wine does not tell the arguments of another process")
				} else if !slices.Equal(p.Args, []string{self, "x y", "-z"}) {
					t.Errorf("its arguments are %q", p.Args)
				}
				line := processes.Lineage(p)
				if !slices.ContainsFunc(line, func(a processes.Process) bool { return a.PID == os.Getpid() }) {
					t.Errorf("%+v does not come from this process", line)
				}
				if again, err := processes.Find(p.PID); err != nil || again.ID() != p.ID() {
					t.Errorf("%+v, %v", again, err)
				}
			})
		}
	}
}

func TestNoSuchProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), call+"=none")
	if err := cmd.Run(); err == nil {
		t.Fatal("it called no one")
	}
	if p, err := processes.Find(cmd.Process.Pid); err == nil {
		t.Errorf("%+v", p)
	}
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	if p, err := processes.Peer(near); !errors.Is(err, processes.ErrUnknown) {
		t.Errorf("%+v, %v", p, err)
	}
}

func BenchmarkPeer(b *testing.B) {
	for to, l := range listeners(b) {
		network, address, _ := strings.Cut(to, " ")
		far, err := net.Dial(network, address)
		if err != nil {
			b.Fatal(err)
		}
		defer far.Close()
		conn, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		b.Run(network, func(b *testing.B) {
			for b.Loop() {
				if _, err := processes.Peer(conn); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
