package actions_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// TestAnswers are of requests that a page makes without going elsewhere: an action has those that changed something.
func TestAnswers(t *testing.T) {
	const api = "https://console.vendor.example/api/"
	many := browse().click(send)
	for i := range 5 {
		many.asks("POST", fmt.Sprint(api, i), "fetch", 200, 10)
	}
	framed := browse().click(send).frame(0)
	framed.page.FrameURL = "https://forms.example/"
	aborted := browse().click(send)
	aborted.event(human.RecordedEvent{Type: human.PageRequest, Browsing: human.Browsing{Request: &human.WebRequest{Method: "POST", URL: api, Kind: "fetch", Status: 201, Failed: "net::ERR_ABORTED"}}})
	broken := browse().click(send)
	broken.event(human.RecordedEvent{Type: human.PageRequest, Browsing: human.Browsing{Request: &human.WebRequest{Method: "POST", URL: api, Kind: "fetch", Status: 201, Failed: "net::ERR_CONTENT_LENGTH_MISMATCH"}}})
	for name, tt := range map[string]struct {
		surf *surf
		want []string // the action, and the answers it has
	}{
		"an upload by fetch":                      {browse().file(human.PageUpload, &cv, "cv.pdf", "").pause(500).click(send).asks("POST", api+"upload", "fetch", 201, 300), []string{"Clicked button Send: POST " + api + "upload 201"}},
		"one that takes long":                     {browse().click(send).pause(100).asks("DELETE", api+"7", "xhr", 204, 20_000), []string{"Clicked button Send: DELETE " + api + "7 204"}},
		"one that failed":                         {browse().click(send).asks("PUT", api+"7", "xhr", 422, 300), []string{"Clicked button Send: PUT " + api + "7 422"}},
		"one that no answer came to":              {browse().click(send).asks("PUT", api+"7", "xhr", 0, 300), nil},
		"one that was only sent elsewhere":        {browse().click(send).asks("POST", api+"7", "fetch", 302, 300), nil},
		"one that only asks":                      {browse().click(send).asks("GET", api+"7", "fetch", 200, 300), nil},
		"one of another site":                     {browse().click(send).asks("POST", "https://stats.example/collect", "ping", 204, 30), nil},
		"one of a host whose name only ends so":   {browse().click(send).asks("POST", "https://myconsole.vendor.example/", "fetch", 204, 30), nil},
		"one of a host below":                     {browse().click(send).asks("PATCH", "https://api.console.vendor.example/7", "fetch", 200, 30), []string{"Clicked button Send: PATCH https://api.console.vendor.example/7 200"}},
		"one whose answer the page does not read": {aborted, []string{"Clicked button Send: POST " + api + " 201"}},
		"one whose answer broke off":              {broken, nil},
		"what brings the page":                    {browse().click(send).asks("POST", api, "document", 200, 30), nil},
		"what brings the page of a frame":         {framed.asks("POST", "https://forms.example/sent", "document", 200, 30), []string{"Clicked button Send: POST https://forms.example/sent 200"}},
		"one that the page makes by itself":       {browse().click(send).pause(9000).asks("POST", api+"alive", "fetch", 200, 30), nil},
		"one after the page was only scrolled":    {browse().scrolls(90).asks("POST", api+"seen", "fetch", 200, 30), nil},
		"many":                                    {many, []string{"Clicked button Send: POST " + api + "0 200, POST " + api + "1 200, POST " + api + "2 200"}},
		"of the second of two clicks":             {browse().click(billing).pause(1500).click(send).asks("POST", api+"7", "fetch", 200, 30), []string{"Clicked button Send: POST " + api + "7 200"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			list := tt.surf.actions("en")
			for _, a := range list {
				if len(a.Answers) > 0 {
					got = append(got, a.Words+": "+answers(a))
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, not %q", got, tt.want)
			}
			for _, a := range actions.ForAgent(list, human.Edits{ShareText: true}, "en") {
				if strings.Contains(answers(a), "://") {
					t.Errorf("an agent gets the address of a request: %s", answers(a))
				}
			}
			for _, a := range actions.Left(list, human.Edits{}, "en") {
				if len(a.Answers) > 0 && a.Answers[0].URL == "" {
					t.Error("people get no address")
				}
			}
			for _, a := range list {
				if len(a.Answers) > 0 && a.Answers[0].URL == "" {
					t.Error("what an agent gets changed what is kept")
				}
			}
		})
	}
}

func answers(a human.Action) string {
	var all []string
	for _, r := range a.Answers {
		all = append(all, fmt.Sprint(r.Method, " ", r.URL, " ", r.Status))
	}
	return strings.Join(all, ", ")
}
