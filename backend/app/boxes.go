package app

import (
	"os/exec"
	"sync"
	"time"

	"deskbell/backend/box"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
	"deskbell/backend/transport/cli"
)

const (
	// boxTried is how long it counts whether a box can be made: to try takes a moment, and questions are many.
	boxTried = time.Minute
	// boxLimit is how long a command in a box and the operator's answer may take together: a little less than clients wait.
	boxLimit = "590s"
)

// boxes are those that the gatekeeper offers for calls of agents on this machine, whose Deskbell has its data in a folder.
func boxes(dir string) service.Boxes {
	var mu sync.Mutex
	var tried time.Time
	var why error
	return service.Boxes{
		Available: func() error {
			mu.Lock()
			defer mu.Unlock()
			if tried.IsZero() || time.Since(tried) > boxTried {
				why, tried = box.Available(), time.Now()
			}
			return why
		},
		Command: func(r service.BoxRun) (string, error) {
			program, err := cli.OwnProgram()
			if err != nil {
				return "", err
			}
			words := []string{program}
			if dir != datadir.Usual() {
				words = append(words, "--data", dir)
			}
			words = append(words, "box", "--ask-operator", "--agent", r.Agent)
			if r.Session != "" {
				words = append(words, "--session", r.Session)
			}
			shell := "sh"
			if _, err := exec.LookPath("bash"); err == nil {
				shell = "bash"
			}
			return human.ShellWords(append(words, "--limit", boxLimit, "--", shell, "-c", r.Script)...), nil
		},
	}
}
