package dialect

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/historygen"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// supportTable returns the table of docs/dialects.md: the cells of each row by command and dialect.
// A command has a row, or several that begin with its name.
func supportTable(t *testing.T) map[string]map[string]string {
	t.Helper()
	doc, err := os.ReadFile("../docs/dialects.md")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]map[string]string{}
	var columns []string
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		switch {
		case len(cells) == 1+len(Names()) && cells[0] == "command":
			columns = cells[1:]
		case columns == nil || len(cells) != 1+len(columns):
			if len(table) > 0 {
				return table
			}
		case !strings.HasPrefix(cells[0], "---"):
			row := map[string]string{}
			for i, name := range columns {
				row[name] = cells[1+i]
			}
			table[cells[0]] = row
		}
	}
	return table
}

// rowsOf returns the rows of a command: `approve` has "approve: deny" and others.
func rowsOf(table map[string]map[string]string, v protocol.Verb) (rows []map[string]string) {
	for name, row := range table {
		if first, _, _ := strings.Cut(strings.NewReplacer(":", " ", ",", " ").Replace(name), " "); first == string(v) {
			rows = append(rows, row)
		}
	}
	return rows
}

// A command without a row has no dialect that carries it.
func TestEveryClientCodecSupportsTheCommandsOfTheTable(t *testing.T) {
	table := supportTable(t)
	for _, name := range Names() {
		hello := newCodecPair(nil, name).hello
		if len(hello.Commands) == 0 {
			t.Fatalf("protocol/%s: hello is not answered", name)
		}
		for _, command := range protocol.Commands {
			if command.Connection {
				continue
			}
			rows := rowsOf(table, command.Verb)
			documented := slices.ContainsFunc(rows, func(row map[string]string) bool { return row[name] != "✗" })
			if slices.Contains(hello.Commands, command.Verb) != documented {
				t.Errorf("protocol/%s: %s is in the list of verbs: %v; docs/dialects.md says %v", name, command.Verb,
					!documented, documented)
			}
		}
	}
}

// notEncoded lists the durable event types for which a server codec sends its client nothing at
// once: the dialect has no message for them, or they are part of a later message.
var notEncoded = map[string][]protocol.Type{
	"agentloop": {
		protocol.SessionCreated, protocol.SessionUpdated, protocol.TurnStarted, protocol.TextStart,
		protocol.TextEnd, protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd,
		protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.QueueAdded,
		protocol.QueueScheduled, protocol.QueueUpdated,
		protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld, protocol.QueueReleased,
		protocol.PlanUpdated, protocol.AggregateCompleted, protocol.PipelineCompleted, protocol.LimitsUpdated, protocol.UsageUpdated,
		protocol.AgentOptions, protocol.StateExported, protocol.StateRestored, protocol.Raw,
	},
	"effectiveagent": {
		protocol.SessionCreated,
	},
	"multiagent": {
		protocol.MessageSteered, protocol.MessageResolved,
		protocol.SessionCreated, protocol.SessionUpdated, protocol.SessionClosed, protocol.MessageUser,
		protocol.TurnStarted, protocol.TextStart, protocol.TextEnd, protocol.TextContent, protocol.ReasoningStart,
		protocol.ReasoningDelta, protocol.ReasoningEnd, protocol.ToolStarted, protocol.ToolInput,
		protocol.ToolOutput, protocol.ApprovalExplained, protocol.QueueAdded,
		protocol.QueueScheduled, protocol.QueueUpdated,
		protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld, protocol.QueueReleased,
		protocol.PlanStarted, protocol.PlanUpdated, protocol.PlanCompleted, protocol.PlanInvalid,
		protocol.PlanCancelled, protocol.PlanFailed, protocol.TaskStarted, protocol.TaskProgress,
		protocol.TaskCompleted, protocol.TaskFailed, protocol.TaskCancelled, protocol.TaskRestarted,
		protocol.AggregateStarted, protocol.AggregateCompleted, protocol.PipelineCompleted, protocol.ContextUpdated,
		protocol.ContextCompacted, protocol.LimitsUpdated, protocol.UsageUpdated, protocol.AgentOptions, protocol.ErrorRaised,
		protocol.RetryScheduled, protocol.RecoveryStarted, protocol.RecoverySucceeded, protocol.RecoveryFailed,
		protocol.StateExported, protocol.StateRestored, protocol.Notice, protocol.Raw,
	},
	"myagent": {
		protocol.SessionCreated, protocol.TurnStarted, protocol.ToolOutput,
	},
	"sandcastle": {
		protocol.SessionCreated, protocol.SessionClosed,
		protocol.QueueScheduled, protocol.QueueHeld,
		protocol.QueueReleased,
	},
}

