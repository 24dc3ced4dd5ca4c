package console

import (
	"fmt"
	"testing"

	"jobtop/store/sandbox/sandboxtest"
)

// A server that takes long over what the console reads is asked more seldom, and the
// screen says so.
func TestLiveASlowServerIsAskedMoreSeldom(t *testing.T) {
	dsn := sandboxtest.Database(t)
	pool := live(t, dsn)
	sql(t, pool, `SELECT jobtop.enqueue('run-1', 'report.send')`)
	sql(t, pool, `SELECT jobtop.claim('w-2', gen_random_uuid(), ARRAY['report.send'])`)
	// The poll asks this of every running job; there is one.
	sql(t, pool, `CREATE OR REPLACE FUNCTION jobtop.stuck_for(heartbeat_at timestamptz, heartbeat_timeout interval,
		progress_at timestamptz, claimed_at timestamptz, progress_timeout interval, at timestamptz)
		RETURNS interval LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
		BEGIN PERFORM pg_sleep(0.15); RETURN NULL; END $$`)
	s := inTerminal(t, dsn, "review", 100, 30, asShare+"="+fmt.Sprint(defaultShare))
	s.shows("charge-5", "RW")
	s.shows("a look costs", "the budget is 1 % of one core")
	// What is read to find the row of a dialog is not kept waiting.
	s.keys("E")
	s.dialog("Requeue charge-0")
	s.keys("\x1b")
	s.drops("┌ Requeue")
	s.keys("\x03")
	s.ends(0)
}
