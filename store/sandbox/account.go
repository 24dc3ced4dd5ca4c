package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is the user that server programs run as. The zero value is the user that this process runs as.
type account struct {
	name     string
	uid, gid uint32
}

// serverAccount returns an unprivileged user when this process is root's, since PostgreSQL refuses root.
func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseInt(found.Uid, 10, 64)
		gid, err2 := strconv.ParseInt(found.Gid, 10, 64)
		if err := errors.Join(err, err2); err != nil {
			return account{}, fmt.Errorf("user %s: %w", name, err)
		}
		return account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return account{}, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
}

// other says that the account is not the one this process runs as.
func (a account) other() bool { return a.name != "" }

func (a account) own(path string) error {
	if !a.other() {
		return nil
	}
	return os.Chown(path, int(a.uid), int(a.gid))
}

// attributes make a process run as the account, in a session of its own so that the terminal's signals
// do not reach it.
func (a account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if a.other() {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attr
}
