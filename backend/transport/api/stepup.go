package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/procedure"
	"deskbell/backend/queue/stepup"
)

// proofHeader carries the challenge that was met for the call it comes with.
const proofHeader = "Deskbell-Proof"

type (
	// NewPIN is a PIN.
	NewPIN struct {
		PIN string `json:"pin" doc:"6 characters or more."`
	}
	// NewPasskey is a passkey to keep.
	NewPasskey struct {
		Name       string          `json:"name" doc:"What you call it."`
		Credential json.RawMessage `json:"credential" doc:"PublicKeyCredential.toJSON() (WebAuthn Level 3)."`
	}
	// SystemCheck says whether the operating system's check counts.
	SystemCheck struct {
		On      bool `json:"on"`
		Process int  `json:"process,omitempty" doc:"The process whose terminal is asked. Absent: the desktop's session is."`
	}
	// PasskeyOptions is for navigator.credentials.create.
	PasskeyOptions struct {
		Options json.RawMessage `json:"options" doc:"PublicKeyCredentialCreationOptionsJSON."`
	}
	passkeyInput struct {
		ID string `path:"id" doc:"The passkey's id."`
	}
)

// here is what is known of who calls, to which an act is bound.
func (s *Server) here(x *exchange) stepup.Act {
	origin := x.request.Header.Get("Origin")
	if origin == "" && x.request.Header.Get("Sec-Fetch-Site") == "same-origin" {
		origin = s.baseOf(x.request) // browsers leave it out where a page of ours reads
	}
	return stepup.Act{By: x.by, Session: hex.EncodeToString(x.session.token[:]), Window: x.session.means == ByWindow, Phone: x.session.device != "", Origin: origin}
}

// prove sees to it that an operator's act has the proof it needs, which then is in the context. body is all of what is asked beside
// method and path.
func (s *Server) prove(ctx context.Context, x *exchange, a stepup.Act, body any) (context.Context, error) {
	if s.deps.StepUp == nil {
		return ctx, nil
	}
	call, err := json.Marshal(body)
	if err != nil {
		return ctx, err
	}
	exact := sha256.Sum256([]byte(x.request.Method + " " + x.request.URL.RequestURI() + "\n" + string(call)))
	here := s.here(x)
	a.By, a.Session, a.Window, a.Phone, a.Origin, a.Digest = here.By, here.Session, here.Window, here.Phone, here.Origin, hex.EncodeToString(exact[:])
	proof, err := s.deps.StepUp.Require(ctx, a, x.request.Header.Get(proofHeader))
	if err != nil || proof == nil {
		return ctx, err
	}
	return human.WithProof(ctx, *proof), nil
}

// answerOf is the act of an answer that lets an operation happen.
func answerOf(by human.Actor, op human.Operation, a human.Answer, says string) stepup.Act {
	if draft := op.DraftOf(by); a.HumanInput == "" && draft != nil {
		a.HumanInput = draft.HumanInput // as the queue does
	}
	act := stepup.Act{Kind: stepup.Answer, Subject: string(op.ID), Says: says, Shown: op.Digest, Risk: op.Risk, Operation: &op, Answer: &a}
	switch op.Kind {
	case human.Approve, human.Box:
	case human.Permission, human.Plan:
		act.Risk = cmp.Or(op.Risk, human.NoRisk) // they always say it
	default:
		act.Human = true
	}
	return act
}

// proveComplete is prove for an answer to an operation.
func (s *Server) proveComplete(ctx context.Context, x *exchange, r CompleteRequest) (context.Context, error) {
	if s.deps.StepUp == nil || r.Decision == human.Refused {
		return ctx, nil
	}
	op, err := s.deps.Queue.Get(ctx, x.by, r.OperationID)
	if err != nil || op.State.Terminal() {
		return ctx, err // what happened, the queue says
	}
	act := answerOf(x.by, op, r.Answer, cmp.Or(string(r.Decision), "answer"))
	if op.Kind == human.Approve && r.Args != nil {
		view, err := s.edited(ctx, x.by, EditRequest{op.ID, r.Args})
		if err != nil {
			return ctx, err
		}
		act.Risk, act.Shown = view.Risk, view.Digest
	}
	return s.prove(ctx, x, act, r)
}

