package platform

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

const runKey = `Software\Microsoft\Windows\CurrentVersion\Run`

// Set writes or removes the value.
func (Autostart) Set(on bool, dir string) (where string, err error) {
	name, command, err := runValue(dir)
	if err != nil {
		return name, err
	}
	key, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return name, err
	}
	defer func() { _ = key.Close() }()
	if on {
		return name, key.SetStringValue(entryName(dir), command)
	}
	if err := key.DeleteValue(entryName(dir)); !errors.Is(err, registry.ErrNotExist) {
		return name, err
	}
	return name, nil
}

// On says whether the value is there, for this program.
func (Autostart) On(dir string) (on bool, where string, err error) {
	name, command, err := runValue(dir)
	if err != nil {
		return false, name, err
	}
	key, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return false, name, nil
	}
	if err != nil {
		return false, name, err
	}
	defer func() { _ = key.Close() }()
	found, _, err := key.GetStringValue(entryName(dir))
	if errors.Is(err, registry.ErrNotExist) {
		return false, name, nil
	}
	return found == command, name, err
}

// runValue is the value's name and the command line in it.
func runValue(dir string) (name, command string, err error) {
	self, args, err := program(dir)
	// Started by the system, deskbell.exe would open a console.
	if quiet := filepath.Join(filepath.Dir(self), "deskbellw.exe"); err == nil {
		if _, none := os.Stat(quiet); none == nil {
			self = quiet
		}
	}
	return `HKCU\` + runKey + `\` + entryName(dir), windows.ComposeCommandLine(append([]string{self}, args...)), err
}
