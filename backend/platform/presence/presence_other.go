//go:build !linux && !darwin

package presence

import (
	"context"

	"deskbell/backend/human"
)

var errNone = human.Errorf(human.Unavailable, "this system has no check of its own that Deskbell can use")

// Checker is none.
type Checker struct{}

// New makes a Checker.
func New() *Checker { return &Checker{} }

// Close does nothing.
func (*Checker) Close() error { return nil }

// Check implements stepup.System.
func (*Checker) Check() human.SystemCheck { return "" }

// Available implements stepup.System.
func (*Checker) Available(context.Context) error { return errNone }

// Ask implements stepup.System.
func (*Checker) Ask(context.Context, int) error { return errNone }
