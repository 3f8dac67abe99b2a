// Deskbell-setup does for the installer and the uninstaller what their language cannot do safely: it is unpacked into a
// temporary folder while they run, and is never installed.
//
//	deskbell-setup running DIR           exit code 1 while a program runs out of the folder, else 0
//	deskbell-setup close DIR             ends those programs and waits until they are gone, for 20 seconds at most
//	deskbell-setup path add DIR HIVE     puts the folder at the end of PATH; HIVE is user or machine
//	deskbell-setup path remove DIR HIVE  takes it out again
//	deskbell-setup start remove DIR      removes what starts those programs when a user signs in
//	deskbell-setup shortcut FILE ID      gives a shortcut an application's id (AppUserModelID)
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "running":
		if processes, err := inFolder(args[1]); err != nil || len(processes) > 0 {
			return errors.Join(err, fmt.Errorf("%d programs run", len(processes)))
		}
		return nil
	case len(args) == 2 && args[0] == "close":
		return closeAll(args[1])
	case len(args) == 4 && args[0] == "path":
		return changePath(args[1] == "add", args[2], args[3] == "machine")
	case len(args) == 3 && args[0] == "start":
		return errors.Join(forgetStarts(registry.CURRENT_USER, args[2]), forgetStarts(registry.LOCAL_MACHINE, args[2]))
	case len(args) == 3 && args[0] == "shortcut":
		return identify(args[1], args[2])
	}
	return fmt.Errorf("unknown command %q", args)
}

// inFolder lists the processes whose program lies in the folder itself. Those of other users it may not look at are left out.
func inFolder(dir string) ([]uint32, error) {
	dir = long(dir)
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	var found []uint32
	entry := windows.ProcessEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		if program := programOf(entry.ProcessID); program != "" && strings.EqualFold(filepath.Dir(program), dir) {
			found = append(found, entry.ProcessID)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, err
	}
	return found, nil
}

// long is a folder's path without short names and a separator at its end.
func long(dir string) string {
	name, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		buffer := make([]uint16, windows.MAX_LONG_PATH)
		if n, err := windows.GetLongPathName(name, &buffer[0], uint32(len(buffer))); err == nil && n > 0 {
			dir = windows.UTF16ToString(buffer[:n])
		}
	}
	return filepath.Clean(dir)
}

// programOf is the path of the program that a process runs, empty when that cannot be known.
func programOf(id uint32) string {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, id)
	if err != nil {
		return ""
	}
	defer func() { _ = windows.CloseHandle(process) }()
	buffer := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(buffer))
	if windows.QueryFullProcessImageName(process, 0, &buffer[0], &size) != nil {
		return ""
	}
	return long(windows.UTF16ToString(buffer[:size]))
}

// closeAll ends what runs out of the folder. Deskbell keeps its data whole however it ends, so it is not asked first.
func closeAll(dir string) error {
	until := time.Now().Add(20 * time.Second)
	for {
		processes, err := inFolder(dir)
		if err != nil || len(processes) == 0 {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("%d programs still run in %s", len(processes), dir)
		}
		for _, id := range processes {
			end(id)
		}
	}
}

// end ends a process and waits for that, for two seconds at most.
func end(id uint32) {
	process, err := windows.OpenProcess(windows.PROCESS_TERMINATE|windows.SYNCHRONIZE, false, id)
	if err != nil {
		return // it is gone, or not ours to end
	}
	defer func() { _ = windows.CloseHandle(process) }()
	if windows.TerminateProcess(process, 1) == nil {
		_, _ = windows.WaitForSingleObject(process, 2000)
	}
}

// changePath adds a folder to the PATH of the user or the machine, or removes it, and says so to running programs. Everything
// else in it stays as it is, at any length; the installer's own strings end after 1,024 characters.
func changePath(add bool, dir string, machine bool) error {
	root, name := registry.CURRENT_USER, "Environment"
	if machine {
		root, name = registry.LOCAL_MACHINE, `SYSTEM\CurrentControlSet\Control\Session Manager\Environment`
	}
	key, _, err := registry.CreateKey(root, name, registry.QUERY_VALUE|registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer func() { _ = key.Close() }()
	before, kind, err := key.GetStringValue("Path")
	if errors.Is(err, registry.ErrNotExist) {
		kind, err = registry.EXPAND_SZ, nil
	}
	if err != nil {
		return err // not a text: better to leave it alone
	}
	is := func(part string) bool {
		return strings.EqualFold(strings.TrimRight(part, `\`), strings.TrimRight(dir, `\`))
	}
	parts := strings.Split(before, ";")
	if there := slices.ContainsFunc(parts, is); there == add {
		return nil
	}
	if add {
		parts = append(slices.DeleteFunc(parts, func(part string) bool { return part == "" && before == "" }), dir)
	} else {
		parts = slices.DeleteFunc(parts, is)
	}
	switch after := strings.Join(parts, ";"); {
	case after == "":
		err = key.DeleteValue("Path")
	case kind == registry.SZ:
		err = key.SetStringValue("Path", after)
	default:
		err = key.SetExpandStringValue("Path", after)
	}
	if err == nil {
		tellPrograms()
	}
	return err
}

var sendMessageTimeout = windows.NewLazySystemDLL("user32.dll").NewProc("SendMessageTimeoutW")

// tellPrograms lets the desktop know of a changed environment, so that terminals opened from now on have it.
func tellPrograms() {
	const broadcast, settingChange, abortIfHung = 0xffff, 0x001a, 0x0002
	_, _, _ = sendMessageTimeout.Call(broadcast, settingChange, 0, uintptr(unsafe.Pointer(windows.StringToUTF16Ptr("Environment"))), abortIfHung, 2000, 0)
}

// forgetStarts removes what of a hive's Run key starts a program of the folder. A key that may not be changed is left.
func forgetStarts(root registry.Key, dir string) error {
	key, err := registry.OpenKey(root, `Software\Microsoft\Windows\CurrentVersion\Run`, registry.QUERY_VALUE|registry.SET_VALUE)
	if errors.Is(err, registry.ErrNotExist) || errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = key.Close() }()
	names, err := key.ReadValueNames(-1)
	if err != nil {
		return err
	}
	begin := strings.ToLower(strings.TrimRight(dir, `\`) + `\deskbell`)
	for _, name := range names {
		command, _, err := key.GetStringValue(name)
		if err != nil || !strings.HasPrefix(strings.ToLower(strings.TrimLeft(command, `"`)), begin) {
			continue
		}
		if err := key.DeleteValue(name); err != nil {
			return err
		}
	}
	return nil
}
