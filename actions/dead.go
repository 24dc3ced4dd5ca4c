package actions

import "jobtop/store"

// dead gives a job up.
var dead = &rules{
	verb: VerbDead, target: Dead, title: "Mark dead", past: "marked dead", did: "marked it dead",
	cannot: func(s State) string { return "a job that is " + in(s) + " cannot be marked dead" },
	preview: func(job store.Job) string {
		return "; no worker will claim it again unless somebody requeues it"
	},
	warning: func(job store.Job) string {
		switch job.Evidence.Verdict {
		case store.VerdictHappened:
			return "it did happen: " + VerbDone.Name() + " records that, with the receipt"
		case store.VerdictMayHaveHappened, store.VerdictNotKnown:
			return "it may have happened all the same; dead does not undo it"
		}
		return ""
	},
	asks:   func(store.Job) Asks { return Asks{} },
	weighs: true,
	undo:   VerbRequeue.Name() + " brings it back",
}
