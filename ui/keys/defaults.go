package keys

// defaults is the key map as designed, in the order in which the help shows it.
var defaults = []Binding{
	{ID: "overview", Keys: []string{"1"}, Help: "overview", Long: "the state machine, what needs a person, kinds, the database"},
	{ID: "stuck", Keys: []string{"2"}, Help: "stuck", Long: "running jobs past their own limit"},
	{ID: "review", Keys: []string{"3"}, Help: "review", Long: "jobs whose outcome nobody can be sure about"},
	{ID: "jobs", Keys: []string{"4"}, Help: "jobs", Long: "any job, by id, key, receipt, state, kind and more"},
	{ID: "actions", Keys: []string{"5"}, Help: "actions", Long: "what operators did, and what they were refused"},

	{ID: "down", Keys: []string{"j", "down"}, Help: "down", Long: "next row"},
	{ID: "up", Keys: []string{"k", "up"}, Help: "up", Long: "row before"},
	{ID: "left", Keys: []string{"h", "left"}, Help: "left", Long: "figure to the left"},
	{ID: "right", Keys: []string{"l", "right"}, Help: "right", Long: "figure to the right"},
	{ID: "top", Keys: []string{"g", "home"}, Help: "top", Long: "first row"},
	{ID: "bottom", Keys: []string{"G", "end"}, Help: "end", Long: "last row; reads on where there is more"},
	{ID: "half-down", Keys: []string{"ctrl+d"}, Help: "half down", Long: "half a screen down"},
	{ID: "half-up", Keys: []string{"ctrl+u"}, Help: "half up", Long: "half a screen up"},
	{ID: "page-down", Keys: []string{"pgdown"}, Help: "page down", Long: "a screen down"},
	{ID: "page-up", Keys: []string{"pgup"}, Help: "page up", Long: "a screen up"},

	{ID: "open", Keys: []string{"enter"}, Help: "open", Long: "into what is selected"},
	{ID: "back", Keys: []string{"esc"}, Help: "back", Long: "clear marks, then the filter, then back"},
	{ID: "older", Keys: []string{"["}, Help: "history back", Long: "to where you were before"},
	{ID: "newer", Keys: []string{"]"}, Help: "history on", Long: "and forward again"},
	{ID: "section", Keys: []string{"tab"}, Help: "section", Long: "next section"},
	{ID: "section-back", Keys: []string{"shift+tab"}, Help: "section back", Long: "section before"},

	{ID: "filter", Keys: []string{"/"}, Help: "filter", Long: "filter: state: kind: worker: error: verdict: version: id: effect: receipt: age>10m, ! inverts"},
	{ID: "next-match", Keys: []string{"n"}, Help: "next", Long: "next match"},
	{ID: "previous-match", Keys: []string{"N"}, Help: "previous", Long: "match before"},
	{ID: "group", Keys: []string{"b"}, Help: "group", Long: "what do these share: group by kind, worker, error, version, verdict"},
	{ID: "sort", Keys: []string{"s"}, Help: "sort", Long: "sort by the next column"},
	{ID: "reverse", Keys: []string{"S"}, Help: "reverse", Long: "reverse the order"},
	{ID: "mark", Keys: []string{" "}, Help: "mark", Long: "mark the row, or take the mark away"},
	{ID: "mark-all", Keys: []string{"*"}, Help: "mark all", Long: "mark all that the filter shows, or none"},
	{ID: "wide", Keys: []string{"w"}, Help: "wide", Long: "more columns, or fewer"},

	{ID: "requeue", Keys: []string{"E"}, Help: "requeue", Long: "requeue: back to pending, to be tried again", Writes: true},
	{ID: "done", Keys: []string{"D"}, Help: "done", Long: "done: it did happen, with the receipt ID as proof", Writes: true},
	{ID: "dead", Keys: []string{"X"}, Help: "dead", Long: "dead: give up, cancel", Writes: true},
	{ID: "hold", Keys: []string{"H"}, Help: "hold", Long: "hold: to review, until somebody decides; stops a job that is alive", Writes: true},
	{ID: "lookup", Keys: []string{"L"}, Help: "look up", Long: "look the effect up at the provider"},
	{ID: "results", Keys: []string{"o"}, Help: "outcomes", Long: "what became of your last acts"},

	{ID: "copy", Keys: []string{"y"}, Help: "copy id", Long: "copy the id"},
	{ID: "copy-error", Keys: []string{"Y"}, Help: "copy error", Long: "copy the whole error"},
	{ID: "pause", Keys: []string{"p"}, Help: "pause", Long: "pause the screen, or let it go on"},
	{ID: "faster", Keys: []string{"+"}, Help: "faster", Long: "refresh more often"},
	{ID: "slower", Keys: []string{"-"}, Help: "slower", Long: "refresh less often"},
	{ID: "refresh", Keys: []string{"R", "ctrl+r"}, Help: "refresh", Long: "read everything now"},
	{ID: "redraw", Keys: []string{"ctrl+l"}, Help: "redraw", Long: "draw the screen anew"},

	{ID: "command", Keys: []string{":"}, Help: "command", Long: "type a command; tab completes, up and down recall"},
	{ID: "help", Keys: []string{"?"}, Help: "help", Long: "this help"},
	{ID: "suspend", Keys: []string{"ctrl+z"}, Help: "suspend", Long: "back to the shell; fg returns"},
	{ID: "quit", Keys: []string{"q"}, Help: "quit", Long: "back, and at last quit"},
	{ID: "leave", Keys: []string{"ctrl+c"}, Help: "leave", Long: "leave at once"},
}
