package llm

import (
	"context"
	"errors"
	"fmt"

	"agentctl/protocol"
	"agentctl/server/policy"
)

// errCallOver is the error of a question of a call that has its result.
var errCallOver = errors.New("the call is over")

// asker returns the Asker of the running call with an index. The id of the first question is the
// call's id with 1.
func (t *turnRun) asker(i int, c *ToolCall) Asker {
	return func(ctx context.Context, a protocol.Approval) (Answer, error) {
		ruling := t.agent.policy().Judge(policy.Call{
			Kind: protocol.ToolOther, Question: a.Kind == protocol.ApproveQuestion,
		})
		if a.Kind == protocol.ApproveQuestion && ruling.Action == policy.Refuse {
			return Answer{Denied: "The policy denies questions. " + ruling.Reason}, nil
		}
		a.Tool = c.ID
		if err := t.agent.update(t.out, func(s *state) {
			if i < len(s.Turn.Calls) {
				s.Turn.Calls[i].Questions++
				a.Request = questionID(c.ID, s.Turn.Calls[i].Questions)
			}
		}); err != nil {
			return Answer{}, err
		}
		if a.Request == "" {
			return Answer{}, errCallOver
		}
		v, err := t.out.Ask(ctx, a)
		if err != nil {
			return Answer{}, err
		}
		denied, err := t.denial(ctx, v)
		return Answer{Denied: denied.Text, Input: v.Input}, err
	}
}

func questionID(call string, n int) string { return fmt.Sprintf("%s.%d", call, n) }

// withdrawQuestions cancels the pending questions of a call that a restart stopped.
func (t *turnRun) withdrawQuestions(ctx context.Context, c *callState) {
	for n := range c.Questions {
		t.withdrawRequest(ctx, questionID(c.Tool, n+1))
	}
}
