package cli_test

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"jobtop/store/sandbox/sandboxtest"
	"jobtop/ui/cli"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "jobtop" {
		// Under nohup, the programs that the tests start would ignore a hang-up, as they should.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Main(m, map[string]func(){
		"jobtop": func() {
			build := cli.Build{Version: "v1.2.3", Commit: "0123456789ab"}
			os.Exit(cli.Main(build, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScripts runs the scripts in testdata/script on the program itself, as a process of
// its own. Each has a database with the schema, in DATABASE_URL.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               setup,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   status,
			"seed":     seed,
			"fresh":    fresh,
			"sql":      runSQL,
			"database": database,
			"role":     role,
			"scrub":    scrub,
			"refused":  refused,
			"webhook":  webhook, "webhook-got": webhookGot,
			"longvar": longVariable,
		},
	})
}

type tbKey struct{}

func setup(env *testscript.Env) error {
	tb, ok := env.T().(testing.TB)
	if !ok {
		return errors.New("no testing.TB")
	}
	env.Values[tbKey{}] = tb
	env.Values[hookKey{}] = &hookSlot{}
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "PG") || strings.HasPrefix(name, "JOBTOP_") {
			env.Setenv(name, "")
		}
	}
	env.Setenv("HOME", home)
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	env.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	env.Setenv("USER", "alice")
	env.Setenv("JOBTOP_OPERATOR", "alice")
	env.Setenv("TERM", "dumb")
	env.Setenv("NO_COLOR", "")
	env.Setenv("DATABASE_URL", sandboxtest.Database(tb))
	setParts(env.Setenv, env.Getenv("DATABASE_URL"))
	return nil
}

// setParts tells the parts of a database's URL to scripts that put them together anew.
func setParts(set func(string, string), dsn string) {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(err)
	}
	password, _ := u.User.Password()
	for name, value := range map[string]string{
		"DBHOST": u.Hostname(), "DBPORT": u.Port(), "DBUSER": u.User.Username(), "DBPASSWORD": password, "DBNAME": strings.TrimPrefix(u.Path, "/"),
	} {
		set(name, value)
	}
}

// status N COMMAND...: runs a command, which must end with this exit status.
func status(ts *testscript.TestScript, neg bool, arguments []string) {
	if neg || len(arguments) < 2 {
		ts.Fatalf("usage: status N command [argument...]")
	}
	want, err := strconv.Atoi(arguments[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(arguments[1], arguments[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

//go:embed testdata/seed.sql
var seedSQL string

// seed: fills the script's database with testdata/seed.sql.
func seed(ts *testscript.TestScript, _ bool, _ []string) { execute(ts, seedSQL) }

//go:embed testdata/fresh.sql
var freshSQL string

// fresh: the seed is as old as when it was new. Before what shows ages: a script may take
// longer than they stay.
func fresh(ts *testscript.TestScript, _ bool, _ []string) { execute(ts, freshSQL) }

// sql TEXT: runs statements as the superuser; their first value, if any, is on standard
// output.
func runSQL(ts *testscript.TestScript, neg bool, arguments []string) {
	if neg || len(arguments) != 1 {
		ts.Fatalf("usage: sql 'statements'")
	}
	execute(ts, arguments[0])
}

func execute(ts *testscript.TestScript, sql string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, ts.Getenv("DATABASE_URL"))
	ts.Check(err)
	defer func() { _ = conn.Close(ctx) }()
	results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	ts.Check(err)
	for _, r := range results {
		for _, row := range r.Rows {
			var cells []string
			for _, cell := range row {
				cells = append(cells, string(cell))
			}
			fmt.Fprintln(ts.Stdout(), strings.Join(cells, "|"))
		}
	}
}

// database NAME: sets NAME to the URL of another, empty database.
func database(ts *testscript.TestScript, neg bool, arguments []string) {
	if neg || len(arguments) != 1 {
		ts.Fatalf("usage: database NAME")
	}
	ts.Setenv(arguments[0], sandboxtest.EmptyDatabase(ts.Value(tbKey{}).(testing.TB)))
}

// role NAME [ROLE...]: makes a login role that is in those roles; NAME_URL is the
// script's database as it, NAME its name.
func role(ts *testscript.TestScript, neg bool, arguments []string) {
	if neg || len(arguments) == 0 {
		ts.Fatalf("usage: role NAME [role...]")
	}
	name := "test_" + strings.ToLower(rand.Text()[:12])
	sql := fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD 'sesame';", name)
	for _, r := range arguments[1:] {
		sql += fmt.Sprintf("GRANT %s TO %s;", r, name)
	}
	execute(ts, sql)
	ts.Defer(func() { execute(ts, "DROP ROLE "+name) })
	u, err := url.Parse(ts.Getenv("DATABASE_URL"))
	ts.Check(err)
	u.User = url.UserPassword(name, "sesame")
	ts.Setenv(arguments[0], name)
	ts.Setenv(arguments[0]+"_URL", u.String())
}

// scrub FILE: writes the standard output to a file, with all that differs from run to
// run replaced.
func scrub(ts *testscript.TestScript, neg bool, arguments []string) {
	if neg || len(arguments) != 1 {
		ts.Fatalf("usage: scrub file")
	}
	text := ts.ReadFile("stdout")
	for _, rule := range []struct{ pattern, with string }{
		{`("[a-z_]*_seconds": ?)-?[0-9][0-9.e+-]*`, "${1}<seconds>"},
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`, "<time>"},
		{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`, "<time>"},
		{`\b\d{4}-\d\d-\d\d \d\d:\d\d\b`, "<minute>"},
		{`(?m)^\d\d:\d\d:\d\d\b`, "<clock>"},
		{`test\\?_[a-z2-7]{12}`, "<name>"},
		{`"from":"[^"]*"`, `"from":"<host>"`},
		{`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`, "<uuid>"},
		{`("server_version_num": )\d+`, "${1}<number>"},
		{`("schema_version": |"version": |"needed_version": )\d{2}\b`, "${1}<number>"},
		{`(,)-?\d{3,}(?:\.\d{1,3})?\b`, "${1}<n>"}, // CSV
		{`(jobtop_[a-z_]*(?:_seconds|_timestamp_seconds)\{[^}]*\}) [0-9.e+]+`, "${1} <seconds>"},
	} {
		text = regexp.MustCompile(rule.pattern).ReplaceAllString(text, rule.with)
	}
	ts.Check(os.WriteFile(ts.MkAbs(arguments[0]), []byte(text), 0o600))
}

// refused NAME: sets NAME to the URL of a port on which nobody listens.
func refused(ts *testscript.TestScript, neg bool, arguments []string) {
	if neg || len(arguments) != 1 {
		ts.Fatalf("usage: refused NAME")
	}
	ts.Setenv(arguments[0], "postgres://somebody:hunter2@127.0.0.1:1/orders")
}

// longvar NAME N: sets NAME to N letters.
func longVariable(ts *testscript.TestScript, neg bool, arguments []string) {
	if neg || len(arguments) != 2 {
		ts.Fatalf("usage: longvar NAME N")
	}
	n, err := strconv.Atoi(arguments[1])
	ts.Check(err)
	ts.Setenv(arguments[0], strings.Repeat("x", n))
}
