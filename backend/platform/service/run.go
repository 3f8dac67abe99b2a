package service

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"

	"deskbell/backend/human"
)

// run runs a program of the system's. What it says is in the error.
func run(ctx context.Context, args ...string) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args[:min(3, len(args))], " "), err, human.OneLine(said.String(), 300))
	}
	return nil
}
