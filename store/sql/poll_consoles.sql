-- How many consoles look at this database: each gives all its connections a name of its own.
SELECT count(DISTINCT a.application_name)
  FROM pg_catalog.pg_stat_activity a
 WHERE a.datname = current_database() AND a.application_name LIKE 'jobtop console %';
