package recordtest

import (
	"reflect"

	"deskbell/backend/human"
)

// Fits says whether an event has all that is set in the wanted one. What is zero there may be anything.
func Fits(got, want human.RecordedEvent) bool {
	return fits(reflect.ValueOf(got), reflect.ValueOf(want))
}

func fits(got, want reflect.Value) bool {
	switch {
	case want.IsZero():
		return true
	case want.Kind() == reflect.Pointer:
		return !got.IsNil() && fits(got.Elem(), want.Elem())
	case want.Kind() == reflect.Struct:
		for i := range want.NumField() {
			if !fits(got.Field(i), want.Field(i)) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(got.Interface(), want.Interface())
	}
}
