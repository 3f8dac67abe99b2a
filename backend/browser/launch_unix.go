//go:build unix

package browser

import (
	"os"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// pipeTo makes the pipe that a browser is driven through: it reads commands from its file descriptor 3 and writes to
// 4. started is to be called once the process was started, or was not.
func pipeTo(cmd *exec.Cmd) (transport chromedp.Transport, started func(), err error) {
	commands, ours, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	answers, its, err := os.Pipe()
	if err != nil {
		_ = commands.Close()
		_ = ours.Close()
		return nil, nil, err
	}
	cmd.ExtraFiles = []*os.File{commands, its}
	return chromedp.NewPipeConn(answers, ours), func() {
		_ = commands.Close()
		_ = its.Close()
	}, nil
}
