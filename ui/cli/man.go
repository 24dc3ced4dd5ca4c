package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) newManCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "man [COMMAND...]",
		GroupID: groupOperate,
		Short:   "Print a manual page",
		Long: `man prints the manual page of jobtop or of one of its commands, or with --dir writes
them all, for a package.`,
		Example: `  jobtop man | man -l -
  jobtop man --dir /usr/local/share/man/man1`,
	}
	directory := cmd.Flags().String("dir", "", "write the pages of all commands into this `directory`")
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		root := cmd.Root()
		root.DisableAutoGenTag = true
		header := &doc.GenManHeader{Section: "1", Source: "jobtop " + a.build.Version, Manual: "jobtop"}
		if *directory != "" {
			if len(arguments) > 0 {
				return usagef("--dir writes the pages of all commands; leave out %s", short(arguments[0]))
			}
			if err := os.MkdirAll(*directory, 0o755); err != nil {
				return fmt.Errorf("the directory %s cannot be made: %w", *directory, reason(err))
			}
			if err := doc.GenManTree(root, header, *directory); err != nil {
				return fmt.Errorf("the manual pages could not be written to %s: %w", *directory, reason(err))
			}
			return nil
		}
		page, rest, err := root.Find(arguments)
		if err != nil || len(rest) > 0 || !page.IsAvailableCommand() && page != root {
			return a.noSuchCommand(root, arguments)
		}
		return doc.GenMan(page, header, a.out)
	}
	return cmd
}
