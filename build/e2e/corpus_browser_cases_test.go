//go:build window

package e2e

import "deskbell/backend/human"

// asks are the details of an operation: where, and what is to be read there.
func asks(url, action string, fields ...string) map[string]any {
	details := map[string]any{"url": url, "required_action": action}
	if len(fields) > 0 {
		details["data_to_extract"] = fields
	}
	return details
}

// with adds to the details of an operation.
func with(details map[string]any, name string, value any) map[string]any {
	details[name] = value
	return details
}

// signsInToConsole signs in to the vendor's console.
func signsInToConsole(p *worker) {
	p.enters("[name=email]", "mei@acme.example")
	p.enters("[name=password]", corpusPassword)
	p.clicks("button|Sign in")
	p.at("/org/acme")
}

// signsInToAdmin signs in to the admin console, with the captcha in the picture.
func signsInToAdmin(p *worker, captcha string) {
	p.enters("[name=user]", "admin")
	p.enters("[name=password]", corpusPassword)
	p.enters("[name=captcha]", captcha)
	p.clicks("button|登录")
}

// corpusCases are done one after the other, each in a new browser.
var corpusCases = []corpusCase{
	{
		name: "vendor-quota", agent: "price-scout", what: "Read our quota and unit prices from the vendor console",
		details: with(asks("https://console.vendor.example/", "Sign in, open plan, quota and price list", "plan_name", "quota_requests", "used_this_month", "unit_price_usd", "renewal_date"), "requires_human", "The console needs a passkey"),
		act: func(p *worker) {
			signsInToConsole(p)
			p.clicks("a|Plan")
			p.at("/plan")
			p.picks("plan_name", "#plan")
			p.clicks("a|Quota")
			p.at("/quota")
			p.picks("quota_requests", "#quota")
			p.picks("used_this_month", "#used")
			p.fills("used_this_month", "8,412,903")
			p.clicks("a|Price list")
			p.at("/prices")
			p.picks("unit_price_usd", "#above")
			p.clicks("a|Download prices-2026.csv")
			p.downloaded("prices-2026.csv", vendorPrices)
			p.clicks("a|Renewal")
			p.sees("needs the role Owner")
			p.answer.HumanInput = "Renewal date is not shown to our role."
		},
	},
	{
		name: "admin-users", what: "请登录管理后台并检查用户列表",
		details: with(asks("https://admin.example.com/login", "登录并导航到用户管理页面", "用户总数", "最近活跃用户"), "requires_human", "需要验证码"),
		act: func(p *worker) {
			signsInToAdmin(p, "7KQ4")
			p.at("/dashboard")
			p.clicks("a|用户管理")
			p.at("/users")
			p.picks("用户总数", "#total")
			p.takes(human.TakeList, "最近活跃用户", "#active li")
		},
	},
	{
		name: "login-page-check", agent: "main_agent", what: "请检查登录页面",
		details: map[string]any{"url": "https://admin.example.com/login", "action": "login"},
		act: func(p *worker) {
			p.enters("[name=user]", "test")
			p.enters("[name=password]", "abc12")
			p.clicksAndAnswers("button|登录", true, "")
			p.clicks("[name=remember]")
			p.clicks("[name=captcha]")
			p.answer.HumanInput = "登录页面正常，验证码在右下角，密码最小8位，支持记住密码"
			p.answer.ExecutionResult = "成功"
		},
	},
	{
		name: "forgot-password", what: "请检查忘记密码流程",
		details: with(asks("https://admin.example.com/login", "用测试邮箱走一遍忘记密码流程", "邮件延迟", "链接有效期"), "expected_outcome", "收到重置邮件并能打开重置页面"),
		act: func(p *worker) {
			p.clicks("a|忘记密码")
			p.at("/forgot")
			p.enters("[name=email]", "qa@test.example")
			p.clicks("button|发送重置邮件")
			p.at("/sent")
			p.clicks("a|打开测试邮箱")
			p.look(1)
			p.sees("收件箱")
			p.clicks("a|管理后台：重置密码")
			p.at("/mail/1")
			p.picks("邮件延迟", "#delay")
			p.picks("链接有效期", "#valid")
			p.clicks("a|重置密码")
			p.sees("设置新密码")
		},
	},
	{
		name: "wrong-password", what: "Which plan are we on at the vendor?",
		details: asks("https://console.vendor.example/", "Sign in and open Plan", "plan_name"),
		act: func(p *worker) {
			p.enters("[name=email]", "mei@acme.example")
			p.enters("[name=password]", "winter-2025")
			p.clicks("button|Sign in")
			p.sees("Wrong e-mail or password")
			signsInToConsole(p)
			p.clicks("a|Plan")
			p.at("/plan")
			p.picks("plan_name", "#plan")
		},
	},
	{
		name: "session-expired", what: "Submit the travel claim for the Lyon visit",
		details: with(asks("https://expenses.example/claims/new", "Fill in the claim: train to Lyon, 138.40 EUR, Travel", "claim_number"), "expected_outcome", "Claim submitted"),
		act: func(p *worker) {
			claims := func() {
				p.enters("[name=purpose]", "Train to Lyon")
				p.enters("[name=amount]", "138.40")
				p.selects("[name=category]", 1)
				p.clicks("button|Submit claim")
			}
			claims()
			p.at("/expired")
			p.enters("[name=user]", "mei")
			p.enters("[name=password]", corpusPassword)
			p.clicks("button|Sign in")
			p.at("/claims/new")
			claims()
			p.at("/claims/C-4711")
			p.picks("claim_number", "#number")
		},
	},
	{
		name: "page-missing", what: "Find who is on call for deployments",
		details: asks("https://wiki.example/", "Open the deployment guide", "on_call"),
		act: func(p *worker) {
			p.clicks("a|Deployment guide")
			p.sees("Page not found")
			p.goes(-1)
			p.sees("Runbooks")
			p.clicks("a|Deployment guide, new")
			p.at("/runbooks/deployment")
			p.picks("on_call", "#oncall")
		},
	},
	{
		name: "submit-fails-once", what: "Report the broken badge reader to the helpdesk",
		details: with(asks("https://tickets.example/", "Send a ticket: badge reader at gate 3 is dark", "ticket_number"), "expected_outcome", "Ticket created"),
		act: func(p *worker) {
			p.enters("[name=subject]", "Badge reader at gate 3 is dark")
			p.enters("[name=text]", "No light since this morning. People queue.")
			p.selects("[name=urgency]", 1)
			p.clicks("button|Send ticket")
			p.sees("500 Internal server error")
			p.goes(-1)
			p.sees("New ticket")
			p.clicks("button|Send ticket")
			p.at("/tickets/T-2093")
			p.picks("ticket_number", "#number")
		},
	},
}
