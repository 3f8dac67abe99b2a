// Package folders watches the folders an operator named and tells what happened to the files in them, as a
// person would: a file that was saved has changed, however its editor saves it.
//
// The system's own notices say only where to look. A path is looked at once it has been quiet for a moment, and
// what it is then is compared with what it was: so a save by rename is one change, a temporary file that came and
// went is nothing, and a notice too many or too few does no harm.
package folders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Limits beyond which the rest of a folder is not watched. Each folder costs a watch of the system's, each entry
// some 200 bytes while the recording runs.
const (
	maxFolders = 8192
	maxEntries = 200_000
)

// A Source is a record.Source of FileChanged events. One event stands for all that happened to a path until it
// was quiet for 300 ms (or, when it is never quiet, for 10 s); its At is that of the last notice. Symbolic links
// are entries and are not followed; folders whose names begin with a dot are left out, and so are the temporary
// files and backups of common programs. A file that came and went between two looks is not told of. A folder moved
// out of sight is one event; one that came is an event for each entry in it.
type Source struct {
	clock   record.Clock
	folders []string
	without string
}

// New makes a source of what happens in and under these folders, but not in the folder without, where there is
// one: Deskbell's own, in which every event of a recording is written down. Nothing is touched before Check or Run.
func New(clock record.Clock, paths []string, without string) *Source {
	s := &Source{clock: clock}
	if without != "" {
		s.without = filepath.Clean(without)
	}
	real := map[string]bool{}
	for _, p := range paths {
		p = filepath.Clean(p)
		// The same folder under two names would be watched under one of them at random.
		r, err := filepath.EvalSymlinks(p)
		if err != nil {
			r = p
		}
		if !real[r] {
			real[r] = true
			s.folders = append(s.folders, p)
		}
	}
	return s
}

// Check looks at each folder and what is below it. It blocks while it counts, until ctx ends.
func (s *Source) Check(ctx context.Context) human.SourceState {
	state := human.SourceState{Source: human.FileSource, Status: "complete"}
	if len(s.folders) == 0 {
		state.Status = "off"
		return state
	}
	c := counted{ctx: ctx, without: s.without}
	bad := 0
	for _, f := range s.folders {
		err := usable(f)
		if err == nil {
			c.count(f)
			continue
		}
		bad++
		state.Status, state.Code = "partial", "no_folder"
		if errors.Is(err, os.ErrPermission) {
			state.Code = "no_permission"
		}
		state.Detail = sentence(state.Detail, human.SafeText(err))
		state.Fix = "Choose a folder that exists and that you may read."
	}
	switch limit := systemLimit(); {
	case bad == len(s.folders):
		state.Status = "missing"
	case c.folders > maxFolders || c.entries > maxEntries:
		state.Status, state.Code = "partial", "limit"
		state.Detail = sentence(state.Detail, fmt.Sprintf("There are more than %d folders or %d files: not all of them will be watched.", maxFolders, maxEntries))
		state.Fix = sentence(state.Fix, "Choose the folders that matter.")
	case limit > 0 && c.folders > limit:
		state.Status, state.Code = "partial", "limit"
		state.Detail = sentence(state.Detail, fmt.Sprintf("There are %d folders, and this system lets a user watch %d.", c.folders, limit))
		state.Fix = sentence(state.Fix, "Choose the folders that matter, or raise fs.inotify.max_user_watches.")
	case c.unreadable != "":
		state.Status, state.Code = "partial", "no_permission"
		state.Detail = sentence(state.Detail, "You may not read "+c.unreadable+"; what happens there is not seen.")
	}
	if c.hidden > 0 {
		state.Detail = sentence(state.Detail, fmt.Sprintf("Hidden folders (%s, …) are left out.", c.example))
	}
	return state
}

func sentence(before, more string) string { return strings.TrimSpace(before + " " + more) }

// usable says what is wrong with a folder, in an error for people.
func usable(folder string) error {
	if !filepath.IsAbs(folder) {
		return human.BadField("folders", "%s is not an absolute path", folder)
	}
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return human.Wrap(human.NotFound, err, "There is no folder %s.", folder)
	case err == nil && !info.IsDir():
		return human.Errorf(human.Invalid, "%s is not a folder.", folder)
	case err == nil:
		var d *os.File
		if d, err = os.Open(folder); err == nil {
			_, err = d.Readdirnames(1)
			_ = d.Close()
			if err == nil || errors.Is(err, io.EOF) {
				return nil
			}
		}
	}
	return human.Wrap(human.Denied, err, "The folder %s cannot be read.", folder)
}

// counted is what is below the folders, as far as it matters.
type counted struct {
	ctx                      context.Context
	folders, entries, hidden int
	example, unreadable      string
	without                  string
}

func (c *counted) count(dir string) {
	if c.ctx.Err() != nil || c.folders > maxFolders || c.entries > maxEntries {
		return
	}
	c.folders++
	entries, err := os.ReadDir(dir)
	if err != nil && c.unreadable == "" {
		c.unreadable = dir
	}
	for _, e := range entries {
		c.entries++
		switch {
		case !e.IsDir() || filepath.Join(dir, e.Name()) == c.without:
		case hidden(e.Name()):
			c.hidden++
			c.example = e.Name()
		default:
			c.count(filepath.Join(dir, e.Name()))
		}
	}
}

// systemLimit is how many folders the system lets a user watch; 0 where it has no such limit.
func systemLimit() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

func hidden(folder string) bool { return strings.HasPrefix(folder, ".") }

// passing says whether a file name is one that a program gives to a file that is not meant to stay, or that is
// no work of the operator's: what is being written or downloaded, locks, backups, a desktop's own notes.
func passing(name string) bool {
	switch name {
	case ".DS_Store", "Thumbs.db", "desktop.ini", ".directory", "4913": // the last is Vim's test whether it may write
		return true
	}
	lower := strings.ToLower(name)
	for _, prefix := range []string{".goutputstream-", ".~", "~$", ".#", "#", ".nfs", ".fuse_hidden", "._", ".com.apple."} {
		if strings.HasPrefix(lower, prefix) {
			return prefix != "#" || strings.HasSuffix(lower, "#")
		}
	}
	for _, suffix := range []string{"~", ".swp", ".swo", ".swx", ".part", ".partial", ".crdownload", ".download", ".opdownload", ".tmp", ".temp", ".kate-swp"} {
		if strings.HasSuffix(lower, suffix) {
			return true
		}
	}
	return false
}
