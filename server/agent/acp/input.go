package acp

import (
	"encoding/json"
	"strings"
)

// input is the decoded arguments of a tool. Their form differs between agents.
type input struct{ command, cwd, description string }

func parseInput(raw json.RawMessage) input {
	var o struct {
		Command                                 json.RawMessage
		CWD, Workdir, Directory                 any
		WorkingDirectory                        any `json:"working_directory"`
		DirPath                                 any `json:"dir_path"`
		Description, Reason, Justification, Why any
	}
	_ = decode(raw, &o) // ignore fields of other types
	first := func(list ...any) string {
		for _, v := range list {
			if s, ok := v.(string); ok && s != "" {
				return s
			}
		}
		return ""
	}
	in := input{
		cwd:         first(o.Workdir, o.WorkingDirectory, o.DirPath, o.Directory, o.CWD),
		description: first(o.Description, o.Reason, o.Justification, o.Why),
	}
	var args []string
	switch {
	case json.Unmarshal(o.Command, &in.command) == nil:
	case json.Unmarshal(o.Command, &args) == nil:
		in.command = shellJoin(args)
	}
	return in
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
