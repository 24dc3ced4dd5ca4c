package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Identity tells one database from another, and a failover from none.
type Identity struct {
	// Database is the same for as long as it is the same database reached by the same
	// hosts: they, its name, and the cluster's own identifier. No credentials.
	Database string
	// Timeline rises whenever a standby becomes the primary.
	Timeline int64
}

const identityTimeout = 5 * time.Second

// Identity asks the server who it is. It fails on a replica.
func (db *DB) Identity(ctx context.Context) (Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, identityTimeout)
	defer cancel()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return Identity{}, db.explainAcquire(err)
	}
	defer conn.Release()
	var name, system string
	var timeline *string
	if err := conn.QueryRow(ctx, query("identity")).Scan(&name, &system, &timeline); err != nil {
		db.forget(err)
		return Identity{}, explain("ask the database who it is", err)
	}
	if timeline == nil {
		db.pool.Reset() // the pool may hold on to a primary that was demoted
		return Identity{}, &Problem{What: "the server is a replica and takes no writes", Next: "connect to the primary (target_session_attrs=primary with several hosts)", kind: ErrReadOnly}
	}
	number, err := strconv.ParseInt(*timeline, 16, 64)
	if err != nil {
		return Identity{}, &Problem{What: fmt.Sprintf("the server names its timeline %q, which is none", *timeline)}
	}
	return Identity{Database: fmt.Sprintf("%s/%s/%s", addresses(db.pool.Config().ConnConfig), name, system), Timeline: number}, nil
}

// addresses lists the hosts of a connection string, each once, in their order.
func addresses(config *pgx.ConnConfig) string {
	list := []string{address(config)}
	for _, f := range config.Fallbacks {
		other := config.Copy()
		other.Host, other.Port = f.Host, f.Port
		if a := address(other); !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return strings.Join(list, ",")
}
