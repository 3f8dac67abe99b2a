package kind

import "deskbell/backend/human"

// Procedure is a run of a procedure that an operator taught. It has a call of its own: agents ask for procedures by their names.
var Procedure = Kind{
	Name: human.ProcedureRun,
	Doc:  "a run of a procedure that an operator taught",
	Fields: []Field{
		{Name: "procedure", Type: Path, Doc: "the procedure's name"},
		{Name: "version", Type: Any, Doc: "its version"},
		{Name: "digest", Type: Path, Doc: "SHA-256 of the version's file"},
		{Name: "title", Type: Text, Doc: "what it does"},
		risk,
		{Name: "does", Type: List, Doc: "what it does to the world: reads, sends, pays, deletes"},
		{Name: "parameters", Type: Any, Doc: "the values it is run with"},
		{Name: "sites", Type: List, Doc: "where its steps are done"},
		{Name: "outputs", Type: List, Doc: "what it gives back"},
	},
	Answer: []string{"verdict", "execution_result", "fields", "field_sources", "human_input", "summary", "key_findings", "findings", "suggestions", "attachments"},
	Check: func(op human.Operation, a *human.Answer) error {
		if err := judged(a); err != nil {
			return err
		}
		return says(op, a)
	},
}
