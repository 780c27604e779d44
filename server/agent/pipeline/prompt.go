package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
)

// Bounds of what prompts contain in addition to the task, in bytes.
const (
	maxTranscript = 16 << 10 // of the earlier turns
	maxResults    = 192 << 10
)

const planPrompt = `You are the planner of a pipeline. Divide the request below into tasks. Other agents carry them
out, each in a conversation of its own, up to %d at the same time in the same directory. Do not carry
out the request yourself and change nothing; you may read what you need for the plan.

Answer with one JSON object and nothing else:
{"summary": "the plan in one line", "tasks": [
  {"id": "1", "title": "a few words", "prompt": "all that the agent must know and do", "depends_on": []},
  {"id": "2", "title": "a few words", "prompt": "…", "depends_on": ["1"]}]}

Rules: at most %d tasks, as few as useful. A task gets the results of the tasks in its depends_on and
nothing else of them. Tasks that do not depend on each other must not change the same files. An agent
answers from all results at the end: no task is needed for that.
If the request needs no work, answer {"answer": "the answer to the user"} instead.`

func (r *run) planMessage(ctx context.Context) (protocol.Message, error) {
	c := &r.agent.options.Config
	var b strings.Builder
	fmt.Fprintf(&b, planPrompt, r.agent.parallel(), cmp.Or(c.MaxTasks, defaultTasks))
	earlier, err := r.agent.host.Transcript(ctx, maxTranscript)
	if err != nil {
		return protocol.Message{}, fmt.Errorf("read the earlier turns: %w", err)
	}
	if earlier = strings.TrimSpace(earlier); earlier != "" {
		b.WriteString("\n\nThe conversation so far:\n" + earlier)
	}
	r.agent.mu.Lock()
	unfinished := r.agent.state.describe()
	r.agent.mu.Unlock()
	b.WriteString(unfinished)
	b.WriteString("\n\nThe request:\n" + r.turn.Message.Text)
	return protocol.Message{Text: b.String(), Parts: r.parts()}, nil
}

const unfinishedPrompt = `If the request is to go on with it, plan only the work that is left. Put results that a
task needs into its prompt.`

// describe returns the plan that was not finished, with the results of its tasks, else "".
func (s *state) describe() string {
	if s.Ended || len(s.Tasks) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n\nAn earlier plan was not finished. Its request: %s\n", shorten(s.Question, maxResult))
	for _, t := range s.Tasks {
		fmt.Fprintf(&b, "- %s: %s", t.Title, t.Status)
		if t.Result != "" {
			fmt.Fprintf(&b, ". Result: %s", shorten(t.Result, maxResults/len(s.Tasks)/4))
		}
		b.WriteByte('\n')
	}
	b.WriteString(unfinishedPrompt)
	return b.String()
}

// parts returns the files and other parts of the user's message.
func (r *run) parts() []protocol.Part {
	return slices.DeleteFunc(slices.Clone(r.turn.Message.Parts), func(p protocol.Part) bool {
		return p.Type == "plan" // the tasks of a plan.run
	})
}

func invalidPrompt(problems []string) string {
	return "Your answer is not a valid plan:\n- " + strings.Join(problems[:min(len(problems), 20)], "\n- ") +
		"\n\nAnswer again, with the whole corrected JSON object and nothing else."
}

func replanPrompt(reason string) string {
	return "The user does not want this plan and asks for another one: " + reason +
		"\n\nAnswer with the whole new JSON object and nothing else."
}

const solvePrompt = `You carry out one task of a larger plan. Other agents carry out the others, some at the
same time in the same directory: do only this task. End with its result: the next agents get nothing
else of your work.
`

func (s *scheduler) taskMessage(t *task) protocol.Message {
	var b strings.Builder
	b.WriteString(solvePrompt)
	question := shorten(s.plan.question, maxResult)
	fmt.Fprintf(&b, "\nThe request that the plan is for, for context only:\n%s\n", question)
	if len(t.After) > 0 {
		b.WriteString("\nResults of the tasks before it:\n")
	}
	for _, other := range s.tasks {
		if slices.Contains(t.After, other.ID) {
			most := min(maxResult, maxResults/len(t.After))
			fmt.Fprintf(&b, "\n## %s\n%s\n", other.Title, shorten(other.result, most))
		}
	}
	if t.attempt > 1 {
		b.WriteString("\nThis task was started before and did not end well. Some of it may be done: look before you " +
			"repeat anything.\n")
	}
	fmt.Fprintf(&b, "\nYour task: %s\n%s", t.Title, t.Description)
	return protocol.Message{Text: b.String(), Parts: s.parts()}
}

func aggregateMessage(p *plan, tasks []*task, conflicts []protocol.FileConflict) protocol.Message {
	var b strings.Builder
	b.WriteString("A request was divided into tasks, which agents have carried out. Answer the request from their " +
		"results. Do not repeat the work. Name what failed or was not done.\n")
	fmt.Fprintf(&b, "\nThe request:\n%s\n", p.question)
	for _, t := range tasks {
		fmt.Fprintf(&b, "\n## %s (%s)\n", t.Title, t.Status)
		if t.Status == protocol.StatusCompleted {
			b.WriteString(shorten(t.result, min(maxResult, maxResults/len(tasks))) + "\n")
		} else {
			b.WriteString("Not done: " + shorten(cmp.Or(t.failure, "no reason is known"), 1<<10) + "\n")
		}
	}
	if len(conflicts) > 0 {
		b.WriteString("\nTasks changed these files while others changed them too. Changes may be lost: say so.\n")
		for _, c := range conflicts {
			fmt.Fprintf(&b, "- %s\n", c.Path)
		}
	}
	return protocol.Message{Text: b.String()}
}
