package api

import (
	"context"
	"net/http"

	"deskbell/backend/human"
	"deskbell/backend/queue/stepup"
)

// Clients are the programs that run agents on this machine, and Deskbell's place in their settings. Errors are of package human.
type Clients interface {
	// Program is the path of Deskbell's program as clients' settings name it.
	Program() (string, error)
	// List looks at every client that is known.
	List(ctx context.Context) ([]human.AgentClient, error)
	// Connect makes the changes that List named, by their hash; Conflict when the files were changed since.
	Connect(ctx context.Context, id, hash string) (human.AgentClient, error)
	// Undo takes all of Deskbell's out of a client's settings.
	Undo(ctx context.Context, id string) (human.AgentClient, error)
	// Prove starts what the client's settings start, and sends one request through it; it returns when that has arrived, or could
	// not. What the operator answers shows in the client's Proof later.
	Prove(ctx context.Context, id string) (human.ClientProof, error)
}

type (
	clientInput struct {
		ID string `path:"id" doc:"The client's id."`
		payload[none]
	}
	connectInput struct {
		ID string `path:"id" doc:"The client's id."`
		payload[ConnectRequest]
	}
	// ConnectRequest says which changes are to be made.
	ConnectRequest struct {
		Hash string `json:"hash" doc:"The client's hash, as it was listed with the changes that you saw."`
	}
	// ClientList is every client that is known.
	ClientList struct {
		Clients []human.AgentClient `json:"clients"`
		Command string              `json:"command" doc:"The path of Deskbell's program, for settings that are written by hand."`
	}
	// ProofAnswer is what became of a request through a client's settings.
	ProofAnswer struct {
		Proof       human.ClientProof `json:"proof"`
		OperationID human.OperationID `json:"operation_id,omitempty"`
	}
)

// agentClients is how operators connect the programs that run agents.
func (s *Server) agentClients(c catalogue) {
	add(c, route{http.MethodGet, "/api/agents/clients", "listClients", "Programs that run agents, and how they are connected", operators, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*ClientList], error) {
			list, err := s.deps.Clients.List(ctx)
			if err != nil {
				return nil, err
			}
			command, err := s.deps.Clients.Program()
			return ok(&ClientList{append([]human.AgentClient{}, list...), command}, err)
		})
	add(c, route{http.MethodPost, "/api/agents/clients/{id}/connect", "connectClient", "Write Deskbell into a client's settings", operators, 0},
		func(ctx context.Context, x *exchange, in *connectInput) (*answer[*human.AgentClient], error) {
			if in.JSON.Hash == "" {
				return nil, human.BadField("hash", "is missing")
			}
			ctx, err := s.prove(ctx, x, stepup.Act{Kind: stepup.Key, Subject: in.ID, Says: "key"}, in.JSON)
			if err != nil {
				return nil, err
			}
			client, err := s.deps.Clients.Connect(ctx, in.ID, in.JSON.Hash)
			return ok(&client, err)
		})
	add(c, route{http.MethodPost, "/api/agents/clients/{id}/undo", "undoClient", "Take Deskbell out of a client's settings", operators, 0},
		func(ctx context.Context, _ *exchange, in *clientInput) (*answer[*human.AgentClient], error) {
			client, err := s.deps.Clients.Undo(ctx, in.ID)
			if err == nil {
				s.findRevoked(ctx)
			}
			return ok(&client, err)
		})
	add(c, route{http.MethodPost, "/api/agents/clients/{id}/prove", "proveClient", "Send one request through a client's own settings", operators, 0},
		func(ctx context.Context, _ *exchange, in *clientInput) (*answer[*ProofAnswer], error) {
			proof, err := s.deps.Clients.Prove(ctx, in.ID)
			return ok(&ProofAnswer{proof, proof.Operation}, err)
		})
}
