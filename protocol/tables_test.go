package protocol

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// constantsOf returns the values of a string type's constants in this package.
func constantsOf(t *testing.T, typ string) (values []string) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if id, ok := v.Type.(*ast.Ident); !ok || id.Name != typ {
					continue
				}
				value, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, value)
			}
		}
	}
	if len(values) == 0 {
		t.Fatalf("no constants of type %s", typ)
	}
	return values
}

func TestEveryVerbHasOneRowInCommands(t *testing.T) {
	for _, v := range constantsOf(t, "Verb") {
		n := 0
		for _, c := range Commands {
			if string(c.Verb) == v {
				n++
			}
		}
		if n != 1 {
			t.Errorf("Commands has %d rows for the verb %s, want 1", n, v)
		}
	}
	for _, c := range Commands {
		switch {
		case c.Data == nil || c.Result == nil:
			t.Errorf("Commands: %s has no data or result type", c.Verb)
		case !slices.Contains(Roles, c.Role):
			t.Errorf("Commands: %s requires the unknown role %q", c.Verb, c.Role)
		case c.Changes && c.Role == RoleObserver:
			t.Errorf("Commands: %s changes state and is allowed to an observer", c.Verb)
		case c.Changes && c.Connection:
			t.Errorf("Commands: %s takes a key, which connections do not keep", c.Verb)
		}
	}
}

// The examples of a command are data of its type, and a command without data has none.
func TestTheExamplesOfACommandAreItsData(t *testing.T) {
	for _, c := range Commands {
		_, empty := c.Data().(*Empty)
		for _, example := range c.Examples {
			if (example == "") != empty {
				t.Errorf("%s: the example %q, data %T", c.Verb, example, c.Data())
			}
			if example != "" {
				if err := DecodeStrict([]byte(example), c.Data()); err != nil {
					t.Errorf("%s: the example %s: %v", c.Verb, example, err)
				}
			}
		}
	}
}

func TestEveryEventTypeHasOneRowInEventTypes(t *testing.T) {
	for _, typ := range constantsOf(t, "Type") {
		n := 0
		for _, e := range EventTypes {
			if string(e.Type) == typ {
				n++
			}
		}
		if n != 1 {
			t.Errorf("EventTypes has %d rows for %s, want 1", n, typ)
		}
	}
}

// The sample of an event is data of its type.
func TestTheSampleOfAnEventIsItsData(t *testing.T) {
	for _, e := range EventTypes {
		if e.Sample != "" {
			if err := DecodeStrict([]byte(e.Sample), e.New()); err != nil {
				t.Errorf("%s: the sample %s: %v", e.Type, e.Sample, err)
			}
		}
	}
}

// noStateChange lists the durable event types that change only the seq of a State.
var noStateChange = []Type{
	TurnStarted, TextDelta, TextContent,
	ReasoningDelta, JoinedDeltas, ToolInput, ToolOutput, TaskProgress, AggregateStarted,
	AggregateCompleted, PipelineCompleted, ErrorRaised, RetryScheduled, RecoveryStarted, RecoverySucceeded,
	RecoveryFailed,
	StateExported, StateRestored, Notice, Raw,
}

func TestTheStateReducerCoversEveryEventType(t *testing.T) {
	for _, e := range EventTypes {
		reduced, listed := e.reduce != nil, slices.Contains(noStateChange, e.Type)
		if e.Ephemeral {
			if reduced || listed {
				t.Errorf("%s is ephemeral: it has no place in the reducer", e.Type)
			}
			continue
		}
		if reduced == listed {
			t.Errorf("%s: give its row a reducer, or add it to noStateChange in this test", e.Type)
		}
	}
}

// genericItems lists the event types that a Transcript keeps as items of the kind ItemEvent, and
// outsideTurns those that never belong to a turn.
var (
	genericItems = []Type{
		TextContent,
		PlanStarted, PlanUpdated, PlanCompleted, PlanInvalid, PlanCancelled, PlanFailed, TaskStarted, TaskProgress,
		TaskCompleted, TaskFailed, TaskCancelled, TaskRestarted, AggregateStarted, AggregateCompleted,
		PipelineCompleted,
		ContextUpdated, ContextCompacted, UsageUpdated, AgentOptions, LimitsUpdated, ErrorRaised, RetryScheduled, RecoveryStarted,
		RecoverySucceeded, RecoveryFailed, StateExported, StateRestored, Notice, Raw,
	}
	outsideTurns = []Type{
		SessionCreated, SessionUpdated, SessionClosed, QueueAdded,
		QueueScheduled, QueueUpdated, QueueRemoved, QueueMoved, QueueHeld,
		QueueReleased,
	}
)

func TestTheTranscriptReducerCoversEveryEventType(t *testing.T) {
	for _, e := range EventTypes {
		if e.Ephemeral || e.Type == MessageUser || slices.Contains(outsideTurns, e.Type) {
			continue
		}
		turn := &Turn{Turn: "t"}
		items, err := turn.apply(&Event{Session: "s", Seq: 2, Turn: "t", Type: e.Type, Data: MustEncode(e.New())})
		if err != nil {
			t.Errorf("%s: %v", e.Type, err)
			continue
		}
		generic := len(items) == 1 && items[0].Kind == ItemEvent
		if generic != slices.Contains(genericItems, e.Type) {
			t.Errorf(
				"%s: add it to Turn.apply (protocol/transcript_apply.go), or to genericItems or outsideTurns in this test",
				e.Type,
			)
		}
	}
}

func TestTheNameOfATypeIsItsFamilyAndWhatHappened(t *testing.T) {
	for _, e := range EventTypes {
		if s := string(e.Type); strings.ToLower(s) != s || strings.Count(s, ".") > 1 {
			t.Errorf("%q is not of the form family.verb in lower case", s)
		}
	}
}
