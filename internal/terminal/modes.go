package terminal

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	private  = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)
	keyboard = regexp.MustCompile(`\x1b\[([<>=])([0-9;]*)u`)
	modified = regexp.MustCompile(`\x1b\[>4(?:;([0-9]))?m`)
)

// usual are the modes that a terminal has set by itself: it wraps lines and shows the cursor.
var usual = map[string]bool{"7": true, "25": true}

// UnrestoredModes tells, one sentence each, what a program that wrote this has left as it usually is not: modes that it set and did not
// reset, or reset and did not set again, and enhancements of the keyboard.
func UnrestoredModes(said []byte) []string {
	last := map[string]string{}
	for _, m := range private.FindAllSubmatch(said, -1) {
		for mode := range strings.SplitSeq(string(m[1]), ";") {
			last[mode] = string(m[2])
		}
	}
	var out []string
	for _, mode := range slices.Sorted(maps.Keys(last)) {
		if usual[mode] != (last[mode] == "h") {
			out = append(out, fmt.Sprintf("mode %s is %s", mode, map[string]string{"h": "set", "l": "reset"}[last[mode]]))
		}
	}
	pushed, flags := 0, "0"
	for _, m := range keyboard.FindAllSubmatch(said, -1) {
		switch string(m[1]) {
		case ">":
			pushed++
		case "<":
			pushed--
		case "=":
			flags, _, _ = strings.Cut(string(m[2]), ";")
		}
	}
	if pushed > 0 || flags != "0" && flags != "" {
		out = append(out, "the keyboard is enhanced")
	}
	if all := modified.FindAllSubmatch(said, -1); len(all) > 0 {
		if level := string(all[len(all)-1][1]); level != "" && level != "0" {
			out = append(out, "modified keys are reported")
		}
	}
	return out
}
