package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/queue/stepup"
)

// ReceiptKeys are the keys by which the server signs receipts.
type ReceiptKeys interface {
	List() []receipt.ServerKey
	Rotate() (receipt.ServerKey, error)
}

// ReceiptList is the receipts of an operation's answers.
type ReceiptList struct {
	Receipts []anyReceipt `json:"receipts" doc:"Oldest first. More than one where several operators answered."`
}

// ReceiptKeyList is every key that the server ever signed with, and the same as deskbell verify --keys reads them.
type ReceiptKeyList struct {
	Keys []receipt.ServerKey `json:"keys" doc:"The newest last: it signs now."`
	receipt.Trust
}

// ChainReport is what an operator keeps of the chain around an answer's receipt, to show elsewhere. Nothing in it is secret.
type ChainReport struct {
	MadeAt   time.Time         `json:"made_at"`
	Operator string            `json:"operator" doc:"Who asked for it."`
	Version  string            `json:"version" doc:"Of Deskbell."`
	ID       human.OperationID `json:"operation_id"`
	Journal  receipt.Audit     `json:"journal" doc:"The whole journal, read for this report."`
	Chain    receipt.Chain     `json:"chain" doc:"The surroundings of the operation's last receipt, without what was asked."`
	Receipts []anyReceipt      `json:"receipts" doc:"Those in the chain that can be read, in order."`
	Keys     ReceiptKeyList    `json:"keys" doc:"The public keys that they were checked with."`
}

// report makes the report of the chain around an operation's receipt.
func (s *Server) report(ctx context.Context, by human.Actor, id human.OperationID) (*ChainReport, error) {
	keys := s.deps.ReceiptKeys.List()
	trust := receipt.TrustIn(keys)
	r := &ChainReport{MadeAt: s.deps.Now().UTC(), Operator: by.Name, Version: s.deps.Version, ID: id, Receipts: []anyReceipt{}, Keys: ReceiptKeyList{keys, trust}}
	var err error
	if r.Chain, err = s.deps.Queue.Chain(ctx, by, id, trust); err != nil {
		return nil, err
	}
	if r.Journal, err = s.deps.Queue.Audit(ctx, by, trust); err != nil {
		return nil, err
	}
	for i := range r.Chain.Neighbors {
		n := &r.Chain.Neighbors[i]
		n.Description = ""
		if slices.ContainsFunc(r.Chain.Neighbors[:i], func(o receipt.Neighbor) bool { return o.Operation == n.Operation }) {
			continue // it has several
		}
		all, err := s.deps.Queue.Receipts(ctx, by, n.Operation)
		if err != nil {
			continue // what was found says so
		}
		for _, one := range all {
			r.Receipts = append(r.Receipts, anyReceipt(one))
		}
	}
	return r, nil
}

// VerifyRequest has a receipt of any server.
type VerifyRequest struct {
	Receipt anyReceipt `json:"receipt"`
}

// anyReceipt is a receipt exactly as it was made.
type anyReceipt struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (anyReceipt) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "A receipt exactly as it was made; docs/receipts.md says what is in it."}
}

// receipts is what shows what operators answered.
func (s *Server) receipts(c catalogue) {
	keys := s.deps.ReceiptKeys
	add(c, route{http.MethodGet, "/api/human/operations/{id}/receipts", "getReceipts", "The receipts of an operation's answers", signedIn, 0},
		func(ctx context.Context, x *exchange, in *idInput) (*answer[*ReceiptList], error) {
			found, err := s.deps.Queue.Receipts(ctx, x.by, human.OperationID(in.ID))
			if err != nil {
				return nil, err
			}
			list := &ReceiptList{make([]anyReceipt, len(found))}
			for i, r := range found {
				list.Receipts[i] = anyReceipt(r)
			}
			return ok(list, nil)
		})
	c = c.needs("keys of receipts", keys != nil)
	add(c, route{http.MethodGet, "/api/receipts/keys", "listReceiptKeys", "The public keys that sign receipts", signedIn, 0},
		func(context.Context, *exchange, *none) (*answer[*ReceiptKeyList], error) {
			list := keys.List()
			return ok(&ReceiptKeyList{list, receipt.TrustIn(list)}, nil)
		})
	add(c, route{http.MethodPost, "/api/receipts/keys", "newReceiptKey", "Sign receipts with a new key from now on", operators, http.StatusCreated},
		func(ctx context.Context, x *exchange, _ *none) (*answer[*receipt.ServerKey], error) {
			if _, err := s.prove(ctx, x, stepup.Act{Kind: stepup.Settings, Says: "receipt_key"}, nil); err != nil {
				return nil, err
			}
			made, err := keys.Rotate()
			if err != nil {
				return nil, err
			}
			return &answer[*receipt.ServerKey]{http.StatusCreated, &made}, nil
		})
	add(c, route{http.MethodPost, "/api/receipts/verify", "verifyReceipt", "Check a receipt against this server's keys", signedIn, 0},
		func(_ context.Context, _ *exchange, in *payload[VerifyRequest]) (*answer[*receipt.Verification], error) {
			report := receipt.Verify(in.JSON.Receipt.RawMessage, receipt.TrustIn(keys.List()))
			return ok(&report, nil)
		})
	add(c, route{http.MethodGet, "/api/human/operations/{id}/chain", "getReceiptChain", "The place of an answer's receipt among all receipts", operators, 0},
		func(ctx context.Context, x *exchange, in *idInput) (*answer[*receipt.Chain], error) {
			chain, err := s.deps.Queue.Chain(ctx, x.by, human.OperationID(in.ID), receipt.TrustIn(keys.List()))
			if err == nil && s.deps.Journal != nil {
				s.deps.Journal.Complete(&chain)
			}
			return ok(&chain, err)
		})
	add(c, route{http.MethodGet, "/api/human/operations/{id}/chain/report", "getChainReport", "A report of the chain around an answer's receipt, to keep", operators, 0},
		func(ctx context.Context, x *exchange, in *idInput) (*answer[*ChainReport], error) {
			return ok(s.report(ctx, x.by, human.OperationID(in.ID)))
		})
	add(c, route{http.MethodGet, "/api/receipts/audit", "auditJournal", "Read the whole journal again: was anything changed?", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*answer[*receipt.Audit], error) {
			audit, err := s.deps.Queue.Audit(ctx, x.by, receipt.TrustIn(keys.List()))
			return ok(&audit, err)
		})
}
