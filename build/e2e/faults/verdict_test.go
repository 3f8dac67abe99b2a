//go:build faults && linux

package faults

import "testing"

func TestVerdicts(t *testing.T) {
	lost := loss{ops: 80, entries: 110, missing: 7, lost: 9}
	changed := lost
	changed.altered = 1
	late := lost
	late.late = 1
	for name, tt := range map[string]struct {
		j    judgement
		want verdict
	}{
		"nothing is missing":                          {judgement{loss: loss{ops: 80}}, whole},
		"nothing is missing, and nothing is accepted": {judgement{loss: loss{ops: 80, acceptsNothing: "503"}}, down},
		"nothing says so":                             {judgement{loss: lost, doctorOK: true}, silent},
		"the number of operations and a time":         {judgement{loss: lost, words: []string{"7 operations since 2026-11-28 21:03 are missing"}}, said},
		"the number of entries and a time":            {judgement{loss: lost, words: []string{"9 entries since 21:03 are missing"}}, said},
		"the first and last entry and a time":         {judgement{loss: lost, words: []string{"entries 102 to 110 are missing, from 21:03 on"}}, said},
		"no time":                                     {judgement{loss: lost, words: []string{"7 operations are missing"}}, vague},
		"another number":                              {judgement{loss: lost, words: []string{"8 operations since 21:03 are missing"}}, vague},
		"the number only in a time":                   {judgement{loss: lost, words: []string{"damaged at 2026-11-28 21:07:09"}}, vague},
		"a number and a time of the log's own":        {judgement{loss: lost, words: []string{`{"time":"2026-11-28T21:03:04Z","msg":"damaged","pid":7}`}}, vague},
		"said, but doctor finds nothing":              {judgement{loss: lost, doctorOK: true, words: []string{"9 entries since 21:03 are missing"}}, vague},
		"said, but what is served is made up":         {judgement{loss: changed, words: []string{"9 entries since 21:03 are missing"}}, vague},
		"said, but accepted after the fault":          {judgement{loss: late, words: []string{"9 entries since 21:03 are missing"}}, vague},
	} {
		if tt.j.decide(); tt.j.verdict != tt.want {
			t.Errorf("%s: %s, want %s", name, tt.j.verdict, tt.want)
		}
	}
}
