package find

import (
	"cmp"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// fewFiles is how many files with the same fate in one folder have a finding each; of more, so many are named.
const (
	fewFiles   = 3
	namedFiles = 8
)

// findFiles tells what became of files. Those of one folder that changed in the same way are reported together.
func findFiles(r *Result) []Claim {
	var out []Claim
	landed := map[human.Ref]bool{}
	for _, file := range r.landed() {
		landed[file] = true
	}
	for _, g := range r.FileGroup() {
		if len(g.Files) <= fewFiles {
			for _, f := range g.Files {
				one := facts.FileGroup{Verb: g.Verb, Dir: g.Dir, Files: []*facts.File{f}}
				effect, brief := fileEffects[g.Verb], r.briefly(&one)
				if len(f.Ops) > 1 && landed[f.Ops[0].Ref()] { // the download has a claim of its own
					effect, brief = facts.Changed, movedTo(f)
				}
				out = append(out, claim(human.FoundDone, 1, r.fileChange(f, g.Verb), facts.Refs(f.Ops...)...).with(effect, brief))
			}
			continue
		}
		var names []string
		var evidence []human.Ref
		for i, f := range g.Files {
			if i < namedFiles {
				names = append(names, facts.Exactly(facts.BaseName(cmp.Or(f.Now, f.Was)), facts.MaxName))
			}
			if len(g.Files) > 10*maxRefs && i >= namedFiles {
				break
			}
			evidence = append(evidence, f.Last().Ref())
		}
		dir := facts.Exactly(g.Dir, facts.MaxSaid)
		what := list(names)
		if len(g.Files) > len(names) {
			what = Phrase{Args: []any{series(names)}}.then(say("files-go-on"))
		}
		n := manyFiles(len(g.Files))
		text := map[string]Phrase{
			"created": say("files-created", n, dir, what),
			"changed": say("files-saved", n, dir, what),
			"renamed": say("files-renamed", n, dir, what),
			"moved":   say("files-moved", n, dir, what),
			"deleted": say("files-deleted", n, dir, what),
		}[g.Verb]
		out = append(out, claim(human.FoundDone, 1, text, evidence...).with(fileEffects[g.Verb], r.briefly(g)))
	}
	return out
}

var fileEffects = map[string]facts.Effect{"created": facts.Created, "deleted": facts.Deleted, "changed": facts.Changed, "renamed": facts.Changed, "moved": facts.Changed}

// manyFiles counts files, as far as their references can be counted.
func manyFiles(n int) Phrase {
	if n > maxRefs {
		return say("many-files")
	}
	return Count(n, "one-file", "several-files")
}

// briefly says what became of files, for the line.
func (r *Result) briefly(g *facts.FileGroup) Phrase {
	f := g.Files[0]
	now := literal(facts.Exactly(facts.BaseName(cmp.Or(f.Now, f.Was)), facts.MaxName))
	if len(g.Files) > 1 {
		now = manyFiles(len(g.Files))
	}
	switch g.Verb {
	case "created":
		switch made := f.Ops[0].File.Path; {
		case len(g.Files) > 1 || made == f.Now:
		case facts.BaseName(made) != facts.BaseName(f.Now):
			return say("renamed-to", facts.Exactly(facts.BaseName(made), facts.MaxName), now)
		case facts.Folder(made) != facts.Folder(f.Now):
			return say("created-and-moved", now, facts.Exactly(facts.BaseName(facts.Folder(f.Now)), facts.MaxName))
		}
		return say("created", now)
	case "deleted":
		return say("deleted", now)
	case "renamed":
		if len(g.Files) == 1 {
			return say("renamed-to", facts.Exactly(facts.BaseName(f.Was), facts.MaxName), now)
		}
		return say("renamed", now)
	case "moved":
		if len(g.Files) == 1 {
			return movedTo(f)
		}
		return say("moved", now)
	}
	return say("saved", now)
}

// movedTo says that a file was moved to a folder, or has another name in its own.
func movedTo(f *facts.File) Phrase {
	was := cmp.Or(f.Was, f.Ops[0].File.Path)
	if facts.Folder(was) == facts.Folder(f.Now) {
		return say("renamed-to", facts.Exactly(facts.BaseName(was), facts.MaxName), facts.Exactly(facts.BaseName(f.Now), facts.MaxName))
	}
	return say("moved-to", facts.Exactly(facts.BaseName(was), facts.MaxName), facts.Exactly(facts.BaseName(facts.Folder(f.Now)), facts.MaxName))
}

// fileChange says what became of one file.
func (r *Result) fileChange(f *facts.File, verb string) Phrase {
	sort := say("file")
	if f.Dir {
		sort = say("folder")
	}
	was, now := facts.Exactly(f.Was, facts.MaxSaid), facts.Exactly(f.Now, facts.MaxSaid)
	switch first := f.Ops[0].File; {
	case verb == "created" && first.Path != f.Now && facts.Folder(first.Path) != facts.Folder(f.Now):
		return say("file-created-and-moved", sort, facts.Exactly(first.Path, facts.MaxSaid), now)
	case verb == "created" && first.Path != f.Now:
		return say("file-created-and-renamed", sort, facts.Exactly(first.Path, facts.MaxSaid), now)
	}
	switch verb {
	case "created":
		return say("file-created", sort, now)
	case "deleted":
		return say("file-deleted", sort, was)
	case "renamed":
		return say("file-renamed", sort, facts.Exactly(facts.BaseName(f.Was), facts.MaxSaid), facts.Exactly(facts.BaseName(f.Now), facts.MaxSaid), facts.Exactly(facts.Folder(f.Now), facts.MaxSaid))
	case "moved":
		if facts.BaseName(f.Was) == facts.BaseName(f.Now) {
			return say("file-moved", sort, was, facts.Exactly(facts.Folder(f.Now), facts.MaxSaid))
		}
		return say("file-moved-as", sort, was, now)
	}
	return say("file-saved", sort, now)
}

// findFilesGone tells of files that came and went again, went and came again, or got a name and lost it.
func findFilesGone(r *Result) []Claim {
	var out []Claim
	for _, f := range r.Files() {
		switch {
		case f.Was == "" && f.Now == "" && len(f.Ops) > 1:
			first := f.Ops[0].File
			out = append(out, claim(human.FoundDetour, 1, say("file-created-and-deleted", facts.Exactly(first.Path, facts.MaxSaid)), facts.Refs(f.Ops...)...))
		case f.Restored():
			out = append(out, claim(human.FoundDetour, 1, say("file-deleted-and-restored", facts.Exactly(f.Was, facts.MaxSaid)), facts.Refs(f.Ops...)...))
		case f.Was != "" && f.Was == f.Now && f.Ops[0].File.Op == "renamed" && len(f.Ops) > 1:
			out = append(out, claim(human.FoundDetour, 1, say("file-renamed-and-back",
				facts.Exactly(f.Was, facts.MaxSaid), facts.Exactly(facts.BaseName(f.Ops[0].File.To), facts.MaxSaid)), facts.Refs(f.Ops...)...))
		}
	}
	return out
}
