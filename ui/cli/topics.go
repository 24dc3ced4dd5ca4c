package cli

import "github.com/spf13/cobra"

// newTopics are chapters of the help that belong to no single command.
func newTopics() []*cobra.Command {
	return []*cobra.Command{
		{
			Use:   "filter",
			Short: "How a list is filtered",
			Long: `A filter is one or more terms, and a job has to meet them all:

  FIELD:VALUE    the field has this value; "…" around one with blanks, "" for none
  id:PREFIX*     the id begins with it; a bare word means the same
  age>10m        in its state for longer; age<10m for less; s, m, h, d, w
  !TERM          the opposite

Several values of one field are alternatives: kind:a kind:b. The fields:

  state          pending, running, failed, review, done, dead
  kind, worker   whole
  error          the category of the last error
  verdict        happened, may_have_happened, not_known, did_not_happen, never_started
  version        the source version of the worker that ran it last
  id, effect     the job's id, its effect key
  receipt        a receipt ID, also one that is only in a late report
  age            how long it is in its state

Done jobs are listed only when asked for: by state:done alone, or by an id, an effect
key or a receipt.`,
			Example: `  jobtop list kind:card.charge 'age>10m' '!worker:w-7'
  jobtop list 'verdict:may_have_happened' -o json
  jobtop -c 'jobs receipt:ch_8121'`,
		},
		{
			Use:   "output",
			Short: "The fields and units of JSON and CSV",
			Long: `Names are in snake_case. Ages and durations are seconds, as numbers, under names that
end in _seconds; a negative age says that a clock went back. Times are RFC 3339 in UTC,
by the database's clock. What the record does not hold is null, never left out. Fields
are added in later versions, not renamed. Secrets in error texts and payloads are
masked. CSV has the columns of the JSON, null as an empty cell, and a leading
apostrophe before what a spreadsheet would take for a formula.

` + fieldsHelp(),
			Example: `  jobtop list review -o json | jq -r 'select(.verdict_effect_age_seconds > 3600) | .id'`,
		},
		{
			Use:   "exit",
			Short: "The exit status of commands",
			Long: `  0    it worked; an act was applied
  1    an error; nothing was changed by it
  2    wrong usage: a flag, an argument, the configuration
  3    an act was refused, also of an unknown id
  4    an act whose outcome is unknown

Of acts on several jobs it is the first of 4, 1, 3, 0 that occurred. check has its own:
0 fine, 1 warning, 2 critical, 3 cannot tell.

After a signal it is 128 and its number: 130 after ctrl-c. Acts on several jobs stop
between two of them, and each line tells what became of one; it is 4 all the same where
an outcome is unknown, and as without the signal where all had been sent. A reader of
the output that goes away, as head does, stops no acts: all are sent, and it is 1.`,
			Example: `  jobtop requeue charge-1 --reason test || test $? = 3`,
		},
	}
}
