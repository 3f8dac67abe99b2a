package cli

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/platform/procgroup"
	"deskbell/backend/store/datadir"
)

// startPatience is how long a started server may take until it answers.
const startPatience = 20 * time.Second

// joinPatience is how long a window that has taken a start over may be without the data folder: one that is just starting
// takes it soon, one that is ending never does.
const joinPatience = 5 * time.Second

// findOrStart returns the URL of the server that runs on the data folder, and starts one when there is
// none: the app, hidden, where there is a display, else a server without a window. What it starts outlives
// this process. It blocks until the server answers.
func (s *shell) findOrStart(ctx context.Context, p Place) (url string, err error) {
	if server, err := datadir.Find(p.Dir); err == nil {
		return server.URL, healthy(ctx, server.URL)
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	ways := [][]string{{"serve"}}
	if hasDisplay() {
		ways = [][]string{{"--hidden"}, {"serve"}}
	}
	for _, way := range ways {
		url, err = s.start(ctx, p, way)
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return url, err
}

// start runs our own program detached and waits until a server on the folder answers, be it that one or
// one that another program started at the same moment.
func (s *shell) start(ctx context.Context, p Place, args []string) (url string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", human.Wrap(human.Internal, err, "Deskbell cannot find its own program to start it")
	}
	args = append(args, "--data", p.Dir)
	if s.config != "" {
		args = append(args, "--config", p.Config.File())
	}
	cmd := exec.Command(self, args...) // not CommandContext: it is to outlive this process
	// Its messages go to its log in the data folder. Before it has one, they go here.
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return "", human.Wrap(human.Unavailable, err, "the data folder %s cannot be made", p.Dir)
	}
	out, err := os.OpenFile(filepath.Join(p.Dir, "start.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", human.Wrap(human.Unavailable, err, "the data folder %s cannot be written", p.Dir)
	}
	defer func() { _ = out.Close() }() // the child has a handle of its own
	cmd.Stdout, cmd.Stderr = out, out
	procgroup.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return "", human.Wrap(human.Internal, err, "Deskbell could not be started: %v", err)
	}
	died := make(chan error, 1)
	go func() { died <- cmd.Wait() }() // ends with the child, or with this process

	ended := func(err error) error {
		return human.Wrap(human.Unavailable, err, "Deskbell started (%s) and ended at once: %s", args[0], firstLine(out.Name()))
	}
	var joined <-chan time.Time
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		if server, err := datadir.Find(p.Dir); err == nil && healthy(ctx, server.URL) == nil {
			return server.URL, nil
		}
		select {
		case <-tick.C:
		case err := <-died:
			died = nil
			switch {
			case datadir.Held(p.Dir): // another was faster, and will answer
			case err == nil:
				joined = time.After(joinPatience)
			default:
				return "", ended(err)
			}
		case <-joined:
			joined = nil
			if !datadir.Held(p.Dir) {
				return "", ended(errors.New("no other Deskbell has taken the data folder"))
			}
		case <-ctx.Done():
			return "", human.Errorf(human.Unavailable, "Deskbell started, but does not answer; see %s and %s",
				out.Name(), filepath.Join(p.Dir, datadir.Log))
		}
	}
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "see " + path
	}
	return human.OneLine(string(text), 300)
}

// healthy asks the server whether it answers.
func healthy(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := direct.Do(req)
	if err != nil {
		return human.Wrap(human.Unavailable, err, "Deskbell should listen on %s, but does not answer", url)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return human.Wrap(human.Unavailable, errors.New(resp.Status), "what answers on %s is not a healthy Deskbell", url)
	}
	return nil
}

// direct never goes through a proxy: what it calls is on this machine.
var direct = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
