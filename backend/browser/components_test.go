package browser

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
)

// A generator makes up components of pages, as authors write them and as they should not. The same seed makes the same.
type generator struct {
	*rand.Rand
	n     int
	aside strings.Builder // what stands elsewhere on the page: references, labels
}

func newGenerator(seed uint64) *generator { return &generator{Rand: rand.New(rand.NewPCG(seed, 16))} }

var syllables = strings.Fields("ba ro mi tel kan su lor ven pi dra fo gus nel hai zu wem qui jor 单 据 货 店 é ü")

func (g *generator) word() string {
	var b strings.Builder
	for range 2 + g.IntN(2) {
		b.WriteString(syllables[g.IntN(len(syllables))])
	}
	return b.String()
}

// words are one to three of them, some with signs of HTML.
func (g *generator) words() string {
	out := g.word()
	for range g.IntN(3) {
		out += " " + g.word()
	}
	if g.IntN(20) == 0 {
		out += pick(g, `"x"`, "<b>", "a&b", "it's", "[1]", "€ 5", "…")
	}
	return out
}

func (g *generator) text() string { return html.EscapeString(g.words()) }

func pick[T any](g *generator, some ...T) T { return some[g.IntN(len(some))] }

func (g *generator) space() string { return pick(g, "", "", " ", "\n   ", "&nbsp;") }

// content is what may stand in an element that people act on.
func (g *generator) content(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.space() + g.piece(depth) + g.space())
	}
	return b.String()
}

func (g *generator) piece(depth int) string {
	if depth > 2 || g.IntN(3) == 0 {
		return g.text()
	}
	in := func() string { return g.content(depth + 1) }
	switch g.IntN(36) {
	case 0, 1, 2:
		return "<span>" + in() + "</span>"
	case 3:
		return "<b>" + in() + "</b>"
	case 4:
		return "<div>" + in() + "</div>"
	case 5:
		return fmt.Sprintf("<span style='display:%s'>%s</span>", pick(g, "inline-block", "block", "flex", "inline-flex", "contents", "grid", "table-cell"), in())
	case 6:
		return fmt.Sprintf("<span style='display:flex'><span>%s</span><i>%s</i></span>", in(), g.text())
	case 7:
		return "<span hidden>" + g.text() + "</span>"
	case 8:
		return "<span style='display:none'>" + g.text() + "</span>"
	case 9:
		return "<span style='visibility:hidden'>" + g.text() + "<i style='visibility:visible'>" + g.text() + "</i></span>"
	case 10:
		return "<span aria-hidden=true>" + g.text() + "</span>"
	case 11:
		return fmt.Sprintf("<img src='data:,' alt='%s'>", pick(g, g.text(), g.text(), ""))
	case 12:
		return fmt.Sprintf("<img src='data:,' title='%s'>", g.text())
	case 13:
		return "<svg width=9 height=9>" + pick(g, "", "<title>"+g.text()+"</title>") + "<path d='M0 0h9v9z'/></svg>"
	case 14:
		return fmt.Sprintf("<svg width=9 height=9 role=img aria-label='%s'></svg>", g.text())
	case 15:
		return fmt.Sprintf("<i class='%s'></i>", pick(g, "before", "after", "icon", "quiet"))
	case 16:
		return fmt.Sprintf("<i class='%s'>%s</i>", pick(g, "before", "after", "both"), g.text())
	case 17:
		return "<br>"
	case 18:
		return "<span role=presentation>" + in() + "</span>"
	case 19:
		return fmt.Sprintf("<span role=img aria-label='%s'>%s</span>", g.text(), g.text())
	case 20:
		return fmt.Sprintf("<span aria-label='%s'>%s</span>", g.text(), g.text())
	case 21:
		return "<p>" + g.text() + "</p>"
	case 22:
		return "<ul><li>" + g.text() + "</li><li>" + g.text() + "</li></ul>"
	case 23:
		return fmt.Sprintf("<abbr title='%s'>%s</abbr>", g.text(), g.text())
	case 24:
		return "<style>.none{}</style><template>" + g.text() + "</template><!-- " + g.word() + " -->"
	case 25:
		return "<span style='text-transform:" + pick(g, "uppercase", "capitalize") + "'>" + g.text() + "</span>"
	case 26:
		return "<x-part><template shadowrootmode=open><b>" + g.text() + "</b><slot>" + g.text() + "</slot></template>" + pick(g, "", g.text(), "<i>"+g.text()+"</i>") + "</x-part>"
	case 27:
		return "<x-part><template shadowrootmode=open><div><slot name=a></slot></div><slot></slot></template><span slot=a>" + g.text() + "</span>" + g.text() + "<u slot=none>" + g.text() + "</u></x-part>"
	case 28:
		return "<code>" + g.text() + "</code>"
	case 29:
		return "<span class=sr>" + g.text() + "</span>"
	case 30:
		return "<i class=ligature>" + pick(g, "delete", "home", "more_vert") + "</i>"
	case 31:
		return fmt.Sprintf("<span title='%s'>%s</span>", g.text(), pick(g, "", g.text()))
	case 32:
		return fmt.Sprintf("<h3>%s</h3>", g.text())
	case 33:
		return "<span inert>" + g.text() + "</span>"
	case 34:
		return "<table><tr><td>" + g.text() + "<td>" + g.text() + "</table>"
	default:
		return "<span>" + g.word() + "</span><span>" + g.word() + "</span>"
	}
}

