package actions

import (
	"fmt"

	"jobtop/store"
)

// requeue lets workers try a job again.
var requeue = &rules{
	verb: VerbRequeue, target: Pending, title: "Requeue", past: "requeued", did: "requeued it",
	cannot: func(s State) string { return "a job that is " + in(s) + " cannot be requeued" },
	preview: func(job store.Job) string {
		text := " and will be claimed again"
		if job.Attempt+1 > job.MaxAttempts {
			text += fmt.Sprintf("; attempts allowed rise to %d", job.Attempt+1)
		}
		return text
	},
	warning: func(job store.Job) string {
		if !Uncertain(job.Evidence) {
			return ""
		}
		return fmt.Sprintf("if it did happen, it happens twice, unless the provider honours the key %s", job.EffectKey)
	},
	asks:   func(job store.Job) Asks { return Asks{TypedID: Uncertain(job.Evidence)} },
	weighs: true,
	undo:   VerbHold.Name() + " takes it back out of the queue, as long as no worker has claimed it",
}
