package plan

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/human"
)

// P7: the window compares in the same way; its test reads the same cases.
func TestCompare(t *testing.T) {
	data, err := os.ReadFile("testdata/changes.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name     string
		Old, New []human.Task
		Carried  []string
		Changes  []human.TaskChange
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) < 10 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		if got := Compare(c.Old, c.New, c.Carried...); len(got)+len(c.Changes) > 0 && !reflect.DeepEqual(got, c.Changes) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.Name, got, c.Changes)
		}
	}
}

// What Compare says is all there is: carried out on the old list, it gives the new one's ids in order.
func TestCompareIsComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-h]`), 0, 8, rapid.ID)
		list := func(name string) []human.Task {
			var all []human.Task
			for _, id := range rapid.Permutation(ids.Draw(t, name)).Draw(t, name+" in order") {
				all = append(all, human.Task{ID: id})
			}
			return all
		}
		old, now := list("old"), list("new")
		var placed []string // where a change says a task is
		at := map[int]string{}
		gone := map[string]bool{}
		for _, c := range Compare(old, now) {
			switch c.Kind {
			case human.TaskRemoved:
				gone[c.ID] = true
			case human.TaskAdded, human.TaskMoved:
				at[c.To-1] = c.ID
				placed = append(placed, c.ID)
			}
		}
		rest := slices.DeleteFunc(slices.Clone(old), func(x human.Task) bool { return gone[x.ID] || slices.Contains(placed, x.ID) })
		for i := range now {
			id, ok := at[i]
			if !ok {
				if len(rest) == 0 {
					t.Fatalf("nothing is left for place %d", i)
				}
				id, rest = rest[0].ID, rest[1:]
			}
			if id != now[i].ID {
				t.Fatalf("place %d: %s, want %s", i, id, now[i].ID)
			}
		}
		if len(rest) > 0 {
			t.Fatalf("%v are in no place", rest)
		}
	})
}
