package procedure_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// taughtWork are the procedures of the cases: name, title, description, first address, what it does, parameters and outputs.
func taughtWork(t *testing.T) map[string]human.Procedure {
	t.Helper()
	all := map[string]human.Procedure{}
	for _, file := range []string{`
name: export_invoice
title: Export an invoice from the billing portal
description: Gives the PDF, the number and the total of a customer's invoice of a month.
does: [reads]
parameters: [{name: customer, type: text, examples: [Nordwind, Halde & Co]}, {name: month, type: month, examples: ["2026-09", "2026-10"]}]
outputs: [{name: invoice_no, type: text}, {name: total, type: text}, {name: file, type: file}]
steps: [{id: s1, do: navigate, title: Open, url: "https://billing.portal.example/invoices?month={month}"}]`, `
name: book_room
title: Book a meeting room
does: [sends]
parameters: [{name: room, type: choice, choices: [Oak, Birch, Maple]}, {name: day, type: date, examples: ["2026-11-03"]}]
outputs: [{name: confirmation, type: text}]
steps: [{id: s1, do: navigate, title: Open, url: "https://rooms.office.example/calendar"}, {id: s2, do: click, title: Book, writes: true}]`, `
name: parcel_status
title: Look up the delivery status of a parcel
does: [reads]
parameters: [{name: parcel_number, type: text, examples: [PX-20881, PX-21402]}]
outputs: [{name: status, type: text}, {name: eta, type: text, description: expected day of delivery}]
steps: [{id: s1, do: navigate, title: Open, url: "https://track.parcel.example/search"}]`, `
name: update_stock
title: Update the stock of an article
does: [sends]
parameters: [{name: article, type: text, examples: [A-100]}, {name: quantity, type: integer, examples: ["5"]}]
steps: [{id: s1, do: navigate, title: Open, url: "https://shop.example/admin/stock"}, {id: s2, do: click, title: Save, writes: true}]`, `
name: export_fapiao
title: 导出客户发票
description: 返回发票号码和总额。
does: [reads]
parameters: [{name: customer, type: text, description: 客户, examples: [北风公司, 黑石贸易]}, {name: month, type: month, description: 月份, examples: ["2026-09"]}]
outputs: [{name: number, type: text, description: 发票号码}, {name: total, type: text, description: 总额}]
steps: [{id: s1, do: navigate, title: 打开, url: "https://fapiao.example.cn/invoices"}]`, `
name: register_guest
title: 登记访客
does: [sends]
parameters: [{name: guest, type: text, description: 访客姓名, examples: [王芳]}, {name: day, type: date, description: 日期, examples: ["2026-11-03"]}]
outputs: [{name: code, type: text, description: 访客码}]
steps: [{id: s1, do: navigate, title: 打开, url: "https://visit.example.cn/new"}, {id: s2, do: click, title: 提交, writes: true}]`} {
		p, err := procedure.Read("deskbell_procedure: 1\nwhere: browser" + file + "\n")
		must(t, err)
		all[p.Name] = p
	}
	return all
}

// An offerCase is a request and the procedure that covers it; "" for none.
type offerCase struct {
	want, kind, description, details string
}

const (
	portal = `"url":"https://billing.portal.example/invoices"`
	rooms  = `"url":"https://rooms.office.example/calendar"`
	track  = `"url":"https://track.parcel.example/search"`
	shop   = `"url":"https://shop.example/admin/stock"`
	fapiao = `"url":"https://fapiao.example.cn/invoices"`
	visit  = `"url":"https://visit.example.cn/new"`
)

