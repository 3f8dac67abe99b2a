// Command deskbell-hook answers the hooks of coding agents; see package hookprogram. `deskbell hook` does the same, but
// takes longer to start.
package main

import (
	"fmt"
	"os"

	"deskbell/backend/app/hookprogram"
	"deskbell/backend/platform/sealed"
)

// version is set when a release is built.
var version = "dev"

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("deskbell-hook", version)
		return
	}
	_ = sealed.NoCore() // it holds a key
	os.Exit(hookprogram.Hook(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
