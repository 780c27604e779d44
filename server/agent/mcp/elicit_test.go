package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// place is a form with a field of each type.
const place = `{"type":"object","required":["city","count"],"properties":{
	"city":{"type":"string","title":"City","description":"of the office","enum":["b","m"],
		"enumNames":["Berlin","Munich"]},
	"count":{"type":"integer","minimum":1,"maximum":9},
	"size":{"type":"number"},"note":{"type":"string","maxLength":5},"sure":{"type":"boolean","default":false},
	"days":{"type":"array","items":{"type":"string","enum":["mo","tu"]}}}}`

// input returns the arguments of the tool ask.
func input(schema string) string {
	return string(protocol.MustEncode(map[string]string{"text": schema}))
}

// answered is an answer of users.
func answered(answers map[string][]string) llm.Answer {
	return llm.Answer{Input: &protocol.ApprovalInput{Answers: answers}}
}

// A server asks users with a form, by the newest protocol and by the older one.
func TestAServerAsksUsers(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"tools", "silent-discover"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := program(t, "box", mode)
			s.StartTimeout = 2 * time.Second
			r := newRig(t, s)
			r.until("connected", func() bool { return r.connected(0) == nil })
			r.prepare()
			var asked []protocol.Approval
			got, err := r.callAsking(t.Context(), "mcp__box__ask", input(place), nil,
				func(_ context.Context, a protocol.Approval) (llm.Answer, error) {
					asked = append(asked, a)
					return answered(map[string][]string{
						"city": {"m"}, "count": {" 3 "}, "sure": {"true"}, "days": {"mo", "tu"},
					}), nil
				})
			if want := `accept {"city":"m","count":3,"days":["mo","tu"],"sure":true}`; err != nil || got.Text != want {
				t.Fatalf("%+v, %v, want %s", got, err, want)
			}
			a := asked[0]
			if len(asked) != 1 || a.Kind != protocol.ApproveQuestion || a.Name != "mcp__box__ask" ||
				a.Title != "MCP server box asks: Where to?" || a.Why != "" || len(a.Questions) != 6 {
				t.Fatalf("asked %d times, first %+v", len(asked), a)
			}
			if q := a.Questions[0]; q.Text != "City" || q.About != "of the office" || q.Choices[1].Label != "Munich" ||
				q.Many || !q.Required {
				t.Errorf("%+v", q)
			}
			if q := a.Questions[1]; q.ID != "count" || q.Wants() != "required · integer · 1 to 9" || q.Choices != nil {
				t.Errorf("%+v", q)
			}
			if q := a.Questions[2]; q.ID != "days" || q.Required || !q.Many {
				t.Errorf("%+v", q)
			}
		})
	}
}

func TestUsersDeclineWhatAServerAsks(t *testing.T) {
	t.Parallel()
	s := program(t, "box", "tools")
	s.CallTimeout = 2 * time.Second
	r := newRig(t, s)
	text := `{"type":"object","required":["x"],"properties":{"x":{"type":"string"}}}`
	yes := `{"type":"object","properties":{}}`
	asks := func(a llm.Answer, err error) llm.Asker {
		return func(context.Context, protocol.Approval) (llm.Answer, error) { return a, err }
	}
	for name, c := range map[string]struct {
		schema string
		ask    llm.Asker
		want   string
	}{
		"denied":           {text, asks(llm.Answer{Denied: "no"}, nil), "decline null"},
		"no answer":        {text, asks(llm.Answer{}, nil), "cancel null"},
		"a confirmation":   {yes, asks(llm.Answer{}, nil), "accept null"},
		"not confirmed":    {yes, asks(llm.Answer{Denied: "no"}, nil), "decline null"},
		"a wrong answer":   {text, asks(answered(map[string][]string{"x": {"1", "2"}}), nil), "cancel null"},
		"no user to ask":   {text, nil, "decline null"},
		"too many choices": {many(101), asks(llm.Answer{}, nil), "decline null"},
		"too many fields":  {manyFields(33), asks(llm.Answer{}, nil), "decline null"},
	} {
		got, err := r.callAsking(t.Context(), "mcp__box__ask", input(c.schema), nil, c.ask)
		if err != nil || got.Text != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	// The time of a call stands still while users are asked.
	got, err := r.callAsking(t.Context(), "mcp__box__ask", input(text), nil,
		func(ctx context.Context, _ protocol.Approval) (llm.Answer, error) {
			select {
			case <-ctx.Done():
				return llm.Answer{}, ctx.Err()
			case <-time.After(s.CallTimeout + 100*time.Millisecond):
				return answered(map[string][]string{"x": {"late"}}), nil
			}
		})
	if err != nil || got.Text != `accept {"x":"late"}` {
		t.Errorf("a late answer: %+v, %v", got, err)
	}
	// Users stop the turn: the call ends with the error for it.
	stop := errors.New("stop")
	_, err = r.callAsking(t.Context(), "mcp__box__ask", input(text), nil, asks(llm.Answer{}, stop))
	if !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
	if _, err := r.call(t.Context(), "mcp__box__sample", `{"text":""}`, nil); err == nil ||
		!strings.Contains(err.Error(), "does not support CreateMessage") {
		t.Errorf("a request to the model: %v", err)
	}
}

// many is a form with one field of n choices.
func many(n int) string {
	choices := make([]string, n)
	for i := range choices {
		choices[i] = strings.Repeat("x", i+1)
	}
	b, _ := json.Marshal(choices)
	return `{"type":"object","properties":{"x":{"type":"string","enum":` + string(b) + `}}}`
}

// manyFields is a form of n fields.
func manyFields(n int) string {
	fields := map[string]any{}
	for i := range n {
		fields[strings.Repeat("x", i+1)] = map[string]string{"type": "string"}
	}
	b, _ := json.Marshal(fields)
	return `{"type":"object","properties":` + string(b) + `}`
}

func TestPagesAreNotOpened(t *testing.T) {
	if _, err := readForm(&sdk.ElicitParams{Mode: "url", URL: "https://example.com"}); err == nil {
		t.Error("accepted")
	}
	if _, err := readForm(&sdk.ElicitParams{RequestedSchema: strings.Repeat("x", 64<<10)}); err == nil {
		t.Error("a large schema is accepted")
	}
}
