package client

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"deskbell/backend/human"
)

const attachmentsPath = "/api/attachments"

// Attach stores a file, for a request or an answer to name; it is durable when it returns. Doing it again changes nothing. The name is
// for people. One that nothing names is removed after a day.
func (c *Client) Attach(ctx context.Context, name string, data []byte) (human.Attachment, error) {
	var a human.Attachment
	_, err := c.call(ctx, http.MethodPost, attachmentsPath+"?"+url.Values{"name": {name}}.Encode(), raw(data), &a)
	return a, err
}

// Attachment returns the bytes of a file that the caller stored, or that came with an operation of theirs: as they are, or with a width
// those of an image as a JPEG of at most so many pixels across.
func (c *Client) Attachment(ctx context.Context, id human.AttachmentID, width int) ([]byte, error) {
	path := attachmentsPath + "/" + url.PathEscape(string(id))
	if width > 0 {
		return c.bytes(ctx, path+"?width="+strconv.Itoa(width))
	}
	data, err := c.bytes(ctx, path)
	if err == nil && human.AttachmentOf(data) != id {
		err = human.Errorf(human.Internal, "the bytes of %s are not those that were attached", id)
	}
	return data, err
}

// ReadAttachment reads a file of this process's user to attach it: a regular one, which a link may lead to, and never more than an
// attachment may have. It does not block. Name is for Attach.
func ReadAttachment(path string) (name string, data []byte, err error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil { // a FIFO may have taken its place
			defer f.Close() //nolint:errcheck // it was read
			// What has no size is no file on a disk: /proc/self/environ would be this process's own.
			if info, err = f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
				data, err = io.ReadAll(io.LimitReader(f, human.LargestAttachment+1))
			}
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = human.Wrap(human.Invalid, err, "there is no file %s", path)
	case errors.Is(err, fs.ErrPermission):
		err = human.Wrap(human.Invalid, err, "%s cannot be read by the user that this program runs as", path)
	case err != nil:
		err = human.Wrap(human.Invalid, err, "%s cannot be read: %v", path, err)
	case !info.Mode().IsRegular():
		err = human.Errorf(human.Invalid, "%s is no regular file; name a file, not a folder or a device", path)
	case len(data) > human.LargestAttachment:
		err = human.Errorf(human.Invalid, "%s has more than %d bytes; attach a part, or say where the file is", path, human.LargestAttachment)
	case len(data) == 0:
		err = human.Errorf(human.Invalid, "%s is empty; write it first, or name another file", path)
	}
	if err != nil {
		return "", nil, err
	}
	return filepath.Base(path), data, nil
}
