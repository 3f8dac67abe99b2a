package procedure_test

import "testing"

// TestWhatIsOffered reads the cases: nothing wrong is offered, and most of what is covered is.
func TestWhatIsOffered(t *testing.T) {
	for name, cases := range map[string][]offerCase{"first": offerCases, "later": laterCases} {
		t.Run(name, func(t *testing.T) {
			right, wrong, missed := reading(t, cases)
			t.Logf("%d right, %d wrong, %d missed", right, wrong, missed)
			if wrong > 0 || float64(right) < 0.9*float64(right+missed) {
				t.Errorf("%d are right, %d wrong, %d missed", right, wrong, missed)
			}
		})
	}
}
