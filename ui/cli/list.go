package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/filter"
	"jobtop/ui/nearest"
	"jobtop/ui/text"
)

// lists are the words that list takes besides the states.
var lists = []string{"stuck", "receipts"}

// listWords are all words that list takes.
func listWords() []string {
	words := slices.Clone(lists)
	for _, s := range actions.States() {
		words = append(words, string(s))
	}
	return words
}

// verdicts are the words for one on the command line.
var verdicts = []string{"happened", "may_have_happened", "not_known", "did_not_happen", "never_started"}

// listFlags are the flags of list.
type listFlags struct {
	limit   int
	sort    *choice
	older   string
	younger string
	fields  map[string]*[]string // by field of the filter
	changed func(flag string) bool
}

// jobFlags are those that receipts have no use for.
var jobFlags = []string{"sort", "older", "younger", "kind", "worker", "error", "verdict", "source-version", "id", "effect", "receipt"}

// defaultListLimit keeps a list that nobody bounded from running on for ever.
const defaultListLimit = 1000

func (a *app) newListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list [stuck|receipts|STATE] [FILTER...]",
		GroupID: groupLook,
		Short:   "Jobs, filtered; or the latest receipts",
		Long: `list prints jobs, those longest in their state first. Without a word it lists the open
jobs: all but the done ones. A filter is written as in the console (see jobtop help
filter), or with flags; both together must hold.

list receipts prints the latest receipts, newest first, at most 1,000 of them whatever
--limit says, and takes no filter. list receipt:ID finds a job by its receipt, however
old; list done -n 0 --sort newest lists all done jobs, each with its receipt.

As json it prints one object a line, which requeue, done, dead and hold take on
standard input; see jobtop help output for the fields.`,
		Example: `  jobtop list review
  jobtop list stuck -o json | jobtop requeue - --reason "host w-7 is gone"
  jobtop list kind:card.charge 'age>10m' '!worker:w-7'
  jobtop list dead --kind card.charge --older 3d -o csv > dead.csv`,
		ValidArgsFunction: func(_ *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(arguments) > 0 { // a filter follows
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return listWords(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	output := outputFlag(cmd, "table", "json", "csv")
	f := listFlags{sort: &choice{words: []string{"oldest", "newest", "id", "worst"}}, fields: map[string]*[]string{}}
	flags := cmd.Flags()
	flags.IntVarP(&f.limit, "limit", "n", defaultListLimit, "at most this `number`; 0 lists all, of receipts the latest 1,000")
	choiceFlag(cmd, f.sort, "sort", "", "the order")
	flags.StringVar(&f.older, "older", "", "in their state for longer than this `age`, such as 10m or 3d")
	flags.StringVar(&f.younger, "younger", "", "in their state for less than this `age`")
	for _, field := range []struct{ flag, field, what string }{
		{"kind", "kind", "of this `kind`"},
		{"worker", "worker", "last run by this `worker`"},
		{"error", "error", "with this error `category`"},
		{"verdict", "verdict", "with this `verdict`: " + strings.Join(verdicts, ", ")},
		{"source-version", "version", "last run by this `version` of the source"},
		{"id", "id", "with this `id`, or PREFIX*"},
		{"effect", "effect", "with this effect `key`"},
		{"receipt", "receipt", "with this receipt `ID`"},
	} {
		f.fields[field.field] = flags.StringArray(field.flag, nil, field.what)
	}
	completeFlag(cmd, "verdict", verdicts)
	f.changed = flags.Changed
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		return a.list(cmd.Context(), arguments, f, output.value)
	}
	return cmd
}

func (a *app) list(ctx context.Context, arguments []string, f listFlags, format string) error {
	if f.limit < 0 {
		return usagef("--limit is below zero")
	}
	receipts := len(arguments) > 0 && arguments[0] == "receipts"
	var query store.JobQuery
	if receipts {
		const instead = "jobtop list receipt:ID finds a job by its receipt"
		if len(arguments) > 1 {
			return usagef("list receipts takes no filter, and got %s; %s", short(arguments[1]), instead)
		}
		if i := slices.IndexFunc(jobFlags, f.changed); i >= 0 {
			return usagef("list receipts takes no --%s; %s", jobFlags[i], instead)
		}
	} else {
		var err error
		if query, err = f.query(arguments); err != nil {
			return usage(err)
		}
	}
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if receipts {
		return s.listReceipts(ctx, f.limit, format)
	}
	return s.listJobs(ctx, query, f.limit, format)
}

// query puts words, filter expression and flags together.
func (f listFlags) query(arguments []string) (store.JobQuery, error) {
	query := store.JobQuery{Order: store.Order(f.sort.value)}
	if len(arguments) > 0 && !strings.ContainsAny(arguments[0], ":<>!") {
		word := arguments[0]
		switch {
		case word == "stuck":
			query.Stuck = true
		case actions.State(word).Known():
			query.Conditions = append(query.Conditions, store.Condition{Field: "state", Value: word})
		default:
			return query, fmt.Errorf("no list is called %q%s; there are %s; a filter looks like kind:card.charge or id:%s*",
				short(word), nearest.DidYouMean(word, listWords()), strings.Join(listWords(), ", "), short(word))
		}
		arguments = arguments[1:]
	}
	conditions, err := filter.Parse(strings.Join(arguments, " "))
	if err != nil {
		return query, fmt.Errorf("the filter cannot be read: %w", err)
	}
	query.Conditions = append(query.Conditions, conditions...)
	for _, field := range filter.Fields() {
		if f.fields[field] == nil {
			continue
		}
		for _, value := range *f.fields[field] {
			query.Conditions = append(query.Conditions, store.Condition{Field: field, Value: value})
		}
	}
	for _, age := range []struct {
		value string
		not   bool
	}{{f.older, false}, {f.younger, true}} {
		if age.value == "" {
			continue
		}
		d, err := filter.ParseAge(age.value)
		if err != nil {
			return query, err
		}
		query.Conditions = append(query.Conditions, store.Condition{Field: "age", Value: d.String(), Not: age.not})
	}
	return query, nil
}

// listJobs prints the jobs page by page, so that a long list needs no memory and its
// first lines come at once.
func (s *session) listJobs(ctx context.Context, query store.JobQuery, limit int, format string) error {
	print := newJobPrinter(s, query.Stuck, format)
	listed := 0
	for {
		query.Limit = store.PageLimit
		if limit > 0 {
			query.Limit = min(query.Limit, limit-listed)
		}
		page, err := s.db.Jobs(ctx, query)
		if errors.Is(err, store.ErrBadQuery) || errors.Is(err, store.ErrUnserved) {
			return usage(err)
		}
		if err != nil {
			return err
		}
		for _, job := range page.Jobs {
			if err := print.job(job); err != nil {
				return err
			}
		}
		listed += len(page.Jobs)
		switch {
		case page.Next == "":
			if page.Limited {
				s.complain("not all jobs could be examined; a narrower filter finds the rest")
			}
			return print.end(listed)
		case limit > 0 && listed >= limit:
			s.complain(fmt.Sprintf("there are more than these %d; --limit 0 lists all", listed))
			return print.end(listed)
		}
		if err := print.page(); err != nil {
			return err
		}
		query.After = page.Next
	}
}

// listReceipts prints the latest receipts, newest first. There is one page of them.
func (s *session) listReceipts(ctx context.Context, limit int, format string) error {
	if limit == 0 || limit > store.PageLimit {
		limit = store.PageLimit
	}
	// One more tells whether there are more; beyond a full page nobody looks.
	receipts, err := s.db.Receipts(ctx, min(limit+1, store.PageLimit))
	if err != nil {
		return err
	}
	most := text.Count(store.PageLimit)
	switch {
	case len(receipts) > limit:
		receipts = receipts[:limit]
		s.complain(fmt.Sprintf("there are more than these %d; --limit %d lists the latest %s, which is the most", limit, store.PageLimit, most))
	case len(receipts) == store.PageLimit:
		s.complain(fmt.Sprintf("these are the latest %s, the most that list receipts prints, and there may be more; jobtop list done -n 0 --sort newest lists all done jobs with theirs", most))
	}
	switch format {
	case "json":
		for _, r := range receipts {
			if err := writeJSON(s.out, newReceiptJSON(r)); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return s.writeReceiptsCSV(receipts)
	}
	t := table{columns: []column{
		{title: "receipt", least: 12, middle: true}, {title: "job", least: 12, middle: true}, {title: "kind", least: 8},
		{title: "attempt", right: true}, {title: "recorded by", least: 8}, {title: "age", right: true},
	}}
	for _, r := range receipts {
		t.add(plain(r.ReceiptID), plain(r.JobID), plain(r.Kind), plain(fmt.Sprint(r.Attempt)), plain(r.RecordedBy), plain(ageOr(&r.RecordedAge, "-")))
	}
	if len(receipts) == 0 {
		_, err := fmt.Fprintln(s.out, "no receipts")
		return err
	}
	return t.write(s.out, s.screen)
}

// ageOr writes an age for a column, or what stands for none.
func ageOr(d *time.Duration, none string) string {
	if d == nil {
		return none
	}
	return ageColumn(*d)
}
