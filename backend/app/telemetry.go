package app

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/disk"
	"deskbell/backend/transport/api"
	"deskbell/backend/transport/telemetry"
)

// openTelemetry makes the metrics and the traces that the settings ask for, of what happens from now on.
func (a *App) openTelemetry(ctx context.Context) (err error) {
	if a.observed, err = a.store.Head(ctx); err != nil {
		return err
	}
	if m := a.settings.Metrics; m.Enabled {
		if a.scraper, err = scraperToken(filepath.Join(a.Dir, datadir.Scraper)); err != nil {
			return err
		}
		server := telemetry.Server{
			Version: a.Version, Agents: m.Agents, Alike: a.store.Alike, Head: a.store.Head, Bytes: a.store.Bytes,
			Ready:   func(ctx context.Context) error { return a.api.Ready(ctx) },
			Healthy: func() bool { now, _ := a.store.State(); return now.State == "ok" },
			Now:     time.Now, Log: a.log,
		}
		if j := a.team.journal; j != nil {
			server.Behind = func() uint64 { s, _ := j.Status(); return s.Behind }
		}
		a.metrics = telemetry.NewMetrics(server)
	}
	if to := a.settings.Telemetry.OTLPEndpoint; to != "" {
		machine := a.team.credentials.Desk
		if machine == "" {
			if machine, err = os.Hostname(); err != nil {
				a.log.Warn("traces do not name this machine", "err", err)
			}
		}
		if a.traces, err = telemetry.NewTraces(ctx, to, machine, a.Version, a.log); err != nil {
			return err
		}
	}
	return nil
}

// telemetry is what follows the journal for them; nothing when they are off.
func (a *App) telemetry() map[string]func(context.Context) error {
	jobs := map[string]func(context.Context) error{}
	if a.metrics != nil {
		jobs["metrics"] = func(ctx context.Context) error { return a.metrics.Run(ctx, a.queue, a.operator(), a.observed) }
	}
	if a.traces != nil {
		jobs["traces"] = func(ctx context.Context) error { return a.traces.Run(ctx, a.queue, a.operator(), a.observed) }
	}
	return jobs
}

// journal is the team's, or without a team the store's, with its appends measured where there are metrics.
func (a *App) journal() queue.Journal {
	j := a.team.alone()
	if a.team.journal != nil {
		j = a.team.journal
	}
	if a.metrics == nil {
		return j
	}
	return a.metrics.Journal(j)
}

// decided counts the gatekeeper's decisions; nil without metrics.
func (a *App) decided() func(human.Ruling) {
	if a.metrics == nil {
		return nil
	}
	return a.metrics.Decided
}

// scraped are the metrics as the API serves them; nil when they are off.
func (a *App) scraped() *api.Metrics {
	if a.metrics == nil {
		return nil
	}
	return &api.Metrics{Handler: a.metrics.Handler(), Token: a.scraper}
}

// storable says whether a request would be stored now.
func (a *App) storable(ctx context.Context) error {
	if !a.settings.Human.Enabled {
		return human.Errorf(human.Unavailable, "Deskbell is switched off (the setting human.enabled is false)")
	}
	return a.store.Ready(ctx)
}

// scraperToken reads the token that reads metrics, or makes one.
func scraperToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	token := strings.TrimSpace(string(text))
	if err == nil && len(token) >= 20 {
		return token, nil
	}
	if err == nil {
		return "", human.Errorf(human.Invalid, "%s has no token of at least 20 characters; delete it, and Deskbell makes a new one", file)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", human.Wrap(human.Unavailable, err, "%s cannot be read: %v", file, err)
	}
	token = "dbm_" + rand.Text()
	if _, err := disk.Replace(file, strings.NewReader(token+"\n"), 0o600); err != nil {
		return "", human.Wrap(human.Unavailable, err, "%s cannot be written: %v", file, err)
	}
	return token, nil
}
