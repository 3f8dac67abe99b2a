package builtin

import (
	"testing"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/say"
)

// What a page says after something was done decides what came of it (H11).
func TestMessagesOfPages(t *testing.T) {
	for name, tt := range map[string]struct {
		work          func() *surfer
		expected      string
		line, chinese string
	}{
		"an order that is placed": {
			func() *surfer {
				return surf("https://shop.example/cart", "Cart").typed("Name", 5).typed("City", 6).click("button", "Place order").says("Thank you! Order 1042 was placed.")
			},
			"The order is placed",
			"As expected, clicked “Place order” on “Cart”; the page said “Thank you! Order 1042 was placed.”",
			"符合预期，在“Cart”上点击了“Place order”；页面提示“Thank you! Order 1042 was placed.”",
		},
		"a password that is refused once": {
			func() *surfer {
				return surf("https://shop.example/login", "Sign in").typed("User", 5).password("Password").click("button", "Sign in").says("Wrong user name or password").
					password("Password").click("button", "Sign in").says("Welcome back, Ada")
			},
			"Signed in",
			"As expected, signed in at shop.example at the second try; at first the page said “Wrong user name or password”; the page said “Welcome back, Ada”",
			"符合预期，登录了 shop.example，第二次成功，起初页面提示“Wrong user name or password”；页面提示“Welcome back, Ada”",
		},
		"a sign-in that a script answers": {
			func() *surfer {
				return surf("https://shop.example/login", "Sign in").typed("User", 5).password("Password").click("button", "Sign in").goes("script", "https://shop.example/home", "Overview", 200)
			},
			"Signed in",
			"As expected, signed in at shop.example; then “Overview” was shown",
			"符合预期，登录了 shop.example；随后显示“Overview”",
		},
		"a question of the page, and its answer": {
			func() *surfer {
				return surf("https://shop.example/team", "Team").click("button", "Delete").says("Delete Ada from the team? This cannot be undone.").click("button", "Delete").says("Ada was removed")
			},
			"Ada is removed from the team",
			"As expected, clicked “Delete” on “Team”; the page said “Ada was removed”",
			"符合预期，在“Team”上点击了“Delete”；页面提示“Ada was removed”",
		},
		"a file that is refused": {
			func() *surfer {
				return surf("https://shop.example/up", "Documents").file(human.Upload, "cv.pdf", "", 2048).click("button", "Upload").says("File too large: at most 1 MB")
			},
			"The file is uploaded",
			"Otherwise than expected: the form on “Documents” was not taken: the page said “File too large: at most 1 MB”",
			"与预期不符：“Documents”的表单没有被接受：页面提示“File too large: at most 1 MB”",
		},
		"a task that is added": {
			func() *surfer {
				return surf("https://shop.example/board", "Board").typed("New task", 9).click("button", "Add").says("Task added")
			},
			"",
			"Sent the form on “Board” with “Add”; the page said “Task added”",
			"提交了“Board”的表单（按钮“Add”）；页面提示“Task added”",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for lang, want := range map[string]string{say.English: tt.line, say.Chinese: tt.chinese} {
				s := tt.work()
				if tt.expected != "" {
					s.in.Operation.Details = []byte(`{"expected_outcome":"` + tt.expected + `"}`)
				}
				if got := report(t, browser(), worded(s.in, lang)).Line; got != want {
					t.Errorf("%s: %q, not %q", lang, got, want)
				}
			}
		})
	}
}
