package fresh

import (
	"fmt"
	"strconv"
	"strings"
)

type goal struct {
	name string
	make func(*gen)
}

var goals = []goal{
	{"order", order}, {"signin", signIn}, {"delete", deleteRow}, {"move", moveCard}, {"upload", uploadFile}, {"settings", settings},
	{"post", post}, {"read", read}, {"unsent", unsent}, {"profile", profile}, {"approve", approve}, {"pay", pay}, {"menu", menu}, {"wander", backAndForth},
	{"canceled", canceled}, {"message", message}, {"keep", keep}, {"tabs", tabs},
}

// fields draws some fields of an order, and has the person fill them in when fill is called.
func (g *gen) fields() (fields []Block, fill func()) {
	var fills []func()
	add := func(f Block, does func()) { fields, fills = append(fields, f), append(fills, does) }
	text := func(key, value string) {
		name := g.w(key)
		add(Block{"key": key, "label": name}, func() { g.enters(key, name, value, false) })
	}
	text("customer", pick(g, g.t.people...))
	all := []func(){
		func() {
			n := strconv.Itoa(2 + g.IntN(300))
			add(Block{"key": "quantity", "label": g.w("quantity"), "type": "number"}, func() { g.Truth.Numbers = append(g.Truth.Numbers, n); g.enters("quantity", g.w("quantity"), n, false) })
		},
		func() {
			n := fmt.Sprintf("%d.%02d", 10+g.IntN(4000), g.IntN(100))
			add(Block{"key": "amount", "label": g.w("amount")}, func() { g.Truth.Numbers = append(g.Truth.Numbers, n); g.enters("amount", g.w("amount"), n, false) })
		},
		func() {
			n := fmt.Sprintf("0%d %07d", 20+g.IntN(70), 1000000+g.IntN(8999999))
			add(Block{"key": "phone", "label": g.w("phone"), "type": "tel"}, func() { g.Truth.Numbers = append(g.Truth.Numbers, n); g.enters("phone", g.w("phone"), n, false) })
		},
		func() {
			o := pick(g, g.t.cities...)
			add(Block{"key": "city", "label": g.w("city"), "as": "select", "options": g.t.cities}, func() {
				if g.IntN(4) == 0 { // first another one
					other := pick(g, g.t.cities...)
					if other != o {
						g.chooses("city", g.w("city"), other)
					}
				}
				g.chooses("city", g.w("city"), o)
			})
		},
		func() {
			add(Block{"key": "urgent", "label": g.w("urgent"), "as": "check"}, func() {
				g.Truth.Touched = true
				g.click("field:urgent", g.w("urgent"))
			})
		},
		func() {
			o := []string{g.w("low"), g.w("normal"), g.w("high")}
			p := pick(g, o...)
			add(Block{"key": "priority", "label": g.w("priority"), "as": "radio", "options": o}, func() {
				g.Truth.Touched = true
				g.click("option:priority:"+p, p)
			})
		},
		func() {
			n := pick(g, g.t.notes...)
			add(Block{"key": "note", "label": g.w("note"), "type": "area"}, func() { g.enters("note", g.w("note"), n, false) })
		},
		func() {
			day := strconv.Itoa(10 + g.IntN(15))
			add(Block{"key": "date", "label": g.w("date"), "as": "date", "start": "2026-03-01"}, func() {
				g.Truth.Touched = true
				g.do(Step{Do: "date", On: "field:date", To: "option:date:" + day, Text: "2026-03-" + day, Name: g.w("date"), Types: []string{"choose", "click", "type"}})
			})
			fields[len(fields)-1]["options"] = []string{day}
		},
		func() {
			v := fmt.Sprintf("%s%d@mail.example", string(rune('a'+g.IntN(26))), g.IntN(900))
			add(Block{"key": "email", "label": g.w("email"), "type": "email"}, func() { g.enters("email", g.w("email"), v, false) })
		},
		func() {
			k := secretKey(g)
			add(Block{"key": "key", "label": g.w("key")}, func() { g.enters("key", g.w("key"), k, true) })
		},
	}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, f := range all[:2+g.IntN(3)] {
		f()
	}
	return fields, func() {
		for _, f := range fills {
			f()
		}
	}
}

