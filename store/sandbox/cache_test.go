package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCaches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ xdg, home, want string }{
		{"/var/tmp/cache", "/home/alice", "/var/tmp/cache/jobtop"},
		{"", "/home/alice", "/home/alice/.cache/jobtop"},
		{"relative", "/home/alice", "/home/alice/.cache/jobtop"},
		{"", "", ""},
	} {
		var own string
		for _, dir := range caches(env(map[string]string{"XDG_CACHE_HOME": c.xdg, "HOME": c.home})) {
			if !strings.HasPrefix(dir, "/var/cache/") && !strings.HasPrefix(dir, "/Library/") {
				own = dir
			}
		}
		if own != c.want {
			t.Errorf("XDG_CACHE_HOME=%s HOME=%s: %q, want %q", c.xdg, c.home, own, c.want)
		}
	}
}

// Another user's server cannot run programs from a directory that is closed to it.
func TestUsableCaches(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("/tmp", "sandbox-test-") // where everybody may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	open, closed := filepath.Join(root, "open"), filepath.Join(root, "closed")
	for dir, mode := range map[string]os.FileMode{root: 0o755, open: 0o755, closed: 0o700} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	dirs := []string{filepath.Join(closed, "jobtop"), filepath.Join(open, "jobtop")}
	if got, why := usable(dirs, account{name: "somebody", uid: 54321}); !slices.Equal(got, dirs[1:]) || why == nil || !strings.Contains(why.Error(), "somebody cannot enter "+closed) {
		t.Errorf("for another user: %v, %v; want %v", got, why, dirs[1:])
	}
	if got, why := usable(dirs, account{}); !slices.Equal(got, dirs) || why != nil {
		t.Errorf("for oneself: %v, %v; want %v", got, why, dirs)
	}
}
