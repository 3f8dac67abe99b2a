package api

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"deskbell/backend/human"
)

const attachmentsPath = "/api/attachments"

type (
	attachInput struct {
		Name  string `query:"name" maxLength:"1000" doc:"The file's name, to show it under."`
		bytes []byte
	}
	attachmentInput struct {
		ID    human.AttachmentID `path:"id" doc:"The attachment's id."`
		Width int                `query:"width" minimum:"1" maximum:"4096" doc:"Of an image: as a JPEG of at most so many pixels across."`
		Have  string             `header:"If-None-Match" doc:"The ETag of the bytes you have."`
	}
	attachmentIDInput struct {
		ID human.AttachmentID `path:"id" doc:"The attachment's id."`
	}
)

// Resolve implements huma.Resolver. What the sender says of the type is not read: it counts for nothing.
func (in *attachInput) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	var err error
	if in.bytes, err = io.ReadAll(r.Body); err != nil {
		return []error{problemOf(unread(err), r.Method)}
	}
	return nil
}

// An attachmentAnswer is a file, or that the caller has it. A browser that opens it runs nothing of it and takes it for nothing
// else: only pictures are shown, the rest is saved.
type attachmentAnswer struct {
	Status       int
	ContentType  string `header:"Content-Type"`
	Disposition  string `header:"Content-Disposition"`
	Policy       string `header:"Content-Security-Policy"`
	ETag         string `header:"ETag"`
	CacheControl string `header:"Cache-Control"`
	Vary         string `header:"Vary"`
	Body         []byte
}

func (s *Server) attachments(c catalogue) {
	q := s.deps.Queue
	attach := route{http.MethodPost, attachmentsPath, "attach", "Store a file, for a request or an answer to name; one that nothing names is removed after a day", signedIn, http.StatusCreated}
	add(c, attach, func(ctx context.Context, x *exchange, in *attachInput) (*answer[*human.Attachment], error) {
		a, err := q.Attach(ctx, x.by, in.Name, in.bytes)
		if err != nil {
			return nil, err
		}
		return &answer[*human.Attachment]{http.StatusCreated, &a}, nil
	})
	add(c, route{http.MethodGet, attachmentsPath + "/{id}", "getAttachment", "A file: one that you sent, or that came with an operation of yours", signedIn, 0},
		func(ctx context.Context, x *exchange, in *attachmentInput) (*attachmentAnswer, error) {
			tag := fmt.Sprintf(`"%s-%d"`, in.ID, in.Width)
			if in.Have == tag {
				if _, err := q.Attachment(ctx, x.by, in.ID); err != nil {
					return nil, err
				}
				return &attachmentAnswer{Status: http.StatusNotModified, ETag: tag}, nil
			}
			a, data, err := q.AttachmentData(ctx, x.by, in.ID, in.Width)
			if err != nil {
				return nil, err
			}
			out := &attachmentAnswer{
				Status: http.StatusOK, ContentType: a.Media, Disposition: disposition(a), Policy: "default-src 'none'; frame-ancestors 'none'; sandbox",
				ETag: tag, CacheControl: "private, no-cache", Vary: "Authorization", Body: data,
			}
			switch {
			case in.Width > 0:
				out.ContentType = "image/jpeg"
			case a.Text():
				out.ContentType += "; charset=utf-8"
			}
			return out, nil
		})
	add(c, route{http.MethodGet, attachmentsPath + "/{id}/info", "getAttachmentInfo", "What is known of a file", signedIn, 0},
		func(ctx context.Context, x *exchange, in *attachmentIDInput) (*answer[*human.Attachment], error) {
			a, err := q.Attachment(ctx, x.by, in.ID)
			return ok(&a, err)
		})

	binary := map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	o := c.api.OpenAPI()
	sends := operationAt(o, http.MethodPost, attachmentsPath)
	sends.RequestBody = &huma.RequestBody{Required: true, Content: binary, Description: "The file's bytes: up to 10 MB of an image or PDF, 1 MB of a text, 5 MB of anything else."}
	delete(sends.Responses, "200")
	gets := operationAt(o, http.MethodGet, attachmentsPath+"/{id}")
	gets.Responses["200"].Content = binary
	gets.Responses["304"] = &huma.Response{Description: "You have it."}
}

// disposition says whether a browser shows a file, and what to save it as.
func disposition(a human.Attachment) string {
	how := "attachment"
	if a.Picture() {
		how = "inline"
	}
	if text := mime.FormatMediaType(how, map[string]string{"filename": strings.ToValidUTF8(a.Name, "_")}); text != "" {
		return text
	}
	return how
}
