package tools

import (
	"encoding/base64"
	"encoding/binary"
	"unicode/utf16"
)

const (
	shellName  = "powershell"
	shellWords = "with PowerShell"
)

// shellCommand gives PowerShell its command in the one form that needs no quoting.
func shellCommand(command string) []string {
	var text []byte
	for _, unit := range utf16.Encode([]rune(command)) {
		text = binary.LittleEndian.AppendUint16(text, unit)
	}
	return []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-EncodedCommand", base64.StdEncoding.EncodeToString(text)}
}

const unblocking = 0
