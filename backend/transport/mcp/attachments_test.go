package mcp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/transport/mcp"
)

// picture is a PNG of stripes, of so many pixels.
func picture(t testing.TB, width, height int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := 0; i < width; i += 2 {
		img.Set(i, i%height, color.White)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encoded(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// write writes a file into a new folder and returns both.
func write(t testing.TB, name string, data []byte) (folder, path string) {
	t.Helper()
	folder = t.TempDir()
	path = filepath.Join(folder, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder, path
}

// What cannot be attached is said with what, where and what to do, and no request is made of it.
func TestWhatCannotBeAttached(t *testing.T) {
	q := open(t)
	folder, path := write(t, "notes.txt", []byte("words"))
	for name, size := range map[string]int64{"empty.txt": 0, "huge.png": human.LargestAttachment + 1, "large.txt": 1_000_001} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(folder, name), size); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "large.txt"), bytes.Repeat([]byte("a"), 1_000_001), 0o600); err != nil {
		t.Fatal(err)
	}
	local := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{LocalFiles: true, Folder: folder}, modern)
	s, _ := serve(t, q, mcp.Options{})
	remote := overHTTP(t, s, "dbk_bot", modern)
	homeless := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{LocalFiles: true}, modern)
	words := encoded([]byte("words"))
	for name, tt := range map[string]struct {
		c           *client
		files       any
		field, says string
	}{
		"no list":                      {local, args{"path": path}, "attachments", "must be a list"},
		"a number":                     {local, []any{7}, "attachments[0]", "is 7; a file is"},
		"an unknown field":             {local, []any{args{"file": path}}, "attachments[0]", `unknown field "file"`},
		"nothing":                      {local, []any{args{}}, "attachments[0]", "neither a path nor data"},
		"null":                         {local, []any{nil}, "attachments[0]", "neither a path nor data"},
		"no name":                      {local, []any{args{"data": words}}, "attachments[0]", "no name"},
		"no bytes":                     {local, []any{args{"name": "a.txt", "data": ""}}, "attachments[0]", "empty file"},
		"no bytes after all":           {local, []any{args{"name": "a.txt", "data": "data:text/plain;base64,"}}, "attachments[0]", "is empty"},
		"both":                         {local, []any{args{"name": "a.txt", "data": words, "path": path}}, "attachments[0]", "both path and data"},
		"broken base64":                {local, []any{args{"path": path}, args{"name": "a.txt", "data": "w!rds"}}, "attachments[1]", "not base64"},
		"text for base64":              {local, []any{args{"name": "a.txt", "data": "some words"}}, "attachments[0]", "not base64"},
		"base64 without its end":       {local, []any{args{"name": "a.txt", "data": strings.TrimRight(encoded([]byte("word")), "=")}}, "attachments[0]", "not base64"},
		"another type":                 {local, []any{args{"name": "a.png", "data": words, "mime": "image/png"}}, "attachments[0]", "by its bytes it is text/plain"},
		"a damaged image":              {local, []any{args{"name": "a.png", "data": encoded(picture(t, 9, 9)[:20])}}, "attachments[0]", "may be damaged"},
		"an empty file":                {local, []any{args{"path": "empty.txt"}}, "attachments[0]", "is empty"},
		"a huge file":                  {local, []any{args{"path": "huge.png"}}, "attachments[0]", "more than 10000000 bytes"},
		"a text that is too long":      {local, []any{args{"path": "large.txt"}}, "attachments[0]", "the limit for text/plain is 1000000"},
		"no such file":                 {local, []any{args{"path": "missing.txt"}}, "attachments[0]", filepath.Join(folder, "missing.txt")},
		"a folder":                     {local, []any{args{"path": "."}}, "attachments[0]", "no regular file"},
		"a device":                     {local, []any{args{"path": os.DevNull}}, "attachments[0]", "no regular file"},
		"the same twice":               {local, []any{args{"path": path}, args{"name": "b.txt", "data": words}}, "attachments[1]", "same bytes as attachments[0]"},
		"too many":                     {local, slicesOf(args{"path": path}, 11), "attachments", "there are 11 files; the limit is 10"},
		"another's id":                 {local, []any{args{"attachment_id": human.AttachmentOf([]byte("theirs"))}}, "attachments", "attach it again"},
		"no id":                        {local, []any{args{"attachment_id": "../etc/passwd"}}, "attachments", "is not the id of a file"},
		"a relative path of no folder": {homeless, []any{args{"path": "notes.txt"}}, "attachments[0]", "must be absolute"},
		"a path over HTTP":             {remote, []any{args{"path": path}}, "attachments[0]", "reads no files of yours over HTTP: send name and data"},
		"a path's text over HTTP":      {remote, []any{"/etc/passwd"}, "attachments[0]", "send name and data"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := tt.c.try(t.Context(), ask("With files").with(args{"attachments": tt.files, "wait_seconds": 0}), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !r.failed || r.Kind != "invalid" || r.Field != tt.field || !strings.Contains(r.Message, tt.says) || r.Next == "" {
				t.Errorf("%s", r.textAndJSON[0])
			}
		})
	}
	if page, err := q.List(t.Context(), mei, queue.Filter{}); err != nil || len(page.Operations) > 0 {
		t.Errorf("%d requests were made, %v", len(page.Operations), err)
	}
}

