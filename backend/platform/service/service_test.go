//go:build !windows

package service

import (
	"context"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestUnitIsOneThatSystemdTakes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it has no systemd")
	}
	dir := filepath.Join(t.TempDir(), "a $b %c 数据")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "deskbell")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), unit)
	if err := os.WriteFile(file, []byte(Unit(program, []string{"serve", "--data", dir + ` "'\ x`})), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := exec.Command("systemd-analyze", "verify", "--user", "--man=no", file)
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	said, err := verify.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("systemd is not installed")
	}
	if err != nil || strings.Contains(string(said), unit) {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestAgentIsAPropertyList(t *testing.T) {
	text := Agent("/Applications/A & B.app/deskbell", []string{"serve", "--data", "/Users/ada/<data>"})
	decoder := xml.NewDecoder(strings.NewReader(text))
	decoder.Strict = true
	var words []string
	for {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		if chars, is := token.(xml.CharData); is && strings.TrimSpace(string(chars)) != "" {
			words = append(words, string(chars))
		}
	}
	got := strings.Join(words, "|")
	if want := "Label|" + label + "|ProgramArguments|/Applications/A & B.app/deskbell|serve|--data|/Users/ada/<data>|RunAtLoad"; !strings.HasPrefix(got, want) {
		t.Errorf("it reads %s", got)
	}
}

// Where systemd cannot be reached, the unit is written, and the error says what is left to do.
func TestInstallWithoutAManager(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", "")
	s := &Service{run: func(context.Context, ...string) error { return errors.New("no bus") }}
	if err := s.systemd(home, `/opt/a"b/deskbell`, nil); err == nil {
		t.Error("a program that systemd would not start")
	}
	if err := s.systemd(home, "/usr/bin/deskbell", []string{"serve"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Install(t.Context(), true); err == nil || !strings.Contains(err.Error(), "systemctl --user enable --now deskbell.service") {
		t.Errorf("it says %v", err)
	}
	st, err := s.State(t.Context())
	if err != nil || !st.Written || !st.Same || st.Running || st.Away == "" {
		t.Errorf("it stands as %+v, %v", st, err)
	}
	for range 2 {
		if err := s.Uninstall(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(s.Where); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
