package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"deskbell/backend/human"
)

func (s *shell) modelCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "model", Short: "Print which model summaries, the agent and the gatekeeper may ask, and store its key",
		Long: "The model is that of the settings model.provider and model.name. Summaries ask it only when the operator agrees to what is\n" +
			"sent, the gatekeeper only when gate.toml says so, and `deskbell agent run` works with it. Its key is in the system's\n" +
			"keychain or the environment, never in the settings file.",
		Args: cobra.NoArgs,
		RunE: s.withModel(func(ctx context.Context, m Model) error {
			from, err := m.Key.Find(ctx)
			if s.json {
				return s.printJSON(struct {
					Model string `json:"model"`
					Host  string `json:"host"`
					Key   string `json:"key_from,omitempty"`
				}{m.Name, m.Host, from})
			}
			s.printf("%s at %s\n", visible(m.Name), visible(m.Host))
			if err != nil {
				s.note("%s", visible(human.SafeText(err)))
				return nil
			}
			s.printf("The key is in %s.\n", visible(from))
			return nil
		}),
	}
	s.jsonFlag(c, "print one line of JSON")
	c.AddCommand(
		&cobra.Command{
			Use: "set-key", Short: "Store the model's key in the keychain; it is read from standard input", Args: cobra.NoArgs,
			RunE: s.withModel(func(ctx context.Context, m Model) error { return s.setKey(ctx, "key", m.Host, m.Key) }),
		},
		&cobra.Command{
			Use: "remove-key", Short: "Delete the model's key from the keychain", Args: cobra.NoArgs,
			RunE: s.withModel(func(ctx context.Context, m Model) error { return m.Key.Remove(ctx) }),
		})
	return c
}

// setKey reads a key or secret and stores it.
func (s *shell) setKey(ctx context.Context, what, host string, key Key) error {
	text, err := s.secret(strings.ToUpper(what[:1]) + what[1:] + ": ")
	if err == nil {
		err = key.Set(ctx, text)
	}
	if err == nil {
		s.printf("The %s for %s is in the keychain.\n", what, visible(host))
	}
	return err
}

func (s *shell) withModel(do func(context.Context, Model) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		p, err := s.place()
		if err != nil {
			return err
		}
		m, err := s.Model(p)
		if err != nil {
			return err
		}
		return do(c.Context(), m)
	}
}

// secret reads a line that does not appear on the screen where a person types it.
func (s *shell) secret(ask string) (string, error) {
	if f, is := s.in.(*os.File); is && s.interactive() {
		_, _ = io.WriteString(s.err, ask)
		text, err := term.ReadPassword(int(f.Fd()))
		s.note("")
		return string(text), err
	}
	text, err := bufio.NewReader(s.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(text), nil
}
