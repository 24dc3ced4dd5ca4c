package console

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/ui/nearest"
	"jobtop/ui/theme"
)

// command is something to be typed after the colon.
type command struct {
	name, usage, does string
	// takes: it needs an argument.
	takes bool
	run   func(m *model, argument string) tea.Cmd
}

func to(view string) func(*model, string) tea.Cmd {
	return func(m *model, argument string) tea.Cmd { return m.visit(place{view, argument}) }
}

// commands are filled in init, since they and the help need each other.
var commands []command

func init() {
	commands = []command{
		{"overview", "overview", "the state machine and what needs a person", false, to("overview")},
		{"stuck", "stuck [FILTER]", "running jobs past their own limit", false, to("stuck")},
		{"review", "review [FILTER]", "jobs that wait for a person", false, to("review")},
		{"jobs", "jobs [FILTER]", "any job: jobs state:dead kind:card.charge", false, to("jobs")},
		{"actions", "actions [FILTER]", "the log: actions by:alice verb:dead outcome:refused since:2h", false, to("actions")},
		{"job", "job ID", "one job", true, to("job")},
		{"pause", "pause KIND", "keep workers from claiming a kind", true, func(m *model, kind string) tea.Cmd { return m.openPause(kind, true) }},
		{"resume", "resume KIND", "let workers claim a kind again", true, func(m *model, kind string) tea.Cmd { return m.openPause(kind, false) }},
		{"count", "count", "count every job, all at one moment", false, func(m *model, _ string) tea.Cmd { return m.openCount() }},
		{"help", "help", "the keys", false, func(m *model, _ string) tea.Cmd { return m.showHelp() }},
		{"q", "q", "quit", false, func(m *model, _ string) tea.Cmd { return m.leave() }},
	}
}

// askCommand lets a command be typed.
func (m *model) askCommand() tea.Cmd {
	p := newPrompt(":", "", &m.commands)
	p.complete = m.completeCommand
	p.enter = func(line string) tea.Cmd { return m.run(line) }
	m.prompt = p
	return nil
}

// run carries out a command line.
func (m *model) run(line string) tea.Cmd {
	name, argument, _ := strings.Cut(strings.TrimSpace(line), " ")
	argument = strings.TrimSpace(argument)
	if name == "" {
		return nil
	}
	c, err := findCommand(name)
	if err != nil {
		m.env.say(theme.Warn, err.Error())
		return nil
	}
	if c.takes && argument == "" {
		m.env.say(theme.Warn, "it is :"+c.usage)
		return nil
	}
	return c.run(m, argument)
}

func findCommand(name string) (command, error) {
	if name == "quit" {
		name = "q"
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, fmt.Errorf("no command is called %s%s; there are %s", name, nearest.DidYouMean(name, commandNames()), strings.Join(commandNames(), ", "))
	}
	return commands[i], nil
}

// CheckView returns an error where Options.View names no command, so that the console
// would open at the overview instead.
func CheckView(view string) error {
	name, _, _ := strings.Cut(strings.TrimSpace(view), " ")
	if name == "" {
		return nil
	}
	_, err := findCommand(name)
	return err
}

func commandNames() []string {
	names := make([]string, 0, len(commands))
	for _, c := range commands {
		names = append(names, c.name)
	}
	return names
}

// completeCommand proposes command names, then what each may be followed by.
func (m *model) completeCommand(line string) []string {
	name, argument, spaced := strings.Cut(line, " ")
	if !spaced {
		var offers []string
		for _, c := range commands {
			if strings.HasPrefix(c.name, name) && c.name != name {
				if c.takes {
					offers = append(offers, c.name+" ")
				} else {
					offers = append(offers, c.name)
				}
			}
		}
		return offers
	}
	var offers []string
	switch name {
	case "stuck", "review", "jobs":
		for _, o := range completeFilter(argument) {
			offers = append(offers, name+" "+o)
		}
	case "pause", "resume":
		for _, kind := range m.knownKinds(name == "resume") {
			if strings.HasPrefix(kind, argument) && kind != argument {
				offers = append(offers, name+" "+kind)
			}
		}
	}
	return offers
}

// knownKinds are the kinds that were seen so far, or those that are paused.
func (m *model) knownKinds(paused bool) []string {
	seen := map[string]bool{}
	for _, p := range m.env.poller.poll.Paused {
		seen[p.Kind] = true
	}
	if !paused {
		for _, s := range m.screens {
			if l, ok := s.(*list); ok {
				for j := range l.table.Shown() {
					seen[j.Kind] = true
				}
			}
		}
	}
	var kinds []string
	for kind := range seen {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}
