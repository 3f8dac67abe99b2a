//go:build windows || darwin

package input

import "deskbell/backend/human"

func toggle(do func(...any) error, n int, down bool) error {
	name, ok := map[int]string{1: "left", 2: "center", 3: "right"}[n]
	if !ok {
		return human.Errorf(human.Unavailable, "button %d of the mouse cannot be pressed on this system", n)
	}
	if down {
		return do(name, "down")
	}
	return do(name, "up")
}
