package shell

import (
	"slices"
	"testing"
)

func TestPlacesOfSecrets(t *testing.T) {
	for path, want := range map[string]bool{
		"/p/.env": true, "/p/.env.local": true, "/p/.env.example": false, "/p/deploy.key": true, "/p/id_rsa": true, "/p/id_rsa.pub": false, "/p/main.go": false,
		"/home/ada/.ssh": true, "/home/ada/.ssh/id_ed25519": true, "/home/ada/.ssh/config": false, "/home/ada/.aws/credentials": true, "/etc/shadow": true, "/etc/passwd": false,
	} {
		if got := HoldsSecrets(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
	places := SecretPlaces("/home/ada")
	for _, want := range []string{"/home/ada/.ssh", "/home/ada/.gnupg", "/home/ada/.kube/config", "/home/ada/.mozilla/firefox", "/home/ada/.netrc", "/home/ada/.deskbell", "/etc/shadow"} {
		if !slices.Contains(places, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestWhatRunsByItself(t *testing.T) {
	for path, want := range map[string]bool{
		"/p/.git/hooks/pre-commit": true, "/p/.git/hooks": true, "/p/.husky/pre-push": true, "/p/.vscode/tasks.json": true, "/p/.claude/settings.json": true, "/p/.claude/settings.local.json": true,
		"/p/.envrc": true, "/p/.mcp.json": true, "/p/.opencode/plugins/deskbell.js": true, "/p/main.go": false, "/p/.git/index": false, "/p/README.md": false,
	} {
		if got := RunsByItself(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
