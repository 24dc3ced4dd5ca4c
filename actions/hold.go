package actions

import "jobtop/store"

// hold takes a job out of the workers' hands until a person has looked. It is the
// only verb that may take a job from a worker which is alive.
var hold = &rules{
	verb: VerbHold, target: Review, title: "Hold", past: "held for review", did: "held it for review",
	cannot: func(s State) string {
		if s == Dead {
			return "a dead job waits for nobody; " + VerbRequeue.Name() + " or " + VerbDone.Name() + " can still be used on it"
		}
		return "a job that is " + in(s) + " cannot be held"
	},
	preview: func(job store.Job) string {
		return " and waits there for a person"
	},
	warning: func(job store.Job) string {
		if !alive(job) {
			return ""
		}
		return worker(job) + " is alive and learns it at its next heartbeat; what it is doing may still happen"
	},
	asks: func(job store.Job) Asks { return Asks{Stop: alive(job), TypedID: alive(job)} },
	undo: VerbRequeue.Name() + " lets workers have it again",
}
