package app

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"

	"deskbell/backend/human"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/transport/cli"
)

// Damage is what an error of Open says of a database that cannot be used as it is; nil where it says something else.
func Damage(err error) (found []human.Sentence) {
	var d *sqlite.Damaged
	if !errors.As(err, &d) {
		return nil
	}
	found = d.Report.Found
	if d.Report.Lost != nil {
		found = append(found[:len(found):len(found)], d.Report.Lost.Sentence)
	}
	return found
}

// GoodBackups are the backups from which a data folder can be restored, the newest first; none where its backups cannot be read.
func GoodBackups(ctx context.Context, p cli.Place) []human.Archive {
	good := []human.Archive{}
	all, done, err := archivesAway("")(ctx, p, "", cli.ToRead)
	if err != nil {
		return good
	}
	st, _ := all.State() // without it, it has none
	for _, a := range st.Archives {
		if a.Problem == "" {
			good = append(good, a)
		}
	}
	_ = done() // it only read
	return good
}

// Repair makes a new database of what can be read in a data folder that no server runs on, and puts it in place with replace. It returns
// what it did, or would do.
func Repair(ctx context.Context, dir, version string, replace bool) ([]human.Sentence, error) {
	repaired, err := repair(version)(ctx, dir, replace, nil)
	if err != nil {
		return nil, err
	}
	return repaired.Lines(), nil
}

// Restore puts a backup in the place of what is in a data folder that no server runs on, and keeps that in another folder.
func Restore(ctx context.Context, p cli.Place, version, id string) error {
	all, done, err := archivesAway(version)(ctx, p, "", cli.ToReplace)
	if err != nil {
		return err
	}
	_, err = all.RestoreAll(ctx, id)
	return errors.Join(err, done())
}

// OpenFolder shows a folder in the desktop's file manager.
func OpenFolder(dir string) error {
	return browse((&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String())
}
