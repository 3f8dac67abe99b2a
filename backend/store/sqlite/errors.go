package sqlite

import (
	"errors"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"deskbell/backend/human"
)

// code returns SQLite's primary result code of err, or 0.
func code(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func busy(err error) bool { return code(err) == codes.SQLITE_BUSY || code(err) == codes.SQLITE_LOCKED }

// damage says whether err is what SQLite says of a file that is not as it was written.
func damage(err error) bool {
	c := code(err)
	return c == codes.SQLITE_CORRUPT || c == codes.SQLITE_NOTADB
}

// unread says whether err is what SQLite says of a file that it cannot read, or that is not as it was written.
func unread(err error) bool { return damage(err) || code(err) == codes.SQLITE_IOERR }

// storageError says in plain words what is wrong with the file and what to do about it. An error that
// is a human.Error already, a canceled context, and nil are returned as they are.
func storageError(err error, file string) error {
	var e *human.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	switch code(err) {
	case codes.SQLITE_FULL:
		return human.Wrap(human.Internal, err, "no space is left for %s, so nothing was stored; free some space and try again", file)
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		d := damagedBy(human.Wrap(human.Internal, err, "%s is damaged; stop Deskbell, then `deskbell repair` shows what can be saved and saves it; or put a backup in its place", file))
		d.Report.Found = []human.Sentence{human.Sayf("SQLite says: %s", sqliteSays(err))}
		return d
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return human.Wrap(human.Unavailable, err, "%s cannot be opened for writing; check the permissions of the file and its folder, or choose another data folder", file)
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return human.Wrap(human.Unavailable, err, "another program keeps %s locked; close it and try again", file)
	case codes.SQLITE_IOERR:
		return human.Wrap(human.Internal, err, "the disk could not read or write %s; check its space and its health, then try again", file)
	}
	return human.Wrap(human.Internal, err, "storage failed in %s; the log has the details", file)
}
