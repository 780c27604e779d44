package llm

import "slices"

// The efforts of reasoning, the least first. Most models have the usual ones.
var (
	efforts      = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	usualEfforts = efforts[2:5]
)

// fitEffort returns the effort of a list that is nearest to one of another model: the next lower, or the least.
// Empty stays empty.
func fitEffort(effort string, listed []string) (fit string) {
	if effort == "" {
		return ""
	}
	for _, e := range listed {
		if fit == "" || slices.Index(efforts, e) <= slices.Index(efforts, effort) {
			fit = e
		}
	}
	return fit
}
