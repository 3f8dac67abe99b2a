package api

import (
	"context"
	"net/http"
	"path/filepath"

	"deskbell/backend/human"
)

// Archives are the backups of Deskbell's data in one folder; *archive.Service is one. Errors are of package human.
type Archives interface {
	State() (human.ArchiveState, error)
	Make(ctx context.Context, why string) (human.Archive, error)
	Show(ctx context.Context, id, search string) (human.ArchiveDifference, error)
	Verify(ctx context.Context, id string) (human.Archive, error)
	Restore(ctx context.Context, id string, ids []human.OperationID) (human.ArchiveRestored, error)
	Delete(id string) error
}

type (
	archiveFolder struct {
		Folder string `query:"folder" doc:"Another folder of backups than that of the settings: an absolute path."`
	}
	archiveInput struct {
		Folder string `query:"folder" doc:"Another folder of backups than that of the settings: an absolute path."`
		ID     string `path:"id" doc:"The backup's id."`
	}
	archiveLook struct {
		Folder string `query:"folder" doc:"Another folder of backups than that of the settings: an absolute path."`
		ID     string `path:"id" doc:"The backup's id."`
		Text   string `query:"q" maxLength:"500" doc:"Is in a missing operation's description, agent or id, in upper or lower case."`
	}
	archiveRestore struct {
		Folder string `query:"folder" doc:"Another folder of backups than that of the settings: an absolute path."`
		ID     string `path:"id" doc:"The backup's id."`
		payload[ArchiveOperations]
	}
)

// ArchiveOperations are operations to bring back.
type ArchiveOperations struct {
	Operations []human.OperationID `json:"operations" minItems:"1" maxItems:"1000"`
}

func (s *Server) archivesIn(folder string) (Archives, error) {
	if folder != "" && !filepath.IsAbs(folder) {
		return nil, human.Errorf(human.Invalid, "%q is not an absolute path; begin it at the root, or with ~/", folder)
	}
	return s.deps.Archives(folder), nil
}

func (s *Server) archives(c catalogue) {
	add(c, route{http.MethodGet, "/api/archives", "listArchives", "Backups of Deskbell's data, the newest first, and what comes next", operators, 0},
		func(_ context.Context, _ *exchange, in *archiveFolder) (*answer[*human.ArchiveState], error) {
			all, err := s.archivesIn(in.Folder)
			if err != nil {
				return nil, err
			}
			st, err := all.State()
			return ok(&st, err)
		})
	add(c, route{http.MethodPost, "/api/archives", "makeArchive", "Make a backup of Deskbell's data now; the answer comes when it is made and verified", operators, 0},
		func(ctx context.Context, _ *exchange, in *archiveFolder) (*answer[*human.Archive], error) {
			all, err := s.archivesIn(in.Folder)
			if err != nil {
				return nil, err
			}
			a, err := all.Make(context.WithoutCancel(ctx), human.ArchiveAsked) // it is made, whether or not the caller waits
			return ok(&a, err)
		})
	add(c, route{http.MethodGet, "/api/archives/{id}", "getArchive", "A backup, and how it differs from today's database", operators, 0},
		func(ctx context.Context, _ *exchange, in *archiveLook) (*answer[*human.ArchiveDifference], error) {
			all, err := s.archivesIn(in.Folder)
			if err != nil {
				return nil, err
			}
			d, err := all.Show(ctx, in.ID, in.Text)
			return ok(&d, err)
		})
	add(c, route{http.MethodPost, "/api/archives/{id}/verify", "verifyArchive", "Read all of a backup and compare it with what was written", operators, 0},
		func(ctx context.Context, _ *exchange, in *archiveInput) (*answer[*human.Archive], error) {
			all, err := s.archivesIn(in.Folder)
			if err != nil {
				return nil, err
			}
			a, err := all.Verify(ctx, in.ID)
			return ok(&a, err)
		})
	add(c, route{http.MethodPost, "/api/archives/{id}/restore", "restoreArchive", "Restore operations that today's database does not have; nothing is overwritten", operators, 0},
		func(ctx context.Context, x *exchange, in *archiveRestore) (*answer[*human.ArchiveRestored], error) {
			all, err := s.archivesIn(in.Folder)
			if err != nil {
				return nil, err
			}
			r, err := all.Restore(context.WithoutCancel(ctx), in.ID, in.JSON.Operations)
			s.deps.Log.Info("operations were restored from a backup", "backup", in.ID, "by", x.by.Name, "operations", r.Operations, "err", err)
			return ok(&r, err)
		})
	add(c, route{http.MethodDelete, "/api/archives/{id}", "deleteArchive", "Delete a backup, and the files that no other one has", operators, 0},
		func(_ context.Context, x *exchange, in *archiveInput) (*answer[*human.ArchiveState], error) {
			all, err := s.archivesIn(in.Folder)
			if err != nil {
				return nil, err
			}
			err = all.Delete(in.ID)
			s.deps.Log.Info("a backup was deleted", "backup", in.ID, "by", x.by.Name, "err", err)
			if err != nil {
				return nil, err
			}
			st, err := all.State()
			return ok(&st, err)
		})
}
