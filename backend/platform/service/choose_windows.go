package service

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"deskbell/backend/human"
)

// runKey has what a user's log-on starts.
const runKey = `Software\Microsoft\Windows\CurrentVersion\Run`

const value = "Deskbell server"

// logon is the user's log-on. Services of Windows run as another user, and need an administrator.
type logon struct {
	program string
	args    []string
}

func (s *Service) choose(_, program string, args []string) error {
	// Started by the system, deskbell.exe would open a console.
	if quiet := filepath.Join(filepath.Dir(program), "deskbellw.exe"); exists(quiet) {
		program = quiet
	}
	words := []string{syscall.EscapeArg(program)}
	for _, a := range args {
		words = append(words, syscall.EscapeArg(a))
	}
	s.Manager, s.Where, s.Text, s.manager = "Windows", `HKEY_CURRENT_USER\`+runKey+`, "`+value+`"`, strings.Join(words, " "), logon{program, args}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (logon) read(*Service) (string, error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.QUERY_VALUE)
	if err == nil {
		defer func() { _ = key.Close() }()
		var text string
		if text, _, err = key.GetStringValue(value); err == nil {
			return text, nil
		}
	}
	if errors.Is(err, registry.ErrNotExist) {
		return "", fs.ErrNotExist
	}
	return "", err
}

func (logon) write(s *Service) error {
	key, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return err
	}
	return errors.Join(key.SetStringValue(value, s.Text), key.Close())
}

func (logon) remove(*Service) error {
	key, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return err
	}
	return errors.Join(key.DeleteValue(value), key.Close())
}

func (logon) state(_ context.Context, _ *Service, st *State) {
	st.Enabled = st.Written
	if st.Written {
		st.Hints = append(st.Hints, "Windows starts it when you log on, and does not start it again when it ends.")
	}
}

func (l logon) enable(_ context.Context, _ *Service, start bool) error {
	if !start {
		return nil
	}
	cmd := exec.Command(l.program, l.args...) // it outlives this process
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	if err := cmd.Start(); err != nil {
		return human.Wrap(human.Unavailable, err, "Deskbell could not be started: %v", err)
	}
	return cmd.Process.Release()
}

func (logon) disable(context.Context, *Service) error { return nil }
