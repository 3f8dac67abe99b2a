//go:build !windows

package folders

import "github.com/fsnotify/fsnotify"

// A watcher tells of one folder at a time.
type watcher = fsnotify.Watcher

func newWatcher() (*watcher, error) { return fsnotify.NewBufferedWatcher(8192) }
