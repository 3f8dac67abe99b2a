package summary

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// scopeOf is what a consent for an operation covers, when it is given for always.
func scopeOf(op human.Operation) string {
	if p := op.Project(); p != "" {
		return "project: " + p
	}
	return "agent: " + op.AgentID
}

func consentFor(op human.Operation, about summarizers.About) Consent {
	c := Consent{Scope: scopeOf(op), Summarizer: about.Name, Host: about.Sends}
	sum := sha256.Sum256([]byte(c.Scope + "\n" + c.Summarizer + "\n" + c.Host))
	c.ID = hex.EncodeToString(sum[:8])
	return c
}

// consented says whether the operator agreed before, for the operation's scope.
func (s *Service) consented(ctx context.Context, op human.Operation, about summarizers.About) (bool, error) {
	all, err := s.deps.Store.Consents(ctx)
	want := consentFor(op, about).ID
	return slices.ContainsFunc(all, func(c Consent) bool { return c.ID == want }), err
}

// agree stores the operator's word where it is given for always.
func (s *Service) agree(ctx context.Context, by human.Actor, op human.Operation, name, consent string) error {
	switch consent {
	case "", "once":
		return nil
	case "always":
	default:
		return human.BadField("consent", "%q is not one of once, always", human.OneLine(consent, 40))
	}
	which, err := s.find(name)
	if err != nil || which.About().Sends == "" {
		return err
	}
	c := consentFor(op, which.About())
	c.By, c.At = by.Name, s.deps.Now().UTC()
	return s.deps.Store.PutConsent(ctx, c)
}

// Forget takes a consent back. Operators only.
func (s *Service) Forget(ctx context.Context, by human.Actor, consent string) error {
	if err := onlyOperators(by); err != nil {
		return err
	}
	return s.deps.Store.DropConsent(ctx, consent)
}

func onlyOperators(by human.Actor) error {
	if by.Role != human.Operator {
		return human.Errorf(human.Denied, "only an operator can do this; an agent reads what its operator sent")
	}
	return nil
}
