package installer

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	user32     = windows.NewLazySystemDLL("user32.dll")
	findWindow = user32.NewProc("FindWindowW")
	findChild  = user32.NewProc("FindWindowExW")
	send       = user32.NewProc("SendMessageTimeoutW")
	post       = user32.NewProc("PostMessageW")
)

// unpacked is the portable zip beside the installer, unpacked in a folder with a space and Chinese letters.
func unpacked(t *testing.T) installation {
	t.Helper()
	archive, err := zip.OpenReader(strings.TrimSuffix(setup(t), "-setup.exe") + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	scratch, err := os.MkdirTemp("", "portable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(scratch) }) // Wine cannot always
	i := installation{dir: filepath.Join(scratch, "便携 版"), data: filepath.Join(scratch, "数 据")}
	if err := os.Mkdir(i.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		packed, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(packed)
		if err == nil {
			err = os.WriteFile(filepath.Join(i.dir, f.Name), text, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return i
}

// closed waits for Deskbell's message with these words in it, and closes it.
func closed(t *testing.T, words ...string) {
	t.Helper()
	title, err := windows.UTF16PtrFromString("Deskbell")
	if err != nil {
		t.Fatal(err)
	}
	const closes, getText, abortIfHung = 0x0010, 0x000d, 2 // WM_CLOSE, WM_GETTEXT, SMTO_ABORTIFHUNG
	until(t, "a message", func() bool {
		box, _, _ := findWindow.Call(0, uintptr(unsafe.Pointer(title)))
		var said strings.Builder
		for child, _, _ := findChild.Call(box, 0, 0, 0); box != 0 && child != 0; child, _, _ = findChild.Call(box, child, 0, 0) {
			var text [2048]uint16
			_, _, _ = send.Call(child, getText, uintptr(len(text)), uintptr(unsafe.Pointer(&text[0])), abortIfHung, 2000, 0)
			said.WriteString(windows.UTF16ToString(text[:]))
		}
		for _, word := range words {
			if !strings.Contains(said.String(), word) {
				return false
			}
		}
		_, _, _ = post.Call(box, closes, 0, 0)
		return true
	})
	until(t, "the message to be closed", func() bool {
		left, _, _ := findWindow.Call(0, uintptr(unsafe.Pointer(title)))
		return left == 0
	})
}

// quietly runs deskbellw with arguments as they stand in a command line.
func (i installation) quietly(t *testing.T, line string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	quiet := exec.CommandContext(ctx, i.program("deskbellw"))
	quiet.Env = append(os.Environ(), "DESKBELL_DATA="+i.data)
	quiet.SysProcAttr = &syscall.SysProcAttr{CmdLine: `"` + i.program("deskbellw") + `" ` + line}
	if err := quiet.Run(); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return nil
}

// The zip runs from where it was unpacked. Where there is no WebView2, as under Wine, the window's place is taken by words.
func TestThePortableZip(t *testing.T) {
	i := unpacked(t)
	for _, name := range []string{"deskbell", "deskbell-hook"} {
		if out, err := exec.CommandContext(t.Context(), i.program(name), "--version").CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
	s := i.serve(t)
	ring(t, i, s)
	s.kill()

	// A file, not a pipe: what Wine starts for a message keeps the end of a pipe that it inherits.
	out, err := os.Create(filepath.Join(filepath.Dir(i.dir), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	window := i.command(t)
	window.Stdout, window.Stderr = out, out
	if err := window.Start(); err != nil {
		t.Fatal(err)
	}
	closed(t, "WebView2", "运行时")
	err = window.Wait()
	if said, read := os.ReadFile(out.Name()); read != nil || err == nil || window.ProcessState.ExitCode() != 3 || !strings.Contains(string(said), "WebView2") {
		t.Errorf("it said %q (%v) and ended with %v", said, read, err)
	}

	// What shortcuts, links and the start of the session run.
	for _, line := range []string{"", `open -- "deskbell://operation/op_01k9zq3v7x8y2m4n6p8r0s2t4v"`, "--hidden"} {
		err := i.quietly(t, line)
		if errors.Is(err, context.DeadlineExceeded) { // of some 5800 starts under Wine 8, one hung
			t.Logf("deskbellw %s: it is started once more: %v", line, err)
			err = i.quietly(t, line)
		}
		if err != nil {
			t.Errorf("deskbellw %s: %v", line, err)
		}
		closed(t, "WebView2")
	}
	// A program that runs cannot be removed.
	until(t, "the programs to end", func() bool { return os.Remove(i.program("deskbell")) == nil })
}
