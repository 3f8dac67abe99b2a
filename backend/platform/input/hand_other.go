//go:build !linux && !windows && !darwin

package input

import "deskbell/backend/human"

func newHand() (hand, error) {
	return nil, human.Errorf(human.Unavailable, "recordings cannot be played back on this system")
}
