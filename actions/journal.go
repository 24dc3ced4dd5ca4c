package actions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// Intent is an act that was about to be sent. It holds no reason, no receipt and no
// credentials.
type Intent struct {
	ActionID string    `json:"action_id"`
	Verb     Verb      `json:"verb"`
	JobID    string    `json:"job_id"`
	Operator string    `json:"operator"`
	Database string    `json:"database"` // store.Identity
	Timeline int64     `json:"timeline"`
	At       time.Time `json:"at"` // this machine's clock, for showing
}

// line is one line of a journal: an intent, or the outcome of an earlier one.
type line struct {
	Intent  *Intent  `json:"intent,omitempty"`
	Outcome *outcome `json:"outcome,omitempty"`
}

type outcome struct {
	ActionID string  `json:"action_id"`
	Outcome  Outcome `json:"outcome"`
}

// Journal keeps what this process is about to do, in a file of its own that is locked
// as long as the process lives. What a process that was killed left behind, the next
// one finds by its lock being free. It is safe for concurrent use.
//
// The file holds one JSON object a line and is only ever appended to.
type Journal struct {
	directory string

	mu   sync.Mutex
	file *os.File
	open map[string]bool // intents without an outcome
	torn bool            // the last line could not be written whole
}

var errNoJournal = errors.New("no journal: were jobtop killed now, it could not tell what became of this act")

// NewJournal keeps intents in journal/ under a state directory. It touches nothing
// until there is something to write; Ready tells beforehand whether that will work.
func NewJournal(state string) *Journal {
	return &Journal{directory: filepath.Join(state, "journal"), open: map[string]bool{}}
}

// Ready makes the journal's file and tells why it cannot be written.
func (j *Journal) Ready() error {
	if j == nil {
		return errNoJournal
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.create()
}

// Close removes the file, unless it holds an act of which nobody knows the outcome.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	var err error
	if len(j.open) == 0 {
		err = os.Remove(j.file.Name())
	}
	err = errors.Join(err, j.file.Close())
	j.file = nil
	return err
}

// intend writes an intent and returns when it is on disk.
func (j *Journal) intend(i Intent) error {
	if j == nil {
		return errNoJournal
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.create(); err != nil {
		return err
	}
	i.At = time.Now().UTC().Truncate(time.Millisecond)
	if err := j.append(line{Intent: &i}); err != nil {
		return j.problem(err)
	}
	j.open[i.ActionID] = true
	if err := j.file.Sync(); err != nil {
		return j.problem(err)
	}
	return nil
}

// append writes a line, on a new one where the last was torn by a full disk.
func (j *Journal) append(l line) error {
	if j.torn {
		if _, err := j.file.WriteString("\n"); err != nil {
			return err
		}
	}
	err := appendLine(j.file, l)
	j.torn = err != nil
	return err
}

// conclude writes what became of an intent. It is not synced: where it is lost, the
// act is settled again, which changes nothing.
func (j *Journal) conclude(actionID string, o Outcome) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil || !j.open[actionID] {
		return
	}
	if err := j.append(line{Outcome: &outcome{actionID, o}}); err == nil {
		delete(j.open, actionID)
	}
}

// create makes and locks the file, once.
func (j *Journal) create() error {
	if j.file != nil {
		return nil
	}
	if err := makeDirectory(j.directory); err != nil {
		return j.problem(err)
	}
	for range 3 {
		name := fmt.Sprintf("%d-%s.jsonl", os.Getpid(), uuid.NewString())
		file, err := os.OpenFile(filepath.Join(j.directory, name), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
		if err != nil {
			return j.problem(err)
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil && named(file) {
			if err := syncDirectory(j.directory); err != nil {
				return j.problem(errors.Join(err, file.Close(), os.Remove(file.Name())))
			}
			j.file = file
			return nil
		} else if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
			return j.problem(errors.Join(err, file.Close(), os.Remove(file.Name())))
		}
		// Somebody who looks for journals left behind took it for one, before it was locked.
		_ = file.Close()
	}
	return j.problem(errors.New("others keep taking its file away"))
}

func (j *Journal) problem(err error) error {
	return fmt.Errorf("no journal: %w; were jobtop killed now, it could not tell what became of this act", err)
}

// named reports whether an open file still has its name.
func named(file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	current, err := os.Stat(file.Name())
	return err == nil && os.SameFile(opened, current)
}

// makeDirectory makes a directory and those above it, durably and for us alone.
func makeDirectory(path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &os.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDirectory(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncDirectory(parent)
}

func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = directory.Close() }()
	return directory.Sync()
}

// appendLine writes a line in one write, so that a crash can tear only the last one.
func appendLine(file *os.File, l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	return err
}

// unsettled reads a journal and returns the intents without an outcome, in their
// order. A torn last line and lines that are none are skipped: an act is sent only
// once its intent was written whole.
func unsettled(text []byte) []Intent {
	var intents []Intent
	concluded := map[string]bool{}
	for raw := range bytes.Lines(text) {
		var l line
		if json.Unmarshal(raw, &l) != nil {
			continue
		}
		switch {
		case l.Outcome != nil:
			concluded[l.Outcome.ActionID] = true
		case l.Intent != nil && l.Intent.Verb.Known() && uuid.Validate(l.Intent.ActionID) == nil:
			intents = append(intents, *l.Intent)
		}
	}
	var rest []Intent
	for _, i := range intents {
		if !concluded[i.ActionID] {
			concluded[i.ActionID] = true // an act that was sent twice is one act
			rest = append(rest, i)
		}
	}
	return rest
}