// provePermission is prove for an answer to a question of the gatekeeper.
func (s *Server) provePermission(ctx context.Context, x *exchange, id human.OperationID, r service.AnswerRequest) (context.Context, error) {
	if x.session.device != "" && r.Rule != nil {
		return nil, human.Errorf(human.Denied, "rules are made at the computer; answer without one")
	}
	if s.deps.StepUp == nil || r.Choice == human.ChooseDeny || r.Choice == human.ChooseInstead || r.Choice == human.ChooseBox {
		return ctx, nil
	}
	op, err := s.deps.Queue.Get(ctx, x.by, id)
	if err != nil || op.State.Terminal() {
		return ctx, err
	}
	a := human.Answer{Decision: human.Approved, HumanInput: r.Reason, PermissionAnswer: human.PermissionAnswer{Choice: r.Choice}}
	if r.Choice == human.ChooseChange {
		a.Args = r.Args
	}
	act := answerOf(x.by, op, a, string(r.Choice))
	act.Allows = r.Rule != nil && r.Rule.Decision == human.Allow
	return s.prove(ctx, x, act, r)
}

// provePlan is prove for an answer to a plan.
func (s *Server) provePlan(ctx context.Context, x *exchange, session string, r plan.Response) (context.Context, error) {
	if s.deps.StepUp == nil || r.Action == human.CancelPlan || r.Action == human.ModifyPlan && len(r.Tasks) == 0 { // which says what to change
		return ctx, nil
	}
	op, a, err := s.deps.Plans.Answer(ctx, x.by, session, r)
	if err != nil || op.State.Terminal() {
		return ctx, err
	}
	act := answerOf(x.by, op, a, string(r.Action))
	if err := s.raise(ctx, x, &act, session, r.Tasks); err != nil {
		return ctx, err
	}
	return s.prove(ctx, x, act, r)
}

// proveRun is prove for the start of a run: what it does is as if it was approved.
func (s *Server) proveRun(ctx context.Context, x *exchange, id human.OperationID) (context.Context, error) {
	if s.deps.StepUp == nil {
		return ctx, nil
	}
	op, err := s.deps.Queue.Get(ctx, x.by, id)
	if err != nil || op.State.Terminal() || op.Kind != human.ProcedureRun {
		return ctx, err // what is wrong, the service says
	}
	return s.prove(ctx, x, stepup.Act{Kind: stepup.Answer, Subject: string(op.ID), Says: "run", Shown: op.Digest, Risk: op.Risk}, id)
}

// proveTake is prove for a procedure that an operator runs for a request, with these parameters.
func (s *Server) proveTake(ctx context.Context, x *exchange, id human.OperationID, o procedure.OfferTaken) (context.Context, error) {
	if s.deps.StepUp == nil {
		return ctx, nil
	}
	taken, err := s.deps.Procedures.Get(ctx, x.by, o.Procedure, o.Version)
	if err != nil {
		return ctx, err
	}
	return s.prove(ctx, x, stepup.Act{Kind: stepup.Answer, Subject: string(id), Says: "run", Shown: o.Digest, Risk: taken.Risk}, o)
}

// proveUnattended is prove for runs that begin without an operator: as for an approval of each, and for a rule that allows them.
func (s *Server) proveUnattended(ctx context.Context, x *exchange, name string, g procedure.UnattendedGrant) (context.Context, error) {
	if x.session.device != "" {
		return nil, human.Errorf(human.Denied, "what runs unattended is chosen at the computer")
	}
	if s.deps.StepUp == nil {
		return ctx, nil
	}
	shown, err := s.deps.Procedures.Get(ctx, x.by, name, g.Version)
	if err != nil {
		return ctx, err
	}
	return s.prove(ctx, x, stepup.Act{Kind: stepup.Answer, Subject: name, Says: "unattended", Shown: g.Digest, Risk: shown.Risk, Allows: true}, g)
}

