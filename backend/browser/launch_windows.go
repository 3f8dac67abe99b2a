package browser

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/chromedp/chromedp"
)

// pipeTo makes the pipe that a browser is driven through: it gets the two handles by a switch, and inherits those
// alone. started is to be called once the process was started, or was not.
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
	started = func() {
		_ = commands.Close()
		_ = its.Close()
	}
	for file, inherited := range map[*os.File]uint32{commands: 1, its: 1, ours: 0, answers: 0} {
		if err := syscall.SetHandleInformation(syscall.Handle(file.Fd()), syscall.HANDLE_FLAG_INHERIT, inherited); err != nil {
			started()
			_ = ours.Close()
			_ = answers.Close()
			return nil, nil, err
		}
	}
	in, out := syscall.Handle(commands.Fd()), syscall.Handle(its.Fd())
	cmd.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{in, out}}
	cmd.Args = slices.Insert(cmd.Args, 1, fmt.Sprintf("--remote-debugging-io-pipes=%d,%d", in, out))
	return chromedp.NewPipeConn(answers, ours), started, nil
}
