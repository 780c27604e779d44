package filechange

import (
	"slices"

	"agentctl/tui/diff"
)

// Step is the changes of one tool call. Label names it.
type Step struct {
	Label string
	Files []*diff.File
}

// Join returns the changes of steps by file, in the order of their first changes. Each hunk that
// starts a step has its label. The numbers of lines are those at the time of the step.
func Join(steps []Step) []diff.File {
	var out []diff.File
	at := map[string]int{} // by path
	for _, step := range steps {
		for _, f := range step.Files {
			hunks := slices.Clone(f.Hunks)
			if len(hunks) > 0 {
				hunks[0].Section = label(step.Label, hunks[0].Section)
			}
			i, known := at[f.Old]
			if !known || f.Old == "" {
				i, known = at[f.Path()]
			}
			if !known {
				i = len(out)
				out = append(out, diff.File{Old: f.Old})
			}
			joined := &out[i]
			joined.New = f.New
			joined.Notes = append(joined.Notes, f.Notes...)
			joined.Hunks = append(joined.Hunks, hunks...)
			at[joined.Path()], at[f.Path()] = i, i
		}
	}
	return out
}

// label returns the heading of a hunk with the label of its step.
func label(step, section string) string {
	if section == "" {
		return step
	}
	return step + " · " + section
}