// proveOrder is prove for other tasks of a plan that runs.
func (s *Server) proveOrder(ctx context.Context, x *exchange, session string, o human.Order) (context.Context, error) {
	if s.deps.StepUp == nil || o.Kind != human.Change {
		return ctx, nil
	}
	act := stepup.Act{Kind: stepup.Answer, Subject: session, Says: string(o.Kind), Risk: human.NoRisk}
	if err := s.raise(ctx, x, &act, session, o.Tasks); err != nil {
		return ctx, err
	}
	return s.prove(ctx, x, act, o)
}

// raise makes an act as risky as the tasks that it lets run.
func (s *Server) raise(ctx context.Context, x *exchange, a *stepup.Act, session string, tasks []human.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	sum, err := s.deps.Plans.Assess(ctx, x.by, session, tasks)
	if err == nil && sum.Risk.Level() > a.Risk.Level() {
		a.Risk = sum.Risk
	}
	return err
}

// proveRule is prove for a rule that is made, where it allows.
func (s *Server) proveRule(ctx context.Context, x *exchange, r human.GateRule) (context.Context, error) {
	if r.Decision != human.Allow {
		return ctx, nil
	}
	return s.prove(ctx, x, stepup.Act{Kind: stepup.Rule, Says: "allow"}, r)
}

// proveDrop is prove for a rule that is deleted, where it does not allow.
func (s *Server) proveDrop(ctx context.Context, x *exchange, id string) (context.Context, error) {
	if s.deps.StepUp == nil {
		return ctx, nil
	}
	list, err := s.deps.Gate.Rules(ctx, x.by)
	if err != nil || slices.ContainsFunc(list, func(r human.GateRule) bool { return r.ID == id && r.Decision == human.Allow }) {
		return ctx, err
	}
	return s.prove(ctx, x, stepup.Act{Kind: stepup.Rule, Subject: id, Says: "delete"}, id)
}

// provePolicy is prove for a policy of the gatekeeper that asks less.
func (s *Server) provePolicy(ctx context.Context, x *exchange, to gate.Policy) (context.Context, error) {
	if s.deps.StepUp == nil {
		return ctx, nil
	}
	now, err := s.deps.Gate.State(ctx, x.by)
	if err != nil || slices.Index(gate.Policies, to) >= slices.Index(gate.Policies, now.Policy) {
		return ctx, err
	}
	return s.prove(ctx, x, stepup.Act{Kind: stepup.Gatekeeper, Subject: string(to), Says: "policy"}, to)
}

// proveSettings is prove for settings by which plans are confirmed by fewer, phones come in, or answers go to another machine.
func (s *Server) proveSettings(ctx context.Context, x *exchange, c changes) (context.Context, error) {
	looser := map[string]string{"plan.confirm_by_human": "false", "plan.auto_confirm_safe_tasks": "true", "phone.enabled": "true", "sinks.webhook.url": ""}
	for key, value := range looser {
		if sent := string(c[key]); sent == value || value == "" && sent != "" && sent != `""` {
			return s.prove(ctx, x, stepup.Act{Kind: stepup.Gatekeeper, Subject: key, Says: "settings"}, c)
		}
	}
	return ctx, nil
}

