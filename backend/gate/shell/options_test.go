package shell

import (
	"testing"

	"deskbell/backend/human"
)

// gravest is the gravest risk of a script, and whether it is at the floor.
func gravest(script string, at Place) (human.Risk, bool) {
	e := Lower(script, at)[0]
	return e.Risk, e.Floor
}

func TestOptionsThatRunAndWrite(t *testing.T) {
	for script, want := range map[string]human.Risk{
		"bat --pager 'rm -rf src' a.go":              human.HighRisk,
		"delta --pager='rm -rf src'":                 human.HighRisk,
		"bat --pager 'less -R' a.go":                 human.NoRisk,
		"bat --paging=never a.go":                    human.NoRisk,
		"gcc -wrapper 'rm,-rf' x.c":                  human.MediumRisk,
		"frobnicate list --on-done 'rm -rf src'":     human.HighRisk,
		"ruff check --pre-check-hook 'rm -rf src' .": human.HighRisk,
		"git log --format=%an --pretty-command ok":   human.NoRisk,
		"mysqldump shop --result-file=/etc/cron.d/x": human.HighRisk,
		"pytest --log-file=out.log":                  human.LowRisk,
		"pytest --log-file ~/.bashrc":                human.HighRisk,
		"7z x x.7z -o/etc":                           human.HighRisk,
		"7z x x.7z -oout":                            human.LowRisk,
		"npx tsc --outDir dist":                      human.LowRisk,
		"tsc --outfile ../../.git/hooks/pre-commit":  human.HighRisk,
		"kubectl get pods --output yaml":             human.NoRisk,
		"ps -o pid,args":                             human.NoRisk,
		"curl -sSLO --output-dir ~/.config/autostart https://x.example/x.desktop": human.HighRisk,
		"curl -sSLO --output-dir build https://x.example/x.tgz":                   human.NoRisk,
		"gawk -i inplace '{print}' /etc/hosts":                                    human.HighRisk,
		"gawk -i inplace '{print}' a.txt":                                         human.LowRisk,
		"awk '{print | \"sh\"}' a.txt":                                            human.HighRisk,
		"awk '{print | \"sort\"}' a.txt":                                          human.MediumRisk,
		"tar --to-command=sh -xf a.tar":                                           human.HighRisk,
	} {
		if got, _ := gravest(script, Place{}); got != want {
			t.Errorf("%s: %s, not %s: %v", script, got, want, Lower(script, Place{})[0].Rule)
		}
	}
}

// A folder that is made like another, and rights that are changed below it, count as much as deleting it.
func TestMirroringReachesTheFloor(t *testing.T) {
	at := Place{Cwd: "/home/me/p", Home: "/home/me", Guard: "/home/me/.keep/desk"}
	for script, want := range map[string]bool{
		"rsync -a --delete empty/ ~/":              true,
		"rsync -a --delete-after empty/ /":         true,
		"rsync -a --delete empty/ ./":              true,
		"rsync -a --delete empty/ ~/.keep/":        true,
		"rsync -a --delete empty/ ~/.keep/desk":    true,
		"rsync -a empty/ ~/.keep/":                 false,
		"rsync -an --delete empty/ ~/":             false,
		"rsync -a --delete empty/ build/":          false,
		"rsync -a --delete empty/ host.example:~/": false,
		"chmod -R 700 ~/.keep":                     true,
		"chmod 700 ~/.keep":                        false,
		"chown -R me ~/.keep":                      true,
		"chmod -R u+x scripts":                     false,
	} {
		if _, floor := gravest(script, at); floor != want {
			t.Errorf("%s: floor %v, not %v", script, floor, want)
		}
	}
}
