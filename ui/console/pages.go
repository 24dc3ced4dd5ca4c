package console

import (
	"context"
	"slices"

	"jobtop/store"
)

// pages is a list as far as it was read: by cursors, so that no job is left out or shown
// twice while jobs come and go.
type pages struct {
	read []page
	// at is the page of each job.
	at map[string]int
}

// page is one reading of a stretch of the list.
type page struct {
	start string // the cursor it begins behind
	store.JobPage
}

// pageSize is how many jobs are read at a time.
const pageSize = 200

// readPages reads a number of pages from a cursor on, fewer where the list ends.
func readPages(ctx context.Context, db Reader, q store.JobQuery, start string, n int) ([]page, error) {
	var read []page
	for range n {
		q.After = start
		if q.Limit == 0 {
			q.Limit = pageSize
		}
		p, err := db.Jobs(ctx, q)
		if err != nil {
			return nil, err
		}
		read = append(read, page{start, p})
		if p.Next == "" {
			break
		}
		start = p.Next
	}
	return read, nil
}

// stretch is what one question to the list brought.
type stretch struct {
	read []page
	by   string // what was searched by instead of the id, "" for the id
}

// readElsewhere looks for a word among the receipt IDs and the effect keys, and returns
// what there is otherwise where it is in neither.
func readElsewhere(ctx context.Context, db Reader, word string, otherwise []page) (stretch, error) {
	for _, by := range []struct{ field, name string }{{"receipt", "receipt ID"}, {"effect", "effect key"}} {
		read, err := readPages(ctx, db, store.JobQuery{Conditions: []store.Condition{{Field: by.field, Value: word}}}, "", 1)
		if err != nil {
			return stretch{}, err
		}
		if len(read[0].Jobs) > 0 {
			return stretch{read, by.name}, nil
		}
	}
	return stretch{read: otherwise}, nil
}

// put replaces pages from the first on by a newer reading. What lies behind stays only
// where it still begins where the new reading ends; the rest is read again on the way.
func (p *pages) put(first int, read []page) {
	if first > len(p.read) || len(read) == 0 {
		return // the list was begun anew meanwhile
	}
	behind := first + len(read)
	kept := append([]page(nil), p.read[:first]...)
	kept = append(kept, read...)
	if next := read[len(read)-1].Next; next != "" && behind < len(p.read) && p.read[behind].start == next {
		kept = append(kept, p.read[behind:]...)
	}
	same := len(kept) == len(p.read) && slices.EqualFunc(read, p.read[first:behind], sameJobs)
	p.read = kept
	if same {
		return
	}
	p.at = make(map[string]int, len(p.at))
	for i, page := range p.read {
		for _, job := range page.Jobs {
			p.at[job.ID] = i
		}
	}
}

// sameJobs: two readings of a page hold the same jobs in the same order.
func sameJobs(a, b page) bool {
	return slices.EqualFunc(a.Jobs, b.Jobs, func(a, b store.Job) bool { return a.ID == b.ID })
}

// jobs are all that were read, in order. A job that moved between two readings may be
// there twice; the newer reading counts.
func (p *pages) jobs() []*store.Job {
	n := 0
	for _, page := range p.read {
		n += len(page.Jobs)
	}
	all := make([]*store.Job, 0, n)
	for i := range p.read {
		for j := range p.read[i].Jobs {
			job := &p.read[i].Jobs[j]
			if n == len(p.at) || p.at[job.ID] == i {
				all = append(all, job)
			}
		}
	}
	return all
}

// next is the cursor behind the last page, "" at the end.
func (p *pages) next() string {
	if len(p.read) == 0 {
		return ""
	}
	return p.read[len(p.read)-1].Next
}

// whole: everything there is was read.
func (p *pages) whole() bool {
	n := len(p.read)
	return n > 0 && p.read[n-1].Next == "" && !p.limited()
}

func (p *pages) limited() bool {
	n := len(p.read)
	return n > 0 && p.read[n-1].Limited
}

// around are the pages that hold the jobs of a window, given by their ids.
func (p *pages) around(ids []string) (first, n int) {
	low, high := len(p.read), -1
	for _, id := range ids {
		if i, ok := p.at[id]; ok {
			low, high = min(low, i), max(high, i)
		}
	}
	if high < 0 {
		return 0, max(1, min(1, len(p.read)))
	}
	return low, high - low + 1
}
