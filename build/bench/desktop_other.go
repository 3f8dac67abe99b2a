//go:build !linux

package main

import (
	"context"
	"errors"
)

var errLinuxOnly = errors.New("this is measured on Linux only")

func inputs(context.Context) error       { return errLinuxOnly }
func takePictures(context.Context) error { return errLinuxOnly }
func recorder(context.Context) error     { return errLinuxOnly }
func forgetPages(string) error           { return errLinuxOnly }
