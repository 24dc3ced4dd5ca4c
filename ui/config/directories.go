package config

import (
	"errors"
	"os"
	"path/filepath"
)

// StateDir is where jobtop keeps its journal and, where asked for, its logs:
// $XDG_STATE_HOME/jobtop. It is not made here.
func StateDir() (string, error) {
	return xdg("XDG_STATE_HOME", filepath.Join(".local", "state"))
}

// xdg returns jobtop's directory under the one that a variable names, or else under
// the usual place in the home directory. The standard says to ignore relative paths.
func xdg(variable, usual string) (string, error) {
	base := os.Getenv(variable)
	if !filepath.IsAbs(base) {
		home := os.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", errors.New("neither $" + variable + " nor $HOME names a directory")
		}
		base = filepath.Join(home, usual)
	}
	return filepath.Join(base, "jobtop"), nil
}
