package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/platform"
	"deskbell/backend/queue/stepup"
	"deskbell/backend/store/disk"
	"deskbell/backend/store/sqlite"
)

// openStepUp makes what asks operators to prove that they are there.
func (a *App) openStepUp(ctx context.Context) (err error) {
	system := platform.NewSystemCheck()
	a.opens(system.Close)
	a.stepUp, err = stepup.New(ctx, stepup.Deps{
		Vault: vault{a.store, filepath.Join(a.Dir, "stepup.key")}, System: system, Now: time.Now, Log: a.log,
	})
	return err
}

// A vault keeps the record of step-up in the database, and the key of its seal in a file beside it.
type vault struct {
	store *sqlite.Store
	key   string
}

const stepUpRecord = "stepup"

func (v vault) Load(ctx context.Context) (sealed string, key []byte, err error) {
	if sealed, err = v.store.Setting(ctx, stepUpRecord); err != nil {
		return "", nil, err
	}
	key, err = os.ReadFile(v.key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, human.Wrap(human.Internal, err, "%s cannot be read; check its permissions", v.key)
	}
	return sealed, key, nil
}

func (v vault) MakeKey(context.Context) ([]byte, error) {
	key := make([]byte, 32)
	rand.Read(key)
	if _, err := disk.Replace(v.key, bytes.NewReader(key), 0o600); err != nil {
		return nil, human.Wrap(human.Internal, err, "%s cannot be written; check the folder's permissions", v.key)
	}
	return key, nil
}

func (v vault) Save(ctx context.Context, sealed string) error {
	return v.store.SetSetting(ctx, stepUpRecord, sealed)
}
