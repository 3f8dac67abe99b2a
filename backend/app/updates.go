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
func updateCheck(version string) func(cli.Place) []human.Diagnosis {
	return func(p cli.Place) []human.Diagnosis {
		s := p.Config.Settings().Updates
		if !s.Check {
			return nil
		}
		name := human.Sayf("update")
		again := human.Sayf("`deskbell version --check` tries it now; is the address in updates.feed right?")
		r, err := updates.Load(p.Dir)
		switch {
		case s.Feed == "":
			return []human.Diagnosis{human.Limited(name, human.Sayf("updates.check is on, but updates.feed is empty"), human.Sayf("set updates.feed, or switch updates.check off"))}
		case err != nil:
			return []human.Diagnosis{human.Limited(name, human.Sayf("what was last found cannot be read: %s", human.Inner{Err: err}), again)}
		case r.Feed != s.Feed:
			return []human.Diagnosis{human.Healthy(name, human.Sayf("not looked for yet; a running Deskbell does once a day"))}
		case r.Problem != "":
			return []human.Diagnosis{human.Limited(name, human.Sentence{Text: r.Problem}, again)}
		case r.NewerThan(version):
			return []human.Diagnosis{human.Healthy(name, human.Sayf("Deskbell %s is there: %s", r.Version, r.URL)).Hint(human.Sayf("install it the way you installed this one"))}
		}
		return []human.Diagnosis{human.Healthy(name, human.Sayf("there is no newer version"))}
	}
}
