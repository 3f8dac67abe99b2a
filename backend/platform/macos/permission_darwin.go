package macos

import (
	"context"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const settings = "System Settings > Privacy & Security > "

// permitted says whether the operator has allowed what a source needs.
func permitted(state human.SourceState, allowed func() bool, what, page string) human.SourceState {
	if err := load(); err != nil {
		state.Status, state.Code, state.Detail = "missing", "unsupported", human.SafeText(err)
		state.Fix = "Update macOS to 11 or newer."
		return state
	}
	if !allowed() {
		state.Status, state.Code = "missing", "no_permission"
		state.Detail = "macOS does not let Deskbell " + what + "."
		state.Fix = "Switch Deskbell on in " + settings + page + ", then start it again."
	}
	return state
}

// Input is a source of pointer and keys whose Check first asks for the permissions macOS wants for it.
func Input(source record.Source) record.Source { return input{source} }

type input struct{ record.Source }

func (i input) Check(ctx context.Context) human.SourceState {
	none := human.SourceState{Source: human.InputSource, Status: "complete"}
	for _, need := range []struct {
		allowed    func() bool
		what, page string
	}{
		{func() bool { return system.AXIsProcessTrusted() }, "see pointer and keys", "Accessibility"},
		{func() bool { return system.CGPreflightListenEvent() }, "see pointer and keys", "Input Monitoring"},
	} {
		if state := permitted(none, need.allowed, need.what, need.page); state.Status == "missing" {
			return state
		}
	}
	return i.Source.Check(ctx)
}

// SecureInput is a record.Guard: while the system's secure input is on, as it is in password fields, what is typed is
// secret, whichever window it goes to.
type SecureInput struct{}

// Secret asks the system.
func (SecureInput) Secret(context.Context, record.Placed) (bool, error) {
	if err := load(); err != nil {
		return false, err
	}
	return system.IsSecureEventInputEnabled(), nil
}
