//go:build !linux

package window

import "context"

// Notifications is for Linux; on Windows and macOS the program uses Wails' own, which need its window.
type Notifications struct{}

// OpenNotifications returns ErrUnsupported.
func OpenNotifications(app, icon string, answered func(id, action string)) (*Notifications, error) {
	return nil, ErrUnsupported
}

// Send returns ErrUnsupported.
func (*Notifications) Send(context.Context, Notification) error { return ErrUnsupported }

// Dismiss returns ErrUnsupported.
func (*Notifications) Dismiss(context.Context, string) error { return ErrUnsupported }

// Service returns what FindNotificationService does.
func (*Notifications) Service(ctx context.Context) NotificationService {
	return FindNotificationService(ctx)
}

// Close does nothing.
func (*Notifications) Close() {}

// FindNotificationService says yes: both systems have a service of their own that is always there. Whether
// the operator has switched it off for this program is not asked.
func FindNotificationService(context.Context) NotificationService {
	return NotificationService{Answers: true, Name: "the system's own", Actions: true}
}
