package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/outbox"
	"deskbell/backend/record/masking"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/keychain"
	"deskbell/backend/store/settings"
	"deskbell/backend/store/sinks"
	"deskbell/backend/transport/cli"
)

// openOutbox makes what takes finished requests to where the settings say.
func (a *App) openOutbox() {
	a.finished = &sinks.Log{Path: filepath.Join(a.Dir, datadir.Finished)}
	a.outbox = outbox.New(outbox.Deps{
		Queue: a.queue, Store: a.store.Outbox(), Operator: a.operator(), Mask: a.masker.Text, Now: time.Now, Log: a.log,
		Sinks: func() map[string]outbox.On { return sinksOf(a.now().Sinks, a.finished) },
	})
	a.Config.Config.OnUpdate(a.outbox.Recheck)
}

// sinksOf are those that settings switch on.
func sinksOf(s settings.Sinks, log *sinks.Log) map[string]outbox.On {
	on := map[string]outbox.On{}
	if s.Log {
		on["log"] = outbox.On{Sink: log, To: log.Path}
	}
	if folder := s.Folder; folder != "" {
		if rest, home := strings.CutPrefix(folder, "~"); home {
			if dir, err := os.UserHomeDir(); err == nil {
				folder = filepath.Join(dir, rest)
			}
		}
		on["folder"] = outbox.On{Sink: sinks.Folder{Path: folder}, To: folder}
	}
	if s.WebhookURL != "" {
		w := webhookOf(s)
		on["webhook"] = outbox.On{Sink: w, To: w.Host()}
	}
	return on
}

func webhookOf(s settings.Sinks) sinks.Webhook {
	return sinks.Webhook{URL: s.WebhookURL, Body: s.WebhookBody, Secret: keychain.Secret, Now: time.Now}
}

// webhook is the webhook of the settings, for the command line.
func webhook(p cli.Place) (cli.Webhook, error) {
	s := p.Config.Settings().Sinks
	if s.WebhookURL == "" {
		return cli.Webhook{}, human.Errorf(human.Unavailable, "there is no webhook; set sinks.webhook.url, for instance in %s", p.Config.File())
	}
	w := webhookOf(s)
	return cli.Webhook{
		Host: w.Host(), Secret: keychain.Account{Host: w.Host(), Webhook: true},
		Test: func(ctx context.Context) error {
			try := outbox.New(outbox.Deps{
				Operator: human.Actor{Role: human.Operator, Name: p.Config.Settings().Operator.Name}, Mask: masking.New().Text, Now: time.Now,
				Sinks: func() map[string]outbox.On { return map[string]outbox.On{"webhook": {Sink: w}} },
			})
			return try.Try(ctx, "webhook")
		},
	}, nil
}