func secretKey(g *gen) string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789"
	var b strings.Builder
	b.WriteString(pick(g, "sk_live_", "ghp_", "sk-proj-"))
	for range 36 {
		b.WriteByte(letters[g.IntN(len(letters))])
	}
	return b.String()
}

func password(g *gen) string {
	return pick(g, "Mint", "Cobalt", "Raven", "Thistle") + pick(g, "!", "#", "?") + pick(g, "harbor", "window", "violet") + strconv.Itoa(10+g.IntN(89))
}

// form is a form with its button, by script or the browser's own.
func (g *gen) form(key, verb, object, next string, fields []Block) Block {
	f := Block{"kind": "form", "key": key, "fields": fields, "submit": g.w(verb), "act": Block{"verb": verb, "object": object}, "enter": g.IntN(2) == 0}
	if g.kit == "bootstrap" && g.IntN(2) == 0 && next != "" {
		f["native"] = true
	}
	return f
}

// submits presses the button as often as the server wants it.
func (g *gen) submits(f Block, button, verb, name string) {
	for i, a := range g.Answers[verb] {
		if i > 0 && f["native"] == true {
			g.do(Step{Do: "back", Types: []string{"navigate"}})
		}
		g.click(button, name)
		if f["native"] == true {
			g.do(Step{Do: "loaded"})
		}
		g.settles()
		_ = a
	}
}

func order(g *gen) {
	object := g.thing()
	g.What = pick(g, "Create an order for "+object, "请为"+object+"新建订单")
	fields, fill := g.fields()
	g.fate(Create, object, "/done")
	f := g.form("order", "create", object, "/done", fields)
	if g.IntN(3) == 0 && f["native"] != true {
		f["dialog"], f["open"], f["cancel"] = g.w("title orders"), g.w("new"), g.w("cancel")
	}
	g.page("/done", g.w("title done"), Block{"kind": "text", "text": g.w("said create")})
	delete(g.Pages, "/done") // its text would say what is not so
	g.page("/done", g.w("title done"), Block{"kind": "text", "text": g.w("title history")})
	inFrame := f["native"] != true && g.IntN(6) == 0
	if inFrame {
		g.page("/inner", g.w("title orders"), f)
		g.page(Start, g.w("title home"), Block{"kind": "frame", "src": "/inner", "title": g.w("title orders")})
	} else {
		g.page(Start, g.w("title orders"), f)
	}
	g.wander()
	if f["dialog"] != nil {
		g.click("open:order", g.w("new"))
		g.settles()
	}
	fill()
	g.submits(f, "button:order", Create, g.w("create"))
	if inFrame {
		for i := range g.Truth.Steps {
			g.Truth.Steps[i].Frame = true
		}
	}
	g.expects(g.last(), "")
}

