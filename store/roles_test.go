package store_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"jobtop/store"
)

// login is a connection as somebody who can log in and is granted roles, and its URL.
func (l *ledger) login(roles ...string) (*pgx.Conn, string) {
	l.t.Helper()
	ctx := context.Background()
	name := "login_" + strings.ReplaceAll(newToken(), "-", "")
	l.exec(fmt.Sprintf(`CREATE ROLE %s LOGIN PASSWORD 'none'`, name))
	l.t.Cleanup(func() {
		eventually(l.t, "the temporary objects of "+name+" are gone with its session", func() bool {
			_, err := l.pool.Exec(ctx, `DROP ROLE `+name)
			return err == nil
		})
	})
	for _, role := range roles {
		l.exec(fmt.Sprintf(`GRANT %s TO %s`, role, name))
	}
	u, err := url.Parse(l.url)
	if err != nil {
		l.t.Fatal(err)
	}
	u.User = url.UserPassword(name, "none")
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = conn.Close(ctx) })
	return conn, u.String()
}

// allowed says what each role may do; what is not named here, it must not. Columns are
// named as "all but" by a leading minus.
var allowed = map[string]struct {
	read map[string]string // by table: columns
	call []string
}{
	"jobtop_viewer":   {viewed, []string{"evidence", "last_change", "stuck_for"}},
	"jobtop_operator": {viewed, []string{"evidence", "last_change", "stuck_for", "act", "settle", "pause", "resume"}},
	"jobtop_payload":  {map[string]string{"jobs": "id payload", "receipts": "job_id result", "late_reports": "id job_id result"}, nil},
	"jobtop_worker": {nil, []string{"enqueue", "claim", "heartbeat", "record_intent", "record_intents", "begin_effect", "begin_effects", "begin_next",
		"complete", "complete_all", "fail", "once"}},
}

var viewed = map[string]string{
	"jobs": "- payload", "receipts": "- result", "late_reports": "- result",
	"attempts": "-", "actions": "-", "paused": "-", "edges": "-", "once": "-", "schema_version": "-",
}

