package cli_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// Connections are encrypted and verified as sslmode asks for, with a certificate made
// here; one that does not fit is refused in words.
func TestVerifyFull(t *testing.T) {
	t.Parallel()
	server := sandboxtest.Server(t, sandbox.Options{})
	directory := t.TempDir()
	authority, stranger := newAuthority(t, directory, "authority"), newAuthority(t, directory, "stranger")
	dsn := server.URL("postgres")
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	serve := func(name string) {
		authority.issue(t, filepath.Join(server.Dir(), "data"), name)
		for _, sql := range []string{"ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		// The server's processes hear of it one after the other.
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if served(server.Port()) == name {
				return
			}
		}
		t.Fatalf("the server does not show the certificate of %s", name)
	}
	f := &fault{t: t, env: append(cleanEnvironment(), "HOME="+directory, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")}
	with := func(mode string, root authorityOf) string {
		return fmt.Sprintf("%s sslmode=%s sslrootcert='%s'", keywords(t, dsn), mode, root.file)
	}

	serve("127.0.0.1")
	f.run(0, "schema", "apply", "-d", with("verify-full", authority))
	stdout, _ := f.run(0, "status", "-d", with("verify-full", authority))
	contains(t, "the status", stdout, "primary")
	f.run(0, "status", "-d", with("verify-ca", authority))
	f.run(0, "status", "-d", fmt.Sprintf("%s sslmode=require", keywords(t, dsn)))
	_, stderr := f.run(1, "status", "-d", with("verify-full", stranger))
	contains(t, "the message about a stranger", stderr, "jobtop: the server's certificate is not trusted", "sslrootcert")
	_, stderr = f.run(1, "status", "-d", with("verify-ca", stranger))
	contains(t, "the message about a stranger", stderr, "jobtop: the server's certificate is not trusted", "sslrootcert")

	serve("db.example")
	f.run(0, "status", "-d", with("verify-ca", authority))
	_, stderr = f.run(1, "status", "-d", with("verify-full", authority))
	contains(t, "the message about another name", stderr, "jobtop: the server's certificate is not trusted", "sslrootcert")
}

// authorityOf is a certificate authority, and the file that tells of it.
type authorityOf struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string
}

func newAuthority(t *testing.T, directory, name string) authorityOf {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(directory, name+".crt")
	writePEM(t, file, "CERTIFICATE", raw)
	return authorityOf{certificate, key, file}
}

// issue writes a server's certificate for a name, and its key, into its data directory.
func (a authorityOf) issue(t *testing.T, data, name string) {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	rawKey, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Skip("no owners here")
	}
	for file, pair := range map[string]struct {
		kind string
		raw  []byte
	}{"server.crt": {"CERTIFICATE", raw}, "server.key": {"EC PRIVATE KEY", rawKey}} {
		path := filepath.Join(data, file)
		writePEM(t, path, pair.kind, pair.raw)
		if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func writePEM(t *testing.T, path, kind string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// served is the name on the certificate that a server shows now, "" for none.
func served(port int) string {
	config, err := pgconn.ParseConfig(fmt.Sprintf("host=127.0.0.1 port=%d user=nobody sslmode=require", port))
	if err != nil {
		return ""
	}
	name := ""
	config.TLSConfig.VerifyConnection = func(state tls.ConnectionState) error {
		name = state.PeerCertificates[0].Subject.CommonName
		return errors.New("seen enough")
	}
	config.Fallbacks = nil
	if conn, err := pgconn.ConnectConfig(context.Background(), config); err == nil {
		_ = conn.Close(context.Background())
	}
	return name
}

// keywords is a URL's connection as keywords, without its sslmode.
func keywords(t *testing.T, dsn string) string {
	t.Helper()
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s", c.Host, c.Port, c.User, c.Password, c.Database)
}
