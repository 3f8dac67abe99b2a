package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
	"deskbell/backend/transport/client"
)

// proveTime is how long a person may take to give the system their password.
const proveTime = 2 * time.Minute

func (s *shell) proofCommand() *cobra.Command {
	c := s.operatorFlags(&cobra.Command{
		Use: "proof", Short: "Print what proves that you are here", Args: cobra.NoArgs,
		Long: "Print what proves that you are here, where something dangerous is to happen: your system's check (polkit), a passkey, or a PIN.\n" +
			"At a terminal the system's check works: `deskbell proof system on`. Passkeys are set up in a browser, the PIN in the window.",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			p, err := operator.Presence(ctx)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(p)
			}
			return s.showPresence(p)
		}),
	}, "print one line of JSON")
	system := s.operatorFlags(&cobra.Command{
		Use: "system on|off", Short: "Let the system's check count, once it was passed, or not", Args: cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			on := args[0] == "on"
			if !on && args[0] != "off" {
				return human.Errorf(human.Invalid, "%q is not one of on and off", args[0])
			}
			ctx, cancel := context.WithTimeout(ctx, 2*proveTime)
			defer cancel()
			if on && s.interactive() {
				s.asking = true
				defer askHere(ctx)()
			}
			if err := operator.SetSystemCheck(ctx, on, os.Getpid()); err != nil || s.json {
				return err
			}
			s.note("%s `deskbell proof` prints what needs proof.", map[bool]string{true: "Your system's check counts as proof now.", false: "Your system's check counts no more."}[on])
			return nil
		}),
	}, "print nothing")
	c.AddCommand(system)
	return c
}

// showPresence prints what proves that a person is there, what needs it, and how to set up or change either.
func (s *shell) showPresence(p client.Presence) error {
	w := s.columns()
	if p.Broken {
		w.row("warning\tthis was changed or deleted while Deskbell did not run. Find out who did it, then say that you have seen it: `deskbell proof system on`, or Settings in the window\n")
	}
	switch {
	case p.System:
		w.row("system's check\tset up\n")
	case p.SystemOK:
		w.row("system's check\tnot set up: `deskbell proof system on`\n")
	default:
		w.row("system's check\tnot set up, and cannot ask here: `deskbell proof system on` says why\n")
	}
	if p.PIN {
		w.row("PIN\tset up\n")
	} else {
		w.row("PIN\tnot set up: Settings, in Deskbell's window\n")
	}
	for _, k := range p.Passkeys {
		w.row("passkey\t%s, for %s\n", visible(k.Name), visible(k.Host))
	}
	if len(p.Passkeys) == 0 {
		w.row("passkey\tnone: Settings, in a browser%s\n", s.console())
	}
	if !p.Ready {
		w.row("needs proof\tnothing, until one of these is set up\n")
		return w.flush()
	}
	var needs []string
	if p.Policy.Answers != "" {
		needs = append(needs, "to approve from "+string(p.Policy.Answers)+" risk on")
	}
	for _, n := range []struct {
		is   bool
		what string
	}{{p.Policy.Rules, "to make a rule that allows"}, {p.Policy.Keys, "to make a key"}, {p.Policy.Gatekeeper, "to loosen the gatekeeper"}} {
		if n.is {
			needs = append(needs, n.what)
		}
	}
	w.row("needs proof\t%s\n", strings.Join(append(needs, "to change this"), ", "))
	w.row("\tat a terminal and in a browser also: to answer above low risk, to make a rule that allows, to loosen the gatekeeper\n")
	w.row("\tto change it: Settings, Proof of presence, in the window or in a browser\n")
	return w.flush()
}

// proving makes a client ask for the proof that its calls need, as far as a terminal can.
func (s *shell) proving(c *client.Client) *client.Client {
	c.Prove = func(ctx context.Context, p client.Proof) error {
		if !s.interactive() || !slices.Contains(p.Means, human.BySystem) {
			return human.Errorf(human.Denied, "this needs proof that you are here, which cannot be given here: %s", s.otherWays(p))
		}
		s.note("This needs proof that you are here: your system asks for " + p.SystemCheck.Name() + ".")
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), proveTime)
		defer cancel()
		if !s.asking {
			defer askHere(ctx)()
		}
		return c.ProveBySystem(ctx, p, os.Getpid())
	}
	return c
}

// otherWays says which proofs can be given, and where.
func (s *shell) otherWays(p client.Proof) string {
	var ways []string
	if slices.Contains(p.Means, human.BySystem) {
		ways = append(ways, p.SystemCheck.Name()+", where you run this at a terminal")
	}
	for _, e := range p.Elsewhere {
		switch e.Means {
		case human.ByPasskey:
			ways = append(ways, "your passkey, in a browser"+s.console())
		case human.ByPIN:
			ways = append(ways, "the PIN, in Deskbell's window")
		default:
			ways = append(ways, p.SystemCheck.Name()+", but: "+e.Why.Text)
		}
	}
	if len(ways) == 0 {
		return "see Proof of presence in the settings, in Deskbell's window or in a browser" + s.console()
	}
	return "do this with " + strings.Join(ways, "; or with ")
}

// console is where a browser finds the server that runs here, by the name that passkeys need.
func (s *shell) console() string {
	dir, err := s.dir()
	if err != nil {
		return ""
	}
	server, err := datadir.Find(dir)
	if err != nil {
		return ""
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" at http://localhost:%[1]s (sign in with a code of `deskbell invite`; from another machine, first: ssh -L %[1]s:127.0.0.1:%[1]s THIS-MACHINE)", port)
}

// askHere runs polkit's own text agent, which asks at this terminal, until end is called. It is asked before the agent of the desktop's
// session; where it is missing, that one asks. (Its --fallback would not ask where logind knows no session.)
func askHere(ctx context.Context) (end func()) {
	ready, told, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	c := exec.CommandContext(ctx, "pkttyagent", "--process", strconv.Itoa(os.Getpid()), "--notify-fd", "3")
	c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = os.Stdin, os.Stderr, os.Stderr, []*os.File{told}
	err = c.Start()
	_ = told.Close()
	if err == nil {
		_, _ = fmt.Fscan(ready, new(string)) // it closes its end once it is ready
	}
	_ = ready.Close()
	return func() {
		if err == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
}
