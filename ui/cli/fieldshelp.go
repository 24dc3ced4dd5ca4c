package cli

import (
	"encoding/json"
	"reflect"
	"strings"
)

// documents are the JSON objects of all commands, for the help.
var documents = []struct {
	title  string
	object any
}{
	{"status", statusJSON{}},
	{"list, one a line", jobJSON{}},
	{"list receipts, one a line", receiptJSON{}},
	{"show", storyWithPayloadJSON{}},
	{"actions, one a line", actionJSON{}},
	{"requeue, done, dead, hold: one a line", resultJSON{}},
	{"pause, resume", pauseJSON{}},
	{"lookup", lookupJSON{}},
	{"doctor, one a line", findingJSON{}},
	{"schema status", schemaJSON{}},
	{"check --webhook", alertJSON{}},
}

// fieldsHelp lists the fields of every JSON object, from the types that are printed.
func fieldsHelp() string {
	var b strings.Builder
	for _, d := range documents {
		b.WriteString(d.title + ":\n")
		writeFields(&b, reflect.TypeOf(d.object), "  ")
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func writeFields(b *strings.Builder, t reflect.Type, indent string) {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			writeFields(b, field.Type, indent)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		kind, inner := typeWords(field.Type)
		b.WriteString(indent + name + strings.Repeat(" ", max(1, 30-len(indent)-len(name))) + kind + "\n")
		if inner != nil && inner != reflect.TypeFor[jobJSON]() && inner != reflect.TypeFor[receiptJSON]() && inner != reflect.TypeFor[actionJSON]() {
			writeFields(b, inner, indent+"  ")
		}
	}
}

// typeWords says what a field holds, and the type of the object where it holds one.
func typeWords(t reflect.Type) (words string, inner reflect.Type) {
	switch t {
	case reflect.TypeFor[seconds]():
		return "number", nil
	case reflect.TypeFor[moment]():
		return "time", nil
	case reflect.TypeFor[json.RawMessage]():
		return "any", nil
	case reflect.TypeFor[jobJSON]():
		return "object, as in list", t
	case reflect.TypeFor[receiptJSON]():
		return "object, as in list receipts", t
	case reflect.TypeFor[actionJSON]():
		return "object, as in actions", t
	}
	switch t.Kind() {
	case reflect.Pointer:
		words, inner = typeWords(t.Elem())
		return words + " or null", inner
	case reflect.Slice:
		words, inner = typeWords(t.Elem())
		return "array of " + words, inner
	case reflect.String:
		return "text", nil
	case reflect.Bool:
		return "true or false", nil
	case reflect.Struct:
		return "object", t
	default:
		return "whole number", nil
	}
}
