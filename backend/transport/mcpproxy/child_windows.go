package mcpproxy

import "os"

func passes(os.Signal) bool { return true }

func ends(os.Signal) bool { return true }

// Signals are those that a proxy should be told of.
func Signals() []os.Signal { return []os.Signal{os.Interrupt} }
