-- Which of the ordered rows a page lists; and the row at which the scan's bound was reached, listed or
-- not, for the next page to go on from. An empty list of values asks nothing; an empty value means that
-- nothing is recorded. The verdict is dear, so it is asked last.
SELECT f.n, f.key, f.at, f.id, f.listed, f.n = @bound::bigint AS last
  FROM (SELECT row_number() OVER () AS n, o.key, o.at, o.id,
               CASE
                 WHEN NOT (o.state = ANY (@states::text[])
                           AND (NOT @stuck::boolean OR o.stuck_for IS NOT NULL)
                           AND o.at < statement_timestamp() - @older_than::bigint * interval '1 microsecond'
                           AND o.at >= statement_timestamp() - @younger_than::bigint * interval '1 microsecond'
                           AND (cardinality(@kinds::text[]) = 0 OR o.kind = ANY (@kinds::text[]))
                           AND NOT o.kind = ANY (@not_kinds::text[])
                           AND (cardinality(@workers::text[]) = 0 OR coalesce(o.worker, '') = ANY (@workers::text[]))
                           AND NOT coalesce(o.worker, '') = ANY (@not_workers::text[])
                           AND (cardinality(@errors::text[]) = 0 OR coalesce(o.error_category, '') = ANY (@errors::text[]))
                           AND NOT coalesce(o.error_category, '') = ANY (@not_errors::text[])
                           AND (cardinality(@versions::text[]) = 0 OR coalesce(o.source_version, '') = ANY (@versions::text[]))
                           AND NOT coalesce(o.source_version, '') = ANY (@not_versions::text[])
                           AND (cardinality(@effects::text[]) = 0 OR o.effect_key = ANY (@effects::text[]))
                           AND NOT o.effect_key = ANY (@not_effects::text[])
                           AND (cardinality(@ids::text[]) = 0 OR o.id LIKE ANY (@ids::text[]))
                           AND NOT o.id LIKE ANY (@not_ids::text[])
                           AND (cardinality(@receipts::text[]) = 0
                                OR EXISTS (SELECT FROM jobtop.receipts r WHERE r.job_id = o.id AND r.receipt_id = ANY (@receipts::text[]))
                                OR EXISTS (SELECT FROM jobtop.late_reports l WHERE l.job_id = o.id AND l.receipt_id = ANY (@receipts::text[])))
                           AND (cardinality(@not_receipts::text[]) = 0
                                OR NOT (EXISTS (SELECT FROM jobtop.receipts r WHERE r.job_id = o.id AND r.receipt_id = ANY (@not_receipts::text[]))
                                        OR EXISTS (SELECT FROM jobtop.late_reports l WHERE l.job_id = o.id AND l.receipt_id = ANY (@not_receipts::text[])))))
                   THEN false
                 WHEN cardinality(@verdicts::text[]) + cardinality(@not_verdicts::text[]) = 0 THEN true
                 ELSE (SELECT (cardinality(@verdicts::text[]) = 0 OR e.verdict = ANY (@verdicts::text[]))
                              AND NOT e.verdict = ANY (@not_verdicts::text[])
                         FROM jobtop.evidence(o.id) e)
               END AS listed
          FROM ordered o) f
 WHERE f.listed OR f.n = @bound::bigint
 LIMIT @limit::bigint + 1;