func signIn(g *gen) {
	user, good := strings.ToLower(pick(g, "mira", "jonas", "petra"))+strconv.Itoa(g.IntN(90)), password(g)
	g.What = pick(g, "Sign in and look at the overview", "请登录并查看概览")
	tries := 1 + g.IntN(2)
	ok := g.IntN(5) > 0
	g.Answers[SignIn] = nil
	for i := range tries {
		a := Answer{Status: 401, Message: g.w("401")}
		if i == tries-1 && ok {
			a = Answer{Status: 200, Message: g.w("said sign_in"), Next: "/home"}
		}
		g.Answers[SignIn] = append(g.Answers[SignIn], a)
	}
	f := g.form("login", "sign_in", "session", "/home", []Block{{"key": "user", "label": g.w("user")}, {"key": "password", "label": g.w("password"), "type": "password"}})
	f["submit"] = g.w("signin")
	if f["native"] != true {
		f["act"].(Block)["next"] = "/home"
	}
	g.page(Start, g.w("title login"), f)
	g.page("/home", g.w("title home"), Block{"kind": "text", "text": pick(g, g.t.notes...)})
	f1 := Fact{Verb: SignIn, Object: "session", Happened: ok, Seen: true, Tries: tries}
	if tries > 1 || !ok {
		f1.Status, g.Truth.Trouble = 401, true
		g.Truth.Errors = append(g.Truth.Errors, 401)
	}
	g.fact(f1)
	for i := range tries {
		if i > 0 && f["native"] == true {
			g.do(Step{Do: "back", Types: []string{"navigate"}})
		}
		if i > 0 {
			g.do(Step{Do: "clear", On: "field:user"})
			g.do(Step{Do: "clear", On: "field:password"})
		}
		g.enters("user", g.w("user"), user, false)
		secret := good
		if i < tries-1 || !ok {
			secret = password(g)
		}
		g.enters("password", g.w("password"), secret, true)
		g.click("button:login", g.w("signin"))
		if f["native"] == true {
			g.do(Step{Do: "loaded"})
		}
		g.settles()
	}
	if ok {
		g.at("/home")
	}
	g.expects(f1, "")
}

// rows are those of a table, and the one that is meant.
func (g *gen) rows() (rows []Block, id, name string) {
	n, which := 3+g.IntN(4), 0
	which = g.IntN(n)
	seen := map[string]bool{}
	for i := range n {
		object := g.thing()
		for seen[object] {
			object = g.thing()
		}
		seen[object] = true
		rows = append(rows, Block{"id": fmt.Sprint("r", i), "name": object, "cells": []string{object, pick(g, g.t.cities...), pick(g, g.t.states...)}})
		if i == which {
			id, name = fmt.Sprint("r", i), object
		}
	}
	return rows, id, name
}

func (g *gen) table(rows []Block, actions ...Block) Block {
	return Block{"kind": "table", "columns": []string{g.w("name"), g.w("city"), g.w("status")}, "rows": rows, "actions": actions}
}

func deleteRow(g *gen) { deletion(g, true) }

// keep asks for a deletion and cancels it.
func keep(g *gen) { deletion(g, false) }

func deletion(g *gen, really bool) {
	rows, id, name := g.rows()
	g.What = pick(g, "Delete "+name, "请删除"+name)
	ask := pick(g, "native", "dialog", "")
	if !really && ask == "" {
		ask = "dialog"
	}
	g.page(Start, g.w("title orders"), g.table(rows, Block{"verb": Delete, "label": g.w("delete"), "icon": "🗑", "ask": ask, "question": g.w("ask"), "yes": g.w("yes"), "no": g.w("no")}))
	tries := 1
	if really {
		tries = len(g.fate(Delete, name, ""))
	} else {
		g.fact(Fact{Verb: Delete, Object: name, Seen: false})
	}
	g.wander()
	if really && ask != "" && g.IntN(3) == 0 {
		tries = -tries // canceled first
	}
	once := func(yes bool) {
		d := Step{Do: "click", On: "delete:" + id, Name: g.w("delete"), Types: clicked}
		if ask == "native" {
			d.Do = map[bool]string{true: "accept", false: "dismiss"}[yes]
			g.do(d)
			g.do(Step{Do: "dialog", Types: []string{"dialog"}})
		} else {
			g.do(d)
			g.settles()
			if ask == "dialog" && yes {
				g.click("yes", g.w("yes"))
			} else if ask == "dialog" {
				g.click("no", g.w("no"))
			}
		}
		g.settles()
	}
	if tries < 0 || !really {
		once(false)
		tries = -tries
	}
	if really {
		for range tries {
			once(true)
		}
	}
	g.expects(g.last(), "")
}

