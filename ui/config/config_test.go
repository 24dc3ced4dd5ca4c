package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const whole = `
operator = "alice"
refresh = "5s"
profile = "orders"
theme = "light"

[profiles.orders]
dsn = "service=orders"
colour = "red"
production = true

[profiles.staging]
dsn = "host=staging.internal dbname=orders"
colour = "#00ff7f"
readonly = true

[lookup."card.charge"]
command = ["find-charge", "--live"]
timeout = "30s"

[lookup."*"]
command = ["find-anything"]

[keys]
refresh = ["R", "ctrl-r"]
`

func TestWhole(t *testing.T) {
	c, err := parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Operator: "alice", Refresh: Duration(5 * time.Second), Profile: "orders",
		Profiles: map[string]Profile{
			"orders":  {DSN: "service=orders", Colour: Colour{"1"}, Production: true},
			"staging": {DSN: "host=staging.internal dbname=orders", Colour: Colour{"#00ff7f"}, ReadOnly: true},
		},
		Lookup: map[string]Lookup{
			"card.charge": {Command: []string{"find-charge", "--live"}, Timeout: Duration(30 * time.Second)},
			"*":           {Command: []string{"find-anything"}},
		},
		Theme: "light",
		Keys:  map[string][]string{"refresh": {"R", "ctrl-r"}},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	if lookup, ok := c.LookupFor("card.charge"); !ok || lookup.Command[0] != "find-charge" || lookup.Timeout != Duration(30*time.Second) {
		t.Errorf("LookupFor(card.charge) = %v, %v", lookup, ok)
	}
	if lookup, ok := c.LookupFor("mail.send"); !ok || lookup.Command[0] != "find-anything" || lookup.Timeout != Duration(DefaultLookupTimeout) {
		t.Errorf("LookupFor(mail.send) = %v, %v", lookup, ok)
	}
	if _, ok := (Config{}).LookupFor("mail.send"); ok {
		t.Error("an empty configuration has a lookup")
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"operater = \"alice\"":                            `line 1: unknown key "operater" (did you mean operator?)`,
		"\n\n[profils.orders]\ndsn = \"x\"":               `line 3: unknown key "profils" (did you mean profiles?)`,
		"[profiles.orders]\ndsn = \"x\"\ncolor = \"red\"": `line 3: unknown key "profiles.orders.color" (did you mean colour?)`,
		"[lookup.\"card.charge\"]\ncomand = [\"x\"]":      `line 2: unknown key "lookup.card.charge.comand" (did you mean command?)`,
		"zzz = 1": `line 1: unknown key "zzz"`,
		"[profiles]\norders = { dsn = \"x\", prodction = true }": `line 2: unknown key "profiles.prodction"`,
		"refresh = \"soon\"":                                           `line 1: refresh: "soon" is no duration; write it as "2s" or "1m30s"`,
		"refresh = \"1ms\"":                                            `refresh is below 100ms`,
		"theme = \"drak\"":                                             `no theme is called "drak" (did you mean dark?)`,
		"[profiles.a]\ncolour = \"yelow\"":                             `line 2: profiles.a.colour: "yelow" is no colour (did you mean yellow?)`,
		"[profiles.a]\ncolour = \"#12345\"":                            `is no colour`,
		"[profiles.a]\ncolour = \"256\"":                               `is no colour`,
		"operator = 5":                                                 `line 1: operator: a value of another type is needed`,
		"[profiles.a]\ndsn = \"x\"\nproduction = \"yes\"":              `line 3: profiles.a.production: a value of another type is needed`,
		"operator = \"alice":                                           `line 1: `,
		"profile = \"order\"\n[profiles.orders]\ndsn = \"x\"":          `profile: there is no profile "order" (did you mean orders?); there are orders`,
		"profile = \"postgres://ada:s3cret@h/t\"":                      `profile: there is no profile of that name (a connection string goes after -d): the configuration has none`,
		"profile = \"orders\"":                                         `there is no profile "orders": the configuration has none`,
		"[profiles.orders]\nproduction = true":                         `profiles.orders has no dsn`,
		"[lookup.x]\ntimeout = \"2s\"":                                 `lookup."x" has no command`,
		"[lookup.x]\ncommand = [\"a\"]\ntimeout = \"-2s\"":             `lookup."x" has a timeout below zero`,
		"operator = \"a\"\noperator = \"b\"":                           `line 2: `,
		"[profiles.a]\ndsn = [\"postgres://u:hunter2@h/d\"]\ncolour=1": `line 2: profiles.a.dsn: a value of another type is needed`,
	} {
		_, err := parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a password is told: %v", err)
		}
	}
}

func TestLoad(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	if c, err := Load(""); err != nil || c.Path != "" {
		t.Fatalf("without a file: %+v, %v", c, err)
	}
	path := filepath.Join(home, "jobtop", "config.toml")
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a named file that is missing: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(""); err != nil || c.Path != path || c.Operator != "alice" {
		t.Errorf("got %+v, %v", c, err)
	}
	if err := os.WriteFile(path, []byte("\nkeyz = 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(""); err == nil || err.Error() != path+`: line 2: unknown key "keyz" (did you mean keys?)` {
		t.Errorf("got %v", err)
	}
}

func TestDirectories(t *testing.T) {
	t.Setenv("HOME", "/home/alice")
	for set, want := range map[string]string{
		"":           "/home/alice/.local/state/jobtop",
		"relative":   "/home/alice/.local/state/jobtop",
		"/var/state": "/var/state/jobtop",
	} {
		t.Setenv("XDG_STATE_HOME", set)
		if got, err := StateDir(); err != nil || got != want {
			t.Errorf("XDG_STATE_HOME=%s: %s, %v", set, got, err)
		}
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	if got, err := StateDir(); err == nil {
		t.Errorf("without a home: %s", got)
	}
}
