package protocol

import (
	"fmt"
	"slices"
	"strings"
)

// ChooseSetting returns the setting that a user names, of all, and the id of its value that the user
// names. Each is named by its id, or by its id, name or label in any case. An unknown setting has the
// code not_found. An unknown value, and a text that names several, have invalid_message. The error lists
// the candidates.
func ChooseSetting(all []Setting, setting, value string) (*Setting, string, error) {
	list := make([]Choice, len(all))
	for i := range all {
		list[i] = Choice{ID: all[i].ID, Label: all[i].Name}
	}
	i, several := findChoice(list, setting)
	switch {
	case several != "":
		return nil, "", Errorf(CodeInvalidMessage, "%.80q is the name of several settings: %s", setting, several)
	case i < 0:
		return nil, "", Errorf(CodeNotFound, "the agent has no setting %.80q; it has %s", setting, choiceNames(list))
	}
	s := &all[i]
	if len(s.Choices) == 0 {
		return s, value, nil
	}
	i, several = findChoice(s.Choices, value)
	switch {
	case several != "":
		return nil, "", Errorf(CodeInvalidMessage, "%.80q is the name of several choices for %s: %s", value, s.ID, several)
	case i < 0:
		return nil, "", Errorf(
			CodeInvalidMessage, "%.80q is not a choice for %s; choose one of %s", value, s.ID, choiceNames(s.Choices),
		)
	}
	return s, s.Choices[i].ID, nil
}

// findChoice returns the index of the choice that a text names; -1: none. An id as it is written goes
// first. several lists the candidates if there are more.
func findChoice(list []Choice, text string) (index int, several string) {
	if i := slices.IndexFunc(list, func(c Choice) bool { return c.ID == text }); i >= 0 {
		return i, ""
	}
	index = -1
	var found []Choice
	for i, c := range list {
		if text != "" && (strings.EqualFold(c.ID, text) || strings.EqualFold(c.Label, text)) {
			index, found = i, append(found, c)
		}
	}
	if len(found) > 1 {
		return -1, choiceNames(found)
	}
	return index, ""
}

// choiceNames lists choices by name, with the id of one whose name is another.
func choiceNames(list []Choice) string {
	var names []string
	for _, c := range list {
		name := fmt.Sprintf("%.80q", c.ID)
		if c.Label != "" && !strings.EqualFold(c.Label, c.ID) {
			name = fmt.Sprintf("%.40q (%.80q)", c.Label, c.ID)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
