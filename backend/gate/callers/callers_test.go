package callers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/gate/callers"
	"deskbell/backend/human"
)

// machine is a machine of processes by number. A connection's peer is the process whose number its name is.
type machine map[int]human.Process

type conn struct {
	net.Conn
	peer   int
	socket bool // of Unix
}

func (m machine) Peer(c net.Conn) (human.Process, error) {
	p, is := m[c.(conn).peer]
	if !is {
		return p, callers.ErrHidden
	}
	return p, nil
}

func (m machine) PeerID(c net.Conn) (int, error) {
	if c := c.(conn); c.socket {
		return c.peer, nil
	}
	return 0, errors.New("not a socket")
}

func (m machine) Find(pid int) (human.Process, error) { return m.Glance(pid) }

func (m machine) Glance(pid int) (human.Process, error) {
	p, is := m[pid]
	if !is {
		return p, errors.New("no such process")
	}
	return p, nil
}

func (m machine) Lineage(p human.Process) []human.Process {
	line := []human.Process{p}
	for {
		parent, is := m[p.Parent]
		if !is {
			return line
		}
		line, p = append(line, parent), parent
	}
}

func (m machine) Boot() string { return "boot" }

// run puts a process on the machine.
func (m machine) run(pid, parent int, program string, args ...string) {
	m[pid] = human.Process{PID: pid, Started: uint64(pid), Parent: parent, Program: program, Args: append([]string{program}, args...), Began: time.Now()}
}

// kept is a store and a file in memory.
type kept struct {
	mu       sync.Mutex
	attempts map[human.AttemptID]human.Attempt
	puts     int
	known    []byte
}

func (k *kept) PutAttempt(_ context.Context, a human.Attempt) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.attempts[a.ID] = a
	k.puts++
	return nil
}

func (k *kept) Attempts(_ context.Context, all bool) (list []human.Attempt, _ error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.attempts {
		if all || a.DismissedAt == nil {
			list = append(list, a)
		}
	}
	return list, nil
}

