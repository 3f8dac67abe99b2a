package human_test

import (
	"testing"

	"deskbell/backend/human"
)

func TestRisksAreOrdered(t *testing.T) {
	for i, r := range human.Risks {
		if r.Level() != i {
			t.Errorf("%s is %d", r, r.Level())
		}
	}
	if human.Risk("no such").Level() != human.CriticalRisk.Level() {
		t.Error("a word that is no risk counts for little")
	}
	for _, b := range human.BlastRadii {
		if far := b == human.SharedBlast || b == human.ProductionBlast || b == human.PublicBlast; b.Near() == far {
			t.Errorf("%s", b)
		}
	}
}
