//go:build !darwin && !linux

package screens

import "deskbell/backend/human"

// hindered says what stands in the way of pictures: nothing that can be known before.
func hindered(*human.SourceState) {}
