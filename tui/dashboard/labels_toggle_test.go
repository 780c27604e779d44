package dashboard

import (
	"maps"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/keymap"
)

func TestTheListArchivesAndPinsByLabels(t *testing.T) {
	for action, label := range map[keymap.Action]string{
		keymap.ArchiveSession: protocol.LabelArchived, keymap.PinSession: protocol.LabelPinned,
	} {
		s := tuitest.Summaries()[0]
		d := newTestDashboard(t, 90, 24, s)
		sent := func() map[string]string {
			cmd, _ := d.d.Act(action)
			d.run(cmd)
			commands := d.server.Sessions["s1"].Commands()
			return commands[len(commands)-1].Data.(protocol.LabelData).Labels
		}
		if got := sent(); !maps.Equal(got, map[string]string{label: "true"}) {
			t.Errorf("%s sends %v", action, got)
		}
		s.Labels = map[string]string{label: "true"}
		d.put(s)
		if label == protocol.LabelArchived {
			d.wantNo("docs ")
			d.press("/")
			d.typeText("label:archived")
			d.press("enter")
		} else {
			d.want("◆ docs")
		}
		if got := sent(); !maps.Equal(got, map[string]string{label: ""}) {
			t.Errorf("%s sends %v to take it back", action, got)
		}
	}
}