// notDecoded lists the durable event types of agentctl's server that a client codec does not record
// as they were: the dialect has no message for them, or they arrive as another type. See the
// dialect's page in docs/dialects.
var notDecoded = map[string][]protocol.Type{
	"agentloop": {
		protocol.MessageSteered, protocol.MessageResolved,
		protocol.SessionUpdated, protocol.SessionClosed, protocol.TextContent, protocol.JoinedDeltas,
		protocol.ToolInput,
		protocol.ApprovalExplained, protocol.QueueAdded,
		protocol.QueueScheduled, protocol.QueueUpdated, protocol.QueueRemoved,
		protocol.QueueMoved, protocol.QueueHeld, protocol.QueueReleased, protocol.PlanStarted, protocol.PlanUpdated,
		protocol.PlanCompleted, protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed,
		protocol.TaskStarted, protocol.TaskProgress, protocol.TaskCompleted, protocol.TaskFailed,
		protocol.TaskCancelled, protocol.TaskRestarted, protocol.AggregateStarted, protocol.AggregateCompleted,
		protocol.PipelineCompleted, protocol.LimitsUpdated, protocol.UsageUpdated, protocol.AgentOptions, protocol.RetryScheduled,
		protocol.RecoveryStarted, protocol.RecoverySucceeded, protocol.RecoveryFailed, protocol.StateExported,
		protocol.StateRestored, protocol.Raw,
	},
	"multiagent": {
		protocol.MessageSteered, protocol.MessageResolved,
		protocol.SessionUpdated, protocol.SessionClosed, protocol.TextContent, protocol.ReasoningStart,
		protocol.ReasoningDelta,
		protocol.ReasoningEnd, protocol.JoinedDeltas, protocol.ToolInput, protocol.ToolOutput,
		protocol.ApprovalExplained, protocol.QueueAdded,
		protocol.QueueScheduled, protocol.QueueUpdated, protocol.QueueRemoved,
		protocol.QueueMoved, protocol.QueueHeld, protocol.QueueReleased, protocol.PlanStarted, protocol.PlanUpdated,
		protocol.PlanCompleted, protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed,
		protocol.TaskStarted, protocol.TaskProgress, protocol.TaskCompleted, protocol.TaskFailed,
		protocol.TaskCancelled, protocol.TaskRestarted, protocol.AggregateStarted, protocol.AggregateCompleted,
		protocol.PipelineCompleted, protocol.ContextUpdated, protocol.ContextCompacted, protocol.LimitsUpdated, protocol.UsageUpdated,
		protocol.AgentOptions, protocol.RetryScheduled, protocol.RecoveryStarted, protocol.RecoverySucceeded,
		protocol.RecoveryFailed, protocol.StateExported, protocol.StateRestored, protocol.Notice, protocol.Raw,
	},
	"myagent": {
		protocol.JoinedDeltas,
	},
	"sandcastle": {
		protocol.SessionClosed, protocol.JoinedDeltas,
		protocol.QueueScheduled, protocol.QueueUpdated, protocol.QueueMoved,
		protocol.QueueHeld, protocol.QueueReleased,
	},
}

func TestEveryCodecCoversEveryEventType(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			c := &coverage{
				generated: map[protocol.Type]bool{}, encoded: map[protocol.Type]bool{},
				decoded: map[protocol.Type]bool{},
			}
			for range maxRounds {
				rapid.Check(t, func(r *rapid.T) { c.run(newCodecPair(r, name)) })
				if len(c.missing(name)) == 0 {
					return
				}
			}
			for _, what := range c.missing(name) {
				t.Error(what)
			}
		})
	}
}

// maxRounds bounds the histories: a hundred of them may lack a rare event.
const maxRounds = 10

// A coverage holds the types of events that the histories of a dialect had.
type coverage struct{ generated, encoded, decoded map[protocol.Type]bool }

func (c *coverage) run(p *codecPair) {
	for range 60 {
		typ, frames := p.next()
		c.generated[typ], c.encoded[typ] = true, c.encoded[typ] || frames > 0
	}
	p.settle()
	for typ := range p.types {
		c.decoded[typ] = true
	}
}

// missing describes the types that a codec does not carry.
func (c *coverage) missing(name string) (list []string) {
	for _, e := range protocol.EventTypes {
		if e.Ephemeral {
			continue
		}
		hint := ""
		if !c.generated[e.Type] && e.Type != protocol.SessionCreated {
			hint = "; internal/dev/historygen does not generate it yet"
		}
		if !c.encoded[e.Type] && !slices.Contains(notEncoded[name], e.Type) {
			list = append(list, fmt.Sprintf("protocol/%s: the server codec sends nothing for %s: encode it, "+
				"or add it to notEncoded in dialect/coverage_test.go%s", name, e.Type, hint))
		}
		if !c.decoded[e.Type] && !slices.Contains(notDecoded[name], e.Type) {
			list = append(list, fmt.Sprintf("protocol/%s: the client codec never records %s: decode it, "+
				"or add it to notDecoded in dialect/coverage_test.go%s", name, e.Type, hint))
		}
	}
	return list
}

var coverageStart = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func counter() func(string) string {
	n := 0
	return func(prefix string) string { n++; return fmt.Sprint(prefix, n) }
}

func clientOptions() codec.ClientOptions {
	return codec.ClientOptions{URL: "ws://x/s", Name: "ada", ID: counter(), Resume: new(codec.ClientState)}
}

