package queue

import (
	"context"
	"slices"
	"time"

	"deskbell/backend/human"
)

// Files keeps attached files. Implementations are safe for concurrent use; their errors are of package human.
type Files interface {
	// Put checks a file and stores it under the SHA-256 of what it then is: durable when it returns. Name is the sender's and
	// counts for nothing else. A file that nothing names is removed after a day.
	Put(ctx context.Context, by human.Actor, name string, data []byte) (human.Attachment, error)
	// Keep notes that an operation is about to name a file, and returns what by said of it when by stored it: NotFound where by
	// did not, whatever others did. It is kept from then on for as long as the operation names it.
	Keep(ctx context.Context, by human.Actor, op human.OperationID, id human.AttachmentID) (human.Attachment, error)
	// Sent returns what by said of a file when by stored it; NotFound where by did not.
	Sent(ctx context.Context, by human.Actor, id human.AttachmentID) (human.Attachment, error)
	// Named returns the operations that may name a file.
	Named(ctx context.Context, id human.AttachmentID) ([]human.OperationID, error)
	// Removed says when retention removed the bytes of a file; nil where it did not.
	Removed(ctx context.Context, id human.AttachmentID) (*time.Time, error)
	// Expect notes that an operation of another desk names a file, whose bytes are not here.
	Expect(ctx context.Context, op human.OperationID, id human.AttachmentID) error
	// Fetched stores the bytes of a file that is expected, once they are found to be those that the id stands for.
	Fetched(ctx context.Context, id human.AttachmentID, data []byte) error
	// Read returns the bytes, once they are found to be those that the id stands for.
	Read(ctx context.Context, id human.AttachmentID) ([]byte, error)
	// JPEG returns an image, opaque and at most so many pixels wide.
	JPEG(ctx context.Context, id human.AttachmentID, width int) ([]byte, error)
}

// checkFiles returns an error for attachments that no request or answer can have.
func checkFiles(ids []human.AttachmentID) error {
	if len(ids) > human.MaxAttachments {
		return human.BadField("attachments", "there are %d files; the limit is %d", len(ids), human.MaxAttachments)
	}
	for i, id := range ids {
		if !id.Valid() {
			return human.BadField("attachments", "%q is not the id of a file; POST /api/attachments returns one", human.OneLine(string(id), 80))
		}
		if slices.Contains(ids[:i], id) {
			return human.BadField("attachments", "%s is there twice", id)
		}
	}
	return nil
}

