// Package config reads jobtop's configuration file and knows the directories that
// jobtop uses. It holds what a person may choose; nothing here is needed to run.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"jobtop/ui/nearest"
	"jobtop/ui/theme"
)

// Config is the file's content. Its zero value is that of an empty file.
type Config struct {
	// Path is the file that was read, "" where there was none.
	Path string `toml:"-"`
	// Operator is the name that acts are recorded under, unless one is given otherwise.
	Operator string `toml:"operator"`
	// Refresh is the pause between two looks at the database; zero: the default.
	Refresh Duration `toml:"refresh"`
	// Share is how much of one core of the server all consoles' reading may take together,
	// from 0 to 1; zero: the default.
	Share float64 `toml:"share"`
	// Profile names the profile to use where no database is named otherwise.
	Profile  string             `toml:"profile"`
	Profiles map[string]Profile `toml:"profiles"`
	// Lookup holds, by kind of job, the command that asks a provider for an effect. The
	// kind "*" stands for all the others.
	Lookup map[string]Lookup `toml:"lookup"`
	// Theme is how the console looks, one of theme.Names.
	Theme string `toml:"theme"`
	// Keys gives actions of the console, by name, other keys; an empty list takes them away. The
	// console checks both.
	Keys map[string][]string `toml:"keys"`
	// Columns gives lists of the console (stuck, review, jobs, actions) other columns, in
	// their order. The console checks both.
	Columns map[string][]string `toml:"columns"`
	// Bell rings when something new needs a person; nil: it does.
	Bell *bool `toml:"bell"`
	// Mark puts a "!" on the tab of a screen with something new; nil: it does.
	Mark *bool `toml:"mark"`
}

// Profile is a database with a name.
type Profile struct {
	// DSN is a connection string as psql takes it.
	DSN string `toml:"dsn"`
	// Colour marks the header, so that two consoles are told apart at a glance.
	Colour Colour `toml:"colour"`
	// Production: every act asks for the profile's name to be typed.
	Production bool `toml:"production"`
	ReadOnly   bool `toml:"readonly"`
}

// Lookup is a command that asks a provider whether an effect happened.
type Lookup struct {
	// Command is a program and its arguments; no shell is involved.
	Command []string `toml:"command"`
	// Timeout ends it; zero: DefaultLookupTimeout.
	Timeout Duration `toml:"timeout"`
}

// DefaultLookupTimeout bounds a lookup whose configuration says nothing.
const DefaultLookupTimeout = 10 * time.Second

// Path is where the file is looked for unless another one is named:
// $XDG_CONFIG_HOME/jobtop/config.toml.
func Path() (string, error) {
	directory, err := xdg("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return "", err
	}
	return filepath.Join(directory, "config.toml"), nil
}

// Load reads the file at path. With an empty path it reads the one at Path, where a
// missing file is an empty one. Its errors name the file and the line.
func Load(path string) (Config, error) {
	optional := path == ""
	if optional {
		path, _ = Path()
		if path == "" {
			return Config{}, nil // no home: nothing is configured
		}
	}
	text, err := os.ReadFile(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("the configuration %s cannot be read: %w", path, errors.Unwrap(err))
	}
	c, err := parse(text)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	c.Path = path
	return c, nil
}

func parse(text []byte) (Config, error) {
	var c Config
	decoder := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return c, explain(err)
	}
	return c, c.check()
}

// check finds what is well-formed and yet makes no sense.
func (c Config) check() error {
	if _, err := c.Named(c.Profile); c.Profile != "" && err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		if c.Profiles[name].DSN == "" {
			return fmt.Errorf("profiles.%s has no dsn; give it one, such as \"service=%s\"", name, name)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Lookup)) {
		lookup := c.Lookup[kind]
		switch {
		case len(lookup.Command) == 0 || lookup.Command[0] == "":
			return fmt.Errorf("lookup.%q has no command; give a program and its arguments, such as [\"/usr/local/bin/find-charge\"]", kind)
		case lookup.Timeout < 0:
			return fmt.Errorf("lookup.%q has a timeout below zero", kind)
		}
	}
	if c.Theme != "" && !theme.Valid(c.Theme) {
		return fmt.Errorf("no theme is called %q%s; there are %s", c.Theme, nearest.DidYouMean(c.Theme, theme.Names()), strings.Join(theme.Names(), ", "))
	}
	if c.Refresh != 0 && c.Refresh < Duration(100*time.Millisecond) {
		return errors.New("refresh is below 100ms")
	}
	if !(c.Share >= 0 && c.Share <= 1) {
		return errors.New("share is a part of one core of the server, from 0.001 to 1; 0.01 is one per cent")
	}
	return nil
}

// profileName quotes a name, but for a connection string in its place, which may hold a password.
func profileName(name string) string {
	if strings.ContainsAny(name, "@:=") {
		return "of that name (a connection string goes after -d)"
	}
	return strconv.Quote(name)
}

// Named returns the profile of that name.
func (c Config) Named(name string) (Profile, error) {
	profile, ok := c.Profiles[name]
	if ok {
		return profile, nil
	}
	names := slices.Sorted(maps.Keys(c.Profiles))
	if len(names) == 0 {
		return Profile{}, fmt.Errorf("there is no profile %s: the configuration has none", profileName(name))
	}
	return Profile{}, fmt.Errorf("there is no profile %s%s; there are %s", profileName(name), nearest.DidYouMean(name, names), strings.Join(names, ", "))
}

// LookupFor returns the command for a kind of job, and whether there is one.
func (c Config) LookupFor(kind string) (Lookup, bool) {
	lookup, ok := c.Lookup[kind]
	if !ok {
		lookup, ok = c.Lookup["*"]
	}
	if lookup.Timeout == 0 {
		lookup.Timeout = Duration(DefaultLookupTimeout)
	}
	return lookup, ok
}
