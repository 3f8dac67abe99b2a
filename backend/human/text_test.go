package human

import "testing"

// A number is looked for as a whole.
func TestWhatIsInAText(t *testing.T) {
	for _, tt := range []struct {
		text, other string
		want        bool
	}{
		{"order 500 for Acme", "500", true}, {"500", "500", true}, {"A-500, B", "500", true}, {"EUR500.", "500", true}, {"500.00", "500", true}, {"12.50", "12.50", true},
		{"order 1500", "500", false}, {"order 5001", "500", false}, {"1,500", "500", false}, {"1.500,00", "500", false}, {"500,000", "500", false}, {"500'000.00", "500", false},
		{"12.505", "12.50", false}, {"1500 and 500", "500", true}, {"no. 500", "500", true}, {"500, 501", "500", true},
		{"A-7010", "A-701", false}, {"A-701", "A-701", true}, {"第500号", "500", true}, {"paid", "", true}, {"unpaid", "paid", true}, {"", "7", false},
	} {
		if got := HasAll(tt.text, []string{tt.other}); got != tt.want {
			t.Errorf("%q in %q: %t", tt.other, tt.text, got)
		}
	}
}
