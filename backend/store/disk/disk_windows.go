package disk

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// keepMode does nothing: a file has its folder's permissions.
func keepMode(*os.File, fs.FileMode) error { return nil }

// SyncFolder does nothing: NTFS keeps names in a journal of its own, and folders cannot be synced.
func SyncFolder(string) error { return nil }

// Free is how many bytes this user can still write in a folder.
func Free(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	return free, windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
}
