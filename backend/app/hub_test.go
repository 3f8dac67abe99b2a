package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"deskbell/backend/app"
	"deskbell/backend/store/team/hub"
	"deskbell/backend/transport/cli"
)

// From one command a team has a hub, from its link a first lead, and other commands say who is in.
func TestTheHubOfATeam(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	dir := t.TempDir()
	run := func(out io.Writer, args ...string) (code int, errs string) {
		var said bytes.Buffer
		code = cli.Execute(ctx, app.Program("1", "", nil), append([]string{"--data", dir, "hub"}, args...), strings.NewReader(""), out, &said)
		return code, said.String()
	}
	said := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code, errs := run(&out, args...); code != 0 {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
		return out.String()
	}
	if code, errs := run(io.Discard, "invite", "Ann"); code == 0 || !strings.Contains(errs, "deskbell hub") {
		t.Errorf("without a hub: %d %s", code, errs)
	}
	if code, errs := run(io.Discard, "--addr", ":0", "--web", ":0", "--team", "Blue"); code == 0 || !strings.Contains(errs, "under which name") {
		t.Errorf("on all addresses without a name: %d %s", code, errs)
	}
	lines, out := io.Pipe()
	ended := make(chan string)
	go func() {
		code, errs := run(out, "--addr", "127.0.0.1:0", "--web", "127.0.0.1:0", "--team", "Blue", "--lead", "Ann")
		_ = out.Close()
		if code != 0 {
			errs = "it failed: " + errs
		}
		ended <- errs
	}()
	link := ""
	for buffer, text := make([]byte, 4096), ""; link == ""; {
		n, err := lines.Read(buffer)
		if err != nil {
			t.Fatal(text, err)
		}
		text += string(buffer[:n])
		if found := regexp.MustCompile(`deskbell join '(.+)'`).FindStringSubmatch(text); found != nil {
			link = found[1]
		}
	}
	if c, err := hub.Join(ctx, link, ""); err != nil || c.Member != "Ann" || c.Role != "lead" || c.Team != "Blue" {
		t.Errorf("%+v, %v", c, err)
	}
	var second struct{ Link string }
	if err := json.Unmarshal([]byte(said("invite", "Bob", "--role", "auditor", "--json")), &second); err != nil {
		t.Fatal(err)
	}
	if _, err := hub.Join(ctx, second.Link, "Bob"); err != nil {
		t.Error(err)
	}
	said("remove", "Bob")
	if members := said("members"); !strings.Contains(members, "Ann  lead  Ann=1") || !strings.Contains(members, "Bob  auditor  Bob=1") || !strings.Contains(members, "removed ") {
		t.Error(members)
	}
	stop()
	if errs := <-ended; errs != "Stopped. Everything is stored.\n" {
		t.Error(errs)
	}
}
