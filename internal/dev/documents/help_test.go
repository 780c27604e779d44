//go:build documents && unix

package documents

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// examples returns the examples of a verb and of its subcommands from its help, and their verbs.
func examples(m *machine, verb string) (commands []command) {
	help := m.run("agentctl "+verb+" --help", "").stdout
	section := ""
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line != "" && line[0] != ' ':
			section = line
		case section == "Examples:" && line != "":
			commands = append(commands, command{text: strings.TrimSpace(line)})
		case section == "Available Commands:" && line != "":
			sub := strings.Fields(line)[0]
			commands = append(commands, examples(m, verb+" "+sub)...)
		}
	}
	return commands
}

// verbLine is a verb in the help of the program.
var verbLine = regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`)

// Every example of the help runs, each verb's on a separate machine with a session "fix".
func TestEveryExampleOfTheHelpRuns(t *testing.T) {
	m := newMachine(t)
	help := m.run("agentctl help verbs", "").stdout
	verbs := verbLine.FindAllStringSubmatch(help, -1)
	if len(verbs) < 40 {
		t.Fatalf("the help names %d verbs", len(verbs))
	}
	all := map[string]bool{}
	for _, v := range verbs {
		var commands []command
		for _, c := range examples(m, v[1]) { // a verb and its subcommand may have the same example
			if !all[c.text] || !slices.ContainsFunc(commands, c.same) {
				commands = append(commands, c)
			}
			all[c.text] = true
		}
		t.Run(v[1], func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, exampleHows)
			for i := range commands {
				if fresh := exampleHows[commands[i].text].fresh; i == 0 || fresh {
					r.hosts[""] = newMachine(t)
					r.hosts[""].prepare(v[1])
				}
				r.run(&commands[i])
			}
		})
	}
	for key := range exampleHows {
		if !all[key] {
			t.Errorf("no help has the example %s", key)
		}
	}
}
