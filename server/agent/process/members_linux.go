package process

import (
	"os"
	"strconv"
)

// Fields of stat, as above.
const (
	statState = 0 // the third
	statGroup = 5 - 3
)

// runs reports whether anything of a group still runs. A dead process that nobody reaps is a member, and does not: where
// the first process of a container reaps nothing there are such for ever.
func runs(group int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if f := stat(id); f != nil && f[statGroup] == strconv.Itoa(group) && f[statState] != "Z" {
			return true
		}
	}
	return false
}
