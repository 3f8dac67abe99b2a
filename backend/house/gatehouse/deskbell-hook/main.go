// Command deskbell-hook answers the hooks of coding agents; see package gatehouse. `deskbell hook` does the same, but
// takes longer to start.
package main

import (
	"os"

	"deskbell/backend/house/gatehouse"
)

func main() { os.Exit(gatehouse.Hook(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
