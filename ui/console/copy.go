package console

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// copyLimit bounds what is sent to a clipboard, in bytes: terminals drop more.
const copyLimit = 64 << 10

// copyText copies a single value, as one line. What is copied is pasted at a shell's
// prompt, where a newline runs a command and an escape does worse: both are written out, as
// on the screen. What is printable stays as it is, also where the screen is ASCII.
func (m *model) copyText(what, s string) tea.Cmd { return m.clip(what, text.Unicode.Sanitize(s)) }

// copyBlock copies a text of many lines.
func (m *model) copyBlock(what, s string) tea.Cmd { return m.clip(what, text.Unicode.SanitizeBlock(s)) }

// copyRows copies a table, a line for each row and tabs between its values.
func (m *model) copyRows(what string, rows [][]string) tea.Cmd {
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		cells := make([]string, 0, len(row))
		for _, cell := range row {
			cells = append(cells, text.Unicode.Sanitize(cell))
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	return m.clip(what, strings.Join(lines, "\n"))
}

// clip puts safe text on the clipboard: by tmux where we run in it, since tmux drops the
// terminal's own way by default, else by OSC 52. Neither says whether it worked, so that
// the text can also be shown, to be selected by hand.
func (m *model) clip(what, s string) tea.Cmd {
	e := m.env
	if len(s) > copyLimit {
		s = strings.ToValidUTF8(s[:copyLimit], "")
		what += " (its first " + text.Bytes(copyLimit) + ")"
	}
	out := e.Output
	return ask(e, "copy", func(ctx context.Context) (string, error) {
		if os.Getenv("TMUX") != "" {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			command := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-")
			command.Stdin = strings.NewReader(s)
			if command.Run() == nil {
				return "by tmux", nil
			}
		}
		if out == nil {
			return "", errors.New("there is no terminal to copy by")
		}
		// One write, so that it does not mix with what is being drawn.
		_, err := out.Write([]byte(osc52.New(s).String()))
		return "by the terminal, if it allows that", err
	}, func(how string, err error) tea.Cmd {
		if err != nil {
			m.plain(what, s)
			e.say(theme.Warn, "could not be copied: "+e.words(err)+"; select it by hand")
			return nil
		}
		e.say(theme.Plain, "copied "+what+" "+how+"; press "+e.keymap.Get("copy").First()+" again to select it by hand")
		if m.copied == s {
			m.plain(what, s)
			m.copied = ""
			return nil
		}
		m.copied = s
		return nil
	})
}

// plain shows text by itself, to be selected by hand.
func (m *model) plain(what, s string) {
	m.env.dialogs.push(m.env, newPages(m.env, "Select "+what+" by hand", m.env.charset().SanitizeBlock(s)))
}

func (l *list) copyIDs() tea.Cmd {
	jobs := l.table.Marked()
	if len(jobs) == 0 {
		job, _ := l.table.Selected()
		return l.m.copyText("the id", job.ID)
	}
	rows := make([][]string, 0, len(jobs))
	for _, j := range jobs {
		rows = append(rows, []string{j.ID})
	}
	return l.m.copyRows(text.Count(int64(len(rows)))+" ids", rows)
}

// copyError copies the whole error, which a list has only the beginning of.
func (l *list) copyError() tea.Cmd {
	e := l.m.env
	job, _ := l.table.Selected()
	if job.ErrorCategory == nil && job.ErrorDetail == nil {
		e.say(theme.Warn, "the job has no error")
		return nil
	}
	db, id := e.DB, job.ID
	return ask(e, "copy error", func(ctx context.Context) (store.Detail, error) { return db.Job(ctx, id) }, func(d store.Detail, err error) tea.Cmd {
		if err != nil {
			e.say(theme.Bad, e.words(err))
			return nil
		}
		s := &jobScreen{m: l.m, detail: d}
		return s.copyError()
	})
}
