package bench

// size is a table to make: how many jobs it holds in each state.
type size struct {
	name                                                string // of its database
	title                                               string
	done, pending, running, stuck, failed, review, dead int64
}

func (s size) open() int64  { return s.pending + s.running + s.failed + s.review + s.dead }
func (s size) total() int64 { return s.done + s.open() }

// The names of the tables, as the databases are called.
const (
	small   = "small"
	middle  = "middle"
	large   = "large"
	waiting = "pending"
	stalled = "stuck"
	moving  = "churn"
)

// sizes are the tables that the shapes wanted need. Where fewer than a million jobs are
// asked for, everything is smaller in step.
func (b *bench) sizes() []size {
	n := b.Jobs
	few := max(1, min(10_000, n/100))
	open := min(70_000, n)
	beside := func(name string, done int64) size {
		s := size{name: name, done: done, running: open / 35, stuck: open / 350, failed: open / 20, review: open / 20, dead: open / 70}
		s.pending = open - s.running - s.failed - s.review - s.dead
		return s
	}
	var list []size
	if b.wants(Done, Pending) {
		s := beside(small, few)
		s.title = count(s.done) + " done, " + count(s.open()) + " open"
		list = append(list, s)
	}
	if b.wants(Done) && n > 1_000_000 {
		s := beside(middle, 1_000_000)
		s.title = count(s.done) + " done"
		list = append(list, s)
	}
	if b.wants(Done, Attempts) {
		s := beside(large, n)
		s.title = count(s.done) + " done"
		list = append(list, s)
	}
	if b.wants(Pending) {
		s := beside(waiting, few)
		s.pending = min(1_000_000, n)
		s.title = count(s.pending) + " pending"
		list = append(list, s)
	}
	if b.wants(Stuck) {
		s := beside(stalled, few)
		s.running = min(100_000, n)
		s.stuck = s.running
		s.title = count(s.stuck) + " stuck"
		list = append(list, s)
	}
	return list
}
