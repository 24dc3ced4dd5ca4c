package sandboxtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// roleEnv makes the test binary play a part in TestRunSharesAServer instead of running tests.
const roleEnv = "JOBTOP_TEST_ROLE"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleEnv) {
	case "":
		os.Exit(m.Run())
	case "go command":
		err = playGo()
	case "test binary":
		err = playTestBinary()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// playGo does what go test does: it runs some test binaries, then waits to be killed.
func playGo() error {
	var binaries []*exec.Cmd
	for range 3 {
		cmd := exec.Command(os.Args[1])
		cmd.Env = append(os.Environ(), roleEnv+"=test binary")
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			return err
		}
		binaries = append(binaries, cmd)
	}
	for _, cmd := range binaries {
		if err := cmd.Wait(); err != nil {
			return err
		}
	}
	fmt.Println("done")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func playTestBinary() error {
	url, err := sharedURL()
	if err != nil {
		return err
	}
	if _, err := cTemplate(); err != nil {
		return err
	}
	fmt.Println(url)
	return nil
}

// TestRunSharesAServer has a program called go run several test binaries at once, and then dies.
func TestRunSharesAServer(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp("/tmp", "sandbox-test-") // short enough for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	if err := os.Chmod(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "go")
	if err := copyFile(self, program); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command(program, self)
	cmd.Env = append(os.Environ(), roleEnv+"=go command", "TMPDIR="+tmp)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var said []string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		said = append(said, lines.Text())
		if lines.Text() == "done" {
			break
		}
	}
	if len(said) != 4 || said[0] != said[1] || said[1] != said[2] || !strings.HasPrefix(said[0], "postgres://") {
		t.Fatalf("want the URL of one server three times, got\n%s", strings.Join(said, "\n"))
	}
	if files, _ := filepath.Glob(filepath.Join(tmp, "jobtop-*")); len(files) != 2 {
		t.Errorf("want a server and a lock, got %q", files)
	}

	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	deadline := time.Now().Add(time.Minute)
	for {
		files, err := os.ReadDir(tmp)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left after the run: %v", files)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// copyFile copies a program. No child may be forked while it is open for writing: it would
// keep it open, and the program could not be started ("text file busy").
func copyFile(from, to string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}
