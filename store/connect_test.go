package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// closedPort is where nothing listens.
const closedPort = "127.0.0.1:1"

// connectErrors is what the store says of a connection string that leads nowhere.
func connectErrors(t *testing.T, dsn string) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	db, err := store.Open(ctx, store.Options{DSN: dsn})
	if err != nil {
		return []error{err}
	}
	defer db.Close()
	server, err := db.Server(ctx)
	if err == nil {
		t.Fatalf("%q leads somewhere", dsn)
	}
	_, schema := store.CheckSchema(ctx, dsn)
	return []error{err, schema, errors.New("the banner: " + server.Database + " @ " + server.Host)}
}

// leaked is a piece of the secret, four bytes long, that a text holds.
func leaked(text, secret string) string {
	for i := 0; i+4 <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+4]) {
			return secret[i : i+4]
		}
	}
	return ""
}

func noLeak(t *testing.T, shape, secret string, errs []error) {
	t.Helper()
	for _, err := range errs {
		for _, text := range []string{err.Error(), fmt.Sprintf("%#v", err)} {
			if piece := leaked(text, secret); piece != "" {
				t.Errorf("%s: %q is in: %s", shape, piece, text)
			}
		}
	}
}

// TestConnectionStringsMisread: a string whose password moved its borders is refused with
// what to do, and one that only looks odd is not.
func TestConnectionStringsMisread(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://vera:p@ssw0rd@" + closedPort + "/t",
		"postgres://vera:p@ss/w0rd@" + closedPort + "/t",
		"postgres://vera:/ssw0rd@" + closedPort + "/t",
		"postgres://vera:1234/w0rd@" + closedPort + "/t",
		"postgres://vera:1234/w0rd?a=b@" + closedPort + "/t",
		"postgres://vera:ssw0rd@h1,bob:ssw0rd@h2/t",
		"postgres://" + closedPort + "?user=vera&password=p@ssw0rd",
		"postgres://" + closedPort + "/t&password=ssw0rd",
		"postgres://vera%3Assw0rd@" + closedPort + "/t",
		"postgres://vera%3Assw0rd%40" + closedPort + "/t",
		"postgres:///vera:ssw0rd@" + closedPort + "/t",
		"postgres:/vera:ssw0rd@" + closedPort + "/t?sslmode=disable",
		"jdbc:postgresql://" + closedPort + "/t?user=vera&password=ssw0rd",
		"dbname='vera:ssw0rd@" + closedPort + "/t'",
		"dbname='vera:ssw0rd'",
		"dbname='vera/ssw0rd@h'",
		"dbname='host=h password=ssw0rd'",
		"dbname='postgres%3A%2F%2Fvera%3Assw0rd%40h'",
		"host=127.0.0.1 port=1 user='vera:ssw0rd'",
		"host=vera:ssw0rd@127.0.0.1 port=1",
		"host=127.0.0.1,vera:ssw0rd@127.0.0.2 port=1",
		"host=postgres://vera:ssw0rd@127.0.0.1 port=1",
		"host=//vera:ssw0rd@127.0.0.1 port=1",
	} {
		err := connectErrors(t, dsn)[0]
		if !errors.Is(err, store.ErrBadDSN) || !strings.Contains(err.Error(), "@ : / must be written %40 %3A %2F") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	for _, dsn := range []string{
		"postgres://vera:p%40ss%2Fw0rd@" + closedPort + "/t",
		"postgres://vera:a:b?c#d@" + closedPort + "/t",
		"postgres://vera%40corp:x@" + closedPort + ",127.0.0.2:1/t?sslmode=disable",
		"postgres://vera@[::1]:1/t",
		"postgres://vera@%2Fno%2Fsuch%2Fdirectory/t",
		"postgres://" + closedPort + "/t?user=vera&password=p%40ss&options=-c%20search_path%3Da",
		"host=127.0.0.1 port=1 user=vera password='p@ss:w/o rd' dbname='a@b'",
		"host=127.0.0.1 port=1 user=vera@corp.example dbname='a b-c.d'",
		"host=/cloudsql/project:region:instance dbname=t",
		"host=127.0.0.1 port=1 dbname=t application_name='vera@host:/dev/pts/1'",
	} {
		if err := connectErrors(t, dsn)[0]; errors.Is(err, store.ErrBadDSN) {
			t.Errorf("%s is refused: %v", dsn, err)
		}
	}
}