// control is a control as it may stand in a label, and in what is referred to.
func (g *generator) control() string {
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("<input value='%s'>", g.text())
	case 1:
		return "<select><option>" + g.text() + "<option selected>" + g.text() + "</select>"
	case 2:
		return fmt.Sprintf("<span role=slider aria-valuenow=%d aria-valuetext='%s'></span>", g.IntN(9), g.text())
	case 3:
		return fmt.Sprintf("<input type=range value=%d>", g.IntN(90))
	case 4:
		return "<span role=textbox contenteditable>" + g.text() + "</span>"
	default:
		return "<textarea>" + g.text() + "</textarea>"
	}
}

// naming are attributes that give a name, and what they refer to.
func (g *generator) naming(id string) string {
	if g.IntN(100) < 55 {
		return ""
	}
	switch g.IntN(10) {
	case 0, 1:
		return fmt.Sprintf(" aria-label='%s'", g.text())
	case 2:
		return fmt.Sprintf(" aria-label='%s'", pick(g, "", "  "))
	case 3, 4:
		return fmt.Sprintf(" title='%s'", g.text())
	case 5:
		fmt.Fprintf(&g.aside, "<div id=l%s>%s</div>", id, g.content(1))
		return fmt.Sprintf(" aria-labelledby='%sl%s'", pick(g, "", "nowhere "), id)
	case 6:
		fmt.Fprintf(&g.aside, "<div id=l%s %s>%s</div>", id, pick(g, "hidden", "style=display:none", "aria-hidden=true", "style=visibility:hidden"), pick(g, g.text(), "<b>"+g.text()+"</b><i hidden>"+g.text()+"</i><u style='display:none'>"+g.text()+"</u>"))
		return fmt.Sprintf(" aria-labelledby=l%s", id)
	case 7:
		fmt.Fprintf(&g.aside, "<p id=l%s>%s</p>", id, g.text())
		return fmt.Sprintf(" aria-labelledby='%s' aria-label='%s'", pick(g, "l"+id+" n"+id, "n"+id+" l"+id, "n"+id), g.text())
	case 8:
		fmt.Fprintf(&g.aside, "<p id=m%s>%s</p><p id=l%s aria-labelledby=m%s%s>%s</p>", id, g.text(), id, id, pick(g, "", " aria-label='"+g.text()+"'"), g.text())
		return fmt.Sprintf(" aria-labelledby=l%s", id)
	default:
		fmt.Fprintf(&g.aside, "<div id=l%s>%s %s</div>", id, g.text(), g.control())
		return fmt.Sprintf(" aria-labelledby=l%s title='%s'", id, g.text())
	}
}

