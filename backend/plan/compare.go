package plan

import (
	"slices"
	"strconv"

	"deskbell/backend/human"
)

// Compare says what a list of tasks became, by their ids: first what is in the new list, in its order, then what is no
// longer there, in the old one's. Of the tasks in both lists as few as can be are moved: all but those of a longest
// increasing subsequence of their old places; of several such, one with the fewest of carried, the ids of the tasks that
// a person took hold of; of these, the one that ends first in the new list, and so on backwards.
func Compare(old, now []human.Task, carried ...string) []human.TaskChange {
	was := make(map[string]int, len(old))
	for i, t := range old {
		was[t.ID] = i
	}
	var kept []int // places in now of tasks that are in both
	for i, t := range now {
		if _, ok := was[t.ID]; ok {
			kept = append(kept, i)
		}
	}
	still := longest(kept, func(i int) int { return was[now[i].ID] }, func(i int) bool { return slices.Contains(carried, now[i].ID) })
	changes := []human.TaskChange{}
	there := make(map[string]bool, len(now))
	for i, t := range now {
		there[t.ID] = true
		from, known := was[t.ID]
		if !known {
			changes = append(changes, human.TaskChange{Kind: human.TaskAdded, ID: t.ID, Description: t.Description, To: i + 1})
			continue
		}
		if fields := fieldsOf(old[from], t); len(fields) > 0 {
			changes = append(changes, human.TaskChange{Kind: human.TaskChanged, ID: t.ID, Description: t.Description, From: from + 1, To: i + 1, Fields: fields})
		}
		if !still[i] {
			changes = append(changes, human.TaskChange{Kind: human.TaskMoved, ID: t.ID, Description: t.Description, From: from + 1, To: i + 1})
		}
	}
	for i, t := range old {
		if !there[t.ID] {
			changes = append(changes, human.TaskChange{Kind: human.TaskRemoved, ID: t.ID, Description: t.Description, From: i + 1})
		}
	}
	return changes
}

// longest returns the members of a longest subsequence of list in which value increases; of several, one with few that
// are heavy.
func longest(list []int, value func(int) int, heavy func(int) bool) map[int]bool {
	one := len(list) + 1 // all the heavy ones together weigh less than one
	length, before := make([]int, len(list)), make([]int, len(list))
	end := -1
	for i := range list {
		weight := one
		if heavy(list[i]) {
			weight--
		}
		length[i], before[i] = weight, -1
		for j := range i {
			if value(list[j]) < value(list[i]) && length[j]+weight > length[i] {
				length[i], before[i] = length[j]+weight, j
			}
		}
		if end < 0 || length[i] > length[end] {
			end = i
		}
	}
	in := map[int]bool{}
	for ; end >= 0; end = before[end] {
		in[list[end]] = true
	}
	return in
}

func fieldsOf(a, b human.Task) []human.FieldChange {
	var all []human.FieldChange
	for _, f := range []human.FieldChange{
		{Field: "description", Was: a.Description, Is: b.Description},
		{Field: "tool_name", Was: a.Tool, Is: b.Tool},
		{Field: "type", Was: a.Type, Is: b.Type},
		{Field: "priority", Was: strconv.Itoa(a.Priority), Is: strconv.Itoa(b.Priority)},
		{Field: "expected_outcome", Was: a.ExpectedOutcome, Is: b.ExpectedOutcome},
		{Field: "args", Was: string(a.Args), Is: string(b.Args)},
	} {
		if f.Was != f.Is {
			all = append(all, f)
		}
	}
	return all
}

// identify gives every task without an id one that no other has, and says which id is there twice.
func identify(tasks []human.Task, taken func(string) bool) ([]human.Task, string) {
	tasks = slices.Clone(tasks)
	seen := map[string]bool{}
	for _, t := range tasks {
		if t.ID != "" && seen[t.ID] {
			return tasks, t.ID
		}
		seen[t.ID] = true
	}
	n := 0
	for i := range tasks {
		for tasks[i].ID == "" {
			n++
			if id := "t" + strconv.Itoa(n); !seen[id] && !taken(id) {
				tasks[i].ID = id
			}
		}
	}
	return tasks, ""
}
