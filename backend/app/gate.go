package app

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/gate/service"
	"deskbell/backend/store/backups"
	"deskbell/backend/store/settings/gatefile"
	"deskbell/backend/workspace"
	"deskbell/summarizers/prompt"
)

// pruneEvery is between two looks for backups whose time is up.
const pruneEvery = 24 * time.Hour

// openGate puts the gatekeeper together.
func (h *House) openGate(ctx context.Context, shelf *shelf) error {
	file := gatefile.Open(filepath.Join(h.config.Dir, gatefile.Name))
	h.backups = backups.New(h.config.Dir, time.Now, shelf.mask, tree)
	d := service.Deps{
		Queue: h.queue, Store: h.store.Gate(), Files: h.backups, Operator: h.operator(), Mask: shelf.masker.Within, Guard: h.config.Dir, Now: time.Now, Log: h.log,
		File: func() service.File {
			now := file.Read()
			return service.File{Path: file.Path(), Rules: now.Rules, Config: now.Config, Problem: now.Problem}
		},
		Project:   func(_ service.File, root string) *rules.Set { return file.With(root) },
		SetPolicy: file.SetPolicy,
		Root:      workspace.Root,
		Ground: func(ctx context.Context, call gate.Call, made func(string) bool) service.Ground {
			return workspace.New(ctx, call, made)
		},
		NewID: func(prefix string) string { return prefix + strings.ToLower(ulid.Make().String()) },
	}
	if h.settings.Model.Provider != "none" {
		if m, err := shelf.ask(""); err == nil {
			d.Model = opinion{m}
		} else {
			h.log.Warn("the gatekeeper has no model", "err", err)
		}
	}
	var err error
	h.gate, err = service.New(ctx, d)
	return err
}

// tree is the working tree that a folder is in, for copies of it.
func tree(dir string) (backups.Tree, error) {
	repo, err := workspace.Open(dir)
	if err != nil {
		return nil, err // not a nil *workspace.Repo, which would be no nil backups.Tree
	}
	return repo, nil
}

// opinion is the model of the settings, as the gatekeeper asks it.
type opinion struct{ prompt.Model }

func (o opinion) Name() string { return o.About().Name }

func (o opinion) Ask(ctx context.Context, system, user string, schema json.RawMessage) (string, error) {
	reply, err := o.Model.Ask(ctx, prompt.Request{System: system, Text: user, Schema: schema, Tokens: 1000}, func(string) {})
	return string(reply.JSON), err
}

// keepGate writes down how the gatekeeper's questions end, until ctx ends.
func (h *House) keepGate(ctx context.Context) {
	if err := h.gate.Run(ctx); err != nil {
		h.log.Error("the gatekeeper's log is no longer kept", "err", err)
	}
}

// pruneBackups deletes backups whose time is up, at once and once a day until ctx ends.
func (h *House) pruneBackups(ctx context.Context) {
	for {
		if err := h.backups.Prune(ctx); err != nil && ctx.Err() == nil {
			h.log.Warn("backups whose time is up could not be deleted", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pruneEvery):
		}
	}
}
