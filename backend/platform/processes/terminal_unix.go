//go:build unix

package processes

import (
	"errors"
	"os"
	"syscall"
)

// leader is the first process of the session that a terminal belongs to.
func leader(p Process) (Process, error) {
	if p.Session == 0 || p.Terminal == "" {
		return Process{}, ErrUnknown
	}
	return find(p.Session)
}

func draw(p Process, text string) error {
	device, err := os.OpenFile(p.Terminal, os.O_WRONLY|syscall.O_NOCTTY, 0) // it does not become this process's own
	if err != nil {
		return err
	}
	_, err = device.WriteString(text)
	return errors.Join(err, device.Close())
}
