-- Sets the triggers aside for this transaction, foreign keys included. Superusers only.
SET LOCAL session_replication_role = replica
