package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
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
		ValidArgsFunction: completeCommands,
	}
	directory := cmd.Flags().String("dir", "", "write the pages of all commands into this `directory`")
	cmd.RunE = func(_ *cobra.Command, arguments []string) error {
		root := a.manRoot()
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
		switch {
		case err == nil && len(rest) == 0 && page.IsAdditionalHelpTopicCommand():
			return usagef("%[1]s is a chapter of the help and has no page of its own; read it with jobtop help %[1]s", page.Name())
		case err != nil || len(rest) > 0 || !page.IsAvailableCommand() && page != root:
			return a.noSuchCommand(root, arguments)
		}
		return doc.GenMan(page, header, a.out)
	}
	return cmd
}

// manRoot is the tree of commands anew, as the generator of manual pages should see it. It
// prints a flag's default where a reader looks for what to write there, and names no
// chapters of the help.
func (a *app) manRoot() *cobra.Command {
	root := (&app{build: a.build}).newRoot()
	root.DisableAutoGenTag = true
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.InitDefaultVersionFlag()
	var chapters bytes.Buffer
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(&chapters, "\n    jobtop help %-8s %s", c.Name(), c.Short)
		}
	}
	root.Long += "\n\nChapters of the help that belong to no single command:\n" + chapters.String()
	eachFlag(root, func(f *pflag.Flag) {
		name, usage := pflag.UnquoteUsage(f)
		if name == "" {
			return // a switch
		}
		switch f.DefValue {
		case "", "0", "0s", "[]": // as good as none
		default:
			usage += " (default " + strings.Trim(f.DefValue, "[]") + ")"
		}
		f.Usage, f.DefValue, f.Value = usage, "*"+name+"*", named{f.Value}
	})
	return root
}

// named keeps the generator from putting the name of a text in quotes.
type named struct{ pflag.Value }

func (named) Type() string { return "name" }

// plainUsage takes the marks out of the flags' descriptions, which a shell would show.
func plainUsage(root *cobra.Command) {
	eachFlag(root, func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
}

// eachFlag goes through the flags of a command and of all below it.
func eachFlag(cmd *cobra.Command, do func(*pflag.Flag)) {
	seen := map[*pflag.Flag]bool{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				if !seen[f] {
					seen[f] = true
					do(f)
				}
			})
		}
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(cmd)
}

// completeCommands offers the commands below those named so far.
func completeCommands(cmd *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
	above, rest, err := cmd.Root().Find(arguments)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, c := range above.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name()+"\t"+c.Short)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
