package arguments

import (
	"encoding/json"
	"slices"
	"strings"
)

// aliases are names that models know from other tools, by the name here, without underscores.
var aliases = map[string][]string{
	"path":        {"filepath", "filename", "file", "targetfile", "absolutepath", "dirpath", "directory", "dir"},
	"command":     {"cmd", "argv", "commandline"},
	"workdir":     {"cwd", "workingdirectory", "directory"},
	"pattern":     {"regex", "regexp", "query"},
	"glob":        {"include"},
	"ignore_case": {"caseinsensitive"},
	"old_string":  {"oldstr", "oldtext"},
	"new_string":  {"newstr", "newtext"},
	"content":     {"contents", "filetext", "text"},
	"patch":       {"patchtext", "input", "diff"},
	"url":         {"uri"},
	"steps":       {"todos", "items", "tasks", "plan"},
	"title":       {"content", "step", "description", "text"},
	"prompt":      {"task", "message", "instructions"},
	"questions":   {"question"},
	"question":    {"text"},
	"choices":     {"options"},
	"label":       {"title", "text", "name", "value"},
	"about":       {"description"},
	"several":     {"multiselect", "multiple", "many"},
}

// values are values of choices that models know from other tools.
var values = map[string]string{
	"inprogress": "running", "active": "running", "done": "completed", "complete": "completed", "todo": "pending",
	"canceled": "cancelled",
}

// squash returns a name without what differs between styles: old_string, oldString and OldString.
func squash(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// find returns the field that a name stands for, or "". An alias does not stand for a field that is sent too.
func (s *Schema) find(name string, sent map[string]json.RawMessage) string {
	if s.Properties[name] != nil {
		return name
	}
	short, found := squash(name), ""
	for field := range s.Properties {
		if squash(field) == short {
			return field
		}
	}
	for field := range s.Properties {
		if sent[field] == nil && slices.Contains(aliases[field], short) {
			if found != "" { // it could be both
				return ""
			}
			found = field
		}
	}
	return found
}
