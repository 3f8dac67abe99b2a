//go:build !linux

package main

import (
	"context"
	"errors"
)

func inputs(context.Context) error {
	return errors.New("the recorder's input is measured on Linux only")
}
