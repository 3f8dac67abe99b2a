package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

// read reads the manifest of a backup and its list of files, and returns an error where they are not as they were written.
func (s *Service) read(id string) (m manifest, files []file, err error) {
	if m, err = s.manifest(id); err != nil {
		return m, nil, err
	}
	var text bytes.Buffer
	if err := unpack(context.Background(), filepath.Join(s.folder(), id, filesName), &text, m.FilesFile.SHA256); err != nil {
		return m, nil, err
	}
	if err := json.Unmarshal(text.Bytes(), &files); err != nil {
		return m, nil, human.Wrap(human.Internal, err, "the list of files of the backup %s cannot be read: %v", id, err)
	}
	return m, files, nil
}

func (s *Service) manifest(id string) (m manifest, err error) {
	if !idPattern.MatchString(id) {
		return m, human.Errorf(human.NotFound, "there is no backup %.40q in %s", id, s.folder())
	}
	path := filepath.Join(s.folder(), id, manifestName)
	err = readJSON(path, &m)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, human.Errorf(human.NotFound, "there is no backup %.40q in %s", id, s.folder())
	case err == nil && m.Format > Format:
		return m, human.Errorf(human.Unavailable, "the backup %s was made by a newer Deskbell (%s); use that one to restore it", id, m.Version)
	case err == nil:
		var is string
		if is, err = m.sum(); err == nil && (is != m.Sum || m.ID != id) {
			err = errors.New("it was changed after it was written")
		}
	}
	if err != nil {
		return m, human.Wrap(human.Internal, err, "%s is damaged: %v; use another backup", path, reason(err))
	}
	return m, nil
}

// list lists the backups, the newest first.
func (s *Service) list() ([]human.Archive, error) {
	all := []human.Archive{}
	entries, err := os.ReadDir(s.folder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, human.Wrap(human.Unavailable, err, "the folder %s cannot be read: %v", s.folder(), reason(err))
	}
	for _, e := range slices.Backward(entries) {
		if !e.IsDir() || !idPattern.MatchString(e.Name()) {
			continue
		}
		m, err := s.manifest(e.Name())
		a := m.Archive
		if err != nil {
			a = human.Archive{ID: e.Name(), Problem: human.SafeText(err)}
			a.At, _ = time.Parse(timeFormat, e.Name()[:len(timeFormat)]) // the pattern fits
		}
		all = append(all, a)
	}
	return all, nil
}

