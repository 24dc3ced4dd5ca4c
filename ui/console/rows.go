package console

import (
	"context"
	"errors"
	"slices"
	"strings"

	"jobtop/store"
)

// readRows reads jobs by their ids, in as few round trips as a page allows. Those that do
// not exist any more are left out.
func readRows(db Reader, ids []string) func(context.Context) ([]store.Job, error) {
	return func(ctx context.Context) ([]store.Job, error) {
		by := map[string]store.Job{}
		for some := range slices.Chunk(ids, pageSize) {
			q := store.JobQuery{Limit: pageSize}
			for _, id := range some {
				if !strings.HasSuffix(id, "*") {
					q.Conditions = append(q.Conditions, store.Condition{Field: "id", Value: id})
					continue
				}
				// In a condition that would be a prefix.
				job, err := db.Row(ctx, id)
				switch {
				case err == nil:
					by[id] = job
				case !errors.Is(err, store.ErrNotFound):
					return nil, err
				}
			}
			if len(q.Conditions) == 0 {
				continue
			}
			page, err := db.Jobs(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, job := range page.Jobs {
				by[job.ID] = job
			}
		}
		jobs := make([]store.Job, 0, len(ids))
		for _, id := range ids {
			if job, ok := by[id]; ok {
				jobs = append(jobs, job)
			}
		}
		return jobs, nil
	}
}