func slicesOf(one any, n int) (all []any) {
	for range n {
		all = append(all, one)
	}
	return all
}

// An agent attaches by path, by bytes and by id; its names lead nowhere, and asking again joins the same request.
func TestAnAgentAttachesFiles(t *testing.T) {
	q := open(t)
	folder, path := write(t, "notes.txt", []byte("words"))
	if err := os.Symlink("notes.txt", filepath.Join(folder, "link.md")); err != nil {
		t.Fatal(err)
	}
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{LocalFiles: true, Folder: folder}, modern)
	stored, err := q.Attach(t.Context(), bot, "stored.bin", []byte{0, 9})
	if err != nil {
		t.Fatal(err)
	}
	shot := picture(t, 30, 20)
	for name, tt := range map[string]struct {
		files []any
		want  string
	}{
		"by an absolute path":     {[]any{args{"path": path}}, "notes.txt text/plain"},
		"by a relative path":      {[]any{args{"path": "./notes.txt"}}, "notes.txt text/plain"},
		"by a link":               {[]any{args{"path": "link.md"}}, "link.md text/plain"},
		"by a path alone":         {[]any{"notes.txt"}, "notes.txt text/plain"},
		"by a path, with a name":  {[]any{args{"path": path, "name": "log.txt"}}, "log.txt text/plain"},
		"by id":                   {[]any{args{"attachment_id": stored.ID}}, "stored.bin application/octet-stream"},
		"by bytes":                {[]any{args{"name": "shot.png", "data": encoded(shot), "mime": "image/png"}}, "shot.png image/png"},
		"by a data URL":           {[]any{args{"name": "shot.png", "data": "data:image/png;base64," + encoded(shot)}}, "shot.png image/png"},
		"with folders in a name":  {[]any{args{"name": "../../etc/passwd", "data": encoded(shot)}}, "passwd image/png"},
		"with a type of no use":   {[]any{args{"name": "a.html", "data": encoded([]byte("<p>")), "mime": "text/html; charset=utf-8"}}, "a.html text/plain"},
		"of two kinds, in order":  {[]any{args{"name": "b.png", "data": encoded(shot)}, args{"path": path}}, "b.png image/png notes.txt text/plain"},
		"of backslashes in names": {[]any{args{"name": `C:\Users\me\shot.png`, "data": encoded(shot)}}, "shot.png image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			with := ask(name).with(args{"attachments": tt.files, "wait_seconds": 0})
			r := c.use(with)
			op, err := q.Get(t.Context(), mei, r.OperationID)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range op.Attachments {
				got = append(got, a.Name, a.Media)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%q", got)
			}
			if again := c.use(with); again.OperationID != r.OperationID || !again.Attached {
				t.Error("the same request again is another")
			}
			c.use(args{"action": "cancel", "operation_id": r.OperationID, "reason": "read"})
		})
	}
}