// State says what backups there are, and what comes next.
func (s *Service) State() (human.ArchiveState, error) {
	r := s.o.Rules()
	st := human.ArchiveState{Folder: s.folder(), Daily: r.Daily}
	var err error
	st.Archives, err = s.list()
	for _, a := range st.Archives {
		if a.Problem == "" {
			st.Last = a.At
			break
		}
	}
	st.SameDisk = sameDisk(s.o.Dir, st.Folder)
	if r.Daily {
		st.Next = next(st.Last, s.started, s.o.Now(), r.At)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Running, st.Done, st.Total, st.Problem = s.running, s.done, s.total, s.failed
	var known state
	if st.Problem == "" && len(st.Archives) == 0 && readJSON(filepath.Join(s.o.Dir, stateName), &known) == nil && slices.Contains(known.Folders, st.Folder) && !exists(filepath.Join(st.Folder, markerName)) {
		st.Problem = human.Sayf("the folder %s is not there, or is empty: backups were made in it before; connect its disk, or set backup.folder to another folder", st.Folder).Text
	}
	return st, err
}

// sameDisk says whether two folders are on one disk. A folder that is not there yet counts as its parent.
func sameDisk(a, b string) bool {
	for !exists(b) && filepath.Dir(b) != b {
		b = filepath.Dir(b)
	}
	one, two := device(a), device(b)
	return one != "" && one == two
}

// Verify reads everything of a backup and compares it with what was written. It changes nothing, and blocks while it reads.
func (s *Service) Verify(ctx context.Context, id string) (human.Archive, error) {
	m, files, err := s.read(id)
	if err != nil {
		return m.Archive, err
	}
	if err := s.verifyDatabase(ctx, filepath.Join(s.folder(), id), m); err != nil {
		return m.Archive, err
	}
	checked := map[string]bool{}
	for _, f := range files {
		if checked[f.SHA256] {
			continue
		}
		checked[f.SHA256] = true
		if err := check(ctx, s.object(f.SHA256), f.SHA256); err != nil {
			return m.Archive, human.Wrap(human.KindOf(err), err, "%s of the backup %s is missing or damaged: %v", f.Path, id, human.Inner{Err: err})
		}
	}
	return m.Archive, nil
}

// Delete deletes a backup, and the files that no other one has.
func (s *Service) Delete(id string) error {
	release, err := s.claim()
	if err != nil {
		return err
	}
	defer release()
	if !idPattern.MatchString(id) || !exists(filepath.Join(s.folder(), id)) {
		return human.Errorf(human.NotFound, "there is no backup %.40q in %s", id, s.folder())
	}
	return errors.Join(s.drop(id), s.sweep())
}

// drop deletes a backup's folder; its name goes first, so that half of one is never there.
func (s *Service) drop(id string) error {
	part := filepath.Join(s.folder(), id+partEnd)
	if err := os.Rename(filepath.Join(s.folder(), id), part); err != nil {
		return err
	}
	return os.RemoveAll(part)
}

// thin deletes the backups that the rules do not keep, and then the files that none has.
func (s *Service) thin() error {
	all, err := s.list()
	if err != nil {
		return err
	}
	times := map[string]time.Time{}
	for _, a := range all {
		if a.Problem == "" { // what cannot be read is the operator's to look at
			times[a.ID] = a.At
		}
	}
	r := s.o.Rules()
	for _, id := range surplus(times, r.Days, r.Weeks, r.Months) {
		if err := s.drop(id); err != nil {
			return err
		}
	}
	return s.sweep()
}

// sweep deletes the files that no backup has. While one backup cannot be read, it deletes none.
func (s *Service) sweep() error {
	all, err := s.list()
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, a := range all {
		_, files, err := s.read(a.ID)
		if err != nil {
			return err
		}
		for _, f := range files {
			named[f.SHA256] = true
		}
	}
	root := filepath.Join(s.folder(), objectsName)
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || named[strings.TrimSuffix(d.Name(), ".zst")] {
			return err
		}
		return os.Remove(path)
	})
}

// surplus are the backups that are not kept: the last of each of so many days, weeks and months with backups is kept, and all that
// were made within a day of the newest.
func surplus(times map[string]time.Time, days, weeks, months int) (ids []string) {
	newest := make([]string, 0, len(times))
	for id := range times {
		newest = append(newest, id)
	}
	slices.SortFunc(newest, func(a, b string) int {
		if c := times[b].Compare(times[a]); c != 0 {
			return c
		}
		return strings.Compare(b, a)
	})
	keep := map[string]bool{}
	for _, id := range newest {
		keep[id] = times[newest[0]].Sub(times[id]) < 24*time.Hour
	}
	for _, rule := range []struct {
		most int
		of   func(time.Time) [2]int
	}{
		{days, func(t time.Time) [2]int { return [2]int{t.Year(), t.YearDay()} }},
		{weeks, func(t time.Time) [2]int { year, week := t.ISOWeek(); return [2]int{year, week} }},
		{months, func(t time.Time) [2]int { return [2]int{t.Year(), int(t.Month())} }},
	} {
		seen := map[[2]int]bool{}
		for _, id := range newest {
			period := rule.of(times[id].Local())
			if !seen[period] && len(seen) < rule.most {
				seen[period], keep[id] = true, true
			}
		}
	}
	for _, id := range newest {
		if !keep[id] {
			ids = append(ids, id)
		}
	}
	return ids
}
