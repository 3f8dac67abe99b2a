package folders

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// A fileID is one file's, whatever it is called, until it is deleted.
type fileID struct{ device, file uint64 }

// identify opens the file to ask for it; one that cannot be opened has none, and no rename of it is recognized.
func identify(path string, _ fs.FileInfo) fileID {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return fileID{}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, 0, share, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return fileID{}
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(h, &info) != nil {
		return fileID{}
	}
	return fileID{uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}
}
