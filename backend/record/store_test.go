package record_test

import (
	"testing"

	"deskbell/backend/record"
	"deskbell/backend/record/recordtest"
)

// What the tests of the recorder stand on keeps the promises of a real store.
func TestTheStoreInMemory(t *testing.T) {
	kept := map[string]*store{}
	recordtest.Store(t, func(_ testing.TB, dir string) (record.Store, func() error) {
		if kept[dir] == nil {
			kept[dir] = newStore()
		}
		return kept[dir], func() error { return nil }
	})
}
