// Command deskbell-hub is `deskbell hub` as a small static program, for containers: it has no window, no desk and no queue of its own.
package main

import (
	"context"
	"os"

	"deskbell/backend/app/hubprogram"
	"deskbell/backend/platform/sealed"
	"deskbell/backend/transport/cli"
)

// What build/scripts/version says, put in by the linker.
var version = "dev"

func main() {
	_ = sealed.NoCore() // it holds the team's keys
	os.Exit(cli.ExecuteHub(context.Background(), cli.Program{Version: version, Hub: hubprogram.Hub()}, os.Args[1:], os.Stdout, os.Stderr))
}
