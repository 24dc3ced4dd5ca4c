package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jobtop/actions"
	"jobtop/ui/config"
	"jobtop/ui/nearest"
)

// globalFlags are the flags that every command knows.
type globalFlags struct {
	db       string
	profile  string
	config   string
	operator string
	refresh  time.Duration
	readOnly bool
	logFile  string
	noColour bool
	ascii    bool
	view     string
}

// The groups of commands in the help.
const (
	groupLook    = "look"
	groupAct     = "act"
	groupOperate = "operate"
)

func (a *app) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "jobtop",
		Short: "A console for background jobs kept in PostgreSQL",
		Long: `jobtop shows what is waiting, what is stuck and what nobody can be sure about, and
lets a person settle it by hand: requeue, done with a receipt, dead, hold.

Without a command it opens the console. The database is named by --db, --profile,
DATABASE_URL, or the PG* variables, PGSERVICE and .pgpass, as for psql.`,
		Example: `  jobtop demo                            try it, with a throwaway database
  jobtop -d postgres://db-1/orders       the console
  jobtop list review -o json             one JSON object a line`,
		Version:           a.build.String(),
		SilenceUsage:      true,
		SilenceErrors:     true,
		Args:              a.noSuchCommand,
		PersistentPreRunE: a.prepare,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.runConsole(cmd.Context()) },
	}
	root.SetVersionTemplate("jobtop {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.AddGroup(
		&cobra.Group{ID: groupLook, Title: "Look:"},
		&cobra.Group{ID: groupAct, Title: "Act:"},
		&cobra.Group{ID: groupOperate, Title: "Operate:"},
	)
	root.SetCompletionCommandGroupID(groupOperate)
	root.SetHelpCommandGroupID(groupOperate)

	a.addGlobalFlags(root.PersistentFlags())
	_ = root.RegisterFlagCompletionFunc("profile", a.completeProfiles)
	root.Flags().StringVarP(&a.flags.view, "view", "c", "", "open the console at this `view`: overview, stuck, review, jobs, actions")

	completeFlag(root, "view", []string{"overview", "stuck", "review", "jobs", "actions"})

	root.AddCommand(
		a.newStatusCommand(), a.newListCommand(), a.newShowCommand(), a.newActionsCommand(), a.newLookupCommand(),
		a.newPauseCommand(), a.newResumeCommand(),
		a.newDemoCommand(), a.newCheckCommand(), a.newDoctorCommand(), a.newBenchCommand(), a.newSchemaCommand(), a.newManCommand(),
	)
	for _, verb := range actions.Verbs() {
		root.AddCommand(a.newActCommand(verb))
	}
	root.AddCommand(newTopics()...)
	return root
}

func (a *app) addGlobalFlags(flags *pflag.FlagSet) {
	f := &a.flags
	flags.StringVarP(&f.db, "db", "d", "", "the database, a `DSN`: a URL, \"host=… dbname=…\", or its name")
	flags.StringVar(&f.profile, "profile", "", "the database of this `name` in the configuration")
	flags.StringVar(&f.config, "config", "", "read this configuration `file` instead of $XDG_CONFIG_HOME/jobtop/config.toml")
	flags.StringVar(&f.operator, "operator", "", "your `name`, recorded with what you do (default $JOBTOP_OPERATOR, then USER@HOST)")
	flags.DurationVarP(&f.refresh, "refresh", "r", 0, "the `pause` between two looks at the database, such as 2s")
	flags.BoolVar(&f.readOnly, "readonly", false, "change nothing, whatever the role may do")
	flags.StringVar(&f.logFile, "log-file", "", "log to this `file`, \"-\" for one in $XDG_STATE_HOME/jobtop")
	flags.BoolVar(&f.noColour, "no-color", false, "no colours, as with NO_COLOR")
	flags.BoolVar(&f.ascii, "ascii", false, "print nothing beyond ASCII")
}

// completeProfiles offers the configuration's profiles to the shell.
func (a *app) completeProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, err := config.Load(a.flags.config)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(c.Profiles)), cobra.ShellCompDirectiveNoFileComp
}

// misplaced is said of a connection string where none belongs, without showing it.
func misplaced(cmd *cobra.Command) error {
	return usagef("a connection string goes after -d; see %s --help", cmd.CommandPath())
}

