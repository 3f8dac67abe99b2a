package cli

import (
	"fmt"
	"os"
	"strings"
)

// parentName is the name of the program that started this one, or "".
func parentName() string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", os.Getppid()))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
