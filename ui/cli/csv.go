package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"jobtop/store"
	"jobtop/ui/text"
)

// The CSV of all commands has the columns and the names of the JSON objects; null is an
// empty cell. No cell is a formula, and none holds a character that a terminal obeys.

// jobCSV prints jobs as CSV.
type jobCSV struct {
	s      *session
	w      *csv.Writer
	titled bool
}

func (p *jobCSV) job(j store.Job) error {
	if !p.titled {
		p.titled = true
		if err := p.w.Write(csvTitles(jobJSON{})); err != nil {
			return err
		}
	}
	return p.w.Write(csvCells(newJobJSON(j)))
}

func (p *jobCSV) page() error {
	p.w.Flush()
	if err := p.w.Error(); err != nil {
		return err
	}
	return p.s.out.Flush()
}

func (p *jobCSV) end(int) error {
	if !p.titled {
		if err := p.w.Write(csvTitles(jobJSON{})); err != nil {
			return err
		}
	}
	p.w.Flush()
	return p.w.Error()
}

func (s *session) writeReceiptsCSV(receipts []store.Receipt) error {
	w := csv.NewWriter(s.out)
	if err := w.Write(csvTitles(receiptJSON{})); err != nil {
		return err
	}
	for _, r := range receipts {
		if err := w.Write(csvCells(newReceiptJSON(r))); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// csvTitles are the names of a JSON object's fields.
func csvTitles(object any) []string {
	t := reflect.TypeOf(object)
	titles := make([]string, t.NumField())
	for i := range titles {
		titles[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return titles
}

// csvCells are the values of a JSON object's fields.
func csvCells(object any) []string {
	v := reflect.ValueOf(object)
	cells := make([]string, v.NumField())
	for i := range cells {
		cells[i] = csvCell(v.Field(i))
	}
	return cells
}

func csvCell(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch value := v.Interface().(type) {
	case string:
		return text.CSVCell(text.Unicode.SanitizeBlock(value))
	case []string:
		return text.CSVCell(text.Unicode.Sanitize(strings.Join(value, " ")))
	case json.RawMessage:
		if string(value) == "null" {
			return ""
		}
		return text.CSVCell(string(escape(value)))
	case json.Marshaler:
		encoded, err := value.MarshalJSON()
		if err != nil {
			return ""
		}
		return strings.Trim(string(encoded), `"`)
	default:
		return fmt.Sprint(value)
	}
}
