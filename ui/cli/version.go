package cli

import (
	"runtime"
	"runtime/debug"
)

// Build says what this program was built from.
type Build struct{ Version, Commit string }

// complete fills in what the Go toolchain recorded where the release build set nothing.
func (b Build) complete() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
	}
	if b.Commit == "" {
		b.Commit = "unknown"
		changed := false
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value[:min(len(s.Value), 12)]
			case "vcs.modified":
				changed = s.Value == "true"
			}
		}
		if changed {
			b.Commit += " with changes"
		}
	}
	return b
}

// String is what --version prints after the program's name.
func (b Build) String() string {
	return b.Version + " (commit " + b.Commit + ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}