// offerCases were written before the matcher.
var offerCases = []offerCase{
	// The same work, in other words.
	{"export_invoice", "browser", "Download the October invoice of Halde & Co", portal},
	{"export_invoice", "browser", "Get the invoice of Nordwind for 2026-09 from billing.portal.example", ``},
	{"export_invoice", "browser", "Please fetch Kestrel's latest invoice as a PDF", portal + `,"data_to_extract":["invoice number","total"]`},
	{"export_invoice", "browser", "I need an invoice", portal + `,"required_action":"Export the invoice of Nordwind for October 2026 and tell me its total"`},
	{"export_invoice", "browser", "Export invoices from the billing portal", `"data_to_extract":["total"]`},
	{"export_invoice", "browser", "Save invoice PDF", portal + `,"data_to_extract":{"invoice_no":"top right","total":"with VAT"}`},
	{"export_invoice", "desktop", "Download the invoice of Halde & Co for September from the billing portal", ``},
	{"export_invoice", "browser", "Retrieve September's invoice for Nordwind", `"url":"https://billing.portal.example/"`},
	{"book_room", "browser", "Book a meeting room for Thursday", rooms},
	{"book_room", "browser", "Reserve meeting room Oak on 2026-12-04", rooms},
	{"book_room", "browser", "We need a room", rooms + `,"required_action":"Book the room Birch for 4 December 2026"`},
	{"book_room", "browser", "Please book a meeting room at rooms.office.example", ``},
	{"book_room", "desktop", "Book meeting room Maple for 2026-12-01", ``},
	{"parcel_status", "browser", "Check where parcel PX-30001 is", track + `,"data_to_extract":["status"]`},
	{"parcel_status", "browser", "Look up the delivery status of parcel PX-30002", ``},
	{"parcel_status", "browser", "Find out the status of my parcel PX-30003", track},
	{"parcel_status", "browser", "What is the parcel's delivery status?", track + `,"data_to_extract":["status","eta"]`},
	{"update_stock", "browser", "Set the stock of article A-200 to 12", shop},
	{"update_stock", "browser", "Update stock for article A-300: quantity 7", shop},
	{"update_stock", "browser", "Change the article stock", shop + `,"required_action":"Change the stock of article A-100, quantity 40"`},
	{"export_fapiao", "browser", "请下载北风公司2026年10月的发票", fapiao},
	{"export_fapiao", "browser", "导出黑石贸易的客户发票", ``},
	{"export_fapiao", "browser", "获取客户发票", fapiao + `,"data_to_extract":["发票号码","总额"]`},
	{"export_fapiao", "browser", "帮我把北风公司十月的发票导出来", fapiao},
	{"export_fapiao", "browser", "下载发票，告诉我总额", fapiao},
	{"register_guest", "browser", "请登记访客李雷，日期2026-12-04", visit},
	{"register_guest", "browser", "新增访客“韩梅”", visit},
	{"register_guest", "browser", "登记一位访客：张伟", visit + `,"data_to_extract":["访客码"]`},
	// The same site, other work.
	{"", "browser", "Delete the invoice of Nordwind", portal},
	{"", "browser", "Pay the October invoice of Halde & Co", portal},
	{"", "browser", "Download the invoice of Nordwind and pay it", portal},
	{"", "browser", "Change the billing address of Nordwind", `"url":"https://billing.portal.example/customers"`},
	{"", "browser", "Export the customer list", portal},
	{"", "browser", "Export the invoice templates", portal},
	{"", "browser", "Download the contract of Halde & Co", portal},
	{"", "browser", "Send Halde & Co a reminder for the October invoice", portal},
	{"", "browser", "Add a new user to the billing portal", `"url":"https://billing.portal.example/users"`},
	{"", "browser", "Export an invoice", portal + `,"data_to_extract":["tax id","bank account"]`},
	{"", "browser", "Cancel the meeting room Oak on Thursday", rooms},
	{"", "browser", "Check which meeting rooms are free on Friday", rooms},
	{"", "browser", "Book a parking space for Thursday", rooms},
	{"", "browser", "Book catering for the meeting", rooms},
	{"", "browser", "Change the delivery address of parcel PX-30001", track},
	{"", "browser", "Report parcel PX-30001 as lost", track},
	{"", "browser", "Find the opening hours of the nearest shop", track},
	{"", "browser", "Delete article A-100", shop},
	{"", "browser", "Set the price of article A-100 to 12", shop},
	{"", "browser", "Export the stock of all articles", shop},
	{"", "browser", "删除北风公司的发票", fapiao},
	{"", "browser", "下载发票模板", fapiao},
	{"", "browser", "修改客户地址", fapiao},
	{"", "browser", "导出客户名单", fapiao},
	{"", "browser", "支付北风公司的发票", fapiao},
	{"", "browser", "取消访客李雷的登记", visit},
	{"", "browser", "导出访客记录", visit},
	{"", "browser", "登记车辆", visit},
	// The same words, another site.
	{"", "browser", "Download the October invoice of Halde & Co", `"url":"https://invoices.other.example/"`},
	{"", "browser", "Export an invoice from the billing portal", `"url":"https://billing.rival.example/invoices"`},
	{"", "browser", "Get the invoice of Nordwind from cloud.host.example", ``},
	{"", "browser", "Book a meeting room", `"url":"https://hotel.example/rooms"`},
	{"", "browser", "Look up the delivery status of parcel PX-30002", `"url":"https://mail.rival.example/"`},
	{"", "browser", "Update the stock of an article", `"url":"https://warehouse.example/"`},
	{"", "browser", "导出客户发票", `"url":"https://shui.example.cn/"`},
	{"", "browser", "登记访客", `"url":"https://hotel.example.cn/"`},
	// Little to go by.
	{"", "browser", "Export it", ``},
	{"", "browser", "Open the page and tell me what you see", portal},
	{"", "browser", "Get an invoice", ``},
	{"", "browser", "Sign in", portal},
	{"", "browser", "Book a room", ``},
	{"", "browser", "下载文件", ``},
	{"", "browser", "请登录", fapiao},
	{"", "desktop", "Write an invoice in the spreadsheet", ``},
	{"", "desktop", "Update the drivers", ``},
	{"", "feedback", "Export an invoice from the billing portal", ``},
	{"", "bash", "Export an invoice from the billing portal", ``},
}

