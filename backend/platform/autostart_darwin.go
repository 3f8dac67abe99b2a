package platform

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
)

// entry is the property list of a LaunchAgent, and where it belongs.
func entry(dir string) (path string, text []byte, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", nil, err
	}
	self, args, err := program(dir)
	if err != nil {
		return "", nil, err
	}
	label := "dev.deskbell." + entryName(dir)
	var b bytes.Buffer
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n" +
		`<plist version="1.0"><dict><key>Label</key><string>` + label + `</string><key>ProgramArguments</key><array>`)
	for _, word := range append([]string{self}, args...) {
		b.WriteString("<string>")
		if err := xml.EscapeText(&b, []byte(word)); err != nil {
			return "", nil, err
		}
		b.WriteString("</string>")
	}
	b.WriteString("</array><key>RunAtLoad</key><true/><key>ProcessType</key><string>Interactive</string></dict></plist>\n")
	return filepath.Join(home, "Library", "LaunchAgents", label+".plist"), b.Bytes(), nil
}
