package cli

import (
	"context"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

func (s *shell) webhookCommand() *cobra.Command {
	with := func(do func(context.Context, Webhook) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, _ []string) error {
			p, err := s.place()
			if err != nil {
				return err
			}
			w, err := s.Webhook(p)
			if err != nil {
				return err
			}
			return do(c.Context(), w)
		}
	}
	c := &cobra.Command{
		Use: "webhook", Short: "Print where finished requests are posted to, store the webhook's secret, and try it",
		Long: "Finished requests are posted to the address in the setting sinks.webhook.url. Its secret is in the system's keychain or the\n" +
			"environment, never in the settings file. It stands in the address in place of {secret}, or signs each request.",
		Args: cobra.NoArgs,
		RunE: with(func(ctx context.Context, w Webhook) error {
			s.printf("Finished requests go to %s\n", visible(w.Host))
			from, err := w.Secret.Find(ctx)
			if err != nil {
				s.note("%s", visible(human.SafeText(err)))
				return nil
			}
			s.printf("The secret is in %s.\n", visible(from))
			return nil
		}),
	}
	c.AddCommand(
		&cobra.Command{
			Use: "set-secret", Short: "Store the webhook's secret in the keychain; it is read from standard input", Args: cobra.NoArgs,
			RunE: with(func(ctx context.Context, w Webhook) error { return s.setKey(ctx, "secret", w.Host, w.Secret) }),
		},
		&cobra.Command{
			Use: "remove-secret", Short: "Delete the webhook's secret from the keychain", Args: cobra.NoArgs,
			RunE: with(func(ctx context.Context, w Webhook) error { return w.Secret.Remove(ctx) }),
		},
		&cobra.Command{
			Use: "test", Short: "Post a sample to the webhook", Args: cobra.NoArgs,
			RunE: with(func(ctx context.Context, w Webhook) error {
				if err := w.Test(ctx); err != nil {
					return err
				}
				s.printf("%s took it.\n", visible(w.Host))
				return nil
			}),
		})
	return c
}
