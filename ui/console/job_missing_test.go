package console

import (
	"strings"
	"testing"
)

// An id that no job has is told as it was typed, whole, with what helps here.
func TestAJobThatDoesNotExist(t *testing.T) {
	id := `C:\spool\job-` + strings.Repeat("0123456789", 8)
	d := start(t, scene(), 60, 15)
	d.run(d.m.run("job " + id))
	shown := strings.Join(strings.Fields(d.text()), "")
	if strings.Count(shown, id) != 1 || strings.Contains(shown, `\\`) {
		t.Errorf("the id is not shown as it is:\n%s", d.text())
	}
	d.wants("There is no job C:", "Ids are told apart to the letter; :jobs and how an id begins finds it.")
	d.lacks("jobtop list")
}
