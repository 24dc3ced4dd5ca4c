package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"jobtop/ui/nearest"
)

// explain says in which line the file went wrong, and for a key that nobody knows
// which one was probably meant.
func explain(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		unknown := strict.Errors[0]
		line, _ := unknown.Position()
		return fmt.Errorf("line %d: unknown key %s", line, unknownKey(unknown.Key()))
	}
	var decode *toml.DecodeError
	if !errors.As(err, &decode) {
		return err
	}
	line, _ := decode.Position()
	what := strings.TrimPrefix(decode.Error(), "toml: ")
	if key := strings.Join(decode.Key(), "."); key != "" {
		// The library's words about a value that does not fit are about Go's types.
		if strings.Contains(what, "cannot decode") || strings.Contains(what, "cannot store") {
			what = "a value of another type is needed"
		}
		what = key + ": " + what
	}
	return fmt.Errorf("line %d: %s", line, what)
}

// unknownKey names a key and the nearest one that its table knows.
func unknownKey(key []string) string {
	at := reflect.TypeFor[Config]()
	for i, part := range key {
		if at.Kind() == reflect.Map {
			at = at.Elem()
			continue
		}
		known := fields(at, i < len(key)-1)
		next, ok := known[part]
		if !ok {
			return fmt.Sprintf("%q%s", strings.Join(key[:i+1], "."), nearest.DidYouMean(part, slices.Sorted(maps.Keys(known))))
		}
		at = next
	}
	return fmt.Sprintf("%q", strings.Join(key, "."))
}

// fields returns the keys that a table may have, or those of the tables in it alone,
// and what stands under each.
func fields(table reflect.Type, tables bool) map[string]reflect.Type {
	known := map[string]reflect.Type{}
	if table.Kind() != reflect.Struct {
		return known
	}
	for i := range table.NumField() {
		field := table.Field(i)
		if name := field.Tag.Get("toml"); name != "-" && (!tables || field.Type.Kind() == reflect.Map) {
			known[name] = field.Type
		}
	}
	return known
}