func approve(g *gen) {
	rows, id, name := g.rows()
	g.What = pick(g, "Approve "+name, "请批准"+name)
	g.page(Start, g.w("title requests"), g.table(rows, Block{"verb": Approve, "label": g.w("approve"), "icon": "✓", "becomes": g.w("approved")}))
	for range g.fate(Approve, name, "") {
		g.click("approve:"+id, g.w("approve"))
		g.settles()
	}
	g.expects(g.last(), "")
}

func moveCard(g *gen) {
	var columns []Block
	for _, c := range g.t.columns {
		var cards []Block
		for range 1 + g.IntN(3) {
			cards = append(cards, Block{"name": g.thing()})
		}
		columns = append(columns, Block{"name": c, "cards": cards})
	}
	from := g.IntN(len(columns) - 1)
	to := from + 1 + g.IntN(len(columns)-1-from)
	card := columns[from]["cards"].([]Block)[0]["name"].(string)
	column := g.t.columns[to]
	how := pick(g, "native", "sortable")
	g.What = pick(g, "Move "+card+" to "+column, "请把"+card+"移到"+column)
	g.page(Start, g.w("title board"), Block{"kind": "board", "columns": columns, "how": how})
	g.Answers[Move] = []Answer{{Status: 200, Message: g.w("said move")}}
	f := Fact{Verb: Move, Object: card, To: column, Happened: true, Seen: true, Tries: 1}
	g.fact(f)
	g.Truth.Touched = true
	g.wander()
	g.do(Step{Do: map[string]string{"native": "drop", "sortable": "drag"}[how], On: "card:" + card, To: "column:" + column, Name: card, Types: []string{"drag"}})
	g.settles()
	g.expects(f, "")
}

func uploadFile(g *gen) {
	name := strings.ToLower(pick(g, "contract", "survey", "plan", "receipt")) + fmt.Sprintf("-%d.%s", 100+g.IntN(900), pick(g, "pdf", "csv", "txt"))
	g.What = pick(g, "Upload "+name, "请上传"+name)
	tries := g.fate(Upload, name, "")
	g.page(Start, g.w("title files"), Block{"kind": "form", "key": "file", "file": Block{"key": "file", "label": g.w("file")}, "submit": g.w("upload"), "act": Block{"verb": Upload, "object": name}})
	g.Truth.Touched = true
	g.do(Step{Do: "upload", On: "field:file", Text: name, Name: g.w("file"), Types: []string{"upload"}})
	for range tries {
		g.click("button:file", g.w("upload"))
		g.settles()
	}
	g.expects(g.last(), "")
}

func settings(g *gen) {
	var fields []Block
	for i := 1; i <= 4; i++ {
		fields = append(fields, Block{"key": fmt.Sprint("set", i), "label": g.w(fmt.Sprint("set", i)), "value": false})
	}
	n := 1 + g.IntN(4)
	key := fmt.Sprint("set", n)
	name := g.w(key)
	g.What = pick(g, "Turn on "+name, "请打开"+name)
	g.page(Start, g.w("title settings"), Block{"kind": "settings", "fields": fields})
	g.Answers[Set] = []Answer{{Status: 200, Message: g.w("said set")}}
	g.Truth.Touched = true
	if g.IntN(3) == 0 { // a wrong one first, and back
		other := fmt.Sprint("set", 1+n%4)
		for range 2 {
			g.click("field:"+other, g.w(other))
			g.settles()
		}
		g.fact(Fact{Verb: Set, Object: g.w(other), Happened: true, Seen: true, To: "off"})
	}
	g.click("field:"+key, name)
	g.settles()
	g.fact(Fact{Verb: Set, Object: name, Happened: true, Seen: true, To: "on"})
	g.expects(g.last(), "")
}

func post(g *gen) {
	object := g.thing()
	text := pick(g, g.t.notes...)
	g.What = pick(g, "Publish an article about "+object, "请发布关于"+object+"的文章")
	tries := g.fate(Publish, object, "")
	g.page(Start, g.w("title post"), Block{"kind": "editor", "key": "body", "submit": g.w("publish"), "act": Block{"verb": Publish, "object": object}, "placeholder": pick(g, "", g.w("note"))})
	g.enters("body", "", text, false)
	for range tries {
		g.click("button:body", g.w("publish"))
		g.settles()
	}
	g.expects(g.last(), "")
}

