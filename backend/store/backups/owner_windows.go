package backups

import "io/fs"

// owner is known by no number here.
func owner(fs.FileInfo) (user, group int) { return -1, -1 }

func giveTo(string, int, int) error { return nil }
