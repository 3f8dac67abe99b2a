package browser

import (
	"context"

	"deskbell/backend/human"
)

// Run implements record.Source.
func (b *Browser) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	return 0, human.Errorf(human.Unavailable, "The browser cannot be opened.")
}

// Show implements record.Browser.
func (b *Browser) Show(ctx context.Context) error {
	return human.Errorf(human.Conflict, "The browser is closed.")
}
