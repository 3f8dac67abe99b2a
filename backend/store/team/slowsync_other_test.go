//go:build unix && !linux

package team_test

import (
	"errors"
	"time"
)

func slowSync(string, time.Duration) error { return errors.New("only Linux can slow a sync down") }
