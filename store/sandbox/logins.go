package sandbox

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
)

// CreateLogin creates a role that can log in and is a member of the given ones and
// nothing more. It returns the role's connection string to a database, with its password.
func (s *Server) CreateLogin(ctx context.Context, name, database string, memberOf ...string) (string, error) {
	password := rand.Text() // letters and digits
	err := s.asSuperuser(ctx, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "create role "+quote(name)+" login password '"+password+"'"); err != nil {
			return fmt.Errorf("create role %s: %w", name, err)
		}
		for _, group := range memberOf {
			if _, err := conn.Exec(ctx, "grant "+quote(group)+" to "+quote(name)); err != nil {
				return fmt.Errorf("grant %s to %s: %w", group, name, err)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	u, err := url.Parse(s.URL(database))
	if err != nil {
		return "", err
	}
	u.User = url.UserPassword(name, password)
	return u.String(), nil
}