// TestRoles tries each role against every table, column, sequence and function that the
// schema has, as the catalog lists them: what is not named in allowed is refused.
func TestRoles(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	tables := l.list(`SELECT c.relname::text || ' ' || (SELECT string_agg(a.attname, ' ' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
		FROM pg_class c WHERE c.relnamespace = 'jobtop'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p', 'f') ORDER BY 1`)
	sequences := l.list(`SELECT relname::text FROM pg_class WHERE relnamespace = 'jobtop'::regnamespace AND relkind = 'S' ORDER BY 1`)
	functions := l.list(`SELECT p.proname || ' ' || CASE p.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT' END || ' jobtop.' || quote_ident(p.proname) || '(' ||
			coalesce((SELECT string_agg(format('NULL::%I.%I', y.typnamespace::regnamespace, y.typname), ', ' ORDER BY t.n)
			FROM unnest(p.proargtypes) WITH ORDINALITY t (type, n) JOIN pg_type y ON y.oid = t.type), '') || ')'
		FROM pg_proc p WHERE p.pronamespace = 'jobtop'::regnamespace ORDER BY 1`)
	if len(tables) < 9 || len(sequences) < 1 || len(functions) < 25 {
		t.Fatalf("the catalog lists %d tables, %d sequences and %d functions", len(tables), len(sequences), len(functions))
	}
	for role, may := range allowed {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			conn, _ := l.in(t).login(role)
			try := func(allowed bool, sql string) {
				t.Helper()
				err := attempt(conn, sql)
				if denied := sqlstate(err) == "42501"; denied == allowed {
					t.Errorf("%s ended with %v; it is to be %s", sql, err, map[bool]string{true: "allowed", false: "refused"}[allowed])
				}
			}
			for _, table := range tables {
				name, all, _ := strings.Cut(table, " ")
				columns := strings.Fields(all)
				for _, column := range columns {
					try(readable(may.read[name], column), fmt.Sprintf(`SELECT %s FROM jobtop.%s`, column, name))
					try(false, fmt.Sprintf(`UPDATE jobtop.%s SET %s = DEFAULT`, name, column))
				}
				whole := may.read[name] == "-"
				try(whole, `SELECT * FROM jobtop.`+name)
				try(whole, fmt.Sprintf(`SELECT to_jsonb(t) FROM jobtop.%s t`, name))
				try(whole, fmt.Sprintf(`COPY jobtop.%s TO STDOUT`, name))
				for _, sql := range []string{
					`INSERT INTO jobtop.%s DEFAULT VALUES`, `DELETE FROM jobtop.%s`, `TRUNCATE jobtop.%s CASCADE`, `LOCK TABLE jobtop.%s IN EXCLUSIVE MODE`,
					`SELECT 1 FROM jobtop.%s FOR UPDATE`, `ALTER TABLE jobtop.%s DISABLE TRIGGER ALL`, `DROP TABLE jobtop.%s CASCADE`, `CREATE INDEX ON jobtop.%s ((1))`,
					`CREATE RULE r AS ON UPDATE TO jobtop.%s DO INSTEAD NOTHING`, `ALTER TABLE jobtop.%s OWNER TO CURRENT_USER`,
					`CREATE TRIGGER t BEFORE UPDATE ON jobtop.%s FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
					`CREATE TEMP TABLE child () INHERITS (jobtop.%s)`,
				} {
					try(false, fmt.Sprintf(sql, name))
				}
			}
			for _, sequence := range sequences {
				try(false, fmt.Sprintf(`SELECT nextval('jobtop.%s')`, sequence))
				try(false, fmt.Sprintf(`SELECT setval('jobtop.%s', 1)`, sequence))
			}
			for _, function := range functions {
				name, call, _ := strings.Cut(function, " ")
				try(slices.Contains(may.call, name), call)
				kind := "FUNCTION"
				if strings.HasPrefix(call, "CALL") {
					kind = "PROCEDURE"
				}
				try(false, fmt.Sprintf(`ALTER %s jobtop.%s SECURITY INVOKER`, kind, name))
			}
			for _, sql := range []string{
				`CREATE TABLE jobtop.mine ()`, `CREATE FUNCTION jobtop.mine() RETURNS int LANGUAGE sql RETURN 1`, `CREATE TYPE jobtop.mine AS ENUM ()`,
				`CREATE OR REPLACE FUNCTION jobtop.enter(via text) RETURNS void LANGUAGE sql AS 'SELECT'`,
				`CREATE OPERATOR jobtop.= (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq)`,
				`SET ROLE jobtop_owner`, `SET SESSION AUTHORIZATION jobtop_owner`, `SET session_replication_role = replica`, `DROP SCHEMA jobtop CASCADE`,
				`ALTER DEFAULT PRIVILEGES FOR ROLE jobtop_owner GRANT EXECUTE ON FUNCTIONS TO PUBLIC`, `REASSIGN OWNED BY jobtop_owner TO CURRENT_USER`,
			} {
				try(false, sql)
			}
		})
	}
}

// attempt runs one statement and takes back what it did. A CALL cannot be taken back, and
// with NULLs does nothing.
func attempt(conn *pgx.Conn, sql string) error {
	ctx := context.Background()
	if strings.HasPrefix(sql, "CALL") {
		_, err := conn.Exec(ctx, sql)
		return err
	}
	if _, err := conn.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, sql)
	if _, endErr := conn.Exec(ctx, "ROLLBACK"); err == nil {
		err = endErr
	}
	return err
}

func readable(columns, column string) bool {
	if rest, but := strings.CutPrefix(columns, "-"); but {
		return !slices.Contains(strings.Fields(rest), column)
	}
	return slices.Contains(strings.Fields(columns), column)
}

func (l *ledger) list(sql string) []string {
	l.t.Helper()
	rows, err := l.pool.Query(context.Background(), sql)
	if err != nil {
		l.t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		l.t.Fatal(err)
	}
	return list
}

// TestNobodyHasRights: somebody without a role of jobtop, and PUBLIC, can do nothing.
func TestNobodyHasRights(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	conn, dsn := l.login()
	for _, sql := range []string{`SELECT 1 FROM jobtop.jobs`, `SELECT jobtop.enqueue('a', 'b')`, `SELECT jobtop.stuck_for(NULL, NULL, NULL, NULL, NULL, NULL)`} {
		if err := attempt(conn, sql); sqlstate(err) != "42501" {
			t.Errorf("%s ended with %v", sql, err)
		}
	}
	db, err := store.Open(context.Background(), store.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Enqueue(context.Background(), store.NewJob{ID: "a", Kind: "k"}); err == nil || !strings.Contains(err.Error(), "jobtop_worker") {
		t.Errorf("the error does not say what to ask for: %v", err)
	}
	l.is("", `SELECT string_agg(p.oid::regprocedure::text, ' ') FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
		WHERE p.pronamespace = 'jobtop'::regnamespace AND a.grantee = 0`)
	l.is("", `SELECT string_agg(c.relname, ' ') FROM pg_class c, aclexplode(c.relacl) a WHERE c.relnamespace = 'jobtop'::regnamespace AND a.grantee = 0`)
	l.is("f f", `SELECT concat_ws(' ', rolcanlogin, rolsuper) FROM pg_roles WHERE rolname = 'jobtop_owner'`)
}

// TestRolesDoTheirWork: a worker works and an operator operates, with nothing but the role.
func TestRolesDoTheirWork(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	_, dsn := l.login("jobtop_worker")
	w := &ledger{t: t, url: dsn, pool: l.pool}
	_, dsn = l.login("jobtop_operator")
	o := &ledger{t: t, url: dsn, pool: l.pool}
	for _, who := range []*ledger{w, o} {
		db, err := store.Open(context.Background(), store.Options{DSN: who.url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(db.Close)
		who.db = db
	}
	token := w.take("job", true)
	o.act("job", "hold", "stop")
	if answer := w.complete("job", token, "r"); answer != store.AnswerLeaseLost {
		t.Error(answer)
	}
	o.act("job", "requeue", "may_have_happened")
	token, _ = w.claim(1)
	if answer := w.fail("job", token, "refused", false); answer != "dead" {
		t.Error(answer)
	}
	o.act("job", "done")
	l.job("job", "done", 2, store.VerdictHappened)
	l.is("true", `SELECT bool_and(db_role LIKE 'login_%') FROM jobtop.actions`)
}
