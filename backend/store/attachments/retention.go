package attachments

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/retention"
	"deskbell/backend/store/disk"
)

var _ retention.Files = (*Store)(nil)

// removedName is the file that says when retention removed the bytes beside it. It is written first: bytes beside it are none.
const removedName = "removed"

// removed returns when the file of a folder was removed; nil where it was not.
func removed(dir string) (*time.Time, error) {
	text, err := os.ReadFile(filepath.Join(dir, removedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "what is known of the file in %s cannot be read", dir)
	}
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "what is known of the file in %s cannot be read", dir)
	}
	return &at, nil
}

// there returns an error for a file that retention removed.
func there(id human.AttachmentID, dir string) error {
	at, err := removed(dir)
	if err == nil && at != nil {
		err = human.Errorf(human.NotFound, "the file %s was removed on %s by retention", id, at.Format(time.DateOnly))
	}
	return err
}

// Removed implements queue.Files.
func (s *Store) Removed(_ context.Context, id human.AttachmentID) (*time.Time, error) {
	dir, err := s.folder(id)
	if err != nil {
		return nil, err
	}
	return removed(dir)
}

// Held implements retention.Files.
func (s *Store) Held(ctx context.Context) (all []retention.File, err error) {
	err = s.each(func(id human.AttachmentID, dir string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.mu.Lock()
		f, err := s.look(id, dir)
		s.mu.Unlock()
		if err == nil {
			all = append(all, f)
		}
		return err
	})
	return all, err
}

// look returns what retention has to know of a file. s.mu is held.
func (s *Store) look(id human.AttachmentID, dir string) (f retention.File, err error) {
	f.ID = id
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return f, err
		}
		op, isFor := strings.CutPrefix(e.Name(), forPrefix)
		switch {
		case isFor:
			f.Operations = append(f.Operations, human.OperationID(op))
		case e.Name() == dataName:
			f.Bytes = info.Size()
		case e.Name() == removedName:
			f.Removed = true
			continue
		case strings.HasPrefix(e.Name(), "."): // left by a write that was killed
			continue
		}
		f.Young = f.Young || s.opts.Now().Sub(info.ModTime()) < Life
	}
	return f, err
}

// Remove implements retention.Files.
func (s *Store) Remove(ctx context.Context, id human.AttachmentID, at time.Time, may func(context.Context, []human.OperationID) (bool, error)) (bool, error) {
	dir, err := s.folder(id)
	if err != nil {
		return false, err
	}
	s.mu.Lock() // whoever names it for the first time waits
	defer s.mu.Unlock()
	f, err := s.look(id, dir)
	if err != nil {
		return false, s.unwritten(err)
	}
	if !f.Removed {
		if ok, err := may(ctx, f.Operations); err != nil || !ok || f.Young {
			return false, err
		}
		if _, err := disk.Replace(filepath.Join(dir, removedName), strings.NewReader(at.UTC().Format(time.RFC3339)), 0o600); err != nil {
			return false, s.unwritten(err)
		}
	}
	if f.Bytes == 0 {
		return true, nil
	}
	if err := os.Remove(filepath.Join(dir, dataName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, s.unwritten(err)
	}
	if s.used >= 0 {
		s.used -= f.Bytes
	}
	return true, s.unwritten(disk.SyncFolder(dir))
}

// Forget implements retention.Log: it removes the files, and what was said of them, that only operations name that gone says yes to.
func (s *Store) Forget(ctx context.Context, gone func(human.OperationID) (bool, error)) error {
	return s.each(func(id human.AttachmentID, dir string) error {
		s.mu.Lock() // whoever names it for the first time waits
		defer s.mu.Unlock()
		f, err := s.look(id, dir)
		if err != nil {
			return s.unwritten(err)
		}
		named := len(f.Operations)
		for _, op := range f.Operations {
			if is, err := gone(op); err != nil || ctx.Err() != nil {
				return cmp.Or(err, ctx.Err())
			} else if is {
				if named--; named == 0 { // its mark goes with the folder: what was interrupted is found again
					break
				}
				if err := os.Remove(filepath.Join(dir, forPrefix+string(op))); err != nil {
					return s.unwritten(err)
				}
			}
		}
		if named > 0 || len(f.Operations) == 0 {
			return nil
		}
		if s.used >= 0 {
			s.used -= f.Bytes
		}
		return s.unwritten(removeAll(dir))
	})
}

// removeAll removes a file's folder, the marks of operations last.
func removeAll(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil && !strings.HasPrefix(e.Name(), forPrefix) {
			err = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return err
	}
	return disk.SyncFolder(filepath.Dir(dir))
}
