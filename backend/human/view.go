package human

// A View is a filter of a list that operators keep under a name. All operators of a Deskbell have the same.
type View struct {
	ID    string `json:"view_id,omitempty" doc:"Absent: a new one."`
	Name  string `json:"name" doc:"What it is listed as; no two have one name."`
	Page  string `json:"page" enum:"inbox,history,statistics" doc:"The list it filters."`
	Query string `json:"query" doc:"The filter, as the console has it in its address: kind=approve&risk=high."`
}

// Limits of views.
const (
	MaxViews     = 200
	MaxViewName  = 200  // bytes
	MaxViewQuery = 2000 // bytes
)
