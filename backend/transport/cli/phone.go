package cli

import (
	"bufio"
	"context"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"
	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

func (s *shell) phoneCommand() *cobra.Command {
	c := s.operatorFlags(&cobra.Command{
		Use: "phone", Short: "Read and answer on a phone in the same network", Args: cobra.NoArgs,
		Long: "Print whether phones on the same network can come in, and which are paired. It is off until `deskbell phone on`.\n" +
			"A paired phone reads and answers; what is dangerous needs the PIN there. Rules, keys and settings are for the computer.",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			p, err := operator.Phones(ctx)
			if err != nil {
				return err
			}
			return s.showPhones(p)
		}),
	}, "print one line of JSON")
	turn := func(use, short string, on bool) *cobra.Command {
		return s.operatorFlags(&cobra.Command{
			Use: use, Short: short, Args: cobra.NoArgs,
			RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
				p, err := operator.LetPhonesIn(ctx, on)
				if err != nil {
					return err
				}
				return s.showPhones(p)
			}),
		}, "print one line of JSON")
	}
	one := func(use, short, said string, do func(*client.Client, context.Context, string) error) *cobra.Command {
		return s.operatorFlags(&cobra.Command{
			Use: use + " ID", Short: short, Args: cobra.ExactArgs(1),
			RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
				if err := do(operator, ctx, args[0]); err != nil || s.json {
					return err
				}
				s.note("%s `deskbell phone` prints all.", said)
				return nil
			}),
		}, "print nothing")
	}
	c.AddCommand(
		turn("on", "Let paired phones on the same network in, from now on", true),
		turn("off", "Let no phone in any more; those that are paired stay known", false),
		s.operatorFlags(&cobra.Command{
			Use: "pair", Short: "Show a QR code that pairs one phone", Args: cobra.NoArgs,
			Long: "Show a QR code for the phone's camera. It counts once, for three minutes, and is taken off the terminal when it was used.",
			RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
				return s.pairPhone(ctx, operator)
			}),
		}, "print the link with the code as one line of JSON"),
		one("forget", "Unpair a phone and end its sessions", "The phone is unpaired.", (*client.Client).UnpairPhone),
		one("confirm", "Let a phone in again after its list was changed while Deskbell did not run", "The phone comes in again.", (*client.Client).ConfirmPhone),
	)
	return c
}

func (s *shell) showPhones(p client.Phones) error {
	if s.json {
		return s.printJSON(p)
	}
	w := s.columns()
	switch {
	case !p.On:
		w.row("phones\toff: `deskbell phone on` lets those on the same network in\n")
	case p.Problem != nil:
		w.row("phones\ton, but: %s\n", visible(p.Problem.Text))
	default:
		w.row("phones\ton: `deskbell phone pair` pairs one\n")
		for _, a := range p.Addresses {
			w.row("address\t%s\n", visible(a))
		}
		w.row("certificate\tSHA-256 %s\n", visible(p.Fingerprint))
		w.row("\tthe phone warns that it does not know this certificate: compare these figures there once, then continue\n")
	}
	for _, d := range p.Devices {
		if d.Unconfirmed {
			w.row("warning\tthe list of phones was changed while Deskbell did not run: `deskbell phone confirm %s` if the next one is yours, else `deskbell phone forget %s`\n", d.ID, d.ID)
		}
		w.row("paired\t%s\t%s, for %s, since %s, last seen %s ago\n", d.ID, visible(d.Name), visible(d.Operator), d.PairedAt.Local().Format(time.DateOnly), span(time.Since(d.LastSeen)))
	}
	if len(p.Devices) == 0 {
		w.row("paired\tnone\n")
	}
	return w.flush()
}

// pairPhone shows a QR code on the terminal until it is used, has expired or Enter is pressed.
func (s *shell) pairPhone(ctx context.Context, operator *client.Client) error {
	if !s.json && !inForeground(s.in, s.out) {
		return human.Errorf(human.Invalid, "`deskbell phone pair` shows its code on a terminal alone, and this is none; --json prints the link")
	}
	before, err := operator.Phones(ctx)
	if err != nil {
		return err
	}
	pairing, err := operator.PairPhone(ctx)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(pairing)
	}
	picture, err := qrText(pairing.URL)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, d := range before.Devices {
		known[d.ID] = true
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	enter := make(chan struct{})
	go func() { // reading a terminal cannot be called off; it ends with the process
		bufio.NewScanner(s.in).Scan()
		close(enter)
	}()
	// On the terminal's second screen, of which nothing stays.
	_, _ = io.WriteString(s.out, "\x1b[?1049h\x1b[2J\x1b[H"+picture+"\r\n"+
		"Scan this with the phone's camera, in the same network. It counts once, until "+pairing.ExpiresAt.Local().Format(time.TimeOnly)+".\r\n"+
		"Certificate  "+visible(before.Fingerprint)+"\r\n"+
		"The phone does not know it: compare it there before you continue.\r\nEnter ends this.\r\n")
	paired, err := waitForPhone(ctx, operator, known, pairing.ExpiresAt, enter)
	_, _ = io.WriteString(s.out, "\x1b[2J\x1b[?1049l")
	if err != nil {
		return err
	}
	if paired == "" {
		return human.Errorf(human.Unavailable, "no phone was paired; `deskbell phone pair` shows a new code")
	}
	s.note("%s is paired. `deskbell phone` prints all, `deskbell phone forget ID` unpairs one.", visible(paired))
	return nil
}

// waitForPhone returns the name of a phone that is not known yet; none when it takes too long or done is closed.
func waitForPhone(ctx context.Context, operator *client.Client, known map[string]bool, until time.Time, done <-chan struct{}) (string, error) {
	late := time.NewTimer(time.Until(until))
	defer late.Stop()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-late.C:
			return "", nil
		case <-done:
			return "", nil
		case <-ctx.Done():
			return "", nil
		}
		now, err := operator.Phones(ctx)
		if err != nil && ctx.Err() == nil {
			return "", err
		}
		for _, d := range now.Devices {
			if !known[d.ID] {
				return d.Name, nil
			}
		}
	}
}

// qrText draws a text as a QR code of half blocks, black on white whatever the terminal's colors are, with the edge that scanners need.
func qrText(text string) (string, error) {
	code, err := qr.Encode(text, qr.L, qr.Auto)
	if err != nil {
		return "", err
	}
	const edge = 2 // a white one; the terminal's own background adds to it
	var b strings.Builder
	size := code.Bounds().Dx()
	for y := -edge; y < size+edge; y += 2 {
		b.WriteString("\x1b[38;5;16;48;5;231m")
		for x := -edge; x < size+edge; x++ {
			switch above, below := dark(code, x, y), dark(code, x, y+1); {
			case above && below:
				b.WriteString("█")
			case above:
				b.WriteString("▀")
			case below:
				b.WriteString("▄")
			default:
				b.WriteString(" ")
			}
		}
		b.WriteString("\x1b[0m\r\n")
	}
	return b.String(), nil
}

func dark(code barcode.Barcode, x, y int) bool {
	size := code.Bounds().Dx()
	if x < 0 || y < 0 || x >= size || y >= size {
		return false
	}
	r, _, _, _ := code.At(x, y).RGBA()
	return r == 0
}