func message(g *gen) {
	who := pick(g, g.t.people...)
	g.What = pick(g, "Send a message to "+who, "请给"+who+"发消息")
	g.fate(Send, who, "/done")
	f := g.form("message", Send, who, "/done", []Block{{"key": "note", "label": g.w("note"), "type": "area", "required": true}})
	g.page(Start, g.w("title message"), f)
	g.page("/done", g.w("title done"), Block{"kind": "text", "text": g.w("title history")})
	if f["native"] != true && g.IntN(3) == 0 { // forgotten at first
		g.click("button:message", g.w("send"))
		g.settles()
		g.Truth.Trouble = true
	}
	g.enters("note", g.w("note"), pick(g, g.t.notes...), false)
	g.submits(f, "button:message", Send, g.w("send"))
	g.expects(g.last(), "")
}

// facts is a page with values that are asked for.
func (g *gen) facts() (b Block, read func()) {
	var items []Block
	var reads []func()
	values := map[string]string{"price": fmt.Sprintf("%d.%02d EUR", 5+g.IntN(900), g.IntN(100)), "stock": strconv.Itoa(g.IntN(4000)), "updated": fmt.Sprintf("2026-0%d-1%d", 1+g.IntN(9), g.IntN(10)), "supplier": pick(g, g.t.people...)}
	var asked []string
	for _, k := range []string{"price", "stock", "updated", "supplier"} {
		items = append(items, Block{"key": k, "label": g.w(k), "value": values[k]})
		if g.IntN(2) == 0 {
			asked = append(asked, k)
			g.Truth.Fields[k] = values[k]
			reads = append(reads, func() { g.do(Step{Do: "pick", On: "fact:" + k, Text: k, Value: values[k], Types: []string{"pick"}}) })
		}
	}
	if len(asked) > 0 {
		g.Details["data_to_extract"] = asked
	}
	return Block{"kind": "facts", "items": items}, func() {
		for _, r := range reads {
			r()
		}
	}
}

func read(g *gen) {
	object := g.thing()
	g.What = pick(g, "Look up "+object, "请查询"+object)
	b, reads := g.facts()
	g.Catalogue = []Link{{object, "/item"}, {g.thing(), "/other"}, {g.thing(), "/other"}}
	g.page(Start, g.w("title search"), Block{"kind": "search", "label": g.w("search"), "submit": g.w("search")})
	g.page("/item", object, b)
	g.clickInto("field:q", g.w("search"))
	g.do(Step{Do: "type", On: "field:q", Text: object, Name: g.w("search"), Value: object, Types: []string{"type"}})
	g.click("button:q", g.w("search"))
	g.settles()
	g.click("hit", object)
	g.at("/item")
	g.wander()
	reads()
}

func unsent(g *gen) {
	object := g.thing()
	g.What = pick(g, "Prepare an order for "+object+", do not send it", "请准备"+object+"的订单，不要提交")
	fields, fill := g.fields()
	f := g.form("order", "create", object, "", fields)
	g.page(Start, g.w("title orders"), f)
	g.fact(Fact{Verb: Create, Object: object})
	g.Truth.Unsent = true
	g.wander()
	fill()
	if g.IntN(3) == 0 {
		g.expects(g.last(), "")
	}
}

// canceled opens a dialog's form, fills it in and cancels.
func canceled(g *gen) {
	object := g.thing()
	g.What = pick(g, "See what an order for "+object+" needs", "看看"+object+"的订单要填什么")
	fields, fill := g.fields()
	f := g.form("order", "create", object, "", fields)
	f["dialog"], f["open"], f["cancel"] = g.w("title orders"), g.w("new"), g.w("cancel")
	g.page(Start, g.w("title orders"), f)
	g.fact(Fact{Verb: Create, Object: object})
	g.Truth.Unsent = true
	g.click("open:order", g.w("new"))
	g.settles()
	fill()
	g.click("cancel:order", g.w("cancel"))
	g.settles()
}

