package keychain

import (
	"testing"

	"github.com/danieljoos/wincred"
)

func TestASessionIsNotOnDisk(t *testing.T) {
	s := Session{t.Name()}
	t.Cleanup(func() { _ = s.Remove(t.Context()) })
	if err := s.Set(t.Context(), "dbo_first"); err != nil {
		t.Fatal(err)
	}
	c, err := wincred.GetGenericCredential(service + ":" + s.user())
	if err != nil || c.Persist != wincred.PersistSession {
		t.Errorf("%+v, %v", c, err)
	}
}
