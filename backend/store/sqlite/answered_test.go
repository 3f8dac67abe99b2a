package sqlite

import (
	"encoding/json"
	"reflect"
	"testing"

	"deskbell/backend/human"
)

func TestAnswered(t *testing.T) {
	t.Parallel()
	h := newHistory(t, Options{})
	of := func(project string) func(*human.Request) {
		return func(r *human.Request) { r.Context = json.RawMessage(`{"project":` + project + `}`) }
	}
	by := func(e human.Event, name string, role human.Role) human.Event {
		e.By = human.Actor{Role: role, Name: name}
		return e
	}
	h.add("op_old", ring("long ago", of(`"shop"`)), by(done("yes"), "Mei", human.Operator))
	since := epoch.Add(2 * 1e9)
	h.add("op_1", ring("one", of(`"shop"`)), by(done("yes"), "Mei", human.Operator))
	h.add("op_2", ring("two", of(`"shop"`)), by(done("yes"), "Mei", human.Operator))
	h.add("op_3", ring("three", of(`"shop"`)), by(done("no"), "Tom", human.Operator))
	h.add("op_4", ring("four", of(`"docs"`)), by(done("yes"), "Tom", human.Operator))
	h.add("op_5", ring("not answered", of(`"shop"`)), declined("no"))
	h.add("op_6", ring("open", of(`"shop"`)))
	h.add("op_7", ring("of no project"), done("yes"))
	got, err := h.Answered(t.Context(), since)
	if want := map[string]map[string]int{"shop": {"Mei": 2, "Tom": 1}, "docs": {"Tom": 1}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
