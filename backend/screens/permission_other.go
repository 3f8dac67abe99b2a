//go:build !darwin

package screens

import "deskbell/backend/human"

// permitted is for systems that ask for no permission.
func permitted(state human.SourceState) human.SourceState { return state }
