-- What one job carries.
SELECT j.id, j.payload::text FROM jobtop.jobs j WHERE j.id = @id::text;
