// Package updates asks a release feed for the newest version of Deskbell. It downloads nothing, and sends nothing but the
// request itself, which bears the name Deskbell and no version.
package updates

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/semver"

	"deskbell/backend/human"
)

const (
	// Every is the least time between two requests of Watch.
	Every = 24 * time.Hour

	fileName = "updates.json" // in the data folder
	maxReply = 1 << 20        // bytes
	patience = 15 * time.Second
)

// A Release is the newest version, as a feed had it.
type Release struct {
	CheckedAt time.Time `json:"checked_at"`
	Feed      string    `json:"feed"`
	Version   string    `json:"version,omitempty"` // without the v; empty where the last request failed
	URL       string    `json:"url,omitempty"`     // of its page
	Problem   string    `json:"problem,omitempty"` // why the last request failed
}

// NewerThan says whether the release is newer than a version. A version that is none, such as that of a program built by hand,
// is older than nothing.
func (r Release) NewerThan(version string) bool {
	return semver.IsValid("v"+version) && r.Version != "" && semver.Compare("v"+r.Version, "v"+version) > 0
}

// Ask asks a feed: the address of GitHub's API for the latest release of a repository, or one that answers alike. It blocks
// for 15 seconds at most. The errors are Invalid for an address that is not HTTPS (HTTP counts on this machine only) and
// Unavailable for all else.
func Ask(ctx context.Context, feed string) (Release, error) {
	r := Release{CheckedAt: time.Now().UTC().Truncate(time.Second), Feed: feed}
	if !secure(feed) {
		return r, human.Errorf(human.Invalid, "updates.feed must be an address that begins with https://")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, feed, nil)
	if err != nil {
		return r, human.Wrap(human.Invalid, err, "updates.feed must be an address that begins with https://")
	}
	request.Header.Set("Accept", "application/vnd.github+json")
	request.Header.Set("User-Agent", "Deskbell")
	client := http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > 5 || !secure(next.URL.String()) {
			return errors.New("it redirects to where it must not")
		}
		return nil
	}}
	response, err := client.Do(request)
	if err != nil {
		return r, human.Wrap(human.Unavailable, err, "the release feed cannot be reached: %s", human.OneLine(err.Error(), 200))
	}
	defer func() { _ = response.Body.Close() }()
	var latest struct {
		Tag   string `json:"tag_name"`
		Page  string `json:"html_url"`
		Draft bool   `json:"draft"`
	}
	if response.StatusCode != http.StatusOK {
		return r, human.Errorf(human.Unavailable, "the release feed answers %s", human.OneLine(response.Status, 100))
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxReply)).Decode(&latest); err != nil || latest.Draft || !semver.IsValid(latest.Tag) || !secure(latest.Page) {
		return r, human.Wrap(human.Unavailable, err, "the release feed does not name a release, as GitHub's API does")
	}
	r.Version, r.URL = latest.Tag[1:], human.OneLine(latest.Page, 300)
	return r, nil
}

// secure says whether an address is HTTPS, or HTTP on this machine.
func secure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && ip != nil && ip.IsLoopback()
}

// Load returns what was last found for a data folder; the zero Release before the first request.
func Load(dir string) (Release, error) {
	text, err := os.ReadFile(filepath.Join(dir, fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return Release{}, nil
	}
	var r Release
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// Watch asks once a day while feed returns an address, also across restarts, and keeps what it found in the data folder. found is
// called after each request. It blocks until ctx ends.
func Watch(ctx context.Context, dir string, feed func() string, found func(Release)) error {
	for {
		if to := feed(); to != "" {
			last, _ := Load(dir) // one that cannot be read is written again
			if last.Feed != to || time.Since(last.CheckedAt) >= Every {
				r, err := Ask(ctx, to)
				if ctx.Err() != nil {
					return nil
				}
				if err != nil {
					r.Problem = human.SafeText(err)
				}
				text, err := json.Marshal(r)
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, fileName), text, 0o600)
				}
				if err != nil {
					return err // or it would ask again and again
				}
				found(r)
			}
		}
		timer := time.NewTimer(time.Minute)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}
