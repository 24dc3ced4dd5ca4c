package actions

import "jobtop/store"

// done records by hand that a job's effect happened, with the provider's receipt.
var done = &rules{
	verb: VerbDone, target: Done, title: "Mark done", past: "marked done", did: "marked it done",
	cannot: func(s State) string { return "a job that is " + in(s) + " cannot be marked done" },
	preview: func(job store.Job) string {
		return " for good, with its receipt"
	},
	warning: func(store.Job) string { return "nothing leads back from done" },
	asks: func(job store.Job) Asks {
		asks := Asks{Receipt: true}
		if job.Evidence.ReceiptID != nil {
			asks.Suggested = *job.Evidence.ReceiptID
		}
		return asks
	},
	undo: "nothing leads back from done",
}
