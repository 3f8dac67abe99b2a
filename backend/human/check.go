package human

// A DoctorCheck is one line of the doctor's report.
type DoctorCheck struct {
	Name   string `json:"name"`
	Status string `json:"status" enum:"ok,warn,fail"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty" doc:"What to do about it."`
}

// How a check ended. A warning is something that Deskbell does without.
const (
	CheckOK   = "ok"
	CheckWarn = "warn"
	CheckFail = "fail"
)
