package console

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"jobtop/actions"
	"jobtop/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The console shows local time; here that is the same everywhere.
func init() { time.Local = time.UTC }

// fake is a database in memory: just enough of one to draw from.
type fake struct {
	mutex          sync.Mutex
	jobs           []store.Job // in the order of the lists
	details        map[string]store.Detail
	actions        []store.Action
	overview       store.Overview
	contradictions []store.Contradiction
	payloads       map[string]string
	server         store.Server
	poll           store.Poll
	down           error // what every read fails with
	spent          time.Duration
	acts           []store.ActRequest
	actError       error
	settled        *store.ActAnswer
	pauses         []store.PauseRequest
	queries        []store.JobQuery
	// before runs before each read.
	before func(what string)
}

func (f *fake) read(what string) error {
	if f.before != nil {
		f.before(what)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.spent += time.Millisecond
	return f.down
}

func (f *fake) ServerTime() time.Duration {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.spent
}

func (f *fake) Server(context.Context) (store.Server, error) { return f.server, f.read("server") }

func (f *fake) Poll(context.Context) (store.Poll, error) {
	err := f.read("poll")
	f.mutex.Lock()
	defer f.mutex.Unlock()
	p := f.poll
	p.States = nil
	for _, s := range actions.States() {
		c := store.StateCount{State: string(s), Count: store.Count{Precision: store.Exact}}
		for _, j := range f.jobs {
			if j.State == string(s) {
				c.Count.N++
				if c.OldestAge == nil || *c.OldestAge < j.StateAge {
					c.OldestAge = &j.StateAge
				}
			}
			if j.State == string(s) && s == actions.Running && j.StuckFor != nil {
				p.Stuck.N++
				if p.OldestStuck == nil || *p.OldestStuck < *j.StuckFor {
					p.OldestStuck = j.StuckFor
				}
			}
		}
		p.States = append(p.States, c)
	}
	for i, s := range f.poll.States { // figures that do not come from the rows
		if s.State != "" {
			p.States[i] = s
		}
	}
	return p, err
}

func (f *fake) Jobs(_ context.Context, q store.JobQuery) (store.JobPage, error) {
	if err := f.read("jobs"); err != nil {
		return store.JobPage{}, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.queries = append(f.queries, q)
	page := store.JobPage{Order: q.Order}
	if page.Order == "" {
		page.Order = store.OldestFirst
		if q.Stuck {
			page.Order = store.WorstFirst
		}
	}
	jobs := f.jobs
	switch q.Order {
	case store.ByID:
		jobs = slices.Clone(jobs)
		slices.SortFunc(jobs, func(a, b store.Job) int { return cmp.Compare(a.ID, b.ID) })
	case store.NewestFirst:
		jobs = slices.Clone(jobs)
		slices.SortStableFunc(jobs, func(a, b store.Job) int { return cmp.Compare(a.StateAge, b.StateAge) })
	default:
	}
	keyed := slices.ContainsFunc(q.Conditions, func(c store.Condition) bool {
		return slices.Contains([]string{"state", "id", "effect", "receipt"}, c.Field)
	})
	wanted := map[string]bool{} // many ids, each by itself
	if len(q.Conditions) > 1 && !slices.ContainsFunc(q.Conditions, func(c store.Condition) bool { return c.Field != "id" || c.Not || strings.HasSuffix(c.Value, "*") }) {
		for _, c := range q.Conditions {
			wanted[c.Value] = true
		}
	}
	after := q.After == ""
	for _, j := range jobs {
		if len(wanted) > 0 && !wanted[j.ID] {
			continue
		}
		if !after {
			after = j.ID == q.After
			continue
		}
		if q.Stuck && j.StuckFor == nil || len(wanted) == 0 && !matches(j, q.Conditions) || j.State == "done" && !keyed {
			continue
		}
		if len(page.Jobs) == q.Limit {
			page.Next = page.Jobs[len(page.Jobs)-1].ID
			break
		}
		page.Jobs = append(page.Jobs, j)
	}
	return page, nil
}

func (f *fake) find(id string) (store.Job, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, j := range f.jobs {
		if j.ID == id {
			return j, nil
		}
	}
	return store.Job{}, fmt.Errorf("there is no job %s: %w", id, store.ErrNotFound)
}

func (f *fake) Row(_ context.Context, id string) (store.Job, error) {
	if err := f.read("row"); err != nil {
		return store.Job{}, err
	}
	return f.find(id)
}

func (f *fake) Job(_ context.Context, id string) (store.Detail, error) {
	if err := f.read("job"); err != nil {
		return store.Detail{}, err
	}
	j, err := f.find(id)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	d := f.details[id]
	d.Job = j
	return d, err
}

func (f *fake) Payload(_ context.Context, id string) (json.RawMessage, error) {
	if err := f.read("payload"); err != nil {
		return nil, err
	}
	if p, ok := f.payloads[id]; ok {
		return json.RawMessage(p), nil
	}
	return nil, nil
}

func (f *fake) Actions(_ context.Context, q store.ActionQuery) (store.ActionPage, error) {
	var page store.ActionPage
	for _, a := range f.actions {
		if (q.Operator == "" || q.Operator == a.Operator) && (q.Outcome == "" || q.Outcome == a.Outcome) && (q.Verb == "" || q.Verb == a.Verb) && (q.JobID == "" || q.JobID == str(a.JobID)) {
			page.Actions = append(page.Actions, a)
		}
	}
	return page, f.read("actions")
}

func (f *fake) Overview(context.Context) (store.Overview, error) {
	return f.overview, f.read("overview")
}

func (f *fake) ContradictionsNow(context.Context) ([]store.Contradiction, int, error) {
	return f.contradictions, len(f.jobs), f.read("doctor")
}

func (f *fake) Pause(_ context.Context, r store.PauseRequest) (bool, error) {
	f.pauses = append(f.pauses, r)
	f.poll.Paused = append(f.poll.Paused, store.Paused{Kind: r.Kind, By: r.Operator, Reason: r.Reason})
	return true, nil
}

func (f *fake) Resume(_ context.Context, r store.PauseRequest) (bool, error) {
	f.pauses = append(f.pauses, r)
	f.poll.Paused = slices.DeleteFunc(f.poll.Paused, func(p store.Paused) bool { return p.Kind == r.Kind })
	return true, nil
}

// Act changes the job where it is as it was seen, as the database's act would.
func (f *fake) Act(_ context.Context, r store.ActRequest) (store.ActAnswer, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.acts = append(f.acts, r)
	if f.actError != nil {
		return store.ActAnswer{}, f.actError
	}
	answer := store.ActAnswer{ActionID: r.ActionID, Outcome: "refused"}
	i := slices.IndexFunc(f.jobs, func(j store.Job) bool { return j.ID == r.JobID })
	if i < 0 {
		answer.Refusal = ptr("not_found")
		return answer, nil
	}
	j := &f.jobs[i]
	if j.Version != r.SeenVersion || j.State != r.SeenState {
		answer.Refusal, answer.ChangedBy, answer.ChangedHow, answer.ChangedAgo = ptr("changed"), ptr("bob"), ptr("dead"), ptr(3*time.Second)
	} else {
		j.State, j.Version, j.StateAge, j.StuckFor = string(actions.Verb(r.Verb).Target()), j.Version+1, 0, nil
		answer.Outcome, answer.ToState, answer.ToVersion = "applied", ptr(j.State), ptr(j.Version)
	}
	answer.State, answer.Version = ptr(j.State), ptr(j.Version)
	return answer, nil
}

func (f *fake) Settle(context.Context, string, string, string, string, string) (store.ActAnswer, error) {
	if f.settled == nil {
		return store.ActAnswer{}, unknown()
	}
	return *f.settled, nil
}

func (f *fake) Identity(context.Context) (store.Identity, error) { return store.Identity{}, nil }

func ptr[T any](v T) *T { return &v }

// driver is a console without a terminal: it runs the commands, keeps the clock, and
// shows the screen.
type driver struct {
	t      testing.TB
	m      *model
	db     *fake
	clock  time.Time
	alarms []timed
	sent   strings.Builder // to the terminal, past the drawing
	quit   bool
	screen bool // ClearScreen was asked for
}

type timed struct {
	at    time.Time
	alarm alarm
}

func (d *driver) Write(p []byte) (int, error) { return d.sent.Write(p) }

// start shows a console of a size on a database.
func start(t testing.TB, db *fake, width, height int, change ...func(*Options)) *driver {
	t.Helper()
	t.Setenv("TMUX", "")
	d := &driver{t: t, db: db, clock: time.Date(2026, 3, 14, 12, 4, 0, 0, time.UTC)}
	journal := actions.NewJournal(t.TempDir())
	t.Cleanup(func() { _ = journal.Close() })
	o := Options{DB: db, Operator: "alice", Output: d, Runner: &actions.Runner{DB: db, Journal: journal, Operator: "alice", Client: "test"}}
	for _, c := range change {
		c(&o)
	}
	m, err := newModel(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	d.m = m
	m.env.now = func() time.Time { return d.clock }
	m.env.after = func(after time.Duration, msg tea.Msg) tea.Cmd {
		d.alarms = append(d.alarms, timed{d.clock.Add(after), msg.(alarm)})
		return nil
	}
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	d.run(m.Init())
	return d
}

func (d *driver) send(msg tea.Msg) {
	_, cmd := d.m.Update(msg)
	d.m.View()
	d.run(cmd)
}

// run runs commands until none is left, several at a time as Bubble Tea does.
func (d *driver) run(cmd tea.Cmd) {
	msgs := make(chan tea.Msg)
	open := 0
	begin := func(cmd tea.Cmd) {
		if cmd != nil {
			open++
			go func() { msgs <- cmd() }()
		}
	}
	begin(cmd)
	for open > 0 {
		select {
		case msg := <-msgs:
			open--
			switch msg := msg.(type) {
			case nil:
			case tea.BatchMsg:
				for _, cmd := range msg {
					begin(cmd)
				}
			case tea.QuitMsg:
				d.quit = true
			default:
				if fmt.Sprintf("%T", msg) == "tea.clearScreenMsg" {
					d.screen = true
				}
				_, cmd := d.m.Update(msg)
				d.m.View()
				begin(cmd)
			}
		case <-time.After(time.Minute):
			d.t.Fatal("a command does not come back")
		}
	}
}

// pass lets time go by, with what was to happen meanwhile.
func (d *driver) pass(by time.Duration) {
	end := d.clock.Add(by)
	for {
		next := -1
		for i, a := range d.alarms {
			if !a.at.After(end) && (next < 0 || a.at.Before(d.alarms[next].at)) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		a := d.alarms[next]
		d.alarms = slices.Delete(d.alarms, next, next+1)
		d.clock = a.at
		d.send(a.alarm)
	}
	d.clock = end
}

// refresh lets one look at the database go by.
func (d *driver) refresh() { d.pass(d.m.env.poller.wait + time.Millisecond) }

var named = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "up": tea.KeyUp, "down": tea.KeyDown,
	"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"backspace": tea.KeyBackspace, "ctrl+c": tea.KeyCtrlC, "ctrl+d": tea.KeyCtrlD, "ctrl+l": tea.KeyCtrlL, "ctrl+r": tea.KeyCtrlR,
	"ctrl+u": tea.KeyCtrlU, "ctrl+z": tea.KeyCtrlZ, " ": tea.KeySpace,
}

func keyMsg(name string) tea.KeyMsg {
	if t, ok := named[name]; ok {
		if name == " " {
			return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
		}
		return tea.KeyMsg{Type: t}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// press presses keys by their names, one after the other.
func (d *driver) press(keys ...string) {
	for _, k := range keys {
		d.send(keyMsg(k))
	}
}

// settle waits until a dialog that just opened listens.
func (d *driver) settle() { d.clock = d.clock.Add(2 * quietFor) }

// typing types text letter by letter.
func (d *driver) typing(s string) {
	for _, r := range s {
		d.press(string(r))
	}
}

// view is the screen as lines, without looks.
func (d *driver) view() []string {
	lines := strings.Split(ansi.Strip(d.m.View()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func (d *driver) text() string { return strings.Join(d.view(), "\n") }

// flat is the screen as one line, without frames and breaks, to find sentences in.
func (d *driver) flat() string {
	frames := strings.NewReplacer("│", " ", "\n", " ", "─", " ")
	return strings.Join(strings.Fields(frames.Replace(d.text())), " ")
}

// wants fails unless the screen shows every one of some texts.
func (d *driver) wants(texts ...string) {
	d.t.Helper()
	shown, flat := d.text(), d.flat()
	for _, want := range texts {
		if !strings.Contains(shown, want) && !strings.Contains(flat, want) {
			d.t.Errorf("the screen does not show %q:\n%s", want, shown)
		}
	}
}

func (d *driver) lacks(texts ...string) {
	d.t.Helper()
	shown := d.text()
	for _, not := range texts {
		if strings.Contains(shown, not) {
			d.t.Errorf("the screen shows %q:\n%s", not, shown)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from its golden file (go test -update writes it anew); got\n%s\nwant\n%s", name, got, want)
	}
}

func ctx() context.Context { return context.Background() }
