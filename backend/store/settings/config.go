package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
	"deskbell/backend/store/settings/tomltext"
)

// Where a value came from.
const (
	FromDefault = "default"
	FromFile    = "file"
	FromEnv     = "environment"
	FromFlag    = "flag"
)

// A Value is a setting with what it is now, as `deskbell config` and the settings page show it.
type Value struct {
	Key             string   `json:"key"`
	Type            string   `json:"type" enum:"boolean,integer,text,list"`
	Value           any      `json:"value"`
	Default         any      `json:"default"`
	Source          string   `json:"source" enum:"default,file,environment,flag" doc:"Where the value comes from."`
	From            string   `json:"from,omitempty" doc:"The file and line, the variable or the flag."`
	Doc             string   `json:"description"`
	Unit            string   `json:"unit,omitempty"`
	Allowed         []string `json:"allowed,omitempty" doc:"The only texts allowed."`
	Min             *int     `json:"min,omitempty"`
	Max             *int     `json:"max,omitempty"`
	Env             string   `json:"env" doc:"The environment variable that overrides the file."`
	Flag            string   `json:"flag,omitempty"`
	RestartRequired bool     `json:"restart_required" doc:"A change counts from the next start on."`
}

// Options say where settings are read from; the zero value is the usual places.
type Options struct {
	Dir   string            // the data folder; the file is config.toml in it unless File or DESKBELL_CONFIG names another
	File  string            // a file that must exist
	Flags map[string]string // by key, those given on the command line
	Env   func() []string   // nil is os.Environ
}

// A Config is the settings as read, and the file they can be written back to. It is safe for concurrent use.
type Config struct {
	file  string
	flags map[string]string
	env   env

	mu     sync.Mutex
	values Settings
	from   map[string]origin
	update []func()
}

type origin struct{ source, place string }

// Load reads the settings. A missing file is an empty one unless it was named. Anything unknown or wrong
// is an Invalid error that says where it stands and what is allowed.
func Load(o Options) (*Config, error) {
	c := &Config{file: o.File, flags: o.Flags, env: o.Env}
	if c.env == nil {
		c.env = osEnviron
	}
	named := c.file != ""
	if !named {
		c.file, named = c.env.lookup("DESKBELL_CONFIG")
	}
	if !named {
		c.file = filepath.Join(o.Dir, "config.toml")
	}
	data, err := c.read()
	if errors.Is(err, fs.ErrNotExist) && !named {
		err = nil
	}
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "the settings file %s cannot be read: %v", c.file, tomltext.Reason(err))
	}
	if err := c.resolve(data); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) read() ([]byte, error) { return os.ReadFile(c.file) }

// resolve lays the file, the environment and the flags over the defaults. It changes nothing when it fails.
func (c *Config) resolve(data []byte) error {
	var values Settings
	from := map[string]origin{}
	for _, s := range Table {
		s.store(&values, s.Default)
		from[s.Key] = origin{FromDefault, ""}
	}
	inFile, places, err := decode(data)
	if err != nil {
		return human.Errorf(human.Invalid, "%s, %v", c.file, err)
	}
	for _, p := range places {
		if v, ok := inFile[p.key]; ok && !p.table {
			find(p.key).store(&values, v)
			from[p.key] = origin{FromFile, fmt.Sprintf("%s:%d", c.file, p.line)}
		}
	}
	if err := c.strangers(); err != nil {
		return err
	}
	for _, s := range Table {
		for _, over := range []struct {
			source, place string
			get           func() (string, bool)
		}{
			{FromEnv, s.Variable(), func() (string, bool) { return c.env.lookup(s.Variable()) }},
			{FromFlag, s.flagName(), func() (string, bool) { t, ok := c.flags[s.Key]; return t, ok }},
		} {
			text, ok := over.get()
			if !ok {
				continue
			}
			v, err := s.parse(text)
			if err != nil {
				return human.Errorf(human.Invalid, "%s %s: %v", over.source, over.place, err)
			}
			s.store(&values, v)
			from[s.Key] = origin{over.source, over.place}
		}
	}
	if err := values.together(); err != nil {
		return err
	}
	c.values, c.from = values, from
	return nil
}

func (s Setting) flagName() string {
	if s.Flag != "" {
		return "--" + s.Flag
	}
	return "--set " + s.Key
}

