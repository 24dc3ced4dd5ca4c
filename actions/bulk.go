package actions

import (
	"context"
	"time"
)

// RunAll carries out orders one after the other and tells after each how many are
// through. When ctx is cancelled it stops between two jobs: the one under way is
// brought to its end, and the rest is NotSent. There is a Result for every order, in
// their order. The journal keeps an act until progress has returned: of one that nobody
// was told about, because this process was killed, the next one tells.
func (r *Runner) RunAll(ctx context.Context, orders []Order, progress func(done int, r Result)) []Result {
	results := make([]Result, 0, len(orders))
	for i, o := range orders {
		result := Result{Order: o, Operator: r.Operator, Outcome: NotSent, Err: ctx.Err()}
		if result.Err == nil {
			result = r.carryOut(context.WithoutCancel(ctx), o, func() {})
		}
		results = append(results, result)
		if progress != nil {
			progress(i+1, result)
		}
		r.conclude(result)
	}
	return results
}

// Spread returns the orders with delays that let their jobs start evenly over a time,
// the first at once. Only requeues take a delay.
func Spread(orders []Order, over time.Duration) []Order {
	spread := make([]Order, len(orders))
	for i, o := range orders {
		o.Delay = over / time.Duration(len(orders)) * time.Duration(i)
		spread[i] = o
	}
	return spread
}
