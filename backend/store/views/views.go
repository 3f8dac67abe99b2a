// Package views keeps operators' saved views in a file of the data folder.
package views

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

// File is its name in the data folder.
const File = "views.json"

// A Store is that of one data folder. It is safe for concurrent use. Its methods block on the disk; what one of them has
// returned without an error is kept over a crash.
type Store struct {
	path  string
	newID func(prefix string) string
	mu    sync.Mutex
}

// New makes the store of a data folder. Nothing is read or written yet.
func New(dir string, newID func(prefix string) string) *Store {
	return &Store{path: filepath.Join(dir, File), newID: newID}
}

// Views returns all, in the order in which they were made; an Unavailable error where the file cannot be read.
func (s *Store) Views() ([]human.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read()
}

// Put keeps a view: a new one without an id, else in the place of the one with its id. Invalid for one that breaks a limit, NotFound
// for an id that no view has, Conflict for the name of another.
func (s *Store) Put(v human.View) (human.View, error) {
	v.Name = strings.TrimSpace(v.Name)
	if err := check(v); err != nil {
		return v, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read()
	if err != nil {
		return v, err
	}
	if slices.ContainsFunc(all, func(o human.View) bool { return o.ID != v.ID && strings.EqualFold(o.Name, v.Name) }) {
		return v, human.Errorf(human.Conflict, "there is a view %q already; choose another name", v.Name)
	}
	at := slices.IndexFunc(all, func(o human.View) bool { return o.ID == v.ID })
	switch {
	case v.ID == "" && len(all) >= human.MaxViews:
		return v, human.Errorf(human.Exhausted, "there are %d views already; delete one first", human.MaxViews)
	case v.ID == "":
		v.ID = s.newID("view_")
		all = append(all, v)
	case at < 0:
		return v, none(v.ID)
	default:
		all[at] = v
	}
	return v, s.write(all)
}

// Delete deletes one; NotFound where there is none.
func (s *Store) Delete(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(v human.View) bool { return v.ID == id })
	if len(rest) == len(all) {
		return none(id)
	}
	return s.write(rest)
}

func none(id string) error {
	return human.Errorf(human.NotFound, "there is no view %q", human.OneLine(id, 64))
}

func check(v human.View) error {
	switch {
	case v.Name == "" || len(v.Name) > human.MaxViewName || !utf8.ValidString(v.Name) || human.OneLine(v.Name, human.MaxViewName) != v.Name:
		return human.BadField("name", "is empty, longer than %d bytes, or not one line", human.MaxViewName)
	case v.Page != "inbox" && v.Page != "history" && v.Page != "statistics":
		return human.BadField("page", "is %q; it is inbox, history or statistics", human.OneLine(v.Page, 40))
	case len(v.Query) > human.MaxViewQuery:
		return human.BadField("query", "is longer than %d bytes", human.MaxViewQuery)
	}
	if _, err := url.ParseQuery(v.Query); err != nil {
		return human.BadField("query", "is not a query of an address")
	}
	return nil
}

func (s *Store) read() ([]human.View, error) {
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return []human.View{}, nil
	}
	all := []human.View{}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the saved views, %s, cannot be read: %v; move the file away to begin without any", s.path, err)
	}
	return all, nil
}

func (s *Store) write(all []human.View) error {
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return human.Wrap(human.Internal, err, "the saved views cannot be written as JSON")
	}
	if _, err := disk.Replace(s.path, bytes.NewReader(append(raw, '\n')), 0o600); err != nil {
		return human.Wrap(human.Unavailable, err, "the saved views, %s, cannot be written: %v; nothing was changed", s.path, err)
	}
	return nil
}
