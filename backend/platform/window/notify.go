package window

// A Notification is what the system shows beside the popup. Title and Body are plain text; markup in them
// is shown as written. One with the ID of a notification still shown replaces it.
type Notification struct {
	ID, Title, Body string
	Urgent          bool // stays until answered, and may break through 'do not disturb'
	Sound           bool // the service's own sound of a message, where it has sounds
	Actions         []Action
}

// An Action is a button of a notification. Clicking the notification itself answers with DefaultAction.
type Action struct {
	ID, Label string
}

// DefaultAction is the action of a click on the notification itself. Dismissing one is no action.
const DefaultAction = "default"

// NotificationService is what shows notifications in this session.
type NotificationService struct {
	Answers bool   `json:"answers"` // a service shows notifications
	Name    string `json:"name"`    // as it calls itself, with its version, or empty
	Actions bool   `json:"actions"` // it draws buttons
	Markup  bool   `json:"-"`       // it reads the body as markup
}
