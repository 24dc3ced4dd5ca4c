package store

import (
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

// A password whose @ : / are not escaped moves the borders within a connection string, so
// that a piece of it is read as the host, the database, the user or a parameter, which
// errors and the console's banner show. Hence all that is shown must look like what it is
// said to be, or the string is refused unshown.

// misread says why the parts of a connection string look like pieces of a password: in a
// Next that holds nothing of it, "" where they do not.
func misread(dsn string, config *pgx.ConnConfig) (next string) {
	if dsn == "" {
		next = "check PGHOST, PGUSER, PGDATABASE and the service file: a URL goes in DATABASE_URL or --db"
	} else {
		next = nextDSN
	}
	if isURL(dsn) && misreadURL(dsn) {
		return next
	}
	for name, value := range config.RuntimeParams {
		if !parameterName.MatchString(name) || name != "application_name" && looksLikeDSN(value) {
			return next
		}
	}
	if !plausibleHost(config.Host) {
		return next
	}
	for _, other := range config.Fallbacks {
		if !plausibleHost(other.Host) {
			return next
		}
	}
	for variable, name := range map[string]string{"PGUSER": config.User, "PGDATABASE": config.Database} {
		switch {
		case looksLikeDSN(name) || strings.Contains(name, "="):
			return next
		case strings.ContainsAny(unescape(name), ":/") && os.Getenv(variable) != name:
			return next + "; a user or database with : or / in its name goes in PGUSER or PGDATABASE"
		}
	}
	return ""
}

const nextDSN = "give a URL such as postgres://user@host:5432/database, or keywords such as \"host=… dbname=…\"; " +
	"in a URL a password with @ : / must be written %40 %3A %2F"

var (
	parameterName = regexp.MustCompile(`^[A-Za-z0-9_.]+$`)
	// lateQuery is a query string that a later @ made part of the user and password.
	lateQuery = regexp.MustCompile(`[?&](user|password|sslpassword)=`)
)

func isURL(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// misreadURL looks at the text itself: a sound URL has one @ at most, before its path.
func misreadURL(dsn string) bool {
	_, rest, _ := strings.Cut(dsn, "://")
	if credentials, after, found := strings.Cut(rest, "@"); found {
		if strings.ContainsAny(credentials, "/") || strings.Contains(after, "@") || lateQuery.MatchString(credentials) {
			return true
		}
		rest = after
	}
	rest, _, _ = strings.Cut(rest, "?")
	_, database, _ := strings.Cut(rest, "/")
	return strings.ContainsAny(database, "/:=&;") || strings.Contains(unescape(database), "@")
}

// looksLikeDSN: the value, escaped or not, has the shape of a whole connection string, or
// of the end of one.
func looksLikeDSN(value string) bool {
	value = unescape(value)
	return strings.Contains(value, "://") ||
		strings.Contains(value, "@") && strings.ContainsAny(value, ":;/\\|?&=# \t\r\n")
}

// plausibleHost: a name, an address or the directory of a socket.
func plausibleHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	if strings.HasPrefix(host, "/") || len(host) > 2 && host[1:3] == `:\` {
		return !strings.HasPrefix(host, "//") && (!strings.Contains(host, "@") || !strings.Contains(host, ":"))
	}
	return !strings.ContainsFunc(host, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	})
}

// quotable: what the server says of a connection repeats no parameter of it. One may be
// the rest of a password that had a space in it.
func quotable(config *pgx.ConnConfig, message string) bool {
	message = strings.ToLower(message)
	for name, value := range config.RuntimeParams {
		if name == "application_name" {
			continue
		}
		words := strings.FieldsFunc(name+" "+value, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
		})
		for _, word := range words {
			if len(word) > 2 && strings.Contains(message, strings.ToLower(word)) {
				return false
			}
		}
	}
	return true
}

var escaped = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// unescape undoes a URL's escapes and leaves alone what is none.
func unescape(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(three string) string {
		plain, err := url.PathUnescape(three)
		if err != nil {
			return three
		}
		return plain
	})
}
