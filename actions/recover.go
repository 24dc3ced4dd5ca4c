package actions

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Recover settles what processes that are gone left in the journal without an outcome:
// of the runner's database only, each act in the name of whoever made it. The Results
// are in the order in which the acts were made; one that is Unknown still stays in the
// journal. An error says that the journal, or some of it, could not be read, or that
// the database could not be asked; the Results hold all the same.
func (r *Runner) Recover(ctx context.Context) ([]Result, error) {
	if r.Journal == nil {
		return nil, nil
	}
	files, err := r.Journal.abandoned()
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	if len(files) == 0 {
		return nil, err
	}
	var results []Result
	for _, f := range files {
		found, fileErr := r.recoverFile(ctx, f)
		results = append(results, found...)
		err = errors.Join(err, fileErr)
		if fileErr != nil || slices.ContainsFunc(found, func(r Result) bool { return r.Outcome == Unknown }) {
			break // the next one would have no more luck now
		}
	}
	return results, err
}

// Pending lists the acts of any process, this one and those still alive included, that
// have no outcome in the journal, the oldest first.
func (j *Journal) Pending() ([]Intent, error) {
	if j == nil {
		return nil, errNoJournal
	}
	names, err := j.names()
	if err != nil {
		return nil, err
	}
	var pending []Intent
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				continue // its process ended meanwhile, in good order
			}
			return pending, err
		}
		pending = append(pending, unsettled(text)...)
	}
	slices.SortStableFunc(pending, func(a, b Intent) int { return a.At.Compare(b.At) })
	return pending, nil
}

func (j *Journal) names() ([]string, error) {
	entries, err := os.ReadDir(j.directory)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".jsonl" && entry.Type().IsRegular() {
			names = append(names, filepath.Join(j.directory, entry.Name()))
		}
	}
	return names, nil
}

// abandoned opens and locks the files whose processes are gone.
func (j *Journal) abandoned() ([]*os.File, error) {
	names, err := j.names()
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, name := range names {
		file, openErr := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
		if openErr != nil {
			if !errors.Is(openErr, os.ErrNotExist) {
				err = errors.Join(err, openErr)
			}
			continue
		}
		lockErr := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if lockErr == nil && named(file) {
			files = append(files, file)
			continue
		}
		_ = file.Close()
		if lockErr != nil && !errors.Is(lockErr, syscall.EWOULDBLOCK) {
			err = errors.Join(err, &os.PathError{Op: "lock", Path: name, Err: lockErr})
		}
	}
	return files, err
}

// recoverFile settles what one file holds, and removes it when nothing is left open.
func (r *Runner) recoverFile(ctx context.Context, file *os.File) ([]Result, error) {
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	open := unsettled(text)
	if len(open) == 0 {
		return nil, os.Remove(file.Name())
	}
	identity, err := r.database(ctx)
	if err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		if _, err := file.WriteString("\n"); err != nil { // ends the torn line
			return nil, err
		}
	}
	var results []Result
	left := 0
	for _, intent := range open {
		if intent.Database != identity.Database {
			left++
			continue
		}
		result := Result{
			Order:    Order{ActionID: intent.ActionID, Verb: intent.Verb, JobID: intent.JobID},
			Operator: intent.Operator, Outcome: Unknown, Err: ctx.Err(),
		}
		switch {
		case result.Err != nil:
		case len(results) > 0 && results[len(results)-1].Outcome == Unknown:
			result.Err = results[len(results)-1].Err // the next one would have no more luck now
		default:
			result = r.settle(ctx, result, intent, nil)
		}
		results = append(results, result)
		if result.Outcome == Unknown {
			left++
		} else if err := appendLine(file, line{Outcome: &outcome{intent.ActionID, result.Outcome}}); err != nil {
			return results, err
		}
	}
	if left == 0 {
		return results, os.Remove(file.Name())
	}
	return results, nil
}
