package app

import (
	"cmp"
	"context"
	"errors"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/receiptkeys"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/transport/cli"
)

// inspected is cli.Program.Database.
func inspected(ctx context.Context, dir string) (lost []human.Sentence, err error) {
	report, err := sqlite.Inspect(ctx, dir)
	for _, l := range report.Unread {
		lost = append(lost, l.Sentence)
	}
	return lost, cmp.Or(err, report.Err())
}

// audited is cli.Program.Audit.
func audited(ctx context.Context, dir string) (receipt.Audit, error) {
	keys, err := receiptkeys.Public(dir)
	if err != nil {
		return receipt.Audit{}, err
	}
	return sqlite.AuditFile(ctx, dir, receipt.TrustIn(keys))
}

// repair is cli.Program.Repair.
func repair(version string) func(context.Context, string, bool, []string) (cli.Repaired, error) {
	return func(ctx context.Context, dir string, replace bool, rescued []string) (cli.Repaired, error) {
		claim, err := datadir.Take(dir, version)
		if err != nil {
			return nil, err
		}
		r, err := sqlite.RepairDatabase(ctx, dir, time.Now(), replace, rescued...)
		return r, errors.Join(err, claim.Release())
	}
}

// readLosses is cli.Program.ReadLosses.
func readLosses(version string) func(context.Context, string) error {
	return func(ctx context.Context, dir string) error {
		claim, err := datadir.Take(dir, version)
		if err != nil {
			return err
		}
		store, err := sqlite.Open(ctx, dir, sqlite.Options{})
		if err == nil {
			err = errors.Join(store.ReadLosses(ctx), store.Close())
		}
		return errors.Join(err, claim.Release())
	}
}

// checkDatabase reads the pages of the whole database once; what it finds is in the log.
func (a *App) checkDatabase(ctx context.Context) error {
	r, err := a.store.CheckPages(ctx)
	if len(r.Found) > 0 {
		a.log.Error("the database is damaged; run `deskbell doctor`", "first", r.Found[0].Text, "problems", len(r.Found)+r.More)
	}
	return err
}