// noSuchCommand turns a word that is no command below cmd into an error with a suggestion.
func (a *app) noSuchCommand(cmd *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
		}
	}
	if maySayPassword(arguments[0]) {
		return misplaced(cmd)
	}
	return usagef("there is no command %q%s; see %s --help", short(arguments[0]), nearest.DidYouMean(arguments[0], names), cmd.CommandPath())
}

// strict makes completion and help, which are cobra's own, refuse what they do not know.
// It is called when the root knows where to print.
func (a *app) strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, arguments []string) error {
				found, rest, err := root.Find(arguments)
				if err == nil && found.HasSubCommands() {
					err = a.noSuchCommand(found, rest)
				}
				return usage(err)
			}
		case "completion":
			c.Args = a.noSuchCommand
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// flagError says which flag is wrong, and which one was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &invalid):
		return usagef("--%s %s: %s; see %s --help", invalid.GetFlag().Name, short(invalid.GetValue()), plainReason(invalid), cmd.CommandPath())
	case errors.As(err, &missing):
		return usagef("--%s needs a value; see %s --help", missing.GetFlag().Name, cmd.CommandPath())
	case !errors.As(err, &unknown):
		return usagef("%w; see %s --help", err, cmd.CommandPath())
	}
	name := unknown.GetSpecifiedName()
	if shorthands := unknown.GetSpecifiedShortnames(); shorthands != "" {
		return usagef("there is no flag -%s; see %s --help", name, cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	meant := nearest.Word(name, names)
	if meant != "" {
		meant = " (did you mean --" + meant + "?)"
	}
	return usagef("there is no flag --%s%s; see %s --help", short(name), meant, cmd.CommandPath())
}

// plainReason is why a flag's value cannot be read, without the words of Go's parsers.
func plainReason(invalid *pflag.InvalidValueError) string {
	if errors.Is(invalid, strconv.ErrRange) {
		return "too large a number"
	}
	switch invalid.GetFlag().Value.Type() {
	case "duration":
		return "no duration; write it as 500ms, 2s or 10m"
	case "int", "int64":
		return "no whole number"
	case "uint64":
		return "no whole number from 0"
	case "float64":
		return "no number"
	case "bool":
		return "neither true nor false"
	}
	return invalid.Unwrap().Error()
}

// noArguments is for commands that take none.
func noArguments(cmd *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		if maySayPassword(arguments[0]) {
			return misplaced(cmd)
		}
		return usagef("%s takes no arguments, and got %q; see %s --help", cmd.CommandPath(), short(arguments[0]), cmd.CommandPath())
	}
	return nil
}

// oneArgument is for commands that take exactly one, which is named here.
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, arguments []string) error {
		switch {
		case len(arguments) == 0:
			return usagef("%s needs %s; see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		case len(arguments) > 1:
			return usagef("%s takes one argument, %s, and got %d", cmd.CommandPath(), what, len(arguments))
		case arguments[0] == "":
			return usagef("%s is empty", what)
		}
		return nil
	}
}

// choice is a flag whose value is one of a few words.
type choice struct {
	value string
	words []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.words, "|") }

func (c *choice) Set(s string) error {
	for _, word := range c.words {
		if s == word {
			c.value = s
			return nil
		}
	}
	return fmt.Errorf("not one of the choices%s: %s", nearest.DidYouMean(s, c.words), strings.Join(c.words, ", "))
}

// choiceFlag adds a flag for a choice, whose words the shell completes.
func choiceFlag(cmd *cobra.Command, c *choice, name, shorthand, usage string) {
	cmd.Flags().VarP(c, name, shorthand, usage)
	completeFlag(cmd, name, c.words)
}

// completeFlag offers words for a flag's value to the shell.
func completeFlag(cmd *cobra.Command, name string, words []string) {
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// outputFlag adds -o to a command; the first format is the default.
func outputFlag(cmd *cobra.Command, formats ...string) *choice {
	c := &choice{value: formats[0], words: formats}
	usage := "how to print"
	if slices.Contains(formats, "csv") { // it lists ids
		usage += fmt.Sprintf("; a table cuts ids longer than %d, the others have them whole", longestID)
	}
	choiceFlag(cmd, c, "output", "o", usage)
	return c
}

// hostname is for the operator's default name.
func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "unknown-host"
	}
	return name
}