// TestNoPasswordInAConnectError writes secrets with every character that borders
// something into every shape of string that people write, and into the variables and the
// service file too.
func TestNoPasswordInAConnectError(t *testing.T) {
	separators := []string{"", "@", ":", "/", "?", "#", "&", "%", "=", ",", ";", " ", "'", `\`, "[", "]", "%zz", "%40", "://", "@/", "/@", ":@", "?x=", "&x=", "' x='", "\n"}
	var secrets []string
	for _, a := range separators {
		secrets = append(secrets, a+"Zq7xKv9w", "Zq7xKv9w"+a, "8361"+a+"Kv9w")
		for _, b := range []string{"", "@", ":", "/", "?x=", " "} {
			secrets = append(secrets, "Zq7x"+a+"Kv9w"+b+"Jm4y", a+"Zq7x"+b+"Kv9w")
		}
	}
	schemes := []string{"postgres://", "postgresql://", "POSTGRES://", " postgres://", `"postgres://`, "postgres:/", "postgres:", "postgres:///", "postgres:////", "//", "", "psql://", "jdbc:postgresql://", "postgres%3A%2F%2F"}
	tails := []string{"@" + closedPort + "/t", "@" + closedPort, "@" + closedPort + "/t?sslmode=disable", "@" + closedPort + ",127.0.0.2:1/t", "@[::1]:1/t", "@" + closedPort + ",bob:other@127.0.0.2:1/t", "%40" + closedPort + "/t", "@/t?host=127.0.0.1&port=1", "@@" + closedPort + "/t"}
	keywords := []string{
		"host=127.0.0.1 port=1 user=vera password=%s dbname=t", "host=127.0.0.1 port=1 user=vera password='%s' dbname=t",
		"host=127.0.0.1 port=1 user=vera password= %s", "host=127.0.0.1 port=1 user=vera:%s", "host=vera:%s@127.0.0.1 port=1", "host=127.0.0.1 port=1,%s",
		"host=127.0.0.1 port=1 dbname='postgres://vera:%s@h/t'", "host=127.0.0.1 port=1 dbname='vera:%s@h'", "host=127.0.0.1 port=1 user='vera:%s@h/t'",
		"host=127.0.0.1 port=1 pwd=%s", "host=127.0.0.1 port=1 sslmode=%s", "host=127.0.0.1 port=1 target_session_attrs='%s'", "host=127.0.0.1 port=1 vera:%s@h=x",
		"postgres://" + closedPort + "/t?user=vera&password=%s", "postgres://" + closedPort + "?user=vera&password=%s", "postgres://" + closedPort + "/t?user=vera;password=%s", "postgres://" + closedPort + "/t?passwd=%s",
	}
	t.Setenv("HOME", t.TempDir())
	for _, variable := range []string{"PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGSERVICE", "PGSERVICEFILE", "PGPASSFILE"} {
		t.Setenv(variable, "")
	}
	refused, reached := 0, 0
	try := func(shape, secret, dsn string) {
		errs := connectErrors(t, dsn)
		if errors.Is(errs[0], store.ErrBadDSN) {
			refused++
		} else {
			reached++
		}
		noLeak(t, shape, secret, errs)
	}
	for _, secret := range secrets {
		for _, format := range keywords {
			try(format, secret, fmt.Sprintf(format, secret))
		}
		for _, scheme := range schemes {
			for _, between := range []string{":", "%3A", "/"} {
				for _, tail := range tails {
					dsn := scheme + "vera" + between + secret + tail
					if !strings.Contains(dsn, "://") && !strings.Contains(dsn, "=") { // a bare name, as the command line reads it
						dsn = "dbname='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(dsn) + "' host=127.0.0.1 port=1"
					}
					try(scheme+"vera"+between+"SECRET"+tail, secret, dsn)
				}
			}
		}
	}
	whole := func(secret string) string { return "postgres://vera:" + secret + "@" + closedPort + "/t" }
	service := filepath.Join(t.TempDir(), "service")
	passwords := filepath.Join(t.TempDir(), "passwords")
	for _, secret := range []string{"Zq7xKv9w", "Zq7x@Kv9w", "Zq7x/Kv9w", "Zq7x@/Kv9w", "8361/Kv9w", "/Zq7x"} {
		for _, variable := range []string{"PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGSERVICE", "PGSSLMODE", "PGOPTIONS"} {
			t.Run(variable, func(t *testing.T) {
				t.Setenv("PGHOST", "127.0.0.1")
				t.Setenv("PGPORT", "1")
				t.Setenv(variable, whole(secret))
				noLeak(t, variable, secret, connectErrors(t, ""))
				noLeak(t, variable, secret, connectErrors(t, "postgres://"))
			})
		}
		for _, key := range []string{"host", "port", "user", "dbname", "password", "postgres://vera:" + secret + "@h"} {
			text := "[s]\nhost=127.0.0.1\nport=1\n" + key + "=" + whole(secret) + "\n"
			if err := os.WriteFile(service, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			try("service file, "+key, secret, "service=s servicefile="+service)
		}
		if err := os.WriteFile(passwords, []byte("*:*:*:*:"+secret+"\n"+secret), 0o600); err != nil {
			t.Fatal(err)
		}
		try("password file", secret, "host=127.0.0.1 port=1 user=vera dbname=t passfile="+passwords)
	}
	if refused == 0 || reached == 0 {
		t.Errorf("%d strings were refused and %d led to a closed port: both were to happen", refused, reached)
	}
}

// TestNoPasswordInAServersRefusal: the rest of a password with a space in it is a
// parameter, whose name or value the server repeats.
func TestNoPasswordInAServersRefusal(t *testing.T) {
	t.Parallel()
	database, err := url.Parse(sandboxtest.EmptyDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	password, _ := database.User.Password()
	sound := fmt.Sprintf("host=%s port=%s user=%s password='%s' dbname=%s ", database.Hostname(), database.Port(), database.User.Username(), password, database.Path[1:])
	for _, rest := range []string{"Zq7x=Kv9w", "datestyle=Zq7xKv9w", "options='-c Zq7x=Kv9w'", "options=Zq7xKv9w"} {
		_, err := store.CheckSchema(context.Background(), sound+rest)
		if err == nil || !strings.Contains(err.Error(), "the server refused the connection") || !strings.Contains(err.Error(), "check the parameters") {
			t.Fatalf("%s: %v", rest, err)
		}
		noLeak(t, rest, "Zq7xKv9w", []error{err})
		noLeak(t, rest, "Kv9w", []error{err})
	}
}

// TestNamesWithBorders: whoever has a database with a colon or slash in its name can say so.
func TestNamesWithBorders(t *testing.T) {
	t.Setenv("PGDATABASE", "tenant:orders/eu")
	err := connectErrors(t, "postgres://vera@"+closedPort)[0]
	if want := "nothing answers for tenant:orders/eu at " + closedPort + " as vera; "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v", err)
	}
	err = connectErrors(t, "host=127.0.0.1 port=1 dbname=other:orders")[0]
	if !strings.Contains(err.Error(), "goes in PGUSER or PGDATABASE") {
		t.Errorf("%v", err)
	}
}
