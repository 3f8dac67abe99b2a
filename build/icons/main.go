// Command icons draws the program's icons into build, from the shapes in backend/platform/window. Run it from the
// root of the project after changing them:
//
//	go run ./build/icons
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"os"
	"path/filepath"

	"deskbell/backend/platform/window"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "icons:", err)
		os.Exit(1)
	}
}

func write() error {
	var ico []image.Image
	for _, px := range []int{16, 24, 32, 48, 64, 128, 256} {
		ico = append(ico, window.AppIcon(px))
	}
	files := map[string][]byte{
		"build/appicon.png":            window.PNG(window.AppIcon(1024)),
		"build/windows/icon.ico":       window.ICO(ico...),
		"build/darwin/deskbell.icns":   icns(),
		"build/icons/bell.png":         window.PNG(window.Bell(256, false)),
		"build/icons/bell-ringing.png": window.PNG(window.Bell(256, true)),
	}
	// The sizes of the icon theme that Linux packages install.
	for _, px := range []int{16, 24, 32, 48, 64, 128, 256, 512} {
		files[fmt.Sprintf("build/icons/hicolor/%dx%d/apps/deskbell.png", px, px)] = window.PNG(window.AppIcon(px))
	}
	// Those of the console on a phone: as it is, and on a ground to its edges, which phones cut to a shape of their own.
	for _, px := range []int{192, 512} {
		files[fmt.Sprintf("frontend/public/icon-%d.png", px)] = window.PNG(window.AppIcon(px))
		files[fmt.Sprintf("frontend/public/icon-whole-%d.png", px)] = window.PNG(onGround(window.AppIcon(px)))
	}
	files["frontend/public/apple-touch-icon.png"] = window.PNG(onGround(window.AppIcon(180)))
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// onGround is an icon with its own color behind it.
func onGround(icon image.Image) image.Image {
	full := image.NewRGBA(icon.Bounds())
	middle := icon.Bounds().Dx() / 2
	draw.Draw(full, full.Bounds(), image.NewUniform(icon.At(middle, icon.Bounds().Dy()/8)), image.Point{}, draw.Src)
	draw.Draw(full, full.Bounds(), icon, image.Point{}, draw.Over)
	return full
}

// icns packs PNG images for macOS: each has a type by its size, and the file its whole length in front.
func icns() []byte {
	var body bytes.Buffer
	for _, icon := range []struct {
		kind string
		px   int
	}{{"icp4", 16}, {"icp5", 32}, {"ic07", 128}, {"ic08", 256}, {"ic09", 512}, {"ic10", 1024}, {"ic11", 32}, {"ic12", 64}, {"ic13", 256}, {"ic14", 512}} {
		data := window.PNG(window.AppIcon(icon.px))
		body.WriteString(icon.kind)
		_ = binary.Write(&body, binary.BigEndian, uint32(8+len(data))) // a bytes.Buffer takes everything
		body.Write(data)
	}
	head := binary.BigEndian.AppendUint32([]byte("icns"), uint32(8+body.Len()))
	return append(head, body.Bytes()...)
}
