// Command jobtop is a console for background jobs kept in PostgreSQL.
package main

import (
	"os"

	"jobtop/ui/cli"
)

// Set by the release build; otherwise the build information tells.
var version, commit string

func main() {
	os.Exit(cli.Main(cli.Build{Version: version, Commit: commit}, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
