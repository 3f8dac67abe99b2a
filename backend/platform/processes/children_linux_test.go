package processes_test

import (
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"

	"deskbell/backend/platform/processes"
)

// A child has its parent's sockets until its program begins. It is not who calls, and may end while it is looked at.
func TestACallerWhoseChildrenBeginAndEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	stop := make(chan struct{})
	var children sync.WaitGroup
	for range 4 {
		children.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = exec.Command("/bin/true").Run() // how it ends does not matter
				}
			}
		})
	}
	defer children.Wait()
	defer close(stop)
	for range 300 {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if p, err := processes.Peer(conn); err != nil || p.PID != os.Getpid() {
			t.Errorf("%+v, %v", p, err)
		}
		_, _ = conn.Close(), client.Close()
	}
}

// A caller that has ended is not known. No other process is taken for it.
func TestACallerThatHasEnded(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for to, l := range listeners(t) {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), call+"="+to)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		if p, err := processes.Peer(conn); err == nil {
			t.Errorf("%s: %+v", to, p)
		}
	}
}