// component is one component with its target, which has data-n.
func (g *generator) component() string {
	g.n++
	id := fmt.Sprint(g.n)
	at := fmt.Sprintf("data-n=%s id=n%s%s", id, id, g.naming(id))
	in := func() string { return g.content(0) }
	switch g.IntN(30) {
	case 0, 1, 2, 3:
		return fmt.Sprintf("<button %s>%s</button>", at, in())
	case 4, 5:
		return fmt.Sprintf("<a href='#%s' %s>%s</a>", id, at, in())
	case 6, 7, 8:
		return fmt.Sprintf("<div role=%s tabindex=0 %s>%s</div>", pick(g, strings.Fields("button link checkbox radio switch tab menuitem menuitemcheckbox option treeitem heading cell gridcell columnheader row tooltip listitem")...), at, in())
	case 9, 10, 11:
		return g.field(id, at)
	case 12:
		return fmt.Sprintf("<h%d %s>%s</h%d>", 1+id[0]%6, at, in(), 1+id[0]%6)
	case 13:
		return fmt.Sprintf("<img src='data:,' %s %s>", at, pick(g, "alt=''", "", "alt='"+g.text()+"'"))
	case 14:
		return fmt.Sprintf("<svg width=20 height=20 %s %s>%s<circle r=9 /></svg>", at, pick(g, "role=img", "tabindex=0", ""), pick(g, "<title>"+g.text()+"</title>", ""))
	case 15:
		return fmt.Sprintf("<figure %s><img alt='%s' src='data:,'>%s</figure>", at, g.text(), pick(g, "<figcaption>"+in()+"</figcaption>", ""))
	case 16:
		return fmt.Sprintf("<fieldset %s>%s<input></fieldset>", at, pick(g, "<legend>"+in()+"</legend>", ""))
	case 17:
		return fmt.Sprintf("<table %s>%s<tr><th>%s<th>%s<tr><td>%s<td>%s</table>", at, pick(g, "<caption>"+g.text()+"</caption>", ""), g.text(), g.text(), g.text(), g.text())
	case 18:
		return fmt.Sprintf("<table><tr><th>%s<tr><%s %s>%s</table>", g.text(), pick(g, "td", "th", "th scope=row"), at, in())
	case 19:
		return fmt.Sprintf("<details %s><summary %s>%s</summary>%s</details>", pick(g, "", "open"), at, in(), g.text())
	case 20:
		return fmt.Sprintf("<%[1]s %[2]s>%[3]s</%[1]s>", pick(g, strings.Fields("nav main section form article aside header footer p li div span label output dialog\u0020open")...), at, g.text())
	case 21:
		return fmt.Sprintf("<div contenteditable %s>%s</div>", at, g.text())
	case 22:
		return fmt.Sprintf("<select size=3><option>%s<option %s %s>%s</select>", g.text(), at, pick(g, "", "label='"+g.text()+"'"), g.text())
	case 23:
		return fmt.Sprintf("<x-card><template shadowrootmode=open><div><slot name=t>%s</slot><button %s>%s<slot></slot></button></div></template>%s%s</x-card>",
			g.text(), at, pick(g, "", g.text()), g.space(), pick(g, g.text(), "<b>"+g.text()+"</b> <i slot=t>"+g.text()+"</i>", "", "<div>"+g.text()+"</div><div>"+g.text()+"</div>"))
	case 24:
		return fmt.Sprintf("<x-field><template shadowrootmode=open><label for=i>%s</label><input id=i %s placeholder='%s'></template></x-field>", in(), strings.Replace(at, "id=n"+id, "", 1), g.text())
	case 25:
		return fmt.Sprintf("<x-internal role-is=%s label-is='%s' %s>%s</x-internal>", pick(g, "button", "checkbox", "tab"), pick(g, "", g.text()), at, in())
	case 26:
		return fmt.Sprintf("<x-part %s role=button tabindex=0><template shadowrootmode=open><slot></slot> <b>%s</b></template>%s</x-part>", at, g.text(), in())
	case 27:
		return fmt.Sprintf("<%[1]s %[2]s></%[1]s>", pick(g, "progress value=.3", "meter value=.5", "canvas width=9 height=9", "video controls"), at)
	case 28:
		return fmt.Sprintf("<div role=%s %s>%s</div>", pick(g, strings.Fields("dialog region group toolbar list listbox menu navigation search status alert img presentation none table grid radiogroup tablist")...), at, in())
	default:
		return fmt.Sprintf("<div %s onclick='0' style='cursor:pointer'>%s</div>", at, in())
	}
}

// field is a field of a form with its labels.
func (g *generator) field(id, at string) string {
	kind := pick(g, strings.Fields("text email number search tel url password checkbox radio range date time color file submit reset button image month")...)
	more := pick(g, "", "", " placeholder='"+g.text()+"'", " value='"+pick(g, "12", g.text())+"'", " alt='"+g.text()+"'")
	field := fmt.Sprintf("<input type=%s %s%s>", kind, at, more)
	switch g.IntN(6) {
	case 0:
		field = fmt.Sprintf("<select %s><option>%s<option selected>%s</select>", at, g.text(), g.text())
	case 1:
		field = fmt.Sprintf("<textarea %s%s>%s</textarea>", at, pick(g, "", " placeholder='"+g.text()+"'"), g.text())
	}
	switch g.IntN(8) {
	case 0, 1:
		return fmt.Sprintf("<label for=n%s>%s</label>%s", id, g.content(1), field)
	case 2:
		return fmt.Sprintf("<label>%s%s%s</label>", g.content(1), field, pick(g, "", " "+g.text()))
	case 3:
		return fmt.Sprintf("<label for=n%s>%s</label>%s<label for=n%s>%s</label>", id, g.content(1), field, id, g.content(1))
	case 4:
		return fmt.Sprintf("<label for=n%s %s>%s</label>%s", id, pick(g, "hidden", "class=sr", "style=display:none", "aria-hidden=true"), g.text(), field)
	case 5:
		return fmt.Sprintf("<label>%s %s %s %s</label>", field, g.text(), g.control(), g.text())
	default:
		return fmt.Sprintf("<div>%s %s</div>", g.text(), field)
	}
}