// The answer's files come with it: images as images, texts and small others as resources. The rest is named, with how to read it.
func TestFilesOfAnAnswer(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{Knowledge: true}, modern)
	stranger := inMemory(t, mcp.ForQueue(q, nil, other), mcp.Options{Knowledge: true}, modern)
	long := strings.Repeat("a line of the log 日志\n", 20_000)
	put := func(by human.Actor, name string, data []byte) human.Attachment {
		t.Helper()
		a, err := q.Attach(t.Context(), by, name, data)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	own := args{"name": "question.txt", "data": encoded([]byte("what the agent sent"))}
	op := c.use(ask("Look at this").with(args{"attachments": []any{own}, "wait_seconds": 0}))
	files := []human.Attachment{
		put(mei, "marked.png", picture(t, 2000, 1000)), put(mei, "note.txt", []byte("a short note")),
		put(mei, "small.bin", []byte{0, 1, 2}), put(mei, "long.log", []byte(long)), put(mei, "large.bin", bytes.Repeat([]byte{0, 7}, 100_000)),
	}
	var ids []string
	for _, f := range files {
		ids = append(ids, string(f.ID))
	}
	answer(t, q, op.OperationID, human.Answer{HumanInput: "see the files", Attachments: ids})

	r := c.use(args{"action": "check_result", "operation_id": op.OperationID})
	if len(r.Files) != 5 || len(r.images) != 1 || len(r.resources) != 2 {
		t.Fatalf("%d images, %d resources with %s", len(r.images), len(r.resources), r.textAndJSON[0])
	}
	for i, want := range []string{"image 1", "resource 1", "resource 2", "left out: ask get_evidence", "left out: ask get_evidence"} {
		if f := r.Files[i]; string(f.ID) != ids[i] || f.Name != files[i].Name || f.Media != files[i].Media || !strings.HasPrefix(f.Content, want) {
			t.Errorf("file %d: %+v", i, f)
		}
	}
	if says := r.Files[4].Content; !strings.Contains(says, "deskbell attachments save "+string(op.OperationID)) || !strings.Contains(says, "deskbell://human_actions/human_operation_"+string(op.OperationID)+"/"+ids[4]) {
		t.Errorf("the large one: %s", says)
	}
	size, kind, err := image.DecodeConfig(bytes.NewReader(r.images[0].Data))
	if err != nil || kind != "jpeg" || r.images[0].MIMEType != "image/jpeg" || size.Width != 1568 || size.Height != 784 {
		t.Errorf("a %s of %v, %v", kind, size, err)
	}
	if note, bin := r.resources[0], r.resources[1]; note.Text != "a short note" || note.MIMEType != "text/plain" || !bytes.Equal(bin.Blob, []byte{0, 1, 2}) || !strings.HasSuffix(bin.URI, "/"+ids[2]) {
		t.Errorf("%+v, %+v", note, bin)
	}

	// Within few tokens they are named, and content has no more than its share.
	for _, most := range []int{300, 700, 1500, 3000} {
		r := c.use(args{"action": "check_result", "operation_id": op.OperationID, "max_tokens": most})
		if n := human.Tokens(r.textAndJSON[0]); n > most {
			t.Errorf("max_tokens %d: the result has %d", most, n)
		}
		cost := 0
		for _, image := range r.images {
			cost += pixels(t, image.Data) / 750
		}
		for _, one := range r.resources {
			cost += human.Tokens(one.Text)
		}
		if human.Tokens(r.textAndJSON[0])+cost > most {
			t.Errorf("max_tokens %d: %d more of content", most, cost)
		}
	}
	if r := c.use(args{"action": "check_result", "operation_id": op.OperationID, "field": "attachments"}); !strings.Contains(r.Text, ids[3]+": long.log, text/plain, ") {
		t.Errorf("%s", r.Text)
	}

	// A long text is read part by part, one file after the other.
	var read strings.Builder
	for offset, parts := 0, 0; ; parts++ {
		r := c.use(args{"action": "get_evidence", "operation_id": op.OperationID, "evidence": []string{ids[3]}, "offset": offset})
		read.WriteString(r.Text)
		if offset = r.NextOffset; offset == 0 {
			if parts < 3 {
				t.Errorf("%d parts", parts)
			}
			break
		}
		if !strings.Contains(r.Next, `action=get_evidence`) || !strings.Contains(r.Next, ids[3]) {
			t.Fatalf("next: %s", r.Next)
		}
	}
	if read.String() != long {
		t.Error("the parts are not the text")
	}
	if r := c.use(args{"action": "get_evidence", "operation_id": op.OperationID, "evidence": ids[0]}); len(r.images) != 1 || r.Files[0].Content != "image 1" {
		t.Errorf("%s", r.textAndJSON[0])
	}
	mixed := c.use(args{"action": "get_evidence", "operation_id": op.OperationID, "evidence": []string{ids[0], ids[1], ids[4]}, "max_tokens": 1500})
	if len(mixed.images) != 1 || len(mixed.resources) != 1 || !strings.HasPrefix(mixed.Files[2].Content, "left out") {
		t.Errorf("%s", mixed.textAndJSON[0])
	}

	// What the agent sent is not given out, nor anything to another.
	sent := human.AttachmentOf([]byte("what the agent sent"))
	for name, tt := range map[string]struct {
		c        *client
		evidence any
		says     string
	}{
		"its own":        {c, []any{sent}, "came with your request"},
		"one of no one":  {c, []any{human.AttachmentOf([]byte("x"))}, "has no file"},
		"another's":      {stranger, []any{ids[1]}, "no operation"},
		"another's text": {stranger, []any{ids[3]}, "no operation"},
		"no id":          {c, []any{"att_../x"}, "is not a label"},
	} {
		r, err := tt.c.try(t.Context(), args{"action": "get_evidence", "operation_id": op.OperationID, "evidence": tt.evidence}, nil)
		if err != nil || !r.failed || !strings.Contains(r.Message, tt.says) || len(r.images)+len(r.resources) > 0 {
			t.Errorf("%s: %v %s", name, err, r.textAndJSON[0])
		}
	}

	// As resources they are whole.
	base := "deskbell://human_actions/human_operation_" + string(op.OperationID) + "/"
	found, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: base + ids[4]})
	if err != nil || len(found.Contents) != 1 || len(found.Contents[0].Blob) != 200_000 {
		t.Errorf("%v", err)
	}
	for c, uris := range map[*client][]string{c: {base + string(sent), base + "att_0", base}, stranger: {base + ids[4]}} {
		for _, uri := range uris {
			if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s is there", uri)
			}
		}
	}
}

// pixels is how many an image has.
func pixels(t testing.TB, data []byte) int {
	t.Helper()
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return c.Width * c.Height
}

// A file that is gone or damaged costs the answer nothing.
func TestAFileThatCannotBeRead(t *testing.T) {
	q := open(t)
	c := inMemory(t, faulty{mcp.ForQueue(q, nil, bot)}, mcp.Options{}, modern)
	op := c.use(ask("Look").with(args{"wait_seconds": 0}))
	a, err := q.Attach(t.Context(), mei, "a.txt", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	answer(t, q, op.OperationID, human.Answer{HumanInput: "see it", Attachments: []string{string(a.ID)}})
	if r := c.use(args{"action": "wait", "operation_id": op.OperationID}); r.HumanInput != "see it" || r.Files[0].Content != "it could not be read" {
		t.Errorf("%s", r.textAndJSON[0])
	}
}

// faulty reads no files.
type faulty struct{ mcp.Ringer }

func (faulty) Attachment(context.Context, human.AttachmentID, int) ([]byte, error) {
	return nil, human.Errorf(human.Internal, "the disk is damaged")
}
