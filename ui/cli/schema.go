package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"jobtop/store"
)

func (a *app) newSchemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "schema",
		GroupID: groupOperate,
		Short:   "Print, apply or look at the database's schema",
		Long: `schema installs what jobtop stands on: the schema "jobtop" with its tables, functions
and roles. Nothing else ever changes it; the console never does.`,
		Example: `  jobtop schema print | less
  jobtop schema apply -d orders`,
		Args: a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.newSchemaPrint(), a.newSchemaApply(), a.newSchemaStatus())
	return cmd
}

func (a *app) newSchemaPrint() *cobra.Command {
	return &cobra.Command{
		Use:   "print",
		Short: "Print the schema as a script for psql",
		Long: `print writes all that apply would run, for those who read before they run, or run it
by other means. It connects to nothing.`,
		Example: `  jobtop schema print > jobtop.sql
  psql -v ON_ERROR_STOP=1 -1 -f jobtop.sql orders`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(a.out, store.PrintSchema())
			return err
		},
	}
}

func (a *app) newSchemaApply() *cobra.Command {
	return &cobra.Command{
		Use:   "apply",
		Short: "Install the schema, or bring it up to date",
		Long: `apply runs the migrations that the database lacks, each in a transaction of its own.
Running it twice, or by two people at once, does no harm. The first time on a server
it creates the roles jobtop_owner, _viewer, _payload, _operator and _worker, which
takes a superuser or CREATEROLE.`,
		Example: `  jobtop schema apply -d postgres://admin@db-1/orders`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.readOnly() {
				return usagef("nothing is changed: --readonly, or a profile marked readonly")
			}
			applied, err := store.ApplySchema(cmd.Context(), a.dsn())
			if len(applied) > 0 {
				fmt.Fprintf(a.out, "applied %d migrations; the schema is at version %d\n", len(applied), applied[len(applied)-1])
				a.log.Info("schema applied", "migrations", len(applied), "version", applied[len(applied)-1])
			}
			if err != nil {
				return err
			}
			if len(applied) == 0 {
				fmt.Fprintf(a.out, "nothing to do; the schema is at version %d\n", store.SchemaVersion())
			}
			return nil
		},
	}
}

type schemaJSON struct {
	Version int64 `json:"version"` // 0: there is none
	Needed  int64 `json:"needed_version"`
	Current bool  `json:"current"`
}

func (a *app) newSchemaStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell the schema's version",
		Long: `status tells which version of the schema a database has and which this program needs.
Its exit status is 0 when they are the same and 1 otherwise.`,
		Example: `  jobtop schema status -d orders`,
		Args:    noArguments,
	}
	output := outputFlag(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		status, err := store.CheckSchema(cmd.Context(), a.dsn())
		if err != nil {
			return err
		}
		if output.value == "json" {
			err = writeIndentedJSON(a.out, schemaJSON{status.Have, status.Want, status.Current()})
		} else if status.Current() {
			_, err = fmt.Fprintf(a.out, "version %d, the one that this program needs\n", status.Have)
		}
		if err == nil && !status.Current() {
			err = &store.SchemaError{Status: status}
		}
		return err
	}
	return cmd
}