func service(t *testing.T, m machine, k *kept, off bool) *callers.Service {
	t.Helper()
	n := 0
	s, err := callers.New(t.Context(), callers.Deps{
		Processes: m, Store: k, Self: 50, Now: time.Now, Log: slog.New(slog.DiscardHandler), Off: off,
		Mask:  func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") },
		Load:  func() ([]byte, error) { return k.known, nil },
		Save:  func(text []byte) error { k.known = text; return nil },
		NewID: func(prefix string) string { n++; return fmt.Sprint(prefix, n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// about is the operation that every attempt is about here.
func about() human.OperationID { return "op_7" }

// desktop is a machine on which a person works in a shell, an agent in another, and Deskbell serves.
func desktop() machine {
	m := machine{}
	m.run(1, 0, "/usr/lib/systemd/systemd")
	m.run(20, 1, "/usr/bin/kitty")
	m.run(21, 20, "/usr/bin/bash", "--rcfile", "/etc/rc")
	m.run(30, 20, "/usr/bin/bash")
	m.run(31, 30, "/usr/bin/claude")
	m.run(32, 31, "/bin/sh", "-c", "deskbell-hook claude-code")
	m.run(33, 32, "/opt/deskbell-hook", "claude-code")
	m.run(50, 31, "/opt/deskbell", "serve")
	m.run(51, 50, "/usr/lib/WebKitNetworkProcess")
	return m
}

// during runs do beside the service's own goroutine.
func during(t *testing.T, s *callers.Service, do func()) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	do()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWhoDescendsFromAnAgent(t *testing.T) {
	for how, use := range map[string]func(machine, *callers.Service){
		"its hook": func(_ machine, s *callers.Service) {
			s.Used(s.Caller(conn{peer: 33, socket: true}), "infra", human.MarkHook)
		},
		"its MCP server": func(m machine, s *callers.Service) {
			m.run(34, 31, "/opt/deskbell", "mcp")
			s.Used(s.Caller(conn{peer: 34}), "infra", human.MarkKey)
		},
		"its own connection": func(_ machine, s *callers.Service) { s.Used(s.Caller(conn{peer: 31}), "infra", human.MarkKey) },
		"its curl": func(m machine, s *callers.Service) {
			m.run(35, 31, "/usr/bin/curl", "-d", "x")
			s.Used(s.Caller(conn{peer: 35}), "infra", human.MarkKey)
		},
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := desktop()
				k := &kept{attempts: map[human.AttemptID]human.Attempt{}}
				s := service(t, m, k, false)
				m.run(40, 31, "/bin/sh", "-c", "./approve.sh")
				m.run(41, 40, "/usr/bin/bash", "./approve.sh", "--password", "hunter2")
				m.run(42, 21, "/opt/deskbell", "login")
				try := func(s *callers.Service, peer int) error {
					return s.Admit(callers.NewContext(t.Context(), s.Caller(conn{peer: peer})), human.TrySignIn, "POST /api/session", about)
				}
				if err := try(s, 41); err != nil {
					t.Errorf("before anybody is an agent: %v", err)
				}
				during(t, s, func() {
					use(m, s)
					synctest.Wait()
					if err := try(s, 41); human.KindOf(err) != human.Denied {
						t.Errorf("the agent's script signs in: %v", err)
					}
					for who, peer := range map[string]int{"a person in a terminal": 42, "the window of a Deskbell that the agent started": 51, "Deskbell itself": 50} {
						if err := try(s, peer); err != nil {
							t.Errorf("%s: %v", who, err)
						}
					}
				})
				list, err := s.Attempts(t.Context(), false)
				if err != nil || len(list) != 1 || list[0].AgentID != "infra" || list[0].Count != 1 || !list[0].Running || list[0].Tries[0].OperationID != "op_7" {
					t.Fatalf("%+v, %v", list, err)
				}
				line := list[0].Tries[0].Line
				if len(line) != 6 || line[5].Command != "/usr/bin/bash ./approve.sh --password ***" || !line[3].Agent || line[0].PID != 1 {
					t.Errorf("%+v", line)
				}

				// A server that starts again knows the agent from before.
				again := service(t, m, k, false)
				if err := try(again, 41); human.KindOf(err) != human.Denied {
					t.Errorf("a server that was started again: %v", err)
				}
				if list, _ := again.Attempts(t.Context(), false); len(list) != 1 || list[0].Count != 2 {
					t.Errorf("%+v", list)
				}
				// And not where it is switched off, unless by an agent: Deskbell descends from one here.
				m.run(50, 1, "/opt/deskbell", "serve")
				if err := try(service(t, m, k, true), 41); err != nil {
					t.Errorf("switched off: %v", err)
				}
				m.run(50, 40, "/opt/deskbell", "serve")
				if err := try(service(t, m, k, true), 41); human.KindOf(err) != human.Denied {
					t.Errorf("switched off by an agent: %v", err)
				}
				// A number that is used again is another process.
				delete(m, 31)
				m[31] = human.Process{PID: 31, Started: 99, Parent: 1, Program: "/usr/bin/xterm"}
				m.run(43, 31, "/usr/bin/firefox")
				if err := try(service(t, m, k, false), 43); err != nil {
					t.Errorf("another process of the same number: %v", err)
				}
			})
		})
	}
}

// watched is a machine that notes who was looked at.
type watched struct {
	machine
	looks *[]int
}

func (w watched) Glance(pid int) (human.Process, error) {
	*w.looks = append(*w.looks, pid)
	return w.machine.Glance(pid)
}

// What a process descends from is looked at once; what is found out afterwards counts.
func TestAncestorsAreLookedAtOnce(t *testing.T) {
	m, looks := desktop(), []int{}
	s, err := callers.New(t.Context(), callers.Deps{
		Processes: watched{m, &looks}, Store: &kept{attempts: map[human.AttemptID]human.Attempt{}}, Self: 50, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Mask: strings.ToLower, Load: func() ([]byte, error) { return nil, nil }, Save: func([]byte) error { return nil }, NewID: strings.ToLower,
	})
	if err != nil {
		t.Fatal(err)
	}
	try := func(peer int, want ...int) error {
		t.Helper()
		looks = nil
		err := s.Admit(callers.NewContext(t.Context(), s.Caller(conn{peer: peer, socket: true})), human.TryAnswer, "POST /api/human/complete", about)
		if err != nil { // an attempt may say whether the agent runs
			looks = looks[:min(len(looks), len(want))]
		}
		if !slices.Equal(looks, want) {
			t.Errorf("%d were looked at, want %d", looks, want)
		}
		return err
	}
	admitted := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	denied := func(err error) {
		t.Helper()
		if human.KindOf(err) != human.Denied {
			t.Errorf("an agent's process was let through: %v", err)
		}
	}
	m.run(60, 21, "/opt/deskbell", "answer")
	m.run(61, 21, "/opt/deskbell", "answer")
	m.run(62, 20, "/usr/bin/zsh")
	m.run(63, 62, "/opt/deskbell", "answer")
	m.run(64, 62, "/opt/deskbell", "answer")
	admitted(try(60, 60, 21, 20, 1))
	admitted(try(61, 61, 21))
	admitted(try(63, 63, 62, 20))
	admitted(try(64, 64, 62))

	// An ancestor turns out to be an agent.
	s.Used(s.Caller(conn{peer: 62, socket: true}), "infra", human.MarkKey)
	denied(try(63, 63, 62))
	admitted(try(60, 60, 21))

	// A number is used again, below an agent.
	m[21] = human.Process{PID: 21, Started: 65, Parent: 62, Program: "/usr/bin/bash"}
	m.run(66, 21, "/opt/deskbell", "answer")
	denied(try(66, 66, 21, 62))

	// Ancestors of which one had ended are not all of them.
	m.run(70, 69, "/usr/bin/bash")
	m.run(71, 70, "/opt/deskbell", "answer")
	admitted(try(71, 71, 70, 69))
	m[70] = human.Process{PID: 70, Started: 70, Parent: 62, Program: "/usr/bin/bash"} // which took it in
	denied(try(71, 71, 70, 62))
}

func TestAPersonsShellIsNoAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, shell := range map[string][]string{
			"a login shell":      {"-bash"},
			"a shell":            {"/usr/bin/zsh", "-i"},
			"one of an editor's": {"/usr/bin/bash", "--init-file", "/opt/editor/integration.sh"},
			"PowerShell":         {`C:\Windows\pwsh.exe`, "-noexit", "-command", "try { . integration.ps1 } catch {}"},
		} {
			for _, program := range []string{"/opt/deskbell", "/usr/bin/curl", `C:\bin\curl.exe`} {
				m := desktop()
				s := service(t, m, &kept{attempts: map[human.AttemptID]human.Attempt{}}, false)
				m.run(60, 20, shell[0], shell[1:]...)
				if shell[0] == "-bash" {
					m[60] = human.Process{PID: 60, Started: 60, Parent: 20, Program: "/usr/bin/bash", Args: shell}
				}
				m.run(61, 60, program, "ring")
				m.run(62, 60, "/opt/deskbell", "login")
				during(t, s, func() {
					s.Used(s.Caller(conn{peer: 61}), "mine", human.MarkKey)
					synctest.Wait()
					if err := s.Admit(callers.NewContext(t.Context(), s.Caller(conn{peer: 62})), human.TrySignIn, "", about); err != nil {
						t.Errorf("%s, %s: %v", name, program, err)
					}
				})
			}
		}
	})
}

