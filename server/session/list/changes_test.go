package list

import (
	"fmt"
	"testing"
)

func TestChangesKeepTheNewestSummaryOfEachSession(t *testing.T) {
	c := NewChanges()
	for i, key := range []string{"summary s_1", "summary s_2", "summary s_1"} {
		c.Notify(key, fmt.Append(nil, i))
	}
	<-c.Wake
	if got := fmt.Sprintf("%s", c.Take()); got != "[{s_1 2} {s_2 1}]" {
		t.Errorf("changes: %s", got)
	}
	if got := c.Take(); got != nil {
		t.Errorf("changes after they were taken: %s", got)
	}
	c.Notify("summary s_1", nil)
	if n := testing.AllocsPerRun(100, func() { c.Notify("summary s_1", nil) }); n != 0 {
		t.Errorf("a repeated change allocates %v times", n)
	}
}
