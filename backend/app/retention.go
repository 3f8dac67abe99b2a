package app

import (
	"errors"
	"path/filepath"
	"time"

	"deskbell/backend/record/retention"
	"deskbell/backend/store/sqlite"
)

// openRetention makes what removes old recordings and files by the settings.
func (a *App) openRetention() {
	a.retention = retention.New(retention.Deps{
		Store: a.store.Recordings(), Sizes: a.pictures, Library: a.library, Files: a.attachments, Operations: a.queue,
		Requests: a.store, Finished: a.finished,
		Rules: func() retention.Rules { return a.now().Retained() }, Copies: a.copies, Everywhere: a.team.deleteForAll, Now: time.Now, Log: a.log,
	})
}

// copies are those of the database that were made before now.
func (a *App) copies() (c retention.Copies, err error) {
	c = retention.Copies{Backups: []string{}, Files: []string{}}
	state, err := a.archives.State()
	for _, backup := range state.Archives {
		c.Backups = append(c.Backups, backup.ID)
	}
	for _, name := range []string{sqlite.FileName + ".rescued-*", sqlite.FileName + ".broken-*", "before-restore-*"} {
		found, globErr := filepath.Glob(filepath.Join(a.Dir, name))
		c.Files, err = append(c.Files, found...), errors.Join(err, globErr)
	}
	return c, err
}
