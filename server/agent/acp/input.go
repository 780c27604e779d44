package acp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
)

// input is the decoded arguments of a tool. Their form differs between agents.
type input struct {
	command, cwd, description, diff string

	// rest holds the arguments that may change what the command does, as JSON; empty: none. If the
	// arguments can be read in more than one way, it holds all of them.
	rest string
}

var (
	directoryFields   = []string{"workdir", "working_directory", "dir_path", "directory", "cwd"}
	descriptionFields = []string{"description", "reason", "justification", "why"}

	// harmlessFields do not change what a command does.
	harmlessFields = []string{
		"command", "is_background", "run_in_background", "timeout", "timeout_ms", "call_id", "turn_id",
		"process_id", "started_at_ms", "source", "parsed_cmd", "proposed_execpolicy_amendment", "available_decisions",
	}
)

func parseInput(raw json.RawMessage) input {
	fields, ambiguous := inputFields(raw)
	first := func(names []string) string {
		for _, name := range names {
			var s string
			if json.Unmarshal(fields[name], &s) == nil && s != "" {
				return s
			}
		}
		return ""
	}
	in := input{
		cwd: first(directoryFields), description: first(descriptionFields), diff: first([]string{"diff"}),
	}
	var args []string
	switch {
	case json.Unmarshal(fields["command"], &in.command) == nil:
	case json.Unmarshal(fields["command"], &args) == nil:
		in.command = shellJoin(args)
	}
	if ambiguous {
		in.rest = string(raw)
		return in
	}
	var commands []string
	if json.Unmarshal(fields["commands"], &commands) == nil &&
		!slices.ContainsFunc(commands, func(c string) bool { return !strings.Contains(in.command, c) }) {
		delete(fields, "commands") // the parts of command
	}
	maps.DeleteFunc(fields, func(name string, v json.RawMessage) bool {
		return !present(v) || slices.Contains(harmlessFields, name) || slices.Contains(descriptionFields, name) ||
			slices.Contains(directoryFields, name) && v[0] == '"'
	})
	if len(fields) > 0 {
		in.rest = string(protocol.MustEncode(fields))
	}
	return in
}

// inputFields returns the fields of a JSON object. ambiguous reports whether decoders can differ
// about them, because two names are equal but for their case. Without an object it returns no
// fields.
func inputFields(raw json.RawMessage) (fields map[string]json.RawMessage, ambiguous bool) {
	fields = map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fields, false
	}
	folded := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, _ := t.(string)
		var v json.RawMessage
		if err != nil || d.Decode(&v) != nil {
			return map[string]json.RawMessage{}, true
		}
		ambiguous = ambiguous || folded[strings.ToLower(name)]
		folded[strings.ToLower(name)], fields[name] = true, v
	}
	return fields, ambiguous
}

// mergeInput returns the arguments of a call with those of a request for it, which may be fewer and
// have other names. Arguments of the request replace those of the call.
func mergeInput(call, request json.RawMessage) json.RawMessage {
	switch {
	case !present(request):
		return call
	case !present(call) || bytes.Equal(call, request):
		return request
	}
	fields, unclear := inputFields(call)
	more, unclearToo := inputFields(request)
	if unclear || unclearToo || len(fields) == 0 || len(more) == 0 {
		return request
	}
	maps.Copy(fields, more)
	return protocol.MustEncode(fields)
}

// shellJoin joins arguments to a shell command. The argument of "sh -c" is returned unchanged.
func shellJoin(args []string) string {
	if len(args) == 3 && strings.HasSuffix(args[0], "sh") && (args[1] == "-c" || args[1] == "-lc") {
		return args[2]
	}
	quoted := make([]string, len(args))
	for i, w := range args {
		quoted[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`&|;<>()*?[]#~{}!") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// commandLine returns the command to approve. A rule matches exactly this text, so it has every
// argument that may change what runs. If the arguments have no command, the text is the title with
// all of them: different commands may share a title. Without arguments it is the title.
func commandLine(title string, in input, raw json.RawMessage) string {
	command := in.command
	if command == "" {
		if raw == nil {
			return title
		}
		return title + " " + string(raw)
	}
	return strings.TrimSuffix(command+" "+in.rest, " ")
}
