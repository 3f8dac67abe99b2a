package library

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"

	"deskbell/backend/human"
)

const castMedia = "application/x-asciicast"

// Cast returns what a terminal printed as asciicast v3, with the recording's edits: without the commands that were removed or
// masked and their output. An agent gets it where the operator shares text; else it is Denied. NotFound where the recording is
// not one of a terminal.
func (l *Library) Cast(ctx context.Context, by human.Actor, id human.RecordingID) (Export, error) {
	r, _, err := l.open(ctx, by, id)
	if l.mayAsk(by, err) {
		return Export{"recording-" + plain(string(id)) + ".cast", castMedia, func(w io.Writer) error {
			_, err := l.deps.Asked(ctx, Wanted{Recording: id, Part: "cast"}, w)
			return err
		}}, nil
	}
	if err != nil {
		return Export{}, err
	}
	if r.PicturesRemoved != nil {
		return Export{}, human.Errorf(human.NotFound, "what a terminal printed in recording %s was removed on %s by retention", id, dayOf(r.PicturesRemoved))
	}
	edits, err := l.deps.Store.Edits(ctx, id)
	if err != nil {
		return Export{}, err
	}
	if by.Role == human.Agent && !edits.ShareText {
		return Export{}, human.Errorf(human.Denied, "the operator does not share what the terminal of recording %s printed; its actions have the commands and exit codes", id)
	}
	if l.deps.Casts == nil {
		return Export{}, human.Errorf(human.NotFound, "recording %s is not one of a terminal", id)
	}
	file, err := l.deps.Casts.Open(id)
	if err != nil {
		return Export{}, err
	}
	gone := slices.Concat(edits.Cuts, edits.MaskedTexts)
	name := "recording-" + r.StartedAt.UTC().Format("20060102-150405") + "-" + plain(string(id)) + ".cast"
	return Export{name, castMedia, func(w io.Writer) error {
		defer file.Close() //nolint:errcheck // it was only read
		return edited(w, file, gone)
	}}, nil
}

// edited copies a cast without comments, and without what stands between those that begin and end a command that is gone.
func edited(w io.Writer, cast io.Reader, gone []string) error {
	lines, out := bufio.NewReaderSize(cast, 64<<10), bufio.NewWriter(w)
	within := false
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF { //nolint:errorlint // as package io says it; half a line is still being written
			return out.Flush()
		}
		if err != nil {
			return err
		}
		if id, is := strings.CutPrefix(line, "# command "); is {
			if within = slices.Contains(gone, strings.TrimSpace(id)); within {
				line = "[0.000000, \"m\", \"removed\"]\n"
			} else {
				continue
			}
		} else if strings.HasPrefix(line, "# ") {
			within = within && !strings.HasPrefix(line, "# end ")
			continue
		} else if within {
			continue
		}
		if _, err := out.WriteString(line); err != nil {
			return err
		}
	}
}
