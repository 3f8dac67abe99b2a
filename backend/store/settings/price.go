package settings

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

// A Price is what a model costs, in a currency.
type Price struct {
	In, Out  float64 // of a million tokens
	Currency string  // ISO 4217, such as USD
}

// PriceOf reads model.price; the zero Price for nothing.
func (m Model) PriceOf() Price {
	p, _ := priceOf(m.Price) // it was checked
	return p
}

var currency = regexp.MustCompile(`^[A-Z]{3}$`)

func priceOf(text string) (p Price, err error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return p, nil
	}
	if len(fields) == 3 && currency.MatchString(fields[2]) {
		p.Currency = fields[2]
		p.In, err = strconv.ParseFloat(fields[0], 64)
		var also error
		p.Out, also = strconv.ParseFloat(fields[1], 64)
		if err = errors.Join(err, also); err == nil && p.In >= 0 && p.Out >= 0 && p.In < 1e6 && p.Out < 1e6 {
			return p, nil
		}
	}
	return Price{}, human.Errorf(human.Invalid, "it must be two prices and a currency, such as 3 15 USD")
}

func checkPrice(v any) error {
	_, err := priceOf(v.(string))
	return err
}
