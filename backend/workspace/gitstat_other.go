//go:build !linux && !darwin

package workspace

import (
	"errors"
	"os"
)

// statsKnown says whether numbers of files are compared with an index here as git does. Git for Windows has its own.
const statsKnown = false

func fileStat(*os.File, string) (stat, error) { return stat{}, errors.ErrUnsupported }
