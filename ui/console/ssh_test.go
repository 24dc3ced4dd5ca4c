package console

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// Over a real sshd on loopback, inside tmux: the line is cut in the middle of a dialog,
// and the next login finds the console as it was, up to date.
func TestLiveOverSSHInsideTmux(t *testing.T) {
	for _, program := range []string{"ssh", "ssh-keygen", "tmux"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs ", program)
		}
	}
	login := sshServer(t)
	dsn := sandboxtest.Database(t)
	pool := live(t, dsn)
	socket := filepath.Join(t.TempDir(), "tmux")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	console := fmt.Sprintf("env %s='%s' %s=review TZ=UTC '%s' -test.run='^$'", asConsole, dsn, asView, self)

	s := inTerminalRun(t, 100, 30, login("env TERM=xterm tmux -u -f /dev/null -S "+socket+` new-session "`+console+`"`)...)
	s.shows("charge-5", "may have happened", "RW")
	s.keys("jE")
	s.dialog("Requeue charge-1")
	s.keys("ticket")
	s.shows("▏ticket")
	_ = s.process.Process.Kill() // the line is cut
	<-s.ended

	sql(t, pool, `SELECT jobtop.act(gen_random_uuid(), 'dead', 'charge-1', 'review', 3, 'bob', 'faster')`)
	s = inTerminalRun(t, 100, 30, login("env TERM=xterm tmux -u -S "+socket+" attach")...)
	s.shows("┌ Requeue charge-1", "▏ticket", "bob changed it (dead)", "dead, version 4", "[ Cancel ]")
	s.keys("\x1b")
	s.drops("┌ Requeue")
	s.shows("charge-5")

	// Without tmux the cut line is a hangup: the console ends, and nothing stays behind.
	direct := inTerminalRun(t, 100, 30, login("env TERM=screen-256color "+console)...)
	direct.shows("charge-5")
	running := func() bool { // tmux has one, the login the other
		return one[int](t, pool, `SELECT count(DISTINCT client_port)::int FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'jobtop'`) > 0
	}
	_ = direct.process.Process.Kill()
	<-direct.ended
	s.keys("q")
	s.shows("needs a person")
	s.keys("q")
	<-s.ended
	s.eventually("both consoles are gone", func() bool { return !running() })
}

// sshServer runs an sshd for the user of the test, and returns how to log in and run a
// command in a terminal there.
func sshServer(t *testing.T) func(command string) []string {
	t.Helper()
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		t.Skip("needs sshd")
	}
	dir := t.TempDir()
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	_ = os.MkdirAll("/run/sshd", 0o755) // where its Debian build wants one; elsewhere this fails and is not needed
	var port int
	var log string
	for tries := 0; ; tries++ {
		if port, log = startSSHD(t, sshd, dir); port != 0 {
			break
		}
		if tries == 4 { // by then it was not that somebody else had got the port
			t.Skip("sshd does not start here: ", log)
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return func(command string) []string {
		return []string{
			"ssh", "-tt", "-F", "none", "-i", filepath.Join(dir, "user"), "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no",
			"-o", "UserKnownHostsFile=" + filepath.Join(dir, "known"), "-o", "LogLevel=ERROR", "-p", fmt.Sprint(port), me.Username + "@127.0.0.1", command,
		}
	}
}

// startSSHD starts an sshd on a port that is free, and waits until it answers; where it
// ends instead, the port is 0.
func startSSHD(t *testing.T, program, dir string) (port int, log string) {
	t.Helper()
	port, err := sandbox.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("ListenAddress 127.0.0.1\nPort %d\nHostKey %s/host\nAuthorizedKeysFile %s/user.pub\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n", port, dir, dir)
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	server := exec.Command(program, "-D", "-e", "-f", filepath.Join(dir, "config"))
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = server.Wait(); close(exited) }()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-exited
	})
	for {
		select {
		case <-exited:
			return 0, said.String()
		case <-time.After(5 * time.Millisecond):
		}
		if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // somebody else may say nothing
			greeting := make([]byte, 4)
			_, err := io.ReadFull(conn, greeting)
			_ = conn.Close()
			if err == nil && string(greeting) == "SSH-" {
				return port, ""
			}
		}
	}
}
