package cli

import (
	"os"
	"strings"
	"unsafe"
)

// unseen copies the arguments, and blanks out of the process's own those that may hold a
// password, so that ps shows it no longer than it takes to start. The runtime's os.Args
// are the very memory that the system shows.
func unseen(arguments []string) []string {
	copies := make([]string, len(arguments))
	for i, argument := range arguments {
		copies[i] = strings.Clone(argument)
	}
	for _, argument := range os.Args {
		if !maySayPassword(argument) {
			continue
		}
		memory := unsafe.Slice(unsafe.StringData(argument), len(argument))
		for i := range memory {
			memory[i] = 'x'
		}
	}
	return copies
}

// maySayPassword: it is, or holds, a connection string with more than a name in it.
func maySayPassword(argument string) bool {
	return strings.Contains(argument, "@") || strings.Contains(argument, "://") || strings.Contains(strings.ToLower(argument), "password")
}
