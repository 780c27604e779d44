package terminal

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	privateModes    = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hlsr])`)
	keyboardFlags   = regexp.MustCompile(`\x1b\[([<>=])([0-9;]*)u`)
	modifyOtherKeys = regexp.MustCompile(`\x1b\[>4(?:;([0-9]))?m`)
)

// defaultModes are the modes a terminal has set initially: line wrap and visible cursor.
var defaultModes = map[string]bool{"7": true, "25": true}

// UnrestoredModes returns, one phrase each, the terminal modes that the output changed and did not
// restore, and enabled keyboard enhancements.
func UnrestoredModes(output []byte) []string {
	last, saved := map[string]string{}, map[string]string{}
	for _, m := range privateModes.FindAllSubmatch(output, -1) {
		for mode := range strings.SplitSeq(string(m[1]), ";") {
			switch action := string(m[2]); action {
			case "s":
				saved[mode] = last[mode]
			case "r":
				if last[mode] = saved[mode]; last[mode] == "" {
					delete(last, mode) // as it was initially
				}
			default:
				last[mode] = action
			}
		}
	}
	var out []string
	for _, mode := range slices.Sorted(maps.Keys(last)) {
		if defaultModes[mode] != (last[mode] == "h") {
			out = append(
				out, fmt.Sprintf("mode %s is %s", mode, map[string]string{"h": "set", "l": "reset"}[last[mode]]),
			)
		}
	}
	pushed, flags := 0, "0"
	for _, m := range keyboardFlags.FindAllSubmatch(output, -1) {
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
	if all := modifyOtherKeys.FindAllSubmatch(output, -1); len(all) > 0 {
		if level := string(all[len(all)-1][1]); level != "" && level != "0" {
			out = append(out, "modified keys are reported")
		}
	}
	return out
}
