package human

// A DoctorCheck is one line of the doctor's report, as programs read it. A Diagnosis becomes one.
type DoctorCheck struct {
	Name   string `json:"name"`
	Status string `json:"status" enum:"ok,warn,fail"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty" doc:"What to do about it. Every check that is not ok has one. Commands stand between backticks."`

	SaidName   *Sentence `json:"name_said,omitempty" doc:"Name, for other languages."`
	SaidDetail *Sentence `json:"detail_said,omitempty" doc:"Detail, for other languages."`
	SaidFix    *Sentence `json:"fix_said,omitempty" doc:"Fix, for other languages."`
}

// How a check ended. A warning is something that Deskbell does without.
const (
	CheckOK   = "ok"
	CheckWarn = "warn"
	CheckFail = "fail"
)

// A Diagnosis is what the doctor found of one thing. It is made by Healthy, Limited and Broken alone: there is none that is not ok and
// says no fix. The zero Diagnosis is none.
type Diagnosis struct {
	name, detail, fix Sentence
	status            string
}

// Healthy is of a thing that works.
func Healthy(name, detail Sentence) Diagnosis {
	return Diagnosis{name: name, detail: detail, status: CheckOK}
}

// Limited is of a thing that Deskbell does without. Where no better fix is known (the zero Sentence), it says how to get help.
func Limited(name, detail, fix Sentence) Diagnosis {
	return Diagnosis{name: name, detail: detail, fix: orHelp(fix), status: CheckWarn}
}

// Broken is of a thing that Deskbell needs. Its fix is as that of Limited.
func Broken(name, detail, fix Sentence) Diagnosis {
	return Diagnosis{name: name, detail: detail, fix: orHelp(fix), status: CheckFail}
}

func orHelp(fix Sentence) Sentence {
	if fix.Text == "" {
		return Sayf("run `deskbell doctor --bundle FILE` and send the file to whoever helps you")
	}
	return fix
}

// Hint adds something to do to a thing that works.
func (d Diagnosis) Hint(text Sentence) Diagnosis {
	d.fix = text
	return d
}

// Status is CheckOK, CheckWarn or CheckFail.
func (d Diagnosis) Status() string { return d.status }

// Line is the line of the report: in English, and for clients that say it in another language.
func (d Diagnosis) Line() DoctorCheck {
	said := func(s Sentence) *Sentence {
		if s.Code == "" {
			return nil
		}
		return &s
	}
	return DoctorCheck{
		Name: d.name.Text, Status: d.status, Detail: d.detail.Text, Fix: d.fix.Text,
		SaidName: said(d.name), SaidDetail: said(d.detail), SaidFix: said(d.fix),
	}
}

// In is Line with its texts in the language of the table.
func (d Diagnosis) In(t Translation) DoctorCheck {
	line := d.Line()
	line.Name, line.Detail, line.Fix = t.Say(d.name), t.Say(d.detail), t.Say(d.fix)
	return line
}

// Lines are the lines of a report.
func Lines(report []Diagnosis) []DoctorCheck {
	lines := make([]DoctorCheck, len(report))
	for i, d := range report {
		lines[i] = d.Line()
	}
	return lines
}
