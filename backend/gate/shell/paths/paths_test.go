package paths_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/gate/shell/paths"
)

func TestPlacesOfSecrets(t *testing.T) {
	for path, want := range map[string]bool{
		"/p/.env": true, "/p/.env.local": true, "/p/.env.example": false, "/p/deploy.key": true, "/p/id_rsa": true, "/p/id_rsa.pub": false, "/p/main.go": false,
		"/home/ada/.ssh": true, "/home/ada/.ssh/id_ed25519": true, "/home/ada/.ssh/config": false, "/home/ada/.aws/credentials": true, "/etc/shadow": true, "/etc/passwd": false,
		"/mnt/disk/deskbell-backups/objects/ab/abc.zst": true, "/mnt/disk/deskbell-backups": true, "/tmp/deskbell.db.rescued-20261129T010203Z": true, "/p/deskbell-backups.md": false,
	} {
		if got := paths.HoldsSecrets(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
	places := paths.SecretPlaces("/home/ada")
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
		if got := paths.RunsByItself(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

func TestPlacesOfPaths(t *testing.T) {
	const home, root = "/home/ada", "/home/ada/work/api"
	for at, want := range map[string]paths.Place{
		"/": paths.Slash, "/*": paths.Slash, "/home/ada": paths.Home, "/home/bob/*": paths.Home, root: paths.Root, "/home/ada/work": paths.Root,
		root + "/src/a.go": paths.InProject, root + "/.git/config": paths.GitDir, root + "/.git/hooks/pre-push": paths.Start, root + "/.npmrc": paths.Secret,
		root + "/.env": paths.EnvFile, root + "/.vscode/tasks.json": paths.Start, root + "/.bashrc": paths.InProject, "/home/ada/.bashrc": paths.Start,
		"/home/ada/.aws/credentials": paths.Secret, "/home/ada/.codex/auth.json": paths.Secret, "/home/ada/.config/glab-cli/config.yml": paths.Secret,
		"/home/ada/Library/Application Support/Google/Chrome/Default/Cookies": paths.Secret, "/proc/1/environ": paths.Secret,
		"/tmp/a": paths.InTemp, "/tmp/*": paths.Outside, "/dev/shm/a": paths.InTemp, "/dev/sda1": paths.RawDevice, "/dev/tty1": paths.Outside, "/dev/snd/pcm": paths.Outside,
		"/etc/hosts": paths.System, "/opt": paths.System, "/data": paths.System, "/data/a": paths.Outside,
	} {
		if got := paths.Of(at, home, root, at == "/*" || at == "/tmp/*"); got != want {
			t.Errorf("%s: %d, want %d", at, got, want)
		}
	}
}

// The file of places has kinds that are asked for and words that can be met: those of paths begin with a slash, names have none.
func TestTheFileOfPlaces(t *testing.T) {
	text, err := os.ReadFile("places.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen, n, remark := map[string]bool{}, 0, ""
	for line := range strings.Lines(string(text)) {
		kind, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "":
			remark = ""
			continue
		case "#":
			remark += words
			continue
		}
		if remark == "" {
			t.Errorf("%q: no remark says what it is and where it is from", line)
		}
		for _, word := range strings.Fields(strings.ReplaceAll(words, `\ `, "_")) {
			n++
			path := strings.HasSuffix(kind, "-path") || kind == "hook-setting"
			if seen[kind+word] || path != strings.Contains(word, "/") || path && word[0] != '/' || kind == "secret-ending" && word[0] != '.' || kind == "hook-setting" && word != strings.ToLower(word) {
				t.Errorf("%s %s: is there twice, or can never be met", kind, word)
			}
			seen[kind+word] = true
			switch kind {
			case "secret-file", "secret-path":
				if !paths.HoldsSecrets(strings.ReplaceAll("/x/"+strings.TrimPrefix(word, "/"), "_Support", " Support")) && !paths.HoldsSecrets(word) {
					t.Errorf("%s is not found", word)
				}
			case "start-file", "start-path", "hook-setting":
				if !paths.RunsByItself("/" + strings.TrimPrefix(word, "/")) {
					t.Errorf("%s is not found", word)
				}
			case "secret-ending":
				if !paths.HoldsSecrets("/x/a" + word) {
					t.Errorf("%s is not found", word)
				}
			default:
				t.Errorf("%q is no kind", kind)
			}
		}
	}
	if n < 200 {
		t.Errorf("%d words", n)
	}
}