func profile(g *gen) {
	who := pick(g, g.t.people...)
	g.What = pick(g, "Change the phone number of "+who, "请修改"+who+"的电话")
	phone := fmt.Sprintf("0%d %06d", 20+g.IntN(70), 100000+g.IntN(899999))
	g.fate(Save, who, "/done")
	f := g.form("profile", Save, who, "/done", []Block{{"key": "name", "label": g.w("name"), "value": who}, {"key": "phone", "label": g.w("phone"), "value": "030 111222"}, {"key": "email", "label": g.w("email"), "value": "old@mail.example"}})
	g.page(Start, g.w("title profile"), f)
	g.page("/done", g.w("title done"), Block{"kind": "text", "text": g.w("title history")})
	g.do(Step{Do: "clear", On: "field:phone"})
	g.Truth.Numbers = append(g.Truth.Numbers, phone)
	g.enters("phone", g.w("phone"), phone, false)
	g.submits(f, "button:profile", Save, g.w("save"))
	g.expects(g.last(), "")
}

func pay(g *gen) {
	object := g.thing()
	g.What = pick(g, "Pay for "+object, "请支付"+object)
	g.fate(Pay, object, "/done")
	card := pick(g, "4111111111111111", "5555555555554444", "4012888888881881")
	f := g.form("pay", Pay, object, "/done", []Block{{"key": "customer", "label": g.w("customer")}, {"key": "card", "label": g.w("card")}})
	g.page(Start, g.w("title pay"), f)
	g.page("/done", g.w("title done"), Block{"kind": "text", "text": g.w("title history")})
	g.enters("customer", g.w("customer"), pick(g, g.t.people...), false)
	g.enters("card", g.w("card"), card, true)
	g.submits(f, "button:pay", Pay, g.w("pay"))
	g.expects(g.last(), "")
}

func menu(g *gen) {
	g.What = pick(g, "Open the history", "请打开历史页")
	g.page(Start, g.w("title home"), Block{"kind": "menu", "label": g.w("more"), "marked": g.IntN(2) == 0, "items": []Block{{"label": g.w("title history"), "href": "/history"}, {"label": g.w("title settings"), "href": "/other"}}})
	b, reads := g.facts()
	g.page("/history", g.w("title history"), b)
	g.do(Step{Do: "hover", On: "menu", Name: g.w("more"), Types: []string{"hover"}})
	g.click("item:"+g.w("title history"), g.w("title history"))
	g.at("/history")
	reads()
}

func backAndForth(g *gen) {
	g.What = pick(g, "Find the supplier", "请找到供应商")
	links := Block{"kind": "links", "items": []Block{{"label": g.w("title history"), "href": "/history"}, {"label": g.w("title files"), "href": "/files"}}}
	g.page(Start, g.w("title home"), links)
	g.page("/history", g.w("title history"), Block{"kind": "text", "text": pick(g, g.t.notes...)})
	b, reads := g.facts()
	g.page("/files", g.w("title files"), b)
	g.click("link:"+g.w("title history"), g.w("title history"))
	g.at("/history")
	g.wander()
	g.do(Step{Do: "back", Types: []string{"navigate"}})
	g.click("link:"+g.w("title files"), g.w("title files"))
	g.at("/files")
	reads()
}

func tabs(g *gen) {
	object := g.thing()
	g.What = pick(g, "Compare "+object+" with the history", "请对照历史查看"+object)
	b, reads := g.facts()
	g.page(Start, g.w("title home"), Block{"kind": "links", "items": []Block{{"label": g.w("title history"), "href": "/history", "tab": true}}}, Block{"kind": "text", "text": object})
	g.page("/history", g.w("title history"), b)
	g.click("link:"+g.w("title history"), g.w("title history"))
	g.do(Step{Do: "tab", Text: "1"})
	reads()
}