// stepUp is what needs proof of presence, and how it is given.
func (s *Server) stepUp(c catalogue) {
	up := s.deps.StepUp
	type state = answer[*stepup.Overview]
	said := func(st stepup.Overview, err error) (*state, error) { return ok(&st, err) }
	changes := func(ctx context.Context, x *exchange, says string, body any) (context.Context, error) {
		return s.prove(ctx, x, stepup.Act{Kind: stepup.Settings, Says: says}, body)
	}
	add(c, route{http.MethodGet, "/api/stepup", "getStepUp", "What needs proof of presence, and what can give it", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*state, error) {
			return said(up.State(ctx, s.here(x)), nil)
		})
	add(c, route{http.MethodPost, "/api/stepup", "prove", "Meet a challenge that a call was answered with: proof_needed", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[stepup.Claim]) (*answer[*stepup.Claimed], error) {
			ctx, done := s.held(ctx)
			defer done()
			claimed, err := up.Prove(ctx, s.here(x), in.JSON)
			if errors.Is(err, stepup.ErrWrongPIN) {
				s.failed(x.request, human.TryPIN)
			}
			return ok(&claimed, err)
		})
	add(c, route{http.MethodPut, "/api/stepup/policy", "setStepUpPolicy", "Change what needs proof", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[stepup.Requirements]) (*state, error) {
			ctx, err := changes(ctx, x, "policy", in.JSON)
			if err != nil {
				return nil, err
			}
			return said(up.SetPolicy(ctx, s.here(x), in.JSON))
		})
	add(c, route{http.MethodPut, "/api/stepup/pin", "setPIN", "Set the PIN, from the desktop window", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[NewPIN]) (*state, error) {
			if in.JSON.PIN == "" {
				return nil, human.BadField("pin", "is missing")
			}
			ctx, err := changes(ctx, x, "pin", in.JSON)
			if err != nil {
				return nil, err
			}
			return said(up.SetPIN(ctx, s.here(x), in.JSON.PIN))
		})
	add(c, route{http.MethodDelete, "/api/stepup/pin", "removePIN", "Remove the PIN", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*state, error) {
			ctx, err := changes(ctx, x, "no_pin", nil)
			if err != nil {
				return nil, err
			}
			return said(up.SetPIN(ctx, s.here(x), ""))
		})
	add(c, route{http.MethodPut, "/api/stepup/system", "setSystemCheck", "Let the operating system's check count, or not", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[SystemCheck]) (*state, error) {
			ctx, err := changes(ctx, x, "system", in.JSON)
			if err != nil {
				return nil, err
			}
			ctx, done := s.held(ctx)
			defer done()
			return said(up.SetSystem(ctx, s.here(x), in.JSON.On, in.JSON.Process))
		})
	s.passkeys(c, changes)
	add(c, route{http.MethodPost, "/api/stepup/uninstall", "proveUninstall", "Prove that you uninstall Deskbell; nothing is changed", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*state, error) {
			if _, err := s.prove(ctx, x, stepup.Act{Kind: stepup.Gatekeeper, Says: "uninstall"}, nil); err != nil {
				return nil, err
			}
			return said(up.State(ctx, s.here(x)), nil)
		})
	add(c, route{http.MethodDelete, "/api/stepup/notices", "clearStepUpNotices", "Say that you have seen the notices", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*state, error) {
			if x.session.means != ByWindow {
				var err error
				if ctx, err = changes(ctx, x, "notices", nil); err != nil {
					return nil, err
				}
			}
			return said(up.Seen(ctx, s.here(x)))
		})
}

// passkeys registers and removes them.
func (s *Server) passkeys(c catalogue, changes func(context.Context, *exchange, string, any) (context.Context, error)) {
	up := s.deps.StepUp
	type state = answer[*stepup.Overview]
	said := func(st stepup.Overview, err error) (*state, error) { return ok(&st, err) }
	add(c, route{http.MethodPost, "/api/stepup/passkeys/options", "beginPasskey", "Begin to register a passkey", operators, 0},
		func(ctx context.Context, x *exchange, _ *payload[none]) (*answer[*PasskeyOptions], error) {
			options, err := up.BeginRegistration(ctx, s.here(x))
			return ok(&PasskeyOptions{options}, err)
		})
	add(c, route{http.MethodPost, "/api/stepup/passkeys", "addPasskey", "Keep a new passkey", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[NewPasskey]) (*state, error) {
			ctx, err := changes(ctx, x, "passkey", in.JSON)
			if err != nil {
				return nil, err
			}
			return said(up.Register(ctx, s.here(x), in.JSON.Name, in.JSON.Credential))
		})
	add(c, route{http.MethodDelete, "/api/stepup/passkeys/{id}", "removePasskey", "Remove a passkey", operators, 0},
		func(ctx context.Context, x *exchange, in *passkeyInput) (*state, error) {
			ctx, err := changes(ctx, x, "no_passkey", in.ID)
			if err != nil {
				return nil, err
			}
			return said(up.Remove(ctx, s.here(x), in.ID))
		})
}
