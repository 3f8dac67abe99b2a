package main

import (
	"context"
	"errors"

	"deskbell/backend/human"
)

// A Broken is the error of an Open that found a database that cannot be used as it is, and what can be done about it.
type Broken struct {
	Err        error
	View       BrokenView
	Repair     func(ctx context.Context, replace bool) ([]human.Sentence, error) // without replace it only says what it would do
	OpenFolder func() error
}

func (b *Broken) Error() string { return b.Err.Error() }
func (b *Broken) Unwrap() error { return b.Err }

// A BrokenView is what the page says of it.
type BrokenView struct {
	Folder  string           `json:"folder"` // with the data
	Found   []human.Sentence `json:"found"`
	Backups []human.Archive  `json:"backups"` // the newest first
	Locale  string           `json:"locale"`  // as in Session
	Theme   string           `json:"theme"`
}

// A Repaired is what a repair did, or would do; or why it failed.
type Repaired struct {
	Lines  []human.Sentence `json:"lines"`
	Failed *human.Sentence  `json:"failed,omitempty"`
}

// isBroken returns why the window has no Home, where that can be repaired; else nil.
func (a *App) isBroken() *Broken {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.broken
}

// Broken says why there is no Session yet, where the database cannot be used. See App.
func (a *App) Broken() *BrokenView {
	if b := a.isBroken(); b != nil {
		return &b.View
	}
	return nil
}

// Repair repairs the database, or says what that would do. See App.
func (a *App) Repair(replace bool) Repaired {
	b := a.isBroken()
	if b == nil {
		return Repaired{}
	}
	lines, err := b.Repair(a.life, replace)
	if err != nil {
		a.log.Error("the database is not repaired", "error", err)
		failed := human.Sentence{Text: human.SafeText(err)}
		var said *human.Error
		if errors.As(err, &said) {
			failed = said.Said
		}
		return Repaired{Failed: &failed}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if replace && a.broken == b {
		a.broken = nil
		close(a.repaired)
	}
	return Repaired{Lines: lines}
}

// OpenFolder shows the data folder in the desktop's file manager. See App.
func (a *App) OpenFolder() error {
	if b := a.isBroken(); b != nil {
		return b.OpenFolder()
	}
	return nil
}
