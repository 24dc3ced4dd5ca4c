package cli_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// A password typed after -d does not stay where ps shows it.
func TestNoPasswordInTheProcessList(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc, which only Linux has")
	}
	t.Parallel()
	program, err := exec.LookPath("jobtop")
	if err != nil {
		t.Fatal(err)
	}
	// It accepts and never answers, so that the program can be looked at.
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	for _, arguments := range [][]string{
		{"-d", "postgres://ada:s3cretWord@" + silent.Addr().String() + "/orders", "status"},
		{"status", "--db=host=127.0.0.1 port=" + strconv.Itoa(silent.Addr().(*net.TCPAddr).Port) + " user=ada password=s3cretWord dbname=orders"},
	} {
		command := exec.CommandContext(t.Context(), program, arguments...)
		command.Env = append(os.Environ(), "DATABASE_URL=", "HOME="+t.TempDir())
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		called, err := silent.Accept()
		if err != nil {
			t.Fatal(err)
		}
		shown, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(command.Process.Pid), "cmdline"))
		if err != nil || !bytes.Contains(shown, []byte("status")) || bytes.Contains(shown, []byte("s3cretWord")) {
			t.Errorf("the process list shows %q, %v", shown, err)
		}
		_ = command.Process.Kill()
		_ = command.Wait()
		_ = called.Close()
	}
}
