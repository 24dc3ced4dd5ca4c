package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// CacheDir returns the directory to keep fetched server programs in, which may not be there yet:
// $XDG_CACHE_HOME/jobtop or, for root where the server's unprivileged user cannot enter that, one in the
// system's cache.
func CacheDir() (string, error) {
	account, err := serverAccount()
	if err != nil {
		return "", err
	}
	caches, err := usable(caches(os.Getenv), account)
	if len(caches) == 0 {
		return "", fmt.Errorf("there is no directory to keep server programs in: %w",
			errors.Join(errors.New("$XDG_CACHE_HOME and $HOME name none"), err))
	}
	return caches[0], nil
}

// FetchedName is the name, in CacheDir, of the directory whose bin has the server programs of a version.
// It names the kind of machine too, since machines of several kinds may share a home directory.
func FetchedName(version string) string {
	return "postgresql-" + version + "-" + runtime.GOOS + "-" + runtime.GOARCH
}

// fetchedPlaces are where fetched programs may be, in the form of usualPlaces.
func fetchedPlaces() []string {
	account, err := serverAccount()
	if err != nil {
		return nil
	}
	dirs, _ := usable(caches(os.Getenv), account)
	for i, dir := range dirs {
		dirs[i] = filepath.Join(dir, FetchedName("*"), "bin")
	}
	return dirs
}

// caches lists the directories that CacheDir chooses from.
func caches(getenv func(string) string) []string {
	var dirs []string
	base := getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(base) { // which the standard says to ignore
		base = filepath.Join(getenv("HOME"), ".cache")
	}
	if filepath.IsAbs(base) {
		dirs = append(dirs, filepath.Join(base, "jobtop"))
	}
	switch {
	case os.Geteuid() != 0:
		return dirs
	case runtime.GOOS == "darwin":
		return append(dirs, "/Library/Caches/jobtop")
	default:
		return append(dirs, "/var/cache/jobtop")
	}
}

// usable returns those of the directories that a server of the account could run programs from, and why
// it could not from the others.
func usable(dirs []string, a account) (reachable []string, why error) {
	for _, dir := range dirs {
		if err := a.canReach(filepath.Dir(dir)); err != nil {
			why = errors.Join(why, err)
			continue
		}
		reachable = append(reachable, dir)
	}
	return reachable, why
}
