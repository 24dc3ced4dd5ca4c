-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Answers a complete or fail whose token no longer holds. What the same token said when it still
-- held is a repeated call and gets the same answer; all else is kept as a late report.
CREATE FUNCTION jobtop.report_late(job_id text, token uuid, receipt_id text, result jsonb, effect text, category text, detail text)
RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, jobtop, pg_temp AS $$
#variable_conflict use_column
DECLARE
  ended attempts%ROWTYPE;
BEGIN
  SELECT * INTO ended FROM attempts a WHERE a.job_id = report_late.job_id AND a.lock_token = report_late.token;
  IF report_late.receipt_id IS NOT NULL THEN
    IF ended.outcome = 'done' AND EXISTS (SELECT FROM receipts r WHERE r.job_id = report_late.job_id AND r.attempt = ended.attempt
                                             AND r.action_id IS NULL AND r.receipt_id = report_late.receipt_id) THEN
      RETURN 'done';
    ELSIF ended.outcome = 'unknown' AND ended.error_category = 'receipt taken'
          AND starts_with(ended.error_detail, format('the receipt %s came back,', quote_literal(report_late.receipt_id))) THEN
      RETURN 'review';
    END IF;
  ELSIF ended.outcome = report_late.effect
        OR (report_late.effect = 'not_begun' AND ended.outcome = 'unknown' AND ended.effect_at IS NOT NULL) THEN
    RETURN ended.to_state;
  END IF;

  INSERT INTO late_reports (job_id, attempt, lock_token, worker, receipt_id, result, effect, error_category, error_detail)
  VALUES (report_late.job_id, ended.attempt, report_late.token, ended.worker, report_late.receipt_id, report_late.result,
          report_late.effect, left(report_late.category, 128), report_late.detail)
  ON CONFLICT DO NOTHING;
  RETURN CASE WHEN EXISTS (SELECT FROM jobs j WHERE j.id = report_late.job_id) THEN 'lease_lost' ELSE 'not_found' END;
END $$;
-- +goose StatementEnd

RESET ROLE;
