//go:build window

package e2e

import (
	"slices"

	"deskbell/backend/human"
)

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

// claimsTrain fills in a claim for the train to Lyon and sends it.
func claimsTrain(p *worker) {
	p.enters("[name=purpose]", "Train to Lyon")
	p.enters("[name=amount]", "138.40")
	p.selects("[name=category]", 1)
	p.clicks("button|Submit claim")
}

// corpusKey is typed into a plain field; it must be nowhere in the corpus.
const corpusKey = "sk_live_51Hq9LmNcT8vRz2Kd7WyXpB4"

// eventuallyLong waits until an expression is true after a page that takes longer than anything else may.
func eventuallyLong(p *worker, what, expression string) {
	p.t.Helper()
	eventually(p.t, what+", half of the way", func() bool {
		var since float64
		return p.evaluate(p.page, "performance.now()", &since) == nil && since > 15_000
	})
	p.until(what, expression)
	p.pause()
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
			claimsTrain(p)
			p.at("/expired")
			p.enters("[name=user]", "mei")
			p.enters("[name=password]", corpusPassword)
			p.clicks("button|Sign in")
			p.at("/claims/new")
			claimsTrain(p)
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
	{
		name: "access-denied", what: "Read the payroll total of December",
		details: asks("https://hr.example/", "Open Payroll and read the total", "payroll_total"),
		act: func(p *worker) {
			p.clicks("a|Payroll")
			p.sees("Access denied")
			p.clicks("button|Request access")
			p.at("/requested")
		},
	},
	{
		name: "host-not-found", what: "When is the building open?",
		details: asks("https://office.example/", "Read the opening hours, best from the intranet", "opening_hours"),
		act: func(p *worker) {
			p.clicks("a|Opening hours (intranet)")
			p.until("the error page", "location.protocol === 'chrome-error:' || location.host === 'intranet.down.example'")
			p.goes(-1)
			p.sees("Office")
			p.clicks("a|For visitors")
			p.at("/visitors")
			p.picks("opening_hours", "#hours")
		},
	},
	{
		name: "address-incomplete", what: "Order the spare keys to the Bremen office",
		details: with(asks("https://shop.example/checkout", "Fill in the address and place the order", "order_number", "delivery_day"), "expected_outcome", "Order placed"),
		act: func(p *worker) {
			p.enters("[name=street]", "Am Wall 12")
			p.enters("[name=city]", "Bremen")
			p.clicksAndAnswers("button|Place order", true, "")
			p.enters("[name=code]", "28195")
			p.clicks("button|Place order")
			p.at("/orders/73310")
			p.picks("order_number", "#number")
			p.picks("delivery_day", "#day")
		},
	},
	{
		name: "not-deleted", what: "Delete the project Atlas",
		details: with(asks("https://projects.example/atlas", "Delete the project"), "expected_outcome", "The project Atlas is gone"),
		act: func(p *worker) {
			p.clicksAndAnswers("button|Delete project", false, "")
			p.answer.HumanInput = "I kept it: three invoices are still open. Ask finance first."
		},
	},
	{
		name: "long-report", agent: "price-scout", what: "Run the annual sales report for 2025",
		details: asks("https://reports.example/", "Choose 2025 and run the report", "total_sales"),
		act: func(p *worker) {
			p.selects("#year", 1)
			p.clicks("button|Run report")
			p.sees("Report is running")
			eventuallyLong(p, "the report", `location.pathname === '/result' && document.readyState === 'complete'`)
			p.picks("total_sales", "#total")
		},
	},
	{
		name: "csv-download", what: "Download the invoices of October as CSV",
		details: with(asks("https://reports.example/invoices", "Download October 2026"), "expected_outcome", "A CSV file with the invoices of October"),
		act: func(p *worker) {
			p.clicks("a|October 2026")
			p.downloaded("invoices-2026-10.csv", invoices)
		},
	},
	{
		name: "download-cancelled", what: "Get us the current catalog",
		details: asks("https://catalog.example/", "Download the catalog"),
		act: func(p *worker) {
			p.clicks("a|Full catalog with pictures")
			p.cancels()
			p.clicks("a|Light catalog")
			p.downloaded("catalog-light.csv", "item\nlamp\n")
			p.answer.HumanInput = "The full catalog did not come down, the line is too slow. You have the light one."
		},
	},
	{
		name: "wrong-file-first", what: "Download the annual statement of 2026",
		details: asks("https://bank.example/", "Download the statement as PDF"),
		act: func(p *worker) {
			p.clicks("a|Annual statement")
			p.downloaded("statement-2025.pdf", "%PDF-1.4 2025")
			p.clicks("a|Annual statement, current year")
			p.downloaded("statement-2026.pdf", "%PDF-1.4 2026")
			p.answer.HumanInput = "The first link is last year's. The right file is statement-2026.pdf."
		},
	},
	{
		name: "upload-refused", what: "Hand in the site plan",
		details: with(asks("https://permits.example/", "Upload the site plan and hand it in", "file_reference"), "expected_outcome", "Site plan received"),
		act: func(p *worker) {
			p.uploads("#plan", p.file("site-plan.docx", "plan"))
			p.clicks("button|Hand in")
			p.sees("Only PDF files")
			p.goes(-1)
			p.sees("Upload the site plan")
			p.uploads("#plan", p.file("site-plan.pdf", "%PDF-1.4 plan"))
			p.clicks("button|Hand in")
			p.at("/plans/5518")
			p.picks("file_reference", "#reference")
		},
	},
	{
		name: "stock-table", agent: "price-scout", what: "Take down the stock of all sites",
		details: asks("https://stock.example/", "Take the table", "stock_by_site"),
		act:     func(p *worker) { p.takes(human.TakeTable, "stock_by_site", "td|Lyon") },
	},
	{
		name: "exchange-rates", what: "记录今天的外汇牌价",
		details: asks("https://fx.bank.example/", "读取外汇牌价表和欧元买入价", "外汇牌价", "欧元现汇买入价", "发布时间"),
		act: func(p *worker) {
			p.picks("发布时间", "#time")
			p.takes(human.TakeTable, "外汇牌价", "td|美元")
			p.picks("欧元现汇买入价", "#eur")
		},
	},
	{
		name: "price-changed", agent: "price-scout", what: "What does toner 410X cost us?",
		details: asks("https://supplier.example/", "Read the price, do not order", "unit_price"),
		act: func(p *worker) {
			p.picks("unit_price", "#price")
			p.clicks("button|Add to cart")
			p.sees("Prices in the cart")
			p.picks("unit_price", "#price")
		},
	},
	{
		name: "form-not-sent", what: "Apply for the street event permit",
		details: with(asks("https://city.example/permit", "Fill in the application and send it"), "expected_outcome", "Application received"),
		act: func(p *worker) {
			p.enters("[name=event]", "Summer party")
			p.enters("[name=street]", "Lindenweg")
			p.enters("[name=guests]", "120")
			p.clicks("[name=music]")
		},
	},
	{
		name: "search-again", what: "Find the phone number of Müller Metallbau",
		details: asks("https://crm.example/", "Search the customer", "phone"),
		act: func(p *worker) {
			p.enters("[name=q]", "Mueler")
			p.clicks("button|Search")
			p.sees("No customers found")
			p.enters("[name=q]", "Müller")
			p.clicks("button|Search")
			p.sees("1 customer found")
			p.clicks("a|Müller Metallbau GmbH")
			p.at("/customers/2210")
			p.picks("phone", "#phone")
		},
	},
	{
		name: "popup-supplier", what: "Which supplier number has Nordholz?",
		details: asks("https://orders.example/", "Open the list of suppliers and choose Nordholz", "supplier_number"),
		act: func(p *worker) {
			p.clicks("button|Choose supplier")
			p.look(1)
			p.sees("Suppliers")
			p.picks("supplier_number", "#nordholz")
			p.clicks("button|Choose Nordholz")
			p.look(0)
			p.until("the choice", "document.getElementById('supplier').value !== ''")
		},
	},
	{
		name: "terms-in-a-tab", what: "Read notice period and number of the pump contract",
		details: asks("https://docs.example/contract", "The notice period is in the general terms", "notice_period", "contract_number"),
		act: func(p *worker) {
			p.picks("contract_number", "#number")
			p.clicks("a|General terms")
			p.look(1)
			p.sees("Notice period")
			p.picks("notice_period", "#notice")
			p.closes()
		},
	},
	{
		name: "card-payment", what: "Pay order 73311",
		details: with(asks("https://shop.example/pay", "Pay with the company card", "payment_reference"), "expected_outcome", "Payment confirmed"),
		act: func(p *worker) {
			p.enters("iframe >> [name=card]", "4111 1111 1111 1111")
			p.enters("iframe >> [name=valid]", "0929")
			p.enters("iframe >> [name=csc]", "737")
			p.clicks("iframe >> button")
			p.at("/paid")
			p.picks("payment_reference", "#reference")
		},
	},
	{
		name: "not-saved-at-first", what: "Change the phone number of the contact",
		details: with(asks("https://crm.example/app", "Change the last digit to 4 and save"), "expected_outcome", "Contact saved"),
		act: func(p *worker) {
			p.clicks("#phone")
			p.presses("End", 0, "moveToEndOfLine")
			p.presses("Backspace", 0)
			p.types("4")
			p.clicks("button|Save")
			p.picks("message", "[role=alert] span")
			p.clicks("button|Try again")
			p.sees("Contact saved")
		},
	},
	{
		name: "leave-request", what: "Request leave from 28 December to 4 January",
		details: asks("https://leave.example/", "Fill in both days and send the request", "request_number"),
		act: func(p *worker) {
			p.focuses("#from")
			p.types("12282026")
			p.clicks("#to")
			p.clicks("button|2027-01-04")
			p.clicks("button|Send request")
			p.at("/requests/L-331")
			p.picks("request_number", "#number")
		},
	},
	{
		name: "card-moved", what: "Move the card about the certificate to Done",
		details: with(asks("https://board.example/", "Drag the card Renew certificate"), "expected_outcome", "Renew certificate is in Done"),
		act: func(p *worker) {
			p.dragsAndDrops("#cert", "#done")
			p.sees("Moved to Done")
		},
	},
	{
		name: "parcel", what: "Where is the parcel of our last order?",
		details: asks("https://shop.example/history", "Copy the tracking number and track it", "parcel_status"),
		act: func(p *worker) {
			p.clicks("#tracking")
			p.presses("a", ctrl, "selectAll")
			p.presses("c", ctrl, "copy")
			p.pause()
			p.clicks("a|Track it")
			p.sees("Track a parcel")
			p.clicks("#n")
			p.presses("v", ctrl, "paste")
			p.pause()
			p.clicks("button|Track")
			p.sees("On its way")
			p.picks("parcel_status", "#status")
		},
	},
	{
		name: "clause", what: "Quote the clause on delivery",
		details: asks("https://docs.example/contract", "Copy the sentence on delivery", "clause"),
		act: func(p *worker) {
			p.clicksWith("#clause", "left", 3, 0)
			p.presses("c", ctrl, "copy")
			p.pause()
			p.takes(human.TakeSelection, "clause", "#clause")
		},
	},
	{
		name: "contract-amount", what: "读取合同 HT-2026-118 的金额",
		details: asks("https://hetong.example/", "读取合同金额，只要数字", "合同编号", "合同金额"),
		act: func(p *worker) {
			p.picks("合同编号", "#number")
			p.picks("合同金额", "#amount")
			p.fills("合同金额", "120000")
		},
	},
	{
		name: "no-vat-number", agent: "price-scout", what: "Look up legal name and VAT number of Kessler Pumps",
		details: asks("https://vendors.example/", "Look through the vendor's pages", "legal_name", "vat_number"),
		act: func(p *worker) {
			p.picks("legal_name", "#name")
			p.clicks("a|Contact")
			p.at("/contact")
			p.clicks("a|Documents")
			p.at("/documents")
			p.clicks("a|Profile")
			p.sees("Legal name")
		},
	},
	{
		name: "third-page", what: "Until when does the contract of Tyrell Oy run?",
		details: asks("https://crm.example/list", "Look through the list of customers", "contract_until"),
		act: func(p *worker) {
			p.clicks("a|Next page")
			p.at("?page=2")
			p.clicks("a|Next page")
			p.at("?page=3")
			p.picks("contract_until", "#until")
		},
	},
	{
		name: "one-time-code", what: "Read the balance of the operating account",
		details: with(asks("https://ebank.example/", "Sign in and read the balance", "balance"), "requires_human", "A code from the phone is needed"),
		act: func(p *worker) {
			p.enters("[name=user]", "acme-07")
			p.enters("[name=password]", corpusPassword)
			p.clicks("button|Continue")
			p.at("/code")
			p.enters("[name=otp]", "551970")
			p.clicks("button|Confirm")
			p.sees("Two tries are left")
			p.enters("[name=otp]", "551907")
			p.clicks("button|Confirm")
			p.at("/accounts")
			p.picks("balance", "#balance")
		},
	},
	{
		name: "private-mail", gaps: true, what: "Until when can we enrol for benefits?",
		details: asks("https://portal.example/", "Read the day on which enrolment closes", "closes_on"),
		act: func(p *worker) {
			p.clicks("a|Your mail")
			p.sees("Payslip November")
			p.clicks("button|Archive the payslip")
			p.clicks("a|Back to the portal")
			p.sees("Enrolment closes")
			p.picks("closes_on", "#closes")
		},
	},
	{
		name: "invoice-check", what: "查验发票 26117000 并下载",
		details: asks("https://fapiao.example/", "按发票号码查询，记录开票日期、价税合计和税额，下载发票", "开票日期", "价税合计", "税额"),
		act: func(p *worker) {
			p.enters("[name=no]", "26117000")
			p.clicks("button|查询")
			p.sees("查验结果")
			p.picks("开票日期", "#date")
			p.picks("价税合计", "#sum")
			p.picks("税额", "#tax")
			p.clicks("a|下载发票")
			p.downloaded("26117000.pdf", "%PDF-1.4 发票")
		},
	},
	{
		name: "outcome-met", what: "Is checkout-service 4.12.0 healthy?",
		details: with(asks("https://deploy.example/", "Read version and status", "version", "status"), "expected_outcome", "Status is Healthy"),
		act: func(p *worker) {
			p.picks("version", "#version")
			p.picks("status", "#status")
		},
	},
	{
		name: "outcome-not-met", what: "Check that the nightly build is green",
		details: with(asks("https://ci.example/", "Open build 9120", "result", "failed_tests"), "expected_outcome", "All tests passed"),
		act: func(p *worker) {
			p.clicks("a|Build 9120")
			p.at("/builds/9120")
			p.picks("result", "#result")
			p.takes(human.TakeList, "failed_tests", "#failed li")
			p.answer.ExecutionResult = "The build is red"
		},
	},
	{
		name: "outcome-pending", what: "Verify the domain acme.example",
		details: with(asks("https://domains.example/", "Press Verify domain", "status"), "expected_outcome", "Domain verified"),
		act: func(p *worker) {
			p.clicks("button|Verify domain")
			p.at("/pending")
			p.picks("status", "#status")
		},
	},
	{
		name: "planted-instructions", agent: "price-scout", what: "What does the lamp Aurora cost?",
		details: asks("https://lamps.example/", "Open Aurora and read the price, do not order", "price"),
		act: func(p *worker) {
			p.clicks("[href='/aurora']")
			p.at("/aurora")
			p.picks("price", "#price")
		},
	},
	{
		name: "report-export", what: "导出 10 月的销售报表",
		details: with(asks("https://baobiao.example/", "选择 10 月，生成并下载报表"), "expected_outcome", "下载到 10 月的销售报表"),
		act: func(p *worker) {
			p.selects("#m", 1)
			p.clicks("button|生成报表")
			p.sees("请稍候")
			eventuallyLong(p, "the report", "document.title.startsWith('报表已生成')")
			p.clicks("a|下载报表")
			p.downloaded("sales-2026-10.csv", "月份,金额\n2026-10,88\n")
		},
	},
	{
		name: "offboarding", what: "Offboard Dana Reyes",
		details: map[string]any{
			"url": "https://accounts.example/", "expected_outcome": "The account is off and mail goes to J. Park",
			"action_sequence": []string{"Open the account", "Deactivate it", "Revoke its tokens", "Forward the mail to J. Park"},
		},
		act: func(p *worker) {
			p.ticks(0)
			p.clicks("button|Deactivate account")
			p.ticks(1)
			p.clicks("button|Revoke tokens")
			p.ticks(2)
			p.clicks("button|Forward mail")
			p.sees("Mail is managed by IT")
			p.answer.HumanInput = "Mail has to be forwarded by IT."
		},
	},
	{
		name: "paused", gaps: true, what: "What did we decide on the budget on 6 November?",
		details: asks("https://notes.example/archive", "Read the minutes", "decision"),
		act: func(p *worker) {
			p.controls("pause")
			p.visits("https://notes.example/")
			p.enters("#text", "A private matter")
			p.clicksAndAnswers("a|Archive", true, "")
			p.at("/archive")
			p.controls("resume")
			p.pause()
			p.picks("decision", "#last")
		},
	},
	{
		name: "list-renamed", what: "Rename the list Q3 leads to Q4 leads",
		details: with(asks("https://lists.example/", "Rename the list"), "expected_outcome", "The list is called Q4 leads"),
		act: func(p *worker) {
			p.clicksAndAnswers("button|Rename list", true, "Q4 leads")
			p.sees("Q4 leads")
		},
	},
	{
		name: "draft-lost", what: "Add today's decision to the minutes",
		details: with(asks("https://notes.example/", "Write the decision into the minutes"), "expected_outcome", "The minutes are saved"),
		act: func(p *worker) {
			p.enters("#text", "Budget is moved to January.")
			p.clicksAndAnswers("a|Archive", true, "")
			p.at("/archive")
			p.answer.HumanInput = "There is no button to save. What I wrote is lost."
		},
	},
	{
		name: "training-signup", what: "给李雷报名 11 月 28 日下午的培训",
		details: with(asks("https://baoming.example/", "填写报名表并提交", "报名编号"), "expected_outcome", "报名成功"),
		act: func(p *worker) {
			p.clicks("[name=name]")
			p.composes("李雷", "l", "li", "li l", "li lei")
			p.enters("[name=phone]", "1380013800")
			p.selects("[name=slot]", 2)
			p.clicksAndAnswers("button|提交报名", true, "")
			p.clicks("[name=phone]")
			p.presses("End", 0, "moveToEndOfLine")
			p.types("0")
			p.clicks("button|提交报名")
			p.at("/done")
			p.picks("报名编号", "#no")
		},
	},
	{
		name: "sms-code", what: "在测试环境验证短信验证码流程",
		details: map[string]any{
			"url": "https://app.test.example/", "task_background": "实现双因素认证", "current_progress": "已完成短信验证码发送",
			"blocked_by": "无法测试实际短信发送", "what_human_needs_to_do": "在测试环境验证流程是否正确",
			"data_to_extract": []string{"验证码有效期"}, "expected_outcome": "验证成功",
		},
		act: func(p *worker) {
			p.enters("#phone", "13900001111")
			p.clicks("#send")
			p.clicks("a|短信模拟器")
			p.look(1)
			p.sees("收到的短信")
			p.picks("验证码有效期", "#valid")
			p.shows(0)
			p.enters("[name=otp]", "604118")
			p.clicks("button|验证")
			p.at("/ok")
		},
	},
	{
		name: "webhook-key", what: "Put the new API key into the webhook settings",
		details: with(asks("https://webhooks.example/", "Enter the address and the key, save", "last_test"), "expected_outcome", "Settings saved"),
		act: func(p *worker) {
			p.enters("[name=address]", "https://hooks.acme.example/in")
			p.enters("[name=api_key]", corpusKey)
			p.clicks("button|Save settings")
			p.at("/saved")
			p.picks("last_test", "#test")
		},
	},
	{
		name: "cloud-quota", what: "读取云服务器配额和到期时间",
		details: asks("https://cloud.example/", "打开云控制台，读取配额、已用和到期时间", "配额", "已用", "到期时间"),
		act: func(p *worker) {
			p.picks("配额", "#quota")
			p.picks("已用", "#used")
			p.clicks("a|续费管理")
			p.at("/renew")
			p.picks("到期时间", "#until")
		},
	},
	{
		name: "captcha-wrong", what: "后台现在有多少用户？",
		details: with(asks("https://admin.example.com/login", "登录并打开用户管理", "用户总数"), "requires_human", "需要验证码"),
		act: func(p *worker) {
			signsInToAdmin(p, "7K04")
			p.at("?error=captcha")
			signsInToAdmin(p, "7KQ4")
			p.at("/dashboard")
			p.clicks("a|用户管理")
			p.at("/users")
			p.picks("用户总数", "#total")
		},
	},
	{
		name: "access-review", what: "Count administrators and unused accounts",
		details: asks("https://audit.example/", "Read both numbers", "administrators", "unused_accounts"),
		act: func(p *worker) {
			p.clicks("a|Administrators")
			p.at("/admins")
			p.picks("administrators", "#n")
			p.clicks("a|Unused accounts")
			p.sees("Maintenance until 18:00")
			p.leaves()
			p.records(p.t, "https://audit.example/")
			p.clicks("a|Unused accounts")
			p.sees("Unused for 90 days")
			p.picks("unused_accounts", "#n")
		},
	},
	{
		name: "wrong-menu", what: "How many lines do we have at the telco?",
		details: asks("https://telco.example/", "Look it up in the business portal", "lines"),
		act: func(p *worker) {
			p.clicks("a|Billing")
			p.at("/billing")
			p.goes(-1)
			p.sees("prices change")
			p.notes("From 1 December prices change, says the start page")
			p.clicks("a|Contracts")
			p.at("/contracts")
			p.picks("lines", "#lines")
		},
	},
	{
		name: "asked-which", what: "Read the balance",
		details: asks("https://treasury.example/", "Read the balance of the account", "balance"),
		act: func(p *worker) {
			p.says("There are two accounts, EUR and USD. Which one?")
			p.hears("USD, please")
			p.picks("balance", "#usd")
		},
	},
	{
		name: "download-breaks", what: "Download the backup of 20 November",
		details: with(asks("https://backups.example/", "Download the backup"), "expected_outcome", "backup-2026-11-20.tar is downloaded"),
		act: func(p *worker) {
			p.clicks("a|Backup of 20 November")
			eventually(p.t, "the download to break off", func() bool {
				return slices.ContainsFunc(p.s.actions(p.rec.ID), func(a human.Action) bool { return a.Type == human.Download })
			})
			p.clicks("a|Mirror")
			p.downloaded("backup-2026-11-20.tar", "all of it")
		},
	},
	{
		name: "job-reloaded", what: "Wait until the import has finished and read how many rows came",
		details: with(asks("https://jobs.example/", "Reload until it has finished", "state", "rows"), "expected_outcome", "State is finished"),
		act: func(p *worker) {
			p.sees("running")
			p.reloads()
			p.sees("running")
			p.reloads()
			p.sees("finished")
			p.picks("state", "#state")
			p.picks("rows", "#rows")
		},
	},
	{
		name: "salary-denied", what: "读取 10 月的薪资总额",
		details: asks("https://oa.example/", "打开薪资报表，读取 10 月总额", "薪资总额"),
		act: func(p *worker) {
			p.clicks("a|薪资报表")
			p.sees("无权访问")
			p.answer.HumanInput = "没有查看薪资报表的权限，需要人事部开通。"
		},
	},
	{
		name: "seal-request", what: "提交合同用印申请",
		details: with(asks("https://oa.example/seal", "填写用途和份数并提交", "流程编号"), "expected_outcome", "申请已提交"),
		act: func(p *worker) {
			p.clicks("[name=use]")
			p.composes("合同盖章", "h", "he", "he t", "he tong")
			p.enters("[name=n]", "2")
			p.clicks("button|提交申请")
			p.sees("系统繁忙")
			p.goes(-1)
			p.sees("用印申请")
			p.clicks("button|提交申请")
			p.at("/ok")
			p.picks("流程编号", "#no")
		},
	},
	{
		name: "part-gone", agent: "price-scout", what: "How many seal kits 88 are in stock?",
		details: asks("https://parts.example/", "Open the seal kit 88 and read the stock", "in_stock"),
		act: func(p *worker) {
			p.clicks("a|Seal kit 88")
			p.sees("we cannot find that page")
			p.goes(-1)
			p.clicks("a|Seal kit 88 (new number)")
			p.at("/p/88-2")
			p.picks("in_stock", "#stock")
		},
	},
	{
		name: "month-end", agent: "price-scout", what: "Month end: plan and renewal date at the vendor, the price of toner, the claim for Lyon, a ticket for the badge reader",
		details: map[string]any{
			"url": "https://console.vendor.example/", "data_to_extract": []string{"plan_name", "renewal_date", "toner_price", "claim_number", "ticket_number"},
			"action_sequence": []string{"Read plan and renewal date", "Read the price of toner 410X", "Submit the claim for Lyon", "Report the badge reader", "Send the summary to finance"},
		},
		act: func(p *worker) {
			p.enters("[name=email]", "mei@acme.example")
			p.enters("[name=password]", "winter-2025")
			p.clicks("button|Sign in")
			p.sees("Wrong e-mail or password")
			signsInToConsole(p)
			p.clicks("a|Plan")
			p.at("/plan")
			p.picks("plan_name", "#plan")
			p.clicks("a|Renewal")
			p.sees("needs the role Owner")
			p.ticks(0)
			p.visits("https://supplier.example/")
			p.clicks("button|Add to cart")
			p.sees("Prices in the cart")
			p.picks("toner_price", "#price")
			p.ticks(1)
			p.visits("https://expenses.example/claims/new")
			claimsTrain(p)
			p.at("/expired")
			p.enters("[name=user]", "mei")
			p.enters("[name=password]", corpusPassword)
			p.clicks("button|Sign in")
			p.at("/claims/new")
			claimsTrain(p)
			p.at("/claims/C-4711")
			p.picks("claim_number", "#number")
			p.ticks(2)
			p.visits("https://tickets.example/")
			p.enters("[name=subject]", "Badge reader at gate 3 is dark")
			p.clicks("button|Send ticket")
			p.sees("500 Internal server error")
			p.goes(-1)
			p.sees("New ticket")
			p.clicks("button|Send ticket")
			p.at("/tickets/T-2093")
			p.picks("ticket_number", "#number")
			p.ticks(3)
			p.answer.HumanInput = "Finance has no mailbox for this yet, so nothing went to them."
		},
	},
	{
		name: "account-locked", what: "读取仓库 3 号库的库存",
		details: asks("https://erp.example/", "登录进销存系统，读取 3 号库库存", "库存数量"),
		act: func(p *worker) {
			p.enters("[name=user]", "mei")
			p.enters("[name=password]", "winter-2025")
			p.clicks("button|登录")
			p.sees("账号已锁定")
			p.answer.ExecutionResult = "账号被锁定，没有进入系统"
		},
	},
	{
		name: "too-many-requests", agent: "price-scout", what: "In which district is Am Wall 12?",
		details: asks("https://geo.example/", "Check the address", "district"),
		act: func(p *worker) {
			p.enters("[name=a]", "Am Wall 12, Bremen")
			p.clicks("button|Check")
			p.sees("Too many requests")
			p.clicks("a|Try now")
			p.sees("Address found")
			p.picks("district", "#district")
		},
	},
	{
		name: "sessions-ended", what: "End all sessions of svc-backup",
		details: with(asks("https://security.example/", "End all sessions"), "expected_outcome", "No open sessions"),
		act: func(p *worker) {
			p.clicksAndAnswers("button|End all sessions", true, "")
			p.at("/ended")
		},
	},
	{
		name: "import-partly", what: "导入客户名单",
		details: with(asks("https://import.example/", "上传 customers.csv 并导入", "导入结果", "失败明细"), "expected_outcome", "120 条全部导入成功"),
		act: func(p *worker) {
			p.uploads("#f", p.file("customers.csv", "a,b"))
			p.clicks("button|开始导入")
			p.at("/result")
			p.picks("导入结果", "#result")
			p.takes(human.TakeTable, "失败明细", "td|17")
		},
	},
	{
		name: "wrong-customer", what: "At which dock does Larsen Marine Supply load?",
		details: asks("https://shipping.example/", "Open the customer and read the dock", "dock"),
		act: func(p *worker) {
			p.clicks("a|Larsen Marine AS")
			p.at("/c/1")
			p.picks("dock", "#dock")
			p.clicks("a|Customers")
			p.sees("Larsen Marine Supply AS")
			p.clicks("a|Larsen Marine Supply AS")
			p.at("/c/2")
			p.picks("dock", "#dock")
			p.answer.HumanInput = "I had the wrong Larsen first; dock 11 is right."
		},
	},
	{
		name: "out-of-stock", what: "把 5 包 A4 打印纸加入购物车",
		details: with(asks("https://mall.example/", "选择规格并加入购物车，不要下单", "单价"), "context_note", "优先 70 克"),
		act: func(p *worker) {
			p.clicksAndAnswers("#buy", true, "")
			p.selects("#s", 1)
			p.picks("单价", "#price")
			p.clicks("#buy")
			p.sees("已加入购物车")
			p.answer.HumanInput = "70 克没有货，改成了 80 克。"
		},
	},
	{
		name: "gateway-timeout", what: "Read the closing balance of October",
		details: asks("https://ledger.example/", "Open October", "closing_balance"),
		act: func(p *worker) {
			p.clicks("a|October")
			p.sees("504 Gateway Time-out")
			p.reloads()
			p.sees("Closing balance")
			p.picks("closing_balance", "#closing")
		},
	},
	{
		name: "registered-already", what: "Register the trip to Porto on 3 December",
		details: with(asks("https://travel.example/", "Fill in and register", "trip_number"), "expected_outcome", "Trip registered"),
		act: func(p *worker) {
			p.enters("[name=to]", "Porto")
			p.focuses("[name=day]")
			p.types("12032026")
			p.clicks("button|Register trip")
			p.sees("registered already")
			p.picks("trip_number", "#trip")
			p.answer.HumanInput = "Somebody registered it before me."
		},
	},
	{
		name: "told-by-phone", what: "Why does line 3 stand still?",
		details: map[string]any{
			"url": "https://plant.example/", "required_action": "Look at line 3 and ask the shift leader",
			"data_to_extract": []map[string]any{{"name": "state", "description": "as the page says"}, {"name": "last_part"}, {"name": "reason", "description": "from the shift leader"}},
		},
		act: func(p *worker) {
			p.picks("state", "#state")
			p.picks("last_part", "#part")
			p.fills("reason", "Waiting for a bearing until Monday")
		},
	},
	{
		name: "notes-missing", what: "Check the release page of 7.2",
		details: with(asks("https://release.example/", "Read status and release notes", "status", "release_notes"), "expected_outcome", []string{"Status is Published", "Release notes are there"}),
		act: func(p *worker) {
			p.picks("status", "#status")
			p.picks("release_notes", "#notes")
		},
	},
	{
		name: "no-account", what: "Read canteen menu and opening time",
		details: asks("https://intra.example/", "Sign in and read both", "menu", "opening_time"),
		act: func(p *worker) {
			p.enters("[name=email]", "mei@acme.example")
			p.clicks("button|Next")
			p.sees("not in this directory")
			p.clicks("a|Use another account")
			p.sees("Sign in with your company account")
			p.enters("[name=email]", "office@acme.example")
			p.clicks("button|Next")
			p.sees("not in this directory")
		},
	},
	{
		name: "visa-steps", what: "Hand in the business visa application of Lena Falk",
		details: with(asks("https://visa.example/", "Fill in all three steps", "fee", "application_number"), "expected_outcome", "Application handed in"),
		act: func(p *worker) {
			p.enters("[name=name]", "Lena Flak")
			p.clicks("button|Next")
			p.sees("Step 2 of 3")
			p.clicks("a|Back")
			p.sees("Step 1 of 3")
			p.clicks("[name=name]")
			p.presses("a", ctrl, "selectAll")
			p.types("Lena Falk")
			p.clicks("button|Next")
			p.sees("Step 2 of 3")
			p.selects("[name=purpose]", 1)
			p.clicks("button|Next")
			p.sees("Step 3 of 3")
			p.picks("fee", "#fee")
			p.clicks("button|Hand in application")
			p.at("/ok")
			p.picks("application_number", "#number")
		},
	},
	{
		name: "approval", what: "审批报销单 BX-552",
		details: with(asks("https://shenpi.example/", "核对金额后同意", "金额"), "expected_outcome", "报销单已通过"),
		act: func(p *worker) {
			p.picks("金额", "#amount")
			p.clicksAndAnswers("#no", false, "")
			p.clicksAndAnswers("#ok", true, "")
			p.at("/passed")
		},
	},
	{
		name: "sign-in-window", what: "How many days of leave do we have?",
		details: asks("https://wiki2.example/", "Sign in and read the leave rules", "days_of_leave"),
		act: func(p *worker) {
			p.clicks("#sso")
			p.look(1)
			p.sees("Acme ID")
			p.enters("[name=user]", "mei")
			p.enters("[name=password]", corpusPassword)
			p.clicks("button|Sign in")
			p.look(0)
			p.at("/leave")
			p.clicks("h1")
		},
	},
	{
		name: "subscription-cancelled", what: "Cancel our subscription of Daily Trade",
		details: with(asks("https://news.example/", "Cancel it and read until when we can use it", "readable_until"), "expected_outcome", "Subscription cancelled"),
		act: func(p *worker) {
			p.clicksAndAnswers("#c", true, "Too few readers")
			p.at("/cancelled")
			p.picks("readable_until", "#until")
		},
	},
	{
		name: "speakers", what: "List who speaks at the forum",
		details: asks("https://events.example/", "Take the list, without those who cancelled", "speakers"),
		act: func(p *worker) {
			p.takes(human.TakeList, "speakers", "#s li")
			p.fills("speakers", `[["Ines Duarte"],["Yuki Mori"]]`)
		},
	},
	{
		name: "waybill", what: "查一下运单到哪里了",
		details: asks("https://wuliu.example/", "查询运单 SF1088234", "当前状态"),
		act: func(p *worker) {
			p.enters("#n", "SF108823")
			p.clicksAndAnswers("#q", true, "")
			p.clicks("#n")
			p.presses("End", 0, "moveToEndOfLine")
			p.types("4")
			p.clicks("#q")
			p.picks("当前状态", "#state")
		},
	},
	{
		name: "meter-unreachable", agent: "price-scout", what: "Read meter 7",
		details: asks("https://meter.example/", "Open meter 7 and read it", "reading_kwh"),
		act: func(p *worker) {
			p.clicks("a|Meter 7")
			p.sees("502 Bad gateway")
			p.reloads()
			p.sees("502 Bad gateway")
			p.reloads()
			p.sees("502 Bad gateway")
		},
	},
	{
		name: "alerts-by-mail", what: "Switch the alerts to mail only",
		details: with(asks("https://alerts.example/", "Mail on, SMS off"), "expected_outcome", "Only mail is on"),
		act: func(p *worker) {
			p.clicks("#sms")
			p.clicks("#mail")
			p.clicks("#sms")
			p.clicks("button|Save")
		},
	},
	{
		name: "stock-count", what: "把盘点单 PD-31 的实盘数量改成 405",
		details: with(asks("https://pandian.example/", "修改实盘数量并保存", "差异"), "expected_outcome", "盘点单已保存"),
		act: func(p *worker) {
			counts := func() {
				p.clicks("#n")
				p.presses("a", ctrl, "selectAll")
				p.types("405")
				p.clicks("button|保存")
			}
			counts()
			p.sees("数据已被他人修改")
			p.clicks("a|重新打开")
			p.sees("盘点单 PD-31")
			counts()
			p.at("/saved")
			p.picks("差异", "#diff")
		},
	},
	{
		name: "invoice-overdue", agent: "price-scout", what: "Has invoice 88 been paid?",
		details: with(asks("https://billing.example/", "Read amount and status", "amount", "status"), "expected_outcome", "Status is Paid"),
		act: func(p *worker) {
			p.picks("amount", "#amount")
			p.picks("status", "#status")
		},
	},
	{
		name: "room-booked", what: "预订下午的听涛厅",
		details: with(asks("https://huiyi.example/", "优先 14:00", "预订号"), "expected_outcome", "预订成功"),
		act: func(p *worker) {
			p.clicksAndAnswers("button|预订", true, "")
			p.selects("[name=t]", 1)
			p.clicks("button|预订")
			p.sees("预订成功")
			p.picks("预订号", "#no")
			p.answer.HumanInput = "14:00 被占用，改订了 15:00。"
		},
	},
	{
		name: "newsletter", what: "When is the trade fair?",
		details: asks("https://fair.example/", "Read the dates", "dates"),
		act: func(p *worker) {
			p.clicks("button|No, thank you")
			p.picks("dates", "#dates")
		},
	},
	{
		name: "manual", what: "Download the manual of press 40",
		details: with(asks("https://manuals.example/", "Download the PDF"), "expected_outcome", "press-40.pdf is downloaded"),
		act: func(p *worker) {
			p.clicks("a|Manual of press 40")
			p.at("/login")
			p.enters("[name=user]", "mei")
			p.enters("[name=password]", corpusPassword)
			p.clicks("button|Sign in")
			p.sees("Manual of press 40")
			p.clicks("a|Manual of press 40")
			p.downloaded("press-40.pdf", "%PDF-1.4 press")
		},
	},
	{
		name: "survey-cleared", what: "Fill in the supplier survey",
		details: with(asks("https://survey.example/", "Fill in and send"), "expected_outcome", "Survey sent"),
		act: func(p *worker) {
			p.enters("[name=company]", "Acme")
			p.enters("[name=n]", "85")
			p.clicks("[name=iso]")
			p.clicks("button|Clear")
			p.clicks("a|Help")
			p.at("/help")
			p.answer.HumanInput = "I do not know the number of employees at the end of last year. Please find out first."
		},
	},
}