// laterCases were written once the matcher read all of the others, and before it was run on them.
var laterCases = []offerCase{
	{"export_invoice", "browser", "Could you grab the invoice for Halde & Co, month of October?", portal},
	{"export_invoice", "browser", "Log in and download last month's invoice of Nordwind", portal},
	{"export_invoice", "browser", "Invoice download for Nordwind, October", portal + `,"data_to_extract":["total"]`},
	{"export_invoice", "browser", "We are missing the October invoice of Halde & Co.", portal + `,"required_action":"Open the billing portal, find the invoice and download it","data_to_extract":[{"name":"invoice no"},{"name":"total amount"}]`},
	{"export_invoice", "browser", "Download invoice R-20881 of Nordwind", portal},
	{"book_room", "browser", "Please make a reservation: meeting room Birch, 2026-12-09", rooms},
	{"book_room", "browser", "I would like to book a room for a meeting on 9 December 2026", rooms},
	{"parcel_status", "browser", "Track parcel PX-30004 and tell me its status", track},
	{"parcel_status", "browser", "Status of parcel PX-30005?", track + `,"data_to_extract":["status"]`},
	{"update_stock", "browser", "Adjust the stock of A-500 to 3 pieces", shop},
	{"update_stock", "browser", "Please correct stock: article A-7 has 19", shop},
	{"export_fapiao", "browser", "麻烦下载一下黑石贸易9月的发票", fapiao},
	{"export_fapiao", "browser", "需要北风公司2026年9月发票的总额", fapiao + `,"data_to_extract":["总额"]`},
	{"register_guest", "browser", "明天有访客“刘洋”，请帮忙登记", visit},
	{"register_guest", "browser", "录入访客信息：陈静", visit},
	{"", "browser", "Upload the October invoice of Halde & Co", portal},
	{"", "browser", "Download the invoice settings", portal},
	{"", "browser", "Read the terms of the billing portal", portal},
	{"", "browser", "Mark the invoice of Nordwind as paid", portal},
	{"", "browser", "Dispute the October invoice", portal},
	{"", "browser", "Get the total revenue of October", portal},
	{"", "browser", "Rename meeting room Oak to Elm", rooms},
	{"", "browser", "Invite Mei to the meeting in room Oak", rooms},
	{"", "browser", "Print the label of parcel PX-30001", track},
	{"", "browser", "Redirect parcel PX-30001 and check its status", track},
	{"", "browser", "Move the stock of article A-100 to warehouse 2", shop},
	{"", "browser", "Update the stock alert of article A-100", shop},
	{"", "browser", "作废北风公司的发票", fapiao},
	{"", "browser", "给北风公司开一张发票", fapiao},
	{"", "browser", "上传发票附件", fapiao},
	{"", "browser", "通知访客李雷改期", visit},
	{"", "browser", "Export the stock list", `"url":"https://billing.portal.example/"`},
	{"", "desktop", "Download the invoice of Nordwind from my mail", ``},
	{"", "browser", "Compare the invoice of Nordwind with its contract", portal},
}

func (c offerCase) operation() human.Operation {
	var op human.Operation
	op.Kind, op.Description = human.Kind(c.kind), c.description
	op.Details = json.RawMessage("{" + c.details + "}")
	op.CreatedAt = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	return op
}

// reading says what is found of cases: right ones, wrong ones, and those that are not offered though they are covered.
func reading(t *testing.T, cases []offerCase) (right, wrong, missed int) {
	t.Helper()
	all := taughtWork(t)
	for _, c := range cases {
		found := ""
		for name, p := range all {
			if _, covers := procedure.Covers(p, c.operation()); !covers {
				continue
			}
			found = strings.TrimSpace(found + " " + name)
		}
		switch {
		case found == c.want && found != "":
			right++
		case found != "":
			wrong++
			t.Logf("offers %s, not %q: %s {%s}", found, c.want, c.description, c.details)
		case c.want != "":
			missed++
			t.Logf("does not offer %s: %s {%s}", c.want, c.description, c.details)
		}
	}
	return
}