// wrapped is a component in what it may stand in.
func (g *generator) wrapped() string {
	c := g.component()
	switch g.IntN(12) {
	case 0:
		return "<div style='display:flex'>" + c + "</div>"
	case 1:
		return "<div style='display:grid'>" + g.text() + c + "</div>"
	case 2:
		return "<table role=presentation><tr><td>" + c + "<td>" + g.text() + "</table>"
	case 3:
		return "<ul><li>" + c + "</ul>"
	case 4:
		return "<span style='text-transform:uppercase'>" + c + "</span>"
	case 5:
		return "<div role=presentation>" + c + "</div>"
	}
	return "<div>" + c + "</div>"
}

// page is a page of so many components.
func (g *generator) page(count int) string {
	var b strings.Builder
	b.WriteString(`<style>.before::before{content:"Pre"}.after::after{content:" post"}.both::before{content:"«"}.both::after{content:"»"}.icon::before{content:"\e900"}
		.quiet::before{content:"shown" / "said"}.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}.ligature{font-feature-settings:"liga"}</style>
		<script>customElements.define('x-internal', class extends HTMLElement { connectedCallback() { if (this.i) return; this.i = this.attachInternals(); this.i.role = this.getAttribute('role-is');
			if (this.getAttribute('label-is')) this.i.ariaLabel = this.getAttribute('label-is'); this.tabIndex = 0 } })</script>`)
	for range count {
		b.WriteString("<section>" + g.wrapped() + "</section>\n")
	}
	b.WriteString(g.aside.String())
	return b.String()
}

// poor is a component as careless authors write them: a target without a name or a role, or one among many alike.
func (g *generator) poor() string {
	g.n++
	at := fmt.Sprintf("data-n=%d", g.n)
	icon := pick(g, "<svg width=16 height=16><path d='M0 0h16v16z'/></svg>", "<i class='bi bi-"+g.name()+"'></i>", "<svg width=16 height=16><use href='#"+g.name()+"'/></svg>",
		"<i class=icon></i>", "<img src='/img/"+g.name()+".svg' width=16 height=16>")
	hash := fmt.Sprintf("css-%x", g.Uint32())
	switch g.IntN(12) {
	case 0:
		return fmt.Sprintf("<div class='%s' style='cursor:pointer' %s>%s</div>", hash, at, g.text())
	case 1:
		return fmt.Sprintf("<h3>%s</h3><div class='%s'><div class='%s' style='cursor:pointer' %s>%s</div></div>", g.text(), hash, hash, at, icon)
	case 2:
		var b strings.Builder
		which := g.IntN(4)
		for i := range 4 {
			fmt.Fprintf(&b, "<tr><td>%s<td>%d<td><button %s class='%s'>%s</button>", g.text(), g.IntN(90), map[bool]string{true: at}[i == which], hash, pick(g, icon, "Delete"))
		}
		return "<table><tr><th>Name<th>Size<th>" + b.String() + "</table>"
	case 3:
		return fmt.Sprintf("<div><span>%s</span> <input %s></div>", g.text(), at)
	case 4:
		return fmt.Sprintf("<div><p>%s</p><div><button id=':r%d:' %s>%s</button></div></div>", g.text(), g.n, at, icon)
	case 5:
		return fmt.Sprintf("<ul><li><b>%s</b> <a href='#' %s>%s</a><li><b>%s</b> <a href='#'>%s</a></ul>", g.text(), at, icon, g.text(), icon)
	case 6:
		return fmt.Sprintf("<x-tool><template shadowrootmode=open><span>%s</span><button part=base %s>%s</button></template></x-tool>", g.text(), at, icon)
	case 7:
		return fmt.Sprintf("<label>%s</label> <div role=switch tabindex=0 %s style='width:20px;height:10px'></div>", g.text(), at)
	case 8:
		return fmt.Sprintf("<div onclick='0' %s><img src='/p/%s.jpg' width=20 height=20><h4>%s</h4><p>%s</p></div>", at, g.name(), g.text(), strings.Repeat(g.text()+" ", 9))
	case 9:
		return fmt.Sprintf("<input type=checkbox %s> %s<br>", at, g.text())
	case 10:
		return fmt.Sprintf("<fieldset><legend>%s</legend><select name=%s %s><option>%s</select></fieldset>", g.text(), g.name(), at, g.text())
	default:
		return fmt.Sprintf("<section><h2>%s</h2><span tabindex=0 data-action=%s %s>%s</span></section>", g.text(), g.name(), at, icon)
	}
}

func (g *generator) name() string {
	return pick(g, "trash", "pencil", "gear", "close", "search", "star", "bell", "house", "arrow-left", "download", "plus", "user")
}

// poorPage is a page of so many careless components.
func (g *generator) poorPage(count int) string {
	var b strings.Builder
	for range count {
		b.WriteString("<div>" + g.poor() + "</div>\n")
	}
	return b.String()
}
