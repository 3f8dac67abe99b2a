package app

import (
	"context"

	"deskbell/backend/human"
	"deskbell/backend/platform/updates"
	"deskbell/backend/transport/cli"
)

// watchUpdates asks for new versions while the operator wants it.
func (a *App) watchUpdates(ctx context.Context) error {
	feed := func() string {
		if s := a.now().Updates; s.Check {
			return s.Feed
		}
		return ""
	}
	return updates.Watch(ctx, a.Dir, feed, func(r updates.Release) {
		if r.NewerThan(a.Version) {
			a.log.Info("there is a new version", "version", r.Version, "page", r.URL)
		}
	})
}

// newest asks the feed of the settings now.
func newest(version string) func(context.Context, cli.Place) (string, error) {
	return func(ctx context.Context, p cli.Place) (string, error) {
		feed := p.Config.Settings().Updates.Feed
		if feed == "" {
			return "", human.Errorf(human.Unavailable, "no address is known where new versions are looked for; set updates.feed, for instance in %s", p.Config.File())
		}
		r, err := updates.Ask(ctx, feed)
		switch {
		case err != nil:
			return "", err
		case r.NewerThan(version):
			return "Deskbell " + r.Version + " is there: " + r.URL, nil
		}
		return "There is no newer version; the newest is " + r.Version + ".", nil
	}
}

// updateCheck is the doctor's line on what was last found.
func updateCheck(version string) func(cli.Place) []human.DoctorCheck {
	return func(p cli.Place) []human.DoctorCheck {
		s := p.Config.Settings().Updates
		c := human.DoctorCheck{Name: "update", Status: human.CheckOK}
		r, err := updates.Load(p.Dir)
		switch {
		case !s.Check:
			return nil
		case s.Feed == "":
			c.Status, c.Detail, c.Fix = human.CheckWarn, "updates.check is on, but updates.feed is empty", "set updates.feed, or switch updates.check off"
		case err != nil:
			c.Status, c.Detail = human.CheckWarn, "what was last found cannot be read: "+human.SafeText(err)
		case r.Feed != s.Feed:
			c.Detail = "not looked for yet; a running Deskbell does once a day"
		case r.Problem != "":
			c.Status, c.Detail = human.CheckWarn, r.Problem
		case r.NewerThan(version):
			c.Detail, c.Fix = "Deskbell "+r.Version+" is there: "+r.URL, "install it the way you installed this one"
		default:
			c.Detail = "there is no newer version"
		}
		return []human.DoctorCheck{c}
	}
}
