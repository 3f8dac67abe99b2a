package shell

import (
	"path"
	"slices"
	"strings"
)

// secretPlace is secretSpot or envFile where a path is that of secrets by its name, else inProject.
func secretPlace(abs string) place {
	base := path.Base(abs)
	for _, p := range secretParts {
		if strings.Contains(abs+"/", p) && !strings.HasSuffix(abs, ".pub") && base != "known_hosts" && (p != "/.ssh/" || base != "config") {
			return secretSpot
		}
	}
	if secretNames()[base] {
		return secretSpot
	}
	for _, e := range secretEndings {
		if strings.HasSuffix(base, e) && len(base) > len(e) && !strings.Contains(base, "pub") && !strings.HasPrefix(base, "cert") && base != "ca.pem" {
			return secretSpot
		}
	}
	if (base == ".env" || strings.HasPrefix(base, ".env.")) && !strings.HasSuffix(base, ".example") && !strings.HasSuffix(base, ".sample") && !strings.HasSuffix(base, ".template") {
		return envFile
	}
	return inProject
}

// HoldsSecrets says whether a path, absolute and with slashes, is that of a file or folder of secrets by its name: keys,
// tokens, histories of shells, settings such as .env.
func HoldsSecrets(abs string) bool { return secretPlace(abs) != inProject }

// SecretPlaces are files and folders in which secrets are kept, below a home and elsewhere on the machine. Of some only
// the beginning of the name is known.
func SecretPlaces(home string) []string {
	all := make([]string, 0, len(secretParts)+len(secretNames()))
	for _, p := range secretParts {
		if strings.HasPrefix(p, "/etc/") || strings.HasPrefix(p, "/run/") || strings.HasPrefix(p, "/var/") {
			all = append(all, strings.TrimSuffix(p, "/"))
		} else if !strings.HasPrefix(p, "/proc/") {
			all = append(all, home+strings.TrimSuffix(p, "/"))
		}
	}
	for name := range secretNames() {
		all = append(all, home+"/"+name)
	}
	slices.Sort(all)
	return all
}

// RunsByItself says whether what a path holds, absolute and with slashes, is run later without being asked for, or says
// what runs: hooks of git, settings of agents and editors, start files of shells.
func RunsByItself(abs string) bool {
	for _, parts := range [][]string{startDirs, hookSettings} {
		if slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(abs+"/", p) }) {
			return true
		}
	}
	return startFiles()[path.Base(abs)]
}
