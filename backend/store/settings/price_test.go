package settings

import "testing"

func TestPrices(t *testing.T) {
	for text, want := range map[string]Price{"": {}, "3 15 USD": {3, 15, "USD"}, " 0.5  2.25 CNY ": {0.5, 2.25, "CNY"}} {
		if p, err := priceOf(text); err != nil || p != want {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
	for _, text := range []string{"3 15", "3 15 usd", "x 15 USD", "3 NaN USD", "-1 2 USD", "1e9 2 USD", "3 15 USD a"} {
		if p, err := priceOf(text); err == nil || p != (Price{}) {
			t.Errorf("%q is taken: %+v", text, p)
		}
	}
	if (Model{Price: "3 15 EUR"}).PriceOf() != (Price{3, 15, "EUR"}) {
		t.Error("the setting is not read")
	}
}
