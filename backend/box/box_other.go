//go:build !linux

package box

import (
	"context"

	"deskbell/backend/human"
)

// A Box is a copy of a project, and what ran on it. There is none on this system.
type Box struct {
	Root, Folder string
	Masked       []string
}

// Child does nothing on this system.
func Child() {}

// Available says why there is no box here; nil where there is one.
func Available() error {
	return human.Errorf(human.Unavailable, "there is no box on this system; Linux has one")
}

// Open fails with the error of Available.
func Open(context.Context, Options) (*Box, error) { return nil, Available() }

// Run fails with the error of Available.
func (b *Box) Run(context.Context) (Ending, error) { return Ending{}, Available() }

// Changes fails with the error of Available.
func (b *Box) Changes() (Changes, error) { return Changes{}, Available() }

// Diff is empty.
func (b *Box) Diff(Change) string { return "" }

// Seal fails with the error of Available.
func (b *Box) Seal(Changes) error { return Available() }

// Version is empty.
func Version() string { return "" }

// Keep fails with the error of Available.
func (b *Box) Keep(Changes) error { return Available() }

// Close does nothing.
func (b *Box) Close() error { return nil }
