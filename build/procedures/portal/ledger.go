package portal

import (
	"encoding/json"
	"net/http"
)

// ledger is what another system knows: the records of a kind that are stored, whatever the portal's pages say, as JSON; those whose fields
// have the values of the query. An invoice has its month's total, with tax, too. It needs no login, and no change touches it.
func (s *Server) ledger(w http.ResponseWriter, r *http.Request) {
	values, _, err := form(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found := []map[string]string{}
	for _, record := range s.Stored(r.PathValue("kind")) {
		matches := true
		line := record.with("id", record.ID).Fields
		if record.Kind == "invoice" {
			_, _, total := s.first.sums(record.Fields["customer"], record.Fields["month"])
			line["total"] = s.money(total)
		}
		for name, value := range values {
			matches = matches && line[name] == value
		}
		if matches {
			found = append(found, line)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(found) // an error is that who asked has left
}
