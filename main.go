// Deskbell lets AI agents ask a human. See README.md.
package main

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"deskbell/backend/app"
	"deskbell/backend/box"
	"deskbell/backend/human"
	"deskbell/backend/platform/sealed"
	"deskbell/backend/platform/window"
	"deskbell/backend/plugins"
	"deskbell/backend/transport/cli"
)

//go:embed all:frontend/dist
var frontend embed.FS

//go:embed frontend/messages/server/zh-CN.json
var chinese []byte

// What build/scripts/version says, put in by the linker.
var version, commit, date = "dev", "", ""

// built is commit and date, short.
func built() string {
	if commit == "" || date == "" {
		return ""
	}
	hash, changed, _ := strings.Cut(commit, "-")
	if changed != "" {
		changed = "-" + changed
	}
	return hash[:min(len(hash), 12)] + changed + ", " + date[:min(len(date), len("2006-01-02"))]
}

func main() { os.Exit(run()) }

func run() int {
	box.Child()         // becomes the command of a box
	plugins.Child()     // a summarizer of the user's own is run by a process of this program
	_ = sealed.NoCore() // it may hold a token
	page, err := fs.Sub(frontend, "frontend/dist")
	if err != nil {
		panic(err) // the path is a constant
	}
	program := app.Program(version, built(), page)
	program.Chinese = chinese
	program.Window = func(start cli.Start) error {
		window.AsProgram()
		return NewApp(Deps{
			Open:     func(ctx context.Context) (Home, error) { return openHome(ctx, start, page) },
			Instance: instance(start.Dir),
			Args:     start.Args,
			Places:   filepath.Join(start.Dir, "window.json"),
			Log:      slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		}).run(page)
	}
	return cli.Execute(context.Background(), program, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// openHome opens the App for the window and lets it run until Close.
func openHome(ctx context.Context, start cli.Start, page fs.FS) (Home, error) {
	place, err := start.Load()
	if err == nil {
		err = sealed.Seal()
	}
	if err != nil {
		return Home{}, err
	}
	woke := make(chan struct{}, 1)
	a, err := app.Open(ctx, app.Config{
		Dir: place.Dir, Config: place.Config, Version: version, Built: built(), Console: page, InApp: true,
		Woke: func() {
			select {
			case woke <- struct{}{}:
			default: // it is about to be heard of
			}
		},
	})
	if err != nil {
		return Home{}, whyNot(ctx, err, place)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(running) }()
	select {
	case err := <-ended:
		stop()
		return Home{}, err
	case <-a.Ready():
	}
	s := place.Config.Settings()
	operator := a.Window()
	return Home{
		Session: Session{
			URL: a.URL(), Token: a.WindowToken(), Operator: s.Operator.Name,
			Locale: unlessSystem(s.UI.Language), Theme: unlessSystem(s.UI.Theme),
			Crash: a.Crash(),
		},
		Recorder: operator,
		Answerer: operator, Pending: operator.Pending, Watch: operator.Watch, Waiting: operator.Waiting, Status: a.Status,
		Quieter: a, OnSettings: place.Config.OnUpdate, Woke: woke,
		Close: func() {
			stop()
			if err := <-ended; err != nil {
				slog.Error("Deskbell did not stop in order", "err", err)
			}
		},
	}, nil
}

// whyNot is the error of opening the App, with what can be done where the database cannot be used.
func whyNot(ctx context.Context, err error, p cli.Place) error {
	found := app.Damage(err)
	if found == nil {
		return err
	}
	ui := p.Config.Settings().UI
	return &Broken{
		Err:  err,
		View: BrokenView{p.Dir, found, app.GoodBackups(ctx, p), unlessSystem(ui.Language), unlessSystem(ui.Theme)},
		Plan: func(ctx context.Context) ([]human.Sentence, error) { return app.Repair(ctx, p.Dir, version, false) },
		Repair: func(ctx context.Context, backup string) error {
			if backup != "" {
				return app.Restore(ctx, p, version, backup)
			}
			_, err := app.Repair(ctx, p.Dir, version, true)
			return err
		},
		OpenFolder: func() error { return app.OpenFolder(p.Dir) },
	}
}

func unlessSystem(choice string) string {
	if choice == "system" {
		return ""
	}
	return choice
}

// instance tells apart the windows of different data folders, of which each may have one.
func instance(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "deskbell_" + hex.EncodeToString(sum[:6])
}
