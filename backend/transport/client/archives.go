package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"deskbell/backend/human"
)

// archiveTime bounds what reads or writes a whole backup.
const archiveTime = 12 * time.Hour

// Archives are the backups of Deskbell's data in a folder; "" is that of the settings. For operators.
type Archives struct {
	c      *Client
	folder string
}

// Archives are those in a folder.
func (c *Client) Archives(folder string) *Archives { return &Archives{c, folder} }

func (a *Archives) call(ctx context.Context, method, path string, query url.Values, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, archiveTime)
	defer cancel()
	put(query, "folder", a.folder)
	_, err := a.c.call(ctx, method, "/api/archives"+path+"?"+query.Encode(), body, into)
	return err
}

// Make makes one now, and blocks until it is made and verified.
func (a *Archives) Make(ctx context.Context, _ string) (made human.Archive, err error) {
	return made, a.call(ctx, http.MethodPost, "", url.Values{}, nil, &made)
}

// Show says what one has, and how it differs from today's database; of the missing operations those that search is found in.
func (a *Archives) Show(ctx context.Context, id, search string) (d human.ArchiveDifference, err error) {
	query := url.Values{}
	put(query, "q", search)
	return d, a.call(ctx, http.MethodGet, "/"+url.PathEscape(id), query, nil, &d)
}

// Restore brings back operations that today's database does not have.
func (a *Archives) Restore(ctx context.Context, id string, ids []human.OperationID) (r human.ArchiveRestored, err error) {
	return r, a.call(ctx, http.MethodPost, "/"+url.PathEscape(id)+"/restore", url.Values{}, map[string]any{"operations": ids}, &r)
}

// Delete deletes one.
func (a *Archives) Delete(id string) error {
	return a.call(context.Background(), http.MethodDelete, "/"+url.PathEscape(id), url.Values{}, nil, nil)
}
