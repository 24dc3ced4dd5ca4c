-- The last migration that was applied; 0 where the table was made and nothing followed.
SELECT coalesce(max(version_id), 0) FROM jobtop.schema_version WHERE is_applied;
