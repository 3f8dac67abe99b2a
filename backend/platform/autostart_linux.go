package platform

import (
	"os"
	"path/filepath"
	"strings"
)

// entry is the file of the XDG autostart specification, and where it belongs.
func entry(dir string) (path string, text []byte, err error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return "", nil, err
	}
	self, args, err := program(dir)
	if err != nil {
		return "", nil, err
	}
	command := execWord(self)
	for _, arg := range args {
		command += " " + execWord(arg)
	}
	return filepath.Join(config, "autostart", entryName(dir)+".desktop"), []byte("[Desktop Entry]\nType=Application\nName=Deskbell\n" +
		"Comment=Answer AI agents that ask a human\nComment[zh_CN]=回答向人求助的 AI 智能体\nExec=" + command + "\nIcon=deskbell\nTerminal=false\n" +
		"StartupNotify=false\nX-GNOME-Autostart-enabled=true\n"), nil
}

// execWord is a word as the key Exec wants it: quoted, and escaped twice, as a string of a desktop entry and as an argument.
func execWord(word string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`).Replace(word)
	quoted = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "%", "%%").Replace(quoted)
	return `"` + quoted + `"`
}
