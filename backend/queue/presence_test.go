package queue

import (
	"fmt"
	"testing"
	"time"

	"deskbell/backend/human"
)

// Contacts about operations that have ended do not pile up; those about open ones, recent ones and ones that are waited for stay.
func TestOldContactsAreForgotten(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := newPresence(func() time.Time { return now }, func(id human.OperationID) bool { return id == "op_open" })
	p.touch("op_open", "bot")
	done := p.waits("op_waits", "bot")
	for i := range 20 * fewContacts {
		p.touch(human.OperationID(fmt.Sprint("op_", i)), "bot")
		now = now.Add(time.Second)
	}
	recent := int(contactKept / time.Second)
	if n, most := len(p.contact), fewContacts+2*recent; n > most {
		t.Errorf("%d contacts are kept, want at most %d", n, most)
	}
	for i := range recent {
		if id := human.OperationID(fmt.Sprint("op_", 20*fewContacts-1-i)); p.of(id).LastContact == nil {
			t.Fatalf("the contact %d s ago is forgotten", i+1)
		}
	}
	if p.of("op_open").LastContact == nil || !p.of("op_waits").Waiting {
		t.Error("an operation that is open, or waited for, is forgotten")
	}
	done()
}
