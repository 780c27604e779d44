package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
)

// ApprovalCommand returns the command, or other text, of an approval.
func ApprovalCommand(a *protocol.Approval, patch, cwd string) []string {
	title := a.Title
	switch a.Kind {
	case protocol.ApproveCommand:
		if words := plainWords(a, cwd); words != nil {
			return words
		}
	case protocol.ApprovePatch:
		if patch == "" {
			patch = strings.Join(append([]string{title}, a.Paths...), "\n")
		}
		return []string{PatchTool, patch}
	case protocol.ApprovePlan:
		words := []string{"plan", title}
		for _, t := range a.Tasks {
			words = append(words, t.ID+". "+t.Title)
		}
		return words
	case protocol.ApproveQuestion:
		words := []string{"question", title}
		if a.Page != nil {
			words = append(words, a.Page.Prompt())
		}
		for i := range a.Questions {
			q := &a.Questions[i]
			text := q.Prompt()
			for _, c := range q.Choices {
				text += "\n- " + c.Label
			}
			words = append(words, text)
		}
		if q := a.MustAnswer(); q != nil && len(a.Questions) > 1 { // the explanation answers one alone
			words = append(words, "This can only be denied here: "+q.Text+" needs an answer, but a review has one text")
		}
		return words
	}
	words := []string{a.Name, a.Command}
	rest, _ := a.RestArguments()
	words = append(append(words, a.CommandSettings()...), rest)
	if elsewhere(a, cwd) && a.Kind == protocol.ApproveCommand {
		words = append(words, "in "+a.CWD)
	}
	if title != a.Command {
		words = append(words, title)
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// plainWords returns a command without settings in the session's directory as words, or nil.
func plainWords(a *protocol.Approval, cwd string) []string {
	rest, _ := a.RestArguments()
	if a.Command == "" || rest != "" || elsewhere(a, cwd) || len(a.CommandSettings()) > 0 {
		return nil
	}
	if argv := ArgvOf(a.Input); argv != nil {
		return argv
	}
	return SplitCommand(a.Command)
}

// elsewhere reports whether a request is for another directory than the session's, if that is
// known.
func elsewhere(a *protocol.Approval, cwd string) bool {
	return cwd != "" && a.CWD != "" && a.CWD != cwd
}

// ArgvOf returns the command in a tool's arguments, if it is a list of words.
func ArgvOf(input json.RawMessage) []string {
	var in struct {
		Command []string `json:"command"`
	}
	if json.Unmarshal(input, &in) != nil || len(in.Command) == 0 {
		return nil
	}
	return in.Command
}

// SplitCommand returns a command as words. The shown command must be the one that runs, so any
// command except plain words is passed to a shell. [protocol.JoinCommand] is its inverse.
func SplitCommand(command string) []string {
	words := strings.Fields(command)
	if len(words) > 0 && !strings.Contains(words[0], "=") && protocol.JoinCommand(words) == command {
		return words
	}
	return []string{"bash", "-lc", command}
}
