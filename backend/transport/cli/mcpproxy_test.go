package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestAServerIsCalledWhatItIs(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-filesystem /home/me": "filesystem",
		"npx -y @playwright/mcp@latest":                           "mcp",
		"npx firecrawl-mcp@1.2.3":                                 "firecrawl",
		"uvx mcp-server-git --repository .":                       "git",
		"python3 -m weather_server":                               "weather-server",
		"node /opt/tools/dist/notes-mcp-server.js":                "notes",
		"env A=b /usr/bin/github-mcp-server stdio":                "github",
		"docker run --rm -i mcp/postgres":                         "postgres",
		"npx":                                                     "server",
		"__":                                                      "server",
	} {
		if got := serverName(strings.Fields(command), ""); got != want {
			t.Errorf("%s is called %q, not %q", command, got, want)
		}
	}
	if got := serverName(nil, "https://mcp.example.com/mcp"); got != "mcp-example-com" {
		t.Error(got)
	}
}

// proxied runs the command line and returns what the proxy was told.
func proxied(t *testing.T, args ...string) (p Proxied, who Asker, code int, errs string) {
	t.Helper()
	t.Setenv("DESKBELL_DATA", t.TempDir())
	t.Setenv("DESKBELL_KEY", "dbk_given")
	var out, complaints bytes.Buffer
	code = Execute(t.Context(), Program{MCPProxy: func(_ context.Context, w Asker, got Proxied, _ io.Reader, _, _ io.Writer) (int, error) {
		p, who = got, w
		return 7, nil
	}}, append([]string{"mcp-proxy"}, args...), strings.NewReader(""), &out, &complaints)
	return p, who, code, complaints.String()
}

func TestTheProxyTakesACommandOrAnAddress(t *testing.T) {
	p, who, code, errs := proxied(t, "--name", "files", "--", "npx", "-y", "server", "--name", "its-own")
	if want := []string{"npx", "-y", "server", "--name", "its-own"}; !reflect.DeepEqual(p.Command, want) || p.Name != "files" || who.Key != "dbk_given" || code != 7 {
		t.Errorf("%+v %+v %d %s", p, who, code, errs)
	}
	t.Setenv("TOKEN", "s3cret")
	p, _, code, errs = proxied(t, "--url", "https://mcp.example.com/mcp", "--header", "Authorization: Bearer ${TOKEN}", "--listen", "127.0.0.1:0", "--patience", "2m", "--no-elicitation")
	if p.URL != "https://mcp.example.com/mcp" || !reflect.DeepEqual(p.Header, http.Header{"Authorization": {"Bearer s3cret"}}) || p.Listen != "127.0.0.1:0" || p.Patience.Minutes() != 2 || !p.NoElicitation || code != 7 {
		t.Errorf("%+v %d %s", p, code, errs)
	}
}

func TestWhatTheProxyCannotDoIsSaid(t *testing.T) {
	for says, args := range map[string][]string{
		"say which server":   {},
		"two servers":        {"--url", "http://127.0.0.1:1/mcp", "--", "cat"},
		"go with --url":      {"--listen", "127.0.0.1:0", "--", "cat"},
		"not the address of": {"--url", "ftp://x"},
		"NAME: VALUE":        {"--url", "http://127.0.0.1:1/mcp", "--header", "nothing"},
		"NOT_SET_ANYWHERE":   {"--url", "http://127.0.0.1:1/mcp", "--header", "A: ${NOT_SET_ANYWHERE}"},
		"--name may have":    {"--name", "a__b", "--", "cat"},
		"negative":           {"--patience", "-1s", "--", "cat"},
	} {
		if _, _, code, errs := proxied(t, args...); code != exitError || !strings.Contains(errs, says) {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
}
