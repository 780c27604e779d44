package acp

import (
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent/acp/catalog"
)

func TestACompactionIsShownWithTheSizesAroundIt(t *testing.T) {
	const usage = `{"sessionUpdate":"usage_update","size":1000,"used":`
	compaction := func(fields string) string {
		return `{"sessionUpdate":"compaction_update","compactionId":"c",` + fields + `}`
	}
	for name, test := range map[string]struct {
		updates []string
		want    []protocol.ContextCompactedData
		notices []string
	}{
		"sizes": {
			[]string{
				usage + `800}`, compaction(`"status":"in_progress"`), compaction(`"status":"completed"`),
				usage + `200}`, usage + `300}`,
			},
			[]protocol.ContextCompactedData{{Before: 800, After: 200, Percent: 75, Automatic: true}},
			nil,
		},
		"reported twice": {
			[]string{
				usage + `800}`, compaction(`"status":"completed"`), compaction(`"status":"completed"`),
				usage + `200}`,
			},
			[]protocol.ContextCompactedData{{Before: 800, After: 200, Percent: 75, Automatic: true}},
			nil,
		},
		"no size after it": {
			[]string{usage + `800}`, compaction(`"status":"completed"`)},
			nil,
			[]string{"the agent has compacted its context"},
		},
		"no size before it": {
			[]string{compaction(`"status":"completed"`), usage + `200}`},
			nil,
			[]string{"the agent has compacted its context"},
		},
		"a failure": {
			[]string{usage + `800}`, compaction(`"status":"failed","error":"too long"`), usage + `800}`},
			nil,
			[]string{"the context could not be compacted: too long"},
		},
		"cancelled": {
			[]string{usage + `800}`, compaction(`"status":"cancelled","error":null`), usage + `800}`}, nil, nil,
		},
	} {
		c, tn, r := knownTurn(t, catalog.Agent{})
		notify(c, test.updates...)
		c.endTurn(tn)
		got, notices := r.data(protocol.ContextCompacted), r.data(protocol.Notice)
		if len(got) != len(test.want) || len(got) > 0 && got[0] != test.want[0] {
			t.Errorf("%s: compacted %+v", name, got)
		}
		if len(notices) != len(test.notices) || len(notices) > 0 && notices[0].(protocol.NoticeData).Message != test.notices[0] {
			t.Errorf("%s: noted %+v", name, notices)
		}
		if raw := r.data(protocol.Raw); len(raw) > 0 {
			t.Errorf("%s: kept %+v", name, raw)
		}
	}
}

func TestNoticesOfTheAgentAreShown(t *testing.T) {
	for fields, want := range map[string]protocol.NoticeData{
		`"severity":"info","title":"Ready"`: {Level: protocol.LevelInfo, Message: "Ready"},
		`"severity":"warning","title":"Slow","description":"why"`: {
			Level: protocol.LevelWarning, Message: "Slow: why",
		},
		`"severity":"error","title":"Broken","description":null`: {Level: protocol.LevelWarning, Message: "Broken"},
		`"severity":"_other","title":"Other","description":"text"`: {
			Level: protocol.LevelWarning, Message: "Other: text",
		},
	} {
		c, _, r := knownTurn(t, catalog.Agent{})
		notify(c, `{"sessionUpdate":"notice",`+fields+`}`)
		if got := r.data(protocol.Notice); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v", fields, got)
		}
	}
}

func TestTheLastPlanIsShown(t *testing.T) {
	items := func(id, content string) string {
		return `{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"` + id + `","entries":[{"content":"` + content +
			`","priority":"high","status":"pending"}]}}`
	}
	remove := func(id string) string { return `{"sessionUpdate":"plan_removed","planId":"` + id + `"}` }
	for name, test := range map[string]struct {
		updates []string
		want    []string // titles of the tasks at the end
		raw     int
	}{
		"items":          {[]string{items("a", "one")}, []string{"one"}, 0},
		"another plan":   {[]string{items("a", "one"), items("b", "two")}, []string{"two"}, 0},
		"removed":        {[]string{items("a", "one"), remove("a")}, nil, 0},
		"another one is": {[]string{items("a", "one"), items("b", "two"), remove("a")}, []string{"two"}, 0},
		"a text": {
			[]string{
				`{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"a","content":"# Plan\n\n- one\n"}}`,
			},
			[]string{"# Plan", "- one"},
			0,
		},
		"a file": {
			[]string{`{"sessionUpdate":"plan_update","plan":{"type":"file","planId":"a","uri":"file:///w/plan.md"}}`},
			[]string{"plan in file:///w/plan.md"},
			0,
		},
		"another type": {[]string{`{"sessionUpdate":"plan_update","plan":{"type":"_x","planId":"a"}}`}, nil, 1},
	} {
		c, _, r := knownTurn(t, catalog.Agent{})
		notify(c, test.updates...)
		var titles []string
		if plans := r.data(protocol.PlanUpdated); len(plans) > 0 {
			for _, task := range plans[len(plans)-1].(protocol.PlanTasksData).Tasks {
				titles = append(titles, task.Title)
			}
		}
		if len(titles) != len(test.want) || len(titles) > 0 && titles[0] != test.want[0] || len(r.data(protocol.Raw)) != test.raw {
			t.Errorf("%s: %q in\n%s", name, titles, r.eventLines())
		}
	}
}
