-- So that the planner's estimates are right from the first poll.
ANALYZE jobtop.jobs, jobtop.receipts, jobtop.attempts, jobtop.actions, jobtop.late_reports
