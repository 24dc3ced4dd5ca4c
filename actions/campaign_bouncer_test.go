package actions

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"jobtop/store/sandbox"
)

// A pgbouncer in transaction mode, of the test's own.

// bouncerProgram finds pgbouncer; "" where it is not installed.
func bouncerProgram() string {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startBouncer starts one before several databases, given by their URLs, and returns
// the URLs that lead through it. It ends with the test, however that ends.
func startBouncer(t testing.TB, program string, behind []string) []string {
	t.Helper()
	port, err := sandbox.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	text := "[databases]\n"
	through := make([]string, len(behind))
	for i, dsn := range behind {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		password, _ := u.User.Password()
		text += fmt.Sprintf("db%d = host=%s port=%s dbname=%s user=%s password=%s\n", i, u.Hostname(), u.Port(), u.Path[1:], u.User.Username(), password)
		through[i] = fmt.Sprintf("postgres://%s@127.0.0.1:%d/db%d?sslmode=disable", u.User.Username(), port, i)
	}
	text += fmt.Sprintf(`[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
server_login_retry = 0.1
server_round_robin = 1
log_connections = 0
log_disconnections = 0
`, port)
	directory := t.TempDir()
	ini := filepath.Join(directory, "pgbouncer.ini")
	if err := os.WriteFile(ini, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(directory, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	arguments := []string{"-c", `"$@" & read _; kill $!; wait`, "sh", program}
	if os.Geteuid() == 0 { // which pgbouncer refuses to be
		arguments = append(arguments, "-u", "nobody")
	}
	// The shell ends it when the pipe's other end is gone, be it because this process is.
	command := exec.Command("/bin/sh", append(arguments, ini)...)
	command.Stderr = log
	leash, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = leash.Close()
		_ = command.Wait()
	})
	eventually(t, "pgbouncer listens", func() bool {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	t.Cleanup(func() {
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("pgbouncer's log ends in\n%s", text[max(0, len(text)-3000):])
		}
	})
	return through
}
