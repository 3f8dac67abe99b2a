package procedure

import (
	"reflect"
	"testing"

	"deskbell/backend/human"
)

func TestMine(t *testing.T) {
	p := human.Procedure{
		Parameters: []human.ProcedureParameter{{Name: "customer", Examples: []string{"Acme Ltd", "North"}}, {Name: "amount", Examples: []string{"12"}}},
		Steps:      []human.ProcedureStep{{ID: "s1", Do: "click", Writes: true, From: []human.ProcedureSource{{Action: "a5"}}}},
	}
	file := func(op, name, to string) human.Action {
		return human.Action{Type: human.FileOperation, File: &human.FileChange{Op: op, Path: name, To: to}}
	}
	write := human.Action{ID: "a5", Type: human.Click}
	list := &human.WebPage{Target: "t1", URL: origin + "/bills?customer=Acme+Ltd"}
	open := func(kind string) human.Action {
		return human.Action{Type: human.Navigate, Page: list, Navigation: &human.Navigation{Kind: kind}}
	}
	pick := human.Action{Type: human.Extract, Page: list, Pick: &human.Pick{Rows: [][]string{{"Customer", "Sum"}, {"Acme Ltd", " 12 "}, {"Acme Ltd & Sons", "112"}}}}
	for name, tt := range map[string]struct {
		actions []human.Action
		want    []human.ProcedureEffect
	}{
		"a file that came":                   {[]human.Action{file("created", "/out/Acme Ltd-{7}.pdf", "")}, []human.ProcedureEffect{{Is: "file", Path: "/out/{customer}-{{7}}.pdf", Fresh: true}}},
		"one that was given its name later":  {[]human.Action{file("created", "/out/.x.tmp", ""), file("renamed", "/out/.x.tmp", "/out/North.pdf")}, []human.ProcedureEffect{{Is: "file", Path: "/out/{customer}.pdf", Fresh: true}}},
		"one that was deleted":               {[]human.Action{file("created", "/out/a.pdf", ""), file("deleted", "/out/a.pdf", "")}, nil},
		"one that was there before":          {[]human.Action{file("changed", "/out/log.txt", "")}, nil},
		"one that was downloaded":            {[]human.Action{file("created", "/out/a.pdf", ""), {Type: human.Download, Transfers: []human.Transfer{{Name: "a.pdf"}}}}, nil},
		"a row with what was written":        {[]human.Action{write, open("link"), pick}, []human.ProcedureEffect{{Is: "row", URL: origin + "/bills?customer={customer}", Has: []string{"{customer}", "{amount}"}}}},
		"a row before anything was written":  {[]human.Action{open("link"), pick, write}, nil},
		"a page that came of a form":         {[]human.Action{write, open("form"), pick}, nil},
		"a row of which nothing was written": {[]human.Action{write, open("link"), {Type: human.Extract, Page: list, Pick: &human.Pick{Rows: [][]string{{"Other", "112"}}}}}, nil},
	} {
		if got := Mine(p, tt.actions); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
