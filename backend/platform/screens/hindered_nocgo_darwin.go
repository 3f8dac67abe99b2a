//go:build !cgo

package screens

import "deskbell/backend/human"

// hindered says what stands in the way of pictures.
func hindered(state *human.SourceState) {
	state.Status, state.Code = "missing", "unsupported"
	state.Detail = "This build of Deskbell was made without cgo, which pictures need on macOS."
	state.Fix = "Use a build that was made on macOS."
}