func command(id string, v protocol.Verb, session string, data any) []byte {
	c := protocol.Command{ID: id, Command: v, Session: session}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	return protocol.MustEncode(c)
}

// helloID is the id of the client's hello.
const helloID = "h"

// A codecPair is a client codec and a server codec of one dialect, with a fake native server behind
// the server codec and a client that follows its only session before the client codec.
type codecPair struct {
	client, server codec.Codec
	wakeClient     time.Time
	wakeServer     time.Time
	now            time.Time
	log            *codec.Log
	responder      codec.Responder
	generator      *historygen.Generator
	toClient       int // frames sent by the server codec
	hello          protocol.HelloResult
	types          map[protocol.Type]bool
}

func newCodecPair(r *rapid.T, name string) *codecPair {
	d, _ := Find(name)
	o := clientOptions()
	o.PeerIsAgentctl = true
	p := &codecPair{
		client: d.Client(o), now: coverageStart, log: codec.NewLog("s", "e"), types: map[protocol.Type]bool{},
		server: d.Server(codec.ServerOptions{
			Path: "/s", ID: counter(), By: protocol.Actor{Name: name +
				"@peer"}, Sign: func(string) string { return "" },
			Resume: new(codec.ResumeStore),
		}),
		responder: codec.Responder{Dialect: "native", Epoch: "e"},
	}
	for _, c := range protocol.Commands {
		p.responder.Verbs = append(p.responder.Verbs, c.Verb)
	}
	p.generator = &historygen.Generator{T: r, Now: p.now}
	p.record(codec.Entry{Type: protocol.SessionCreated, Data: protocol.SessionCreatedData{Name: "s", Agent: "claude"}})
	p.fromServer(p.server.Open(p.now))
	p.fromClient(p.client.Open(p.now))
	p.fromClient(p.client.Native(p.now,
		command(helloID, protocol.DoHello, "", protocol.HelloData{Version: protocol.Version, Name: "ada"})))
	p.fromClient(p.client.Native(p.now, command("2", protocol.DoSubscribe, "s", nil)))
	p.settle()
	return p
}

// fromClient carries out the output of the client codec.
func (p *codecPair) fromClient(out codec.Output) {
	p.wakeClient = out.Wake
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		switch {
		case err != nil:
		case e != nil && e.Durable():
			p.types[e.Type] = true
		case a != nil && a.ID == helloID:
			_ = json.Unmarshal(a.Result, &p.hello)
		}
	}
	for _, f := range out.Foreign {
		p.fromServer(p.server.Foreign(p.now, f))
	}
}

// fromServer carries out the output of the server codec.
func (p *codecPair) fromServer(out codec.Output) {
	p.wakeServer = out.Wake
	p.toClient += len(out.Foreign)
	for _, f := range out.Foreign {
		p.fromClient(p.client.Foreign(p.now, f))
	}
	for _, line := range out.Native {
		var answer codec.Output
		if c, ok := p.responder.Decode(&answer, line); ok {
			p.answer(&answer, &c)
		}
		p.toServer(answer.Native)
	}
}

func (p *codecPair) toServer(lines [][]byte) {
	for _, line := range lines {
		p.fromServer(p.server.Native(p.now, line))
	}
}

// answer answers a command of the server codec as agentctl's server would.
func (p *codecPair) answer(out *codec.Output, c *protocol.Command) {
	switch c.Command {
	case protocol.DoSubscribe:
		p.log.Attach(out, &p.responder, c, p.now)
	case protocol.DoSnapshot:
		p.responder.Answer(out, c, p.log.Snapshot())
	case protocol.DoHistory:
		p.responder.Answer(out, c, p.log.History(protocol.HistoryData{}))
	default:
		p.responder.Answer(out, c, protocol.CommandOf(c.Command).Result())
	}
}

// record adds an event to the session and sends it to the server codec.
func (p *codecPair) record(e codec.Entry) {
	var out codec.Output
	p.log.Add(&out, p.now, e)
	p.toServer(out.Native)
}

// next records a generated event and returns its type and the number of frames that the client got
// for it. A notice before it flushes frames of earlier events.
func (p *codecPair) next() (protocol.Type, int) {
	if t := p.log.State.Turn; t == nil || p.log.State.Seq != t.First { // turn.started follows message.user
		p.record(codec.Entry{
			Type: protocol.Notice, Turn: p.log.Turn(),
			Data: protocol.NoticeData{Level: protocol.LevelInfo, Message: "flush"},
		})
	}
	before := p.toClient
	p.generator.State, p.generator.Now = p.log.State, p.now
	e := p.generator.Next()
	p.record(e)
	return e.Type, p.toClient - before
}

// settle lets a minute pass.
func (p *codecPair) settle() {
	for end := p.now.Add(time.Minute); ; {
		next := p.wakeClient
		if next.IsZero() || !p.wakeServer.IsZero() && p.wakeServer.Before(next) {
			next = p.wakeServer
		}
		if next.IsZero() || next.After(end) {
			return
		}
		p.now = next
		if next.Equal(p.wakeServer) {
			p.fromServer(p.server.Wake(p.now))
		} else {
			p.fromClient(p.client.Wake(p.now))
		}
	}
}
