package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

// attach stores files for a request or an answer, in order.
func (s *shell) attach(ctx context.Context, c *client.Client, paths []string) (ids []human.AttachmentID, err error) {
	if len(paths) > human.MaxAttachments {
		return nil, human.Errorf(human.Invalid, "--attach is there %d times; the limit is %d files", len(paths), human.MaxAttachments)
	}
	for _, path := range paths {
		name, data, err := client.ReadAttachment(path)
		if err != nil {
			return nil, err
		}
		a, err := c.Attach(ctx, name, data)
		if err != nil {
			return nil, err
		}
		if at := slices.Index(ids, a.ID); at >= 0 {
			return nil, human.Errorf(human.Invalid, "%s and %s are the same bytes; attach them once", paths[at], path)
		}
		if a.Masked > 0 {
			s.note("In %s, secrets were masked: %d.", visible(a.Name), a.Masked)
		}
		ids = append(ids, a.ID)
	}
	return ids, nil
}

func (s *shell) attachmentsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "attachments",
		Short: "List and save the files that came with a request or its answer",
		Long: "List and save the files that came with a request or its answer. With an agent's key (DESKBELL_KEY) instead of an operator's\n" +
			"session, those of that agent's own requests.",
	}
	c.AddCommand(s.attachmentsListCommand(), s.attachmentsSaveCommand())
	return c
}

// A cameFile is a file of an operation, and with what it came.
type cameFile struct {
	human.Attachment
	With string `json:"with"` // request or answer
}

// filesOf are the files of an operation, of a client of whoever may read it.
func (s *shell) filesOf(ctx context.Context, id string) (*client.Client, []cameFile, error) {
	reader, err := s.reader(ctx)
	if err != nil {
		return nil, nil, err
	}
	op, err := reader.Operation(ctx, human.OperationID(id))
	if err != nil {
		return nil, nil, err
	}
	all := []cameFile{}
	for _, a := range op.Attachments {
		all = append(all, cameFile{a, "request"})
	}
	if op.Result != nil {
		for _, a := range op.Result.Files {
			if !slices.ContainsFunc(all, func(f cameFile) bool { return f.ID == a.ID }) {
				all = append(all, cameFile{a, "answer"})
			}
		}
	}
	return reader, all, nil
}

func (s *shell) attachmentsListCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "list ID", Short: "List the files of an operation", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			_, all, err := s.filesOf(c.Context(), args[0])
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(struct {
					Attachments []cameFile `json:"attachments"`
				}{all})
			}
			if len(all) == 0 {
				s.note("%s has no files.", visible(args[0]))
			}
			w := s.columns()
			for _, a := range all {
				w.row("%s\t%s\t%s\t%s\t%s\n", a.With, oneLine(a.Name, 60), a.Media, size(a.Size), a.ID)
			}
			return w.flush()
		},
	}
	return s.operatorFlags(c, "print the files as one line of JSON")
}

func (s *shell) attachmentsSaveCommand() *cobra.Command {
	var folder string
	c := &cobra.Command{
		Use:   "save ID [FILE...]",
		Short: "Save the files of an operation, or those with these names or ids",
		Long: "Save the files of an operation, or those with these names or ids, into this folder or that of --output, each under its name.\n" +
			"Nothing is overwritten: where the name is taken, the new file's has a number. The path of each is printed.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			reader, all, err := s.filesOf(c.Context(), args[0])
			if err != nil {
				return err
			}
			if all, err = chosen(all, args[0], args[1:]); err != nil {
				return err
			}
			type savedFile struct {
				ID   human.AttachmentID `json:"attachment_id"`
				File string             `json:"file"`
			}
			saved := []savedFile{}
			for _, a := range all {
				data, err := reader.Attachment(c.Context(), a.ID, 0)
				if err != nil {
					return err
				}
				path, err := saveNew(folder, a.FileName(), data)
				if err != nil {
					return err
				}
				if !s.json {
					s.printf("%s\n", visible(path))
				}
				saved = append(saved, savedFile{a.ID, path})
			}
			if s.json {
				return s.printJSON(struct {
					Saved []savedFile `json:"saved"`
				}{saved})
			}
			return nil
		},
	}
	c.Flags().StringVarP(&folder, "output", "o", ".", "the `FOLDER` to save into, which must exist")
	return s.operatorFlags(c, "print the files' paths as one line of JSON")
}

// chosen are the files with one of the names or ids; all where there are none.
func chosen(all []cameFile, id string, wanted []string) (out []cameFile, err error) {
	if len(all) == 0 {
		return nil, human.Errorf(human.NotFound, "%s has no files", id)
	}
	if len(wanted) == 0 {
		return all, nil
	}
	for _, want := range wanted {
		before := len(out)
		for _, a := range all {
			if a.Name == want || string(a.ID) == want {
				out = append(out, a)
			}
		}
		if len(out) == before {
			return nil, human.Errorf(human.NotFound, "%s has no file %s; `deskbell attachments list %[1]s` lists those it has", id, want)
		}
	}
	return out, nil
}

// saveNew writes a file under a name that is not taken: the given one, or that with a number.
func saveNew(folder, name string, data []byte) (path string, err error) {
	ending := filepath.Ext(name)
	for n := 1; ; n++ {
		path = filepath.Join(folder, name)
		if n > 1 {
			path = filepath.Join(folder, fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ending), n, ending))
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err == nil {
			_, err = f.Write(data)
			if err = errors.Join(err, f.Close()); err != nil {
				err = errors.Join(err, os.Remove(path))
			}
		}
		if err != nil {
			return "", human.Wrap(human.Unavailable, err, "%s cannot be written: %v", path, err)
		}
		return path, nil
	}
}