// strangers returns an error for variables that look like settings and are none.
func (c *Config) strangers() error {
	known := map[string]bool{modelKey: true}
	for _, s := range Table {
		known[s.Variable()] = true
	}
	for _, pair := range c.env() {
		name, _, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, "DESKBELL_")
		if !ours || known[name] {
			continue
		}
		for _, section := range sections() {
			if strings.HasPrefix(rest, strings.ToUpper(section)+"_") {
				return human.Errorf(human.Invalid, "the environment has %s, which is not a setting; `deskbell config` lists the variables", name)
			}
		}
	}
	return nil
}

// CheckFlags returns an Invalid error for a key that is no setting, so that a flag's error names it.
func CheckFlags(flags map[string]string) error {
	for key := range flags {
		if find(key) == nil {
			return human.Errorf(human.Invalid, "--set %s: %s", key, human.Inner{Err: unknown(key)})
		}
	}
	return nil
}

// OnUpdate has changed called after each Update, on a goroutine of its own.
func (c *Config) OnUpdate(changed func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.update = append(c.update, changed)
}

// File is where the settings are written, whether it exists or not.
func (c *Config) File() string { return c.file }

// Settings returns the values as they are now.
func (c *Config) Settings() Settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.values
	s.Server.AllowHosts = append([]string(nil), s.Server.AllowHosts...)
	return s
}

// Values returns every setting with its value and where it came from, in the order of Table.
func (c *Config) Values() []Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Value, len(Table))
	for i, s := range Table {
		var defaults Settings
		s.store(&defaults, s.Default)
		v := Value{
			Key: s.Key, Type: s.Type(), Value: s.load(&c.values), Default: s.load(&defaults), Source: c.from[s.Key].source, From: c.from[s.Key].place,
			Doc: s.Doc, Unit: s.Unit, Allowed: s.Allowed, Env: s.Variable(), Flag: s.Flag, RestartRequired: s.Restart,
		}
		if s.Type() == "integer" {
			v.Min, v.Max = &s.Min, &s.Max
		}
		all[i] = v
	}
	return all
}

// Update checks changes, writes them to the file in one step (all or none), keeping its comments and
// everything else as it stands, and says whether Deskbell must be started again for them to count.
// Values are JSON, by key. It fails, with nothing changed, on an unknown key, a wrong value, or a key that
// the environment or a flag overrides, since the change would not count.
func (c *Config) Update(changes map[string]json.RawMessage) (restart bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, err := c.read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, human.Wrap(human.Internal, err, "the settings file %s cannot be read: %v", c.file, tomltext.Reason(err))
	}
	// The operator may have edited the file since it was read; a mistake of theirs is not overwritten.
	if _, _, err := decode(data); err != nil {
		return false, human.Errorf(human.Conflict, "%s, %v; fix that first", c.file, err)
	}
	for key := range changes {
		if find(key) == nil {
			return false, human.BadField(key, "%s", human.Inner{Err: unknown(key)})
		}
	}
	for _, s := range Table {
		raw, ok := changes[s.Key]
		if !ok {
			continue
		}
		if o := c.from[s.Key]; o.source == FromEnv || o.source == FromFlag {
			return false, human.Errorf(human.Conflict, "%s is set by %s, which overrides the file; nothing was changed", s.Key, o.place)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return false, human.BadField(s.Key, "is not valid JSON")
		}
		checked, err := s.coerce(v)
		if err != nil {
			return false, human.BadField(s.Key, "%s", human.Inner{Err: err})
		}
		data = edit(data, s.Key, checked)
		restart = restart || s.Restart
	}
	if _, _, err := decode(data); err != nil {
		return false, human.Errorf(human.Conflict, "%s is written in a way Deskbell cannot change without breaking it; change it by hand", c.file)
	}
	trial := &Config{file: c.file, flags: c.flags, env: c.env}
	if err := trial.resolve(data); err != nil {
		return false, err
	}
	err = os.MkdirAll(filepath.Dir(c.file), 0o700) // before Deskbell has run for the first time there is none
	if err == nil {
		_, err = disk.Replace(c.file, bytes.NewReader(data), 0o600)
	}
	if err != nil {
		return false, human.Wrap(human.Internal, err, "the settings file %s cannot be written: %v", c.file, tomltext.Reason(err))
	}
	c.values, c.from = trial.values, trial.from
	for _, changed := range c.update {
		go changed()
	}
	return restart, nil
}