func TestWhoHidesDoesNotSignIn(t *testing.T) {
	k := &kept{attempts: map[human.AttemptID]human.Attempt{}}
	s := service(t, desktop(), k, false)
	hidden := callers.NewContext(t.Context(), s.Caller(conn{peer: 999}))
	if err := s.Admit(hidden, human.TrySignIn, "", about); human.KindOf(err) != human.Denied {
		t.Errorf("%v", err)
	}
	if err := s.Admit(hidden, human.TryAnswer, "", about); err != nil {
		t.Errorf("a window whose processes are confined: %v", err)
	}
}

// Whoever fails is seen with its processes; of a hook, those that it asks for.
func TestWhatFailsCounts(t *testing.T) {
	m := desktop()
	s := service(t, m, &kept{attempts: map[human.AttemptID]human.Attempt{}}, false)
	by := func(peer int) context.Context {
		return callers.NewContext(t.Context(), s.Caller(conn{peer: peer, socket: true}))
	}
	s.Used(callers.Of(by(33)), "infra", human.MarkHook)
	m.run(41, 31, "/usr/bin/bash", "./guess.sh")
	m.run(42, 21, "/usr/bin/curl")
	s.Failed(by(41), "", human.Try{What: human.TryCode})
	s.Failed(by(33), "infra", human.Try{What: human.TryAnswer})
	s.Attempted(by(33), "infra", human.Try{What: human.TryCommand})
	s.Failed(by(42), "", human.Try{What: human.TryPIN})
	s.Failed(t.Context(), "", human.Try{What: human.TryCode})
	list, err := s.Attempts(t.Context(), false)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	said := map[string][]string{}
	for _, a := range list {
		said[a.AgentID] = append(said[a.AgentID], string(a.How))
		for _, try := range a.Tries {
			var line []int
			for _, p := range try.Line {
				line = append(line, p.PID)
				if p.Agent {
					line = append(line, -p.PID)
				}
			}
			said[a.AgentID] = append(said[a.AgentID], fmt.Sprint(try.What, line))
		}
	}
	for name, want := range map[string][]string{
		"infra": {"gate", "code[1 20 30 31 -31 41]", "answer[1 20 30 31 -31 32 33]", "command[1 20 30 31 -31 32]"},
		"":      {"none", "pin[1 20 21 42]", "code[]"},
	} {
		if !slices.Equal(said[name], want) {
			t.Errorf("%q: %q, want %q", name, said[name], want)
		}
	}
}

func TestAFloodIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{attempts: map[human.AttemptID]human.Attempt{}}
		s := service(t, desktop(), k, false)
		ctx, stop := context.WithCancel(t.Context())
		var told []human.Attempt
		watched := make(chan struct{})
		go func() {
			s.Watch(ctx, func(a human.Attempt) { told = append(told, a) })
			close(watched)
		}()
		synctest.Wait()
		during(t, s, func() {
			for range 100 {
				for n := range 3 {
					s.Attempted(t.Context(), fmt.Sprint("agent", n), human.Try{What: human.TryCommand, Limit: "x", Detail: strings.Repeat("hunter2 ", 200)})
				}
			}
			<-time.After(3 * time.Second) // of the bubble
			for n := range 300 {
				s.Attempted(t.Context(), fmt.Sprint("name", n), human.Try{What: human.TryCommand})
			}
		})
		stop()
		<-watched
		list, err := s.Attempts(t.Context(), false)
		if err != nil || len(list) > 101 {
			t.Fatal(len(list), err)
		}
		total := 0
		for _, a := range list {
			total += a.Count
			if len(a.Tries) > 20 || strings.Contains(a.Tries[0].Detail, "hunter2") || len(a.Tries[0].Detail) > 2000 {
				t.Errorf("%s: %d tries, %q", a.AgentID, len(a.Tries), a.Tries[0].Detail)
			}
		}
		if total != 600 {
			t.Errorf("%d tries were counted", total)
		}
		if len(told) == 0 || k.puts > 110 {
			t.Errorf("%d were told, %d stored", len(told), k.puts)
		}

		first := list[len(list)-1]
		for _, a := range list[len(list)-2:] {
			if err := s.Dismiss(t.Context(), human.Actor{Role: human.Operator, Name: "Mei"}, a.ID); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Dismiss(t.Context(), human.Actor{}, "at_none"); human.KindOf(err) != human.NotFound {
			t.Errorf("%v", err)
		}
		s.Attempted(t.Context(), first.AgentID, human.Try{What: human.TryCommand})
		all, _ := s.Attempts(t.Context(), true)
		open, _ := s.Attempts(t.Context(), false)
		if len(all) != len(list)+1 || len(open) != len(list)-1 {
			t.Errorf("%d, %d of %d", len(all), len(open), len(list))
		}
	})
}

func BenchmarkAdmit(b *testing.B) {
	m := desktop()
	s, err := callers.New(b.Context(), callers.Deps{
		Processes: m, Store: &kept{attempts: map[human.AttemptID]human.Attempt{}}, Self: 50, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Load: func() ([]byte, error) { return nil, nil }, Mask: func(t string) string { return t },
	})
	if err != nil {
		b.Fatal(err)
	}
	c := s.Caller(conn{peer: 51})
	ctx := callers.NewContext(b.Context(), c)
	for b.Loop() {
		s.Used(c, "x", human.MarkKey)
		if err := s.Admit(ctx, human.TryAnswer, "", about); err != nil {
			b.Fatal(err)
		}
	}
}