// keepFiles notes that an operation is about to name files that by stored.
func (q *Queue) keepFiles(ctx context.Context, by human.Actor, op human.OperationID, ids []human.AttachmentID) ([]human.Attachment, error) {
	if q.opts.Files == nil {
		return nil, human.Errorf(human.Unavailable, "this Deskbell runs without attachments")
	}
	var all []human.Attachment
	for _, id := range ids {
		a, err := q.opts.Files.Keep(ctx, by, op, id)
		if isNotFound(err) {
			return nil, human.BadField("attachments", "you have attached no file %s, or too long ago; attach it again", id)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// files is what is known of the files that an answer names: those of the request or of the draft, and others that by stored.
func (q *Queue) files(ctx context.Context, by human.Actor, op human.Operation, a human.Answer) ([]human.Attachment, error) {
	own := human.Operation{Attachments: op.Attachments, Draft: op.DraftOf(by)}
	var all []human.Attachment
	for _, id := range a.AttachedIDs() {
		known, is := own.Attached(id)
		if !is {
			kept, err := q.keepFiles(ctx, by, op.ID, []human.AttachmentID{id})
			if err != nil {
				return nil, err
			}
			known = kept[0]
		}
		all = append(all, known)
	}
	return all, nil
}

// Attach stores a file of an agent or operator, for their next request or answer to name.
func (q *Queue) Attach(ctx context.Context, by human.Actor, name string, data []byte) (human.Attachment, error) {
	if q.opts.Files == nil {
		return human.Attachment{}, human.Errorf(human.Unavailable, "this Deskbell runs without attachments")
	}
	return q.opts.Files.Put(ctx, by, name, data)
}

// Attachment returns what is known of a file. An agent reads what it sent, and what came with an answer to a request of its own;
// an operator what they sent, and what belongs to an operation or a draft. To all others it is NotFound, as if it did not exist.
func (q *Queue) Attachment(ctx context.Context, by human.Actor, id human.AttachmentID) (human.Attachment, error) {
	none := human.Errorf(human.NotFound, "you have no attachment %s", human.OneLine(string(id), 80))
	if q.opts.Files == nil || !id.Valid() {
		return human.Attachment{}, none
	}
	ops, err := q.opts.Files.Named(ctx, id)
	if err != nil {
		return human.Attachment{}, err
	}
	for _, named := range ops {
		op, err := q.load(ctx, named)
		if isNotFound(err) {
			continue // it was not stored after all
		}
		if err != nil {
			return human.Attachment{}, err
		}
		if by.Role == human.Agent {
			if op.AgentID != by.Name {
				continue
			}
			op = op.ForAgent()
		}
		if a, is := op.Attached(id); is {
			a.Removed, err = q.opts.Files.Removed(ctx, id)
			return a, err
		}
	}
	a, err := q.opts.Files.Sent(ctx, by, id)
	if isNotFound(err) {
		return a, none
	}
	if err == nil {
		a.Removed, err = q.opts.Files.Removed(ctx, id)
	}
	return a, err
}

// Marked is the operation, its files of the request and the answer with the time at which retention removed their bytes. Where that cannot
// be read they count as there. It looks at the disk once for each file.
func (q *Queue) Marked(ctx context.Context, op human.Operation) human.Operation {
	if q.opts.Files == nil {
		return op
	}
	mark := func(files []human.Attachment) []human.Attachment {
		files = slices.Clone(files)
		for i, a := range files {
			files[i].Removed, _ = q.opts.Files.Removed(ctx, a.ID)
		}
		return files
	}
	op.Attachments = mark(op.Attachments)
	if op.Result != nil && len(op.Result.Files) > 0 {
		result := *op.Result
		result.Files = mark(result.Files)
		op.Result = &result
	}
	return op
}

// AttachmentData returns a file that by may read (see Attachment): its bytes as they are, or with a width those of a JPEG of at
// most so many pixels across. What another desk has comes from there, which may take a minute.
func (q *Queue) AttachmentData(ctx context.Context, by human.Actor, id human.AttachmentID, width int) (human.Attachment, []byte, error) {
	a, err := q.Attachment(ctx, by, id)
	if err != nil {
		return a, nil, err
	}
	read := q.opts.Files.Read
	if width > 0 {
		if !a.Picture() {
			return a, nil, human.BadField("width", "%s is no image", id)
		}
		read = func(ctx context.Context, id human.AttachmentID) ([]byte, error) {
			return q.opts.Files.JPEG(ctx, id, width)
		}
	}
	data, err := read(ctx, id)
	if !isNotFound(err) || q.opts.Fetch == nil || a.Removed != nil {
		return a, data, err
	}
	once, _ := q.fetching.LoadOrStore(id, make(chan struct{}, 1))
	select {
	case once.(chan struct{}) <- struct{}{}:
		defer func() { <-once.(chan struct{}) }()
	case <-ctx.Done():
		return a, nil, ctx.Err()
	}
	if data, err = read(ctx, id); isNotFound(err) { // else another caller was first
		if err = q.fetch(ctx, id); err == nil {
			data, err = read(ctx, id)
		}
	}
	return a, data, err
}

// fetchTime is how long other desks are asked for a file.
const fetchTime = time.Minute

// fetch stores a file that another desk of the team has, also where its caller does not wait for so long: the next one finds it. Any
// operation may name a file, also of a member who means harm, so all of them are tried.
func (q *Queue) fetch(ctx context.Context, id human.AttachmentID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
	defer cancel()
	ops, err := q.opts.Files.Named(ctx, id)
	if err != nil {
		return err
	}
	failed := error(human.Errorf(human.NotFound, "no attachment %s", id))
	for _, op := range ops {
		entries, err := q.journal.Operation(ctx, op)
		if err != nil {
			return err
		}
		data, err := q.opts.Fetch(ctx, entries, id)
		if err == nil {
			err = q.opts.Files.Fetched(ctx, id, data)
		}
		if err == nil {
			return nil
		}
		if !isNotFound(err) {
			failed = err
		}
	}
	return failed
}

// Names says whether an operation names a file, in its request, its answer or a draft. One that does not exist names none.
func (q *Queue) Names(ctx context.Context, op human.OperationID, id human.AttachmentID) (bool, error) {
	found, err := q.load(ctx, op)
	if isNotFound(err) {
		return false, nil
	}
	_, is := found.Attached(id)
	return is, err
}
