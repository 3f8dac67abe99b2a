package app

import (
	"time"

	"deskbell/backend/record/retention"
)

// openRetention makes what removes old recordings and files by the settings.
func (a *App) openRetention() {
	a.retention = retention.New(retention.Deps{
		Store: a.store.Recordings(), Sizes: a.pictures, Library: a.library, Files: a.attachments, Operations: a.queue,
		Requests: a.store, Finished: a.finished,
		Rules: func() retention.Rules { return a.now().Retained() }, Now: time.Now, Log: a.log,
	})
}
