//go:build !windows

package service

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"unicode"

	"deskbell/backend/human"
)

// Unit is the systemd user unit that runs a program with arguments. What is forbidden there is what neither the server nor what it
// starts (Git, summarizers, a browser that is recorded) needs; the rest would need a namespace of its own, in which the server could not
// see who calls.
func Unit(program string, args []string) string {
	words := []string{quoted(program)} // of which systemd takes no variables
	for _, a := range args {
		words = append(words, strings.ReplaceAll(quoted(a), "$", "$$"))
	}
	return fmt.Sprintf(`[Unit]
Description=Deskbell: AI agents ask, a person answers
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=%s
Restart=on-failure
RestartSec=2
TimeoutStopSec=20
UMask=0077
LimitCORE=0
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

[Install]
WantedBy=default.target
`, strings.Join(words, " "))
}

// quoted is a word of ExecStart= (systemd.service(5), "Command lines").
func quoted(word string) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, "\n", `\n`).Replace(word)
	return `"` + word + `"`
}

const unit = Name + ".service"

// systemd is the user's manager.
type systemd struct{ file }

func (s *Service) systemd(home, program string, args []string) error {
	if strings.ContainsAny(program, "\"'\\") || strings.ContainsFunc(program, unicode.IsControl) {
		return human.Errorf(human.Invalid, "systemd starts no program whose path has quotes, backslashes or control characters, as %s has; move Deskbell to another folder", program)
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	s.Manager, s.Where, s.Text, s.manager = "systemd", filepath.Join(config, "systemd", "user", unit), Unit(program, args), systemd{}
	return nil
}

func (systemd) away(ctx context.Context, s *Service) error {
	return s.run(ctx, "systemctl", "--user", "show", "--property=Version")
}

func (m systemd) state(ctx context.Context, s *Service, st *State) {
	if err := m.away(ctx, s); err != nil {
		st.Away = err.Error()
		return
	}
	st.Enabled = s.run(ctx, "systemctl", "--user", "is-enabled", "--quiet", unit) == nil
	st.Running = s.run(ctx, "systemctl", "--user", "is-active", "--quiet", unit) == nil
	if st.Written && !lingers() {
		st.Hints = append(st.Hints, "It runs while you are logged in. To have it run from the machine's start on: loginctl enable-linger")
	}
}

// lingers says whether the user's manager outlives their sessions. Logind keeps a file for each user that does.
func lingers() bool {
	who, err := user.Current()
	if err == nil {
		_, err = os.Stat(filepath.Join("/var/lib/systemd/linger", filepath.Base(who.Username)))
	}
	return err == nil
}

func (m systemd) enable(ctx context.Context, s *Service, start bool) error {
	if err := m.away(ctx, s); err != nil {
		return human.Wrap(human.Unavailable, err, "the unit is written, but your systemd cannot be reached from here (%v). "+
			"In a session that has one: systemctl --user daemon-reload && systemctl --user enable --now %s", err, unit)
	}
	steps := [][]string{{"daemon-reload"}, {"enable", "--quiet", unit}}
	if start {
		steps = append(steps, []string{"restart", unit})
	}
	for _, step := range steps {
		if err := s.run(ctx, append([]string{"systemctl", "--user"}, step...)...); err != nil {
			return human.Wrap(human.Unavailable, err, "systemd says: %v; `journalctl --user -u %s` may say more", err, unit)
		}
	}
	return nil
}

func (m systemd) disable(ctx context.Context, s *Service) error {
	if m.away(ctx, s) != nil {
		// Without a manager nothing runs; a link that has it start by itself may be there.
		_ = os.Remove(filepath.Join(filepath.Dir(s.Where), "default.target.wants", unit))
		return nil
	}
	if err := s.run(ctx, "systemctl", "--user", "disable", "--now", "--quiet", unit); err != nil {
		return human.Wrap(human.Unavailable, err, "systemd says: %v", err)
	}
	return nil
}

func (m systemd) remove(s *Service) error {
	if err := m.file.remove(s); err != nil {
		return err
	}
	_ = s.run(context.Background(), "systemctl", "--user", "daemon-reload") // it forgets the unit at its next start otherwise
	return nil
}
