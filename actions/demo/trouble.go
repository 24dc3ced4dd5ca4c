package demo

import (
	"context"
	"math/rand/v2"
	"time"
)

// trouble makes workers go wrong until ctx is done: one is frozen, comes back, or is
// killed and replaced after a moment. Those that spared names, by worker, are left alone.
// It also replaces those that ended by themselves.
func (f *fleet) trouble(ctx context.Context, size int, dice *rand.Rand, spared func(context.Context) (map[string]bool, error)) error {
	// The first of each come soon.
	freezeAt, killAt := time.Now().Add(22*time.Second), time.Now().Add(34*time.Second)
	replaceAt := time.Now()
	var thawAt time.Time
	thaw := func() {}
	for wait(ctx, 200*time.Millisecond) {
		now := time.Now()
		if !thawAt.IsZero() && now.After(thawAt) {
			thaw()
			thawAt = time.Time{}
		}
		freezes, kills := now.After(freezeAt) && thawAt.IsZero(), now.After(killAt)
		if freezes || kills {
			// A database that does not answer has trouble enough, and is asked again.
			if left, err := spared(ctx); err == nil {
				if freezes {
					if name, melt := f.freeze(dice, left); name != "" {
						thaw, thawAt = melt, now.Add(seconds(dice, 10, 18))
						freezeAt = thawAt.Add(seconds(dice, 20, 60))
					}
				}
				if kills && f.kill(dice, left) != "" {
					killAt = now.Add(seconds(dice, 40, 90))
					replaceAt = now.Add(seconds(dice, 3, 6))
				}
			}
		}
		if now.After(replaceAt) && f.size() < size {
			if err := f.add(); err != nil {
				return err
			}
			replaceAt = now.Add(time.Second)
		}
	}
	return nil
}

// seconds is a duration between two numbers of seconds.
func seconds(dice *rand.Rand, from, to int) time.Duration {
	return time.Duration((float64(from) + dice.Float64()*float64(to-from)) * float64(time.Second))
}
