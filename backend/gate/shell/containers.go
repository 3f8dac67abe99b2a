package shell

import (
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// docker run and exec hold commands; what they may reach depends on what is mounted.
func docker(w *walker, c *cmd) (stream, bool) {
	globals := lazy.Words("-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --connection --url --identity --namespace -n --address -a")
	_, rest := commands.Parse(c.args, globals, false, true)
	if len(rest) == 0 {
		return stream{}, false
	}
	sub := rest[0].Text
	args := rest[1:]
	if sub == "container" && len(args) > 0 {
		sub, args = args[0].Text, args[1:]
	}
	switch sub {
	case "build":
		w.restsOnDockerfile(args)
	case "buildx", "builder", "image":
		if len(args) > 0 && (args[0].Text == "build" || args[0].Text == "b") {
			w.restsOnDockerfile(args[1:])
		}
	case "compose":
		return compose(w, &cmd{name: "docker-compose", args: args, in: c.in})
	case "exec":
		o, cmdline := commands.Parse(args, lazy.Words("-e --env -u --user -w --workdir --env-file --detach-keys"), false, true)
		if o.Has("--privileged") {
			w.simple(c, human.PrivilegeEscalation, human.HighRisk, "privileged")
		}
		if len(cmdline) < 2 {
			w.simple(c, human.ContainerEffect, human.MediumRisk, "exec")
			return handled(stream{})
		}
		w.away("container", func() stream { return w.run(cmdline[1:], c.in) })
		return handled(stream{taint: arg.MadeHere})
	case "run", "create":
		values := lazy.Words("-a --add-host --annotation --attach --blkio-weight --cap-add --cap-drop --cgroup-parent --cgroupns --cidfile --cpu-period --cpus -c --cpu-shares --cpuset-cpus " +
			"--detach-keys --device --dns --domainname --entrypoint -e --env --env-file --expose --gpus --group-add --health-cmd --hostname -h --ip --ipc --isolation -l --label --link --log-driver --log-opt " +
			"--mac-address -m --memory --mount --name --network --net --network-alias --oom-score-adj --pid --pids-limit --platform -p --publish --pull --restart --runtime --security-opt --shm-size --stop-signal " +
			"--storage-opt --sysctl --tmpfs --ulimit -u --user --userns --uts -v --volume --volume-driver --volumes-from -w --workdir")
		o, cmdline := commands.Parse(args, values, false, true)
		w.simple(c, human.ContainerEffect, human.MediumRisk, "run")
		if o.Has("--privileged") || o.Any("--cap-add=ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE") || o.Any("--pid=host") || o.Any("--userns=host") || o.Any("--security-opt=seccomp=unconfined|apparmor=unconfined") || o.Has("--device") {
			w.simple(c, human.PrivilegeEscalation, human.HighRisk, "privileged")
		}
		host := false
		for i, a := range args {
			mount, isMount := "", false
			if (a.Text == "-v" || a.Text == "--volume" || a.Text == "--mount") && i+1 < len(args) {
				mount, isMount = args[i+1].Text, true
			} else if _, v, ok := strings.Cut(a.Text, "="); ok && (strings.HasPrefix(a.Text, "--volume=") || strings.HasPrefix(a.Text, "--mount=")) {
				mount, isMount = v, true
			} else if strings.HasPrefix(a.Text, "-v") && len(a.Text) > 2 {
				mount, isMount = a.Text[2:], true
			}
			if !isMount {
				continue
			}
			src := mount
			if k := strings.Index(src, "source="); k >= 0 {
				src, _, _ = strings.Cut(src[k+7:], ",")
			} else if k := strings.Index(src, "src="); k >= 0 {
				src, _, _ = strings.Cut(src[k+4:], ",")
			} else {
				src, _, _ = strings.Cut(src, ":")
			}
			ro := strings.HasSuffix(mount, ":ro") || strings.Contains(mount, "readonly")
			p, _ := w.placeOf(arg.Word{Text: src, Quoted: true}, w.dir)
			switch {
			case strings.HasSuffix(src, "docker.sock"):
				w.simple(c, human.PrivilegeEscalation, human.HighRisk, "docker_socket")
			case strings.HasPrefix(src, "/") || strings.HasPrefix(src, "~") || strings.HasPrefix(src, "."):
				if !ro {
					host = true
				}
				if p == paths.Slash || p == paths.System || p == paths.Home || p == paths.Secret || p == paths.RawDevice {
					if ro {
						w.simple(c, human.CredentialAccess, human.HighRisk, "mounts_host")
					} else {
						w.simple(c, human.PrivilegeEscalation, human.HighRisk, "mounts_host")
					}
				}
			}
		}
		if v, ok := o.Flags["--entrypoint"]; ok && len(cmdline) > 0 {
			cmdline = append([]arg.Word{cmdline[0], v}, cmdline[1:]...)
		}
		if len(cmdline) > 1 {
			if host {
				w.run(cmdline[1:], c.in)
			} else {
				w.away("container", func() stream { return w.run(cmdline[1:], c.in) })
			}
		} else if c.in.open && len(cmdline) == 1 {
			w.feed("sh", c.in, "docker.stdin")
		}
		return handled(stream{taint: arg.MadeHere})
	}
	return stream{}, false
}

// restsOnDockerfile tells the watcher of the file that an image is built by.
func (w *walker) restsOnDockerfile(args []arg.Word) {
	o, words := commands.Parse(args, lazy.Words("-f --file -t --tag --build-arg --target --platform --label --network --secret --ssh --cache-from --cache-to --output -o --progress --iidfile --add-host --build-context --builder --pull --shm-size --ulimit"), false, false)
	if file, ok := o.Flags["--file"]; ok {
		w.rests(file)
		return
	}
	if file, ok := o.Flags["-f"]; ok {
		w.rests(file)
		return
	}
	if len(words) == 0 {
		words = []arg.Word{arg.Known(".")}
	}
	for _, name := range []string{"Dockerfile", "Containerfile"} {
		file := words[len(words)-1]
		file.Text = strings.TrimRight(file.Text, "/") + "/" + name
		w.rests(file)
	}
}

// composeFiles are those that compose reads where none is named.
var composeFiles = []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", "compose.override.yaml", "compose.override.yml", "docker-compose.override.yml", "docker-compose.override.yaml"}

func compose(w *walker, c *cmd) (stream, bool) {
	o, rest := commands.Parse(c.args, lazy.Words("-f --file -p --project-name --profile --env-file --project-directory --ansi --progress --parallel"), false, true)
	if len(rest) > 0 && (rest[0].Text == "up" || rest[0].Text == "run" || rest[0].Text == "build" || rest[0].Text == "create" || rest[0].Text == "watch") {
		files := composeFiles
		for _, n := range []string{"-f", "--file"} {
			if v, ok := o.Flags[n]; ok {
				files = []string{v.Text}
			}
		}
		for _, name := range files {
			w.rests(arg.Known(name))
		}
	}
	if len(rest) > 0 && (rest[0].Text == "exec" || rest[0].Text == "run") {
		o, cmdline := commands.Parse(rest[1:], lazy.Words("-e --env -u --user -w --workdir --index -l --label --name -p --publish -v --volume --entrypoint --cap-add"), false, true)
		if len(cmdline) >= 2 {
			if rest[0].Text == "run" {
				risk := human.LowRisk // what the project's own file says, as up does
				if o.Has("-v", "--volume", "--entrypoint", "--cap-add", "-u", "--user") {
					risk = human.MediumRisk
				}
				w.simple(c, human.ContainerEffect, risk, "run")
			}
			w.away("container", func() stream { return w.run(cmdline[1:], c.in) })
			return handled(stream{})
		}
		w.simple(c, human.ContainerEffect, human.MediumRisk, "exec")
		return handled(stream{})
	}
	if c.name == "docker-compose" || c.name == "podman-compose" {
		s := commands.Of("docker-compose")
		o, _ := commands.Parse(c.args, s.Values, s.Long, false)
		w.rules(s, &o, c, true)
		return handled(stream{})
	}
	return stream{}, false
}
