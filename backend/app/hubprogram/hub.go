// Package hubprogram is the hub of a team for the command line, without what only a desk needs.
package hubprogram

import (
	"context"
	"errors"
	"io"
	"os"

	"deskbell/backend/human"
	"deskbell/backend/platform/sealed"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/team"
	"deskbell/backend/store/team/hub"
	"deskbell/backend/transport/cli"
)

// Hub is the hub of a team, for the command line.
func Hub() cli.Hub {
	return cli.Hub{
		Open: func(ctx context.Context, o cli.HubOptions) (cli.HubServer, error) {
			if err := sealed.Seal(); err != nil {
				return nil, human.Wrap(human.Unavailable, err, "this process cannot be kept from others: %v", err)
			}
			if err := os.MkdirAll(o.Dir, 0o700); err != nil {
				return nil, human.Wrap(human.Unavailable, err, "the hub's folder cannot be made: %v", err)
			}
			log, file, err := datadir.OpenLog(o.Dir, o.Errors)
			if err != nil {
				return nil, human.Wrap(human.Unavailable, err, "the hub's log cannot be written: %v", err)
			}
			h, err := hub.Open(ctx, hub.Options{
				Dir: o.Dir, Keys: o.Keys, Team: o.Team, Addr: o.Addr, WebAddr: o.WebAddr, Hosts: o.Hosts,
				ServerName: o.Name, ClusterAddr: o.Cluster, Routes: o.Routes, FoldAfter: o.FoldAfter, Log: log,
			})
			if err != nil {
				return nil, errors.Join(err, file.Close())
			}
			return hubServer{h, file}, nil
		},
		MakeKeys: hub.MakeKeys,
		Office: func(ctx context.Context, dir string) (cli.HubOffice, error) {
			f, err := hub.Enter(ctx, dir)
			if err != nil {
				return nil, err
			}
			return hubOffice{f}, nil
		},
	}
}

type hubServer struct {
	*hub.Hub
	log io.Closer
}

func (h hubServer) Office() cli.HubOffice { return hubOffice{h.Hub.Office()} }

func (h hubServer) Close() error { return errors.Join(h.Hub.Close(), h.log.Close()) }

type hubOffice struct{ *hub.Office }

func (f hubOffice) Invite(ctx context.Context, member, role string) (string, error) {
	return f.Office.Invite(ctx, member, team.Role(role))
}

func (f hubOffice) Desks(ctx context.Context) ([]human.TeamDesk, error) {
	desks, err := f.Office.Desks(ctx)
	all := make([]human.TeamDesk, 0, len(desks))
	for _, d := range desks {
		all = append(all, d.Shown())
	}
	return all, err
}
